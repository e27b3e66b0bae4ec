// Real numbers. BF16 and F16 compute in f32 and are rounded to their type (LaneBuilder::Round).
#include <cmath>

#include <llvm/IR/Intrinsics.h>

#include "absl/algorithm/container.h"
#include "kashi/array/primitive_util.h"
#include "kashi/codegen/element_emitters.h"
#include "kashi/codegen/math_library.h"

namespace kashi::codegen {
namespace reals {
namespace {

llvm::Value* Constant(const ElementOperation& op, double value) { return op.lanes.Real(op.operand_type(), value); }
llvm::Value* Rounded(const ElementOperation& op, llvm::Value* value) { return op.lanes.Round(op.type(), value); }

llvm::Value* EmitAdd(const ElementOperation& op) { return Rounded(op, op.ir().CreateFAdd(op.x(), op.y())); }
llvm::Value* EmitSubtract(const ElementOperation& op) { return Rounded(op, op.ir().CreateFSub(op.x(), op.y())); }
llvm::Value* EmitMultiply(const ElementOperation& op) { return Rounded(op, op.ir().CreateFMul(op.x(), op.y())); }
llvm::Value* EmitDivide(const ElementOperation& op) { return Rounded(op, op.ir().CreateFDiv(op.x(), op.y())); }
llvm::Value* EmitNegate(const ElementOperation& op) { return op.ir().CreateFNeg(op.x()); }

template <llvm::Intrinsic::ID intrinsic>
llvm::Value* EmitIntrinsic(const ElementOperation& op) {
  return Rounded(op, op.ir().CreateUnaryIntrinsic(intrinsic, op.x()));
}

llvm::Value* EmitReal(const ElementOperation& op) { return op.x(); }
llvm::Value* EmitImag(const ElementOperation& op) { return Constant(op, 0); }

// 1 with the sign of x; NaN and both zeros as they are.
llvm::Value* EmitSign(const ElementOperation& op) {
  llvm::Value* one = op.ir().CreateBinaryIntrinsic(llvm::Intrinsic::copysign, Constant(op, 1), op.x());
  // Denormal numbers are 0 to the comparison, so their sign is 0. That of NaN is NaN.
  llvm::Value* zero = op.ir().CreateFMul(op.x(), Constant(op, 0));
  return op.ir().CreateSelect(op.ir().CreateFCmpONE(op.x(), Constant(op, 0)), one, zero);
}

llvm::Value* EmitIsFinite(const ElementOperation& op) {
  llvm::Value* magnitude = op.ir().CreateUnaryIntrinsic(llvm::Intrinsic::fabs, op.x());
  return op.ir().CreateFCmpOLT(magnitude, llvm::ConstantFP::getInfinity(op.x()->getType()));
}

llvm::Value* EmitRsqrt(const ElementOperation& op) {
  llvm::Value* root = op.ir().CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, op.x());
  return Rounded(op, op.ir().CreateFDiv(Constant(op, 1), root));
}

// 1 / (1 + exp(-x)); for negative x exp(x) / (1 + exp(x)), since exp(-x) may be infinite.
llvm::Value* EmitLogistic(const ElementOperation& op) {
  Ir& ir = op.ir();
  llvm::Value* magnitude = ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, op.x());
  llvm::Value* exp = op.lanes.target().math->EmitExpOfNegative(op.lanes, ir.CreateFNeg(magnitude));
  llvm::Value* numerator = ir.CreateSelect(ir.CreateFCmpOLT(op.x(), Constant(op, 0)), exp, Constant(op, 1));
  return Rounded(op, ir.CreateFDiv(numerator, ir.CreateFAdd(Constant(op, 1), exp)));
}

// SLEEF's log1p ends at 1e38 (f32) and 1e307 (f64): beyond 2^120 and 2^1000 it is log1p(x / 2^n) + n log(2). Near 0 it
// is x, of which SLEEF's loses all where denormal numbers count as 0.
llvm::Value* EmitLog1p(const ElementOperation& op) {
  Ir& ir = op.ir();
  const bool is_double = op.x()->getType()->getScalarType()->isDoubleTy();
  const int exponent = is_double ? 1000 : 120, halvings = is_double ? 64 : 16;
  llvm::Value* is_large = ir.CreateFCmpOGT(op.x(), Constant(op, std::ldexp(1.0, exponent)));
  llvm::Value* scaled = ir.CreateFMul(op.x(), Constant(op, std::ldexp(1.0, -halvings)));
  llvm::Value* log =
      op.lanes.target().math->Emit(op.lanes, MathFunction::kLog1p, {ir.CreateSelect(is_large, scaled, op.x())});
  llvm::Value* of_large = ir.CreateFAdd(log, Constant(op, halvings * std::log(2.0)));
  llvm::Value* magnitude = ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, op.x());
  llvm::Value* is_small = ir.CreateFCmpOLT(magnitude, Constant(op, std::ldexp(1.0, -60)));
  return Rounded(op, ir.CreateSelect(is_small, op.x(), ir.CreateSelect(is_large, of_large, log)));
}

