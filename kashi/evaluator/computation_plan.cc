#include "kashi/evaluator/computation_plan.h"
#include "kashi/evaluator/operation_table.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/evaluator/instruction_kernel.h"
#include "kashi/evaluator/transfers.h"
#include "kashi/evaluator/work.h"
#include "kashi/gpu_calls/gpu_call.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::evaluator {
namespace {

bool IsDynamic(const Shape& shape) {
  bool dynamic = false;
  ShapeUtil::ForEachSubshape(shape, [&](const Shape& part, const ShapeIndex&) {
    if (part.IsArray() && !part.is_static()) dynamic = true;
  });
  return dynamic;
}

bool AnyIsDynamic(const HloInstruction& instruction) {
  return IsDynamic(instruction.shape()) || absl::c_any_of(instruction.operands(), [](const HloInstruction* operand) {
           return IsDynamic(operand->shape());
         });
}

std::unique_ptr<const UnroundedStep> MakeUnroundedStep(const HloInstruction& instruction) {
  auto unrounded = std::make_unique<UnroundedStep>();
  unrounded->wide = MakeWide(instruction);
  unrounded->has_wide_operands = HasWideOperands(instruction);
  unrounded->step = MakeComputationPlanStep(*unrounded->wide.instruction);
  return unrounded;
}

void MarkUnrounded(const UnroundedResults& unrounded, ComputationPlan* plan) {
  std::vector<bool> used(plan->steps.size(), false);
  used[plan->root] = true;  // by the caller, if it is a call
  for (size_t i = plan->steps.size(); i-- > 0;) {
    ComputationPlan::Step& step = plan->steps[i];
    step.keeps_unrounded = used[i];
    if (unrounded.Contains(*step.instruction)) step.unrounded = MakeUnroundedStep(*step.instruction);
    step.takes_unrounded = unrounded.IsTakenBy(*step.instruction);
    if (!step.takes_unrounded) continue;
    for (size_t k = step.operands.size(); k-- > 0;) {
      step.operands[k].is_last_unrounded_use = !used[step.operands[k].step];
      used[step.operands[k].step] = true;
    }
  }
}

bool ConvertsOperands(const HloInstruction& instruction) {
  if (TraitsOf(instruction.opcode()).moved_operands == 0) return false;
  const PrimitiveType type = instruction.shape().element_type();
  for (const HloInstruction* operand : instruction.operands()) {
    const PrimitiveType given = operand->shape().element_type();
    if (given != type && primitive_util::IsFloatingPointType(given) && primitive_util::IsFloatingPointType(type))
      return true;
  }
  return false;
}

bool HasDynamicSizes(const HloInstruction& instruction) {
  switch (TraitsOf(instruction.opcode()).source) {
    case ValueSource::kComputed:
    case ValueSource::kOperand:
      return AnyIsDynamic(instruction);
    default:
      return false;  // the result is an existing value, or one that computations make, with its own sizes
  }
}

// Whether operands and result have several floating-point types.
bool MixesPrecisions(const HloInstruction& instruction) {
  PrimitiveType seen = PRIMITIVE_TYPE_INVALID;
  bool mixes = false;
  const auto look_at = [&](const Shape& part, const ShapeIndex&) {
    if (!part.IsArray() || !primitive_util::IsFloatingPointType(part.element_type())) return;
    mixes = mixes || (seen != PRIMITIVE_TYPE_INVALID && seen != part.element_type());
    seen = part.element_type();
  };
  ShapeUtil::ForEachSubshape(instruction.shape(), look_at);
  for (const HloInstruction* operand : instruction.operands()) ShapeUtil::ForEachSubshape(operand->shape(), look_at);
  return mixes;
}

bool MayDifferFromShape(const HloInstruction& instruction) {
  const OperationTraits& traits = TraitsOf(instruction.opcode());
  if (traits.is_made_elsewhere) return true;
  switch (traits.source) {
    case ValueSource::kParameter:
    case ValueSource::kCall:
    case ValueSource::kLoop:
    case ValueSource::kBranch:
      return true;  // a value of another computation
    case ValueSource::kTuple:
    case ValueSource::kTupleElement:
      return AnyIsDynamic(instruction);  // the verifier does not let the types differ
    default:
      return AnyIsDynamic(instruction) || MixesPrecisions(instruction);
  }
}

// The codes are those of XLA's evaluator: infeed is a failed precondition, the others are not implemented.
absl::Status CannotBeEvaluated(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kShuffle) {
    return Unimplemented("%s: shuffle is not evaluated: XLA does not say in which direction its shifts rotate",
                         instruction.name());
  }
  const std::string message = absl::StrCat(instruction.name(), ": ", HloOpcodeString(instruction.opcode()),
                                           " needs a host or another program, but there is none");
  return instruction.opcode() == HloOpcode::kInfeed ? absl::FailedPreconditionError(message)
                                                    : absl::UnimplementedError(message);
}

