#include "cli/run_findings.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/value_summary.h"
#include "cli/verb.h"
#include "kashi/array/shape_util.h"
#include "kashi/literal/literal_comparison.h"

namespace kashi::cli {

using evaluator::StepDifference;

std::string ToText(const StepDifference& difference) {
  const HloInstruction& instruction = *difference.instruction;
  std::string text =
      absl::StrCat(difference.device.has_value() ? absl::StrCat("device ", *difference.device, ": ") : "",
                   instruction.name(), " in ", instruction.parent()->name(),
                   difference.is_of_plan ? ", the result, is another one than the same steps give with memory of their "
                                           "own: the plan of memory is wrong "
                                           "(--dump-dir writes it: program.buffers): "
                                         : " computes something else than the evaluator from the same operands: ",
                   literal_comparison::ToString(difference.statistics), "\n  ", ShortText(instruction), "\n");
  for (const HloInstruction* operand : instruction.operands()) {
    absl::StrAppend(&text, "  operand ", operand->name(), "  ", ShapeUtil::HumanString(operand->shape()), "\n");
  }
  const std::string leaf = difference.leaf.empty() ? "" : difference.leaf.ToString();
  absl::StrAppend(&text, "  result  ", ShapeUtil::HumanString(instruction.shape()), ", element ", leaf,
                  difference.index, difference.is_of_plan ? ": without the plan " : ": evaluator ", difference.expected,
                  ", cpu ", difference.actual, "\n");
  const std::string source = SourceOf(instruction);
  if (!source.empty()) absl::StrAppend(&text, "  source ", source, "\n");
  return text;
}

Json ToJson(const StepDifference& difference) {
  const HloInstruction& instruction = *difference.instruction;
  Json operands = Json::array();
  for (const HloInstruction* operand : instruction.operands()) {
    operands.push_back({{"name", operand->name()}, {"shape", ShapeUtil::HumanString(operand->shape())}});
  }
  return {{"instruction", instruction.name()},
          {"device", difference.device.has_value() ? Json(*difference.device) : Json()},
          {"computation", instruction.parent()->name()},
          {"text", ShortText(instruction)},
          {"source", SourceOf(instruction)},
          {"operands", std::move(operands)},
          {"shape", ShapeUtil::HumanString(instruction.shape())},
          {"leaf", difference.leaf.ToString()},
          {"index", difference.index},
          {difference.is_of_plan ? "without_plan" : "evaluator", difference.expected},
          {"cpu", difference.actual},
          {"comparison", ToJson(OutputComparison{difference.tolerance, difference.statistics})}};
}

std::unique_ptr<evaluator::StepChecker> MakeStepChecker(const Tolerance& tolerance) {
  return std::make_unique<evaluator::StepChecker>([tolerance](PrimitiveType type) { return tolerance.For(type); });
}

std::optional<RunFinding> FindingOf(const RunFindings& findings, const std::string& file) {
  if (findings.nan != nullptr && !findings.nan->finding().empty()) {
    return RunFinding{findings.nan->finding(), {{"file", file}, {"not_finite", findings.nan->finding()}}};
  }
  if (findings.checker != nullptr && findings.checker->first().has_value()) {
    const StepDifference& first = *findings.checker->first();
    return RunFinding{ToText(first), {{"file", file}, {"wrong_step", ToJson(first)}}};
  }
  return std::nullopt;
}

std::string NoFindingText(const RunFindings& findings) {
  std::string text;
  if (findings.nan != nullptr) {
    const int64_t passed_on = findings.nan->passed_on();
    absl::StrAppend(&text, "no instruction makes a NaN or an infinity from operands without one\n");
    if (passed_on > 0) {
      absl::StrAppend(&text, Count(passed_on, "instruction"), passed_on == 1 ? " has" : " have",
                      " one of an operand; whether more are made there is not checked\n");
    }
  }
  if (findings.checker == nullptr) return text;
  const int64_t steps = findings.checker->compared_steps();
  absl::StrAppend(&text, Count(steps, "compiled step"), steps == 1 ? " agrees" : " agree", " with the evaluator\n");
  return text;
}

}  // namespace kashi::cli
