// Turns a global program into the program of each of its devices, like XLA's SPMD partitioner.
//
//   x = f32[8,16] parameter(0), sharding={devices=[4,1]<=[4]}       x = f32[2,16] parameter(0)
//   w = f32[16,4] parameter(1), sharding={replicated}               w = f32[16,4] parameter(1)
//   ROOT y = f32[8,4] dot(x, w), …                                  ROOT y = f32[2,4] dot(x, w), …
//
// The program is cut along its shardings where each operation allows it: partition_rule.h. An operation without a rule,
// or cut along a dimension that its rule keeps whole, gets whole operands: they are gathered, each device computes the
// whole result, and keeps its part. So every program can be partitioned, unless devices cannot run it side by side:
// infeed, outfeed, and transfers with the host outside of manual regions.
//
// Results are those of the global program. Where no sum is reordered they are equal bit for bit. The padding of shards
// that are not full has any values. The parameters of the result have the shardings that they had in the global
// program, and its root that of each output: ParameterShardings and ResultShardings (program_scope.h) read them.
//
// Cost: linear in the instructions without calls, times the number of devices for those that need tables.
#ifndef KASHI_PARTITION_PARTITION_PROGRAM_H_
#define KASHI_PARTITION_PARTITION_PROGRAM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/partition/custom_call_partitioner.h"

namespace kashi {

struct PartitionOptions {
  static constexpr int64_t kMaxPartitions = 4096;
  // 0: the number of ProgramScopeOf. INVALID_ARGUMENT if the module is not a global program then.
  int64_t num_partitions = 0;
  // For each leaf of the result, or none: its caller takes any sharding that is even and cuts along whole axes of a
  // mesh, because JAX has no arrays of others. Dimensions that would be cut otherwise are whole.
  std::vector<bool> open_results;
  // For each parameter, or none: the same for one of which the text says no sharding. It leaves the chosen one there.
  std::vector<bool> open_parameters;
  // Receives the backend config of each custom call to "InspectSharding", and the sharding of its operand: JAX asks so
  // which one an array got. An error ends the partitioning. Null: such a call is one like others.
  std::function<absl::Status(const std::string& backend_config, const HloSharding& sharding)> inspect;
  // Custom calls that its caller partitions; null: none. Without a partitioner, each device computes the whole result.
  const CustomCallPartitioners* custom_calls = nullptr;
  // Shardings spread through custom calls by Shardy's rules alone (xla.sdy.sharding_rule). Otherwise, the partitioners
  // of calls without a rule are asked. They partition the calls in both cases.
  bool use_shardy_partitioner = false;
};

// The module must have passed the verifier. It is not changed. UNIMPLEMENTED for several replicas, and for operations
// named above; INVALID_ARGUMENT for shardings that do not fit, and for a result that differs on each device.
absl::StatusOr<std::unique_ptr<HloModule>> PartitionProgram(const HloModule& module,
                                                            const PartitionOptions& options = {});

}  // namespace kashi

#endif  // KASHI_PARTITION_PARTITION_PROGRAM_H_
