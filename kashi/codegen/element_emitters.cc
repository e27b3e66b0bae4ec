#include "kashi/codegen/element_emitters.h"

#include "absl/algorithm/container.h"
#include "kashi/array/primitive_util.h"
#include "kashi/passes/plain_array.h"

namespace kashi::codegen {
namespace {

absl::Span<const ElementEmitterRow> RowsOf(PrimitiveType type) {
  if (type == PRED) return PredEmitters();
  return primitive_util::IsFloatingPointType(type) ? RealEmitters() : IntegerEmitters();
}

const ElementEmitterRow* Find(absl::Span<const ElementEmitterRow> rows, HloOpcode opcode) {
  const auto row = absl::c_find_if(rows, [&](const ElementEmitterRow& row) { return row.opcode == opcode; });
  return row == rows.end() ? nullptr : &*row;
}

// Whether all numbers that the operation reads and writes have the type of operand 0. (Text for TPUs mixes types.)
bool HasOneType(const HloInstruction& instruction) {
  const PrimitiveType type = instruction.operand(0)->shape().element_type();
  const auto is_of_type = [&](const HloInstruction* operand) { return operand->shape().element_type() == type; };
  const PrimitiveType result = instruction.shape().element_type();
  const bool makes_pred = instruction.opcode() == HloOpcode::kCompare || instruction.opcode() == HloOpcode::kIsFinite;
  return absl::c_all_of(instruction.operands(), is_of_type) && result == (makes_pred ? PRED : type);
}

bool IsSelectOfOneType(const HloInstruction& instruction) {
  const PrimitiveType type = instruction.shape().element_type();
  return instruction.operand(0)->shape().element_type() == PRED &&
         instruction.operand(1)->shape().element_type() == type &&
         instruction.operand(2)->shape().element_type() == type;
}

// A bitcast-convert to a narrower or wider type also changes the dimensions.
bool IsBitcastOfOneWidth(const HloInstruction& instruction) {
  return primitive_util::BitWidth(instruction.shape().element_type()) ==
         primitive_util::BitWidth(instruction.operand(0)->shape().element_type());
}

}  // namespace

const ElementEmitterRow* FindElementEmitter(const HloInstruction& instruction) {
  if (instruction.operands().empty() || !instruction.shape().IsArray()) return nullptr;
  const auto has_register = [](const HloInstruction* operand) {
    return operand->shape().IsArray() && passes::IsPlainType(operand->shape().element_type());
  };
  if (!passes::IsPlainType(instruction.shape().element_type()) ||
      !absl::c_all_of(instruction.operands(), has_register)) {
    return nullptr;
  }
  if (const ElementEmitterRow* row = Find(ConversionEmitters(), instruction.opcode())) {
    if (instruction.opcode() == HloOpcode::kSelect && !IsSelectOfOneType(instruction)) return nullptr;
    if (instruction.opcode() == HloOpcode::kBitcastConvert && !IsBitcastOfOneWidth(instruction)) return nullptr;
    return row;
  }
  if (!HasOneType(instruction)) return nullptr;
  return Find(RowsOf(instruction.operand(0)->shape().element_type()), instruction.opcode());
}

}  // namespace kashi::codegen
