#include "kashi/cpu/thunks/thunk_kinds.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "kashi/array/shape_util.h"
#include "kashi/buffers/in_place_order.h"
#include "kashi/buffers/leaves.h"
#include "kashi/codegen/dot_matrices.h"
#include "kashi/codegen/linear_algebra.h"
#include "kashi/cpu/thunks/thunks.h"
#include "kashi/passes/kernel_premises.h"

namespace kashi::cpu {
namespace {

// With more, the evaluator's functions use several threads.
constexpr int64_t kMostElementsHere = 16384;

bool HasDynamicSizes(const HloInstruction& instruction) {
  return !instruction.shape().is_static() ||
         absl::c_any_of(instruction.operands(), [](const HloInstruction* x) { return !x->shape().is_static(); });
}

// Whether a step always has the leaves of its instruction's shape.
bool HasFixedLeaves(const evaluator::ComputationPlanStep& step) {
  const HloOpcode opcode = step.instruction->opcode();
  if (!step.refusal.ok() || step.has_dynamic_sizes || step.converts_operands) return false;
  const bool calls = opcode == HloOpcode::kWhile || opcode == HloOpcode::kConditional || opcode == HloOpcode::kFusion ||
                     opcode == HloOpcode::kCall;
  // The result of a custom call is checked against its shape.
  const bool is_custom_call = opcode == HloOpcode::kCustomCall && !HasDynamicSizes(*step.instruction);
  return calls || is_custom_call || !step.may_differ_from_shape;
}

bool IsSmall(const Shape& shape) { return ShapeUtil::ElementsIn(shape) <= kMostElementsHere; }

bool HasSizesOfElements(const evaluator::ComputationPlanStep& step) {
  return step.kernel != nullptr && ElementThunk::SizesOf(*step.instruction, *step.kernel).has_value();
}

}  // namespace

const std::shared_ptr<const evaluator::ComputationPlanStep>& ThunkKinds::StepOf(
    const HloInstruction& instruction) const {
  std::shared_ptr<const evaluator::ComputationPlanStep>& step = steps_[&instruction];
  if (step == nullptr) {
    evaluator::ComputationPlanStep made = evaluator::MakeComputationPlanStep(instruction);
    made.compiled = find_step_(instruction);
    step = std::make_shared<const evaluator::ComputationPlanStep>(std::move(made));
  }
  return step;
}

ThunkKind ThunkKinds::KindOf(const HloInstruction& instruction) const {
  if (const evaluator::CompiledStep* const step = find_step_(instruction); step != nullptr) {
    return step->AsMemoryStep() != nullptr ? ThunkKind::kStep : ThunkKind::kEvaluator;
  }
  const bool is_slice = instruction.opcode() == HloOpcode::kDynamicSlice;
  if (is_slice || instruction.opcode() == HloOpcode::kDynamicUpdateSlice) {
    const Shape& part = is_slice ? instruction.shape() : instruction.operand(1)->shape();
    const bool is_direct = passes::HasScalarStarts(instruction, is_slice ? 1 : 2) && IsSmall(part);
    if (!is_direct || ShapeUtil::IsZeroElementArray(part)) return ThunkKind::kEvaluator;
    return is_slice ? ThunkKind::kDynamicSlice : ThunkKind::kUpdateSlice;
  }
  if (instruction.opcode() == HloOpcode::kDot) {
    return codegen::DotMatricesOf(instruction).has_value() ? ThunkKind::kDot : ThunkKind::kEvaluator;
  }
  if (codegen::LinearAlgebraCallOf(instruction).has_value()) return ThunkKind::kLinearAlgebra;
  const bool is_element_thunk = HasSizesOfElements(*StepOf(instruction)) && IsSmall(instruction.shape());
  return is_element_thunk ? ThunkKind::kElements : ThunkKind::kEvaluator;
}

buffers::MemoryUse ThunkKinds::UseOf(const HloInstruction& instruction) const {
  const evaluator::ComputationPlanStep& step = *StepOf(instruction);
  if (!HasFixedLeaves(step)) return buffers::MemoryUse::Kind::kUnknown;
  switch (KindOf(instruction)) {
    case ThunkKind::kStep:
      return step.compiled->AsMemoryStep()->UseOfMemory();
    case ThunkKind::kUpdateSlice:
      return buffers::MemoryUse::Update(0, /*is_in_place=*/true);
    case ThunkKind::kElements:
      return buffers::MemoryUse::Kind::kElementwise;
    case ThunkKind::kDynamicSlice:
    case ThunkKind::kDot:
    case ThunkKind::kLinearAlgebra:
      return buffers::MemoryUse::Kind::kNew;
    case ThunkKind::kEvaluator:
      break;
  }
  if (step.compiled != nullptr) return buffers::MemoryUse::Kind::kNew;
  // The evaluator's elementwise operations go through their arrays in the same order, so they work in place too.
  if (HasSizesOfElements(step)) return buffers::MemoryUse::Kind::kElementwise;
  const int64_t updated = buffers::OperandUpdatedInPlace(instruction);
  return updated < 0 ? buffers::MemoryUse(buffers::MemoryUse::Kind::kNew)
                     : buffers::MemoryUse::Update(updated, /*is_in_place=*/true);
}

}  // namespace kashi::cpu
