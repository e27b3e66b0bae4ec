#include "kashi/hlo/attributes/hlo_sharding.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/check.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"

namespace kashi {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
// Where nobody in the program asked for a list of devices, only a text or a proto that claims to have so many.
constexpr int64_t kMaxListedDevices = int64_t{1} << 20;

// Subgroups stand in the order of their types' numbers, but replicated ones last.
int SubgroupOrder(OpSharding::Type type) {
  return type == OpSharding::REPLICATED ? std::numeric_limits<int>::max() : static_cast<int>(type);
}

int64_t LeafCount(const Shape& shape) { return ShapeUtil::GetLeafCount(shape); }

}  // namespace

struct HloSharding::Rep {
  Rep() = default;
  explicit Rep(Kind kind) : kind(kind) {}
  Rep(const Rep& other)  // but for what is worked out on demand
      : kind(other.kind),
        replicate_on_last_tile_dim(other.replicate_on_last_tile_dim),
        tile(other.tile),
        subgroup_types(other.subgroup_types),
        metadata(other.metadata),
        tuple_elements(other.tuple_elements),
        named(other.named),
        shard_group(other.shard_group) {}

  Kind kind = Kind::kReplicated;
  bool replicate_on_last_tile_dim = false;
  TileAssignment tile;
  std::vector<OpSharding::Type> subgroup_types;
  std::vector<OpMetadata> metadata;  // of a named sharding: within `named`
  std::vector<HloSharding> tuple_elements;
  std::optional<NamedSharding> named;
  ShardGroup shard_group = NotShardGroup();

  mutable std::once_flag unnamed_once;
  mutable std::optional<absl::StatusOr<HloSharding>> unnamed;
};

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

// Of types that differ, in their order.
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

  // Dimensions of more than one device, by type; those of size 1 go behind all others, and out.
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

HloSharding HloSharding::Tuple(const ShapeTree<HloSharding>& shardings) {
  std::vector<HloSharding> elements;
  for (const IndexedShape& leaf : ShapeUtil::GetLeafShapes(shardings.shape())) {
    elements.push_back(shardings.element(leaf.index));
  }
  if (elements.empty()) elements.push_back(shardings.element(ShapeIndex({})));
  return FlatTuple(std::move(elements));
}

HloSharding HloSharding::Tuple(const Shape& tuple_shape, absl::Span<const HloSharding> shardings) {
  KASHI_CHECK(tuple_shape.IsTuple()) << tuple_shape;
  KASHI_CHECK_EQ(static_cast<int64_t>(shardings.size()), RequiredLeaves(tuple_shape));
  return FlatTuple({shardings.begin(), shardings.end()});
}

HloSharding HloSharding::FlatTuple(std::vector<HloSharding> shardings) {
  for (const HloSharding& sharding : shardings) KASHI_CHECK(!sharding.IsTuple()) << sharding;
  HloSharding tuple = OfKind(Kind::kTuple, {});
  tuple.MutableRep()->tuple_elements = std::move(shardings);
  return tuple;
}

HloSharding HloSharding::SingleTuple(const Shape& tuple_shape, const HloSharding& sharding) {
  KASHI_CHECK(tuple_shape.IsTuple()) << tuple_shape;
  return FlatTuple(std::vector<HloSharding>(RequiredLeaves(tuple_shape), sharding));
}

HloSharding HloSharding::Single(const Shape& shape, const HloSharding& sharding) {
  return shape.IsTuple() ? SingleTuple(shape, sharding) : sharding;
}

