// Integers and PRED. All arithmetic wraps; nothing is undefined.
#include <llvm/IR/Intrinsics.h>

#include "absl/algorithm/container.h"
#include "kashi/array/primitive_util.h"
#include "kashi/codegen/element_emitters.h"

namespace kashi::codegen {
namespace integers {
namespace {

bool IsSigned(const ElementOperation& op) { return primitive_util::IsSignedIntegralType(op.operand_type()); }
llvm::Value* Constant(const ElementOperation& op, int64_t value) { return op.lanes.Integer(op.operand_type(), value); }
int Width(const ElementOperation& op) { return primitive_util::BitWidth(op.operand_type()); }

llvm::Value* EmitAdd(const ElementOperation& op) { return op.ir().CreateAdd(op.x(), op.y()); }
llvm::Value* EmitSubtract(const ElementOperation& op) { return op.ir().CreateSub(op.x(), op.y()); }
llvm::Value* EmitMultiply(const ElementOperation& op) { return op.ir().CreateMul(op.x(), op.y()); }
llvm::Value* EmitAnd(const ElementOperation& op) { return op.ir().CreateAnd(op.x(), op.y()); }
llvm::Value* EmitOr(const ElementOperation& op) { return op.ir().CreateOr(op.x(), op.y()); }
llvm::Value* EmitXor(const ElementOperation& op) { return op.ir().CreateXor(op.x(), op.y()); }
llvm::Value* EmitNot(const ElementOperation& op) { return op.ir().CreateNot(op.x()); }
llvm::Value* EmitNegate(const ElementOperation& op) { return op.ir().CreateNeg(op.x()); }

llvm::Value* EmitAbs(const ElementOperation& op) {
  return IsSigned(op) ? op.ir().CreateBinaryIntrinsic(llvm::Intrinsic::abs, op.x(), op.ir().getFalse()) : op.x();
}
llvm::Value* EmitSign(const ElementOperation& op) {
  llvm::Value* zero = Constant(op, 0);
  llvm::Value* positive = op.ir().CreateZExt(op.ir().CreateICmpNE(op.x(), zero), op.x()->getType());
  if (!IsSigned(op)) return positive;
  return op.ir().CreateSelect(op.ir().CreateICmpSLT(op.x(), zero), Constant(op, -1), positive);
}
llvm::Value* EmitPopulationCount(const ElementOperation& op) {
  return op.ir().CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, op.x());
}
llvm::Value* EmitClz(const ElementOperation& op) {
  return op.ir().CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, op.x(), op.ir().getFalse());
}

// x / 0 is -1, the smallest number / -1 is itself. The processor traps in both cases, so it divides by 1 then.
llvm::Value* EmitDivide(const ElementOperation& op) {
  llvm::Value* is_zero = op.ir().CreateICmpEQ(op.y(), Constant(op, 0));
  llvm::Value* divisor = op.ir().CreateSelect(is_zero, Constant(op, 1), op.y());
  if (!IsSigned(op)) return op.ir().CreateSelect(is_zero, Constant(op, -1), op.ir().CreateUDiv(op.x(), divisor));
  llvm::Value* is_minus_one = op.ir().CreateICmpEQ(op.y(), Constant(op, -1));
  llvm::Value* quotient = op.ir().CreateSDiv(op.x(), op.ir().CreateSelect(is_minus_one, Constant(op, 1), divisor));
  quotient = op.ir().CreateSelect(is_minus_one, op.ir().CreateNeg(op.x()), quotient);
  return op.ir().CreateSelect(is_zero, Constant(op, -1), quotient);
}
// x % 0 is x.
llvm::Value* EmitRemainder(const ElementOperation& op) {
  llvm::Value* is_zero = op.ir().CreateICmpEQ(op.y(), Constant(op, 0));
  llvm::Value* divisor = op.ir().CreateSelect(is_zero, Constant(op, 1), op.y());
  llvm::Value* rest = nullptr;
  if (IsSigned(op)) {
    llvm::Value* is_minus_one = op.ir().CreateICmpEQ(op.y(), Constant(op, -1));
    rest = op.ir().CreateSRem(op.x(), op.ir().CreateSelect(is_minus_one, Constant(op, 1), divisor));
  } else {
    rest = op.ir().CreateURem(op.x(), divisor);
  }
  return op.ir().CreateSelect(is_zero, op.x(), rest);
}

llvm::Value* EmitMaximum(const ElementOperation& op) {
  return op.ir().CreateBinaryIntrinsic(IsSigned(op) ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, op.x(), op.y());
}
llvm::Value* EmitMinimum(const ElementOperation& op) {
  return op.ir().CreateBinaryIntrinsic(IsSigned(op) ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, op.x(), op.y());
}
// The high bound wins where the bounds cross.
llvm::Value* EmitClamp(const ElementOperation& op) {
  const bool is_signed = IsSigned(op);
  llvm::Value* raised = op.ir().CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax,
                                                      op.operands[1], op.operands[0]);
  return op.ir().CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, raised,
                                       op.operands[2]);
}

