#include "kashi/hlo/spmd/sharded_literal.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kashi/array/shape_tree.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/spmd/shard_grid.h"

namespace kashi {
namespace {

// An array of the whole value, and the grid of its shards.
struct Leaf {
  ShapeIndex index;
  ShardGrid grid;
};

absl::StatusOr<ShardGrid> GridOf(const Shape& array, const HloSharding& sharding, int64_t num_devices) {
  if (!array.is_static()) {
    return Unimplemented("%s has dynamic dimensions: sharding it is not supported", ShapeUtil::HumanString(array));
  }
  return ShardGrid::Make(sharding, array.dimensions(), num_devices);
}

// Tokens and similar leaves are the same on all devices, and have no shards.
absl::StatusOr<std::vector<Leaf>> LeavesOf(const Shape& whole, const HloSharding& sharding, int64_t num_devices) {
  KASHI_ASSIGN_OR_RETURN(const ShapeTree<HloSharding> shardings, sharding.AsShapeTree(whole));
  std::vector<Leaf> leaves;
  for (const IndexedShape& leaf : ShapeUtil::GetLeafShapes(whole)) {
    if (!leaf.shape.IsArray()) continue;
    absl::StatusOr<ShardGrid> grid = GridOf(leaf.shape, shardings.element(leaf.index), num_devices);
    if (!grid.ok()) {
      const std::string place = leaf.index.empty() ? "" : absl::StrCat("at ", leaf.index.ToString(), ": ");
      return absl::Status(grid.status().code(), absl::StrCat(place, grid.status().message()));
    }
    leaves.push_back({leaf.index, *std::move(grid)});
  }
  return leaves;
}

Shape ShapeOfShard(const Shape& whole, const std::vector<Leaf>& leaves) {
  Shape shape = whole;
  for (const Leaf& leaf : leaves) {
    Shape* array = ShapeUtil::GetMutableSubshape(&shape, leaf.index);
    for (size_t i = 0; i < leaf.grid.shard_dimensions().size(); ++i) {
      array->set_dimensions(static_cast<int>(i), leaf.grid.shard_dimensions()[i]);
    }
  }
  return shape;
}

// Shards may differ from the whole shape in layout and floating-point type, but not in sizes.
absl::Status CheckShards(absl::Span<const LiteralSlice> shards, const Shape& expected) {
  for (size_t device = 0; device < shards.size(); ++device) {
    if (ShapeUtil::Compatible(shards[device].shape(), expected)) continue;
    return InvalidArgument("device %d has %s, but a shard is %s", device,
                           ShapeUtil::HumanString(shards[device].shape()), ShapeUtil::HumanString(expected));
  }
  return absl::OkStatus();
}

// The elements of a device's shard that are the array's.
absl::StatusOr<Literal> ValidPart(const LiteralSlice& shard, const ShardGrid& grid, int64_t device) {
  const DimensionVector sizes = grid.SizesOf(device);
  const DimensionVector zeros(sizes.size(), 0);
  KASHI_ASSIGN_OR_RETURN(Literal part, Literal::Make(ShapeUtil::MakeShape(shard.shape().element_type(), sizes)));
  KASHI_RETURN_IF_ERROR(part.CopySliceFrom(shard, zeros, zeros, sizes));
  return part;
}

bool AreSameBytes(const Literal& a, const Literal& b) {
  return a.size_bytes() == b.size_bytes() &&
         (a.size_bytes() == 0 || std::memcmp(a.untyped_data(), b.untyped_data(), a.size_bytes()) == 0);
}

}  // namespace

absl::StatusOr<Shape> ShardShape(const Shape& whole, const HloSharding& sharding, int64_t num_devices) {
  KASHI_ASSIGN_OR_RETURN(const std::vector<Leaf> leaves, LeavesOf(whole, sharding, num_devices));
  return ShapeOfShard(whole, leaves);
}

absl::StatusOr<std::vector<Literal>> SplitLiteral(const LiteralSlice& whole, const HloSharding& sharding,
                                                  int64_t num_devices) {
  KASHI_ASSIGN_OR_RETURN(const std::vector<Leaf> leaves, LeavesOf(whole.shape(), sharding, num_devices));
  const Shape shape = ShapeOfShard(whole.shape(), leaves);
  std::vector<Literal> shards;
  for (int64_t device = 0; device < num_devices; ++device) {
    KASHI_ASSIGN_OR_RETURN(Literal shard, Literal::Make(shape));
    for (const Leaf& leaf : leaves) {
      MutableBorrowingLiteral to(&shard, leaf.index);
      std::memset(to.untyped_data(), 0, static_cast<size_t>(to.size_bytes()));
      if (!leaf.grid.Holds(device)) continue;
      const DimensionVector sizes = leaf.grid.SizesOf(device);
      const DimensionVector zeros(sizes.size(), 0);
      KASHI_RETURN_IF_ERROR(
          to.CopySliceFrom(LiteralSlice(whole, leaf.index), leaf.grid.OffsetsOf(device), zeros, sizes));
    }
    shards.push_back(std::move(shard));
  }
  return shards;
}

absl::StatusOr<Literal> JoinLiterals(absl::Span<const LiteralSlice> shards, const HloSharding& sharding,
                                     const Shape& whole, int64_t of_device) {
  const int64_t num_devices = static_cast<int64_t>(shards.size());
  KASHI_ASSIGN_OR_RETURN(const std::vector<Leaf> leaves, LeavesOf(whole, sharding, num_devices));
  KASHI_RETURN_IF_ERROR(CheckShards(shards, ShapeOfShard(whole, leaves)));
  if (of_device < 0 || of_device >= num_devices) {
    return InvalidArgument("device %d is not one of the %d devices", of_device, num_devices);
  }
  KASHI_ASSIGN_OR_RETURN(Literal joined, Literal::Make(whole));
  for (const Leaf& leaf : leaves) {
    MutableBorrowingLiteral to(&joined, leaf.index);
    const std::vector<int64_t> holders = leaf.grid.FirstHolders();
    for (int64_t device = 0; device < num_devices; ++device) {
      if (holders[device] != device || leaf.grid.GroupOf(device) != leaf.grid.GroupOf(of_device)) continue;
      const DimensionVector sizes = leaf.grid.SizesOf(device);
      const DimensionVector zeros(sizes.size(), 0);
      KASHI_RETURN_IF_ERROR(
          to.CopySliceFrom(LiteralSlice(shards[device], leaf.index), zeros, leaf.grid.OffsetsOf(device), sizes));
    }
  }
  return joined;
}

std::string DifferentCopy::ToString() const {
  return absl::StrCat("devices ", other, " and ", device, " hold different copies",
                      index.empty() ? "" : absl::StrCat(" of ", index.ToString()));
}

absl::StatusOr<std::optional<DifferentCopy>> FindDifferentCopy(absl::Span<const LiteralSlice> shards,
                                                               const HloSharding& sharding, const Shape& whole) {
  const int64_t num_devices = static_cast<int64_t>(shards.size());
  KASHI_ASSIGN_OR_RETURN(const std::vector<Leaf> leaves, LeavesOf(whole, sharding, num_devices));
  KASHI_RETURN_IF_ERROR(CheckShards(shards, ShapeOfShard(whole, leaves)));
  for (const Leaf& leaf : leaves) {
    const std::vector<int64_t> holders = leaf.grid.FirstHolders();
    for (int64_t device = 0; device < num_devices; ++device) {
      const int64_t holder = holders[device];
      if (holder == device || !leaf.grid.Holds(device)) continue;
      KASHI_ASSIGN_OR_RETURN(const Literal a, ValidPart(LiteralSlice(shards[holder], leaf.index), leaf.grid, holder));
      KASHI_ASSIGN_OR_RETURN(const Literal b, ValidPart(LiteralSlice(shards[device], leaf.index), leaf.grid, device));
      if (!AreSameBytes(a, b)) return std::make_optional(DifferentCopy{device, holder, leaf.index});
    }
  }
  return std::nullopt;
}

}  // namespace kashi
