#include "kashi/codegen/inline_math.h"

#include <initializer_list>
#include <limits>

#include <llvm/IR/Intrinsics.h>

namespace kashi::codegen {
namespace {

// Arithmetic on f32 lanes, and on their bits.
class Single {
 public:
  explicit Single(const LaneBuilder& lanes) : lanes_(lanes), ir_(lanes.ir()) {}

  llvm::Value* Real(double value) const { return lanes_.Splat(llvm::ConstantFP::get(ir_.getFloatTy(), value)); }
  llvm::Value* Bits(uint32_t bits) const { return lanes_.Splat(ir_.getInt32(bits)); }
  llvm::Value* ToBits(llvm::Value* x) const { return ir_.CreateBitCast(x, lanes_.Widen(ir_.getInt32Ty())); }
  llvm::Value* FromBits(llvm::Value* bits) const { return ir_.CreateBitCast(bits, lanes_.Widen(ir_.getFloatTy())); }

  // a * b + c, rounded once.
  llvm::Value* Fma(llvm::Value* a, llvm::Value* b, llvm::Value* c) const {
    return ir_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
  }
  // The coefficient of the highest power comes first.
  llvm::Value* Polynomial(llvm::Value* x, std::initializer_list<double> coefficients) const {
    llvm::Value* sum = nullptr;
    for (double coefficient : coefficients) {
      sum = sum == nullptr ? Real(coefficient) : Fma(sum, x, Real(coefficient));
    }
    return sum;
  }
  // A bound for numbers beyond it; NaN stays NaN.
  llvm::Value* AtMost(llvm::Value* x, double high) const {
    return ir_.CreateSelect(ir_.CreateFCmpOGT(x, Real(high)), Real(high), x);
  }
  llvm::Value* AtLeast(llvm::Value* x, double low) const {
    return ir_.CreateSelect(ir_.CreateFCmpOLT(x, Real(low)), Real(low), x);
  }
  llvm::Value* Abs(llvm::Value* x) const { return ir_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }
  // Denormal numbers become those with this magnitude, in bits, and their sign.
  llvm::Value* WithoutDenormals(llvm::Value* x, uint32_t magnitude) const {
    llvm::Value* const bits = ToBits(x);
    llvm::Value* const rest = ir_.CreateSub(ir_.CreateAnd(bits, Bits(0x7fffffff)), Bits(1));
    llvm::Value* const other = ir_.CreateOr(ir_.CreateAnd(bits, Bits(0x80000000)), Bits(magnitude));
    return FromBits(ir_.CreateSelect(ir_.CreateICmpULT(rest, Bits(0x007fffff)), other, bits));
  }
  // 2^n for n in [-126, 127].
  llvm::Value* PowerOfTwo(llvm::Value* n) const { return FromBits(ir_.CreateShl(ir_.CreateAdd(n, Bits(127)), 23)); }

