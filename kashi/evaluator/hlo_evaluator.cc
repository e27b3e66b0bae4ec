#include "kashi/evaluator/hlo_evaluator.h"

#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/check_arguments.h"
#include "kashi/evaluator/literal_run.h"
#include "kashi/evaluator/operation_table.h"
#include "kashi/evaluator/partial_evaluation.h"
#include "kashi/evaluator/product_trace.h"
#include "kashi/hlo/inference/instruction_shape.h"
#include "kashi/values/value_util.h"

namespace kashi {

using evaluator::CheckArguments;
using evaluator::EvaluationRun;
using evaluator::PartialEvaluation;
using evaluator::TraceProducts;
using hlo::InferInstructionShape;
using internal::EvalErrorDetail;
using internal::kEvalErrorDetailUrl;
using values::LentBy;
namespace {

using OperandList = absl::Span<HloInstruction* const>;

absl::Status DependsOnOutside(const HloInstruction& root) {
  absl::Status status = FailedPrecondition(
      "Failed to evaluate instruction: %s: its value depends on parameters, infeeds or the like", root.name());
  const auto detail = static_cast<uint32_t>(EvalErrorDetail::kDynamicValueDependence);
  status.SetPayload(kEvalErrorDetailUrl,
                    absl::Cord(absl::string_view(reinterpret_cast<const char*>(&detail), sizeof detail)));
  return status;
}

}  // namespace

namespace internal {

std::optional<EvalErrorDetail> ParseEvalErrorDetail(const absl::Status& error) {
  const absl::optional<absl::Cord> payload = error.GetPayload(kEvalErrorDetailUrl);
  if (!payload.has_value() || payload->size() != sizeof(uint32_t)) return std::nullopt;
  uint32_t detail;
  std::memcpy(&detail, std::string(*payload).data(), sizeof detail);
  return static_cast<EvalErrorDetail>(detail);
}

}  // namespace internal

HloEvaluator::HloEvaluator(int64_t max_loop_iterations) {
  options_.max_loop_iterations = max_loop_iterations;
  options_.excess_precision = false;
}
HloEvaluator::HloEvaluator(EvaluationOptions options) : options_(std::move(options)) {}

std::vector<const Literal*> HloEvaluator::PointersTo(absl::Span<const Literal> literals) {
  std::vector<const Literal*> pointers;
  for (const Literal& literal : literals) pointers.push_back(&literal);
  return pointers;
}

bool HloEvaluator::IsOpcodeImplemented(HloOpcode opcode) { return evaluator::FindEvaluation(opcode) != nullptr; }

void HloEvaluator::set_custom_call_handler(CustomCallFunction handler) {
  custom_call_function_ = std::move(handler);
  options_.custom_call_handler = [this](const HloInstruction& call, absl::Span<const Literal* const> operands) {
    std::vector<const Literal*> list(operands.begin(), operands.end());
    return custom_call_function_(&call, absl::MakeSpan(list));
  };
  if (!custom_call_function_) options_.custom_call_handler = nullptr;
}

EvaluationOptions HloEvaluator::OptionsOfRun() {
  EvaluationOptions options = options_;
  options.on_call = [this](const HloComputation& computation) { OnEvaluateComputation(computation); };
  if (trace_mac_handler_) {
    options.observer = [this](const HloInstruction& instruction, const Value& value) {
      TraceProducts(instruction, trace_mac_handler_);
      return options_.observer ? options_.observer(instruction, value) : absl::OkStatus();
    };
  }
  return options;
}

absl::StatusOr<Literal> HloEvaluator::Evaluate(const HloComputation& computation,
                                               absl::Span<const Literal* const> arguments) {
  EvaluationRun run(OptionsOfRun());
  return evaluator::RunOnLiterals(computation, arguments, run);
}

absl::StatusOr<Literal> HloEvaluator::Evaluate(const HloInstruction* instruction, PrecomputedAnalyses,
                                               bool recursively_evaluate_nonconstant_operands,
                                               const Substitutions& substitutions) {
  EvaluationOptions options = OptionsOfRun();
  options.excess_precision = false;
  EvaluationRun run(std::move(options));
  PartialEvaluation evaluation(&run, substitutions, recursively_evaluate_nonconstant_operands);
  KASHI_ASSIGN_OR_RETURN(const Value result, evaluation.Evaluate({instruction, {}}));
  if (trace_mac_handler_) TraceProducts(*instruction, trace_mac_handler_);
  if (!PartialEvaluation::IsKnown(result)) return DependsOnOutside(*instruction);
  return result.ToLiteral(instruction->shape());
}

bool HloEvaluator::TryEvaluate(const HloInstruction* instruction, Literal* result,
                               bool recursively_evaluate_nonconstant_operands) {
  absl::StatusOr<Literal> evaluated = Evaluate(instruction, {}, recursively_evaluate_nonconstant_operands);
  if (!evaluated.ok()) return false;
  *result = *std::move(evaluated);
  return true;
}

absl::StatusOr<Literal> HloEvaluator::EvaluateAlone(
    const std::function<std::unique_ptr<HloInstruction>(OperandList)>& create,
    absl::Span<const Literal* const> operands) {
  std::vector<std::unique_ptr<HloInstruction>> parameters;
  std::vector<HloInstruction*> pointers;
  Substitutions substitutions;
  for (size_t i = 0; i < operands.size(); ++i) {
    parameters.push_back(
        HloInstruction::CreateParameter(static_cast<int64_t>(i), operands[i]->shape(), absl::StrCat("operand", i)));
    pointers.push_back(parameters.back().get());
    substitutions[pointers.back()] = operands[i];
  }
  const std::unique_ptr<HloInstruction> instruction = create(pointers);
  KASHI_ASSIGN_OR_RETURN(*instruction->mutable_shape(), InferInstructionShape(*instruction));
  return Evaluate(instruction.get(), {}, false, substitutions);
}

absl::StatusOr<Literal> HloEvaluator::EvaluateElementwiseUnaryOp(HloOpcode opcode, const Literal& operand) {
  return EvaluateAlone(
      [&](OperandList operands) { return HloInstruction::CreateUnary(operand.shape(), opcode, operands[0]); },
      {&operand});
}

absl::StatusOr<Literal> HloEvaluator::EvaluateElementwiseBinaryOp(HloOpcode opcode, const Literal& lhs,
                                                                  const Literal& rhs) {
  return EvaluateAlone(
      [&](OperandList operands) { return HloInstruction::CreateBinary(lhs.shape(), opcode, operands[0], operands[1]); },
      {&lhs, &rhs});
}

absl::StatusOr<Literal> HloEvaluator::EvaluateElementwiseTernaryOp(HloOpcode opcode, const Literal& lhs,
                                                                   const Literal& rhs, const Literal& ehs) {
  return EvaluateAlone(
      [&](OperandList operands) {
        return HloInstruction::CreateTernary(rhs.shape(), opcode, operands[0], operands[1], operands[2]);
      },
      {&lhs, &rhs, &ehs});
}

absl::StatusOr<Literal> HloEvaluator::EvaluateElementwiseCompareOp(ComparisonDirection direction, const Literal& lhs,
                                                                   const Literal& rhs) {
  return EvaluateAlone(
      [&](OperandList operands) {
        return HloInstruction::CreateCompare(ShapeUtil::ChangeElementType(lhs.shape(), PRED), operands[0], operands[1],
                                             direction);
      },
      {&lhs, &rhs});
}

absl::StatusOr<Literal> HloEvaluator::EvaluateDotOp(const DotDimensionNumbers& dimension_numbers,
                                                    const PrecisionConfig& precision_config, const Literal& lhs,
                                                    const Literal& rhs) {
  return EvaluateAlone(
      [&](OperandList operands) {
        return HloInstruction::CreateDot(ShapeUtil::MakeNil(), operands[0], operands[1], dimension_numbers,
                                         precision_config);
      },
      {&lhs, &rhs});
}

absl::StatusOr<Literal> HloEvaluator::EvaluateScaledDotOp(const DotDimensionNumbers& dimension_numbers,
                                                          const PrecisionConfig& precision_config, const Literal& lhs,
                                                          const Literal& rhs, const Literal& lhs_scale,
                                                          const Literal& rhs_scale) {
  return EvaluateAlone(
      [&](OperandList operands) {
        return HloInstruction::CreateScaledDot(ShapeUtil::MakeNil(), operands[0], operands[1], operands[2], operands[3],
                                               dimension_numbers, precision_config);
      },
      {&lhs, &rhs, &lhs_scale, &rhs_scale});
}

}  // namespace kashi
