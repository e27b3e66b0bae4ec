#include "kashi/hlo/attributes/mesh.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "kashi/base/check.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/metadata_text.h"

namespace kashi {

using hlo::PrintMetadata;
namespace {

constexpr int64_t kInt64Max = std::numeric_limits<int64_t>::max();

void PrintAxes(Printer* printer, absl::Span<const AxisRef> axes, const Mesh& mesh) {
  AppendJoin(printer, axes, ", ", [&](Printer* out, const AxisRef& axis) { axis.Print(out, mesh); });
}

void PrintAxisList(Printer* printer, absl::string_view label, absl::Span<const AxisRef> axes, const Mesh& mesh) {
  if (axes.empty()) return;
  printer->Append(label);
  PrintAxes(printer, axes, mesh);
  printer->Append("}");
}

absl::Status ValidateDeviceList(const TileAssignment& devices) {
  const int64_t count = devices.num_elements();
  std::vector<bool> seen(count);
  bool is_iota = true;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t device = devices.AtLinearIndex(i);
    if (device < 0 || device >= count || seen[device]) {
      return InvalidArgument(
          "the device ids of a mesh must be a permutation of 0 .. %d; %d is not in it or not for the first"
          " time",
          count - 1, device);
    }
    seen[device] = true;
    is_iota = is_iota && device == i;
  }
  if (is_iota) return InvalidArgument("device ids 0, 1, 2, … in this order must not be written");
  return absl::OkStatus();
}

// Sorts a copy: the parts of one axis are then in order, and each must begin at the end of the previous part or later.
absl::Status ValidateNoOverlap(std::vector<AxisRef> axes, const Mesh& mesh) {
  std::sort(axes.begin(), axes.end());
  for (size_t i = 0; i + 1 < axes.size(); ++i) {
    const AxisRef &a = axes[i], &b = axes[i + 1];
    if (a.mesh_axis_index() != b.mesh_axis_index()) continue;
    if (a.sub_axis_info().has_value() && b.sub_axis_info().has_value() &&
        b.sub_axis_info()->pre_size % a.sub_axis_info()->next_pre_size() == 0) {
      continue;
    }
    return InvalidArgumentStrCat("axes ", a.ToString(mesh), " and ", b.ToString(mesh), " overlap or cannot coexist");
  }
  return absl::OkStatus();
}

absl::Status ValidateSorted(absl::Span<const AxisRef> axes, absl::string_view what) {
  if (std::is_sorted(axes.begin(), axes.end())) return absl::OkStatus();
  return InvalidArgumentStrCat(what, " axes must be sorted by the mesh's order and the place within an axis");
}

}  // namespace

// ---------------------------------------------------------------------------------------------------------------------
// Mesh
// ---------------------------------------------------------------------------------------------------------------------

Mesh::Mesh(std::vector<std::string> axis_names, std::vector<int64_t> axis_sizes, std::optional<TileAssignment> devices,
           bool is_maximal) {
  if (!devices.has_value()) devices = TileAssignment(absl::Span<const int64_t>(axis_sizes));
  rep_ =
      std::make_shared<const Rep>(Rep{std::move(axis_names), std::move(axis_sizes), *std::move(devices), is_maximal});
}

absl::Status Mesh::Validate() const {
  absl::flat_hash_set<absl::string_view> names;
  for (const std::string& name : axis_names()) {
    if (!names.insert(name).second) return InvalidArgumentStrCat("a mesh with two axes '", name, "'");
  }
  if (IsMaximal() || device_assignment().iota().has_value()) return absl::OkStatus();
  return ValidateDeviceList(device_assignment());
}

