// Runs of an EvaluationRun on literals, for HloEvaluator, RunOnDevices and the functions above them.
#ifndef KASHI_EVALUATOR_LITERAL_RUN_H_
#define KASHI_EVALUATOR_LITERAL_RUN_H_

#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/evaluator/evaluation_options.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/run_hooks.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/spmd/collective_groups.h"
#include "kashi/literal/literal.h"
#include "kashi/values/run_limits.h"
#include "kashi/values/value.h"

namespace kashi::evaluator {

// Runs the entry of a module on arguments, which it takes: by EvaluationRun::Call, or by the function of an engine.
// Several threads call it, each with its own run.
using EntryFunction = absl::FunctionRef<absl::StatusOr<Value>(std::vector<Value> arguments, EvaluationRun& run)>;

// HloEvaluator::Evaluate within this run. The arguments are not copied if they are dense and row-major.
absl::StatusOr<Literal> RunOnLiterals(const HloComputation& computation, absl::Span<const Literal* const> arguments,
                                      EvaluationRun& run);
// RunOnLiterals, but `run_entry` computes the result.
absl::StatusOr<Literal> RunOnLiterals(const HloComputation& computation, absl::Span<const Literal* const> arguments,
                                      EvaluationRun& run, EntryFunction run_entry);

// RunOnDevices (device_group.h) with hooks. With RunHooks::fabric, the devices are spread over several processes, which
// all call this. Each reads only the arguments of its own devices, and has only their results; the others are empty
// literals.
absl::StatusOr<std::vector<Literal>> RunOnDevicesWithHooks(const HloModule& module,
                                                           std::vector<std::vector<Literal>> arguments_of_devices,
                                                           const EvaluationOptions& options, const RunHooks& hooks,
                                                           std::optional<DeviceCounts> counts = std::nullopt);
absl::StatusOr<std::vector<Literal>> RunOnDevicesWithHooks(const HloModule& module,
                                                           std::vector<std::vector<Literal>> arguments_of_devices,
                                                           const EvaluationOptions& options, const RunHooks& hooks,
                                                           std::optional<DeviceCounts> counts, EntryFunction run_entry);

// RunOnDevices on values, which are taken, by threads of this process: a list of arguments, and a result,
// for each device. Other runs may have the same limits.
absl::StatusOr<std::vector<Value>> RunValuesOnDevices(const HloModule& module,
                                                      std::vector<std::vector<Value>> arguments_of_devices,
                                                      const EvaluationOptions& options, const RunHooks& hooks,
                                                      const values::RunLimits& limits, DeviceCounts counts,
                                                      EntryFunction run_entry);

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_LITERAL_RUN_H_