// Amounts are unsigned and may be as large as the type: then all bits are shifted out.
enum class Shift { kLeft, kRightLogical, kRightArithmetic };
template <Shift shift>
llvm::Value* EmitShift(const ElementOperation& op) {
  llvm::Value* is_within = op.ir().CreateICmpULT(op.y(), Constant(op, Width(op)));
  llvm::Value* amount = op.ir().CreateSelect(is_within, op.y(), Constant(op, Width(op) - 1));
  if (shift == Shift::kRightArithmetic) return op.ir().CreateAShr(op.x(), amount);
  llvm::Value* shifted = shift == Shift::kLeft ? op.ir().CreateShl(op.x(), amount) : op.ir().CreateLShr(op.x(), amount);
  return op.ir().CreateSelect(is_within, shifted, Constant(op, 0));
}

llvm::Value* EmitCompare(const ElementOperation& op) {
  using Predicate = llvm::CmpInst::Predicate;
  const bool is_signed = IsSigned(op);
  struct Row {
    ComparisonDirection direction;
    Predicate of_signed, of_unsigned;
  };
  static constexpr Row kPredicates[] = {
      {ComparisonDirection::kEq, Predicate::ICMP_EQ, Predicate::ICMP_EQ},
      {ComparisonDirection::kNe, Predicate::ICMP_NE, Predicate::ICMP_NE},
      {ComparisonDirection::kGe, Predicate::ICMP_SGE, Predicate::ICMP_UGE},
      {ComparisonDirection::kGt, Predicate::ICMP_SGT, Predicate::ICMP_UGT},
      {ComparisonDirection::kLe, Predicate::ICMP_SLE, Predicate::ICMP_ULE},
      {ComparisonDirection::kLt, Predicate::ICMP_SLT, Predicate::ICMP_ULT},
  };
  const Row& row = *absl::c_find_if(
      kPredicates, [&](const Row& row) { return row.direction == op.instruction.comparison_direction(); });
  return op.ir().CreateICmp(is_signed ? row.of_signed : row.of_unsigned, op.x(), op.y());
}

constexpr ElementEmitterRow kIntegerRows[] = {
    {HloOpcode::kAdd, &EmitAdd},
    {HloOpcode::kSubtract, &EmitSubtract},
    {HloOpcode::kMultiply, &EmitMultiply},
    {HloOpcode::kDivide, &EmitDivide, true},
    {HloOpcode::kRemainder, &EmitRemainder, true},
    {HloOpcode::kMaximum, &EmitMaximum},
    {HloOpcode::kMinimum, &EmitMinimum},
    {HloOpcode::kClamp, &EmitClamp},
    {HloOpcode::kAnd, &EmitAnd},
    {HloOpcode::kOr, &EmitOr},
    {HloOpcode::kXor, &EmitXor},
    {HloOpcode::kNot, &EmitNot},
    {HloOpcode::kNegate, &EmitNegate},
    {HloOpcode::kAbs, &EmitAbs},
    {HloOpcode::kSign, &EmitSign},
    {HloOpcode::kPopulationCount, &EmitPopulationCount},
    {HloOpcode::kClz, &EmitClz},
    {HloOpcode::kShiftLeft, &EmitShift<Shift::kLeft>},
    {HloOpcode::kShiftRightLogical, &EmitShift<Shift::kRightLogical>},
    {HloOpcode::kShiftRightArithmetic, &EmitShift<Shift::kRightArithmetic>},
    {HloOpcode::kCompare, &EmitCompare},
};

// PRED adds as or, multiplies as and.
constexpr ElementEmitterRow kPredRows[] = {
    {HloOpcode::kAdd, &EmitOr},      {HloOpcode::kMultiply, &EmitAnd}, {HloOpcode::kMaximum, &EmitOr},
    {HloOpcode::kMinimum, &EmitAnd}, {HloOpcode::kAnd, &EmitAnd},      {HloOpcode::kOr, &EmitOr},
    {HloOpcode::kXor, &EmitXor},     {HloOpcode::kNot, &EmitNot},      {HloOpcode::kCompare, &EmitCompare},
};

}  // namespace
}  // namespace integers

absl::Span<const ElementEmitterRow> IntegerEmitters() { return integers::kIntegerRows; }
absl::Span<const ElementEmitterRow> PredEmitters() { return integers::kPredRows; }

}  // namespace kashi::codegen
