// Findings of `kashi run` in the values of a run: the first NaN (--check-nan), the first wrong step (--check).
#ifndef KASHI_CLI_RUN_FINDINGS_H_
#define KASHI_CLI_RUN_FINDINGS_H_

#include <memory>
#include <optional>
#include <string>

#include "cli/json.h"
#include "cli/run_outputs.h"
#include "cli/run_watch.h"
#include "kashi/evaluator/step_checker.h"

namespace kashi::cli {

// "fusion.1 in main computes something else than the evaluator …", its operands, its first wrong element, its source.
std::string ToText(const evaluator::StepDifference& difference);
Json ToJson(const evaluator::StepDifference& difference);

// Compares by the tolerance of outputs (run_outputs.h).
std::unique_ptr<evaluator::StepChecker> MakeStepChecker(const Tolerance& tolerance);

// Both may be null: not looked for.
struct RunFindings {
  const NanCheck* nan;
  const evaluator::StepChecker* checker;
};

// The finding that ended the run.
struct RunFinding {
  std::string text;
  Json json;
};
std::optional<RunFinding> FindingOf(const RunFindings& findings, const std::string& file);

// For a run that came to its end: says that nothing was found; "" if there was no check.
std::string NoFindingText(const RunFindings& findings);

}  // namespace kashi::cli

#endif  // KASHI_CLI_RUN_FINDINGS_H_
