// The order of the instructions of each computation: the module's schedule, or one that is computed here to need little
// memory.
#ifndef KASHI_ANALYSIS_INSTRUCTION_ORDER_H_
#define KASHI_ANALYSIS_INSTRUCTION_ORDER_H_

#include <vector>

#include "kashi/analysis/buffer_groups.h"
#include "kashi/analysis/value_positions.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::analysis {

// The schedule's order if the module has one (and it is whole: operands first, every instruction once).
//
// Otherwise a list schedule: of the instructions whose operands are ready, it takes the one that frees most, or takes
// least, and of equal ones the first in post-order. It is compared with post-order itself, and the order with the lower
// peak of this computation's buffers is returned. O(n log n), n = instructions + operands.
std::vector<const HloInstruction*> InstructionOrder(const HloModule& module, const HloComputation& computation,
                                                    const ValuePositions& positions, const BufferGroups& groups);

}  // namespace kashi::analysis

#endif  // KASHI_ANALYSIS_INSTRUCTION_ORDER_H_