int64_t HloSharding::RequiredLeaves(const Shape& shape) {
  KASHI_CHECK(shape.IsTuple()) << shape;
  return std::max<int64_t>(LeafCount(shape), 1);
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

absl::StatusOr<HloSharding> HloSharding::FromProto(const OpSharding& proto) {
  if (proto.type() != OpSharding::TUPLE || proto.has_named_sharding()) return LeafFromProto(proto);
  if (!proto.metadata().empty()) return Internal("a tuple sharding has no metadata of its own");
  std::vector<HloSharding> elements;
  elements.reserve(proto.tuple_shardings().size());
  for (const OpSharding& element : proto.tuple_shardings()) {
    if (element.type() == OpSharding::TUPLE && !element.has_named_sharding()) {
      return Internal("a tuple sharding within a tuple sharding: leaves are listed in pre-order");
    }
    KASHI_ASSIGN_OR_RETURN(HloSharding leaf, LeafFromProto(element));
    elements.push_back(std::move(leaf));
  }
  return std::move(FlatTuple(std::move(elements)).SetShardGroupFromProto(proto));
}

absl::StatusOr<HloSharding> HloSharding::LeafFromProto(const OpSharding& proto) {
  if (proto.has_named_sharding()) {
    KASHI_ASSIGN_OR_RETURN(NamedSharding named, NamedSharding::FromProto(proto.named_sharding()));
    return HloSharding(std::move(named));
  }
  const auto with_group = [&](HloSharding sharding) { return std::move(sharding.SetShardGroupFromProto(proto)); };
  const std::vector<OpMetadata> metadata(proto.metadata().begin(), proto.metadata().end());
  const absl::Span<const int64_t> devices = proto.tile_assignment_devices();
  const absl::Span<const int64_t> dims = proto.tile_assignment_dimensions();
  const absl::Span<const int64_t> reshape_dims = proto.iota_reshape_dims();
  switch (proto.type()) {
    case OpSharding::REPLICATED:
      return with_group(Replicate(metadata));
    case OpSharding::MANUAL:
      return with_group(Manual(metadata));
    case OpSharding::UNKNOWN:
      return with_group(Unknown(metadata));
    case OpSharding::UNREDUCED:
      return with_group(Unreduced(metadata));
    case OpSharding::MAXIMAL:
    case OpSharding::OTHER:
    case OpSharding::TUPLE:
      break;
  }
  if (devices.size() == 1) return with_group(AssignDevice(devices[0], metadata));
  if (!reshape_dims.empty() &&
      std::all_of(reshape_dims.begin(), reshape_dims.end(), [](int64_t size) { return size == 1; })) {
    return with_group(AssignDevice(0, metadata));
  }
  if (proto.type() == OpSharding::MAXIMAL) {
    return Internal("a maximal sharding has one device, not %d", devices.size());
  }
  if (dims.empty()) return Internal("a tiled sharding without tile_assignment_dimensions");
  for (int64_t size : dims) {
    if (size < 1) return Internal("a tile assignment dimension of size %d", size);
  }
  TileAssignment tile;
  if (!reshape_dims.empty()) {
    const absl::Span<const int32_t> perm = proto.iota_transpose_perm();
    std::optional<IotaTileAssignment> iota = IotaTileAssignment::TryCreate(dims, reshape_dims, perm);
    if (!iota.has_value() || !iota->IsConsistent()) {
      return Internal("iota_reshape_dims, iota_transpose_perm and tile_assignment_dimensions do not fit each other");
    }
    tile = TileAssignment(*std::move(iota));
  } else {
    if (devices.size() < 2) return Internal("a tiled sharding has two devices or more, not %d", devices.size());
    if (SaturatingProduct(dims) != static_cast<int64_t>(devices.size())) {
      return Internal("%d devices for %d tiles", devices.size(), SaturatingProduct(dims));
    }
    auto list = std::make_shared<Array<int64_t>>(dims);
    std::copy(devices.begin(), devices.end(), list->begin());
    tile = TileAssignment(std::move(list));
  }
  if (!proto.last_tile_dims().empty()) {
    if (proto.replicate_on_last_tile_dim()) {
      return Internal("replicate_on_last_tile_dim together with last_tile_dims");
    }
    const absl::Span<const OpSharding::Type> types = proto.last_tile_dims();
    KASHI_ASSIGN_OR_RETURN(HloSharding sharding, TrySubgroup(tile, types, kMaxListedDevices, metadata));
    return with_group(std::move(sharding));
  }
  HloSharding sharding = Tile(tile, metadata);
  sharding.MutableRep()->replicate_on_last_tile_dim = proto.replicate_on_last_tile_dim();
  return with_group(std::move(sharding));
}

OpSharding HloSharding::ToProto() const {
  OpSharding proto;
  const Rep& rep = *rep_;
  if (rep.kind == Kind::kTuple) {
    proto.set_type(OpSharding::TUPLE);
    for (const HloSharding& element : rep.tuple_elements) *proto.add_tuple_shardings() = element.ToProto();
    return proto;
  }
  if (rep.kind == Kind::kNamed) {
    *proto.mutable_named_sharding() = rep.named->ToProto();
    return proto;
  }
  proto.mutable_metadata()->Add(rep.metadata.begin(), rep.metadata.end());
  if (IsShardGroup()) {
    proto.set_is_shard_group(true);
    proto.set_shard_group_id(rep.shard_group.shard_group_id);
    proto.set_shard_group_type(rep.shard_group.shard_as ? OpSharding::AS : OpSharding::LIKE);
  }
  switch (rep.kind) {
    case Kind::kReplicated:
      proto.set_type(OpSharding::REPLICATED);
      return proto;
    case Kind::kManual:
      proto.set_type(OpSharding::MANUAL);
      return proto;
    case Kind::kUnknown:
      proto.set_type(OpSharding::UNKNOWN);
      return proto;
    case Kind::kUnreduced:
      proto.set_type(OpSharding::UNREDUCED);
      return proto;
    case Kind::kMaximal:
      proto.set_type(OpSharding::MAXIMAL);
      proto.add_tile_assignment_devices(rep.tile.first());
      return proto;
    case Kind::kTiled:
    case Kind::kTuple:
    case Kind::kNamed:
      break;
  }
  proto.set_type(OpSharding::OTHER);
  proto.mutable_tile_assignment_dimensions()->Add(rep.tile.dimensions().begin(), rep.tile.dimensions().end());
  if (const auto& iota = rep.tile.iota()) {
    proto.mutable_iota_reshape_dims()->Add(iota->reshape_dims().begin(), iota->reshape_dims().end());
    proto.mutable_iota_transpose_perm()->Add(iota->transpose_perm().begin(), iota->transpose_perm().end());
  } else {
    proto.mutable_tile_assignment_devices()->Add(rep.tile.array().begin(), rep.tile.array().end());
  }
  proto.set_replicate_on_last_tile_dim(rep.replicate_on_last_tile_dim);
  proto.mutable_last_tile_dims()->Add(rep.subgroup_types.begin(), rep.subgroup_types.end());
  return proto;
}

HloSharding::Rep* HloSharding::MutableRep() {
  // A sole owner may write: nobody else can get at what only this value points to.
  if (rep_.use_count() != 1 || rep_->unnamed.has_value()) rep_ = std::make_shared<Rep>(*rep_);
  return const_cast<Rep*>(rep_.get());
}

// ---------------------------------------------------------------------------------------------------------------------
// What it is
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

HloSharding& HloSharding::SetShardGroupFromProto(const OpSharding& proto) {
  if (!proto.is_shard_group()) return SetShardGroup(NotShardGroup());
  return SetShardGroup(proto.shard_group_type() == OpSharding::AS ? ShardAs(proto.shard_group_id())
                                                                  : ShardLike(proto.shard_group_id()));
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
// Tiles
// ---------------------------------------------------------------------------------------------------------------------

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

// ---------------------------------------------------------------------------------------------------------------------
// Tuples
// ---------------------------------------------------------------------------------------------------------------------

const std::vector<HloSharding>& HloSharding::tuple_elements() const { return rep_->tuple_elements; }
std::vector<HloSharding>& HloSharding::tuple_elements() { return MutableRep()->tuple_elements; }

HloSharding HloSharding::GetSubSharding(const Shape& shape, const ShapeIndex& index) const {
  KASHI_CHECK(IsTuple()) << *this;
  const Shape* part = &shape;
  int64_t first = 0;
  for (int64_t element : index) {
    for (int64_t i = 0; i < element; ++i) first += LeafCount(part->tuple_shapes(static_cast<int>(i)));
    part = &part->tuple_shapes(static_cast<int>(element));
  }
  const absl::Span<const HloSharding> leaves = tuple_elements();
  if (!part->IsTuple()) {
    KASHI_CHECK_LT(first, static_cast<int64_t>(leaves.size()));
    return leaves[first];
  }
  const int64_t count = LeafCount(*part);
  KASHI_CHECK_LE(first + count, static_cast<int64_t>(leaves.size()));
  if (count == 0) return SingleTuple(*part, Replicate());
  return Tuple(*part, leaves.subspan(first, count));
}

absl::StatusOr<HloSharding> HloSharding::GetTupleSharding(const Shape& shape) const {
  if (!IsTuple()) return SingleTuple(shape, *this);
  KASHI_RETURN_IF_ERROR(CheckLeafCount(shape));
  return *this;
}

HloSharding HloSharding::NormalizeTupleSharding(const Shape& shape) const {
  return shape.IsTuple() && !IsTuple() ? SingleTuple(shape, *this) : *this;
}

std::optional<HloSharding> HloSharding::ExtractSingleSharding() const {
  if (!IsTuple()) return *this;
  if (tuple_elements().empty()) return std::nullopt;
  const HloSharding& first = tuple_elements().front();
  for (const HloSharding& other : tuple_elements()) {
    if (other != first) return std::nullopt;
  }
  return first;
}

absl::StatusOr<ShapeTree<HloSharding>> HloSharding::AsShapeTree(const Shape& shape) const {
  if (!IsTuple()) return ShapeTree<HloSharding>(shape, *this);
  KASHI_RETURN_IF_ERROR(CheckLeafCount(shape));
  ShapeTree<HloSharding> tree(shape, Replicate());
  size_t i = 0;
  for (const IndexedShape& leaf : ShapeUtil::GetLeafShapes(shape)) {
    *tree.mutable_element(leaf.index) = tuple_elements()[i++];
  }
  return tree;
}

ShapeTree<HloSharding> HloSharding::GetAsShapeTree(const Shape& shape) const {
  absl::StatusOr<ShapeTree<HloSharding>> tree = AsShapeTree(shape);
  KASHI_CHECK_OK(tree);
  return *std::move(tree);
}

// A tuple without leaves may have one sharding, or none.
absl::Status HloSharding::CheckLeafCount(const Shape& shape) const {
  const int64_t leaves = LeafCount(shape);
  const int64_t shardings = static_cast<int64_t>(tuple_elements().size());
  if (leaves == shardings || (leaves == 0 && shardings == 1)) return absl::OkStatus();
  return Internal("shape %s has %d leaves while this sharding has %d", ShapeUtil::HumanString(shape), leaves,
                  shardings);
}

absl::Status HloSharding::Validate(const Shape& shape, std::optional<int64_t> num_devices) const {
  if (shape.IsToken()) return absl::OkStatus();
  const auto annotate = [](const absl::Status& status, const std::string& note) {
    return absl::Status(status.code(), absl::StrCat(status.message(), "\n", note));
  };
  absl::Status status;
  if (!IsTuple()) {
    status = ValidateLeaf(shape, num_devices);
  } else if (!shape.IsTuple()) {
    status = InvalidArgument("Sharding is tuple-shaped but validation shape is not.");
  } else if (status = CheckLeafCount(shape); status.ok()) {
    size_t i = 0;
    for (const IndexedShape& leaf : ShapeUtil::GetLeafShapes(shape)) {
      const HloSharding& sharding = tuple_elements()[i++];
      status = sharding.ValidateLeaf(leaf.shape, num_devices);
      if (status.ok()) continue;
      status = annotate(status, absl::StrCat("Note: While validating sharding tuple element ", leaf.index.ToString(),
                                             " which is ", sharding.ToString()));
      break;
    }
  }
  if (status.ok()) return status;
  return annotate(status, absl::StrCat("Note: While validating sharding ", ToString(), " against shape ",
                                       ShapeUtil::HumanString(shape)));
}

absl::Status HloSharding::ValidateLeaf(const Shape& shape, std::optional<int64_t> num_devices) const {
  if (shape.IsTuple()) return InvalidArgument("Validation shape is a tuple but sharding is not.");
  if (UseNamedShardingLeaf()) {
    KASHI_RETURN_IF_ERROR(named_sharding().Validate());
    KASHI_RETURN_IF_ERROR(TryUnnamed().status());
  }
  if (IsReplicatedLeaf()) return absl::OkStatus();
  const TileAssignment& tile = tile_assignment();
  if (!tile.iota().has_value()) {
    absl::flat_hash_set<int64_t> seen;
    for (int64_t device : tile.array()) {
      if (num_devices.has_value() && device >= *num_devices) {
        return InvalidArgument("device %d > num_devices (%d) in tile assignment", device, *num_devices);
      }
      if (!seen.insert(device).second) return InvalidArgument("device %d is not unique in tile assignment", device);
    }
  } else if (!tile.iota()->IsConsistent()) {
    return InvalidArgument("%s assigns no device to some tiles, or one to several", tile.ToString());
  }
  if (!IsTiledLeaf()) return absl::OkStatus();
  // Tokens and the like have no dimensions.
  if ((shape.IsArray() ? shape.rank() : 0) != TiledDataRank()) {
    return InvalidArgument(
        "Number of tile assignment dimensions (excluding subgroups) is different than the input rank. sharding=%s, "
        "input_shape=%s",
        ToString(), ShapeUtil::HumanString(shape));
  }
  if (num_devices.has_value() && tile.num_elements() != *num_devices) {
    return InvalidArgument("tile_assignment should have %d devices, but has %d", *num_devices, tile.num_elements());
  }
  if (tile.num_elements() == 1) {
    return InvalidArgument(
        "Tile assignment only contains a single device. If a replicated sharding was intended, use "
        "HloSharding::Replicated(). If a device placement was intended, use HloSharding::AssignDevice()");
  }
  return absl::OkStatus();
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
