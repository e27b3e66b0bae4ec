// Calls of StableHLO's dialect `interpreter`, which its tests use to run several processes in one program.
//
//   interpreter.run_parallel   backend_config "replicas,partitions", and a called computation for each process, by
//                              replicas, then partitions. The operands are the arguments of the first process, then
//                              those of the second, and so on; likewise the results. Processes exchange data at
//                              collective operations, as the devices of a program do (device_group.h).
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/custom_call_functions.h"
#include "kashi/evaluator/device_group.h"
#include "kashi/evaluator/device_threads.h"
#include "kashi/hlo/ir/hlo_computation.h"

namespace kashi::internal {
namespace {

absl::StatusOr<DeviceCounts> ProcessGrid(const Operation& op) {
  const std::vector<std::string> numbers = absl::StrSplit(op.instruction.raw_backend_config_string(), ',');
  DeviceCounts counts{0, 0};
  const bool is_grid = numbers.size() == 2 && absl::SimpleAtoi(numbers[0], &counts.replicas) &&
                       absl::SimpleAtoi(numbers[1], &counts.partitions) && counts.replicas > 0 &&
                       counts.partitions > 0 && counts.replicas <= kMaxDevices &&
                       counts.partitions <= kMaxDevices / counts.replicas;
  const auto processes = static_cast<int64_t>(op.instruction.called_computations().size());
  if (is_grid && counts.total() == processes) return counts;
  return InvalidArgument(
      "%s: interpreter.run_parallel needs \"replicas,partitions\" and a computation for each process",
      op.instruction.name());
}

// The operands of each process.
absl::StatusOr<std::vector<std::vector<Value>>> DealOperands(Operation& op) {
  std::vector<std::vector<Value>> arguments;
  size_t next = 0;
  for (const HloComputation* program : op.instruction.called_computations()) {
    std::vector<Value>& own = arguments.emplace_back();
    for (const HloInstruction* parameter : program->parameter_instructions()) {
      const bool fits = next < op.operands.size() && op.operands[next].is_array() && parameter->shape().IsArray() &&
                        op.operands[next].shape() == *MakeDenseShape(parameter->shape());
      if (!fits) {
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

}  // namespace

absl::StatusOr<Value> EvaluateRunParallel(Operation& op) {
  KASHI_ASSIGN_OR_RETURN(const DeviceCounts counts, ProcessGrid(op));
  KASHI_ASSIGN_OR_RETURN(std::vector<std::vector<Value>> arguments, DealOperands(op));
  if (op.run.device() != nullptr) return Unimplemented("%s: processes within a device", op.instruction.name());
  std::vector<Value> results(counts.total());
  KASHI_RETURN_IF_ERROR(OnDevicesAtOnce(counts, op.run.limits(), [&](Device& device) -> absl::Status {
    // Observers and profiles belong to one thread.
    EvaluationOptions options = op.run.options();
    options.device = &device;
    options.observer = nullptr;
    options.profile = nullptr;
    EvaluationRun run(std::move(options), op.run.limits());
    KASHI_ASSIGN_OR_RETURN(results[device.id()], run.Call(*op.instruction.called_computations()[device.id()],
                                                          std::move(arguments[device.id()])));
    return absl::OkStatus();
  }));
  std::vector<Value> all;
  for (Value& result : results) {
    if (!result.is_tuple()) {
      all.push_back(std::move(result));
      continue;
    }
    for (const Value& element : result.elements()) all.push_back(element);
  }
  if (op.instruction.shape().IsTuple()) return MakeTupleResult(op, std::move(all));
  if (all.size() == 1 && all[0].is_array() && op.result() && *op.result() == all[0].shape()) return std::move(all[0]);
  return MisusedCustomCall(op);
}

}  // namespace kashi::internal
