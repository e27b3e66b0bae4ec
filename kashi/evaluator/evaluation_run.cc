#include "kashi/evaluator/evaluation_run.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/denormals.h"
#include "kashi/base/guard_pages.h"
#include "kashi/base/status.h"
#include "kashi/devices/device.h"
#include "kashi/devices/sharding_border.h"
#include "kashi/evaluator/compiled_step.h"
#include "kashi/evaluator/computation_plan.h"
#include "kashi/evaluator/excess_precision.h"
#include "kashi/evaluator/lane_function.h"
#include "kashi/evaluator/manual_region.h"
#include "kashi/evaluator/operation.h"
#include "kashi/evaluator/parallel_for.h"
#include "kashi/evaluator/step_checker.h"
#include "kashi/evaluator/step_profile.h"
#include "kashi/evaluator/transfers.h"
#include "kashi/evaluator/work.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/text/hlo_place.h"
#include "kashi/kernels/element_kernel.h"
#include "kashi/kernels/loops.h"
#include "kashi/values/value_util.h"

namespace kashi::evaluator {
namespace {

// Every level is some hundred bytes of the thread's stack.
constexpr int kMaxCallDepth = 1000;

// The first state of XLA:CPU's generator (docs/spec/hlo-ops.md 8).
constexpr uint64_t kInitialRngState = 117515157;

// The error with the instruction that exceeded the limit of work. Other limits name no instruction.
absl::Status AtInstruction(const HloInstruction& instruction, const absl::Status& error) {
  if (LimitKindOf(error) != LimitKind::kWork) return error;
  return WithMessage(error, absl::StrCat(instruction.name(), ": ", error.message()));
}

// `value` with the floating-point types that `shape` declares. INVALID_ARGUMENT where a static size is another.
absl::StatusOr<Value> AsDeclared(EvaluationRun& run, const HloInstruction& instruction, const Shape& shape,
                                 Value value) {
  if (value.pending() != nullptr) return value;  // the instruction that ends it converts it
  if (value.is_tuple() && shape.IsTuple() && value.elements().size() == shape.tuple_shapes().size()) {
    std::vector<Value> elements;
    for (size_t i = 0; i < value.elements().size(); ++i) {
      KASHI_ASSIGN_OR_RETURN(Value element, AsDeclared(run, instruction, shape.tuple_shapes(i), value.element(i)));
      elements.push_back(std::move(element));
    }
    return Value::MakeTuple(std::move(elements));
  }
  if (value.is_array() && shape.IsArray() && values::HasSizesOf(value, shape)) {
    return run.Convert(std::move(value), shape.element_type());
  }
  if (!value.is_array() && !value.is_tuple() && shape.IsToken()) return value;
  return InvalidArgument("%s: the value is %s, but %s is declared", instruction.name(),
                         value.is_array() ? ShapeUtil::HumanString(value.shape()) : "another kind",
                         ShapeUtil::HumanString(shape));
}

absl::Status MakeAsDeclared(EvaluationRun& run, const HloInstruction& instruction, Value* value) {
  if (values::HasShape(*value, instruction.shape())) return absl::OkStatus();
  KASHI_ASSIGN_OR_RETURN(*value, AsDeclared(run, instruction, instruction.shape(), std::move(*value)));
  return absl::OkStatus();
}
absl::Status MakeAsDeclared(EvaluationRun& run, const ComputationPlanStep& step, Value* value) {
  return step.may_differ_from_shape ? MakeAsDeclared(run, *step.instruction, value) : absl::OkStatus();
}

// Gives the array the name that messages of guard pages use.
void NameForGuards(const HloInstruction& instruction, const Value& value) {
  if (value.is_array()) base::NameGuarded(value.untyped_data(), instruction.name());
}

}  // namespace

values::RunLimits LimitsOf(const EvaluationOptions& options) {
  return {std::make_shared<MemoryBudget>(std::max<int64_t>(0, options.memory_limit_bytes)),
          std::make_shared<WorkMeter>(WorkLimits{options.max_work, options.deadline, options.cancelled,
                                                 options.is_cancelled,
                                                 options.start.value_or(std::chrono::steady_clock::now())})};
}

EvaluationRun::EvaluationRun(EvaluationOptions options, RunHooks hooks)
    : EvaluationRun(options, hooks, LimitsOf(options)) {}
EvaluationRun::EvaluationRun(EvaluationOptions options, RunHooks hooks, values::RunLimits limits)
    : options_(std::move(options)),
      hooks_(hooks),
      limits_(std::move(limits)),
      random_(options_.seed),
      rng_state_(kInitialRngState) {
  if (hooks_.profile != nullptr) step_clock_ = hooks_.profile->ClockOf(device() == nullptr ? 0 : device()->id());
}
EvaluationRun::~EvaluationRun() = default;

absl::Status EvaluationRun::CheckAffordable(const HloComputation& computation) const {
  if (options_.max_work <= 0) return absl::OkStatus();
  const int64_t least = LeastWorkOf(computation);
  const absl::Status error = limits_.work->CheckCanSpend(least);
  if (error.ok()) return error;
  return WithMessage(error,
                     absl::StrFormat("%s takes at least %s operations on elements; the limit is %d", computation.name(),
                                     least == INT64_MAX ? "2^63" : absl::StrCat(least), options_.max_work));
}

absl::StatusOr<ScratchMemory> EvaluationRun::ReserveScratch(int64_t bytes, const HloInstruction& instruction) {
  return ScratchMemory::Reserve(budget(), bytes, absl::StrCat("scratch memory of ", instruction.name()));
}

absl::StatusOr<Value> EvaluationRun::MakeArray(PrimitiveType type, absl::Span<const int64_t> dimensions) {
  KASHI_ASSIGN_OR_RETURN(const DenseShape shape, MakeCheckedDenseShape(type, dimensions));
  return MakeArray(shape);
}

absl::Status EvaluationRun::LoopIsTooLong(const HloInstruction& loop) const {
  const absl::Status error =
      InvalidArgument("Loop %s exceeded loop iteration limit (%d).", loop.name(), options_.max_loop_iterations);
  return AtInstruction(WithLimitKind(error, LimitKind::kIterations), loop);
}

absl::StatusOr<ComputationPlan*> EvaluationRun::PlanOf(const HloComputation& computation) {
  std::unique_ptr<ComputationPlan>& plan = plans_[&computation];
  if (plan == nullptr) {
    KASHI_ASSIGN_OR_RETURN(ComputationPlan made, MakeComputationPlan(computation, UnroundedResultsOf(computation)));
    KASHI_RETURN_IF_ERROR(PlaceSteps(computation, &made));
    for (ComputationPlanStep& step : made.steps) {
      if (hooks_.compiled != nullptr) step.compiled = hooks_.compiled->Find(*step.instruction);
    }
    plan = std::make_unique<ComputationPlan>(std::move(made));
  }
  return plan.get();
}

absl::Status EvaluationRun::PlaceSteps(const HloComputation& computation, ComputationPlan* plan) {
  if (options_.global_devices <= 1 || computation.parent() == nullptr) return absl::OkStatus();
  const HloModule& module = *computation.parent();
  if (regions_ == nullptr) regions_ = std::make_unique<ManualRegions>(module, options_, hooks_, limits_);
  if (&computation == module.entry_computation()) KASHI_RETURN_IF_ERROR(regions_->flow().CheckResult());
  for (ComputationPlanStep& step : plan->steps) step.place = regions_->flow().PlaceOf(*step.instruction);
  return absl::OkStatus();
}

absl::StatusOr<const std::vector<devices::ShardingBorder>*> EvaluationRun::BordersOf(const HloInstruction& custom_call,
                                                                                     int64_t devices) {
  std::unique_ptr<std::vector<devices::ShardingBorder>>& borders = borders_[&custom_call];
  if (borders == nullptr) {
    KASHI_ASSIGN_OR_RETURN(std::vector<devices::ShardingBorder> made,
                           devices::ShardingBorder::Make(custom_call, devices));
    borders = std::make_unique<std::vector<devices::ShardingBorder>>(std::move(made));
  }
  return borders.get();
}

const UnroundedResults* EvaluationRun::UnroundedResultsOf(const HloComputation& computation) {
  if (!options_.excess_precision || hooks_.compiled != nullptr) return nullptr;
  const HloModule* const module = computation.parent();
  const void* const program = module != nullptr ? static_cast<const void*>(module) : &computation;
  std::unique_ptr<UnroundedResults>& results = unrounded_results_[program];
  if (results == nullptr) {
    HloComputation* const alone = const_cast<HloComputation*>(&computation);
    results = module != nullptr ? std::make_unique<UnroundedResults>(module->computations())
                                : std::make_unique<UnroundedResults>(absl::MakeConstSpan(&alone, 1));
  }
  return results.get();
}

absl::StatusOr<const LaneFunction*> EvaluationRun::Lanes(const HloComputation& computation) {
  std::unique_ptr<LaneFunction>& function = lane_functions_[&computation];
  if (function == nullptr) {
    KASHI_ASSIGN_OR_RETURN(function, LaneFunction::Make(computation, *this));
  }
  return function.get();
}

absl::StatusOr<Value> EvaluationRun::RunStep(const ComputationPlanStep& step, absl::Span<Value> operands,
                                             const HloInstruction* start) {
  const bool can_transfer = step.is_transfer && CanTransfer(*step.instruction, device());
  if (!can_transfer) KASHI_RETURN_IF_ERROR(step.refusal);
  if (step.converts_operands) {
    for (Value& operand : operands) {
      if (!primitive_util::IsFloatingPointType(operand.element_type())) continue;
      KASHI_ASSIGN_OR_RETURN(operand, Convert(std::move(operand), step.instruction->shape().element_type()));
    }
  }
  if (!step.has_dynamic_sizes) return RunOperation(step, operands, step.results, step.work, start);
  KASHI_ASSIGN_OR_RETURN(const std::vector<DenseShape> results, DynamicResultShapes(*step.instruction, operands));
  return RunOperation(step, operands, results, WorkOfValues(*step.instruction, operands, results), start);
}

absl::StatusOr<Value> EvaluationRun::RunCompiledStep(const CompiledStep& step, Operation& operation) {
  const bool is_compared = hooks_.checker != nullptr && !step.has_steps();
  return is_compared ? hooks_.checker->Run(step, operation) : step.Run(operation);
}

absl::StatusOr<Value> EvaluationRun::RunOperation(const ComputationPlanStep& step, absl::Span<Value> operands,
                                                  absl::Span<const DenseShape> results, int64_t work,
                                                  const HloInstruction* start) {
  if (absl::Status error = limits_.work->Spend(work); !error.ok()) return AtInstruction(*step.instruction, error);
  const base::GuardedStep guarded(step.instruction->name());
  Operation operation{{*step.instruction, operands, results, limits_, std::exchange(result_memory_, {})},
                      *this,
                      step.kernel.get(),
                      start,
                      step.lapack.get(),
                      step.gpu_call.get()};
  absl::StatusOr<Value> value =
      step.compiled != nullptr ? RunCompiledStep(*step.compiled, operation) : step.function(operation);
  if (limits_.work->IsOver() && value.ok()) return limits_.work->Check();
  return value;
}

absl::StatusOr<Value> EvaluationRun::RunInPlace(const ComputationPlanStep& step, absl::Span<Value> operands) {
  switch (step.place) {
    case StepPlace::kOnDevices:
      return regions_->RunOnDevices(step, operands);
    case StepPlace::kOutOfRegion:
      return regions_->RunOutOfRegion(*this, step, operands);
    case StepPlace::kHere:
      break;
  }
  return EvaluateStep(step, operands);
}

absl::StatusOr<Value> EvaluationRun::EvaluateStep(const ComputationPlanStep& step, absl::Span<Value> operands,
                                                  const HloInstruction* start) {
  if (step.unrounded != nullptr) return RunUnrounded(*step.unrounded, operands);
  if (step.takes_unrounded && step.instruction->opcode() == HloOpcode::kConvert) {
    Value wide = operands[0].unrounded();
    if (!wide.is_nothing()) {
      KASHI_RETURN_IF_ERROR(limits_.work->Spend(step.work));
      return wide;
    }
  }
  if (!step.takes_unrounded) {
    for (Value& operand : operands) operand.DropUnrounded();
  }
  KASHI_ASSIGN_OR_RETURN(Value value, RunStep(step, operands, start));
  if (!step.takes_unrounded) value.DropUnrounded();
  KASHI_RETURN_IF_ERROR(MakeAsDeclared(*this, step, &value));
  return value;
}

absl::StatusOr<Value> EvaluationRun::EvaluateStep(const ComputationPlanStep& step, absl::Span<Value> operands,
                                                  absl::Span<Value> result_memory) {
  result_memory_ = result_memory;
  absl::StatusOr<Value> value = EvaluateStep(step, operands, /*start=*/nullptr);
  result_memory_ = {};
  return value;
}

// The conversions take memory of the run, but no work: they are a part of the operation.
absl::StatusOr<Value> EvaluationRun::RunUnrounded(const UnroundedStep& unrounded, absl::Span<Value> operands) {
  for (Value& operand : operands) {
    operand.DropUnrounded();
    if (!unrounded.has_wide_operands) continue;
    KASHI_ASSIGN_OR_RETURN(operand, Convert(std::move(operand), F32));
  }
  KASHI_ASSIGN_OR_RETURN(Value wide, RunStep(unrounded.step, operands, /*start=*/nullptr));
  KASHI_RETURN_IF_ERROR(MakeAsDeclared(*this, unrounded.step, &wide));
  KASHI_ASSIGN_OR_RETURN(Value value, Convert(wide, BF16));
  value.set_unrounded(std::move(wide));
  return value;
}

absl::Status EvaluationRun::RunPlan(ComputationPlan& plan, absl::Span<Value> arguments, absl::Span<Value> values) {
  absl::InlinedVector<Value, 4> operands;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    ComputationPlanStep& step = plan.steps[i];
    if (step.instruction->opcode() == HloOpcode::kParameter) {
      values[i] = std::move(arguments[step.instruction->parameter_number()]);
      KASHI_RETURN_IF_ERROR(AtInstruction(MakeAsDeclared(*this, step, &values[i]), *step.instruction));
    } else if (!step.constant.is_nothing()) {
      values[i] = step.constant;
    } else {
      const MeasuredStep measured(step_clock_, step.instruction);
      for (const ComputationPlanStep::Operand& operand : step.operands) {
        if (operand.is_last_use) {
          operands.push_back(std::move(values[operand.step]));
        } else {
          operands.push_back(values[operand.step]);
          if (operand.is_last_unrounded_use) values[operand.step].DropUnrounded();
        }
      }
      absl::StatusOr<Value> value = RunInPlace(step, absl::MakeSpan(operands));
      if (!value.ok()) return AtInstruction(value.status(), *step.instruction);
      values[i] = *std::move(value);
      operands.clear();
      if (step.instruction->opcode() == HloOpcode::kConstant) step.constant = values[i];
    }
    if (!step.keeps_unrounded) values[i].DropUnrounded();
    if (base::HasGuardPages()) NameForGuards(*step.instruction, values[i]);
    if (step.place == StepPlace::kOnDevices) continue;
    if (options_.observer) KASHI_RETURN_IF_ERROR(options_.observer(*step.instruction, values[i]));
  }
  return absl::OkStatus();
}

