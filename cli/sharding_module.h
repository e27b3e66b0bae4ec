// The shardings and collectives of a module, for `kashi sharding FILE`.
#ifndef KASHI_CLI_SHARDING_MODULE_H_
#define KASHI_CLI_SHARDING_MODULE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/json.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/spmd/device_parts.h"
#include "kashi/hlo/spmd/program_scope.h"

namespace kashi::cli {

// An array with a sharding: an argument, a result, or an instruction's.
struct ShardedArray {
  std::string name;      // "argument 0, x"; "result 1"; the instruction
  Shape shape;           // of the whole array; of a partitioned module, of one device's
  std::string sharding;  // as text; empty: none
  Shape shard;           // each device's array
  int64_t bytes = 0;     // of it
  int64_t copies = 1;    // devices that hold one part
  std::string problem;   // why shard, bytes and copies are not known; empty: they are
};

// The collectives of one kind that are alike: opcode, bytes and groups.
struct CollectiveTraffic {
  std::string opcode;
  double calls = 0;         // in one run
  double bytes = 0;         // of one call, on one device
  double sent = 0;          // bytes that a device sends in one call, by the best algorithm for long messages
  int64_t groups = 0;       // pairs of a collective-permute
  int64_t members = 0;      // of a group
  std::string first_group;  // "0, 1", or the first pair "0 to 1"
  std::string example;      // the name of one
};

struct ShardingReport {
  ProgramScope scope;
  std::vector<ShardedArray> arguments, results, others;  // others: instructions with a sharding
  std::vector<CollectiveTraffic> collectives;            // most bytes sent first
};

// `num_devices`: for modules that do not say it; 0: they must. INVALID_ARGUMENT for broken modules.
absl::StatusOr<ShardingReport> MakeShardingReport(const HloModule& module, int64_t num_devices);

std::string ShardingReportText(const HloModule& module, const ShardingReport& report, int64_t top, size_t width);
Json ShardingReportJson(const std::string& file, const ShardingReport& report);

// The shape of a device's array, with the layout of the whole one, and its bytes.
absl::StatusOr<Shape> ShardShapeOf(const Shape& whole, const hlo::DeviceParts& parts);
absl::StatusOr<int64_t> ShardBytes(const Shape& shard);

}  // namespace kashi::cli

#endif  // KASHI_CLI_SHARDING_MODULE_H_
