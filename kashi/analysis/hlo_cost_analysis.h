// The cost of a computation through XLA's interface (docs/spec/xla-api.md 29.3), for code that was written for it;
// cost_analysis.h says what is counted, and is the better choice for new code.
//
//   HloCostAnalysis analysis;
//   KASHI_RETURN_IF_ERROR(analysis.Visit(*module->entry_computation()));   // XLA: computation->Accept(&analysis)
//   analysis.flop_count();                                                 // of all; in XLA's float
//   analysis.flop_count(*instruction);                                     // of one
//
// HLO has no visitors here, so the analysis is told what to look at. There are no sizes but those of a host (pointers
// of 8 bytes), no rates per second and no optimal seconds, and no properties of single operands. A custom call, of which
// nobody knows what it costs, counts as -1 here, as with XLA.
#ifndef KASHI_ANALYSIS_HLO_COST_ANALYSIS_H_
#define KASHI_ANALYSIS_HLO_COST_ANALYSIS_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kashi/analysis/cost_analysis.h"
#include "kashi/hlo/hlo_computation.h"
#include "kashi/hlo/hlo_instruction.h"

namespace kashi {

class HloCostAnalysis {
 public:
  static constexpr char kFlopsKey[] = "flops";
  static constexpr char kTranscendentalsKey[] = "transcendentals";
  static constexpr char kBytesAccessedKey[] = "bytes accessed";
  static constexpr int64_t kDefaultPointerSize = 8;

  // Adds all instructions of a computation, with what they call; a second visit adds them again. INVALID_ARGUMENT for
  // what is in no module, and where CostAnalysis::Run has it. O(module). Instructions are remembered by address: the
  // module must outlive this.
  absl::Status Visit(const HloComputation& computation);
  // Only what the instruction needs: itself, its operands and theirs.
  absl::Status Visit(const HloInstruction& root);

  // Sums over what was visited.
  float flop_count() const { return static_cast<float>(sum_.flops); }
  float transcendental_count() const { return static_cast<float>(sum_.transcendentals); }
  float bytes_accessed() const { return static_cast<float>(sum_.bytes_accessed); }
  // By one of the keys above; 0 for others.
  float property(absl::string_view key) const;

  // Of one instruction; 0 unless it was visited, so also for what it calls. Beyond int64_t the largest one.
  int64_t flop_count(const HloInstruction& instruction) const;
  int64_t transcendental_count(const HloInstruction& instruction) const;
  int64_t bytes_accessed(const HloInstruction& instruction) const;

 private:
  void Add(const HloInstruction& instruction, const CostAnalysis& costs);
  Cost CostOf(const HloInstruction& instruction) const;

  Cost sum_;
  absl::flat_hash_map<const HloInstruction*, Cost> costs_;
};

}  // namespace kashi

#endif  // KASHI_ANALYSIS_HLO_COST_ANALYSIS_H_
