// The order in which a device sends, receives, and starts and ends collective operations.
//
// A schedule of XLA lets transfers run beside other work. Here a device that ends a reception waits for it. So a device
// ends a reception only if nothing else is left to do: otherwise devices that send to each other would all wait.
//
// Collective operations in two halves (asynchronous_collectives.h) keep their place in a schedule. Without a schedule
// they start as early and end as late as possible:
//
//   post-order:   dot   mul   all-reduce-start(mul)   all-reduce-done   add(dot, done)
//   here:         mul   all-reduce-start(mul)   dot   all-reduce-done   add(dot, done)
#ifndef KASHI_BUFFERS_TRANSFER_ORDER_H_
#define KASHI_BUFFERS_TRANSFER_ORDER_H_

#include <vector>

#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::buffers {

// Returns the instructions of `order`, operands and control predecessors first, in the same order except as above. If
// several can be ended, a collective operation comes first, then a reception whose channel this device has
// sent to.
// Pre: `order` is valid. `is_schedule`: it is the schedule of the module. O(instructions * log(instructions)).
std::vector<HloInstruction*> OrderForOverlap(const std::vector<HloInstruction*>& order, bool is_schedule);

}  // namespace kashi::buffers

#endif  // KASHI_BUFFERS_TRANSFER_ORDER_H_
