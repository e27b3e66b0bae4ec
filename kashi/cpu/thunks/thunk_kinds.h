// The kind of thunk that runs an instruction, and so its use of memory. The first kind that can run it is chosen.
#ifndef KASHI_CPU_THUNKS_THUNK_KINDS_H_
#define KASHI_CPU_THUNKS_THUNK_KINDS_H_

#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "kashi/buffers/buffer_assignment.h"
#include "kashi/evaluator/compiled_step.h"
#include "kashi/evaluator/computation_plan.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::cpu {

// The compiled step of an instruction; null: none.
using FindStep = absl::FunctionRef<const evaluator::CompiledStep*(const HloInstruction& instruction)>;

enum class ThunkKind {
  kStep,          // a kernel
  kDynamicSlice,  // of a few elements
  kUpdateSlice,
  kDot,            // of matrices as they lie
  kLinearAlgebra,  // of small matrices
  kElements,       // one elementwise operation on a small array
  kEvaluator,
};

class ThunkKinds : public buffers::MemoryRules {
 public:
  // find_step must outlive this object.
  explicit ThunkKinds(FindStep find_step) : find_step_(find_step) {}

  buffers::MemoryUse UseOf(const HloInstruction& instruction) const override;
  bool IsOneStep(const HloInstruction& control_flow) const override { return find_step_(control_flow) != nullptr; }

  ThunkKind KindOf(const HloInstruction& instruction) const;
  const evaluator::CompiledStep* FindCompiled(const HloInstruction& instruction) const {
    return find_step_(instruction);
  }
  // The evaluator's step for the instruction. Made once.
  const std::shared_ptr<const evaluator::ComputationPlanStep>& StepOf(const HloInstruction& instruction) const;

 private:
  FindStep find_step_;
  mutable absl::flat_hash_map<const HloInstruction*, std::shared_ptr<const evaluator::ComputationPlanStep>> steps_;
};

}  // namespace kashi::cpu

#endif  // KASHI_CPU_THUNKS_THUNK_KINDS_H_
