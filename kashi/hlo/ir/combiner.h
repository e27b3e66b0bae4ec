// Computations that combine two scalars by one operation, as those of reduce, scatter and collectives mostly do.
#ifndef KASHI_HLO_IR_COMBINER_H_
#define KASHI_HLO_IR_COMBINER_H_

#include <optional>

#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_opcode.h"

namespace kashi::internal {

// The operation that the root applies to the two parameters, each once, all scalars of one type. A commutative
// operation may take them in either order, any other one in theirs. Nullopt: another computation.
std::optional<HloOpcode> CombinerOf(const HloComputation& computation);

// Whether what the operation combines may be regrouped and reordered, for integers exactly and for real numbers up to
// rounding: it has a neutral element (ops.def).
bool MayRegroup(HloOpcode opcode);

// The same if what the operation combines may be regrouped and reordered, for it has a neutral element: add, multiply,
// maximum, minimum, and, or, xor.
std::optional<HloOpcode> ReorderableCombiner(const HloComputation& computation);

}  // namespace kashi::internal

#endif  // KASHI_HLO_IR_COMBINER_H_
