// Which instructions of a module a submodule has, and where it is cut (submodule.h has the rules).
#ifndef KASHI_QUERY_SUBMODULE_SELECTION_H_
#define KASHI_QUERY_SUBMODULE_SELECTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::query {

class SubmoduleSelection {
 public:
  // Errors: those of ExtractSubmodule.
  static absl::StatusOr<SubmoduleSelection> Make(const HloModule& module,
                                                 absl::Span<const HloInstruction* const> chosen, int64_t with_operands);

  bool Has(const HloInstruction* instruction) const { return selected_.contains(instruction); }
  // All of them: callees before callers, in each computation in the order in which it runs.
  const std::vector<const HloInstruction*>& order() const { return order_; }
  // The number of computations that they are in.
  int64_t computations() const { return computations_; }
  // The computations that they call, directly or not.
  const absl::flat_hash_set<const HloComputation*>& callees() const { return callees_; }

  // Whether a selected instruction becomes a parameter: it is one, or an element of a tuple outside.
  bool IsStandIn(const HloInstruction& instruction) const;
  // The instructions outside or inside whose values become parameters, parameters of the module first.
  std::vector<const HloInstruction*> StandIns() const;
  // Whether the part gives the value to the outside.
  bool IsResult(const HloInstruction& instruction) const;
  std::vector<const HloInstruction*> Results() const;

  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void AddOperands(int64_t levels);
  void DropCovered();
  absl::Status AddWhatCannotBeCut();
  void SetOrder(const HloModule& module);

  absl::flat_hash_set<const HloInstruction*> selected_;
  std::vector<const HloInstruction*> order_;
  absl::flat_hash_set<const HloComputation*> callees_;
  int64_t computations_ = 0;
  std::vector<std::string> notes_;
};

// Whether the instruction is copied into a submodule that uses it: constants, iotas, broadcasts of constants.
bool NeedsNoValueFromOutside(const HloInstruction& instruction);

}  // namespace kashi::query

#endif  // KASHI_QUERY_SUBMODULE_SELECTION_H_
