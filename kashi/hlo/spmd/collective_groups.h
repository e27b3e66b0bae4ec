// The devices that exchange values in a collective operation. (docs/spec/hlo-ops.md, 7.1)
//
// Two replicas of two partitions are four devices; the meaning of the ids in replica_groups depends on the operation:
//
//              partition 0   1        channel_id   use_global_device_ids   ids are
//   replica 0            0   1        no           no                      replicas, of one partition
//   replica 1            2   3        yes          (no such attribute)     partitions, of one replica
//                                     yes          no                      replicas, with all their partitions
//                                     yes          yes                     devices: replica * partitions + partition
#ifndef KASHI_HLO_SPMD_COLLECTIVE_GROUPS_H_
#define KASHI_HLO_SPMD_COLLECTIVE_GROUPS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/hlo/attributes/collective_device_list.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi {

// The numbers of replicas and partitions of a program.
struct DeviceCounts {
  int64_t replicas = 1;
  int64_t partitions = 1;

  int64_t total() const { return replicas * partitions; }
  std::string ToString() const;  // "4 devices (2 replicas of 2 partitions)"
};

enum class CollectiveGroupMode { kCrossReplica, kCrossPartition, kCrossReplicaAndPartition, kFlattenedId };

// XLA's name: "cross_replica", …
absl::string_view CollectiveGroupModeName(CollectiveGroupMode mode);

// INVALID_ARGUMENT for use_global_device_ids without a channel.
absl::StatusOr<CollectiveGroupMode> GetCollectiveGroupMode(const HloInstruction& collective);

// The devices of the group of `device`, in the order of the operation: members[i] gives piece i of an all-gather.
// Without groups: all ids, ascending (not in flattened mode). NOT_FOUND if the device is in no group; INVALID_ARGUMENT
// if it is in several, or if a group has an unknown id. O(ids in the groups).
absl::StatusOr<std::vector<int64_t>> CollectiveGroupOf(CollectiveGroupMode mode, absl::Span<const ReplicaGroup> groups,
                                                       DeviceCounts counts, int64_t device);
// CollectiveGroupOf with the mode and replica_groups of the operation.
absl::StatusOr<std::vector<int64_t>> CollectiveGroupOf(const HloInstruction& collective, DeviceCounts counts,
                                                       int64_t device);

}  // namespace kashi

#endif  // KASHI_HLO_SPMD_COLLECTIVE_GROUPS_H_
