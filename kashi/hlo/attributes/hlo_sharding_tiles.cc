// The tiles of a sharding: the part of an array that each device has.
#include <algorithm>
#include <utility>

#include "kashi/base/check.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/hlo/attributes/hlo_sharding_rep.h"

namespace kashi {

const TileAssignment& HloSharding::tile_assignment() const { return Unnamed().rep_->tile; }
const std::vector<OpSharding::Type>& HloSharding::subgroup_types() const {
  return IsTuple() ? rep_->subgroup_types : Unnamed().rep_->subgroup_types;
}
bool HloSharding::ReplicateOnLastTileDim() const { return !IsTuple() && Unnamed().rep_->replicate_on_last_tile_dim; }

int64_t HloSharding::SubgroupDim(OpSharding::Type type) const {
  const Rep& rep = *Unnamed().rep_;
  const auto at = std::find(rep.subgroup_types.begin(), rep.subgroup_types.end(), type);
  if (at == rep.subgroup_types.end()) return -1;
  return rep.tile.num_dimensions() - (rep.subgroup_types.end() - at);
}
bool HloSharding::HasPartialReplication() const {
  return ReplicateOnLastTileDim() || (!IsTuple() && SubgroupDim(OpSharding::REPLICATED) >= 0);
}
int64_t HloSharding::SubgroupReplicationDim() const {
  return ReplicateOnLastTileDim() ? tile_assignment().num_dimensions() - 1 : SubgroupDim(OpSharding::REPLICATED);
}
int64_t HloSharding::SubgroupManualDim() const { return SubgroupDim(OpSharding::MANUAL); }
int64_t HloSharding::SubgroupUnreducedDim() const { return SubgroupDim(OpSharding::UNREDUCED); }

int64_t HloSharding::TiledDataRank() const {
  KASHI_CHECK(!IsTuple() && IsTiledLeaf()) << *this;
  const Rep& rep = *Unnamed().rep_;
  if (rep.kind == Kind::kUnknown) return 0;
  return rep.tile.num_dimensions() - (rep.replicate_on_last_tile_dim ? 1 : 0) -
         static_cast<int64_t>(rep.subgroup_types.size());
}

int64_t HloSharding::NumTiles() const {
  if (IsTileMaximal()) return 1;
  return SaturatingProduct(tile_assignment().dimensions().first(TiledDataRank()));
}

int64_t HloSharding::NumTiles(absl::Span<const int64_t> dims) const {
  if (IsTileMaximal()) return 1;
  KASHI_CHECK(!HasPartialReplication() || static_cast<int64_t>(dims.size()) <= TiledDataRank());
  int64_t tiles = 1;
  for (int64_t dim : dims) tiles = SaturatingProduct({tiles, tile_assignment().dim(dim)});
  return tiles;
}

int64_t HloSharding::TotalNumTiles() const {
  if (IsTileMaximal()) return 1;
  KASHI_CHECK(IsTiledLeaf()) << *this;
  return tile_assignment().num_elements();
}

std::vector<int64_t> HloSharding::TileIndexForDevice(int64_t device) const {
  KASHI_CHECK(!IsTuple() && IsTiledLeaf()) << *this;
  std::vector<int64_t> index;
  tile_assignment().Each([&](absl::Span<const int64_t> at, int64_t tile_device) {
    if (tile_device == device) index.assign(at.begin(), at.end());
  });
  KASHI_CHECK(!index.empty()) << "device " << device << " has no tile in " << *this;
  index.resize(TiledDataRank());
  return index;
}

int64_t HloSharding::DeviceForTileIndex(absl::Span<const int64_t> index) const {
  KASHI_CHECK(!IsReplicated() && !IsManual() && !IsUnknown() && !IsUnreduced()) << *this;
  const TileAssignment& tile = tile_assignment();
  if (IsTileMaximalLeaf()) return tile.first();
  std::vector<int64_t> full(index.begin(), index.end());
  if (static_cast<int64_t>(full.size()) == TiledDataRank()) full.resize(tile.num_dimensions(), 0);
  return tile(full);
}

std::vector<int64_t> HloSharding::TileOffsetForDevice(const Shape& shape, int64_t device) const {
  KASHI_CHECK(!IsTuple() && !IsManualLeaf() && !IsUnknownLeaf() && !IsUnreducedLeaf()) << *this;
  if (IsTileMaximalLeaf()) return std::vector<int64_t>(shape.dimensions_size(), 0);
  KASHI_CHECK_EQ(shape.dimensions_size(), TiledDataRank());
  std::vector<int64_t> index = TileIndexForDevice(device);
  for (size_t i = 0; i < index.size(); ++i) {
    const int64_t size = shape.dimensions(static_cast<int>(i));
    index[i] = std::min(index[i] * CeilOfRatio(size, tile_assignment().dim(i)), size);
  }
  return index;
}

std::vector<int64_t> HloSharding::TileLimitForDevice(const Shape& shape, int64_t device) const {
  KASHI_CHECK(!IsTuple() && !IsManualLeaf() && !IsUnknownLeaf() && !IsUnreducedLeaf()) << *this;
  if (IsTileMaximalLeaf()) return {shape.dimensions().begin(), shape.dimensions().end()};
  KASHI_CHECK_EQ(shape.dimensions_size(), TiledDataRank());
  std::vector<int64_t> index = TileIndexForDevice(device);
  for (size_t i = 0; i < index.size(); ++i) {
    const int64_t size = shape.dimensions(static_cast<int>(i));
    index[i] = std::min((index[i] + 1) * CeilOfRatio(size, tile_assignment().dim(i)), size);
  }
  return index;
}

Shape HloSharding::TileShape(const Shape& shape) const {
  if (IsTuple() || !IsTiledLeaf()) return shape;
  Shape result = shape;
  const int64_t rank = std::min<int64_t>(shape.dimensions_size(), TiledDataRank());
  for (int i = 0; i < rank; ++i) {
    result.set_dimensions(i, CeilOfRatio(shape.dimensions(i), tile_assignment().dim(i)));
  }
  return result;
}

Shape HloSharding::TileShape(const Shape& shape, int64_t device) const {
  if (IsTuple() || !IsTiledLeaf()) return shape;
  const std::vector<int64_t> offset = TileOffsetForDevice(shape, device);
  const std::vector<int64_t> limit = TileLimitForDevice(shape, device);
  Shape result = shape;
  for (int i = 0; i < shape.dimensions_size(); ++i) result.set_dimensions(i, limit[i] - offset[i]);
  return result;
}

absl::Status HloSharding::EachTile(
    absl::Span<const int64_t> dims,
    absl::FunctionRef<void(int64_t, absl::Span<const int64_t>, absl::Span<const int64_t>)> f) const {
  KASHI_CHECK(!IsTuple() && IsTiledLeaf()) << *this;
  const int64_t rank = TiledDataRank();
  if (static_cast<int64_t>(dims.size()) != rank) {
    return InvalidArgument("an array of rank %d for %s", dims.size(), ToString());
  }
  std::vector<int64_t> offsets(rank), limits(rank);
  tile_assignment().Each([&](absl::Span<const int64_t> index, int64_t device) {
    for (int64_t i = 0; i < rank; ++i) {
      const int64_t tile = CeilOfRatio(dims[i], tile_assignment().dim(i));
      offsets[i] = std::min(index[i] * tile, dims[i]);
      limits[i] = std::min((index[i] + 1) * tile, dims[i]);
    }
    f(device, offsets, limits);
  });
  return absl::OkStatus();
}

}  // namespace kashi
