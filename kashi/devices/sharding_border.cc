#include "kashi/devices/sharding_border.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/mesh.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/spmd/sdy_sharding.h"
#include "kashi/literal/strided_walk.h"

namespace kashi::devices {
namespace {

constexpr absl::string_view kInShardings = "xla.sdy.in_shardings";
constexpr absl::string_view kOutShardings = "xla.sdy.out_shardings";
constexpr absl::string_view kManualAxes = "xla.sdy.manual_axes";

absl::Status ErrorAt(const HloInstruction& custom_call, const absl::Status& error) {
  return absl::Status(error.code(), absl::StrCat(custom_call.name(), ": ", error.message()));
}

// The shape of result i of a call that has one result for each operand.
const Shape& CallResultShape(const HloInstruction& custom_call, int64_t i) {
  return custom_call.shape().IsTuple() ? custom_call.shape().tuple_shapes(static_cast<int>(i)) : custom_call.shape();
}

absl::Status CheckShapes(const HloInstruction& custom_call) {
  const Shape& shape = custom_call.shape();
  const int64_t results = shape.IsTuple() ? shape.tuple_shapes_size() : 1;
  if (results != custom_call.operand_count()) {
    return InvalidArgument("%d operands cross the border of a manual region, but %d results are declared",
                           custom_call.operand_count(), results);
  }
  for (int64_t i = 0; i < results; ++i) {
    const Shape& from = custom_call.operand(i)->shape();
    const Shape& to = CallResultShape(custom_call, i);
    if (from.IsArray() && to.IsArray() && from.is_static() && to.is_static() && from.rank() == to.rank() &&
        from.element_type() == to.element_type()) {
      continue;
    }
    return InvalidArgument("%s cannot become %s at the border of a manual region", ShapeUtil::HumanString(from),
                           ShapeUtil::HumanString(to));
  }
  return absl::OkStatus();
}

absl::Status CheckPieces(const Shape& from_shape, const ShardGrid& from, const Shape& to_shape, const ShardGrid& to) {
  if (from.shard_dimensions() == to.shard_dimensions()) return absl::OkStatus();
  return InvalidArgument("each device holds [%s] of the operand, %s, and [%s] of the result, %s",
                         absl::StrJoin(from.shard_dimensions(), ","), ShapeUtil::HumanString(from_shape),
                         absl::StrJoin(to.shard_dimensions(), ","), ShapeUtil::HumanString(to_shape));
}

std::vector<int64_t> GroupsOf(const ShardGrid& grid) {
  std::vector<int64_t> groups(grid.num_devices());
  for (size_t device = 0; device < groups.size(); ++device) groups[device] = grid.GroupOf(device);
  return groups;
}

std::vector<int64_t> EachByItself(int64_t devices) {
  std::vector<int64_t> groups(devices);
  for (int64_t device = 0; device < devices; ++device) groups[device] = device;
  return groups;
}

absl::StatusOr<HloSharding> ShardingOf(const HloInstruction& instruction) {
  if (instruction.has_sharding()) return instruction.sharding();
  return InvalidArgument("%s has no sharding, so the part of each device is unknown", instruction.name());
}

// ---- Shardy's axes -------------------------------------------------------------------------------------------------

absl::StatusOr<std::string> AttributeOf(const HloInstruction& custom_call, absl::string_view name) {
  const auto& attributes = custom_call.frontend_attributes().map();
  const auto found = attributes.find(std::string(name));
  if (found != attributes.end()) return found->second;
  return InvalidArgument("it has no frontend attribute %s", name);
}

// The manual axes of a dimension. The compiler still handles the others, so the border ignores them.
std::vector<AxisRef> ManualPart(absl::Span<const AxisRef> axes, const Mesh& mesh,
                                const std::vector<std::string>& manual) {
  std::vector<AxisRef> part;
  for (const AxisRef& axis : axes) {
    const std::string& name = mesh.axis_name(axis.mesh_axis_index());
    if (std::find(manual.begin(), manual.end(), name) != manual.end()) part.push_back(axis);
  }
  return part;
}

absl::StatusOr<ShardGrid> GridOfAxes(const NamedSharding& sharding, const std::vector<std::string>& manual,
                                     absl::Span<const int64_t> dimensions, int64_t devices) {
  if (sharding.IsMaximal()) return InvalidArgument("a maximal mesh has no manual axes");
  KASHI_RETURN_IF_ERROR(sharding.Validate());
  if (sharding.dim_shardings().size() != dimensions.size()) {
    return InvalidArgument("its sharding has rank %d, but the array has rank %d", sharding.dim_shardings().size(),
                           dimensions.size());
  }
  std::vector<std::vector<AxisRef>> lists;
  for (const auto& dimension : sharding.dim_shardings()) {
    lists.push_back(ManualPart(dimension.axes, sharding.mesh(), manual));
  }
  KASHI_ASSIGN_OR_RETURN(const TileAssignment tiles, DevicesByAxes(sharding.mesh(), lists, ShardGrid::kMaxDevices));
  return ShardGrid::FromTiles(tiles, dimensions, devices);
}

// By device: its index along these axes, and that along all others.
struct PlacesOfDevices {
  std::vector<int64_t> along, across;
};
absl::StatusOr<PlacesOfDevices> PlacesAlong(const Mesh& mesh, const std::vector<AxisRef>& axes, int64_t devices) {
  const std::vector<std::vector<AxisRef>> lists = {axes};
  KASHI_ASSIGN_OR_RETURN(const TileAssignment tiles, DevicesByAxes(mesh, lists, ShardGrid::kMaxDevices));
  PlacesOfDevices places = {std::vector<int64_t>(devices, 0), std::vector<int64_t>(devices, 0)};
  tiles.Each([&](absl::Span<const int64_t> index, int64_t device) {
    if (device < 0 || device >= devices) return;
    places.along[device] = index[0];
    places.across[device] = index[1];
  });
  return places;
}

// Devices that differ only along the manual axes are in one group.
absl::StatusOr<std::vector<int64_t>> GroupsAlong(const Mesh& mesh, const std::vector<std::string>& manual,
                                                 int64_t devices) {
  std::vector<AxisRef> axes;
  for (int64_t axis = 0; axis < mesh.num_axes(); ++axis) {
    if (std::find(manual.begin(), manual.end(), mesh.axis_name(axis)) != manual.end()) axes.emplace_back(axis);
  }
  KASHI_ASSIGN_OR_RETURN(const PlacesOfDevices places, PlacesAlong(mesh, axes, devices));
  return places.across;
}

// The term of each device of the sum that an array is over the manual axes. Empty: it is none.
absl::StatusOr<std::vector<int64_t>> TermsAlong(const NamedSharding& sharding, const std::vector<std::string>& manual,
                                                int64_t devices) {
  const std::vector<AxisRef> axes = ManualPart(sharding.unreduced_axes(), sharding.mesh(), manual);
  if (axes.empty()) return std::vector<int64_t>();
  KASHI_ASSIGN_OR_RETURN(const PlacesOfDevices places, PlacesAlong(sharding.mesh(), axes, devices));
  return places.along;
}

// ---- Pieces --------------------------------------------------------------------------------------------------------

DimensionVector RowMajorStrides(absl::Span<const int64_t> dimensions) {
  DimensionVector strides(dimensions.size(), 1);
  for (size_t i = dimensions.size(); i-- > 1;) strides[i - 1] = strides[i] * dimensions[i];
  return strides;
}

int64_t PlaceOf(absl::Span<const int64_t> index, const DimensionVector& strides) {
  int64_t place = 0;
  for (size_t i = 0; i < index.size(); ++i) place += index[i] * strides[i];
  return place;
}

void CopyBox(const Value& from, absl::Span<const int64_t> from_index, Value* to, absl::Span<const int64_t> to_index,
             const DimensionVector& sizes) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return;
  const DimensionVector from_strides = RowMajorStrides(from.dimensions());
  const DimensionVector to_strides = RowMajorStrides(to->dimensions());
  const int bytes = from.element_bytes();
  literal::CopyStrided(sizes, bytes, {from.bytes() + PlaceOf(from_index, from_strides) * bytes, from_strides},
                       {to->mutable_bytes() + PlaceOf(to_index, to_strides) * bytes, to_strides});
}

}  // namespace

