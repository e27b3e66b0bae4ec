// The geometry of the groups of a collective in a network, on which the times of its algorithms depend.
//
//   torus of 4x8, groups {0,1,…,7} {8,…,15} …      one side: 8 members, a ring, no link is shared
//   groups {0,8,16,24} {1,9,17,25} …               one side: 4 members, a ring
//   groups {0,2,4,6} {1,3,5,7} …                   one side: 4 members, 2 hops apart; each link carries 2 groups
//   {0,1,…,31}                                     two sides: 4 and 8 members
//   groups {0,9} {1,8} …                           no grid: one side, the ring through the members in their order
#ifndef KASHI_SCALE_GROUP_GEOMETRY_H_
#define KASHI_SCALE_GROUP_GEOMETRY_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "kashi/scale/network.h"

namespace kashi::scale {

// One dimension of a group.
struct GroupSide {
  int64_t members = 1;
  bool is_ring = false;         // the last member is a neighbour of the first
  double hop_seconds = 0;       // latency between neighbours in the group
  double seconds_per_byte = 0;  // between neighbours, in one direction, while all groups send at once
};

struct GroupGeometry {
  int64_t members = 1;  // of the largest group
  int64_t groups = 1;
  std::vector<GroupSide> sides;  // without those of one member
};

// Pre: groups are lists of different devices of the network. O(devices * rank * the hops between neighbours).
GroupGeometry GeometryOf(const Network& network, absl::Span<const std::vector<int64_t>> groups);

// Messages that are sent at once, from first to second.
struct RouteLoad {
  double hop_seconds = 0;       // the largest latency of a message
  double seconds_per_byte = 0;  // of the link that carries most messages, for all that it carries
};
// In a torus each message takes the dimensions one after the other, the shorter way round.
RouteLoad LoadOf(const Network& network, absl::Span<const std::pair<int64_t, int64_t>> messages);

}  // namespace kashi::scale

#endif  // KASHI_SCALE_GROUP_GEOMETRY_H_
