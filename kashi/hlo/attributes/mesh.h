// Devices in a named grid, and shardings by its axes: the third form of shardings and replica groups.
// (docs/spec/hlo.md, section 4)
//
//   mesh['x'=2,'y'=4]                                  8 devices, 0 .. 7 in row-major order
//   mesh['x'=2,'y'=4], device_ids=([4,2]T(1,0))        0 .. 7 laid out as [4,2], transposed
//   mesh['x'=2], device_ids=(1,0)                      an explicit list
//   maximal_mesh[device_id=3]                          one device
//   'y'    'y':(2)2                                    an axis; the part of it with size 2 after a part of size 2
//   [{'x'}, {'y', ?}], replicated={…}, unreduced={…}, manual={…}
//                                                      which axes shard each dimension; `?`: more may be added
//
// All classes are value types; copies of a Mesh share their data.
#ifndef KASHI_HLO_ATTRIBUTES_MESH_H_
#define KASHI_HLO_ATTRIBUTES_MESH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/base/printer.h"
#include "kashi/hlo/attributes/tile_assignment.h"
#include "kashi/hlo/attributes/xla_data.h"

namespace kashi {

class Mesh {
 public:
  Mesh() : Mesh({}, {}, std::nullopt, /*is_maximal=*/false) {}  // no axes: mesh[]
  // Pre: `axis_sizes` and `axis_names` are equally long. Checks nothing: see Validate.
  Mesh(std::vector<std::string> axis_names, std::vector<int64_t> axis_sizes)
      : Mesh(std::move(axis_names), std::move(axis_sizes), std::nullopt, /*is_maximal=*/false) {}
  Mesh(std::vector<std::string> axis_names, std::vector<int64_t> axis_sizes, TileAssignment devices)
      : Mesh(std::move(axis_names), std::move(axis_sizes), std::move(devices), /*is_maximal=*/false) {}
  static Mesh Maximal(int64_t device_id) { return Mesh({}, {}, TileAssignment(device_id), /*is_maximal=*/true); }

  // XLA's rules for a mesh: names differ, and an explicit list of devices is a permutation of 0 .. n-1, but not 0, 1,
  // ….
  absl::Status Validate() const;

  int64_t num_axes() const { return static_cast<int64_t>(rep_->axis_names.size()); }
  absl::Span<const std::string> axis_names() const { return rep_->axis_names; }
  const std::string& axis_name(int64_t i) const { return rep_->axis_names[i]; }
  absl::Span<const int64_t> axis_sizes() const { return rep_->axis_sizes; }
  int64_t axis_size(int64_t i) const { return rep_->axis_sizes[i]; }
  const TileAssignment& device_assignment() const { return rep_->devices; }
  bool IsMaximal() const { return rep_->is_maximal; }
  // Whether the devices are 0, 1, … in row-major order.
  bool IsIota() const { return rep_->devices.iota().has_value() && rep_->devices.iota()->reshape_dims().size() <= 1; }

  void Print(Printer* printer) const;
  std::string ToString() const;
  MeshProto ToProto() const;
  // Never dies. Errors: those of Validate, or lists that do not match.
  static absl::StatusOr<Mesh> FromProto(const MeshProto& proto);

  // Whether sizes and devices are equal; the names of axes do not count.
  bool DeviceAssignmentEquals(const Mesh& other) const {
    return axis_sizes() == other.axis_sizes() && IsMaximal() == other.IsMaximal() &&
           device_assignment() == other.device_assignment();
  }
  friend bool operator==(const Mesh& a, const Mesh& b) {
    return a.rep_ == b.rep_ || (a.axis_names() == b.axis_names() && a.DeviceAssignmentEquals(b));
  }
  friend bool operator!=(const Mesh& a, const Mesh& b) { return !(a == b); }
  template <typename H>
  friend H AbslHashValue(H h, const Mesh& mesh) {
    return H::combine(std::move(h), mesh.axis_names(), mesh.axis_sizes(), mesh.device_assignment());
  }

 private:
  struct Rep {
    std::vector<std::string> axis_names;
    std::vector<int64_t> axis_sizes;
    TileAssignment devices;  // its dimensions are axis_sizes; of a maximal mesh [1]
    bool is_maximal;
  };
  Mesh(std::vector<std::string> axis_names, std::vector<int64_t> axis_sizes, std::optional<TileAssignment> devices,
       bool is_maximal);

  std::shared_ptr<const Rep> rep_;
};

// An axis of a mesh, or a part of one. The axis is seen as an array [pre_size, size, rest]; the part is its middle
// dimension.
class AxisRef {
 public:
  struct SubAxis {
    int64_t pre_size;
    int64_t size;
    int64_t next_pre_size() const;  // pre_size * size, saturating
    friend bool operator==(const SubAxis& a, const SubAxis& b) { return a.pre_size == b.pre_size && a.size == b.size; }
  };
  explicit AxisRef(int64_t mesh_axis_index) : mesh_axis_index_(mesh_axis_index) {}
  AxisRef(int64_t mesh_axis_index, SubAxis sub_axis) : mesh_axis_index_(mesh_axis_index), sub_axis_(sub_axis) {}

  int64_t mesh_axis_index() const { return mesh_axis_index_; }
  const std::optional<SubAxis>& sub_axis_info() const { return sub_axis_; }
  int64_t size(const Mesh& mesh) const {
    return sub_axis_.has_value() ? sub_axis_->size : mesh.axis_size(mesh_axis_index_);
  }
  // Whether the axis exists and the part divides it.
  absl::Status Validate(const Mesh& mesh) const;

