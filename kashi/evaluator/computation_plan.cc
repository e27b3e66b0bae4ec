#include "kashi/evaluator/computation_plan.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/devices/transfer_order.h"
#include "kashi/evaluator/in_place_order.h"
#include "kashi/evaluator/instruction_kernel.h"
#include "kashi/evaluator/transfers.h"
#include "kashi/evaluator/work.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/spmd/transfer_routes.h"

namespace kashi::internal {
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

// Whether it runs although nothing uses its result: other devices wait for what is sent.
bool AlwaysRuns(const HloInstruction& instruction) {
  if (IsExpectation(instruction)) return true;
  return instruction.opcode() == HloOpcode::kSend && IsDeviceTransfer(instruction) &&
         TransferPairs(instruction).value_or(std::nullopt).has_value();
}

// Whether a computation that it calls, directly or not, has such an instruction.
bool CallsWhatAlwaysRuns(const HloInstruction& caller) {
  std::vector<const HloComputation*> waiting;
  absl::flat_hash_set<const HloComputation*> seen;
  const auto add_called = [&](const HloInstruction& instruction) {
    for (const HloComputation* called : instruction.called_computations()) {
      if (seen.insert(called).second) waiting.push_back(called);
    }
  };
  add_called(caller);
  while (!waiting.empty()) {
    const HloComputation* computation = waiting.back();
    waiting.pop_back();
    for (const HloInstruction* instruction : computation->instructions()) {
      if (AlwaysRuns(*instruction)) return true;
      add_called(*instruction);
    }
  }
  return false;
}

// The root, what runs in any case, and every instruction that they are computed from. Of other calls, those
// without users are looked into.
absl::flat_hash_set<const HloInstruction*> NeededIn(const HloComputation& computation) {
  std::vector<const HloInstruction*> waiting = {computation.root_instruction()};
  for (const HloInstruction* instruction : computation.instructions()) {
    if (instruction == waiting[0]) continue;
    const bool is_unused = instruction->user_count() == 0;
    if (AlwaysRuns(*instruction) || (is_unused && CallsWhatAlwaysRuns(*instruction))) waiting.push_back(instruction);
  }
  absl::flat_hash_set<const HloInstruction*> needed(waiting.begin(), waiting.end());
  while (!waiting.empty()) {
    const HloInstruction* instruction = waiting.back();
    waiting.pop_back();
    for (const HloInstruction* operand : instruction->operands()) {
      if (needed.insert(operand).second) waiting.push_back(operand);
    }
  }
  return needed;
}

std::unique_ptr<const UnroundedStep> MakeUnroundedStep(const HloInstruction& instruction) {
  auto unrounded = std::make_unique<UnroundedStep>();
  unrounded->wide = MakeWide(instruction);
  unrounded->has_wide_operands = HasWideOperands(instruction);
  unrounded->step = MakeComputationPlanStep(*unrounded->wide.instruction);
  return unrounded;
}

class PlanBuilder {
 public:
  PlanBuilder(const HloComputation& computation, const UnroundedResults* unrounded)
      : computation_(computation), unrounded_(unrounded), needed_(NeededIn(computation)) {}

  absl::StatusOr<ComputationPlan> Build() {
    plan_.steps.reserve(needed_.size());
    for (const HloInstruction* instruction : Order()) {
      if (!step_of_.contains(instruction)) Add(instruction);
    }
    if (plan_.steps.size() != needed_.size()) {
      return InvalidArgument("Computation %s has no valid order of its instructions", computation_.name());
    }
    plan_.root = step_of_.at(computation_.root_instruction());
    MarkLastUses();
    if (unrounded_ != nullptr) MarkUnrounded();
    return std::move(plan_);
  }

 private:
  std::vector<HloInstruction*> Order() const {
    const HloModule* const module = computation_.parent();
    std::vector<HloInstruction*> order =
        module == nullptr ? computation_.MakeInstructionPostOrder() : module->InstructionOrder(computation_);
    order = OrderForOverlap(order, module != nullptr && module->has_schedule());
    order.erase(std::remove_if(order.begin(), order.end(), [&](auto* x) { return !needed_.contains(x); }), order.end());
    return OrderUsesBeforeInPlaceUpdates(std::move(order), computation_.root_instruction()).order;
  }

  void Add(const HloInstruction* first) {
    std::vector<const HloInstruction*> waiting = {first};
    while (!waiting.empty()) {
      const HloInstruction* instruction = waiting.back();
      waiting.pop_back();
      AddStep(instruction);
      for (const HloInstruction* user : instruction->users()) {
        if (user->opcode() == HloOpcode::kGetTupleElement && needed_.contains(user) && !step_of_.contains(user)) {
          waiting.push_back(user);
        }
      }
    }
  }

  void AddStep(const HloInstruction* instruction) {
    step_of_[instruction] = static_cast<int32_t>(plan_.steps.size());
    ComputationPlan::Step step = MakeComputationPlanStep(*instruction);
    for (const HloInstruction* operand : instruction->operands())
      step.operands.push_back({step_of_.at(operand), false});
    plan_.steps.push_back(std::move(step));
  }

  void MarkLastUses() {
    std::vector<bool> used(plan_.steps.size(), false);
    used[plan_.root] = true;  // by the caller
    for (size_t i = plan_.steps.size(); i-- > 0;) {
      auto& operands = plan_.steps[i].operands;
      for (size_t k = operands.size(); k-- > 0;) {
        operands[k].is_last_use = !used[operands[k].step];
        used[operands[k].step] = true;
      }
    }
  }

  void MarkUnrounded() {
    std::vector<bool> used(plan_.steps.size(), false);
    used[plan_.root] = true;  // by the caller, if it is a call
    for (size_t i = plan_.steps.size(); i-- > 0;) {
      ComputationPlan::Step& step = plan_.steps[i];
      step.keeps_unrounded = used[i];
      if (unrounded_->Contains(*step.instruction)) step.unrounded = MakeUnroundedStep(*step.instruction);
      step.takes_unrounded = unrounded_->IsTakenBy(*step.instruction);
      if (!step.takes_unrounded) continue;
      for (size_t k = step.operands.size(); k-- > 0;) {
        step.operands[k].is_last_unrounded_use = !used[step.operands[k].step];
        used[step.operands[k].step] = true;
      }
    }
  }

  const HloComputation& computation_;
  const UnroundedResults* const unrounded_;
  absl::flat_hash_set<const HloInstruction*> needed_;
  absl::flat_hash_map<const HloInstruction*, int32_t> step_of_;
  ComputationPlan plan_;
};

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

bool IsExpectation(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kCustomCall) return false;
  const absl::string_view target = instruction.custom_call_target();
  return absl::StartsWith(target, "check.expect_") || target == "interpreter.run_parallel";
}

absl::StatusOr<ComputationPlan> MakeComputationPlan(const HloComputation& computation,
                                                    const UnroundedResults* unrounded) {
  return PlanBuilder(computation, unrounded).Build();
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
    absl::StatusOr<ElementKernel> kernel = FindElementKernel(instruction);
    if (kernel.ok()) step.kernel = std::make_unique<const ElementKernel>(*std::move(kernel));
  }
  return step;
}

}  // namespace kashi::internal
