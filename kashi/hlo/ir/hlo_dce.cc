// Removes instructions and computations that do not affect the result.
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi {
namespace {

// Parameters stay, because callers pass them. Instructions with control dependencies stay too.
bool MattersByItself(const HloInstruction* instruction,
                     const absl::flat_hash_set<const HloComputation*>& with_side_effect) {
  return instruction->IsRoot() || instruction->opcode() == HloOpcode::kParameter ||
         instruction->HasControlDependencies() || instruction->HasSideEffectNoRecurse() ||
         absl::c_any_of(instruction->called_computations(),
                        [&](const HloComputation* callee) { return with_side_effect.contains(callee); });
}

bool RemoveDeadCodeIn(HloComputation* computation, const absl::flat_hash_set<const HloComputation*>& with_side_effect) {
  absl::flat_hash_set<const HloInstruction*> live;
  std::vector<const HloInstruction*> unseen;
  for (const HloInstruction* instruction : computation->instructions()) {
    if (MattersByItself(instruction, with_side_effect) && live.insert(instruction).second)
      unseen.push_back(instruction);
    while (!unseen.empty()) {
      const HloInstruction* const next = unseen.back();
      unseen.pop_back();
      for (const HloInstruction* operand : next->operands()) {
        if (live.insert(operand).second) unseen.push_back(operand);
      }
    }
  }
  if (static_cast<int64_t>(live.size()) == computation->instruction_count()) return false;
  computation->RemoveDeadInstructions([&](const HloInstruction* i) { return !live.contains(i); });
  return true;
}

}  // namespace

bool HloModule::RemoveDeadCode() {
  // Callees first, so that the side effects of a callee are known before its callers.
  absl::flat_hash_set<const HloComputation*> with_side_effect;
  bool changed = false;
  for (HloComputation* computation : MakeComputationPostOrder()) {
    changed |= RemoveDeadCodeIn(computation, with_side_effect);
    const bool has_side_effect = absl::c_any_of(computation->instructions(), [&](const HloInstruction* instruction) {
      return instruction->HasSideEffectNoRecurse() ||
             absl::c_any_of(instruction->called_computations(),
                            [&](const HloComputation* callee) { return with_side_effect.contains(callee); });
    });
    if (has_side_effect) with_side_effect.insert(computation);
  }
  if (entry_ == nullptr) return changed;
  const int64_t count_before = computation_count();
  KASHI_CHECK_OK(RemoveUnusedComputations());
  return changed || computation_count() != count_before;
}

}  // namespace kashi