BorderKind BorderKindOf(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kCustomCall) return BorderKind::kNone;
  const std::string& target = instruction.custom_call_target();
  if (target == "SPMDFullToShardShape" || target == "xla.sdy.GlobalToLocalShape") return BorderKind::kIntoRegion;
  if (target == "SPMDShardToFullShape" || target == "xla.sdy.LocalToGlobalShape") return BorderKind::kOutOfRegion;
  return BorderKind::kNone;
}

absl::StatusOr<std::vector<ShardingBorder>> ShardingBorder::Make(const HloInstruction& custom_call,
                                                                 int64_t num_devices) {
  const bool has_axes = absl::StartsWith(custom_call.custom_call_target(), "xla.sdy.");
  if (const absl::Status shapes = CheckShapes(custom_call); !shapes.ok()) return ErrorAt(custom_call, shapes);
  absl::StatusOr<std::vector<ShardingBorder>> borders =
      has_axes ? MakeOfAxes(custom_call, num_devices) : MakeOfShardings(custom_call, num_devices);
  if (!borders.ok()) return ErrorAt(custom_call, borders.status());
  return borders;
}

absl::StatusOr<std::vector<ShardingBorder>> ShardingBorder::MakeOfShardings(const HloInstruction& custom_call,
                                                                            int64_t devices) {
  if (custom_call.operand_count() != 1) return InvalidArgument("%d operands", custom_call.operand_count());
  const Shape& from_shape = custom_call.operand(0)->shape();
  const Shape& to_shape = CallResultShape(custom_call, 0);
  KASHI_ASSIGN_OR_RETURN(const HloSharding from_sharding, ShardingOf(*custom_call.operand(0)));
  KASHI_ASSIGN_OR_RETURN(const HloSharding to_sharding, ShardingOf(custom_call));
  KASHI_ASSIGN_OR_RETURN(ShardGrid from, ShardGrid::Make(from_sharding, from_shape.dimensions(), devices));
  KASHI_ASSIGN_OR_RETURN(ShardGrid to, ShardGrid::Make(to_sharding, to_shape.dimensions(), devices));
  KASHI_RETURN_IF_ERROR(CheckPieces(from_shape, from, to_shape, to));
  std::vector<int64_t> groups = GroupsOf(to);
  std::vector<ShardingBorder> borders;
  borders.push_back(ShardingBorder(std::move(from), std::move(to), std::move(groups)));
  return borders;
}

