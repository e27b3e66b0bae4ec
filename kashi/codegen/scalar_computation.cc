#include "kashi/codegen/scalar_computation.h"

#include <complex>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/codegen/element_emitters.h"

namespace kashi::codegen {

llvm::Value* EmitLiteralElement(const LaneBuilder& lanes, const Literal& literal,
                                absl::Span<const int64_t> multi_index) {
  const PrimitiveType type = literal.shape().element_type();
  if (primitive_util::IsFloatingPointType(type)) {
    return lanes.Splat(llvm::ConstantFP::get(lanes.ScalarRegister(type), *literal.GetAsDouble(multi_index)));
  }
  if (type == C64 || type == C128) {
    const std::complex<double> number =
        type == C64 ? std::complex<double>(literal.Get<complex64>(multi_index)) : literal.Get<complex128>(multi_index);
    const PrimitiveType part = primitive_util::ComplexComponentType(type);
    return lanes.Complex(lanes.Real(part, number.real()), lanes.Real(part, number.imag()));
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

}  // namespace kashi::codegen
