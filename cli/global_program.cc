#include "cli/global_program.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/compile_program.h"
#include "cli/verb.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/engine/program_door.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/spmd/program_shards.h"
#include "kashi/hlo/spmd/sharded_literal.h"
#include "kashi/values/value.h"

namespace kashi::cli {

using engine::ProgramDoor;
using evaluator::EvaluationRun;
namespace {

absl::Status AtOutput(size_t i, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat("output ", i, ": ", status.message()));
}

CompileOptions ByEvaluator() {
  CompileOptions options;
  options.engine = "evaluator";
  return options;
}

absl::StatusOr<Literal> RunWhole(const HloModule& module, const ProgramScope& scope, const Arguments& arguments,
                                 EvaluationOptions options) {
  options.global_devices = scope.partitions;
  KASHI_ASSIGN_OR_RETURN(const std::unique_ptr<Program> program, CompileProgram(module, ByEvaluator()));
  const std::unique_ptr<EvaluationRun> run = ProgramDoor::NewRun(*program, std::move(options), {});
  std::vector<Value> values;
  for (const Literal& argument : arguments) {
    KASHI_ASSIGN_OR_RETURN(Value value, Value::FromLiteral(argument, run->budget()));
    values.push_back(std::move(value));
  }
  KASHI_ASSIGN_OR_RETURN(const Value result, ProgramDoor::Call(*program, *run, std::move(values)));
  Shape shape = module.result_shape();
  LayoutUtil::SetToDefaultLayout(&shape);
  return result.ToLiteral(shape);
}

// The shardings of the arguments: those of the global program, or those that the partitioned program still has.
absl::StatusOr<std::vector<HloSharding>> ShardingsOfArguments(const HloModule& whole, const HloModule& partitioned,
                                                              int64_t devices) {
  const std::vector<Shape> wholes = ParameterShapes(whole);
  const std::vector<Shape> shards = ParameterShapes(partitioned);
  if (wholes.size() != shards.size()) {
    return InvalidArgument("the global program has %s, but the partitioned program has %d",
                           Count(static_cast<int64_t>(wholes.size()), "parameter"), shards.size());
  }
  std::vector<HloSharding> shardings = ParameterShardings(whole);
  const std::vector<HloSharding> kept = ParameterShardings(partitioned);
  for (size_t i = 0; i < wholes.size(); ++i) {
    const auto fits = [&](const HloSharding& sharding) {
      const absl::StatusOr<Shape> shape = ShardShape(wholes[i], sharding, devices);
      return shape.ok() && ShapeUtil::Compatible(*shape, shards[i]);
    };
    if (fits(shardings[i])) continue;
    shardings[i] = kept[i];
    if (fits(kept[i])) continue;
    return InvalidArgument(
        "parameter %d is %s in the global program and %s on each device, and no sharding explains this", i,
        ShapeUtil::HumanString(wholes[i]), ShapeUtil::HumanString(shards[i]));
  }
  return shardings;
}

bool IsWorse(const OutputComparison& a, const OutputComparison& b) {
  return a.statistics.mismatches > b.statistics.mismatches;
}

absl::StatusOr<PartitionedOutput> CompareUnder(const HloSharding& sharding, const Literal& whole,
                                               absl::Span<const LiteralSlice> shards, const Tolerance& tolerance) {
  KASHI_ASSIGN_OR_RETURN(const std::vector<Literal> copies, JoinEachCopy(shards, sharding, whole.shape()));
  std::optional<OutputComparison> worst;
  for (const Literal& copy : copies) {
    KASHI_ASSIGN_OR_RETURN(OutputComparison comparison, CompareOutput(whole, copy, tolerance));
    if (!worst.has_value() || IsWorse(comparison, *worst)) worst = std::move(comparison);
  }
  return PartitionedOutput{whole.shape(), sharding, false, static_cast<int64_t>(copies.size()), *std::move(worst)};
}

// Compares under the first possible sharding with which the values agree, or else under the first one.
absl::StatusOr<PartitionedOutput> CompareSharded(const Literal& whole, absl::Span<const LiteralSlice> shards,
                                                 const std::optional<HloSharding>& known,
                                                 absl::Span<const int64_t> mesh_axes, const Tolerance& tolerance) {
  const std::vector<HloSharding> possible =
      PossibleShardings(whole.shape().dimensions(), shards[0].shape().dimensions(), mesh_axes,
                        static_cast<int64_t>(shards.size()), known);
  std::optional<PartitionedOutput> best;
  for (const HloSharding& sharding : possible) {
    KASHI_ASSIGN_OR_RETURN(PartitionedOutput output, CompareUnder(sharding, whole, shards, tolerance));
    output.is_inferred = !known.has_value() || sharding != *known;
    const bool agrees = output.comparison.statistics.mismatches == 0;
    if (!best.has_value() || agrees) best = std::move(output);
    if (agrees) break;
  }
  if (best.has_value()) return *std::move(best);
  return InvalidArgument(
      "the shape is %s in the global program and %s on each of %d devices, and no sharding over the mesh explains this",
      ShapeUtil::HumanString(whole.shape()), ShapeUtil::HumanString(shards[0].shape()), shards.size());
}

}  // namespace

