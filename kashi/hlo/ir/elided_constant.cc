#include "kashi/hlo/ir/elided_constant.h"

#include <utility>

#include "kashi/array/shape_util.h"
#include "kashi/base/check.h"
#include "kashi/hlo/ir/field_types.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_opcode.h"

namespace kashi::hlo {

bool IsElidedConstant(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kConstant) return false;
  const SharedLiteral* literal = instruction.fields().Find<HloField::literal>();
  return literal != nullptr && literal->is_elided();
}

std::vector<HloInstruction*> ElidedConstants(const HloModule& module) {
  std::vector<HloInstruction*> found;
  for (const HloComputation* computation : module.computations()) {
    for (HloInstruction* instruction : computation->instructions()) {
      if (IsElidedConstant(*instruction)) found.push_back(instruction);
    }
  }
  return found;
}

void SetConstant(HloInstruction* constant, Literal literal) {
  KASHI_CHECK(constant->opcode() == HloOpcode::kConstant);
  KASHI_CHECK(ShapeUtil::Compatible(constant->shape(), literal.shape()));
  constant->mutable_fields()->Set<HloField::literal>(SharedLiteral(std::move(literal)));
}

}  // namespace kashi::hlo
