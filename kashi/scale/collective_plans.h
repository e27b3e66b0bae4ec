// For each collective of a module: the devices that meet, and its time. Made once, when the collective first runs.
#ifndef KASHI_SCALE_COLLECTIVE_PLANS_H_
#define KASHI_SCALE_COLLECTIVE_PLANS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/spmd/collective_groups.h"
#include "kashi/scale/group_geometry.h"
#include "kashi/scale/host_traffic.h"
#include "kashi/scale/network.h"

namespace kashi::scale {

using DeviceGroups = std::vector<std::vector<int64_t>>;
using DevicePairs = std::vector<std::pair<int64_t, int64_t>>;

struct CollectivePlan {
  HloOpcode opcode = HloOpcode::kAllReduce;  // without "-start"
  // One of these two: groups of devices that meet, or pairs of a source and a target.
  std::shared_ptr<const DeviceGroups> groups;
  std::shared_ptr<const DevicePairs> pairs;
  int64_t group_count = 0;
  int64_t members = 0;
  double bytes = 0;
  double seconds = 0;
  HostTraffic traffic;  // of one call
  absl::string_view algorithm;
};

// The operation that a collective, a -start of one, or an async-start of one is; nullopt for others.
std::optional<HloOpcode> CollectiveOpcode(const HloInstruction& instruction);

class CollectivePlans {
 public:
  // `host_devices`: how many devices of one host there are (host_traffic.h).
  CollectivePlans(const Network& network, DeviceCounts counts, int64_t host_devices = 8)
      : network_(network), counts_(counts), host_devices_(host_devices) {}

  // Pre: CollectiveOpcode(instruction) has a value. The plan stays valid.
  absl::StatusOr<const CollectivePlan*> PlanOf(const HloInstruction& instruction);
  // The plan of a send or recv between devices. Null for a transfer with the host, or without pairs.
  absl::StatusOr<const CollectivePlan*> PlanOfSend(const HloInstruction& send);

 private:
  struct Groups {
    std::shared_ptr<const DeviceGroups> groups;
    GroupGeometry geometry;
  };
  absl::StatusOr<const Groups*> GroupsOf(const HloInstruction& collective);
  absl::StatusOr<CollectivePlan> MakePlan(const HloInstruction& instruction, HloOpcode opcode);
  absl::StatusOr<CollectivePlan> MakePermutePlan(const DevicePairs& ids, bool are_partitions, double bytes) const;

  const Network& network_;
  DeviceCounts counts_;
  int64_t host_devices_;
  absl::flat_hash_map<const HloInstruction*, std::unique_ptr<CollectivePlan>> plans_;
  absl::flat_hash_map<std::string, std::unique_ptr<Groups>> groups_;  // by mode and text of the groups
};

}  // namespace kashi::scale

#endif  // KASHI_SCALE_COLLECTIVE_PLANS_H_
