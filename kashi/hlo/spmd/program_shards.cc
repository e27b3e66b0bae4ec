#include "kashi/hlo/spmd/program_shards.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/mesh.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/spmd/sdy_sharding.h"
#include "kashi/hlo/spmd/shard_grid.h"
#include "kashi/hlo/spmd/sharded_literal.h"

namespace kashi {

using hlo::SdyMeshes;
using hlo::SdyMeshesOf;
namespace {

absl::Status AtArgument(size_t i, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat("argument ", i, ": ", status.message()));
}

std::vector<LiteralSlice> ArgumentOfDevices(const std::vector<std::vector<Literal>>& by_device, size_t i) {
  std::vector<LiteralSlice> shards;
  for (const std::vector<Literal>& arguments : by_device) shards.emplace_back(arguments[i]);
  return shards;
}

absl::StatusOr<Literal> JoinArgument(absl::Span<const LiteralSlice> shards, const HloSharding& sharding,
                                     const Shape& whole) {
  KASHI_ASSIGN_OR_RETURN(const auto different, FindDifferentCopy(shards, sharding, whole));
  if (different.has_value()) {
    return InvalidArgument("%s; under %s they must be equal", different->ToString(), sharding.ToString());
  }
  return JoinLiterals(shards, sharding, whole);
}

// ---- Possible shardings ---------------------------------------------------------------------------------------------

// Tries all ways to assign each axis of a mesh to a dimension of an array, or to none.
class AxisChooser {
 public:
  AxisChooser(absl::Span<const int64_t> whole, absl::Span<const int64_t> shard, absl::Span<const int64_t> axes)
      : whole_(whole), shard_(shard), axes_(axes), choice_(axes.size(), kNone) {}

  std::vector<HloSharding> All() {
    Choose(0);
    return std::move(found_);
  }

 private:
  static constexpr int64_t kNone = -1;

  void Choose(size_t axis) {
    if (static_cast<int64_t>(found_.size()) >= kMostPossibleShardings || --steps_left_ < 0) return;
    if (axis == axes_.size()) {
      if (Fits()) Add();
      return;
    }
    for (int64_t d = 0; d < static_cast<int64_t>(whole_.size()); ++d) {
      choice_[axis] = d;
      Choose(axis + 1);
    }
    choice_[axis] = kNone;
    Choose(axis + 1);
  }

  int64_t TilesOf(int64_t d) const {
    int64_t tiles = 1;
    for (size_t axis = 0; axis < axes_.size(); ++axis) tiles *= choice_[axis] == d ? axes_[axis] : 1;
    return tiles;
  }

  bool Fits() const {
    for (size_t d = 0; d < whole_.size(); ++d) {
      if (CeilOfRatio(whole_[d], TilesOf(static_cast<int64_t>(d))) != shard_[d]) return false;
    }
    return true;
  }

  // The axes of each dimension in the order of the mesh, and in the opposite one where that is another.
  void Add() {
    std::vector<int> order;
    std::vector<int64_t> tile_dims;
    bool has_several = false;
    for (int64_t d = 0; d <= static_cast<int64_t>(whole_.size()); ++d) {
      const int64_t wanted = d < static_cast<int64_t>(whole_.size()) ? d : kNone;
      int64_t count = 0;
      for (size_t axis = 0; axis < axes_.size(); ++axis) {
        if (choice_[axis] != wanted) continue;
        order.push_back(static_cast<int>(axis));
        ++count;
      }
      has_several = has_several || (wanted != kNone && count > 1);
      tile_dims.push_back(TilesOf(wanted));
    }
    AddTiles(tile_dims, order);
    if (!has_several) return;
    size_t begin = 0;
    for (int64_t d = 0; d < static_cast<int64_t>(whole_.size()); ++d) {
      const auto end = std::count(choice_.begin(), choice_.end(), d) + begin;
      std::reverse(order.begin() + begin, order.begin() + end);
      begin = end;
    }
    AddTiles(tile_dims, order);
  }

  void AddTiles(const std::vector<int64_t>& tile_dims, const std::vector<int>& order) {
    found_.push_back(HloSharding::PartialTile(TileAssignment(tile_dims, axes_, order)));
  }

  const absl::Span<const int64_t> whole_;
  const absl::Span<const int64_t> shard_;
  const absl::Span<const int64_t> axes_;
  std::vector<int64_t> choice_;  // of each axis: a dimension, or kNone
  int64_t steps_left_ = 100000;
  std::vector<HloSharding> found_;
};

bool Fits(const HloSharding& sharding, absl::Span<const int64_t> whole, absl::Span<const int64_t> shard,
          int64_t num_devices) {
  const absl::StatusOr<ShardGrid> grid = ShardGrid::Make(sharding, whole, num_devices);
  return grid.ok() && grid->shard_dimensions() == shard;
}

int64_t ProductOf(absl::Span<const int64_t> sizes) { return SaturatingProduct(sizes); }

}  // namespace

absl::StatusOr<std::vector<std::vector<Literal>>> SplitArguments(const std::vector<Literal>& arguments,
                                                                 absl::Span<const HloSharding> shardings,
                                                                 int64_t num_devices) {
  if (arguments.size() != shardings.size()) {
    return InvalidArgument("there are %d arguments, but %d shardings", arguments.size(), shardings.size());
  }
  std::vector<std::vector<Literal>> by_device(num_devices);
  for (size_t i = 0; i < arguments.size(); ++i) {
    absl::StatusOr<std::vector<Literal>> shards = SplitLiteral(arguments[i], shardings[i], num_devices);
    if (!shards.ok()) return AtArgument(i, shards.status());
    for (int64_t device = 0; device < num_devices; ++device) by_device[device].push_back(std::move((*shards)[device]));
  }
  return by_device;
}