 private:
  const LaneBuilder& lanes_;
  Ir& ir_;
};

constexpr double kLn2High = 0.693359375, kLn2Low = -2.12194440e-4;  // the first has few bits: n times it is exact

// e^x = 2^n e^r, |r| <= ln 2 / 2.
struct SplitExp {
  llvm::Value* rest_less_one;  // e^r - 1
  llvm::Value* rest;           // e^r
  llvm::Value* n;
};

SplitExp EmitSplitExp(const Single& f32, Ir& ir, llvm::Value* x) {
  constexpr double kRounder = 12582912;  // 1.5 * 2^23: the sum has no place for a fraction
  llvm::Value* shifted = f32.Fma(x, f32.Real(1.4426950408889634), f32.Real(kRounder));
  llvm::Value* n = ir.CreateSub(f32.ToBits(shifted), f32.ToBits(f32.Real(kRounder)));
  llvm::Value* whole = ir.CreateFSub(shifted, f32.Real(kRounder));
  llvm::Value* r = f32.Fma(whole, f32.Real(-kLn2High), x);
  r = f32.Fma(whole, f32.Real(-kLn2Low), r);
  llvm::Value* tail = f32.Polynomial(
      r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1});
  llvm::Value* rest_less_one = f32.Fma(tail, ir.CreateFMul(r, r), r);
  return {rest_less_one, ir.CreateFAdd(rest_less_one, f32.Real(1)), n};
}

// e^x for x in [-87, 88], where 2^n e^r is e^r with n added to its exponent. Of NaN: any number.
llvm::Value* EmitModerateExp(const Single& f32, Ir& ir, llvm::Value* x) {
  const SplitExp split = EmitSplitExp(f32, ir, x);
  return f32.FromBits(ir.CreateAdd(f32.ToBits(split.rest), ir.CreateShl(split.n, 23)));
}

// For x from -104 to 89, beyond which the result is 0 or infinite.
SplitExp EmitBoundedSplitExp(const Single& f32, Ir& ir, llvm::Value* x) {
  return EmitSplitExp(f32, ir, f32.AtLeast(f32.AtMost(x, 89), -104));
}
// 2^n e^r. Two powers of two, for neither 2^128 nor 2^-150 is a number.
llvm::Value* EmitScaled(const Single& f32, Ir& ir, const SplitExp& split) {
  llvm::Value* half = ir.CreateAShr(split.n, 1);
  llvm::Value* y = ir.CreateFMul(split.rest, f32.PowerOfTwo(half));
  return ir.CreateFMul(y, f32.PowerOfTwo(ir.CreateSub(split.n, half)));
}

}  // namespace

llvm::Value* EmitExpF32(const LaneBuilder& lanes, llvm::Value* x) {
  const Single f32(lanes);
  return EmitScaled(f32, lanes.ir(), EmitBoundedSplitExp(f32, lanes.ir(), x));
}

// 2^n (e^r - 1) + (2^n - 1) where 2^n - 1 is exact, elsewhere e^x - 1; -0 of -0.
llvm::Value* EmitExpm1F32(const LaneBuilder& lanes, llvm::Value* x) {
  const Single f32(lanes);
  Ir& ir = lanes.ir();
  const SplitExp split = EmitBoundedSplitExp(f32, ir, x);
  llvm::Value* power = f32.PowerOfTwo(split.n);
  llvm::Value* moderate = f32.Fma(power, split.rest_less_one, ir.CreateFSub(power, f32.Real(1)));
  llvm::Value* far = ir.CreateFSub(EmitScaled(f32, ir, split), f32.Real(1));
  llvm::Value* is_moderate = ir.CreateICmpULE(ir.CreateAdd(split.n, f32.Bits(24)), f32.Bits(48));  // |n| <= 24
  llvm::Value* y = ir.CreateSelect(is_moderate, moderate, far);
  return ir.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, y, x);
}

// 2^n e^r below 2^-126 becomes 0. Not added to the exponent: NaN stays NaN.
llvm::Value* EmitExpOfNegativeF32(const LaneBuilder& lanes, llvm::Value* x) {
  const Single f32(lanes);
  const SplitExp split = EmitSplitExp(f32, lanes.ir(), f32.AtLeast(x, -87.34));
  return lanes.ir().CreateFMul(split.rest, f32.PowerOfTwo(split.n));
}