template <MathFunction function>
llvm::Value* EmitFunction(const ElementOperation& op) {
  return Rounded(op, op.lanes.target().math->Emit(op.lanes, function, op.operands));
}

llvm::Value* EmitRemainder(const ElementOperation& op) { return Rounded(op, op.ir().CreateFRem(op.x(), op.y())); }

// NaN if either is one; the larger of -0 and 0 is 0. Not LLVM's intrinsic for F16: LLVM 19 narrows it to half, where it
// loses NaN.
llvm::Value* Larger(const ElementOperation& op, llvm::Value* x, llvm::Value* y, bool is_maximum) {
  Ir& ir = op.ir();
  if (op.operand_type() != F16) {
    return ir.CreateBinaryIntrinsic(is_maximum ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum, x, y);
  }
  llvm::Type* integer = op.lanes.Widen(ir.getInt32Ty());
  llvm::Value *a = ir.CreateBitCast(x, integer), *b = ir.CreateBitCast(y, integer);
  llvm::Value* zero = ir.CreateBitCast(is_maximum ? ir.CreateAnd(a, b) : ir.CreateOr(a, b), x->getType());
  llvm::Value* is_x = ir.CreateOr(is_maximum ? ir.CreateFCmpOGT(x, y) : ir.CreateFCmpOLT(x, y), ir.CreateFCmpUNO(x, x));
  return ir.CreateSelect(is_x, x, ir.CreateSelect(ir.CreateFCmpOEQ(x, y), zero, y));
}
llvm::Value* EmitMaximum(const ElementOperation& op) { return Larger(op, op.x(), op.y(), true); }
llvm::Value* EmitMinimum(const ElementOperation& op) { return Larger(op, op.x(), op.y(), false); }
// The high bound wins where the bounds cross.
llvm::Value* EmitClamp(const ElementOperation& op) {
  return Larger(op, Larger(op, op.operands[0], op.operands[1], true), op.operands[2], false);
}

// Integers that grow as the numbers do: -NaN < -inf < … < -0 < 0 < … < inf < NaN.
llvm::Value* TotalOrderKey(const ElementOperation& op, llvm::Value* x) {
  const int bits = op.operand_type() == F64 ? 64 : 32;
  llvm::Type* integer = op.lanes.Widen(op.ir().getIntNTy(bits));
  llvm::Value* key = op.ir().CreateBitCast(x, integer);
  llvm::Value* flip = op.ir().CreateLShr(op.ir().CreateAShr(key, bits - 1), 1);  // all bits but the sign's
  return op.ir().CreateXor(key, flip);
}

