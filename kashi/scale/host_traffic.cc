#include "kashi/scale/host_traffic.h"

#include <vector>

#include "absl/container/flat_hash_map.h"

namespace kashi::scale {
namespace {

// How many members of a group each host has.
std::vector<double> MembersByHost(const std::vector<int64_t>& group, int64_t host_devices) {
  absl::flat_hash_map<int64_t, double> count;
  for (const int64_t device : group) count[device / host_devices] += 1;
  std::vector<double> members;
  for (const auto& [host, number] : count) members.push_back(number);
  return members;
}

// The traffic of one group, for one byte.
HostTraffic GroupTraffic(HloOpcode opcode, const std::vector<double>& members) {
  double n = 0, squares = 0;
  for (const double m : members) {
    n += m;
    squares += m * m;
  }
  const auto hosts = static_cast<double>(members.size());
  if (opcode == HloOpcode::kAllGather) {  // the bytes are those of the result: n operands
    const double between = (hosts * n - n) / n;
    return {n - 1 - between, between};
  }
  if (opcode == HloOpcode::kAllToAll || opcode == HloOpcode::kRaggedAllToAll) {
    return {(squares - n) / n, (n * n - squares) / n};
  }
  if (opcode == HloOpcode::kAllReduce) return {2 * (n - hosts), 2 * (hosts - 1)};
  return {n - hosts, hosts - 1};  // reduce-scatter, broadcast
}

}  // namespace

HostTraffic TrafficOfGroups(HloOpcode opcode, const std::vector<std::vector<int64_t>>& groups, double bytes,
                            int64_t host_devices) {
  HostTraffic traffic;
  for (const std::vector<int64_t>& group : groups) {
    if (group.empty()) continue;
    const HostTraffic one = GroupTraffic(opcode, MembersByHost(group, host_devices));
    traffic.within_bytes += one.within_bytes * bytes;
    traffic.between_bytes += one.between_bytes * bytes;
  }
  return traffic;
}

HostTraffic TrafficOfPairs(const std::vector<std::pair<int64_t, int64_t>>& pairs, double bytes, int64_t host_devices) {
  HostTraffic traffic;
  for (const auto& [source, target] : pairs) {
    if (source == target) continue;
    (source / host_devices == target / host_devices ? traffic.within_bytes : traffic.between_bytes) += bytes;
  }
  return traffic;
}

}  // namespace kashi::scale