absl::StatusOr<std::vector<Shape>> ShardShapes(absl::Span<const Shape> wholes, absl::Span<const HloSharding> shardings,
                                               int64_t num_devices) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < wholes.size(); ++i) {
    absl::StatusOr<Shape> shape = ShardShape(wholes[i], shardings[i], num_devices);
    if (!shape.ok()) return AtArgument(i, shape.status());
    shapes.push_back(*std::move(shape));
  }
  return shapes;
}

absl::StatusOr<std::vector<Literal>> JoinArguments(const std::vector<std::vector<Literal>>& by_device,
                                                   absl::Span<const HloSharding> shardings,
                                                   absl::Span<const Shape> wholes) {
  for (size_t device = 0; device < by_device.size(); ++device) {
    if (by_device[device].size() == wholes.size() && wholes.size() == shardings.size()) continue;
    return InvalidArgument("device %d has %d arguments, but the program needs %d", device, by_device[device].size(),
                           wholes.size());
  }
  std::vector<Literal> arguments;
  for (size_t i = 0; i < wholes.size(); ++i) {
    absl::StatusOr<Literal> joined = JoinArgument(ArgumentOfDevices(by_device, i), shardings[i], wholes[i]);
    if (!joined.ok()) return AtArgument(i, joined.status());
    arguments.push_back(*std::move(joined));
  }
  return arguments;
}

std::vector<Shape> ParameterShapes(const HloModule& module) {
  std::vector<Shape> shapes;
  for (const HloInstruction* parameter : module.entry_computation()->parameter_instructions()) {
    shapes.push_back(parameter->shape());
  }
  return shapes;
}

absl::StatusOr<std::vector<Literal>> JoinEachCopy(absl::Span<const LiteralSlice> shards, const HloSharding& sharding,
                                                  const Shape& whole) {
  if (!whole.IsArray()) return InvalidArgument("only copies of arrays can be joined");
  const int64_t num_devices = static_cast<int64_t>(shards.size());
  KASHI_ASSIGN_OR_RETURN(const ShardGrid grid, ShardGrid::Make(sharding, whole.dimensions(), num_devices));
  std::map<int64_t, std::vector<int64_t>> copies;  // devices, by the first that holds the same part
  const std::vector<int64_t> holders = grid.FirstHolders();
  size_t most = 1;
  for (int64_t device = 0; device < num_devices; ++device) {
    if (!grid.Holds(device)) continue;
    copies[holders[device]].push_back(device);
    most = std::max(most, copies[holders[device]].size());
  }
  std::vector<Literal> joined;
  for (size_t copy = 0; copy < most; ++copy) {
    std::vector<LiteralSlice> chosen(shards.begin(), shards.end());
    for (const auto& [first, devices] : copies) chosen[first] = shards[devices[std::min(copy, devices.size() - 1)]];
    KASHI_ASSIGN_OR_RETURN(Literal array, JoinLiterals(chosen, sharding, whole));
    joined.push_back(std::move(array));
  }
  return joined;
}

std::vector<HloSharding> PossibleShardings(absl::Span<const int64_t> whole, absl::Span<const int64_t> shard,
                                           absl::Span<const int64_t> mesh_axes, int64_t num_devices,
                                           const std::optional<HloSharding>& known) {
  std::vector<HloSharding> possible;
  if (whole.size() != shard.size()) return possible;
  if (known.has_value() && Fits(*known, whole, shard, num_devices)) possible.push_back(*known);
  if (ProductOf(mesh_axes) != num_devices) return possible;
  if (whole == shard) possible.push_back(HloSharding::Replicate());
  for (HloSharding& sharding : AxisChooser(whole, shard, mesh_axes).All()) {
    if (std::find(possible.begin(), possible.end(), sharding) == possible.end())
      possible.push_back(std::move(sharding));
  }
  return possible;
}

// The finest sharding of a parameter, unless there is a mesh.
std::vector<int64_t> MeshAxesOf(const HloModule& module, int64_t num_devices) {
  std::vector<int64_t> best = {num_devices};
  const absl::StatusOr<SdyMeshes> meshes = SdyMeshesOf(module);
  if (meshes.ok()) {
    for (const auto& [name, mesh] : *meshes) {
      if (ProductOf(mesh.axis_sizes()) != num_devices) continue;
      return {mesh.axis_sizes().begin(), mesh.axis_sizes().end()};
    }
  }
  for (const HloInstruction* parameter : module.entry_computation()->parameter_instructions()) {
    if (!parameter->has_sharding() || !parameter->sharding().IsTiled() || parameter->sharding().IsTuple()) continue;
    const TileAssignment& tiles = parameter->sharding().tile_assignment();
    if (!tiles.iota().has_value()) continue;
    for (const absl::Span<const int64_t> sizes : {tiles.iota()->reshape_dims(), tiles.dimensions()}) {
      std::vector<int64_t> axes;
      std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(axes), [](int64_t size) { return size > 1; });
      if (ProductOf(axes) == num_devices && axes.size() > best.size()) best = std::move(axes);
    }
  }
  return best;
}

}  // namespace kashi
