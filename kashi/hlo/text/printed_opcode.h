// The name of an operation as HLO text prints it.
//
//   add = f32[2] add(x, y)                               add
//   s = ((f32[4]), f32[2], u32[]) slice-start(x), …      slice-start: an async-start of a computation with one slice
#ifndef KASHI_HLO_TEXT_PRINTED_OPCODE_H_
#define KASHI_HLO_TEXT_PRINTED_OPCODE_H_

#include <string>

#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::hlo {

std::string PrintedOpcode(const HloInstruction& instruction);

}  // namespace kashi::hlo

#endif  // KASHI_HLO_TEXT_PRINTED_OPCODE_H_
