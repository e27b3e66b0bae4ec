// Shardings of tuples, and whether a sharding fits a shape.
#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/check.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/hlo/attributes/hlo_sharding_rep.h"

namespace kashi {

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
  return std::max<int64_t>(ShapeUtil::GetLeafCount(shape), 1);
}

const std::vector<HloSharding>& HloSharding::tuple_elements() const { return rep_->tuple_elements; }
std::vector<HloSharding>& HloSharding::tuple_elements() { return MutableRep()->tuple_elements; }

HloSharding HloSharding::GetSubSharding(const Shape& shape, const ShapeIndex& index) const {
  KASHI_CHECK(IsTuple()) << *this;
  const Shape* part = &shape;
  int64_t first = 0;
  for (int64_t element : index) {
    for (int64_t i = 0; i < element; ++i) first += ShapeUtil::GetLeafCount(part->tuple_shapes(static_cast<int>(i)));
    part = &part->tuple_shapes(static_cast<int>(element));
  }
  const absl::Span<const HloSharding> leaves = tuple_elements();
  if (!part->IsTuple()) {
    KASHI_CHECK_LT(first, static_cast<int64_t>(leaves.size()));
    return leaves[first];
  }
  const int64_t count = ShapeUtil::GetLeafCount(*part);
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
  const int64_t leaves = ShapeUtil::GetLeafCount(shape);
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

}  // namespace kashi
