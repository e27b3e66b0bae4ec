// What operations that may be regrouped ignore.
#ifndef KASHI_HLO_IR_NEUTRAL_ELEMENT_H_
#define KASHI_HLO_IR_NEUTRAL_ELEMENT_H_

#include "kashi/array/types.h"
#include "kashi/hlo/ir/hlo_opcode.h"
#include "kashi/literal/literal.h"

namespace kashi::internal {

// x op neutral is x, a scalar. `combiner`: add, multiply, minimum, maximum, and, or, xor. Of add it is -0: 0 + -0 is 0,
// and -0 + 0 would not be -0.
Literal NeutralOf(HloOpcode combiner, PrimitiveType type);

}  // namespace kashi::internal

#endif  // KASHI_HLO_IR_NEUTRAL_ELEMENT_H_
