// Splits the arguments and results of a global program into the shards of each device, and joins them, to compare a
// program with its partitioned form. (sharded_literal.h splits one literal; program_scope.h finds the shardings.)
#ifndef KASHI_HLO_SPMD_PROGRAM_SHARDS_H_
#define KASHI_HLO_SPMD_PROGRAM_SHARDS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/shape.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/literal/literal.h"

namespace kashi {

// Arguments by device: [k][i] is argument i of device k. Shardings as ParameterShardings gives them. Errors name the
// argument.
absl::StatusOr<std::vector<std::vector<Literal>>> SplitArguments(const std::vector<Literal>& arguments,
                                                                 absl::Span<const HloSharding> shardings,
                                                                 int64_t num_devices);
// The shapes of each device's arguments.
absl::StatusOr<std::vector<Shape>> ShardShapes(absl::Span<const Shape> wholes, absl::Span<const HloSharding> shardings,
                                               int64_t num_devices);
// The arguments of the whole program, with the shapes `wholes`. Also INVALID_ARGUMENT if devices have different
// copies of one part.
absl::StatusOr<std::vector<Literal>> JoinArguments(const std::vector<std::vector<Literal>>& by_device,
                                                   absl::Span<const HloSharding> shardings,
                                                   absl::Span<const Shape> wholes);

// The shapes of ENTRY's parameters.
std::vector<Shape> ParameterShapes(const HloModule& module);

// Joins the shards into one array per copy: each shard is in exactly one of these arrays. Without replication there is
// one array; with full replication there is one per device.
absl::StatusOr<std::vector<Literal>> JoinEachCopy(absl::Span<const LiteralSlice> shards, const HloSharding& sharding,
                                                  const Shape& whole);

// Shardings that give an array of these sizes shards of the other sizes, over a mesh with these axes: first `known`, if
// it is one of them, then all assignments of axes to dimensions, up to kMostPossibleShardings.
constexpr int64_t kMostPossibleShardings = 64;
std::vector<HloSharding> PossibleShardings(absl::Span<const int64_t> whole, absl::Span<const int64_t> shard,
                                           absl::Span<const int64_t> mesh_axes, int64_t num_devices,
                                           const std::optional<HloSharding>& known);

// The sizes of the axes of the module's mesh, if its shardings have one; otherwise [num_devices].
std::vector<int64_t> MeshAxesOf(const HloModule& module, int64_t num_devices);

}  // namespace kashi

#endif  // KASHI_HLO_SPMD_PROGRAM_SHARDS_H_
