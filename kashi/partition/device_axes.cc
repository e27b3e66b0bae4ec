#include "kashi/partition/device_axes.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/base/math.h"

namespace kashi::partition {
namespace {

// Numbers of neighbouring devices that make up blocks of a sharding: of {devices=…<=[2,4]} the 4, and the 8.
void AddBlocksOf(const HloSharding& sharding, int64_t devices, std::vector<int64_t>* blocks) {
  if (!sharding.IsTiled()) return;
  const std::optional<IotaTileAssignment>& iota = sharding.tile_assignment().iota();
  if (!iota.has_value() || !iota->IsConsistent() || iota->num_elements() != devices) return;
  int64_t block = 1;
  for (size_t i = iota->reshape_dims().size(); i-- > 0;) {
    block *= iota->reshape_dims()[i];
    blocks->push_back(block);
  }
}

// A chain of divisors 1 = c0 | c1 | … | devices that has as many of the blocks as possible.
std::vector<int64_t> ChainOf(int64_t devices, absl::Span<const int64_t> blocks) {
  std::vector<int64_t> chain = {1, devices};
  for (const int64_t block : blocks) {
    const bool fits = devices % block == 0 && absl::c_all_of(chain, [block](int64_t other) {
                        return other % block == 0 || block % other == 0;
                      });
    if (fits) chain.push_back(block);
  }
  absl::c_sort(chain);
  chain.erase(std::unique(chain.begin(), chain.end()), chain.end());
  return chain;
}

// The prime factors, largest first.
std::vector<int64_t> PrimesOf(int64_t number) {
  std::vector<int64_t> primes;
  for (int64_t p = 2; p * p <= number; ++p) {
    for (; number % p == 0; number /= p) primes.push_back(p);
  }
  if (number > 1) primes.push_back(number);
  absl::c_reverse(primes);
  return primes;
}

}  // namespace

AxisSet SetOf(const AxisList& axes) {
  AxisSet set = 0;
  for (const int axis : axes) set |= AxisSet{1} << axis;
  return set;
}

AxisSet SetOf(const AxisSharding& sharding) {
  AxisSet set = 0;
  for (const AxisList& axes : sharding) set |= SetOf(axes);
  return set;
}

bool IsReplicated(const AxisSharding& sharding) {
  return absl::c_all_of(sharding, [](const AxisList& axes) { return axes.empty(); });
}

bool IsPrefix(const AxisList& prefix, const AxisList& list) {
  return prefix.size() <= list.size() && std::equal(prefix.begin(), prefix.end(), list.begin());
}

AxisList CommonPrefix(const AxisList& a, const AxisList& b) {
  AxisList common;
  for (size_t i = 0; i < a.size() && i < b.size() && a[i] == b[i]; ++i) common.push_back(a[i]);
  return common;
}

AxisList Without(const AxisList& list, const AxisList& other) {
  AxisList left;
  for (const int axis : list) {
    if (!absl::c_linear_search(other, axis)) left.push_back(axis);
  }
  return left;
}

AxisList WithoutFirst(const AxisList& list, size_t count) { return AxisList(list.begin() + count, list.end()); }

AxisList Joined(const AxisList& a, const AxisList& b) {
  AxisList joined = a;
  joined.insert(joined.end(), b.begin(), b.end());
  return joined;
}

std::string ToText(const AxisSharding& sharding) {
  return absl::StrCat("[",
                      absl::StrJoin(sharding, ", ",
                                    [](std::string* out, const AxisList& axes) {
                                      absl::StrAppend(out, "{", absl::StrJoin(axes, ","), "}");
                                    }),
                      "]");
}

DeviceAxes::DeviceAxes(int64_t devices, absl::Span<const HloSharding> shardings) : devices_(devices) {
  std::vector<int64_t> blocks;
  for (const HloSharding& sharding : shardings) AddBlocksOf(sharding, devices, &blocks);
  const std::vector<int64_t> chain = ChainOf(devices, blocks);
  for (size_t i = chain.size() - 1; i > 0; --i) {
    int64_t block = chain[i];
    for (const int64_t prime : PrimesOf(chain[i] / chain[i - 1])) {
      block /= prime;
      sizes_.push_back(prime);
      strides_.push_back(block);
    }
  }
}

int64_t DeviceAxes::SizeOf(const AxisList& axes) const {
  int64_t size = 1;
  for (const int axis : axes) size *= sizes_[axis];
  return size;
}

int64_t DeviceAxes::IndexOf(const AxisList& axes, int64_t device) const {
  int64_t index = 0;
  for (const int axis : axes) index = index * sizes_[axis] + DigitOf(axis, device);
  return index;
}

std::vector<int64_t> DeviceAxes::OffsetsAlong(const AxisList& axes, int64_t factor) const {
  std::vector<int64_t> offsets(devices_);
  for (int64_t device = 0; device < devices_; ++device) offsets[device] = IndexOf(axes, device) * factor;
  return offsets;
}

std::optional<AxisList> DeviceAxes::AxesOf(int64_t tiles, absl::FunctionRef<int64_t(int64_t device)> tile_of) const {
  std::vector<std::pair<int64_t, int>> weights;  // how much an axis counts in the index of a tile
  for (size_t axis = 0; axis < sizes_.size(); ++axis) {
    const int64_t weight = tile_of(strides_[axis]);
    if (weight > 0) weights.emplace_back(weight, static_cast<int>(axis));
  }
  std::sort(weights.rbegin(), weights.rend());
  AxisList axes;
  for (const auto& [weight, axis] : weights) axes.push_back(axis);
  if (SizeOf(axes) != tiles) return std::nullopt;
  for (int64_t device = 0; device < devices_; ++device) {
    if (IndexOf(axes, device) != tile_of(device)) return std::nullopt;
  }
  return axes;
}

std::optional<AxisSharding> DeviceAxes::FromTiles(absl::Span<const int64_t> tiles,
                                                  absl::FunctionRef<int64_t(int64_t, int64_t)> tile_of) const {
  AxisSharding sharding;
  AxisSet used = 0;
  for (size_t i = 0; i < tiles.size(); ++i) {
    const int64_t dimension = static_cast<int64_t>(i);
    std::optional<AxisList> axes = AxesOf(tiles[i], [&](int64_t device) { return tile_of(device, dimension); });
    if (!axes.has_value() || (SetOf(*axes) & used) != 0) return std::nullopt;
    used |= SetOf(*axes);
    sharding.push_back(*std::move(axes));
  }
  return sharding;
}

std::optional<AxisSharding> DeviceAxes::FromSharding(const HloSharding& sharding, int64_t rank) const {
  if (!sharding.IsTuple() && (sharding.IsReplicated() || sharding.IsUnreduced())) return AxisSharding(rank);
  if (sharding.IsTuple() || !sharding.IsTiled() || sharding.IsManualSubgroup()) return std::nullopt;
  if (!UnreducedAxesOf(sharding).has_value()) return std::nullopt;
  const TileAssignment& tiles = sharding.tile_assignment();
  if (tiles.num_elements() != devices_ || tiles.num_dimensions() < rank) return std::nullopt;
  std::vector<int64_t> tile_of_device(devices_ * rank, -1);
  tiles.Each([&](absl::Span<const int64_t> index, int64_t device) {
    if (device < 0 || device >= devices_) return;
    for (int64_t i = 0; i < rank; ++i) tile_of_device[device * rank + i] = index[i];
  });
  return FromTiles(tiles.dimensions().first(rank),
                   [&](int64_t device, int64_t i) { return tile_of_device[device * rank + i]; });
}

std::optional<AxisList> DeviceAxes::UnreducedAxesOf(const HloSharding& sharding) const {
  if (sharding.IsTuple()) return std::nullopt;
  if (sharding.IsUnreduced()) {
    AxisList all;
    for (int axis = 0; axis < num_axes(); ++axis) all.push_back(axis);
    return all;
  }
  if (!sharding.IsTiled() || !sharding.IsUnreducedSubgroup()) return AxisList();
  const TileAssignment& tiles = sharding.tile_assignment();
  const int64_t dimension = sharding.SubgroupUnreducedDim();
  if (tiles.num_elements() != devices_) return std::nullopt;
  std::vector<int64_t> part_of_device(devices_, -1);
  tiles.Each([&](absl::Span<const int64_t> index, int64_t device) {
    if (device >= 0 && device < devices_) part_of_device[device] = index[dimension];
  });
  return AxesOf(tiles.dim(dimension), [&](int64_t device) { return part_of_device[device]; });
}

std::optional<AxisSharding> DeviceAxes::FromGrid(const ShardGrid& grid) const {
  std::vector<int64_t> tiles;
  const auto tile_of = [&](int64_t device, int64_t i) {
    const int64_t shard = grid.shard_dimensions()[i];
    return shard == 0 ? int64_t{0} : CeilOfRatio(grid.OffsetsOf(device)[i], shard);
  };
  for (size_t i = 0; i < grid.dimensions().size(); ++i) {
    int64_t most = 0;
    for (int64_t device = 0; device < devices_; ++device) {
      most = std::max(most, tile_of(device, static_cast<int64_t>(i)));
    }
    tiles.push_back(most + 1);
  }
  std::optional<AxisSharding> sharding = FromTiles(tiles, tile_of);
  if (!sharding.has_value()) return std::nullopt;
  for (size_t i = 0; i < tiles.size(); ++i) {  // a grid whose last tiles are empty has another number of tiles
    if (CeilOfRatio(grid.dimensions()[i], tiles[i]) != grid.shard_dimensions()[i]) return std::nullopt;
  }
  return sharding;
}

HloSharding DeviceAxes::ToSharding(const AxisSharding& sharding, const AxisList& unreduced) const {
  if (IsReplicated(sharding) && unreduced.empty()) return HloSharding::Replicate();
  std::vector<int64_t> tiles;
  std::vector<int> order;
  for (const AxisList& axes : sharding) {
    tiles.push_back(SizeOf(axes));
    order.insert(order.end(), axes.begin(), axes.end());
  }
  if (!unreduced.empty()) tiles.push_back(SizeOf(unreduced));
  order.insert(order.end(), unreduced.begin(), unreduced.end());
  const AxisSet used = SetOf(sharding) | SetOf(unreduced);
  int64_t copies = 1;
  for (size_t axis = 0; axis < sizes_.size(); ++axis) {
    if ((used >> axis & 1) != 0) continue;
    order.push_back(static_cast<int>(axis));
    copies *= sizes_[axis];
  }
  tiles.push_back(copies);
  const TileAssignment assignment(tiles, sizes_, order);
  if (unreduced.empty()) return HloSharding::PartialTile(assignment);
  return HloSharding::Subgroup(assignment, {OpSharding::UNREDUCED, OpSharding::REPLICATED});
}

Shape DeviceAxes::ShardOf(const Shape& whole, const AxisSharding& sharding) const {
  Shape shard = whole;
  for (size_t i = 0; i < sharding.size(); ++i) {
    if (sharding[i].empty()) continue;
    shard.set_dimensions(static_cast<int>(i), CeilOfRatio(whole.dimensions(static_cast<int>(i)), SizeOf(sharding[i])));
  }
  return shard;
}

CollectiveDeviceList DeviceAxes::GroupsAlong(const AxisList& axes) const {
  std::vector<int> order;
  const AxisSet used = SetOf(axes);
  for (size_t axis = 0; axis < sizes_.size(); ++axis) {
    if ((used >> axis & 1) == 0) order.push_back(static_cast<int>(axis));
  }
  order.insert(order.end(), axes.begin(), axes.end());
  const int64_t members = SizeOf(axes);
  return CollectiveDeviceList(IotaReplicaGroupList(devices_ / members, members, sizes_, order));
}

int64_t DeviceAxes::TileOf(const AxisSharding& sharding, int64_t device) const {
  int64_t tile = 0;
  for (const AxisList& axes : sharding) tile = tile * SizeOf(axes) + IndexOf(axes, device);
  return tile;
}

}  // namespace kashi::partition
