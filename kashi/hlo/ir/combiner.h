// Computations that combine two scalars by one operation, as in most reduces, scatters and collectives.
#ifndef KASHI_HLO_IR_COMBINER_H_
#define KASHI_HLO_IR_COMBINER_H_

#include <optional>

#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_opcode.h"

namespace kashi::hlo {

// The operation that the root applies to the two parameters, each used once, all scalars of one type. The parameters
// are in order, except for a commutative operation. Nullopt: another computation.
std::optional<HloOpcode> CombinerOf(const HloComputation& computation);

// Whether the operands of repeated applications may be regrouped and reordered, exactly for integers, up to rounding
// for real numbers: the operation has a neutral element (ops.def).
bool MayRegroup(HloOpcode opcode);

// CombinerOf(computation) if MayRegroup allows the operation: add, multiply,
// maximum, minimum, and, or, xor.
std::optional<HloOpcode> ReorderableCombiner(const HloComputation& computation);

}  // namespace kashi::hlo

#endif  // KASHI_HLO_IR_COMBINER_H_
