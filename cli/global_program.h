// What the command does with programs that are not partitioned yet (kashi/hlo/spmd/program_scope.h), and with pairs of a program
// and what the partitioner made of it.
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

namespace kashi::internal::cli {

// The arguments of the whole program from those of each device, in the folders of --devices-dir.
absl::StatusOr<Arguments> ReadShardedArguments(const HloModule& module, const ProgramScope& scope,
                                               const std::string& directory);

// The result of the whole program as each device has it. INVALID_ARGUMENT where the module does not say how an output lies.
absl::StatusOr<std::vector<Literal>> SplitResult(const HloModule& module, const ProgramScope& scope,
                                                 const Literal& result);

// An output of a whole program, and what the devices of the partitioned one made of it.
struct PartitionedOutput {
  Shape shape;
  HloSharding sharding;
  bool is_inferred;  // the text says no sharding, or another; this one fits the shapes, and the values if any does
  int64_t copies;    // that were compared: each device is in one
  OutputComparison comparison;  // of the copy that is farthest off
};

// Runs the whole program on `arguments` and the partitioned one on their shards, and joins what its devices give. `running`
// receives the module that an error is of.
absl::StatusOr<std::vector<PartitionedOutput>> CompareWithPartitioned(const HloModule& whole, const ProgramScope& scope,
                                                                      const HloModule& partitioned,
                                                                      const Arguments& arguments, Tolerance tolerance,
                                                                      const EvaluationOptions& options,
                                                                      const HloModule** running);
// "{devices=[4,1]<=[4]}, inferred, 4 devices"
std::string DescribeSharding(const PartitionedOutput& output);

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_GLOBAL_PROGRAM_H_
