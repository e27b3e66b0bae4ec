// The instructions of a module as columns of the page of `kashi report`.
#ifndef KASHI_CLI_REPORT_INSTRUCTIONS_H_
#define KASHI_CLI_REPORT_INSTRUCTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "cli/page_json.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/insight/critical_path.h"
#include "kashi/insight/execution_counts.h"

namespace kashi::cli {

// Numbers all computations and instructions. Computation 0 is the entry; the others follow as they are called first,
// then those that nothing calls. The instructions of a computation follow one another in the order that they run in.
class ReportInstructions {
 public:
  // The module must outlive it.
  explicit ReportInstructions(const HloModule& module);

  absl::Span<const HloComputation* const> computations() const { return computations_; }
  absl::Span<const HloInstruction* const> instructions() const { return instructions_; }
  // Dies for an instruction of another module.
  int64_t NumberOf(const HloInstruction* instruction) const { return numbers_.at(instruction); }

  // Appends the members that report_model.js names by computation and by instruction, but those about scopes and cost.
  void Write(const insight::ExecutionCounts& counts, const insight::CriticalPath& path, PageTexts* texts,
             std::string* json) const;

 private:
  void AddComputation(const HloComputation* computation);
  void WriteComputations(const insight::ExecutionCounts& counts, const insight::CriticalPath& path, PageTexts* texts,
                         std::string* json) const;
  void WriteTexts(PageTexts* texts, std::string* json) const;
  void WriteLinks(std::string* json) const;
  void WriteConfigs(PageTexts* texts, std::string* json) const;
  void WriteShardings(PageTexts* texts, std::string* json) const;

  const HloModule& module_;
  std::vector<const HloComputation*> computations_;
  std::vector<const HloInstruction*> instructions_;
  std::vector<int64_t> begins_;  // by computation, its first instruction
  absl::flat_hash_map<const HloInstruction*, int64_t> numbers_;
  absl::flat_hash_map<const HloComputation*, int64_t> computation_numbers_;
};

}  // namespace kashi::cli

#endif  // KASHI_CLI_REPORT_INSTRUCTIONS_H_
