// Operations on operands of any type: conversions, select.
#include <llvm/IR/Intrinsics.h>

#include "kashi/array/primitive_util.h"
#include "kashi/codegen/element_emitters.h"

namespace kashi::codegen {
namespace conversions {
namespace {

bool IsReal(PrimitiveType type) { return primitive_util::IsFloatingPointType(type); }
bool IsUnsigned(PrimitiveType type) { return type == PRED || primitive_util::IsUnsignedIntegralType(type); }

bool IsComplex(PrimitiveType type) { return primitive_util::IsComplexType(type); }

llvm::Value* IsNotZero(const ElementOperation& op) {
  if (IsComplex(op.operand_type())) {
    const auto is_not_zero = [&](llvm::Value* part) {
      return op.ir().CreateFCmpUNE(part, llvm::Constant::getNullValue(part->getType()));
    };
    return op.ir().CreateOr(is_not_zero(op.lanes.RealPart(op.x())), is_not_zero(op.lanes.ImaginaryPart(op.x())));
  }
  llvm::Value* zero = llvm::Constant::getNullValue(op.x()->getType());
  return IsReal(op.operand_type()) ? op.ir().CreateFCmpUNE(op.x(), zero) : op.ir().CreateICmpNE(op.x(), zero);
}

// x, of a real type or an integer, converted to the register of another.
llvm::Value* Converted(const ElementOperation& op, llvm::Value* x, PrimitiveType from, PrimitiveType to) {
  llvm::Type* result = op.lanes.Register(to);
  if (IsReal(from) && IsReal(to)) return op.ir().CreateFPCast(x, result);
  if (IsReal(to)) return IsUnsigned(from) ? op.ir().CreateUIToFP(x, result) : op.ir().CreateSIToFP(x, result);
  if (!IsReal(from)) return op.ir().CreateIntCast(x, result, !IsUnsigned(from));
  // Cut, saturated; NaN is 0.
  const llvm::Intrinsic::ID cut = IsUnsigned(to) ? llvm::Intrinsic::fptoui_sat : llvm::Intrinsic::fptosi_sat;
  return op.ir().CreateIntrinsic(cut, {result, x->getType()}, {x});
}

llvm::Value* ConvertedToComplex(const ElementOperation& op) {
  const PrimitiveType from = op.operand_type(), to = primitive_util::ComplexComponentType(op.type());
  if (!IsComplex(from)) {
    return op.lanes.Complex(Converted(op, op.x(), from, to), llvm::Constant::getNullValue(op.lanes.Register(to)));
  }
  const PrimitiveType part = primitive_util::ComplexComponentType(from);
  return op.lanes.Complex(Converted(op, op.lanes.RealPart(op.x()), part, to),
                          Converted(op, op.lanes.ImaginaryPart(op.x()), part, to));
}

llvm::Value* EmitConvert(const ElementOperation& op) {
  if (op.type() == op.operand_type()) return op.x();
  if (op.type() == PRED) return IsNotZero(op);
  if (IsComplex(op.type())) return ConvertedToComplex(op);
  const bool drops_part = IsComplex(op.operand_type());
  llvm::Value* x = drops_part ? op.lanes.RealPart(op.x()) : op.x();
  const PrimitiveType from = drops_part ? primitive_util::ComplexComponentType(op.operand_type()) : op.operand_type();
  return op.lanes.Round(op.type(), Converted(op, x, from, op.type()));
}

llvm::Value* EmitCopy(const ElementOperation& op) { return op.x(); }

// The bytes, in memory's form, as another type of the same width.
llvm::Value* EmitBitcastConvert(const ElementOperation& op) {
  if (op.type() == op.operand_type()) return op.x();
  llvm::Value* bytes = op.lanes.ToMemory(op.operand_type(), op.x());
  return op.lanes.FromMemory(op.type(), op.ir().CreateBitCast(bytes, op.lanes.Widen(op.lanes.ScalarMemory(op.type()))));
}

llvm::Value* EmitSelect(const ElementOperation& op) {
  return op.lanes.Select(op.operands[0], op.operands[1], op.operands[2]);
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
