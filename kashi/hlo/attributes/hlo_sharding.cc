#include "kashi/hlo/attributes/hlo_sharding.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <mutex>
#include <numeric>

#include "absl/hash/hash.h"
#include "kashi/base/check.h"
#include "kashi/base/math.h"
#include "kashi/base/sole_owner.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/hlo_sharding_rep.h"

namespace kashi {

using hlo::kMaxListedDevices;

namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

// Subgroups are in the order of their types' numbers, but replicated ones are last.
int SubgroupOrder(OpSharding::Type type) {
  return type == OpSharding::REPLICATED ? std::numeric_limits<int>::max() : static_cast<int>(type);
}

}  // namespace

// ---------------------------------------------------------------------------------------------------------------------
// Making
// ---------------------------------------------------------------------------------------------------------------------

HloSharding HloSharding::OfKind(Kind kind, MetadataSpan metadata) {
  auto rep = std::make_shared<Rep>(kind);
  rep->metadata.assign(metadata.begin(), metadata.end());
  return HloSharding(std::move(rep));
}

HloSharding HloSharding::Replicate(MetadataSpan metadata) {
  static const HloSharding* const plain = new HloSharding(OfKind(Kind::kReplicated, {}));
  return metadata.empty() ? *plain : OfKind(Kind::kReplicated, metadata);
}

HloSharding HloSharding::Manual(MetadataSpan metadata) {
  static const HloSharding* const plain = new HloSharding(OfKind(Kind::kManual, {}));
  return metadata.empty() ? *plain : OfKind(Kind::kManual, metadata);
}

HloSharding HloSharding::Unknown(MetadataSpan metadata) {
  static const HloSharding* const plain = new HloSharding(OfKind(Kind::kUnknown, {}));
  return metadata.empty() ? *plain : OfKind(Kind::kUnknown, metadata);
}

HloSharding HloSharding::Unreduced(MetadataSpan metadata) {
  static const HloSharding* const plain = new HloSharding(OfKind(Kind::kUnreduced, {}));
  return metadata.empty() ? *plain : OfKind(Kind::kUnreduced, metadata);
}

HloSharding HloSharding::AssignDevice(int64_t device_id, MetadataSpan metadata) {
  HloSharding sharding = OfKind(Kind::kMaximal, metadata);
  sharding.MutableRep()->tile = TileAssignment(device_id);
  return sharding;
}

HloSharding HloSharding::Tile(const TileAssignment& tile, MetadataSpan metadata) {
  HloSharding sharding = OfKind(Kind::kTiled, metadata);
  sharding.MutableRep()->tile = tile;
  return sharding;
}

HloSharding HloSharding::Tile1D(const Shape& shape, int64_t num_tiles, MetadataSpan metadata) {
  KASHI_CHECK_EQ(shape.dimensions_size(), 1);
  KASHI_CHECK_GT(num_tiles, 1);
  return Tile(TileAssignment({num_tiles}), metadata);
}

HloSharding HloSharding::PartialTile(const TileAssignment& tile, MetadataSpan metadata) {
  absl::StatusOr<HloSharding> sharding = TryPartialTile(tile, kNoLimit, metadata);
  KASHI_CHECK_OK(sharding);
  return *std::move(sharding);
}

HloSharding HloSharding::Subgroup(const TileAssignment& tile, absl::Span<const OpSharding::Type> types,
                                  MetadataSpan metadata) {
  absl::StatusOr<HloSharding> sharding = TrySubgroup(tile, types, kNoLimit, metadata);
  KASHI_CHECK_OK(sharding);
  return *std::move(sharding);
}

absl::StatusOr<HloSharding> HloSharding::TryPartialTile(const TileAssignment& tile, int64_t max_devices,
                                                        MetadataSpan metadata) {
  if (tile.num_dimensions() == 0) return InvalidArgument("a partial tile needs a dimension to copy along");
  const int64_t copies = tile.dimensions().back();
  if (tile.num_elements() == copies) return Replicate(metadata);
  if (copies == 1) return Tile(tile.Reshape(tile.dimensions().first(tile.num_dimensions() - 1)), metadata);
  KASHI_ASSIGN_OR_RETURN(TileAssignment sorted, tile.TrySortRows(max_devices));
  HloSharding sharding = Tile(sorted, metadata);
  sharding.MutableRep()->replicate_on_last_tile_dim = true;
  return sharding;
}

