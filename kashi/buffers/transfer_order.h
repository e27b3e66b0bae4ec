// The order in which a device sends, receives, and begins and ends collective operations.
//
// A schedule of XLA lets transfers run beside other work. Here a device that ends a reception waits for it. So it ends
// none while something is left that it can do without: otherwise devices that send to each other would all wait.
//
// Collective operations in two halves (asynchronous_collectives.h) stay where a schedule has them. Without a schedule
// they begin as early and end as late as possible:
//
//   post-order:   dot   mul   all-reduce-start(mul)   all-reduce-done   add(dot, done)
//   here:         mul   all-reduce-start(mul)   dot   all-reduce-done   add(dot, done)
#ifndef KASHI_BUFFERS_TRANSFER_ORDER_H_
#define KASHI_BUFFERS_TRANSFER_ORDER_H_

#include <vector>

#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::internal {

// The instructions of `order`, operands and control predecessors first, in their order except for those above. Of
// several that are left to end, a collective operation comes first, then a reception whose channel this device has
// sent to.
// `order` must be valid. `is_schedule`: the module says so. O(instructions * log(instructions)).
std::vector<HloInstruction*> OrderForOverlap(const std::vector<HloInstruction*>& order, bool is_schedule);

}  // namespace kashi::internal

#endif  // KASHI_BUFFERS_TRANSFER_ORDER_H_