absl::StatusOr<Arguments> ReadShardedArguments(const HloModule& module, const ProgramScope& scope,
                                               const std::string& directory) {
  const std::vector<HloSharding> shardings = ParameterShardings(module);
  const std::vector<Shape> wholes = ParameterShapes(module);
  KASHI_ASSIGN_OR_RETURN(const std::vector<Shape> shapes, ShardShapes(wholes, shardings, scope.partitions));
  KASHI_ASSIGN_OR_RETURN(const std::vector<Arguments> by_device, ReadDeviceArguments(module, directory, shapes));
  if (static_cast<int64_t>(by_device.size()) != scope.partitions) {
    return InvalidArgument("%s has arguments for %d devices, but the program is for %d", directory, by_device.size(),
                           scope.partitions);
  }
  return JoinArguments(by_device, shardings, wholes);
}

absl::StatusOr<std::vector<Literal>> SplitResult(const HloModule& module, const ProgramScope& scope,
                                                 const Literal& result) {
  const std::vector<std::optional<HloSharding>> known = ResultShardings(module);
  std::vector<HloSharding> shardings;
  for (size_t i = 0; i < known.size(); ++i) {
    if (!known[i].has_value()) {
      return AtOutput(
          i, InvalidArgument("cannot be split: the module has no sharding for it (the partitioner chooses one)"));
    }
    shardings.push_back(*known[i]);
  }
  const HloSharding sharding = result.shape().IsTuple() ? HloSharding::Tuple(result.shape(), shardings) : shardings[0];
  return SplitLiteral(result, sharding, scope.partitions);
}

absl::StatusOr<std::vector<PartitionedOutput>> CompareWithPartitioned(const HloModule& whole, const ProgramScope& scope,
                                                                      const HloModule& partitioned,
                                                                      const Arguments& arguments, Tolerance tolerance,
                                                                      const EvaluationOptions& options,
                                                                      const HloModule** running) {
  const int64_t devices = scope.partitions;
  *running = &whole;
  KASHI_ASSIGN_OR_RETURN(const std::vector<HloSharding> shardings, ShardingsOfArguments(whole, partitioned, devices));
  KASHI_ASSIGN_OR_RETURN(std::vector<Arguments> by_device, SplitArguments(arguments, shardings, devices));
  KASHI_ASSIGN_OR_RETURN(Literal result, RunWhole(whole, scope, arguments, options));
  *running = &partitioned;
  KASHI_ASSIGN_OR_RETURN(const std::unique_ptr<Program> program, CompileProgram(partitioned, ByEvaluator()));
  KASHI_ASSIGN_OR_RETURN(std::vector<Literal> results,
                         program->ExecuteOnDevices(std::move(by_device), options, DeviceCounts{1, devices}));
  const std::vector<Literal> outputs = FlattenResult(std::move(result));
  std::vector<std::vector<Literal>> shards;
  for (Literal& of_device : results) shards.push_back(FlattenResult(std::move(of_device)));
  if (shards[0].size() != outputs.size()) {
    return InvalidArgument("the global program has %s, but the partitioned program has %d",
                           Count(static_cast<int64_t>(outputs.size()), "output"), shards[0].size());
  }
  const std::vector<std::optional<HloSharding>> known = ResultShardings(whole);
  const std::vector<int64_t> mesh_axes = MeshAxesOf(whole, devices);
  std::vector<PartitionedOutput> compared;
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::vector<LiteralSlice> of_output;
    for (const std::vector<Literal>& of_device : shards) of_output.emplace_back(of_device[i]);
    const std::optional<HloSharding> sharding = i < known.size() ? known[i] : std::nullopt;
    absl::StatusOr<PartitionedOutput> output = CompareSharded(outputs[i], of_output, sharding, mesh_axes, tolerance);
    if (!output.ok()) return AtOutput(i, output.status());
    compared.push_back(*std::move(output));
  }
  return compared;
}

std::string DescribeSharding(const PartitionedOutput& output) {
  return absl::StrCat(output.sharding.ToString(), output.is_inferred ? ", inferred" : "",
                      output.copies > 1 ? absl::StrCat(", on each of ", output.copies, " copies") : "");
}

}  // namespace kashi::cli
