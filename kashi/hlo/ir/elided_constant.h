// Constants whose elements a printer omitted: `constant({...})` in text, no literal in a proto.
//
// XLA elides constants of more than ten elements unless --xla_dump_hlo_print_large_constants is set. The file then has
// no values for them, and a program with such constants cannot be computed. Readers give such a constant a literal of
// zeros with a mark (SharedLiteral::is_elided). Code that needs only the shape works, text shows `{...}` again, and
// protos have no literal again. Clones of the instruction keep the mark; a copy of the Literal does not.
#ifndef KASHI_HLO_IR_ELIDED_CONSTANT_H_
#define KASHI_HLO_IR_ELIDED_CONSTANT_H_

#include <vector>

#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/literal/literal.h"

namespace kashi::hlo {

// False for other operations.
bool IsElidedConstant(const HloInstruction& instruction);

// The elided constants of all computations, in the order of the module. O(instructions).
std::vector<HloInstruction*> ElidedConstants(const HloModule& module);

// Gives a constant these elements and removes the mark. Pre: the literal has the constant's shape, in any layout.
void SetConstant(HloInstruction* constant, Literal literal);

}  // namespace kashi::hlo

#endif  // KASHI_HLO_IR_ELIDED_CONSTANT_H_
