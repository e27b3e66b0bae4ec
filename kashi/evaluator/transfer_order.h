// The order in which a device sends and receives.
//
// A schedule of XLA lets transfers run beside other work. Here a device that ends a reception waits for it. So it ends
// none while something is left that it can do without: otherwise devices that send to each other would all wait.
#ifndef KASHI_EVALUATOR_TRANSFER_ORDER_H_
#define KASHI_EVALUATOR_TRANSFER_ORDER_H_

#include <vector>

#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::internal {

// The same instructions, operands and control predecessors first, in their order but for recv-done, which come as late
// as possible. Of several that are left, one comes first whose channel this device has sent to. `order` must be valid.
std::vector<HloInstruction*> DelayReceptions(const std::vector<HloInstruction*>& order);

}  // namespace kashi::internal

#endif  // KASHI_EVALUATOR_TRANSFER_ORDER_H_
