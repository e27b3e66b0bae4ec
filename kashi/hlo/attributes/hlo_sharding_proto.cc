#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/hlo/attributes/hlo_sharding_rep.h"

namespace kashi {

using hlo::kMaxListedDevices;

namespace {

absl::StatusOr<TileAssignment> TilesFromProto(const OpSharding& proto) {
  const absl::Span<const int64_t> devices = proto.tile_assignment_devices();
  const absl::Span<const int64_t> dims = proto.tile_assignment_dimensions();
  if (dims.empty()) return Internal("a tiled sharding without tile_assignment_dimensions");
  for (int64_t size : dims) {
    if (size < 1) return Internal("a tile assignment dimension of size %d", size);
  }
  if (!proto.iota_reshape_dims().empty()) {
    std::optional<IotaTileAssignment> iota =
        IotaTileAssignment::TryCreate(dims, proto.iota_reshape_dims(), proto.iota_transpose_perm());
    if (!iota.has_value() || !iota->IsConsistent()) {
      return Internal("iota_reshape_dims, iota_transpose_perm and tile_assignment_dimensions do not fit each other");
    }
    return TileAssignment(*std::move(iota));
  }
  if (devices.size() < 2) return Internal("a tiled sharding has two devices or more, not %d", devices.size());
  if (SaturatingProduct(dims) != static_cast<int64_t>(devices.size())) {
    return Internal("%d devices for %d tiles", devices.size(), SaturatingProduct(dims));
  }
  auto list = std::make_shared<Array<int64_t>>(dims);
  std::copy(devices.begin(), devices.end(), list->begin());
  return TileAssignment(std::move(list));
}

}  // namespace

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
  KASHI_ASSIGN_OR_RETURN(TileAssignment tile, TilesFromProto(proto));
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

HloSharding& HloSharding::SetShardGroupFromProto(const OpSharding& proto) {
  if (!proto.is_shard_group()) return SetShardGroup(NotShardGroup());
  return SetShardGroup(proto.shard_group_type() == OpSharding::AS ? ShardAs(proto.shard_group_id())
                                                                  : ShardLike(proto.shard_group_id()));
}

}  // namespace kashi
