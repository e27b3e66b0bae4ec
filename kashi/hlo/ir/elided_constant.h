// Constants whose elements a printer left out: `constant({...})` in text, no literal in a proto.
//
// XLA elides constants of more than ten elements unless --xla_dump_hlo_print_large_constants is set. Their values are
// then nowhere, and a program that has them cannot be computed. Readers give such a constant a literal of zeros that
// remembers that it was elided (SharedLiteral::is_elided): what needs only the shape works, text shows `{...}` again, a
// proto has no literal again. Clones of the instruction remember it too; a Literal copied out of it does not.
#ifndef KASHI_HLO_IR_ELIDED_CONSTANT_H_
#define KASHI_HLO_IR_ELIDED_CONSTANT_H_

#include <vector>

#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/literal/literal.h"

namespace kashi::internal {

// False for what is no constant.
bool IsElidedConstant(const HloInstruction& instruction);

// Those of all computations, in the order of the module. O(instructions).
std::vector<HloInstruction*> ElidedConstants(const HloModule& module);

// Gives a constant these elements; it is no longer elided. Pre: the literal has the constant's shape up to layout.
void SetConstant(HloInstruction* constant, Literal literal);

}  // namespace kashi::internal

#endif  // KASHI_HLO_IR_ELIDED_CONSTANT_H_