void Mesh::Print(Printer* printer) const {
  if (IsMaximal()) return AppendCat(printer, "maximal_mesh[device_id=", device_assignment().first(), "]");
  printer->Append("mesh[");
  for (int64_t i = 0; i < num_axes(); ++i) AppendCat(printer, i == 0 ? "'" : ",'", axis_name(i), "'=", axis_size(i));
  printer->Append("]");
  if (IsIota()) return;
  printer->Append(", device_ids=(");
  if (const auto& iota = device_assignment().iota()) {
    printer->Append("[");
    printer->AppendInt64List(iota->reshape_dims(), /*leading_comma=*/false);
    printer->Append("]T(");
    AppendJoin(printer, iota->transpose_perm(), ",");
    printer->Append(")");
  } else {
    const Array<int64_t>& list = device_assignment().array();
    printer->AppendInt64List(absl::MakeConstSpan(list.begin(), list.num_elements()), /*leading_comma=*/false);
  }
  printer->Append(")");
}

std::string Mesh::ToString() const {
  StringPrinter printer;
  Print(&printer);
  return std::move(printer).ToString();
}

MeshProto Mesh::ToProto() const {
  MeshProto proto;
  for (int64_t i = 0; i < num_axes(); ++i) {
    MeshProto::MeshAxis* axis = proto.add_axes();
    axis->set_name(axis_name(i));
    axis->set_size(axis_size(i));
  }
  if (IsMaximal()) {
    proto.add_device_ids(device_assignment().first());
  } else if (!device_assignment().iota().has_value()) {
    const Array<int64_t>& list = device_assignment().array();
    proto.mutable_device_ids()->Add(list.begin(), list.end());
  } else if (!IsIota()) {
    const IotaTileAssignment& iota = *device_assignment().iota();
    MeshProto::IotaTransform* transform = proto.mutable_iota_transform();
    transform->mutable_reshape_dims()->Add(iota.reshape_dims().begin(), iota.reshape_dims().end());
    transform->mutable_transpose_perm()->Add(iota.transpose_perm().begin(), iota.transpose_perm().end());
  }
  return proto;
}

absl::StatusOr<Mesh> Mesh::FromProto(const MeshProto& proto) {
  std::vector<std::string> names;
  std::vector<int64_t> sizes;
  for (const MeshProto::MeshAxis& axis : proto.axes()) {
    names.push_back(axis.name());
    sizes.push_back(axis.size());
  }
  if (proto.axes().empty() && proto.device_ids_size() == 1) return Maximal(proto.device_ids(0));
  Mesh mesh(names, sizes);
  if (proto.has_iota_transform()) {
    std::vector<int> perm(proto.iota_transform().transpose_perm().begin(),
                          proto.iota_transform().transpose_perm().end());
    std::optional<IotaTileAssignment> iota =
        IotaTileAssignment::TryCreate(sizes, proto.iota_transform().reshape_dims(), perm);
    if (!iota.has_value()) return InvalidArgument("the dimensions of the mesh's iota_transform are invalid");
    mesh = Mesh(std::move(names), std::move(sizes), TileAssignment(*std::move(iota)));
  } else if (!proto.device_ids().empty()) {
    if (SaturatingProduct(sizes) != proto.device_ids_size()) {
      return InvalidArgument("%d device ids for a mesh of %d", proto.device_ids_size(), SaturatingProduct(sizes));
    }
    for (int64_t size : sizes) {
      if (size < 1) return InvalidArgument("a mesh with device ids and an axis of size %d", size);
    }
    auto list = std::make_shared<Array<int64_t>>(sizes);
    std::copy(proto.device_ids().begin(), proto.device_ids().end(), list->begin());
    mesh = Mesh(std::move(names), std::move(sizes), TileAssignment(std::move(list)));
  }
  KASHI_RETURN_IF_ERROR(mesh.Validate());
  return mesh;
}

// ---------------------------------------------------------------------------------------------------------------------
// AxisRef
// ---------------------------------------------------------------------------------------------------------------------

int64_t AxisRef::SubAxis::next_pre_size() const { return CheckedMultiply(pre_size, size).value_or(kInt64Max); }