llvm::Value* EmitCompare(const ElementOperation& op) {
  using Predicate = llvm::CmpInst::Predicate;
  struct Row {
    ComparisonDirection direction;
    Predicate partial, total;
  };
  static constexpr Row kPredicates[] = {
      {ComparisonDirection::kEq, Predicate::FCMP_OEQ, Predicate::ICMP_EQ},
      {ComparisonDirection::kNe, Predicate::FCMP_UNE, Predicate::ICMP_NE},
      {ComparisonDirection::kGe, Predicate::FCMP_OGE, Predicate::ICMP_SGE},
      {ComparisonDirection::kGt, Predicate::FCMP_OGT, Predicate::ICMP_SGT},
      {ComparisonDirection::kLe, Predicate::FCMP_OLE, Predicate::ICMP_SLE},
      {ComparisonDirection::kLt, Predicate::FCMP_OLT, Predicate::ICMP_SLT},
  };
  const bool is_total = op.instruction.comparison_order() == Comparison::Order::kTotal;
  const Row& row = *absl::c_find_if(
      kPredicates, [&](const Row& row) { return row.direction == op.instruction.comparison_direction(); });
  if (!is_total) return op.ir().CreateFCmp(row.partial, op.x(), op.y());
  return op.ir().CreateICmp(row.total, TotalOrderKey(op, op.x()), TotalOrderKey(op, op.y()));
}

constexpr ElementEmitterRow kRows[] = {
    {HloOpcode::kAdd, &EmitAdd},
    {HloOpcode::kSubtract, &EmitSubtract},
    {HloOpcode::kMultiply, &EmitMultiply},
    {HloOpcode::kDivide, &EmitDivide, true},
    {HloOpcode::kRemainder, &EmitRemainder, true},
    {HloOpcode::kMaximum, &EmitMaximum},
    {HloOpcode::kMinimum, &EmitMinimum},
    {HloOpcode::kClamp, &EmitClamp},
    {HloOpcode::kNegate, &EmitNegate},
    {HloOpcode::kAbs, &EmitIntrinsic<llvm::Intrinsic::fabs>},
    {HloOpcode::kSign, &EmitSign},
    {HloOpcode::kCeil, &EmitIntrinsic<llvm::Intrinsic::ceil>},
    {HloOpcode::kFloor, &EmitIntrinsic<llvm::Intrinsic::floor>},
    {HloOpcode::kRoundNearestAfz, &EmitIntrinsic<llvm::Intrinsic::round>},
    {HloOpcode::kRoundNearestEven, &EmitIntrinsic<llvm::Intrinsic::roundeven>},
    {HloOpcode::kIsFinite, &EmitIsFinite},
    {HloOpcode::kSqrt, &EmitIntrinsic<llvm::Intrinsic::sqrt>, true},
    {HloOpcode::kRsqrt, &EmitRsqrt, true},
    {HloOpcode::kLogistic, &EmitLogistic, true},
    {HloOpcode::kExp, &EmitFunction<MathFunction::kExp>, true},
    {HloOpcode::kExp2, &EmitFunction<MathFunction::kExp2>, true},
    {HloOpcode::kExpm1, &EmitFunction<MathFunction::kExpm1>, true},
    {HloOpcode::kLog, &EmitFunction<MathFunction::kLog>, true},
    {HloOpcode::kLog2, &EmitFunction<MathFunction::kLog2>, true},
    {HloOpcode::kLog1p, &EmitLog1p, true},
    {HloOpcode::kTanh, &EmitFunction<MathFunction::kTanh>, true},
    {HloOpcode::kSin, &EmitFunction<MathFunction::kSin>, true},
    {HloOpcode::kCos, &EmitFunction<MathFunction::kCos>, true},
    {HloOpcode::kTan, &EmitFunction<MathFunction::kTan>, true},
    {HloOpcode::kCbrt, &EmitFunction<MathFunction::kCbrt>, true},
    {HloOpcode::kErf, &EmitFunction<MathFunction::kErf>, true},
    {HloOpcode::kPower, &EmitFunction<MathFunction::kPow>, true},
    {HloOpcode::kAtan, &EmitFunction<MathFunction::kAtan>, true},
    {HloOpcode::kAtan2, &EmitFunction<MathFunction::kAtan2>, true},
    {HloOpcode::kReal, &EmitReal},
    {HloOpcode::kImag, &EmitImag},
    {HloOpcode::kCompare, &EmitCompare},
};

}  // namespace
}  // namespace reals

absl::Span<const ElementEmitterRow> RealEmitters() { return reals::kRows; }

}  // namespace kashi::codegen