absl::StatusOr<std::vector<ShardingBorder>> ShardingBorder::MakeOfAxes(const HloInstruction& custom_call,
                                                                       int64_t devices) {
  if (custom_call.GetModule() == nullptr) return InvalidArgument("it is not in a module, so its mesh is unknown");
  const bool is_into = BorderKindOf(custom_call) == BorderKind::kIntoRegion;
  KASHI_ASSIGN_OR_RETURN(const hlo::SdyMeshes meshes, hlo::SdyMeshesOf(*custom_call.GetModule()));
  KASHI_ASSIGN_OR_RETURN(const std::string axes_text, AttributeOf(custom_call, kManualAxes));
  KASHI_ASSIGN_OR_RETURN(const std::vector<std::string> manual, hlo::ParseSdyManualAxes(axes_text));
  KASHI_ASSIGN_OR_RETURN(const std::string text, AttributeOf(custom_call, is_into ? kInShardings : kOutShardings));
  KASHI_ASSIGN_OR_RETURN(const std::vector<NamedSharding> shardings, hlo::ParseSdyShardings(text, meshes));
  if (static_cast<int64_t>(shardings.size()) != custom_call.operand_count()) {
    return InvalidArgument("%d shardings for %d operands", shardings.size(), custom_call.operand_count());
  }
  std::vector<ShardingBorder> borders;
  for (int64_t i = 0; i < custom_call.operand_count(); ++i) {
    const Shape& from_shape = custom_call.operand(i)->shape();
    const Shape& to_shape = CallResultShape(custom_call, i);
    const Shape& whole_shape = is_into ? from_shape : to_shape;
    KASHI_ASSIGN_OR_RETURN(ShardGrid tiles, GridOfAxes(shardings[i], manual, whole_shape.dimensions(), devices));
    KASHI_ASSIGN_OR_RETURN(ShardGrid local, ShardGrid::Make(HloSharding::Manual(),
                                                            (is_into ? to_shape : from_shape).dimensions(), devices));
    std::vector<int64_t> groups = EachByItself(devices);
    if (!is_into) {
      KASHI_ASSIGN_OR_RETURN(groups, GroupsAlong(shardings[i].mesh(), manual, devices));
    }
    KASHI_ASSIGN_OR_RETURN(std::vector<int64_t> terms, TermsAlong(shardings[i], manual, devices));
    ShardGrid& from = is_into ? tiles : local;
    ShardGrid& to = is_into ? local : tiles;
    KASHI_RETURN_IF_ERROR(CheckPieces(from_shape, from, to_shape, to));
    borders.push_back(ShardingBorder(std::move(from), std::move(to), std::move(groups), std::move(terms)));
  }
  return borders;
}