absl::Status AxisRef::Validate(const Mesh& mesh) const {
  if (mesh_axis_index_ < 0 || mesh_axis_index_ >= mesh.num_axes()) {
    return InvalidArgument("a mesh of %d axes has no axis %d", mesh.num_axes(), mesh_axis_index_);
  }
  if (!sub_axis_.has_value()) return absl::OkStatus();
  const int64_t axis_size = mesh.axis_size(mesh_axis_index_);
  const char* problem = nullptr;
  if (sub_axis_->pre_size < 1) {
    problem = "the pre_size must be 1 or more";
  } else if (sub_axis_->size < 2) {
    problem = "its size must be 2 or more";
  } else if (sub_axis_->size >= axis_size) {
    problem = "it must be less than the whole axis";
  } else if (axis_size % sub_axis_->next_pre_size() != 0) {
    problem = "the product of the two sizes must divide the axis";
  }
  if (problem == nullptr) return absl::OkStatus();
  return InvalidArgumentStrCat("part ", ToString(mesh), " of an axis of size ", axis_size, ": ", problem);
}

void AxisRef::Print(Printer* printer, const Mesh& mesh) const {
  AppendCat(printer, "'", mesh.axis_name(mesh_axis_index_), "'");
  if (sub_axis_.has_value()) AppendCat(printer, ":(", sub_axis_->pre_size, ")", sub_axis_->size);
}

std::string AxisRef::ToString(const Mesh& mesh) const {
  StringPrinter printer;
  Print(&printer, mesh);
  return std::move(printer).ToString();
}

AxisRefProto AxisRef::ToProto() const {
  AxisRefProto proto;
  proto.set_mesh_axis_index(mesh_axis_index_);
  if (sub_axis_.has_value()) {
    proto.mutable_sub_axis_info()->set_pre_size(sub_axis_->pre_size);
    proto.mutable_sub_axis_info()->set_size(sub_axis_->size);
  }
  return proto;
}

AxisRef AxisRef::FromProto(const AxisRefProto& proto) {
  if (!proto.has_sub_axis_info()) return AxisRef(proto.mesh_axis_index());
  return AxisRef(proto.mesh_axis_index(), {proto.sub_axis_info().pre_size(), proto.sub_axis_info().size()});
}

absl::Status ValidateAxes(absl::Span<const AxisRef> axes, const Mesh& mesh) {
  for (const AxisRef& axis : axes) KASHI_RETURN_IF_ERROR(axis.Validate(mesh));
  for (size_t i = 0; i + 1 < axes.size(); ++i) {
    const AxisRef &a = axes[i], &b = axes[i + 1];
    if (a.mesh_axis_index() == b.mesh_axis_index() && a.sub_axis_info().has_value() && b.sub_axis_info().has_value() &&
        b.sub_axis_info()->pre_size == a.sub_axis_info()->next_pre_size()) {
      return InvalidArgumentStrCat(a.ToString(mesh), " and ", b.ToString(mesh), " must be written as one");
    }
  }
  return ValidateNoOverlap({axes.begin(), axes.end()}, mesh);
}

