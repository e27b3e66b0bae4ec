// Splits literals into the shards of the devices, and joins them again. (shard_grid.h: the part that each device holds)
//
//   SplitLiteral(x, {devices=[2]<=[2]}, 2)       f32[5] {1,2,3,4,5}  ->  {1,2,3} {4,5,0}
//   JoinLiterals(shards, …, f32[5])              and back
//
// For every sharding that Split takes: JoinLiterals(SplitLiteral(x)) == x.
//
// Tuples have a sharding for each leaf, or one for all. Arrays keep their minor_to_major order. Dynamic arrays are
// UNIMPLEMENTED. A sharding that does not fit is INVALID_ARGUMENT, with the place in the tuple. Each costs a copy.
#ifndef KASHI_HLO_SPMD_SHARDED_LITERAL_H_
#define KASHI_HLO_SPMD_SHARDED_LITERAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/shape.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/literal/literal.h"

namespace kashi {

// The shape of each device's shard, which is the same for all.
absl::StatusOr<Shape> ShardShape(const Shape& whole, const HloSharding& sharding, int64_t num_devices);

// [k]: the shard of device k. Padding is zeros, and so are the shards of the other devices of a maximal sharding. In a
// manual sharding each group of devices gets the same array.
absl::StatusOr<std::vector<Literal>> SplitLiteral(const LiteralSlice& whole, const HloSharding& sharding,
                                                  int64_t num_devices);

// Joins the shards, one per device, to an array of shape `whole`, without their padding. If several devices hold
// the same part, the first one counts: see FindDifferentCopy. For a manual sharding: the array
// of the group of `of_device`.
absl::StatusOr<Literal> JoinLiterals(absl::Span<const LiteralSlice> shards, const HloSharding& sharding,
                                     const Shape& whole, int64_t of_device = 0);

// Two devices that should hold the same part and do not, bit for bit; padding does not count.
struct DifferentCopy {
  int64_t device;
  int64_t other;
  ShapeIndex index;  // of the leaf

  std::string ToString() const;  // "devices 0 and 2 hold different copies of {1}"
};
absl::StatusOr<std::optional<DifferentCopy>> FindDifferentCopy(absl::Span<const LiteralSlice> shards,
                                                               const HloSharding& sharding, const Shape& whole);

}  // namespace kashi

#endif  // KASHI_HLO_SPMD_SHARDED_LITERAL_H_
