#include "kashi/evaluator/device_group.h"

#include <utility>

#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/devices/device.h"
#include "kashi/devices/device_fabric.h"
#include "kashi/devices/device_threads.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/literal_run.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/values/value.h"
#include "kashi/values/value_util.h"

namespace kashi {

using devices::Device;
using evaluator::EntryFunction;
using evaluator::EvaluationRun;
using evaluator::RunHooks;
using values::LentBy;
using values::RunLimits;
namespace {

absl::Status CheckArguments(const HloComputation& entry, const std::vector<Literal>& arguments) {
  if (arguments.size() != static_cast<size_t>(entry.num_parameters())) {
    return InvalidArgument("Expected %d argument%s, but got %d.", entry.num_parameters(),
                           entry.num_parameters() == 1 ? "" : "s", arguments.size());
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const HloInstruction& parameter = *entry.parameter_instruction(static_cast<int64_t>(i));
    if (ShapeUtil::Compatible(parameter.shape(), arguments[i].shape())) continue;
    return InvalidArgument("Parameter %d, %s, is %s; the argument is %s", i, parameter.name(),
                           ShapeUtil::HumanString(parameter.shape()), ShapeUtil::HumanString(arguments[i].shape()));
  }
  return absl::OkStatus();
}

// Arguments in any layout: values have none.
absl::StatusOr<Literal> RunOnDevice(const HloModule& module, const std::vector<Literal>& arguments,
                                    const EvaluationOptions& options, RunHooks hooks, const RunLimits& limits,
                                    Device* device, EntryFunction run_entry) {
  const HloComputation& entry = *module.entry_computation();
  KASHI_RETURN_IF_ERROR(CheckArguments(entry, arguments));
  hooks.device = device;
  EvaluationRun run(options, hooks, limits);
  if (device->id() == 0) KASHI_RETURN_IF_ERROR(run.CheckAffordable(entry));
  std::vector<Value> values;
  for (const Literal& argument : arguments) {
    KASHI_ASSIGN_OR_RETURN(Value value, Value::FromLiteral(argument, run.budget(), LentBy(&argument)));
    values.push_back(std::move(value));
  }
  KASHI_ASSIGN_OR_RETURN(const Value result, run_entry(std::move(values), run));
  return result.ToLiteral(entry.root_instruction()->shape());
}

absl::StatusOr<DeviceCounts> CheckedCounts(DeviceCounts counts) {
  if (counts.replicas >= 1 && counts.partitions >= 1 && counts.replicas <= kMaxDevices &&
      counts.partitions <= kMaxDevices / counts.replicas) {
    return counts;
  }
  return InvalidArgument("%d replicas of %d partitions: there may be 1 to %d devices", counts.replicas,
                         counts.partitions, kMaxDevices);
}

absl::StatusOr<DeviceCounts> CountsFor(const HloModule& module, std::optional<DeviceCounts> asked, int64_t devices) {
  if (asked.has_value()) return CheckedCounts(*asked);
  KASHI_ASSIGN_OR_RETURN(const DeviceCounts counts, DeviceCountsOf(module));
  return counts.total() > 1 ? counts : CheckedCounts({devices, 1});
}

}  // namespace

absl::StatusOr<DeviceCounts> DeviceCountsOf(const HloModule& module) {
  return CheckedCounts({module.config().replica_count(), module.config().num_partitions()});
}

absl::StatusOr<std::vector<Literal>> RunOnDevices(const HloModule& module,
                                                  std::vector<std::vector<Literal>> arguments_of_devices,
                                                  const EvaluationOptions& options,
                                                  std::optional<DeviceCounts> counts) {
  return evaluator::RunOnDevicesWithHooks(module, std::move(arguments_of_devices), options, RunHooks(), counts);
}

namespace evaluator {

absl::StatusOr<std::vector<Literal>> RunOnDevicesWithHooks(const HloModule& module,
                                                           std::vector<std::vector<Literal>> arguments_of_devices,
                                                           const EvaluationOptions& options, const RunHooks& hooks,
                                                           std::optional<DeviceCounts> counts) {
  return RunOnDevicesWithHooks(module, std::move(arguments_of_devices), options, hooks, counts,
                               [&module](std::vector<Value> arguments, EvaluationRun& run) {
                                 return run.Call(*module.entry_computation(), std::move(arguments));
                               });
}

absl::StatusOr<std::vector<Literal>> RunOnDevicesWithHooks(const HloModule& module,
                                                           std::vector<std::vector<Literal>> arguments_of_devices,
                                                           const EvaluationOptions& options, const RunHooks& hooks,
                                                           std::optional<DeviceCounts> counts,
                                                           EntryFunction run_entry) {
  devices::ThreadFabric threads;
  devices::DeviceFabric& fabric = hooks.fabric != nullptr ? *hooks.fabric : threads;
  const int64_t devices = static_cast<int64_t>(arguments_of_devices.size());
  const absl::StatusOr<DeviceCounts> sizes = CountsFor(module, counts, devices);
  if (!sizes.ok()) return fabric.Refuse(sizes.status());
  if (sizes->total() != devices) {
    return fabric.Refuse(
        InvalidArgument("The program is for %s, but there are arguments for %d", sizes->ToString(), devices));
  }
  const values::RunLimits limits = LimitsOf(options);
  std::vector<Literal> results(devices);
  KASHI_RETURN_IF_ERROR(fabric.OnDevices(module, *sizes, limits, [&](devices::Device& device) -> absl::Status {
    KASHI_ASSIGN_OR_RETURN(results[device.id()], RunOnDevice(module, arguments_of_devices[device.id()], options, hooks,
                                                             limits, &device, run_entry));
    return absl::OkStatus();
  }));
  return results;
}

absl::StatusOr<std::vector<Value>> RunValuesOnDevices(const HloModule& module,
                                                      std::vector<std::vector<Value>> arguments_of_devices,
                                                      const EvaluationOptions& options, const RunHooks& hooks,
                                                      const values::RunLimits& limits, DeviceCounts counts,
                                                      EntryFunction run_entry) {
  devices::ThreadFabric fabric;
  std::vector<Value> results(counts.total());
  KASHI_RETURN_IF_ERROR(fabric.OnDevices(module, counts, limits, [&](devices::Device& device) -> absl::Status {
    RunHooks own = hooks;
    own.device = &device;
    EvaluationRun run(options, own, limits);
    KASHI_ASSIGN_OR_RETURN(results[device.id()], run_entry(std::move(arguments_of_devices[device.id()]), run));
    return absl::OkStatus();
  }));
  return results;
}

}  // namespace evaluator
}  // namespace kashi
