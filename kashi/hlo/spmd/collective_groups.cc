#include "kashi/hlo/spmd/collective_groups.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "kashi/base/check.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_opcode.h"

namespace kashi {
namespace {

// The objects that the ids of a mode number, and how many there are.
struct Ids {
  const char* noun;
  int64_t count;
  int64_t own;  // the device's
};

Ids IdsOf(CollectiveGroupMode mode, DeviceCounts counts, int64_t device) {
  switch (mode) {
    case CollectiveGroupMode::kCrossReplica:
    case CollectiveGroupMode::kCrossReplicaAndPartition:
      return {"replica", counts.replicas, device / counts.partitions};
    case CollectiveGroupMode::kCrossPartition:
      return {"partition", counts.partitions, device % counts.partitions};
    case CollectiveGroupMode::kFlattenedId:
      return {"device", counts.total(), device};
  }
  KASHI_CHECK(false) << "unknown mode";
}

std::vector<int64_t> AllIds(int64_t count) {
  std::vector<int64_t> ids(count);
  for (int64_t i = 0; i < count; ++i) ids[i] = i;
  return ids;
}

// The group that has the device's own id.
absl::StatusOr<std::vector<int64_t>> FindGroup(absl::Span<const ReplicaGroup> groups, const Ids& ids) {
  const ReplicaGroup* found = nullptr;
  for (const ReplicaGroup& group : groups) {
    for (const int64_t id : group.replica_ids()) {
      if (id < 0 || id >= ids.count) {
        return InvalidArgument("its groups name %s %d, but the ids are 0 to %d", ids.noun, id, ids.count - 1);
      }
      if (id != ids.own) continue;
      if (found != nullptr) return InvalidArgument("%s %d appears twice in its groups", ids.noun, id);
      found = &group;
    }
  }
  if (found == nullptr) return NotFound("%s %d doesn't appear in its groups", ids.noun, ids.own);
  return std::vector<int64_t>(found->replica_ids().begin(), found->replica_ids().end());
}

std::vector<int64_t> DevicesOf(CollectiveGroupMode mode, const std::vector<int64_t>& ids, DeviceCounts counts,
                               int64_t device) {
  std::vector<int64_t> devices;
  for (const int64_t id : ids) {
    switch (mode) {
      case CollectiveGroupMode::kCrossReplica:
        devices.push_back(id * counts.partitions + device % counts.partitions);
        break;
      case CollectiveGroupMode::kCrossPartition:
        devices.push_back(device - device % counts.partitions + id);
        break;
      case CollectiveGroupMode::kCrossReplicaAndPartition:
        for (int64_t p = 0; p < counts.partitions; ++p) devices.push_back(id * counts.partitions + p);
        break;
      case CollectiveGroupMode::kFlattenedId:
        devices.push_back(id);
        break;
    }
  }
  return devices;
}

}  // namespace

std::string DeviceCounts::ToString() const {
  const auto count = [](int64_t n, absl::string_view noun) { return absl::StrCat(n, " ", noun, n == 1 ? "" : "s"); };
  if (replicas == 1 && partitions == 1) return "1 device";
  return absl::StrCat(count(total(), "device"), " (", count(replicas, "replica"), " of ",
                      count(partitions, "partition"), ")");
}

absl::string_view CollectiveGroupModeName(CollectiveGroupMode mode) {
  switch (mode) {
    case CollectiveGroupMode::kCrossReplica:
      return "cross_replica";
    case CollectiveGroupMode::kCrossPartition:
      return "cross_partition";
    case CollectiveGroupMode::kCrossReplicaAndPartition:
      return "cross_replica_and_partition";
    case CollectiveGroupMode::kFlattenedId:
      return "flattened_id";
  }
  KASHI_CHECK(false) << "unknown mode";
}

absl::StatusOr<CollectiveGroupMode> GetCollectiveGroupMode(const HloInstruction& collective) {
  const bool is_global = collective.use_global_device_ids();
  if (!collective.fields().Has(HloField::channel_id)) {
    if (is_global) return InvalidArgument("Cannot have use_global_device_ids=true without channel_id");
    return CollectiveGroupMode::kCrossReplica;
  }
  const bool can_be_global = absl::c_any_of(
      GetHloOpcodeInfo(collective.opcode()).attributes,
      [](const HloOpcodeAttribute& entry) { return entry.attribute == HloAttribute::use_global_device_ids; });
  if (!can_be_global) return CollectiveGroupMode::kCrossPartition;
  return is_global ? CollectiveGroupMode::kFlattenedId : CollectiveGroupMode::kCrossReplicaAndPartition;
}

absl::StatusOr<std::vector<int64_t>> CollectiveGroupOf(CollectiveGroupMode mode, absl::Span<const ReplicaGroup> groups,
                                                       DeviceCounts counts, int64_t device) {
  KASHI_CHECK(device >= 0 && device < counts.total());
  const Ids ids = IdsOf(mode, counts, device);
  if (!groups.empty()) {
    KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> group, FindGroup(groups, ids));
    return DevicesOf(mode, group, counts, device);
  }
  if (mode == CollectiveGroupMode::kFlattenedId) {
    return InvalidArgument("Replica groups must be specified in flattened-id mode");
  }
  return DevicesOf(mode, AllIds(ids.count), counts, device);
}

absl::StatusOr<std::vector<int64_t>> CollectiveGroupOf(const HloInstruction& collective, DeviceCounts counts,
                                                       int64_t device) {
  KASHI_ASSIGN_OR_RETURN(const CollectiveGroupMode mode, GetCollectiveGroupMode(collective));
  KASHI_RETURN_IF_ERROR(collective.device_list().CheckExpandable());
  return CollectiveGroupOf(mode, collective.replica_groups(), counts, device);
}

}  // namespace kashi
