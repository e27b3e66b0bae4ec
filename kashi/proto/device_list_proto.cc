#include "kashi/proto/device_list_proto.h"

#include <optional>
#include <utility>
#include <vector>

#include "kashi/base/status.h"
#include "kashi/proto/records_proto.h"

namespace kashi::proto::proto_internal {
namespace {

template <typename List>
absl::StatusOr<CollectiveDeviceList> ReadLists(const List& groups) {
  std::vector<ReplicaGroup> read(groups.size());
  for (int i = 0; i < groups.size(); ++i) KASHI_RETURN_IF_ERROR(FromWire(groups[i], &read[i]));
  return read.empty() ? CollectiveDeviceList() : CollectiveDeviceList(std::move(read));
}

absl::StatusOr<CollectiveDeviceList> ReadIota(const IotaReplicaGroupListProto& proto) {
  const int64_t dimensions[] = {proto.num_replica_groups(), proto.num_devices_per_group()};
  std::optional<IotaTileAssignment> tiles =
      IotaTileAssignment::TryCreate(dimensions, proto.iota_reshape_dims(), proto.iota_transpose_perm());
  if (!tiles.has_value()) return InvalidArgument("iota_collective_device_list: the dimensions do not match");
  return CollectiveDeviceList(IotaReplicaGroupList(*std::move(tiles)));
}

absl::StatusOr<CollectiveDeviceList> ReadMeshAxes(const MeshAxesReplicaGroupListProto& proto) {
  MeshProto mesh_record;
  KASHI_RETURN_IF_ERROR(FromWire(proto.mesh(), &mesh_record));
  KASHI_ASSIGN_OR_RETURN(Mesh mesh, Mesh::FromProto(mesh_record));
  std::vector<AxisRef> axes;
  for (const wire::AxisRefProto& message : proto.axes()) {
    AxisRefProto axis;
    KASHI_RETURN_IF_ERROR(FromWire(message, &axis));
    axes.push_back(AxisRef::FromProto(axis));
  }
  KASHI_ASSIGN_OR_RETURN(const MeshAxesReplicaGroupList list,
                         MeshAxesReplicaGroupList::Create(std::move(mesh), std::move(axes)));
  return CollectiveDeviceList(list);
}

}  // namespace

absl::StatusOr<CollectiveDeviceList> ReadDeviceList(const HloInstructionProto& proto) {
  switch (proto.replica_group_list_case()) {
    case HloInstructionProto::kCollectiveDeviceList:
      return ReadLists(proto.collective_device_list().replica_groups());
    case HloInstructionProto::kIotaCollectiveDeviceList:
      return ReadIota(proto.iota_collective_device_list());
    case HloInstructionProto::kMeshAxesReplicaGroupList:
      return ReadMeshAxes(proto.mesh_axes_replica_group_list());
    case HloInstructionProto::REPLICA_GROUP_LIST_NOT_SET:
      break;
  }
  return ReadLists(proto.replica_groups());
}

void WriteDeviceList(const CollectiveDeviceList& devices, HloInstructionProto* proto) {
  if (const auto& iota = devices.iota_replica_group_list()) {
    IotaReplicaGroupListProto* message = proto->mutable_iota_collective_device_list();
    message->set_num_replica_groups(iota->num_replica_groups());
    message->set_num_devices_per_group(iota->num_devices_per_group());
    message->mutable_iota_reshape_dims()->Add(iota->reshape_dims().begin(), iota->reshape_dims().end());
    message->mutable_iota_transpose_perm()->Add(iota->transpose_perm().begin(), iota->transpose_perm().end());
  } else if (const auto& mesh_axes = devices.mesh_axes_replica_group_list()) {
    MeshAxesReplicaGroupListProto* message = proto->mutable_mesh_axes_replica_group_list();
    ToWire(mesh_axes->mesh().ToProto(), message->mutable_mesh());
    for (const AxisRef& axis : mesh_axes->axes()) ToWire(axis.ToProto(), message->add_axes());
  } else {
    CollectiveDeviceListProto* message = proto->mutable_collective_device_list();
    for (const ReplicaGroup& group : devices.replica_groups()) ToWire(group, message->add_replica_groups());
  }
}

}  // namespace kashi::proto::proto_internal
