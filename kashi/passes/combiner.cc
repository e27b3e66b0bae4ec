#include "kashi/passes/combiner.h"

#include "absl/algorithm/container.h"
#include "kashi/array/shape_util.h"
#include "kashi/passes/plain_array.h"

namespace kashi::passes {
namespace {

bool IsScalarInstruction(const HloInstruction& instruction, const CodeSupport& support) {
  if (instruction.opcode() == HloOpcode::kTuple) {
    return &instruction == instruction.parent()->root_instruction() &&
           absl::c_none_of(instruction.operands(), [](const HloInstruction* x) { return x->shape().IsTuple(); });
  }
  if (!ShapeUtil::IsScalar(instruction.shape()) || !IsPlainType(instruction.shape().element_type())) return false;
  if (instruction.opcode() == HloOpcode::kParameter || instruction.opcode() == HloOpcode::kConstant) return true;
  return support.CanCompute(instruction);
}

}  // namespace

bool IsScalarComputation(const HloComputation& computation, const CodeSupport& support) {
  return absl::c_all_of(computation.instructions(),
                        [&](const HloInstruction* instruction) { return IsScalarInstruction(*instruction, support); });
}

std::optional<HloOpcode> CombinerOfPlainReduce(const HloInstruction& x) {
  if (x.opcode() != HloOpcode::kReduce || x.operand_count() != 2 || x.HasControlDependencies()) return std::nullopt;
  if (!IsPlainArray(x.shape()) || !IsPlainArray(x.operand(0)->shape())) return std::nullopt;
  const PrimitiveType type = x.shape().element_type();
  const auto has_type = [type](const HloInstruction* p) { return p->shape().element_type() == type; };
  if (!absl::c_all_of(x.operands(), has_type) || !absl::c_all_of(x.to_apply()->instructions(), has_type)) {
    return std::nullopt;
  }
  return hlo::ReorderableCombiner(*x.to_apply());
}

}  // namespace kashi::passes