// Pre: the types differ and are in order.
absl::StatusOr<HloSharding> HloSharding::FromTiles(const TileAssignment& tile, std::vector<OpSharding::Type> types,
                                                   int64_t max_devices, MetadataSpan metadata) {
  if (types.empty()) return Tile(tile, metadata);
  if (types.size() == 1) {
    const bool is_all = tile.num_elements() == tile.dimensions().back();
    if (types[0] == OpSharding::REPLICATED) return TryPartialTile(tile, max_devices, metadata);
    if (types[0] == OpSharding::MANUAL && is_all) return Manual(metadata);
  }
  HloSharding sharding = Tile(tile, metadata);
  if (types.back() == OpSharding::REPLICATED) {
    KASHI_ASSIGN_OR_RETURN(sharding.MutableRep()->tile, tile.TrySortRows(max_devices));
  }
  sharding.MutableRep()->subgroup_types = std::move(types);
  return sharding;
}

absl::StatusOr<HloSharding> HloSharding::TrySubgroup(const TileAssignment& tile,
                                                     absl::Span<const OpSharding::Type> types, int64_t max_devices,
                                                     MetadataSpan metadata) {
  const int64_t data_rank = tile.num_dimensions() - static_cast<int64_t>(types.size());
  if (data_rank < 0) {
    return InvalidArgument("%d types of subgroups for %d tile dimensions", types.size(), tile.num_dimensions());
  }
  const bool all_alike = std::adjacent_find(types.begin(), types.end(), std::not_equal_to<>()) == types.end();
  if (all_alike && !types.empty() && SaturatingProduct(tile.dimensions().subspan(data_rank)) == tile.num_elements()) {
    if (types[0] == OpSharding::REPLICATED) return Replicate(metadata);
    if (types[0] == OpSharding::MANUAL) return Manual(metadata);
    if (types[0] == OpSharding::UNREDUCED) return Unreduced(metadata);
  }

  // Dimensions of more than one device, by type. Dimensions of size 1 go to the end and are removed.
  std::vector<int> subgroup_dims, ones;
  for (int dim = static_cast<int>(data_rank); dim < tile.num_dimensions(); ++dim) {
    (tile.dim(dim) == 1 ? ones : subgroup_dims).push_back(dim);
  }
  const auto order = [&](int dim) { return SubgroupOrder(types[dim - data_rank]); };
  std::stable_sort(subgroup_dims.begin(), subgroup_dims.end(), [&](int a, int b) { return order(a) < order(b); });

  std::vector<OpSharding::Type> merged_types;
  DimensionVector merged_dims(tile.dimensions().begin(), tile.dimensions().begin() + data_rank);
  std::vector<int> perm(data_rank);
  std::iota(perm.begin(), perm.end(), 0);
  for (int dim : subgroup_dims) {
    perm.push_back(dim);
    const OpSharding::Type type = types[dim - data_rank];
    if (merged_types.empty() || merged_types.back() != type) {
      merged_types.push_back(type);
      merged_dims.push_back(tile.dim(dim));
    } else {
      merged_dims.back() = SaturatingProduct({merged_dims.back(), tile.dim(dim)});
    }
  }
  TileAssignment ordered = tile;
  if (!std::is_sorted(perm.begin(), perm.end())) {
    perm.insert(perm.end(), ones.begin(), ones.end());
    KASHI_ASSIGN_OR_RETURN(ordered, tile.TryTranspose(perm, max_devices));
  }
  if (ordered.dimensions() != absl::MakeConstSpan(merged_dims)) ordered = ordered.Reshape(merged_dims);
  return FromTiles(ordered, std::move(merged_types), max_devices, metadata);
}

HloSharding::HloSharding(NamedSharding named) {
  auto rep = std::make_shared<Rep>(Kind::kNamed);
  rep->named = std::move(named);
  rep_ = std::move(rep);
}

// Tile dimensions are the array's dimensions, then manual and unreduced axes, then the rest of the mesh.
absl::StatusOr<HloSharding> HloSharding::V3ToV2Sharding(const NamedSharding& named) {
  const std::vector<OpMetadata>& metadata = named.metadata();
  if (named.IsMaximal()) return AssignDevice(named.mesh().device_assignment().first(), metadata);
  if (named.IsReplicated()) return Replicate(metadata);
  if (named.IsManual()) return Manual(metadata);
  if (named.IsUnreduced()) return Unreduced(metadata);
  std::vector<std::vector<AxisRef>> lists;
  for (const NamedSharding::DimensionSharding& dimension : named.dim_shardings()) lists.push_back(dimension.axes);
  std::vector<OpSharding::Type> types;
  const auto add_group = [&](absl::Span<const AxisRef> axes, OpSharding::Type type) {
    if (axes.empty()) return;
    lists.emplace_back(axes.begin(), axes.end());
    types.push_back(type);
  };
  add_group(named.manual_axes(), OpSharding::MANUAL);
  add_group(named.unreduced_axes(), OpSharding::UNREDUCED);
  types.push_back(OpSharding::REPLICATED);
  KASHI_ASSIGN_OR_RETURN(TileAssignment tile, DevicesByAxes(named.mesh(), lists, kMaxListedDevices));
  return TrySubgroup(tile, types, kMaxListedDevices, metadata);
}

