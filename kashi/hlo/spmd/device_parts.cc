#include "kashi/hlo/spmd/device_parts.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/spmd/shard_grid.h"

namespace kashi::hlo {
namespace {

// How often each part is there along the tile dimensions that are none of the array's.
void CountCopies(const HloSharding& sharding, DeviceParts* parts) {
  const TileAssignment& tiles = sharding.tile_assignment();
  const int64_t rank = sharding.TiledDataRank();
  for (int64_t i = rank; i < tiles.num_dimensions(); ++i) {
    OpSharding::Type type = OpSharding::REPLICATED;
    if (!sharding.ReplicateOnLastTileDim()) type = sharding.subgroup_types()[i - rank];
    int64_t& count = type == OpSharding::MANUAL      ? parts->manual
                     : type == OpSharding::UNREDUCED ? parts->unreduced
                                                     : parts->replicated;
    count *= tiles.dim(i);
  }
}

absl::StatusOr<DeviceParts> TiledParts(const HloSharding& sharding, absl::Span<const int64_t> dimensions,
                                       int64_t num_devices) {
  const TileAssignment& tiles = sharding.tile_assignment();
  DeviceParts parts;
  parts.num_devices = num_devices > 0 ? num_devices : tiles.num_elements();
  KASHI_ASSIGN_OR_RETURN(const ShardGrid grid, ShardGrid::FromTiles(tiles, dimensions, parts.num_devices));
  parts.shard_dimensions.assign(grid.shard_dimensions().begin(), grid.shard_dimensions().end());
  int64_t count = 1;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    parts.tiles.push_back(tiles.dim(static_cast<int64_t>(i)));
    count *= parts.tiles.back();  // at most the number of devices
  }
  parts.parts.resize(count);
  tiles.Each([&](absl::Span<const int64_t> index, int64_t device) {
    int64_t number = 0;
    for (size_t i = 0; i < dimensions.size(); ++i) number = number * parts.tiles[i] + index[i];
    DevicePart& part = parts.parts[number];
    if (part.devices.empty()) {
      part.offsets.assign(grid.OffsetsOf(device).begin(), grid.OffsetsOf(device).end());
      part.sizes = grid.SizesOf(device);
    }
    part.devices.push_back(device);
  });
  for (DevicePart& part : parts.parts) std::sort(part.devices.begin(), part.devices.end());
  CountCopies(sharding, &parts);
  return parts;
}

// The whole array on each of some devices.
DeviceParts WholeOn(std::vector<int64_t> devices, absl::Span<const int64_t> dimensions, int64_t num_devices) {
  DeviceParts parts;
  parts.num_devices = num_devices;
  parts.tiles.assign(dimensions.size(), 1);
  parts.shard_dimensions.assign(dimensions.begin(), dimensions.end());
  DevicePart& part = parts.parts.emplace_back();
  part.offsets.assign(dimensions.size(), 0);
  part.sizes = parts.shard_dimensions;
  part.devices = std::move(devices);
  return parts;
}

}  // namespace

absl::StatusOr<DeviceParts> PartsOf(const HloSharding& sharding, absl::Span<const int64_t> dimensions,
                                    int64_t num_devices) {
  if (num_devices < 0 || num_devices > ShardGrid::kMaxDevices) {
    return InvalidArgument("%d devices: there may be 1 to %d", num_devices, ShardGrid::kMaxDevices);
  }
  const std::optional<int64_t> limit = num_devices > 0 ? std::optional<int64_t>(num_devices) : std::nullopt;
  if (sharding.IsTuple()) return InvalidArgument("%s is the sharding of a tuple", sharding.ToString());
  if (sharding.IsUnknown()) {
    return InvalidArgument("%s does not say which device holds which part", sharding.ToString());
  }
  if (const absl::Status fits = sharding.Validate(ShapeUtil::MakeShape(PRED, dimensions), limit); !fits.ok()) {
    // The notes of the error have the shape, whose element type is made up here.
    const std::vector<absl::string_view> lines = absl::StrSplit(fits.message(), absl::MaxSplits('\n', 1));
    return InvalidArgument("%s on [%s]: %s", sharding.ToString(), absl::StrJoin(dimensions, ","), lines[0]);
  }
  if (sharding.IsTiled()) return TiledParts(sharding, dimensions, num_devices);
  if (const std::optional<int64_t> holder = sharding.UniqueDevice(); holder.has_value() && *holder >= 0) {
    return WholeOn({*holder}, dimensions, std::max(num_devices, *holder + 1));
  }
  if (num_devices == 0) return InvalidArgument("%s does not say how many devices there are", sharding.ToString());
  std::vector<int64_t> devices(num_devices);
  std::iota(devices.begin(), devices.end(), 0);
  DeviceParts parts = WholeOn(std::move(devices), dimensions, num_devices);
  int64_t& count = sharding.IsManual() ? parts.manual : sharding.IsUnreduced() ? parts.unreduced : parts.replicated;
  count = num_devices;
  return parts;
}

}  // namespace kashi::hlo
