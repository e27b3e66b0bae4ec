// `kashi diff` of a global program and the partitioned program of each device.
#ifndef KASHI_CLI_DIFF_PARTITIONED_H_
#define KASHI_CLI_DIFF_PARTITIONED_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "cli/json.h"
#include "cli/run_inputs.h"
#include "cli/run_outputs.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/spmd/program_scope.h"

namespace kashi::cli {

struct PartitionedPair {
  const HloModule* whole;
  const HloModule* partitioned;
  ProgramScope scope;  // of the whole program
  bool whole_is_a;
};
struct ScopedModule {
  const HloModule& module;
  const ProgramScope& scope;
};
// nullopt unless one of the two is global and the other is the program of one device, for the same number of devices.
std::optional<PartitionedPair> FindPartitionedPair(const ScopedModule& a, const ScopedModule& b);

struct PartitionedDiff {
  std::string text;
  Json json;  // "global", "partitions", "outputs" with "sharding", "is_inferred" and "copies"
  bool differs;
};
// Runs both with the same arguments, which are those of the global program, and compares the outputs. After an error,
// `running` is the module of the error.
absl::StatusOr<PartitionedDiff> DiffPartitioned(const PartitionedPair& pair, const Arguments& arguments,
                                                Tolerance tolerance, const EvaluationOptions& options,
                                                const HloModule** running);

}  // namespace kashi::cli

#endif  // KASHI_CLI_DIFF_PARTITIONED_H_
