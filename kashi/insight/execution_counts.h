// How often each instruction runs in one run of a module.
//
//   the entry                 1
//   a call, a fusion          as often as its callers, all of them together
//   a loop's body             the runs of the loop * its trip count; the condition runs once more
//   a branch                  as often as the conditional: at most, since only one of the branches runs
//   computations on elements  (of a reduce, sort, map …) as often as the operation, not once an element
//
// The trip count of a loop is what XLA wrote into its backend config (known_trip_count), or what the loop's code says
// (kashi/scale/trip_count.h). A loop whose trip count is not known counts as one iteration, and is in unknown_loops().
#ifndef KASHI_INSIGHT_EXECUTION_COUNTS_H_
#define KASHI_INSIGHT_EXECUTION_COUNTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/analysis/call_graph.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::insight {

class ExecutionCounts {
 public:
  // INVALID_ARGUMENT for modules with broken links or recursion (kashi/analysis/call_graph.h). The module must outlive
  // the result and must not change. O(instructions + operands), and the time to find trip counts.
  static absl::StatusOr<ExecutionCounts> Compute(const HloModule& module);

  // How often the instructions of a computation run, at most; 0 if the entry does not reach it. Finite. Dies for a
  // computation of another module.
  double CountOf(const HloComputation* computation) const { return counts_.at(computation); }
  double CountOf(const HloInstruction* instruction) const { return CountOf(instruction->parent()); }

  // The iterations of a loop; nullopt if they are not known, and for other instructions.
  std::optional<int64_t> TripCountOf(const HloInstruction* loop) const;
  // Loops that the entry reaches and whose trip counts are not known: each counts as one iteration. In the order of
  // the module.
  absl::Span<const HloInstruction* const> unknown_loops() const { return unknown_loops_; }
  // All loops that the entry reaches.
  absl::Span<const HloInstruction* const> loops() const { return loops_; }

 private:
  absl::flat_hash_map<const HloComputation*, double> counts_;
  absl::flat_hash_map<const HloInstruction*, std::optional<int64_t>> trip_counts_;
  std::vector<const HloInstruction*> loops_, unknown_loops_;
};

}  // namespace kashi::insight

#endif  // KASHI_INSIGHT_EXECUTION_COUNTS_H_