int64_t ShardingBorder::terms() const {
  return terms_.empty() ? 1 : *std::max_element(terms_.begin(), terms_.end()) + 1;
}

std::vector<int64_t> ShardingBorder::MembersFor(int64_t device) const {
  std::vector<int64_t> members;
  for (size_t k = 0; k < groups_.size(); ++k) {
    if (groups_[k] == groups_[device]) members.push_back(static_cast<int64_t>(k));
  }
  return members;
}

// A device's own piece comes first: where several devices hold a copy, it uses its own.
absl::StatusOr<Value> ShardingBorder::Assemble(const std::shared_ptr<MemoryBudget>& memory, int64_t device,
                                               int64_t term,
                                               absl::FunctionRef<const Value&(int64_t device)> operand_of) const {
  std::vector<int64_t> members = MembersFor(device);
  std::swap(*std::find(members.begin(), members.end(), device), members.front());
  KASHI_ASSIGN_OR_RETURN(DenseShape shape, MakeCheckedDenseShape(operand_of(device).element_type(), to_.dimensions()));
  KASHI_ASSIGN_OR_RETURN(Value result, Value::MakeArray(std::move(shape), memory));
  std::memset(result.mutable_bytes(), 0, static_cast<size_t>(result.byte_count()));
  std::set<std::vector<int64_t>> placed;
  for (const int64_t member : members) {
    const absl::Span<const int64_t> place = to_.OffsetsOf(member);
    if (!from_.Holds(member) || !to_.Holds(member) || TermOf(member) != term) continue;
    if (!placed.insert({place.begin(), place.end()}).second) continue;
    DimensionVector sizes = to_.SizesOf(member);
    const DimensionVector given = from_.SizesOf(member);
    for (size_t i = 0; i < sizes.size(); ++i) sizes[i] = std::min(sizes[i], given[i]);
    CopyBox(operand_of(member), from_.OffsetsOf(member), &result, place, sizes);
  }
  return result;
}

}  // namespace kashi::devices
