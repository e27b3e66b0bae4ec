// ShardGrid: the part of an array that each device holds. (docs/sharded-programs.md)
//
//   f32[5,4] under {devices=[2,1,2]<=[4] last_tile_dim_replicate} on 4 devices; shards are f32[3,4]
//
//     device 0, 1    rows 0 1 2            shard sizes are rounded up, as XLA does: the last shard of a dimension
//     device 2, 3    rows 3 4 and padding  may hold fewer elements, or none, and padding after them
//
// The meaning of each kind of sharding:
//
//   {replicated}              every device holds the whole array
//   {maximal device=2}        device 2 holds the whole array; the contents of the other devices do not count
//   {devices=…}               one tile a device; devices along last_tile_dim_replicate hold copies
//   {manual}                  each device has an array of its own of the same shape: each is a group by itself
//   last_tile_dims={manual}   each manual index is a group with an array of its own, which its devices share as above
//   {unknown} {unreduced}     undefined, or sums: INVALID_ARGUMENT
//
// Making one takes O(devices * rank) time and memory.
#ifndef KASHI_HLO_SPMD_SHARD_GRID_H_
#define KASHI_HLO_SPMD_SHARD_GRID_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/hlo/attributes/tile_assignment.h"

namespace kashi {

class ShardGrid {
 public:
  static constexpr int64_t kMaxDevices = int64_t{1} << 20;

  // The grid of a sharding that is not a tuple, over devices 0 .. num_devices-1. INVALID_ARGUMENT if it does not fit
  // the rank, has another number of devices, or is {unknown} or {unreduced} in whole or in part.
  static absl::StatusOr<ShardGrid> Make(const HloSharding& sharding, absl::Span<const int64_t> dimensions,
                                        int64_t num_devices);
  // One tile per device: the first dimensions of `tiles` are those of the array; devices along the other dimensions
  // hold copies.
  static absl::StatusOr<ShardGrid> FromTiles(const TileAssignment& tiles, absl::Span<const int64_t> dimensions,
                                             int64_t num_devices);

  int64_t num_devices() const { return static_cast<int64_t>(groups_.size()); }
  absl::Span<const int64_t> dimensions() const { return dimensions_; }
  // The sizes of each device's shard, padding included.
  absl::Span<const int64_t> shard_dimensions() const { return shard_dimensions_; }
  // Whether every shard is full.
  bool is_even() const;

  // The index of the shard's first element in the array. Past the end if the shard is only padding.
  absl::Span<const int64_t> OffsetsOf(int64_t device) const {
    return absl::MakeConstSpan(offsets_).subspan(device * dimensions_.size(), dimensions_.size());
  }
  // The number of elements of the shard that are elements of the array, along each dimension.
  DimensionVector SizesOf(int64_t device) const;
  // False for the other devices of a maximal sharding.
  bool Holds(int64_t device) const { return holder_ < 0 || device == holder_; }
  // Devices of one group share an array; 0 for all unless the sharding is manual.
  int64_t GroupOf(int64_t device) const { return groups_[device]; }
  // For each device, the first device of its group that holds the same part: itself unless there are copies.
  std::vector<int64_t> FirstHolders() const;

 private:
  ShardGrid(absl::Span<const int64_t> dimensions, int64_t num_devices);
  void SetTile(int64_t device, absl::Span<const int64_t> tile_index);

  DimensionVector dimensions_;
  DimensionVector shard_dimensions_;
  std::vector<int64_t> offsets_;  // [device][dimension]
  std::vector<int64_t> groups_;
  int64_t holder_ = -1;
};

}  // namespace kashi

#endif  // KASHI_HLO_SPMD_SHARD_GRID_H_
