#include "kashi/cpu/codegen/scalar_computation.h"

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/cpu/codegen/element_emitters.h"

namespace kashi::internal {
namespace {

bool IsScalarInstruction(const HloInstruction& instruction, const HloComputation& computation) {
  if (instruction.opcode() == HloOpcode::kTuple) {
    return &instruction == computation.root_instruction() &&
           absl::c_none_of(instruction.operands(), [](const HloInstruction* x) { return x->shape().IsTuple(); });
  }
  if (!ShapeUtil::IsScalar(instruction.shape()) || !HasRegisterType(instruction.shape().element_type())) return false;
  if (instruction.opcode() == HloOpcode::kParameter || instruction.opcode() == HloOpcode::kConstant) return true;
  return FindElementEmitter(instruction) != nullptr;
}

}  // namespace

bool IsScalarComputation(const HloComputation& computation) {
  return absl::c_all_of(computation.instructions(), [&](const HloInstruction* instruction) {
    return IsScalarInstruction(*instruction, computation);
  });
}

llvm::Value* EmitLiteralElement(const LaneBuilder& lanes, const Literal& literal,
                                absl::Span<const int64_t> multi_index) {
  const PrimitiveType type = literal.shape().element_type();
  if (primitive_util::IsFloatingPointType(type)) {
    return lanes.Splat(llvm::ConstantFP::get(lanes.ScalarRegister(type), *literal.GetAsDouble(multi_index)));
  }
  // u64 above 2^63 keeps its bits.
  const int64_t bits =
      type == U64 ? static_cast<int64_t>(literal.Get<uint64_t>(multi_index)) : *literal.GetIntegralAsS64(multi_index);
  return lanes.Splat(llvm::ConstantInt::get(lanes.ScalarRegister(type), static_cast<uint64_t>(bits)));
}

llvm::Value* EmitScalarConstant(const LaneBuilder& lanes, const HloInstruction& constant) {
  return EmitLiteralElement(lanes, constant.literal(), {});
}

std::vector<llvm::Value*> EmitScalarComputation(const LaneBuilder& lanes, const HloComputation& computation,
                                                absl::Span<llvm::Value* const> parameters) {
  absl::flat_hash_map<const HloInstruction*, llvm::Value*> values;
  std::vector<llvm::Value*> operands;
  for (const HloInstruction* instruction : computation.MakeInstructionPostOrder()) {
    operands.clear();
    for (const HloInstruction* operand : instruction->operands()) operands.push_back(values.at(operand));
    if (instruction->opcode() == HloOpcode::kTuple) return operands;
    if (instruction->opcode() == HloOpcode::kParameter) {
      values[instruction] = parameters[instruction->parameter_number()];
    } else if (instruction->opcode() == HloOpcode::kConstant) {
      values[instruction] = EmitScalarConstant(lanes, *instruction);
    } else {
      values[instruction] = FindElementEmitter(*instruction)->emit({lanes, *instruction, operands});
    }
  }
  return {values.at(computation.root_instruction())};
}

std::optional<HloOpcode> ReorderableCombiner(const HloComputation& computation) {
  const HloInstruction* root = computation.root_instruction();
  const bool is_reorderable = GetHloOpcodeInfo(root->opcode()).neutral != HloOpcodeFlags::Neutral::kDefault;
  if (!is_reorderable || computation.num_parameters() != 2) return std::nullopt;
  const HloInstruction *a = root->operand(0), *b = root->operand(1);
  const bool are_parameters = a->opcode() == HloOpcode::kParameter && b->opcode() == HloOpcode::kParameter && a != b;
  return are_parameters ? std::make_optional(root->opcode()) : std::nullopt;
}

std::optional<HloOpcode> CombinerOfPlainReduce(const HloInstruction& x) {
  if (x.opcode() != HloOpcode::kReduce || x.operand_count() != 2 || x.HasControlDependencies()) return std::nullopt;
  if (!IsPlainArray(x.shape()) || !IsPlainArray(x.operand(0)->shape())) return std::nullopt;
  const PrimitiveType type = x.shape().element_type();
  const auto has_type = [type](const HloInstruction* p) { return p->shape().element_type() == type; };
  if (!absl::c_all_of(x.operands(), has_type) || !absl::c_all_of(x.to_apply()->instructions(), has_type)) {
    return std::nullopt;
  }
  return ReorderableCombiner(*x.to_apply());
}

}  // namespace kashi::internal
