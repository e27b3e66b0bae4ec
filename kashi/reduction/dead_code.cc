#include "kashi/reduction/dead_code.h"

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "kashi/base/status.h"

namespace kashi::reduction {
namespace {

using Computations = absl::flat_hash_set<const HloComputation*>;

bool HasEffect(const HloInstruction* x, const Computations& with_side_effect) {
  return x->IsRoot() || x->HasControlDependencies() || x->HasSideEffectNoRecurse() ||
         absl::c_any_of(x->called_computations(),
                        [&](const HloComputation* callee) { return with_side_effect.contains(callee); });
}

bool HasSideEffect(const HloComputation& computation, const Computations& with_side_effect) {
  return absl::c_any_of(computation.instructions(), [&](const HloInstruction* x) {
    return x->HasSideEffectNoRecurse() || absl::c_any_of(x->called_computations(), [&](const HloComputation* callee) {
             return with_side_effect.contains(callee);
           });
  });
}

}  // namespace

std::vector<const HloInstruction*> FindDeadCode(const HloModule& module, IsLive is_live) {
  std::vector<const HloInstruction*> dead;
  Computations with_side_effect;
  for (const HloComputation* computation : module.MakeComputationPostOrder()) {  // callees first
    absl::flat_hash_set<const HloInstruction*> live;
    std::vector<const HloInstruction*> unseen;
    for (const HloInstruction* x : computation->instructions()) {
      if ((HasEffect(x, with_side_effect) || is_live(x)) && live.insert(x).second) unseen.push_back(x);
    }
    while (!unseen.empty()) {
      const HloInstruction* const next = unseen.back();
      unseen.pop_back();
      for (const HloInstruction* operand : next->operands()) {
        if (live.insert(operand).second) unseen.push_back(operand);
      }
    }
    for (const HloInstruction* x : computation->instructions()) {
      if (!live.contains(x)) dead.push_back(x);
    }
    if (HasSideEffect(*computation, with_side_effect)) with_side_effect.insert(computation);
  }
  return dead;
}

void RemoveDeadCode(HloModule* module, IsLive is_live) {
  const std::vector<const HloInstruction*> list = FindDeadCode(*module, is_live);
  const absl::flat_hash_set<const HloInstruction*> dead(list.begin(), list.end());
  if (!dead.empty()) {
    for (HloComputation* computation : module->computations()) {
      computation->RemoveDeadInstructions([&](const HloInstruction* x) { return dead.contains(x); });
    }
  }
  module->RemoveUnusedComputations().IgnoreError();  // there is an entry
}

}  // namespace kashi::reduction