absl::StatusOr<Value> EvaluationRun::Call(const HloComputation& computation, std::vector<Value> arguments) {
  for (Value& argument : arguments) argument.DropUnrounded();
  KASHI_ASSIGN_OR_RETURN(Value result, CallUnrounded(computation, std::move(arguments)));
  result.DropUnrounded();
  return result;
}

absl::Status EvaluationRun::BeginCallOf(const HloComputation& computation, size_t arguments) const {
  if (call_depth_ >= kMaxCallDepth) {
    return ResourceExhausted("Calls nest more than %d deep at computation %s", kMaxCallDepth, computation.name());
  }
  if (arguments != static_cast<size_t>(computation.num_parameters())) {
    return InvalidArgument("Computation %s has %d parameters, and got %d arguments", computation.name(),
                           computation.num_parameters(), arguments);
  }
  if (options_.on_call) options_.on_call(computation);
  return absl::OkStatus();
}

absl::StatusOr<Value> EvaluationRun::CallBy(const HloComputation& computation, std::vector<Value> arguments,
                                            absl::FunctionRef<absl::StatusOr<Value>(absl::Span<Value>)> body) {
  KASHI_RETURN_IF_ERROR(BeginCallOf(computation, arguments.size()));
  const base::KeepDenormals keep;
  const bool is_whole_run = step_clock_ != nullptr && step_clock_->is_idle();
  const MeasuredStep measured(is_whole_run ? step_clock_ : nullptr, nullptr);
  for (size_t i = 0; i < arguments.size(); ++i) {
    arguments[i].DropUnrounded();
    KASHI_RETURN_IF_ERROR(MakeAsDeclared(*this, *computation.parameter_instruction(i), &arguments[i]));
  }
  KASHI_ASSIGN_OR_RETURN(Value result, body(absl::MakeSpan(arguments)));
  KASHI_RETURN_IF_ERROR(CheckStopped());
  return result;
}