// Every axis is cut at the borders of its parts: axis 12 with parts (1)2 and (6)2 is seen as 2, 3, 2. The cut mesh is
// transposed so that the pieces of each list are adjacent.
absl::StatusOr<TileAssignment> DevicesByAxes(const Mesh& mesh, absl::Span<const std::vector<AxisRef>> lists,
                                             int64_t max_devices) {
  std::vector<AxisRef> used;
  for (const std::vector<AxisRef>& axes : lists) used.insert(used.end(), axes.begin(), axes.end());
  std::sort(used.begin(), used.end());

  DimensionVector piece_sizes;
  std::vector<int> rest;           // pieces that no list names
  std::vector<int> piece_of_used;  // of used[i]
  auto next = used.begin();
  for (int64_t axis = 0; axis < mesh.num_axes(); ++axis) {
    const int64_t axis_size = mesh.axis_size(axis);
    if (axis_size < 1) return InvalidArgument("%s has an axis of size %d", mesh.ToString(), axis_size);
    int64_t done = 1;  // the product of the pieces so far
    const auto add_rest = [&](int64_t until) {
      if (until == done) return;
      rest.push_back(static_cast<int>(piece_sizes.size()));
      piece_sizes.push_back(until / done);
      done = until;
    };
    bool whole = false;
    for (; next != used.end() && next->mesh_axis_index() == axis; ++next) {
      const AxisRef::SubAxis part = next->sub_axis_info().value_or(AxisRef::SubAxis{1, axis_size});
      whole = !next->sub_axis_info().has_value();
      add_rest(part.pre_size);
      piece_of_used.push_back(static_cast<int>(piece_sizes.size()));
      piece_sizes.push_back(part.size);
      done = part.next_pre_size();
    }
    if (!whole) add_rest(axis_size);
  }

  std::vector<int> perm;
  DimensionVector dims;
  for (const std::vector<AxisRef>& axes : lists) {
    int64_t size = 1;
    for (const AxisRef& axis : axes) {
      const size_t i = std::lower_bound(used.begin(), used.end(), axis) - used.begin();
      perm.push_back(piece_of_used[i]);
      size = SaturatingProduct({size, axis.size(mesh)});
    }
    dims.push_back(size);
  }
  dims.push_back(1);
  for (int piece : rest) {
    perm.push_back(piece);
    dims.back() = SaturatingProduct({dims.back(), piece_sizes[piece]});
  }
  const TileAssignment& devices = mesh.device_assignment();
  if (SaturatingProduct(piece_sizes) == kInt64Max || SaturatingProduct(piece_sizes) != devices.num_elements()) {
    return InvalidArgumentStrCat(mesh.ToString(), " has too many devices");
  }
  KASHI_ASSIGN_OR_RETURN(TileAssignment by_piece, devices.Reshape(piece_sizes).TryTranspose(perm, max_devices));
  return by_piece.Reshape(dims);
}

// ---------------------------------------------------------------------------------------------------------------------
// NamedSharding
// ---------------------------------------------------------------------------------------------------------------------

absl::Status NamedSharding::Validate() const {
  KASHI_RETURN_IF_ERROR(mesh_.Validate());
  std::vector<AxisRef> all;
  const auto add = [&](absl::Span<const AxisRef> axes) {
    all.insert(all.end(), axes.begin(), axes.end());
    return ValidateAxes(axes, mesh_);
  };
  for (const DimensionSharding& dimension : dim_shardings_) KASHI_RETURN_IF_ERROR(add(dimension.axes));
  KASHI_RETURN_IF_ERROR(add(replicated_axes_));
  KASHI_RETURN_IF_ERROR(add(unreduced_axes_));
  KASHI_RETURN_IF_ERROR(add(manual_axes_));
  KASHI_RETURN_IF_ERROR(ValidateSorted(replicated_axes_, "replicated"));
  KASHI_RETURN_IF_ERROR(ValidateSorted(unreduced_axes_, "unreduced"));
  KASHI_RETURN_IF_ERROR(ValidateSorted(manual_axes_, "manual"));
  return ValidateNoOverlap(std::move(all), mesh_);
}

bool NamedSharding::IsReplicated() const {
  if (IsMaximal() || !unreduced_axes_.empty() || !manual_axes_.empty()) return false;
  for (const DimensionSharding& dimension : dim_shardings_) {
    for (const AxisRef& axis : dimension.axes) {
      if (axis.size(mesh_) != 1) return false;
    }
  }
  return true;
}

bool NamedSharding::CoversMesh(absl::Span<const AxisRef> axes) const {
  DimensionVector sizes;
  for (const AxisRef& axis : axes) sizes.push_back(axis.size(mesh_));
  return !IsMaximal() && !axes.empty() && SaturatingProduct(sizes) == SaturatingProduct(mesh_.axis_sizes());
}

