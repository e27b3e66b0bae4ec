#include "kashi/hlo/ir/combiner.h"

#include "absl/algorithm/container.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::hlo {

std::optional<HloOpcode> CombinerOf(const HloComputation& computation) {
  const HloInstruction* const root = computation.root_instruction();
  if (root == nullptr || root->operand_count() != 2 || computation.num_parameters() != 2) return std::nullopt;
  const auto is_scalar_of_type = [root](const HloInstruction* x) {
    return ShapeUtil::IsScalar(x->shape()) && x->shape().element_type() == root->shape().element_type();
  };
  if (!is_scalar_of_type(root) || !absl::c_all_of(root->operands(), is_scalar_of_type)) return std::nullopt;
  const HloInstruction *const first = computation.parameter_instruction(0), *const second =
                                                                                computation.parameter_instruction(1);
  const bool is_in_order = root->operand(0) == first && root->operand(1) == second;
  const bool is_swapped = root->operand(0) == second && root->operand(1) == first;
  const bool is_commutative = GetHloOpcodeInfo(root->opcode()).Has(HloOpcodeFlags::kCommutative);
  return is_in_order || (is_swapped && is_commutative) ? std::make_optional(root->opcode()) : std::nullopt;
}

bool MayRegroup(HloOpcode opcode) { return GetHloOpcodeInfo(opcode).neutral != HloOpcodeFlags::Neutral::kDefault; }

std::optional<HloOpcode> ReorderableCombiner(const HloComputation& computation) {
  const std::optional<HloOpcode> opcode = CombinerOf(computation);
  return opcode.has_value() && MayRegroup(*opcode) ? opcode : std::nullopt;
}

}  // namespace kashi::hlo