HloSharding::Rep* HloSharding::MutableRep() {
  // A unique owner may write, because no other value points to the data.
  if (!base::IsSoleOwner(rep_) || rep_->unnamed.has_value()) rep_ = std::make_shared<Rep>(*rep_);
  return const_cast<Rep*>(rep_.get());
}

// ---------------------------------------------------------------------------------------------------------------------
// Queries
// ---------------------------------------------------------------------------------------------------------------------

template <typename Predicate>
bool HloSharding::AllLeaves(Predicate predicate) const {
  if (!IsTuple()) return predicate(*this);
  return std::all_of(rep_->tuple_elements.begin(), rep_->tuple_elements.end(), predicate);
}

bool HloSharding::IsTuple() const { return rep_->kind == Kind::kTuple; }
bool HloSharding::IsReplicated() const { return AllLeaves(std::mem_fn(&HloSharding::IsReplicatedLeaf)); }
bool HloSharding::IsTileMaximal() const { return AllLeaves(std::mem_fn(&HloSharding::IsTileMaximalLeaf)); }
bool HloSharding::IsManual() const { return AllLeaves(std::mem_fn(&HloSharding::IsManualLeaf)); }
bool HloSharding::IsUnknown() const { return AllLeaves(std::mem_fn(&HloSharding::IsUnknownLeaf)); }
bool HloSharding::IsUnreduced() const { return AllLeaves(std::mem_fn(&HloSharding::IsUnreducedLeaf)); }
bool HloSharding::IsManualSubgroup() const {
  return AllLeaves([](const HloSharding& leaf) { return leaf.SubgroupDim(OpSharding::MANUAL) >= 0; });
}
bool HloSharding::IsUnreducedSubgroup() const {
  return AllLeaves([](const HloSharding& leaf) { return leaf.SubgroupDim(OpSharding::UNREDUCED) >= 0; });
}

bool HloSharding::IsReplicatedLeaf() const {
  return rep_->kind == Kind::kNamed ? rep_->named->IsReplicated() : rep_->kind == Kind::kReplicated;
}
bool HloSharding::IsTileMaximalLeaf() const {
  if (rep_->kind == Kind::kNamed) return rep_->named->IsReplicated() || rep_->named->IsMaximal();
  return rep_->kind == Kind::kReplicated || rep_->kind == Kind::kMaximal;
}
bool HloSharding::IsManualLeaf() const {
  return rep_->kind == Kind::kNamed ? rep_->named->IsManual() : rep_->kind == Kind::kManual;
}
bool HloSharding::IsUnknownLeaf() const { return rep_->kind == Kind::kUnknown; }
bool HloSharding::IsUnreducedLeaf() const {
  return rep_->kind == Kind::kNamed ? rep_->named->IsUnreduced() : rep_->kind == Kind::kUnreduced;
}
bool HloSharding::IsTiledLeaf() const {
  return !IsTileMaximalLeaf() && !IsManualLeaf() && !IsUnknownLeaf() && !IsUnreducedLeaf();
}
bool HloSharding::UseNamedShardingLeaf() const { return rep_->kind == Kind::kNamed; }
const NamedSharding& HloSharding::named_sharding() const {
  KASHI_CHECK(rep_->named.has_value()) << *this;
  return *rep_->named;
}

const HloSharding::ShardGroup& HloSharding::GetShardGroup() const { return rep_->shard_group; }

HloSharding& HloSharding::SetShardGroup(const ShardGroup& shard_group) {
  if (shard_group != GetShardGroup()) MutableRep()->shard_group = shard_group;
  return *this;
}

const absl::StatusOr<HloSharding>& HloSharding::TryUnnamed() const {
  std::call_once(rep_->unnamed_once, [this] { rep_->unnamed = V3ToV2Sharding(*rep_->named); });
  return *rep_->unnamed;
}

