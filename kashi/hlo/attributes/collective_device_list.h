// The devices that a collective operation joins: the attribute replica_groups. (docs/spec/hlo.md, section 4)
//
//   {{0,1},{2,3}}                     lists; `{}`: all devices in one group
//   [2,4]<=[4,2]T(1,0)                groups are the rows of an iota tile assignment
//   mesh['x'=2,'y'=4] {'x'}           groups run over the listed axes of a mesh
//
// A list prints in the form in which it was read. Ids are not checked here: the verifier does that.
#ifndef KASHI_HLO_ATTRIBUTES_COLLECTIVE_DEVICE_LIST_H_
#define KASHI_HLO_ATTRIBUTES_COLLECTIVE_DEVICE_LIST_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/lexer.h"
#include "kashi/base/diagnostic.h"
#include "kashi/base/printer.h"
#include "kashi/hlo/attributes/mesh.h"
#include "kashi/hlo/attributes/tile_assignment.h"
#include "kashi/hlo/attributes/xla_data.h"

namespace kashi {

// [num_replica_groups,num_devices_per_group]<=[reshape_dims]T(transpose_perm).
class IotaReplicaGroupList {
 public:
  IotaReplicaGroupList(int64_t num_replica_groups, int64_t num_devices_per_group)
      : IotaReplicaGroupList(IotaTileAssignment::Create({num_replica_groups, num_devices_per_group})) {}
  IotaReplicaGroupList(int64_t num_replica_groups, int64_t num_devices_per_group,
                       absl::Span<const int64_t> reshape_dims, absl::Span<const int> transpose_perm)
      : IotaReplicaGroupList(
            IotaTileAssignment::Create({num_replica_groups, num_devices_per_group}, reshape_dims, transpose_perm)) {}
  explicit IotaReplicaGroupList(IotaTileAssignment tile_assignment);  // of rank 2

  int64_t num_replica_groups() const { return tile_assignment_.dim(0); }
  int64_t num_devices_per_group() const { return tile_assignment_.dim(1); }
  absl::Span<const int64_t> reshape_dims() const { return tile_assignment_.reshape_dims(); }
  absl::Span<const int> transpose_perm() const { return tile_assignment_.transpose_perm(); }
  const IotaTileAssignment& tile_assignment() const { return tile_assignment_; }
  void Print(Printer* printer) const { tile_assignment_.Print(printer); }
  std::string ToString() const { return tile_assignment_.ToString(); }

  friend bool operator==(const IotaReplicaGroupList& a, const IotaReplicaGroupList& b) {
    return a.tile_assignment_ == b.tile_assignment_;
  }
  template <typename H>
  friend H AbslHashValue(H h, const IotaReplicaGroupList& list) {
    return H::combine(std::move(h), list.tile_assignment_.dims(), list.reshape_dims(), list.transpose_perm());
  }

 private:
  IotaTileAssignment tile_assignment_;
};

// mesh[…] {axes}. The devices of a group run over the axes in the order in which the text lists the axes.
class MeshAxesReplicaGroupList {
 public:
  //  An error if an axis does not exist or overlaps another, or if the groups would have fewer than two devices.
  static absl::StatusOr<MeshAxesReplicaGroupList> Create(Mesh mesh, std::vector<AxisRef> axes);

  const Mesh& mesh() const { return mesh_; }
  absl::Span<const AxisRef> axes() const { return axes_; }
  int64_t num_replica_groups() const;
  int64_t num_devices_per_group() const { return num_devices_per_group_; }
  void Print(Printer* printer) const;

  friend bool operator==(const MeshAxesReplicaGroupList& a, const MeshAxesReplicaGroupList& b) {
    return a.mesh_ == b.mesh_ && a.axes_ == b.axes_;
  }
  template <typename H>
  friend H AbslHashValue(H h, const MeshAxesReplicaGroupList& list) {
    return H::combine(std::move(h), list.mesh_, list.axes_);
  }

 private:
  MeshAxesReplicaGroupList(Mesh mesh, std::vector<AxisRef> axes, int64_t num_devices_per_group)
      : mesh_(std::move(mesh)), axes_(std::move(axes)), num_devices_per_group_(num_devices_per_group) {}

  Mesh mesh_;
  std::vector<AxisRef> axes_;
  int64_t num_devices_per_group_;
};

// A value of the size of two pointers: copies share what they hold.
class CollectiveDeviceList {
 public:
  CollectiveDeviceList();  // {}
  explicit CollectiveDeviceList(std::vector<ReplicaGroup> replica_groups);
  explicit CollectiveDeviceList(absl::Span<const ReplicaGroup> replica_groups)
      : CollectiveDeviceList(std::vector<ReplicaGroup>(replica_groups.begin(), replica_groups.end())) {}
  explicit CollectiveDeviceList(absl::Span<const std::vector<int64_t>> replica_groups);
  explicit CollectiveDeviceList(const IotaReplicaGroupList& iota);
  explicit CollectiveDeviceList(const MeshAxesReplicaGroupList& mesh_axes);

  // The list in this form; null if it has another form.
  const std::optional<IotaReplicaGroupList>& iota_replica_group_list() const;
  const std::optional<MeshAxesReplicaGroupList>& mesh_axes_replica_group_list() const;

  // Computed without making lists. num_devices_per_group of lists is the size of the first group.
  int64_t num_replica_groups() const;
  int64_t num_devices_per_group() const;

  // Whether replica_groups() may be called: not for forms that claim more than 2^24 devices, and not for `[2,4]<=[4]`.
  absl::Status CheckExpandable() const;
  // The groups as lists. The first call makes them, and any thread may make it.
  const std::vector<ReplicaGroup>& replica_groups() const;

  // If `print_full_replica_group_list`, prints lists where CheckExpandable allows it.
  void Print(Printer* printer, bool print_full_replica_group_list = false) const;
  std::string ToString(bool print_full_replica_group_list = false) const;

  // Compares the forms: lists do not equal an iota form of the same lists.
  friend bool operator==(const CollectiveDeviceList& a, const CollectiveDeviceList& b);
  friend bool operator!=(const CollectiveDeviceList& a, const CollectiveDeviceList& b) { return !(a == b); }
  template <typename H>
  friend H AbslHashValue(H h, const CollectiveDeviceList& list) {
    if (list.iota_replica_group_list().has_value()) return H::combine(std::move(h), *list.iota_replica_group_list());
    if (list.mesh_axes_replica_group_list().has_value()) {
      return H::combine(std::move(h), *list.mesh_axes_replica_group_list());
    }
    return H::combine(std::move(h), list.replica_groups());
  }

 private:
  struct Rep;
  std::vector<ReplicaGroup> Expand() const;

  std::shared_ptr<const Rep> rep_;
};

// `{{0,1},{2,3}}`.
std::string ReplicaGroupsToString(absl::Span<const ReplicaGroup> replica_groups);

// Reads from the lexer's current token to the last token of the list. On an error: returns nothing, and
// adds one entry to *diagnostics.
std::optional<CollectiveDeviceList> ParseCollectiveDeviceListPrefix(array::Lexer* lexer,
                                                                    std::vector<Diagnostic>* diagnostics);

// Reads the whole of `text`. The first function reads lists only.
absl::StatusOr<std::vector<ReplicaGroup>> ParseReplicaGroupsOnly(absl::string_view text);
absl::StatusOr<CollectiveDeviceList> ParseCollectiveDeviceListOnly(absl::string_view text);

}  // namespace kashi

#endif  // KASHI_HLO_ATTRIBUTES_COLLECTIVE_DEVICE_LIST_H_