absl::StatusOr<Value> EvaluationRun::CallUnrounded(const HloComputation& computation, std::vector<Value> arguments) {
  KASHI_RETURN_IF_ERROR(BeginCallOf(computation, arguments.size()));
  const base::KeepDenormals keep;
  const bool is_whole_run = step_clock_ != nullptr && step_clock_->is_idle();
  const MeasuredStep measured(is_whole_run ? step_clock_ : nullptr, nullptr);
  KASHI_ASSIGN_OR_RETURN(ComputationPlan* const plan, PlanOf(computation));
  std::vector<Value> values(plan->steps.size());
  ++call_depth_;
  const absl::Status status = RunPlan(*plan, absl::MakeSpan(arguments), absl::MakeSpan(values));
  --call_depth_;
  KASHI_RETURN_IF_ERROR(status);
  KASHI_RETURN_IF_ERROR(CheckStopped());
  return std::move(values[plan->root]);
}

absl::StatusOr<Value> EvaluationRun::BeginCall(const HloComputation& computation, std::vector<Value> arguments,
                                               const HloInstruction& start) {
  if (options_.on_call) options_.on_call(computation);
  KASHI_ASSIGN_OR_RETURN(ComputationPlan* const plan, PlanOf(computation));
  std::vector<Value> operands;
  for (const HloInstruction* parameter : computation.root_instruction()->operands()) {
    Value& argument = arguments[parameter->parameter_number()];
    KASHI_RETURN_IF_ERROR(MakeAsDeclared(*this, *parameter, &argument));
    operands.push_back(argument);
  }
  arguments.clear();
  return EvaluateStep(plan->steps[plan->root], absl::MakeSpan(operands), &start);
}

absl::StatusOr<Value> EvaluationRun::EvaluateInstruction(const HloInstruction& instruction,
                                                         absl::Span<Value> operands) {
  const base::KeepDenormals keep;
  return EvaluateStep(MakeComputationPlanStep(instruction), operands);
}

}  // namespace kashi::evaluator
