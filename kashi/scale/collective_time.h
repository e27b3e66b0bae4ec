// The time of a collective: the alpha-beta model, by algorithm. A message of b bytes takes
//
//   alpha + b * beta        alpha: the latency of a link; beta: 1 / bandwidth
//
// An operation takes the fastest of the algorithms that are known for it. n: members; b: bytes (see CollectiveBytes).
//
//   switch               steps and bytes on a device's link
//     all-reduce         recursive doubling   log2 n,      b log2 n
//                        halving, doubling    2 log2 n,    2 b (n - 1) / n
//     all-gather, reduce-scatter              log2 n,      b (n - 1) / n
//     all-to-all         Bruck                log2 n,      b/2 log2 n
//                        pairwise             n - 1,       b (n - 1) / n
//     broadcast          tree                 log2 n,      b log2 n
//                        scatter, all-gather  log2 n + n - 1,  2 b (n - 1) / n
//
//   torus, a side of k   steps and bytes on a link
//     all-gather, reduce-scatter, ring        k / 2,       b (k - 1) / 2k
//       a row that is no ring                 k - 1,       b (k - 1) / k
//       several sides: b is cut into as many parts, and each part takes the sides in another order, so that the links
//       of all sides work at once
//     all-reduce         reduce-scatter and all-gather; or an all-gather of all operands, for short ones
//     all-to-all         the links in the middle of the longest side:  b k / 8 in a ring, b k / 4 in a row
//     broadcast          a pipeline: the hops to the last member,      b
//
// Sources: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH" (2005); Chan et
// al., "Collective communication: theory, practice, and experience" (2007).
#ifndef KASHI_SCALE_COLLECTIVE_TIME_H_
#define KASHI_SCALE_COLLECTIVE_TIME_H_

#include "absl/strings/string_view.h"
#include "kashi/hlo/ir/hlo_opcode.h"
#include "kashi/scale/group_geometry.h"
#include "kashi/scale/network.h"

namespace kashi::scale {

struct CollectiveTime {
  double seconds = 0;
  absl::string_view algorithm;  // "recursive doubling"; empty for a group of one
};

// `bytes` on one device: the operands, but for an all-gather the results. `opcode` without "-start". Pre: it is one of
// all-gather, all-reduce, all-to-all, collective-broadcast, ragged-all-to-all, reduce-scatter.
CollectiveTime TimeOf(HloOpcode opcode, double bytes, const GroupGeometry& geometry, Network::Kind kind);

}  // namespace kashi::scale

#endif  // KASHI_SCALE_COLLECTIVE_TIME_H_
