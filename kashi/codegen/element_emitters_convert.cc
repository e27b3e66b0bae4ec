// Operations on operands of any type: conversions, select.
#include <llvm/IR/Intrinsics.h>

#include "kashi/array/primitive_util.h"
#include "kashi/codegen/element_emitters.h"

namespace kashi::codegen {
namespace conversions {
namespace {

bool IsReal(PrimitiveType type) { return primitive_util::IsFloatingPointType(type); }
bool IsUnsigned(PrimitiveType type) { return type == PRED || primitive_util::IsUnsignedIntegralType(type); }

llvm::Value* IsNotZero(const ElementOperation& op) {
  llvm::Value* zero = llvm::Constant::getNullValue(op.x()->getType());
  return IsReal(op.operand_type()) ? op.ir().CreateFCmpUNE(op.x(), zero) : op.ir().CreateICmpNE(op.x(), zero);
}

// The number converted to the register type of the result.
llvm::Value* Converted(const ElementOperation& op) {
  const PrimitiveType from = op.operand_type(), to = op.type();
  llvm::Type* result = op.lanes.Register(to);
  if (IsReal(from) && IsReal(to)) return op.ir().CreateFPCast(op.x(), result);
  if (IsReal(to)) {
    return IsUnsigned(from) ? op.ir().CreateUIToFP(op.x(), result) : op.ir().CreateSIToFP(op.x(), result);
  }
  if (!IsReal(from)) return op.ir().CreateIntCast(op.x(), result, !IsUnsigned(from));
  // Cut, saturated; NaN is 0.
  const llvm::Intrinsic::ID cut = IsUnsigned(to) ? llvm::Intrinsic::fptoui_sat : llvm::Intrinsic::fptosi_sat;
  return op.ir().CreateIntrinsic(cut, {result, op.x()->getType()}, {op.x()});
}

llvm::Value* EmitConvert(const ElementOperation& op) {
  if (op.type() == op.operand_type()) return op.x();
  if (op.type() == PRED) return IsNotZero(op);
  return op.lanes.Round(op.type(), Converted(op));
}

llvm::Value* EmitCopy(const ElementOperation& op) { return op.x(); }

// The bytes, in memory's form, as another type of the same width.
llvm::Value* EmitBitcastConvert(const ElementOperation& op) {
  if (op.type() == op.operand_type()) return op.x();
  llvm::Value* bytes = op.lanes.ToMemory(op.operand_type(), op.x());
  return op.lanes.FromMemory(op.type(), op.ir().CreateBitCast(bytes, op.lanes.Widen(op.lanes.ScalarMemory(op.type()))));
}

llvm::Value* EmitSelect(const ElementOperation& op) {
  return op.ir().CreateSelect(op.operands[0], op.operands[1], op.operands[2]);
}

constexpr ElementEmitterRow kRows[] = {
    {HloOpcode::kConvert, &EmitConvert},
    {HloOpcode::kCopy, &EmitCopy},
    {HloOpcode::kBitcastConvert, &EmitBitcastConvert},
    {HloOpcode::kSelect, &EmitSelect},
};

}  // namespace
}  // namespace conversions

absl::Span<const ElementEmitterRow> ConversionEmitters() { return conversions::kRows; }

}  // namespace kashi::codegen
