// Neutral elements of the operations that may be regrouped.
#ifndef KASHI_HLO_IR_NEUTRAL_ELEMENT_H_
#define KASHI_HLO_IR_NEUTRAL_ELEMENT_H_

#include "kashi/array/types.h"
#include "kashi/hlo/ir/hlo_opcode.h"
#include "kashi/literal/literal.h"

namespace kashi::hlo {

// The neutral element of `combiner` (add, multiply, minimum, maximum, and, or, xor), a scalar: x op neutral is x. For
// add it is -0: 0 + -0 is 0, but -0 + 0 is not -0.
Literal NeutralOf(HloOpcode combiner, PrimitiveType type);

}  // namespace kashi::hlo

#endif  // KASHI_HLO_IR_NEUTRAL_ELEMENT_H_
