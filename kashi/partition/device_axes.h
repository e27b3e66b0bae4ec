// The devices of a program as a grid of axes, and shardings in terms of these axes.
//
//   8 devices as axes of sizes [2,2,2]; device 5 has the indices (1,0,1)
//
//   {devices=[2,4]<=[8]}                             [{0}, {1,2}]
//   {devices=[4,2]<=[2,4]T(1,0)}                     [{1,2}, {0}]
//   {devices=[2,1,4]<=[8] last_tile_dim_replicate}   [{0}, {}]
//
// An AxisSharding has a list of axes for each dimension of an array, the major one first. No axis is in two lists; the
// array is replicated along axes that are in none. Two shardings in these terms are easy to compare and to convert,
// which tile assignments are not. The axes are as small as possible (prime sizes), so nearly every tile assignment has
// such a form. For those that have none, such as {devices=[4]0,3,1,2}, FromTiles returns nullopt.
#ifndef KASHI_PARTITION_DEVICE_AXES_H_
#define KASHI_PARTITION_DEVICE_AXES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "kashi/array/shape.h"
#include "kashi/hlo/attributes/collective_device_list.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/hlo/spmd/shard_grid.h"

namespace kashi::partition {

using AxisList = absl::InlinedVector<int, 4>;
using AxisSharding = std::vector<AxisList>;  // [dimension]
using AxisSet = uint32_t;                    // bit i: axis i

AxisSet SetOf(const AxisList& axes);
AxisSet SetOf(const AxisSharding& sharding);
bool IsReplicated(const AxisSharding& sharding);
// Whether the list begins with `prefix`.
bool IsPrefix(const AxisList& prefix, const AxisList& list);
// The axes of the list that are not in the other one.
AxisList Without(const AxisList& list, const AxisList& other);
// The longest common beginning.
AxisList CommonPrefix(const AxisList& a, const AxisList& b);
// The list without its first `count` axes.
AxisList WithoutFirst(const AxisList& list, size_t count);
AxisList Joined(const AxisList& a, const AxisList& b);
std::string ToText(const AxisSharding& sharding);  // "[{0}, {1,2}]"

class DeviceAxes {
 public:
  // Axes in which as many of the shardings as possible can be expressed; the first ones count most. Pre: devices >= 1.
  DeviceAxes(int64_t devices, absl::Span<const HloSharding> shardings);

  int64_t devices() const { return devices_; }
  int num_axes() const { return static_cast<int>(sizes_.size()); }
  int64_t SizeOf(const AxisList& axes) const;
  // The index of a device along the axes, as one number: the first axis is the major one.
  int64_t IndexOf(const AxisList& axes, int64_t device) const;
  // [device]: IndexOf times `factor`.
  std::vector<int64_t> OffsetsAlong(const AxisList& axes, int64_t factor) const;

  // The form of a leaf that is tiled or replicated, without manual parts. Along the axes of UnreducedAxesOf, devices
  // hold parts of a sum. Pre: it fits the array.
  std::optional<AxisSharding> FromSharding(const HloSharding& sharding, int64_t rank) const;
  // Nullopt if no axes express them.
  std::optional<AxisList> UnreducedAxesOf(const HloSharding& sharding) const;
  // The form for one tile per device: tile_of(device, dimension) is its index. Nullopt also if a tile does not exist.
  std::optional<AxisSharding> FromTiles(absl::Span<const int64_t> tiles,
                                        absl::FunctionRef<int64_t(int64_t device, int64_t dimension)> tile_of) const;
  std::optional<AxisSharding> FromGrid(const ShardGrid& grid) const;
  HloSharding ToSharding(const AxisSharding& sharding, const AxisList& unreduced = {}) const;

  // The shape of a shard: sizes are divided and rounded up.
  Shape ShardOf(const Shape& whole, const AxisSharding& sharding) const;
  // The groups of devices that differ along these axes only, in their order.
  CollectiveDeviceList GroupsAlong(const AxisList& axes) const;
  // The number of the tile of a device, of all tiles in row-major order.
  int64_t TileOf(const AxisSharding& sharding, int64_t device) const;

 private:
  int64_t DigitOf(int axis, int64_t device) const { return device / strides_[axis] % sizes_[axis]; }
  // The axes whose indices together give tile_of(device, dimension).
  std::optional<AxisList> AxesOf(int64_t tiles, absl::FunctionRef<int64_t(int64_t device)> tile_of) const;

  int64_t devices_;
  std::vector<int64_t> sizes_;    // of the axes, major first
  std::vector<int64_t> strides_;  // the distance of two devices that are neighbours along the axis
};

}  // namespace kashi::partition

#endif  // KASHI_PARTITION_DEVICE_AXES_H_