// x = 2^e m, m in [sqrt(1/2), sqrt(2)).
llvm::Value* EmitLogF32(const LaneBuilder& lanes, llvm::Value* x) {
  const Single f32(lanes);
  Ir& ir = lanes.ir();
  const bool has_denormals = !lanes.numbers().flush_denormals;
  llvm::Value* scaled = x;
  llvm::Value* is_denormal = nullptr;
  if (has_denormals) {
    is_denormal = ir.CreateFCmpOLT(x, f32.Real(1.17549435e-38));
    scaled = ir.CreateSelect(is_denormal, ir.CreateFMul(x, f32.Real(8388608)), x);
  }
  // Bits above those of sqrt(1/2): their exponent is e.
  llvm::Value* bits = ir.CreateSub(f32.ToBits(scaled), f32.Bits(0x3f3504f3));
  llvm::Value* exponent = ir.CreateAShr(bits, 23);
  llvm::Value* mantissa = ir.CreateAdd(ir.CreateAnd(bits, f32.Bits(0x007fffff)), f32.Bits(0x3f3504f3));
  llvm::Value* m = ir.CreateFSub(f32.FromBits(mantissa), f32.Real(1));
  llvm::Value* e = ir.CreateSIToFP(exponent, x->getType());
  if (has_denormals) e = ir.CreateSelect(is_denormal, ir.CreateFSub(e, f32.Real(23)), e);
  llvm::Value* square = ir.CreateFMul(m, m);
  llvm::Value* y =
      f32.Polynomial(m, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
                         -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
  y = ir.CreateFMul(ir.CreateFMul(y, m), square);
  y = f32.Fma(e, f32.Real(kLn2Low), y);
  y = f32.Fma(square, f32.Real(-0.5), y);
  y = f32.Fma(e, f32.Real(kLn2High), ir.CreateFAdd(m, y));
  llvm::Value* infinity = llvm::ConstantFP::getInfinity(x->getType());
  y = ir.CreateSelect(ir.CreateFCmpOLT(x, infinity), y, x);  // infinity and NaN
  y = ir.CreateSelect(ir.CreateFCmpOEQ(x, f32.Real(0)), ir.CreateFNeg(infinity), y);
  return ir.CreateSelect(ir.CreateFCmpOLT(x, f32.Real(0)), llvm::ConstantFP::getNaN(x->getType()), y);
}

// Near 0 an odd polynomial, elsewhere 1 - 2 / (e^(2|x|) + 1) with the sign of x.
llvm::Value* EmitTanhF32(const LaneBuilder& lanes, llvm::Value* x) {
  const Single f32(lanes);
  Ir& ir = lanes.ir();
  llvm::Value* magnitude = f32.Abs(x);
  llvm::Value* bounded = f32.AtMost(magnitude, 10);  // tanh(10) is 1
  llvm::Value* exp = EmitModerateExp(f32, ir, ir.CreateFAdd(bounded, bounded));
  llvm::Value* quotient = ir.CreateFDiv(f32.Real(2), ir.CreateFAdd(exp, f32.Real(1)));
  llvm::Value* large = ir.CreateFSub(f32.Real(1), quotient);
  llvm::Value* square = ir.CreateFMul(x, x);
  llvm::Value* small = f32.Polynomial(
      square, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1});
  small = f32.Fma(ir.CreateFMul(small, square), magnitude, magnitude);
  // NaN takes the small branch, which is NaN. The sum in it has lost the sign of a zero.
  llvm::Value* result = ir.CreateSelect(ir.CreateFCmpOGE(magnitude, f32.Real(0.625)), large, small);
  return ir.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, x);
}

// Near 0 an odd polynomial, elsewhere 1 - e^p(|x|) with the sign of x. After N. Juffa.
llvm::Value* EmitErfF32(const LaneBuilder& lanes, llvm::Value* x) {
  const Single f32(lanes);
  Ir& ir = lanes.ir();
  llvm::Value* t = f32.AtMost(f32.Abs(x), 4);  // erf(4) is 1
  llvm::Value* square = ir.CreateFMul(t, t);
  llvm::Value* p = f32.Polynomial(t, {-1.72853470e-5, 3.83197126e-4});
  p = f32.Fma(p, square, f32.Polynomial(t, {-3.88396438e-3, 2.42546219e-2}));
  for (double coefficient : {-1.06777877e-1, -6.34846687e-1, -1.28717512e-1}) {
    p = f32.Fma(p, t, f32.Real(coefficient));
  }
  p = f32.Fma(p, t, ir.CreateFNeg(t));
  llvm::Value* large = ir.CreateFSub(f32.Real(1), EmitModerateExp(f32, ir, p));
  large = ir.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, large, x);
  llvm::Value* small = f32.Polynomial(
      square, {-5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1, -3.76125336e-1, 1.28379166e-1});
  small = f32.Fma(small, x, x);
  return ir.CreateSelect(ir.CreateFCmpOGT(t, f32.Real(0.927734375)), large, small);
}

