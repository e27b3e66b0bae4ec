// The borders of manual regions, and arrays that are cut in ways that no axes express: pieces by tables.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/partition/computation_partitioner.h"

namespace kashi::partition {
namespace {

std::vector<int64_t> ToVector64(absl::Span<const int64_t> span) { return {span.begin(), span.end()}; }

// The device that is the only one to hold anything; -1: all do.
int64_t OnlyHolder(const ShardGrid& grid) {
  for (int64_t device = 0; device < grid.num_devices(); ++device) {
    if (grid.Holds(device)) continue;
    for (int64_t holder = 0; holder < grid.num_devices(); ++holder) {
      if (grid.Holds(holder)) return holder;
    }
  }
  return -1;
}

// False if shards are as large as the array, but some of them are only padding.
bool HoldsWhole(const ShardGrid& grid) { return grid.shard_dimensions() == grid.dimensions() && grid.is_even(); }

std::vector<int64_t> TilesOf(const ShardGrid& grid) {
  std::vector<int64_t> tiles;
  for (size_t i = 0; i < grid.dimensions().size(); ++i) {
    tiles.push_back(grid.shard_dimensions()[i] == 0 ? 1
                                                    : CeilOfRatio(grid.dimensions()[i], grid.shard_dimensions()[i]));
  }
  return tiles;
}

// For each device, the device that has each tile: [tile][device]. Of several it is the device itself, or the first.
// `group_of`: a device only gets tiles of devices in its group. NOT_FOUND if no device has a tile.
template <typename GroupOf>
absl::StatusOr<std::vector<std::vector<int64_t>>> SourcesOf(const ShardGrid& grid, GroupOf group_of) {
  const int64_t devices = grid.num_devices();
  std::map<std::pair<int64_t, std::vector<int64_t>>, int64_t> first;  // by group and place
  for (int64_t device = 0; device < devices; ++device) {
    if (grid.Holds(device)) first.try_emplace({group_of(device), ToVector64(grid.OffsetsOf(device))}, device);
  }
  const std::vector<int64_t> tiles = TilesOf(grid);
  std::vector<int64_t> index(tiles.size(), 0);
  std::vector<std::vector<int64_t>> sources;
  while (true) {
    std::vector<int64_t> place;
    for (size_t i = 0; i < index.size(); ++i) place.push_back(index[i] * grid.shard_dimensions()[i]);
    std::vector<int64_t> source(devices);
    for (int64_t device = 0; device < devices; ++device) {
      const auto found = first.find({group_of(device), place});
      if (found == first.end()) return NotFound("no device has the part at [%d]", place.empty() ? 0 : place[0]);
      const bool has_it = grid.Holds(device) && ToVector64(grid.OffsetsOf(device)) == place;
      source[device] = has_it ? device : found->second;
    }
    sources.push_back(std::move(source));
    size_t i = index.size();
    while (i > 0 && ++index[i - 1] == tiles[i - 1]) index[--i] = 0;
    if (i == 0) return sources;
  }
}

// Whether devices that differ along the axes of the sharding only are in one group.
bool AxesStayInGroups(const DeviceAxes& axes, const AxisSharding& sharding, const devices::ShardingBorder& border) {
  AxisList others;
  const AxisSet used = SetOf(sharding);
  for (int axis = 0; axis < axes.num_axes(); ++axis) {
    if ((used >> axis & 1) == 0) others.push_back(axis);
  }
  std::map<int64_t, int64_t> group_of;
  for (int64_t device = 0; device < axes.devices(); ++device) {
    const auto [at, is_new] = group_of.try_emplace(axes.IndexOf(others, device), border.GroupOf(device));
    if (!is_new && at->second != border.GroupOf(device)) return false;
  }
  return true;
}

}  // namespace

HloInstruction* ComputationPartitioner::OwnPiece(HloInstruction* whole, const ShardGrid& grid) {
  if (HoldsWhole(grid)) return whole;
  std::vector<int64_t> padded, sizes;
  std::vector<std::vector<int64_t>> offsets(grid.dimensions().size());
  for (size_t i = 0; i < grid.dimensions().size(); ++i) {
    sizes.push_back(grid.shard_dimensions()[i]);
    int64_t most = grid.dimensions()[i];
    for (int64_t device = 0; device < grid.num_devices(); ++device) {
      offsets[i].push_back(grid.OffsetsOf(device)[i]);
      most = std::max(most, offsets[i].back() + sizes[i]);
    }
    padded.push_back(most);
  }
  return program_.SliceAt(program_.PadTo(whole, padded), offsets, sizes);
}

absl::StatusOr<HloInstruction*> ComputationPartitioner::WholeOfPieces(HloInstruction* piece, const ShardGrid& grid) {
  if (const int64_t holder = OnlyHolder(grid); holder >= 0) return program_.BroadcastFrom(piece, holder);
  if (HoldsWhole(grid)) return piece;
  KASHI_ASSIGN_OR_RETURN(const std::vector<std::vector<int64_t>> sources,
                         SourcesOf(grid, [&](int64_t device) { return grid.GroupOf(device); }));
  return program_.Assemble(piece, TilesOf(grid), grid.dimensions(), sources);
}

// The tile that the device has of the operand, with zeros as its padding.
absl::StatusOr<HloInstruction*> ComputationPartitioner::PieceOf(const HloInstruction& operand, int variable,
                                                                const ShardGrid& from, const AxisList& unreduced) {
  const Variable& v = shardings_.variable(variable);
  HloInstruction* x = LeavesOf(operand)[0];
  if (!v.is_manual && v.unreduced != unreduced) x = program_.KeepOnFirst(Reduced(x, variable), unreduced);
  std::optional<AxisSharding> tiles;
  if (!v.is_manual) tiles = program_.axes().FromGrid(from);
  if (tiles.has_value()) {
    KASHI_ASSIGN_OR_RETURN(x, program_.Reshard(x, *v.shape, v.sharding, *tiles));
  } else {
    if (!v.is_manual) {
      KASHI_ASSIGN_OR_RETURN(x, program_.Reshard(x, *v.shape, v.sharding, AxisSharding(v.sharding.size())));
    }
    x = OwnPiece(x, from);
  }
  if (from.is_even()) return x;
  for (size_t i = 0; i < from.dimensions().size(); ++i) {
    std::vector<int64_t> sizes;
    for (int64_t device = 0; device < from.num_devices(); ++device) sizes.push_back(from.SizesOf(device)[i]);
    x = program_.Mask(x, static_cast<int64_t>(i), sizes, program_.Zero(v.shape->element_type()));
  }
  return x;
}

// The result of a border: the pieces of the devices of a group, or of all devices.
absl::StatusOr<HloInstruction*> ComputationPartitioner::JoinPieces(HloInstruction* piece,
                                                                   const devices::ShardingBorder& border, int result) {
  const Variable& v = shardings_.variable(result);
  const ShardGrid& to = border.to();
  if (HoldsWhole(to)) return piece;
  const std::optional<AxisSharding> tiles = program_.axes().FromGrid(to);
  if (tiles.has_value() && (v.is_manual ? AxesStayInGroups(program_.axes(), *tiles, border) : true)) {
    const AxisSharding wanted = v.is_manual ? AxisSharding(tiles->size()) : v.sharding;
    return program_.Reshard(piece, *v.shape, *tiles, wanted);
  }
  KASHI_ASSIGN_OR_RETURN(const std::vector<std::vector<int64_t>> sources,
                         SourcesOf(to, [&](int64_t device) { return v.is_manual ? border.GroupOf(device) : 0; }));
  HloInstruction* whole = program_.Assemble(piece, TilesOf(to), to.dimensions(), sources);
  if (v.is_manual) return whole;
  return program_.Reshard(whole, *v.shape, AxisSharding(v.sharding.size()), v.sharding);
}

absl::Status ComputationPartitioner::EmitBorder(const HloInstruction& border) {
  KASHI_ASSIGN_OR_RETURN(const std::vector<devices::ShardingBorder> borders,
                         devices::ShardingBorder::Make(border, program_.axes().devices()));
  const std::vector<int>& results = shardings_.VariablesOf(border);
  Leaves leaves;
  for (size_t k = 0; k < borders.size(); ++k) {
    if (OnlyHolder(borders[k].from()) >= 0 || OnlyHolder(borders[k].to()) >= 0) {
      return Unimplemented("%s: one device has the whole array at the border of a manual region", border.name());
    }
    const HloInstruction& operand = *border.operand(static_cast<int64_t>(k));
    KASHI_ASSIGN_OR_RETURN(HloInstruction * piece,
                           PieceOf(operand, shardings_.VariablesOf(operand)[0], borders[k].from(),
                                   shardings_.UnreducedAtBorder(border, static_cast<int64_t>(k))));
    KASHI_ASSIGN_OR_RETURN(HloInstruction * joined, JoinPieces(piece, borders[k], results[k]));
    leaves.push_back(joined);
  }
  Bind(border, std::move(leaves));
  return absl::OkStatus();
}

}  // namespace kashi::partition