void NamedSharding::Print(Printer* printer, bool include_metadata) const {
  printer->Append("{");
  mesh_.Print(printer);
  const bool has_no_axes = replicated_axes_.empty() && unreduced_axes_.empty() && manual_axes_.empty();
  if (IsMaximal()) {
    // The mesh is the whole text.
  } else if (dim_shardings_.empty() && has_no_axes) {
    printer->Append(", replicated");
  } else if (dim_shardings_.empty() && IsUnreduced()) {
    printer->Append(", unreduced");
  } else if (dim_shardings_.empty() && IsManual()) {
    printer->Append(", manual");
  } else {
    printer->Append(", [");
    AppendJoin(printer, dim_shardings_, ", ", [&](Printer* out, const DimensionSharding& dimension) {
      out->Append("{");
      PrintAxes(out, dimension.axes, mesh_);
      if (!dimension.is_closed) out->Append(dimension.axes.empty() ? "?" : ", ?");
      out->Append("}");
    });
    printer->Append("]");
    PrintAxisList(printer, ", replicated={", replicated_axes_, mesh_);
    PrintAxisList(printer, ", unreduced={", unreduced_axes_, mesh_);
    PrintAxisList(printer, ", manual={", manual_axes_, mesh_);
  }
  if (include_metadata && !metadata_.empty()) {
    printer->Append(", metadata={");
    AppendJoin(printer, metadata_, ", ",
               [](Printer* out, const OpMetadata& metadata) { PrintMetadata(out, metadata); });
    printer->Append("}");
  }
  printer->Append("}");
}

NamedShardingProto NamedSharding::ToProto() const {
  NamedShardingProto proto;
  *proto.mutable_mesh() = mesh_.ToProto();
  for (const DimensionSharding& dimension : dim_shardings_) {
    NamedShardingProto::DimensionSharding* out = proto.add_dim_shardings();
    for (const AxisRef& axis : dimension.axes) *out->add_axes() = axis.ToProto();
    out->set_is_closed(dimension.is_closed);
  }
  for (const AxisRef& axis : replicated_axes_) *proto.add_replicated_axes() = axis.ToProto();
  for (const AxisRef& axis : unreduced_axes_) *proto.add_unreduced_axes() = axis.ToProto();
  for (const AxisRef& axis : manual_axes_) *proto.add_manual_axes() = axis.ToProto();
  for (const OpMetadata& metadata : metadata_) *proto.add_metadata() = metadata;
  return proto;
}

absl::StatusOr<NamedSharding> NamedSharding::FromProto(const NamedShardingProto& proto) {
  KASHI_ASSIGN_OR_RETURN(Mesh mesh, Mesh::FromProto(proto.mesh()));
  const auto read = [](const RepeatedPtrField<AxisRefProto>& protos) {
    std::vector<AxisRef> axes;
    for (const AxisRefProto& axis : protos) axes.push_back(AxisRef::FromProto(axis));
    return axes;
  };
  std::vector<DimensionSharding> dimensions;
  for (const NamedShardingProto::DimensionSharding& dimension : proto.dim_shardings()) {
    dimensions.push_back({read(dimension.axes()), dimension.is_closed()});
  }
  NamedSharding sharding(std::move(mesh), std::move(dimensions), read(proto.replicated_axes()),
                         read(proto.unreduced_axes()), read(proto.manual_axes()),
                         {proto.metadata().begin(), proto.metadata().end()});
  KASHI_RETURN_IF_ERROR(sharding.Validate());
  return sharding;
}

bool operator==(const NamedSharding& a, const NamedSharding& b) {
  if (a.IsReplicated() && b.IsReplicated()) return true;
  return a.mesh_.DeviceAssignmentEquals(b.mesh_) && a.dim_shardings_ == b.dim_shardings_ &&
         a.unreduced_axes_ == b.unreduced_axes_ && a.manual_axes_ == b.manual_axes_;
}

}  // namespace kashi