namespace {

// Sine and cosine of an angle in [-pi/4, pi/4], and the number of quarter turns that were taken from it.
struct Turned {
  llvm::Value *sine, *cosine;  // f64
  llvm::Value* quarters;       // i32
};

//   q = x * 2/pi, rounded;  r = x - q * pi/2, in f64, with pi/2 as the sum of two numbers
// The rest r has an error of 2^-54; an f32 that is no multiple of pi/2 is at least 2^-30 away from one.
Turned EmitTurned(const LaneBuilder& lanes, llvm::Value* x) {
  Ir& ir = lanes.ir();
  llvm::Type* const type = lanes.Widen(ir.getDoubleTy());
  const auto number = [&](double value) { return llvm::ConstantFP::get(type, value); };
  const auto fma = [&](llvm::Value* a, llvm::Value* b, llvm::Value* c) {
    return ir.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {a, b, c});
  };
  llvm::Value* const wide = ir.CreateFPExt(x, type);
  llvm::Value* const q =
      ir.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, ir.CreateFMul(wide, number(0.63661977236758138)));
  llvm::Value* r = fma(q, number(-1.5707963267948966), wide);
  r = fma(q, number(-6.123233995736766e-17), r);
  llvm::Value* const z = ir.CreateFMul(r, r);
  llvm::Value* sine = fma(number(2.7183114939898219e-6), z, number(-1.9839334836096632e-4));
  sine = fma(sine, z, number(8.3333293858894632e-3));
  sine = fma(sine, z, number(-1.6666666641626524e-1));
  sine = fma(ir.CreateFMul(sine, z), r, r);
  llvm::Value* cosine = fma(number(2.4390448796277409e-5), z, number(-1.3886763774609929e-3));
  cosine = fma(cosine, z, number(4.1666623323739063e-2));
  cosine = fma(cosine, z, number(-4.9999999725103100e-1));
  cosine = fma(cosine, z, number(1));
  return {sine, cosine, ir.CreateFPToSI(q, lanes.Widen(ir.getInt32Ty()))};
}

// The sine after `quarters` quarter turns: sine, cosine, -sine, -cosine.
llvm::Value* EmitQuarters(const LaneBuilder& lanes, const Turned& turned, llvm::Value* quarters) {
  Ir& ir = lanes.ir();
  llvm::Type* const integer = lanes.Widen(ir.getInt32Ty());
  const auto has_bit = [&](uint64_t bit) {
    llvm::Value* const rest = ir.CreateAnd(quarters, llvm::ConstantInt::get(integer, bit));
    return ir.CreateICmpNE(rest, llvm::ConstantInt::get(integer, 0));
  };
  llvm::Value* const value = ir.CreateSelect(has_bit(1), turned.cosine, turned.sine);
  return ir.CreateFPTrunc(ir.CreateSelect(has_bit(2), ir.CreateFNeg(value), value), lanes.Widen(ir.getFloatTy()));
}

}  // namespace

llvm::Value* EmitSinF32(const LaneBuilder& lanes, llvm::Value* x) {
  Ir& ir = lanes.ir();
  const Turned turned = EmitTurned(lanes, x);
  llvm::Value* const y = EmitQuarters(lanes, turned, turned.quarters);
  return ir.CreateSelect(ir.CreateFCmpOEQ(x, Single(lanes).Real(0)), x, y);  // -0 of -0
}

