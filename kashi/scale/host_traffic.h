// The bytes of a collective that stay within hosts, and those that go from host to host.
//
// The devices of a host have successive numbers: host = device / host_devices. Each host takes part once, as in
// hierarchical algorithms: what its devices have in common crosses the network once. With b bytes of operand on each of
// the n members of a group, which are on H hosts:
//
//                          between hosts                  within hosts
//   all-gather             b * n * (H - 1)                b * n * (n - H)
//   all-reduce             2 * b * (H - 1)                2 * b * (n - H)
//   reduce-scatter         b * (H - 1)                    b * (n - H)
//   broadcast              b * (H - 1)                    b * (n - H)
//   all-to-all             b / n for each pair of members on two hosts, or on one
//   collective-permute,    b for each pair on two hosts, or on one
//   send
#ifndef KASHI_SCALE_HOST_TRAFFIC_H_
#define KASHI_SCALE_HOST_TRAFFIC_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "kashi/hlo/ir/hlo_opcode.h"

namespace kashi::scale {

struct HostTraffic {
  double within_bytes = 0;
  double between_bytes = 0;
};

// Of one call, all devices together. `bytes`: of the operand on one device, but for an all-gather of the result.
// Pre: host_devices > 0. O(devices).
HostTraffic TrafficOfGroups(HloOpcode opcode, const std::vector<std::vector<int64_t>>& groups, double bytes,
                            int64_t host_devices);
// Of messages from a source to a target each.
HostTraffic TrafficOfPairs(const std::vector<std::pair<int64_t, int64_t>>& pairs, double bytes, int64_t host_devices);

}  // namespace kashi::scale

#endif  // KASHI_SCALE_HOST_TRAFFIC_H_
