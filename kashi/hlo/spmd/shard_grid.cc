#include "kashi/hlo/spmd/shard_grid.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"

namespace kashi {
namespace {

absl::Status CheckDeviceCount(int64_t num_devices) {
  if (num_devices >= 1 && num_devices <= ShardGrid::kMaxDevices) return absl::OkStatus();
  return InvalidArgument("%d devices: there may be 1 to %d", num_devices, ShardGrid::kMaxDevices);
}

// Every device has exactly one tile.
absl::Status CheckCovers(const TileAssignment& tiles, int64_t num_devices) {
  if (tiles.num_elements() != num_devices) {
    return InvalidArgument("%s has tiles for %d devices, but there are %d", tiles.ToString(), tiles.num_elements(),
                           num_devices);
  }
  std::vector<bool> seen(num_devices, false);
  return tiles.EachStatus([&](absl::Span<const int64_t>, int64_t device) {
    if (device < 0 || device >= num_devices || seen[device]) {
      return InvalidArgument("%s does not name each of the devices 0 to %d once", tiles.ToString(), num_devices - 1);
    }
    seen[device] = true;
    return absl::OkStatus();
  });
}

absl::Status CheckSharding(const HloSharding& sharding, absl::Span<const int64_t> dimensions, int64_t num_devices) {
  KASHI_RETURN_IF_ERROR(CheckDeviceCount(num_devices));
  if (sharding.IsTuple()) return InvalidArgument("an array has the sharding of a tuple: %s", sharding.ToString());
  if (const absl::Status fits = sharding.Validate(ShapeUtil::MakeShape(PRED, dimensions), num_devices); !fits.ok()) {
    // The notes of the error have the shape, whose element type is made up here.
    const std::vector<absl::string_view> lines = absl::StrSplit(fits.message(), absl::MaxSplits('\n', 1));
    return InvalidArgument("%s on [%s]: %s", sharding.ToString(), absl::StrJoin(dimensions, ","), lines[0]);
  }
  if (sharding.IsUnknown())
    return InvalidArgument("%s does not say which device holds which part", sharding.ToString());
  if (sharding.IsUnreduced() || (sharding.IsTiled() && sharding.IsUnreducedSubgroup())) {
    return InvalidArgument("with %s, each device holds a part of a sum, not a part of the array", sharding.ToString());
  }
  return absl::OkStatus();
}

}  // namespace

ShardGrid::ShardGrid(absl::Span<const int64_t> dimensions, int64_t num_devices)
    : dimensions_(dimensions.begin(), dimensions.end()),
      shard_dimensions_(dimensions_),
      offsets_(num_devices * dimensions.size(), 0),
      groups_(num_devices, 0) {}

void ShardGrid::SetTile(int64_t device, absl::Span<const int64_t> tile_index) {
  for (size_t i = 0; i < dimensions_.size(); ++i) {
    const int64_t size = dimensions_[i];
    const int64_t offset = CheckedMultiply(tile_index[i], shard_dimensions_[i]).value_or(size);
    offsets_[device * dimensions_.size() + i] = std::min(offset, size);
  }
}

absl::StatusOr<ShardGrid> ShardGrid::FromTiles(const TileAssignment& tiles, absl::Span<const int64_t> dimensions,
                                               int64_t num_devices) {
  KASHI_RETURN_IF_ERROR(CheckDeviceCount(num_devices));
  if (tiles.num_dimensions() < static_cast<int64_t>(dimensions.size())) {
    return InvalidArgument("%s tiles %d dimensions, but the array has %d", tiles.ToString(), tiles.num_dimensions(),
                           dimensions.size());
  }
  KASHI_RETURN_IF_ERROR(CheckCovers(tiles, num_devices));
  ShardGrid grid(dimensions, num_devices);
  for (size_t i = 0; i < dimensions.size(); ++i) {
    grid.shard_dimensions_[i] = CeilOfRatio(dimensions[i], tiles.dim(static_cast<int64_t>(i)));
  }
  tiles.Each([&](absl::Span<const int64_t> index, int64_t device) { grid.SetTile(device, index); });
  return grid;
}

absl::StatusOr<ShardGrid> ShardGrid::Make(const HloSharding& sharding, absl::Span<const int64_t> dimensions,
                                          int64_t num_devices) {
  KASHI_RETURN_IF_ERROR(CheckSharding(sharding, dimensions, num_devices));
  if (sharding.IsTiled()) {
    KASHI_ASSIGN_OR_RETURN(ShardGrid grid, FromTiles(sharding.tile_assignment(), dimensions, num_devices));
    if (const int64_t manual = sharding.SubgroupManualDim(); manual >= 0) {
      sharding.tile_assignment().Each(
          [&](absl::Span<const int64_t> index, int64_t device) { grid.groups_[device] = index[manual]; });
    }
    return grid;
  }
  ShardGrid grid(dimensions, num_devices);
  if (sharding.IsManual()) {
    for (int64_t device = 0; device < num_devices; ++device) grid.groups_[device] = device;
  } else if (const std::optional<int64_t> holder = sharding.UniqueDevice(); holder.has_value()) {
    if (*holder < 0 || *holder >= num_devices) {
      return InvalidArgument("%s names a device outside the range of %d devices", sharding.ToString(), num_devices);
    }
    grid.holder_ = *holder;
  }
  return grid;
}

DimensionVector ShardGrid::SizesOf(int64_t device) const {
  DimensionVector sizes(shard_dimensions_);
  const absl::Span<const int64_t> offsets = OffsetsOf(device);
  for (size_t i = 0; i < sizes.size(); ++i) sizes[i] = std::min(sizes[i], dimensions_[i] - offsets[i]);
  return sizes;
}

bool ShardGrid::is_even() const {
  for (int64_t device = 0; device < num_devices(); ++device) {
    if (SizesOf(device) != shard_dimensions_) return false;
  }
  return true;
}

std::vector<int64_t> ShardGrid::FirstHolders() const {
  std::vector<int64_t> holders(num_devices());
  std::map<std::pair<int64_t, std::vector<int64_t>>, int64_t> first;
  for (int64_t device = 0; device < num_devices(); ++device) {
    const absl::Span<const int64_t> offsets = OffsetsOf(device);
    const auto key = std::make_pair(groups_[device], std::vector<int64_t>(offsets.begin(), offsets.end()));
    holders[device] = holder_ >= 0 ? holder_ : first.emplace(key, device).first->second;
  }
  return holders;
}

}  // namespace kashi
