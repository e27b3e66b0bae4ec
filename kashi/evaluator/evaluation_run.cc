#include "kashi/evaluator/evaluation_run.h"

#include "absl/strings/str_cat.h"
#include "kashi/base/machine.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/computation_plan.h"
#include "kashi/evaluator/element_kernel.h"
#include "kashi/evaluator/lane_function.h"
#include "kashi/evaluator/operation.h"

namespace kashi {
namespace {

// Every level is some hundred bytes of the thread's stack.
constexpr int kMaxCallDepth = 1000;

// What XLA:CPU's generator begins with (docs/spec/hlo-ops.md 8).
constexpr uint64_t kInitialRngState = 117515157;

absl::Status CannotBeEvaluated(const HloInstruction& instruction) {
  return Unimplemented("%s: %s needs a host or another program to talk to, and here is none", instruction.name(),
                       HloOpcodeString(instruction.opcode()));
}

}  // namespace

EvaluationRun::EvaluationRun(EvaluationOptions options)
    : options_(std::move(options)),
      budget_(std::make_shared<MemoryBudget>(options_.memory_limit_bytes > 0 ? options_.memory_limit_bytes
                                                                             : MachineMemoryBytes())),
      random_(options_.seed),
      rng_state_(kInitialRngState) {}
EvaluationRun::~EvaluationRun() = default;

absl::Status EvaluationRun::CheckCancelled() const {
  if (options_.cancelled != nullptr && options_.cancelled->load(std::memory_order_relaxed)) {
    return Cancelled("The run was interrupted");
  }
  return absl::OkStatus();
}

absl::StatusOr<Value> EvaluationRun::Convert(Value value, PrimitiveType type) {
  if (value.element_type() == type) return value;
  KASHI_ASSIGN_OR_RETURN(const ElementKernel kernel, FindConvertKernel(value.element_type(), type));
  KASHI_ASSIGN_OR_RETURN(Value result, MakeArray(type, value.dimensions()));
  const void* inputs[] = {value.untyped_data()};
  kernel(inputs, result.mutable_data(), value.element_count());
  return result;
}

absl::StatusOr<const ComputationPlan*> EvaluationRun::PlanOf(const HloComputation& computation) {
  std::unique_ptr<ComputationPlan>& plan = plans_[&computation];
  if (plan == nullptr) {
    KASHI_ASSIGN_OR_RETURN(ComputationPlan made, MakeComputationPlan(computation));
    plan = std::make_unique<ComputationPlan>(std::move(made));
  }
  return plan.get();
}

absl::StatusOr<const LaneFunction*> EvaluationRun::Lanes(const HloComputation& computation) {
  std::unique_ptr<LaneFunction>& function = lane_functions_[&computation];
  if (function == nullptr) {
    KASHI_ASSIGN_OR_RETURN(function, LaneFunction::Make(computation, *this));
  }
  return function.get();
}

absl::StatusOr<Value> EvaluationRun::RunStep(const ComputationPlanStep& step, absl::Span<Value> operands) {
  KASHI_RETURN_IF_ERROR(CheckCancelled());
  if (step.function == nullptr) return CannotBeEvaluated(*step.instruction);
  if (step.converts_operands) {
    for (Value& operand : operands) {
      if (!primitive_util::IsFloatingPointType(operand.element_type())) continue;
      KASHI_ASSIGN_OR_RETURN(operand, Convert(std::move(operand), step.instruction->shape().element_type()));
    }
  }
  if (!step.has_dynamic_sizes) {
    Operation operation{*step.instruction, operands, step.results, *this};
    return step.function(operation);
  }
  KASHI_ASSIGN_OR_RETURN(const std::vector<DenseShape> results, DynamicResultShapes(*step.instruction, operands));
  Operation operation{*step.instruction, operands, results, *this};
  return step.function(operation);
}

absl::Status EvaluationRun::RunPlan(const ComputationPlan& plan, absl::Span<Value> arguments,
                                    absl::Span<Value> values) {
  absl::InlinedVector<Value, 4> operands;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const ComputationPlanStep& step = plan.steps[i];
    if (step.instruction->opcode() == HloOpcode::kParameter) {
      values[i] = std::move(arguments[step.instruction->parameter_number()]);
    } else {
      operands.clear();
      for (const ComputationPlanStep::Operand& operand : step.operands) {
        if (operand.is_last_use) {
          operands.push_back(std::move(values[operand.step]));
        } else {
          operands.push_back(values[operand.step]);
        }
      }
      KASHI_ASSIGN_OR_RETURN(values[i], RunStep(step, absl::MakeSpan(operands)));
    }
    if (options_.observer) KASHI_RETURN_IF_ERROR(options_.observer(*step.instruction, values[i]));
  }
  return absl::OkStatus();
}

absl::StatusOr<Value> EvaluationRun::Call(const HloComputation& computation, std::vector<Value> arguments) {
  if (call_depth_ >= kMaxCallDepth) {
    return ResourceExhausted("Calls nest more than %d deep at computation %s", kMaxCallDepth, computation.name());
  }
  if (arguments.size() != static_cast<size_t>(computation.num_parameters())) {
    return InvalidArgument("Computation %s has %d parameters, and got %d arguments", computation.name(),
                           computation.num_parameters(), arguments.size());
  }
  KASHI_ASSIGN_OR_RETURN(const ComputationPlan* plan, PlanOf(computation));
  if (options_.on_call) options_.on_call(computation);
  std::vector<Value> values(plan->steps.size());
  ++call_depth_;
  const absl::Status status = RunPlan(*plan, absl::MakeSpan(arguments), absl::MakeSpan(values));
  --call_depth_;
  KASHI_RETURN_IF_ERROR(status);
  return std::move(values[plan->root]);
}

absl::StatusOr<Value> EvaluationRun::EvaluateInstruction(const HloInstruction& instruction,
                                                         absl::Span<Value> operands) {
  ComputationPlanStep step;
  step.instruction = &instruction;
  step.function = FindEvaluation(instruction.opcode());
  step.has_dynamic_sizes = HasDynamicSizes(instruction);
  if (!step.has_dynamic_sizes) step.results = ResultShapes(instruction.shape());
  step.converts_operands = ConvertsOperands(instruction);
  return RunStep(step, operands);
}

}  // namespace kashi
