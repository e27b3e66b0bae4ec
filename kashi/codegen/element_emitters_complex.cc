// Complex numbers: pairs of registers. Exponentials and quotients of C64 are computed in f64 and rounded once, as the
// evaluator does (kashi/kernels/element_kernel_complex.cc); products are the plain formula, as XLA's. Quotients and
// functions of C128 are the evaluator's.
#include <llvm/IR/Intrinsics.h>

#include "kashi/array/primitive_util.h"
#include "kashi/codegen/element_emitters.h"
#include "kashi/codegen/math_library.h"

namespace kashi::codegen {
namespace complexes {
namespace {

// A complex value as its parts.
struct Pair {
  llvm::Value *real, *imaginary;
};

Pair PartsOf(const ElementOperation& op, int operand) {
  return {op.lanes.RealPart(op.operands[operand]), op.lanes.ImaginaryPart(op.operands[operand])};
}
Pair WideParts(const ElementOperation& op, int operand) {
  const Pair narrow = PartsOf(op, operand);
  llvm::Type* wide = op.lanes.Register(F64);
  return {op.ir().CreateFPExt(narrow.real, wide), op.ir().CreateFPExt(narrow.imaginary, wide)};
}
llvm::Value* Narrow(const ElementOperation& op, const Pair& wide) {
  llvm::Type* narrow = op.lanes.Register(F32);
  return op.lanes.Complex(op.ir().CreateFPTrunc(wide.real, narrow), op.ir().CreateFPTrunc(wide.imaginary, narrow));
}

llvm::Value* EmitAdd(const ElementOperation& op) {
  const Pair x = PartsOf(op, 0), y = PartsOf(op, 1);
  return op.lanes.Complex(op.ir().CreateFAdd(x.real, y.real), op.ir().CreateFAdd(x.imaginary, y.imaginary));
}
llvm::Value* EmitSubtract(const ElementOperation& op) {
  const Pair x = PartsOf(op, 0), y = PartsOf(op, 1);
  return op.lanes.Complex(op.ir().CreateFSub(x.real, y.real), op.ir().CreateFSub(x.imaginary, y.imaginary));
}
// The order of the products is XLA's: LLVM fuses the first with the sum.
llvm::Value* EmitMultiply(const ElementOperation& op) {
  Ir& ir = op.ir();
  const Pair x = PartsOf(op, 0), y = PartsOf(op, 1);
  return op.lanes.Complex(ir.CreateFSub(ir.CreateFMul(x.real, y.real), ir.CreateFMul(x.imaginary, y.imaginary)),
                          ir.CreateFAdd(ir.CreateFMul(x.imaginary, y.real), ir.CreateFMul(x.real, y.imaginary)));
}
llvm::Value* EmitNegate(const ElementOperation& op) {
  const Pair x = PartsOf(op, 0);
  return op.lanes.Complex(op.ir().CreateFNeg(x.real), op.ir().CreateFNeg(x.imaginary));
}
llvm::Value* EmitReal(const ElementOperation& op) { return PartsOf(op, 0).real; }
llvm::Value* EmitImag(const ElementOperation& op) { return PartsOf(op, 0).imaginary; }
llvm::Value* EmitComplex(const ElementOperation& op) { return op.lanes.Complex(op.x(), op.y()); }

// EQ or NE: complex numbers have no order.
llvm::Value* EmitCompare(const ElementOperation& op) {
  Ir& ir = op.ir();
  const Pair x = PartsOf(op, 0), y = PartsOf(op, 1);
  llvm::Value* is_equal = ir.CreateAnd(ir.CreateFCmpOEQ(x.real, y.real), ir.CreateFCmpOEQ(x.imaginary, y.imaginary));
  return op.instruction.comparison_direction() == ComparisonDirection::kEq ? is_equal : ir.CreateNot(is_equal);
}

llvm::Value* Magnitude(const ElementOperation& op, llvm::Value* x) {
  return op.ir().CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
}
llvm::Value* IsInfinite(const ElementOperation& op, llvm::Value* x) {
  return op.ir().CreateFCmpOEQ(Magnitude(op, x), llvm::ConstantFP::getInfinity(x->getType()));
}
llvm::Value* IsFinite(const ElementOperation& op, llvm::Value* x) {
  return op.ir().CreateFCmpOLT(Magnitude(op, x), llvm::ConstantFP::getInfinity(x->getType()));
}

llvm::Value* IsNumber(const ElementOperation& op, llvm::Value* x) { return op.ir().CreateFCmpORD(x, x); }
llvm::Value* IsZero(const ElementOperation& op, llvm::Value* x) {
  return op.ir().CreateFCmpOEQ(x, llvm::Constant::getNullValue(x->getType()));
}

// m sqrt(1 + (n / m)^2) of the larger part m and the smaller one n: no square overflows or vanishes. The formula is
// XLA's, to the last bit. An infinite part counts more than a NaN.
llvm::Value* EmitAbs(const ElementOperation& op) {
  Ir& ir = op.ir();
  const Pair x = PartsOf(op, 0);
  llvm::Value *real = Magnitude(op, x.real), *imaginary = Magnitude(op, x.imaginary);
  llvm::Value* larger = ir.CreateBinaryIntrinsic(llvm::Intrinsic::maximum, real, imaginary);
  llvm::Value* smaller = ir.CreateBinaryIntrinsic(llvm::Intrinsic::minimum, real, imaginary);
  llvm::Value* ratio = ir.CreateFDiv(smaller, larger);
  llvm::Value* one = llvm::ConstantFP::get(ratio->getType(), 1);
  llvm::Value* square = ir.CreateFAdd(ir.CreateFMul(ratio, ratio), one);
  llvm::Value* abs = ir.CreateFMul(larger, ir.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, square));
  abs = ir.CreateSelect(IsZero(op, larger), larger, abs);
  llvm::Value* is_infinite = ir.CreateOr(IsInfinite(op, x.real), IsInfinite(op, x.imaginary));
  return ir.CreateSelect(is_infinite, llvm::ConstantFP::getInfinity(abs->getType()), abs);
}

// ---- In f64 --------------------------------------------------------------------------------------------------------

// x times the conjugate of y.
Pair TimesConjugate(Ir& ir, const Pair& x, const Pair& y) {
  return {ir.CreateFAdd(ir.CreateFMul(x.real, y.real), ir.CreateFMul(x.imaginary, y.imaginary)),
          ir.CreateFSub(ir.CreateFMul(x.imaginary, y.real), ir.CreateFMul(x.real, y.imaginary))};
}

// Each part 1 where it is infinite, else 0, with its sign.
Pair InfinitePartsAsOnes(const ElementOperation& op, const Pair& x) {
  const auto as_one = [&](llvm::Value* part) {
    llvm::Value* one = op.ir().CreateSelect(IsInfinite(op, part), op.lanes.Real(F64, 1), op.lanes.Real(F64, 0));
    return op.ir().CreateBinaryIntrinsic(llvm::Intrinsic::copysign, one, part);
  };
  return {as_one(x.real), as_one(x.imaginary)};
}

Pair Scaled(Ir& ir, const Pair& x, llvm::Value* factor) {
  return {ir.CreateFMul(x.real, factor), ir.CreateFMul(x.imaginary, factor)};
}

Pair SelectPair(Ir& ir, llvm::Value* condition, const Pair& a, const Pair& b) {
  return {ir.CreateSelect(condition, a.real, b.real), ir.CreateSelect(condition, a.imaginary, b.imaginary)};
}

// x / y, divided by the larger part of y first (R. L. Smith, Algorithm 116, 1962), as C and XLA do it: with the product
// of x and the conjugate of y, zeros would have other signs.
//
//   |c| < |d|:  r = c / d    (a + bi) / (c + di) = ((a r + b) + (b r - a) i) / (c r + d)
//   else:       r = d / c                        = ((b r + a) + (b - a r) i) / (d r + c)
//
// No product and sum are fused: the imaginary part of z / z would be what the product was rounded by.
Pair SmithsQuotient(const ElementOperation& op, const Pair& x, const Pair& y) {
  Ir& ir = op.ir();
  const Ir::FastMathFlagGuard guard(ir);
  ir.clearFastMathFlags();
  llvm::Value* swaps = ir.CreateFCmpOLT(Magnitude(op, y.real), Magnitude(op, y.imaginary));
  llvm::Value* larger = ir.CreateSelect(swaps, y.imaginary, y.real);
  llvm::Value* smaller = ir.CreateSelect(swaps, y.real, y.imaginary);
  llvm::Value* ratio = ir.CreateFDiv(smaller, larger);
  llvm::Value* divisor = ir.CreateFAdd(ir.CreateFMul(smaller, ratio), larger);
  llvm::Value* scaled = ir.CreateFMul(ir.CreateSelect(swaps, x.real, x.imaginary), ratio);
  llvm::Value* real = ir.CreateFAdd(scaled, ir.CreateSelect(swaps, x.imaginary, x.real));
  llvm::Value* imaginary = ir.CreateSelect(swaps, ir.CreateFSub(ir.CreateFMul(x.imaginary, ratio), x.real),
                                           ir.CreateFSub(x.imaginary, ir.CreateFMul(x.real, ratio)));
  return {ir.CreateFDiv(real, divisor), ir.CreateFDiv(imaginary, divisor)};
}

// C's quotient (C17, annex G.5.1): where the formula gives NaN in both parts,
//   number / 0           infinite
//   infinite / finite    infinite
//   finite / infinite    0
llvm::Value* EmitDivide(const ElementOperation& op) {
  Ir& ir = op.ir();
  const Pair x = WideParts(op, 0), y = WideParts(op, 1);
  const Pair quotient = SmithsQuotient(op, x, y);

  llvm::Value* infinity = llvm::ConstantFP::getInfinity(op.lanes.Register(F64));
  llvm::Value* zero = op.lanes.Real(F64, 0);
  const auto either = [&](const Pair& z, auto is) { return ir.CreateOr(is(op, z.real), is(op, z.imaginary)); };
  const auto both = [&](const Pair& z, auto is) { return ir.CreateAnd(is(op, z.real), is(op, z.imaginary)); };
  llvm::Value* is_over_zero = ir.CreateAnd(both(y, IsZero), either(x, IsNumber));
  llvm::Value* is_infinite = ir.CreateAnd(either(x, IsInfinite), both(y, IsFinite));
  llvm::Value* is_zero = ir.CreateAnd(either(y, IsInfinite), both(x, IsFinite));

  Pair rest = SelectPair(ir, is_zero, Scaled(ir, TimesConjugate(ir, x, InfinitePartsAsOnes(op, y)), zero), quotient);
  rest = SelectPair(ir, is_infinite, Scaled(ir, TimesConjugate(ir, InfinitePartsAsOnes(op, x), y), infinity), rest);
  llvm::Value* signed_infinity = ir.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, infinity, y.real);
  rest = SelectPair(ir, is_over_zero, Scaled(ir, x, signed_infinity), rest);
  llvm::Value* is_nan = ir.CreateNot(either(quotient, IsNumber));
  return Narrow(op, SelectPair(ir, is_nan, rest, quotient));
}

// exp(x) (cos(y) + i sin(y)). A real number stays one; exp(-infinity) is 0 and exp(infinity) infinite, whatever y is.
llvm::Value* EmitExp(const ElementOperation& op) {
  Ir& ir = op.ir();
  const Pair x = WideParts(op, 0);
  const MathLibrary& math = *op.lanes.target().math;
  llvm::Value* zero = op.lanes.Real(F64, 0);
  llvm::Value* size = math.Emit(op.lanes, MathFunction::kExp, {x.real});
  Pair result = {ir.CreateFMul(size, math.Emit(op.lanes, MathFunction::kCos, {x.imaginary})),
                 ir.CreateFMul(size, math.Emit(op.lanes, MathFunction::kSin, {x.imaginary}))};
  result = SelectPair(ir, ir.CreateFCmpOEQ(x.imaginary, zero), {size, x.imaginary}, result);
  llvm::Value* is_unbounded = ir.CreateAnd(IsInfinite(op, x.real), ir.CreateNot(IsFinite(op, x.imaginary)));
  llvm::Value* signed_zero = ir.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, zero, x.imaginary);
  llvm::Value* of_infinity = ir.CreateSelect(ir.CreateFCmpOLT(x.real, zero), signed_zero, result.imaginary);
  return Narrow(op, SelectPair(ir, is_unbounded, {size, of_infinity}, result));
}

constexpr ElementEmitterRow kRows[] = {
    {HloOpcode::kAdd, &EmitAdd},         {HloOpcode::kSubtract, &EmitSubtract}, {HloOpcode::kMultiply, &EmitMultiply},
    {HloOpcode::kNegate, &EmitNegate},   {HloOpcode::kReal, &EmitReal},         {HloOpcode::kImag, &EmitImag},
    {HloOpcode::kCompare, &EmitCompare}, {HloOpcode::kAbs, &EmitAbs, true},
};
constexpr ElementEmitterRow kRowsInF64[] = {
    {HloOpcode::kDivide, &EmitDivide, true},
    {HloOpcode::kExp, &EmitExp, true},
};
constexpr ElementEmitterRow kComposeRows[] = {{HloOpcode::kComplex, &EmitComplex}};

}  // namespace
}  // namespace complexes

absl::Span<const ElementEmitterRow> ComplexEmitters() { return complexes::kRows; }
absl::Span<const ElementEmitterRow> Complex64Emitters() { return complexes::kRowsInF64; }
absl::Span<const ElementEmitterRow> ComposeEmitters() { return complexes::kComposeRows; }

}  // namespace kashi::codegen
