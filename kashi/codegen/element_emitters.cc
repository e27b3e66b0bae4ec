#include "kashi/codegen/element_emitters.h"

#include "absl/algorithm/container.h"
#include "kashi/array/primitive_util.h"
#include "kashi/passes/plain_array.h"

namespace kashi::codegen {
namespace {

const ElementEmitterRow* Find(absl::Span<const ElementEmitterRow> rows, HloOpcode opcode) {
  const auto row = absl::c_find_if(rows, [&](const ElementEmitterRow& row) { return row.opcode == opcode; });
  return row == rows.end() ? nullptr : &*row;
}

const ElementEmitterRow* FindOf(PrimitiveType type, HloOpcode opcode) {
  if (type == PRED) return Find(PredEmitters(), opcode);
  if (primitive_util::IsComplexType(type)) {
    const ElementEmitterRow* row = Find(ComplexEmitters(), opcode);
    return row == nullptr && type == C64 ? Find(Complex64Emitters(), opcode) : row;
  }
  if (!primitive_util::IsFloatingPointType(type)) return Find(IntegerEmitters(), opcode);
  const ElementEmitterRow* row = Find(RealEmitters(), opcode);
  return row == nullptr && (type == F32 || type == F64) ? Find(ComposeEmitters(), opcode) : row;
}

// The type of the result of an operation on operands of this type.
PrimitiveType ResultType(HloOpcode opcode, PrimitiveType operand) {
  if (opcode == HloOpcode::kCompare || opcode == HloOpcode::kIsFinite) return PRED;
  if (opcode == HloOpcode::kComplex) return primitive_util::ComplexType(operand);
  const bool takes_part = opcode == HloOpcode::kReal || opcode == HloOpcode::kImag || opcode == HloOpcode::kAbs;
  return takes_part && primitive_util::IsComplexType(operand) ? primitive_util::ComplexComponentType(operand) : operand;
}

// Whether all numbers that the operation reads and writes have the type of operand 0. (Text for TPUs mixes types.)
bool HasOneType(const HloInstruction& instruction) {
  const PrimitiveType type = instruction.operand(0)->shape().element_type();
  const auto is_of_type = [&](const HloInstruction* operand) { return operand->shape().element_type() == type; };
  return absl::c_all_of(instruction.operands(), is_of_type) &&
         instruction.shape().element_type() == ResultType(instruction.opcode(), type);
}

bool IsSelectOfOneType(const HloInstruction& instruction) {
  const PrimitiveType type = instruction.shape().element_type();
  return instruction.operand(0)->shape().element_type() == PRED &&
         instruction.operand(1)->shape().element_type() == type &&
         instruction.operand(2)->shape().element_type() == type;
}

// A bitcast-convert to a narrower or wider type also changes the dimensions. Complex numbers have none.
bool IsBitcastOfOneWidth(const HloInstruction& instruction) {
  const PrimitiveType to = instruction.shape().element_type(), from = instruction.operand(0)->shape().element_type();
  return passes::IsPlainType(to) && passes::IsPlainType(from) &&
         primitive_util::BitWidth(to) == primitive_util::BitWidth(from);
}

bool IsOrderOfComplexNumbers(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kCompare &&
         primitive_util::IsComplexType(instruction.operand(0)->shape().element_type()) &&
         instruction.comparison_direction() != ComparisonDirection::kEq &&
         instruction.comparison_direction() != ComparisonDirection::kNe;
}

}  // namespace

const ElementEmitterRow* FindElementEmitter(const HloInstruction& instruction) {
  if (instruction.operands().empty() || !instruction.shape().IsArray()) return nullptr;
  const auto has_register = [](const HloInstruction* operand) {
    return operand->shape().IsArray() && passes::IsElementType(operand->shape().element_type());
  };
  if (!passes::IsElementType(instruction.shape().element_type()) ||
      !absl::c_all_of(instruction.operands(), has_register)) {
    return nullptr;
  }
  if (const ElementEmitterRow* row = Find(ConversionEmitters(), instruction.opcode())) {
    if (instruction.opcode() == HloOpcode::kSelect && !IsSelectOfOneType(instruction)) return nullptr;
    if (instruction.opcode() == HloOpcode::kBitcastConvert && !IsBitcastOfOneWidth(instruction)) return nullptr;
    return row;
  }
  if (!HasOneType(instruction) || IsOrderOfComplexNumbers(instruction)) return nullptr;
  return FindOf(instruction.operand(0)->shape().element_type(), instruction.opcode());
}

}  // namespace kashi::codegen
