#include "kashi/evaluator/step_checker.h"

#include <cstring>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/devices/device.h"
#include "kashi/evaluator/compiled_step.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/operation.h"
#include "kashi/evaluator/operation_table.h"
#include "kashi/literal/error_spec.h"
#include "kashi/literal/literal.h"

namespace kashi::evaluator {
namespace {

absl::StatusOr<Value> CopyOfValue(const Value& value, EvaluationRun& run) {
  if (value.is_array()) {
    KASHI_ASSIGN_OR_RETURN(Value copy, run.MakeArray(value.dense_shape()));
    std::memcpy(copy.mutable_data(), value.untyped_data(), static_cast<size_t>(value.byte_count()));
    return copy;
  }
  if (!value.is_tuple()) return value;
  std::vector<Value> elements;
  for (const Value& element : value.elements()) {
    KASHI_ASSIGN_OR_RETURN(Value copy, CopyOfValue(element, run));
    elements.push_back(std::move(copy));
  }
  return Value::MakeTuple(std::move(elements));
}

bool MovesElements(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kFusion) {
    return absl::c_all_of(instruction.fused_instructions_computation()->instructions(),
                          [](const HloInstruction* fused) { return MovesElements(*fused); });
  }
  const OperationTraits& traits = TraitsOf(instruction.opcode());
  switch (traits.source) {
    case ValueSource::kOperand:
    case ValueSource::kParameter:
    case ValueSource::kConstant:
    case ValueSource::kTuple:
    case ValueSource::kTupleElement:
      return true;
    case ValueSource::kComputed:
      return traits.moved_operands > 0;
    case ValueSource::kCall:
    case ValueSource::kLoop:
    case ValueSource::kBranch:
      return false;
  }
  return false;
}

// The evaluator alone, within the limits of the run.
EvaluationOptions OptionsOfReference(const EvaluationRun& run) {
  EvaluationOptions options = run.options();
  options.excess_precision = false;  // the instructions of compiled programs say where a number is rounded
  options.observer = nullptr;
  options.on_call = nullptr;
  return options;
}
RunHooks HooksOfReference(const EvaluationRun& run) {
  RunHooks hooks;
  hooks.device = run.device();
  hooks.fabric = run.hooks().fabric;
  return hooks;
}

std::optional<int64_t> DeviceOf(const EvaluationRun& run) {
  return run.device() == nullptr ? std::nullopt : std::make_optional(run.device()->id());
}

}  // namespace

absl::StatusOr<std::vector<Value>> StepChecker::CopyOf(absl::Span<const Value> operands, EvaluationRun& run) {
  std::vector<Value> copies;
  for (const Value& operand : operands) {
    KASHI_ASSIGN_OR_RETURN(Value copy, CopyOfValue(operand, run));
    copies.push_back(std::move(copy));
  }
  return copies;
}

absl::StatusOr<Value> StepChecker::Run(const CompiledStep& step, Operation& op) {
  KASHI_ASSIGN_OR_RETURN(std::vector<Value> operands, CopyOf(op.operands, op.run));
  KASHI_ASSIGN_OR_RETURN(Value result, step.Run(op));
  KASHI_RETURN_IF_ERROR(op.run.CheckStopped());  // else the result may be unfinished
  KASHI_RETURN_IF_ERROR(Compare(op.instruction, std::move(operands), result, op.run));
  return result;
}

absl::Status StepChecker::Compare(const HloInstruction& instruction, std::vector<Value> operands, const Value& result,
                                  const EvaluationRun& run) {
  EvaluationRun reference(OptionsOfReference(run), HooksOfReference(run), run.limits());
  KASHI_ASSIGN_OR_RETURN(const Value expected, reference.EvaluateInstruction(instruction, absl::MakeSpan(operands)));
  compared_steps_.fetch_add(1);
  StepDifference difference = {&instruction, /*is_of_plan=*/false, DeviceOf(run)};
  return CompareArrays(expected, result, &difference);
}

absl::Status StepChecker::ComparePlanned(const HloInstruction& root, const Value& expected, const Value& actual,
                                         const EvaluationRun& run) {
  StepDifference difference = {&root, /*is_of_plan=*/true, DeviceOf(run)};
  return CompareArrays(expected, actual, &difference);
}

absl::Status StepChecker::CompareArrays(const Value& expected, const Value& actual, StepDifference* difference) {
  if (expected.is_array()) return CompareArray(expected, actual, difference);
  if (!expected.is_tuple()) return absl::OkStatus();
  for (size_t i = 0; i < expected.elements().size(); ++i) {
    const int64_t element = static_cast<int64_t>(i);
    difference->leaf.push_back(element);
    KASHI_RETURN_IF_ERROR(CompareArrays(expected.element(element), actual.element(element), difference));
    difference->leaf.pop_back();
  }
  return absl::OkStatus();
}

absl::Status StepChecker::CompareArray(const Value& expected, const Value& actual, StepDifference* difference) {
  const BorrowingLiteral a(expected.bytes(), expected.shape()), b(actual.bytes(), actual.shape());
  const HloInstruction& instruction = *difference->instruction;
  const bool is_exact = !difference->is_of_plan && MovesElements(instruction);
  difference->tolerance = is_exact ? 0 : tolerance_of_(expected.element_type());
  KASHI_ASSIGN_OR_RETURN(difference->statistics,
                         literal_comparison::Compare(a, b, ErrorSpec(difference->tolerance, difference->tolerance)));
  if (difference->statistics.mismatches == 0) return absl::OkStatus();
  const DimensionVector& at = difference->statistics.first_mismatch_index;
  difference->index = absl::StrCat("[", absl::StrJoin(at, ","), "]");
  difference->expected = a.GetAsString(at);
  difference->actual = b.GetAsString(at);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!first_.has_value()) first_ = *difference;
  return absl::CancelledError(absl::StrCat(
      instruction.name(), difference->is_of_plan
                              ? " has another value on planned memory than the same steps give without the plan"
                              : " does not compute what the evaluator computes from the same operands"));
}

}  // namespace kashi::evaluator