// Whether an array has more bytes than an int64_t can count. ShapeUtil::ElementsIn would overflow.
bool IsBeyondMemory(const Shape& shape) {
  bool is_beyond = false;
  ShapeUtil::ForEachSubshape(shape, [&](const Shape& part, const ShapeIndex&) {
    if (!part.IsArray() || !part.is_static() || ShapeUtil::IsZeroElementArray(part)) return;
    int64_t bytes = ShapeUtil::ByteSizeOfPrimitiveType(part.element_type());
    for (int64_t size : part.dimensions()) bytes = SaturatingMultiply(bytes, size);
    is_beyond = is_beyond || bytes == INT64_MAX;
  });
  return is_beyond;
}

absl::Status RefusalOf(const HloInstruction& instruction) {
  if (FindEvaluation(instruction.opcode()) == nullptr) return CannotBeEvaluated(instruction);
  const auto is_no_array = [](const HloInstruction* operand) { return !operand->shape().IsArray(); };
  if (!TraitsOf(instruction.opcode()).takes_any_value && absl::c_any_of(instruction.operands(), is_no_array)) {
    return InvalidArgument("%s: %s takes arrays, but one of its operands is not an array", instruction.name(),
                           HloOpcodeString(instruction.opcode()));
  }
  if (!IsBeyondMemory(instruction.shape())) return absl::OkStatus();
  return WithLimitKind(ResourceExhausted("%s: %s needs 2^63 bytes or more", instruction.name(),
                                         ShapeUtil::HumanString(instruction.shape())),
                       LimitKind::kMemory);
}

}  // namespace

absl::StatusOr<ComputationPlan> MakeComputationPlan(const HloComputation& computation,
                                                    const UnroundedResults* unrounded) {
  KASHI_ASSIGN_OR_RETURN(const buffers::LinearSchedule schedule, buffers::MakeLinearSchedule(computation));
  ComputationPlan plan;
  plan.steps.reserve(schedule.steps.size());
  plan.root = schedule.root;
  for (const buffers::ScheduledInstruction& scheduled : schedule.steps) {
    plan.steps.push_back(MakeComputationPlanStep(*scheduled.instruction));
    for (const buffers::ScheduledInstruction::Operand& operand : scheduled.operands) {
      plan.steps.back().operands.push_back({operand});
    }
  }
  if (unrounded != nullptr) MarkUnrounded(*unrounded, &plan);
  return plan;
}

std::vector<DenseShape> ResultShapes(const Shape& shape) {
  std::vector<DenseShape> results;
  if (shape.IsArray()) {
    results.push_back(MakeDenseShape(shape));
  } else if (shape.IsTuple()) {
    for (const Shape& element : shape.tuple_shapes()) {
      results.push_back(element.IsArray() ? MakeDenseShape(element) : nullptr);
    }
  }
  return results;
}

ComputationPlanStep MakeComputationPlanStep(const HloInstruction& instruction) {
  ComputationPlanStep step;
  step.instruction = &instruction;
  step.function = FindEvaluation(instruction.opcode());
  if (step.function == nullptr) {
    step.function = FindTransfer(instruction.opcode());
    step.is_transfer = step.function != nullptr;
  }
  step.has_dynamic_sizes = HasDynamicSizes(instruction);
  step.refusal = RefusalOf(instruction);
  if (!step.has_dynamic_sizes) {
    step.results = ResultShapes(instruction.shape());
    step.work = WorkOf(instruction);
  }
  step.converts_operands = ConvertsOperands(instruction);
  step.may_differ_from_shape = MayDifferFromShape(instruction);
  if (HasElementKernel(instruction.opcode())) {
    absl::StatusOr<kernels::ElementKernel> kernel = FindElementKernel(instruction);
    if (kernel.ok()) step.kernel = std::make_unique<const kernels::ElementKernel>(*std::move(kernel));
  }
  if (instruction.opcode() == HloOpcode::kCustomCall && custom_calls::IsLapackCall(instruction.custom_call_target())) {
    auto binding = custom_calls::LapackBinding::MakeOfTarget(instruction);
    if (binding.ok()) step.lapack = std::make_unique<const custom_calls::LapackBinding>(*std::move(binding));
  }
  if (gpu_calls::FindGpuCall(instruction) != nullptr) {
    step.gpu_call = gpu_calls::LowerGpuCall(instruction).value_or(nullptr);
  }
  return step;
}

}  // namespace kashi::evaluator
