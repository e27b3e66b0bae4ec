// The operations that an engine makes code for. Passes and premises of kernels ask it, and know nothing of machine
// code; an engine implements it beside its emitters.
#ifndef KASHI_PASSES_CODE_SUPPORT_H_
#define KASHI_PASSES_CODE_SUPPORT_H_

#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_opcode.h"

namespace kashi::passes {

class CodeSupport {
 public:
  virtual ~CodeSupport() = default;

  // Whether there is code for one element, by the operation and the element types. Shapes are not looked at.
  virtual bool CanCompute(const HloInstruction& instruction) const = 0;
  // Whether a fused computation may have the instruction, by its operation, types and sizes.
  virtual bool CanFuse(const HloInstruction& instruction) const = 0;
  // Operations that only say which elements of the operands are meant.
  virtual bool MovesElements(HloOpcode opcode) const = 0;
  // Rather computed once and stored than twice.
  virtual bool IsExpensive(const HloInstruction& instruction) const = 0;
};

}  // namespace kashi::passes

#endif  // KASHI_PASSES_CODE_SUPPORT_H_