llvm::Value* EmitCosF32(const LaneBuilder& lanes, llvm::Value* x) {
  const Turned turned = EmitTurned(lanes, x);
  llvm::Value* const next =
      lanes.ir().CreateAdd(turned.quarters, llvm::ConstantInt::get(lanes.Widen(lanes.ir().getInt32Ty()), 1));
  return EmitQuarters(lanes, turned, next);
}

namespace {

// Arithmetic on f64 lanes.
class Double {
 public:
  explicit Double(const LaneBuilder& lanes) : ir_(lanes.ir()), type_(lanes.Widen(ir_.getDoubleTy())) {}

  llvm::Value* Number(double value) const { return llvm::ConstantFP::get(type_, value); }
  llvm::Value* OfReal(llvm::Value* x) const { return ir_.CreateFPExt(x, type_); }
  llvm::Value* OfInteger(llvm::Value* n) const { return ir_.CreateSIToFP(n, type_); }
  llvm::Value* Polynomial(llvm::Value* x, std::initializer_list<double> coefficients) const {
    llvm::Value* sum = nullptr;
    for (double coefficient : coefficients) {
      llvm::Value* const number = Number(coefficient);
      sum = sum == nullptr ? number : ir_.CreateIntrinsic(llvm::Intrinsic::fma, {type_}, {sum, x, number});
    }
    return sum;
  }

 private:
  Ir& ir_;
  llvm::Type* type_;
};

// log2 of x >= 0 in f64; of NaN: any number.
//
//   x = 2^e m, sqrt(1/2) <= m < sqrt(2);  t = (m - 1) / (m + 1);  log2 x = e + 2 / ln 2 * artanh(t)
//
// |t| < 0.172, so eight terms of the series leave an error of 2^-44, relative to the result.
llvm::Value* EmitLog2OfMagnitude(const LaneBuilder& lanes, llvm::Value* x) {
  Ir& ir = lanes.ir();
  const Single f32(lanes);
  const Double f64(lanes);
  llvm::Value* const is_denormal = ir.CreateFCmpOLT(x, f32.Real(0x1p-126));
  llvm::Value* const scaled = ir.CreateSelect(is_denormal, ir.CreateFMul(x, f32.Real(0x1p24)), x);
  llvm::Value* const bits = ir.CreateSub(f32.ToBits(scaled), f32.Bits(0x3f3504f3));
  llvm::Value* const e = ir.CreateSub(ir.CreateAShr(bits, 23), ir.CreateSelect(is_denormal, f32.Bits(24), f32.Bits(0)));
  llvm::Value* const m =
      f64.OfReal(f32.FromBits(ir.CreateAdd(ir.CreateAnd(bits, f32.Bits(0x007fffff)), f32.Bits(0x3f3504f3))));
  llvm::Value* const t = ir.CreateFDiv(ir.CreateFSub(m, f64.Number(1)), ir.CreateFAdd(m, f64.Number(1)));
  constexpr double kScale = 2.8853900817779268;  // 2 / ln 2
  llvm::Value* const series = f64.Polynomial(ir.CreateFMul(t, t), {kScale / 15, kScale / 13, kScale / 11, kScale / 9,
                                                                   kScale / 7, kScale / 5, kScale / 3, kScale});
  llvm::Value* const log = ir.CreateFAdd(f64.OfInteger(e), ir.CreateFMul(t, series));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  llvm::Value* const of_infinity =
      ir.CreateSelect(ir.CreateFCmpOEQ(x, f32.Real(kInfinity)), f64.Number(kInfinity), log);
  return ir.CreateSelect(ir.CreateFCmpOEQ(x, f32.Real(0)), f64.Number(-kInfinity), of_infinity);
}

// 2^p as f32, for p in f64. The series of 2^f, |f| <= 1/2, leaves an error of 2^-31.
llvm::Value* EmitExp2AsF32(const LaneBuilder& lanes, llvm::Value* p) {
  Ir& ir = lanes.ir();
  const Double f64(lanes);
  llvm::Type* const integer = lanes.Widen(ir.getInt64Ty());
  p = ir.CreateSelect(ir.CreateFCmpOGT(p, f64.Number(160)), f64.Number(160), p);
  p = ir.CreateSelect(ir.CreateFCmpOGT(p, f64.Number(-160)), p, f64.Number(-160));  // NaN too
  llvm::Value* const n = ir.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, p);
  llvm::Value* const rest =
      f64.Polynomial(ir.CreateFSub(p, n),
                     {1.3215486790144307e-6, 1.5252733804059841e-5, 1.5403530393381608e-4, 1.3333558146428443e-3,
                      9.6181291076284772e-3, 5.5504108664821580e-2, 2.4022650695910071e-1, 6.9314718055994531e-1, 1});
  llvm::Value* const exponent = ir.CreateSExt(ir.CreateFPToSI(n, lanes.Widen(ir.getInt32Ty())), integer);
  llvm::Value* const bits = ir.CreateShl(ir.CreateAdd(exponent, llvm::ConstantInt::get(integer, 1023)), 52);
  llvm::Value* const power = ir.CreateBitCast(bits, p->getType());
  return ir.CreateFPTrunc(ir.CreateFMul(rest, power), lanes.Widen(ir.getFloatTy()));
}

}  // namespace