  void Print(Printer* printer, const Mesh& mesh) const;  // 'y' or 'y':(2)2; names are not escaped, as in XLA
  std::string ToString(const Mesh& mesh) const;
  AxisRefProto ToProto() const;
  static AxisRef FromProto(const AxisRefProto& proto);

  friend bool operator==(const AxisRef& a, const AxisRef& b) {
    return a.mesh_axis_index_ == b.mesh_axis_index_ && a.sub_axis_ == b.sub_axis_;
  }
  friend bool operator!=(const AxisRef& a, const AxisRef& b) { return !(a == b); }
  // Orders by axis, then by the place within the axis.
  friend bool operator<(const AxisRef& a, const AxisRef& b) { return a.SortKey() < b.SortKey(); }
  template <typename H>
  friend H AbslHashValue(H h, const AxisRef& axis) {
    const SubAxis part = axis.sub_axis_.value_or(SubAxis{0, 0});
    return H::combine(std::move(h), axis.mesh_axis_index_, part.pre_size, part.size);
  }

 private:
  std::pair<int64_t, int64_t> SortKey() const {
    return {mesh_axis_index_, sub_axis_.has_value() ? sub_axis_->pre_size : 1};
  }

  int64_t mesh_axis_index_;
  std::optional<SubAxis> sub_axis_;
};

// XLA's rules for the axes of one list: each is valid, no two overlap, and no two neighbours can be written as one.
absl::Status ValidateAxes(absl::Span<const AxisRef> axes, const Mesh& mesh);

// The devices of `mesh` in an array with one dimension for each list of axes, and a last dimension for the rest of the
// mesh. Axes must be valid, and each in at most one list. An error if more than `max_devices` devices would have to be
// listed, or if the mesh is not consistent (a size below 1, or a wrong number of devices).
absl::StatusOr<TileAssignment> DevicesByAxes(const Mesh& mesh, absl::Span<const std::vector<AxisRef>> lists,
                                             int64_t max_devices);

// The distribution of an array over a mesh. The array is replicated over axes that are not mentioned.
class NamedSharding {
 public:
  struct DimensionSharding {
    std::vector<AxisRef> axes;
    bool is_closed = true;  // false: `?`
    friend bool operator==(const DimensionSharding& a, const DimensionSharding& b) {
      return a.axes == b.axes && a.is_closed == b.is_closed;
    }
  };

  NamedSharding() = default;
  // Checks nothing: see Validate.
  explicit NamedSharding(Mesh mesh, std::vector<DimensionSharding> dim_shardings = {},
                         std::vector<AxisRef> replicated_axes = {}, std::vector<AxisRef> unreduced_axes = {},
                         std::vector<AxisRef> manual_axes = {}, std::vector<OpMetadata> metadata = {})
      : mesh_(std::move(mesh)),
        dim_shardings_(std::move(dim_shardings)),
        replicated_axes_(std::move(replicated_axes)),
        unreduced_axes_(std::move(unreduced_axes)),
        manual_axes_(std::move(manual_axes)),
        metadata_(std::move(metadata)) {}
  static NamedSharding Replicate(Mesh mesh) { return NamedSharding(std::move(mesh)); }
  static NamedSharding MaximalSharding(int64_t device_id) { return NamedSharding(Mesh::Maximal(device_id)); }

  // Checks that axes of each list are valid, no part of an axis is used twice, and all lists but dimensions are sorted.
  absl::Status Validate() const;

  const Mesh& mesh() const { return mesh_; }
  absl::Span<const DimensionSharding> dim_shardings() const { return dim_shardings_; }
  absl::Span<const AxisRef> replicated_axes() const { return replicated_axes_; }
  absl::Span<const AxisRef> unreduced_axes() const { return unreduced_axes_; }
  absl::Span<const AxisRef> manual_axes() const { return manual_axes_; }
  const std::vector<OpMetadata>& metadata() const { return metadata_; }
  std::vector<OpMetadata>& metadata() { return metadata_; }

  bool IsMaximal() const { return mesh_.IsMaximal(); }
  // Whether no axis has an effect.
  bool IsReplicated() const;
  // Whether the axes of that kind cover all devices; other axes can only have size 1.
  bool IsManual() const { return CoversMesh(manual_axes_); }
  bool IsUnreduced() const { return CoversMesh(unreduced_axes_); }

  void Print(Printer* printer, bool include_metadata = false) const;  // with braces
  NamedShardingProto ToProto() const;
  static absl::StatusOr<NamedSharding> FromProto(const NamedShardingProto& proto);

  // Ignores names, metadata and explicitly replicated axes, which have no effect. All replicated shardings are equal.
  friend bool operator==(const NamedSharding& a, const NamedSharding& b);

 private:
  bool CoversMesh(absl::Span<const AxisRef> axes) const;

  Mesh mesh_;
  std::vector<DimensionSharding> dim_shardings_;
  std::vector<AxisRef> replicated_axes_;
  std::vector<AxisRef> unreduced_axes_;
  std::vector<AxisRef> manual_axes_;
  std::vector<OpMetadata> metadata_;
};

}  // namespace kashi

#endif  // KASHI_HLO_ATTRIBUTES_MESH_H_
