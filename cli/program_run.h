// Runs of the same program in several forms, as a compiler leaves them, on the same arguments.
#ifndef KASHI_CLI_PROGRAM_RUN_H_
#define KASHI_CLI_PROGRAM_RUN_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cli/run_inputs.h"
#include "cli/run_outputs.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/literal/literal.h"

namespace kashi::cli {

// The arguments of `of` for a module whose parameters a pass has changed: other types are converted, arrays that were
// in tuples stand alone or the other way round, and if some were removed or are in another order, names decide.
// FAILED_PRECONDITION if that does not give each array of each parameter a value of its sizes.
absl::StatusOr<Arguments> ArgumentsFor(const HloModule& module, const HloModule& of, const Arguments& arguments);

// The arrays of the result of a run.
absl::StatusOr<std::vector<Literal>> RunOn(const HloModule& module, const Arguments& arguments,
                                           const std::string& engine, EvaluationOptions evaluation);

// Of results of the same program. Where types differ, `actual` is converted, and the wider tolerance of both counts.
// FAILED_PRECONDITION if sizes differ.
absl::StatusOr<OutputComparison> CompareForms(const Literal& expected, const Literal& actual,
                                              const Tolerance& tolerance);

// For each array of the result, whether it depends on `rng` or on a state that the program does not get from outside:
// then its values are no result of the program.
std::vector<bool> OutputsThatAreRandom(const HloModule& module);

}  // namespace kashi::cli

#endif  // KASHI_CLI_PROGRAM_RUN_H_
