// Calls of StableHLO's dialect `interpreter`, which its tests use to run several processes in one program.
//
//   interpreter.run_parallel   backend_config "replicas,partitions", and a called computation for each process, by
//                              replicas, then partitions. The operands are the arguments of the first process, then
//                              those of the second, and so on; likewise the results. Processes exchange data at
//                              collective operations, as the devices of a program do (device_group.h), and through
//                              channels (transfers.cc). Further called computations make the values of the infeed.
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "kashi/base/status.h"
#include "kashi/custom_calls/custom_call_functions.h"
#include "kashi/devices/device_threads.h"
#include "kashi/evaluator/device_group.h"
#include "kashi/evaluator/run_custom_calls.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/values/value_util.h"

namespace kashi::evaluator {
namespace {

absl::StatusOr<DeviceCounts> ProcessGrid(const Operation& op) {
  const std::vector<std::string> numbers = absl::StrSplit(op.instruction.raw_backend_config_string(), ',');
  DeviceCounts counts{0, 0};
  const bool is_grid = numbers.size() == 2 && absl::SimpleAtoi(numbers[0], &counts.replicas) &&
                       absl::SimpleAtoi(numbers[1], &counts.partitions) && counts.replicas > 0 &&
                       counts.partitions > 0 && counts.replicas <= kMaxDevices &&
                       counts.partitions <= kMaxDevices / counts.replicas;
  const auto computations = static_cast<int64_t>(op.instruction.called_computations().size());
  if (is_grid && counts.total() <= computations) return counts;
  return InvalidArgument(
      "%s: interpreter.run_parallel needs \"replicas,partitions\" and a computation for each process",
      op.instruction.name());
}

// The operands of each process.
absl::StatusOr<std::vector<std::vector<Value>>> DealOperands(Operation& op, int64_t processes) {
  std::vector<std::vector<Value>> arguments;
  size_t next = 0;
  for (int64_t process = 0; process < processes; ++process) {
    const HloComputation* program = op.instruction.called_computations()[process];
    std::vector<Value>& own = arguments.emplace_back();
    for (const HloInstruction* parameter : program->parameter_instructions()) {
      if (next >= op.operands.size() || !values::HasShape(op.operands[next], parameter->shape())) {
        return InvalidArgument("%s: operand %d does not suit %s of %s", op.instruction.name(), next, parameter->name(),
                               program->name());
      }
      own.push_back(std::move(op.operands[next++]));
    }
  }
  if (next == op.operands.size()) return arguments;
  return InvalidArgument("%s: there are %d operands; the processes take %d", op.instruction.name(), op.operands.size(),
                         next);
}

// The results of the functions for the infeed.
absl::StatusOr<std::deque<Value>> MakeInfeed(Operation& op, int64_t processes) {
  std::deque<Value> infeed;
  const auto& computations = op.instruction.called_computations();
  for (size_t i = static_cast<size_t>(processes); i < computations.size(); ++i) {
    if (computations[i]->num_parameters() > 0) {
      return InvalidArgument("%s: %s makes a value of the infeed, but it has parameters", op.instruction.name(),
                             computations[i]->name());
    }
    KASHI_ASSIGN_OR_RETURN(infeed.emplace_back(), op.run.Call(*computations[i], {}));
  }
  return infeed;
}

}  // namespace

absl::StatusOr<Value> EvaluateRunParallel(Operation& op) {
  KASHI_ASSIGN_OR_RETURN(const DeviceCounts counts, ProcessGrid(op));
  KASHI_ASSIGN_OR_RETURN(std::vector<std::vector<Value>> arguments, DealOperands(op, counts.total()));
  if (op.run.device() != nullptr) return Unimplemented("%s: processes within a device", op.instruction.name());
  KASHI_ASSIGN_OR_RETURN(std::deque<Value> infeed, MakeInfeed(op, counts.total()));
  std::vector<Value> results(counts.total());
  const auto run_process = [&](devices::Device& device) -> absl::Status {
    // Observers and profiles belong to one thread.
    EvaluationOptions options = op.run.options();
    options.observer = nullptr;
    RunHooks hooks = op.run.hooks();
    hooks.device = &device;
    hooks.profile = nullptr;
    EvaluationRun run(std::move(options), hooks, op.run.limits());
    KASHI_ASSIGN_OR_RETURN(results[device.id()], run.Call(*op.instruction.called_computations()[device.id()],
                                                          std::move(arguments[device.id()])));
    return absl::OkStatus();
  };
  KASHI_RETURN_IF_ERROR(devices::OnProcessesAtOnce(counts, op.run.limits(), std::move(infeed), run_process));
  std::vector<Value> all;
  for (Value& result : results) {
    if (!result.is_tuple()) {
      all.push_back(std::move(result));
      continue;
    }
    for (const Value& element : result.elements()) all.push_back(element);
  }
  const Shape& shape = op.instruction.shape();
  Value result = !shape.IsTuple() && all.size() == 1 ? std::move(all[0]) : Value::MakeTuple(std::move(all));
  return values::HasShape(result, shape) ? absl::StatusOr<Value>(std::move(result))
                                         : custom_calls::MisusedCustomCall(op);
}

}  // namespace kashi::evaluator
