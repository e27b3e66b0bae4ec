// An instruction as text without names: equal texts are equal operations, whatever their operands are.
#ifndef KASHI_MATCHING_OPERATION_TEXT_H_
#define KASHI_MATCHING_OPERATION_TEXT_H_

#include <string>

#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::matching {

// "dot(, ), lhs_contracting_dims={1}, …": opcode and attributes, with the backend configuration, without shapes,
// metadata and called computations. Large constants are `{...}`.
std::string OperationText(const HloInstruction& instruction);

// The attributes of OperationText; "none" if there are none.
std::string AttributesOf(const HloInstruction& instruction);

// OperationText after the shape, and for a constant a fingerprint of its value: what an instruction computes from its
// operands, except by called computations. `with_layouts`: of the shape.
std::string OperationKey(const HloInstruction& instruction, bool with_layouts);

}  // namespace kashi::matching

#endif  // KASHI_MATCHING_OPERATION_TEXT_H_