void ReplaceDenormalsForPowF32(const LaneBuilder& lanes, llvm::Value** x, llvm::Value** y) {
  const Single f32(lanes);
  *y = f32.WithoutDenormals(*y, /*magnitude=*/0x00800000);
  if (lanes.numbers().flush_denormals) *x = f32.WithoutDenormals(*x, /*magnitude=*/0);
}

llvm::Value* EmitPowF32(const LaneBuilder& lanes, llvm::Value* x, llvm::Value* y) {
  Ir& ir = lanes.ir();
  const Single f32(lanes);
  const Double f64(lanes);
  ReplaceDenormalsForPowF32(lanes, &x, &y);
  llvm::Value* const log = EmitLog2OfMagnitude(lanes, f32.Abs(x));
  // 1 to the power of infinity is 1.
  llvm::Value* const p =
      ir.CreateSelect(ir.CreateFCmpOEQ(log, f64.Number(0)), f64.Number(0), ir.CreateFMul(f64.OfReal(y), log));
  llvm::Value* result = EmitExp2AsF32(lanes, p);

  // Infinities count as even numbers.
  const auto is_whole = [&](llvm::Value* number) {
    return ir.CreateFCmpOEQ(ir.CreateUnaryIntrinsic(llvm::Intrinsic::floor, number), number);
  };
  llvm::Value* const y_is_whole = is_whole(y);
  llvm::Value* const y_is_odd = ir.CreateAnd(y_is_whole, ir.CreateNot(is_whole(ir.CreateFMul(y, f32.Real(0.5)))));
  llvm::Value* const has_sign = ir.CreateICmpSLT(f32.ToBits(x), f32.Bits(0));
  result = ir.CreateSelect(ir.CreateAnd(has_sign, y_is_odd), ir.CreateFNeg(result), result);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  llvm::Value* const is_negative =
      ir.CreateAnd(ir.CreateFCmpOLT(x, f32.Real(0)), ir.CreateFCmpONE(x, f32.Real(-kInfinity)));
  llvm::Value* const has_no_result =
      ir.CreateOr(ir.CreateAnd(is_negative, ir.CreateNot(y_is_whole)), ir.CreateFCmpUNO(x, y));
  result = ir.CreateSelect(has_no_result, f32.Real(std::numeric_limits<double>::quiet_NaN()), result);
  llvm::Value* const is_one = ir.CreateOr(ir.CreateFCmpOEQ(x, f32.Real(1)), ir.CreateFCmpOEQ(y, f32.Real(0)));
  return ir.CreateSelect(is_one, f32.Real(1), result);
}

}  // namespace kashi::codegen