const HloSharding& HloSharding::Unnamed() const {
  static const HloSharding* const unknown = new HloSharding(Unknown());
  KASHI_CHECK(!IsTuple()) << "a tuple sharding has no tiles of its own: " << *this;
  if (rep_->kind != Kind::kNamed) return *this;
  return TryUnnamed().ok() ? TryUnnamed().value() : *unknown;
}

// ---------------------------------------------------------------------------------------------------------------------
// Devices
// ---------------------------------------------------------------------------------------------------------------------

bool HloSharding::UsesDevice(int64_t device) const {
  if (IsTuple()) {
    return std::any_of(tuple_elements().begin(), tuple_elements().end(),
                       [&](const HloSharding& leaf) { return leaf.UsesDevice(device); });
  }
  return IsReplicatedLeaf() || IsManualLeaf() || tile_assignment().UsesDevice(device);
}

std::map<int64_t, int64_t> HloSharding::UsedDevices(int64_t* count) const {
  std::map<int64_t, int64_t> devices;
  const auto add = [&](const HloSharding& leaf) {
    if (std::optional<int64_t> device = leaf.UniqueDevice()) ++devices[*device];
    return true;
  };
  AllLeaves(add);
  if (count != nullptr) *count = IsTuple() ? static_cast<int64_t>(tuple_elements().size()) : 1;
  return devices;
}

std::optional<int64_t> HloSharding::UniqueDevice() const {
  if (!IsTuple()) {
    if (IsReplicatedLeaf() || !IsTileMaximalLeaf()) return std::nullopt;
    return tile_assignment().first();
  }
  std::optional<int64_t> device;
  for (const HloSharding& leaf : tuple_elements()) {
    const std::optional<int64_t> other = leaf.UniqueDevice();
    if (!other.has_value() || (device.has_value() && *device != *other)) return std::nullopt;
    device = other;
  }
  return device;
}

int64_t HloSharding::GetUniqueDevice() const {
  const std::optional<int64_t> device = UniqueDevice();
  KASHI_CHECK(device.has_value()) << *this;
  return *device;
}

// ---------------------------------------------------------------------------------------------------------------------
// Metadata, comparison
// ---------------------------------------------------------------------------------------------------------------------

const std::vector<OpMetadata>& HloSharding::metadata() const {
  return rep_->kind == Kind::kNamed ? rep_->named->metadata() : rep_->metadata;
}

std::vector<OpMetadata>& HloSharding::metadata() {
  Rep* rep = MutableRep();
  return rep->kind == Kind::kNamed ? rep->named->metadata() : rep->metadata;
}

HloSharding HloSharding::WithMetadata(MetadataSpan metadata, bool overwrite) const {
  HloSharding result = *this;
  const auto assign = [&](HloSharding* leaf) {
    const HloSharding& read = *leaf;
    if (read.metadata().empty() || overwrite) leaf->metadata().assign(metadata.begin(), metadata.end());
  };
  if (!IsTuple()) {
    assign(&result);
  } else {
    for (HloSharding& leaf : result.tuple_elements()) assign(&leaf);
  }
  return result;
}

HloSharding HloSharding::WithoutMetadata() const { return WithMetadata({}, /*overwrite=*/true); }

bool operator==(const HloSharding& a, const HloSharding& b) {
  if (a.rep_ == b.rep_) return true;
  if (a.GetShardGroup() != b.GetShardGroup()) return false;
  if (a.IsTuple() || b.IsTuple()) {
    return a.IsTuple() && b.IsTuple() && a.tuple_elements() == b.tuple_elements();
  }
  if (a.UseNamedShardingLeaf() && b.UseNamedShardingLeaf()) return a.named_sharding() == b.named_sharding();
  if (a.UseNamedShardingLeaf()) return a.TryUnnamed().ok() && *a.TryUnnamed() == b;
  if (b.UseNamedShardingLeaf()) return b == a;
  const HloSharding::Rep &ra = *a.rep_, &rb = *b.rep_;
  return ra.kind == rb.kind && ra.replicate_on_last_tile_dim == rb.replicate_on_last_tile_dim &&
         ra.subgroup_types == rb.subgroup_types && ra.tile == rb.tile;
}

size_t HloSharding::HashValue() const {
  if (IsTuple()) return absl::Hash<std::vector<HloSharding>>()(tuple_elements());
  if (UseNamedShardingLeaf()) return TryUnnamed().ok() ? TryUnnamed()->HashValue() : 0;
  return absl::HashOf(static_cast<int>(rep_->kind), rep_->replicate_on_last_tile_dim, rep_->subgroup_types, rep_->tile);
}

}  // namespace kashi
