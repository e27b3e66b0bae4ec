// Programs that are not partitioned yet (kashi/hlo/spmd/program_scope.h): their arguments and results for each device,
// and the comparison with the partitioned program.
#ifndef KASHI_CLI_GLOBAL_PROGRAM_H_
#define KASHI_CLI_GLOBAL_PROGRAM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/run_inputs.h"
#include "cli/run_outputs.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/spmd/program_scope.h"
#include "kashi/literal/literal.h"

namespace kashi::cli {

// The arguments of the global program, joined from those of each device in the directories of --devices-dir.
absl::StatusOr<Arguments> ReadShardedArguments(const HloModule& module, const ProgramScope& scope,
                                               const std::string& directory);

// The result of the global program, split for each device. INVALID_ARGUMENT if an output has no sharding.
absl::StatusOr<std::vector<Literal>> SplitResult(const HloModule& module, const ProgramScope& scope,
                                                 const Literal& result);

// An output of the global program, compared with the outputs of the devices.
struct PartitionedOutput {
  Shape shape;
  HloSharding sharding;
  bool is_inferred;  // the text says no sharding, or another; this one fits the shapes, and the values if any does
  int64_t copies;    // that were compared: each device is in one
  OutputComparison comparison;  // of the copy that is farthest off
};

// Runs the global program with `arguments` and the partitioned one with their shards, and joins the outputs of its
// devices. After an error, `running` is the module of the error.
absl::StatusOr<std::vector<PartitionedOutput>> CompareWithPartitioned(const HloModule& whole, const ProgramScope& scope,
                                                                      const HloModule& partitioned,
                                                                      const Arguments& arguments, Tolerance tolerance,
                                                                      const EvaluationOptions& options,
                                                                      const HloModule** running);
// "{devices=[4,1]<=[4]}, inferred, 4 devices"
std::string DescribeSharding(const PartitionedOutput& output);

}  // namespace kashi::cli

#endif  // KASHI_CLI_GLOBAL_PROGRAM_H_
