#include "kashi/evaluator/literal_run.h"

#include <utility>

#include "kashi/base/status.h"
#include "kashi/evaluator/check_arguments.h"
#include "kashi/values/value.h"
#include "kashi/values/value_util.h"

namespace kashi::evaluator {

absl::StatusOr<Literal> RunOnLiterals(const HloComputation& computation, absl::Span<const Literal* const> arguments,
                                      EvaluationRun& run) {
  return RunOnLiterals(computation, arguments, run, [&computation](std::vector<Value> values, EvaluationRun& in) {
    return in.Call(computation, std::move(values));
  });
}

absl::StatusOr<Literal> RunOnLiterals(const HloComputation& computation, absl::Span<const Literal* const> arguments,
                                      EvaluationRun& run, EntryFunction run_entry) {
  KASHI_RETURN_IF_ERROR(CheckArguments(computation, arguments));
  KASHI_RETURN_IF_ERROR(run.CheckAffordable(computation));
  std::vector<Value> values;
  for (const Literal* argument : arguments) {
    KASHI_ASSIGN_OR_RETURN(Value value, Value::FromLiteral(*argument, run.budget(), values::LentBy(argument)));
    values.push_back(std::move(value));
  }
  KASHI_ASSIGN_OR_RETURN(const Value result, run_entry(std::move(values), run));
  return result.ToLiteral(computation.root_instruction()->shape());
}

}  // namespace kashi::evaluator
