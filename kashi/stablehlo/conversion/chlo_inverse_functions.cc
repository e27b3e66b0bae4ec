// Inverse trigonometric and hyperbolic functions.
//
// The complex ones go back to two real kernels. |x| and |y| below are those of the real and the imaginary part:
//
//   asin, acos, asinh, acosh   the kernel of Hull, Fairgrieve and Tang ("Implementing the complex arcsine and
//                              arccosine functions using exception handling", 1997): with z = x + iy,
//                              r = |z + 1|, s = |z - 1|, a = (r + s) / 2 it gives
//                              sqrt(a^2 - x^2) and log(a + sqrt(a^2 - 1))
//   atan, atanh                log1p(4 x / ((1 - x)^2 + y^2)) / 4 and the angle of (1 - x)(1 + x) - y^2 + 2 y i
#include "kashi/array/primitive_util.h"
#include "kashi/stablehlo/conversion/chlo_functions.h"

namespace kashi::stablehlo {
namespace {

constexpr double kPi64 = 3.14159265358979323846;

bool HasComplexType(Term x) { return primitive_util::IsComplexType(x.type()); }

Term NegativeIf(Term condition, Term x) { return Select(condition, -x, x); }

// sqrt(a^2 + b^2) without overflow in between.
Term Hypotenuse(Term a, Term b) {
  const Term size = Abs(a);
  const Term larger = Maximum(size, b), smaller = Minimum(size, b);
  const Term ratio = smaller / larger;
  const Term square = ratio * ratio;
  const Term root = Sqrt(1 + square);
  // If 1 + square rounds to 1, the first terms of the series keep the effect of square.
  const Term value = Select(Equal(root, 1) & (square > 0), larger + (larger * square) / 2, larger * root);
  return Select(Equal(larger, smaller), 1.4142135623730951 * larger, value);
}

// The parts of the kernel that both results need. x and y are not negative.
struct HullTerms {
  Term x, y;
  Term x_plus_1, x_minus_1;
  Term r, s, a;
  Term y_square;
  Term r_plus, s_minus, s_plus;  // r + (x + 1), s - (x - 1), s + (x - 1)
  Term safe_max;                 // squares of less than this do not overflow
};

HullTerms MakeHullTerms(Term z) {
  const Term x = Abs(Real(z)), y = Abs(Imag(z));
  const Term safe_max = Sqrt(LargestFinite(x)) / 8;
  const Term x_plus_1 = x + 1, x_minus_1 = x - 1;
  const Term r = Hypotenuse(x_plus_1, y), s = Hypotenuse(x_minus_1, y);
  return {x, y, x_plus_1, x_minus_1, r, s, 0.5 * (r + s), y * y, r + x_plus_1, s - x_minus_1, s + x_minus_1, safe_max};
}

// sqrt(a^2 - x^2)
Term RootOfDifference(const HullTerms& t) {
  const Term half_apx = 0.5 * (t.a + t.x);
  const Term inner = Sqrt(half_apx * (t.y_square / t.r_plus + t.s_minus));
  const Term outer = t.y * Sqrt(half_apx / t.r_plus + half_apx / t.s_plus);
  return Select(Maximum(t.x, t.y) >= t.safe_max, t.y, Select(t.x <= 1, inner, outer));
}

// log(2 |z|), where a is so large that the rest does not count.
struct FarAway {
  Term holds;
  Term value;
};

FarAway LogarithmFarAway(const HullTerms& t) {
  const Term limit = Select(t.x < t.safe_max * 1e12, t.safe_max * 1e-6, t.safe_max * 1e2);
  const Term y_is_large = t.y >= limit;
  const Term larger = Select(y_is_large, t.y, t.x);
  const Term has_ratio = y_is_large & !Equal(t.y, Infinity(t.y));
  const Term ratio = Select(has_ratio, t.x / t.y, t.x.Same(0));
  const Term value = (Log(t.x.Same(2)) + Log(larger)) + 0.5 * LogPlusOne(ratio * ratio);
  return {larger >= Select(y_is_large, limit, t.safe_max), value};
}

// log(a + sqrt(a^2 - 1)), by a - 1
Term LogarithmOfSum(const HullTerms& t) {
  const FarAway far_away = LogarithmFarAway(t);
  const Term least = t.x.type() == F64 ? t.x.Same(2.2250738585072014e-308) : t.x.Same(1.17549435e-38);
  const Term is_near_axis = (t.y < Sqrt(least) * 4) & (t.x < 1);
  const Term a_plus_1 = t.a + 1;
  const Term half_square = 0.5 * t.y_square;
  const Term first = half_square / t.r_plus;
  const Term outside = first + 0.5 * t.s_plus;
  const Term inside = Select(t.a <= 1.5, first + half_square / t.s_minus, t.a - 1);
  const Term on_axis = -((t.x_plus_1 * t.x_minus_1) / a_plus_1);
  const Term a_minus_1 = Select(is_near_axis, on_axis, Select(t.x >= 1, outside, inside));
  const Term root = Sqrt(a_minus_1 * a_plus_1);
  const Term value = Select(is_near_axis, t.y / root, LogPlusOne(a_minus_1 + root));
  return Select(far_away.holds, far_away.value, value);
}

// sqrt((1 - x)(1 + x))
Term Cathetus(Term x) { return Sqrt((1 - x) * (1 + x)); }

Term ComplexAsin(Term z) {
  const Term kernel = AsinAcosKernel(z);
  return Complex(Atan2(Real(z), Real(kernel)), NegativeIf(Imag(z) < 0, Imag(kernel)));
}

Term ComplexAcos(Term z) {
  const Term kernel = AsinAcosKernel(z);
  const Term imag = Imag(kernel);
  return Complex(Atan2(Real(kernel), Real(z)), Select(Imag(z) < 0, imag, -imag));
}

// acosh z = i acos z, in the half plane of real part >= 0
Term ComplexAcosh(Term z) {
  const Term kernel = AsinAcosKernel(z);
  return Complex(Imag(kernel), NegativeIf(Imag(z) < 0, Atan2(Real(kernel), Real(z))));
}

// asinh z = -i asin(i z)
Term ComplexAsinh(Term z) {
  const Term real = Real(z), imag = Imag(z);
  const Term kernel = AsinAcosKernel(Complex(-imag, real));
  return Complex(NegativeIf(real < 0, Imag(kernel)), Atan2(imag, Real(kernel)));
}

// x / ((1 - x)^2 + y^2), for x not negative
Term AtanhQuotient(Term real, Term x, Term imag, Term y, Term is_small, double limit) {
  const Term inside = 1 - x;
  const Term small = x / (inside * inside + imag * imag);
  const auto is_infinite = [](Term part) { return Equal(part, Infinity(part)) | Equal(part, -Infinity(part)); };
  const Term large = (1 / (x / imag + imag / x)) / imag;
  const Term rest = Select(is_infinite(real) | is_infinite(imag), x.Same(0), large);
  return Select(is_small, small, Select(y * limit < x, 1 / x, rest));
}

Term ComplexAtanh(Term z) {
  const Term real = Real(z), imag = Imag(z);
  const Term x = Abs(real), y = Abs(imag);
  // A little above the number of bits of the significand, so that 1 - limit^2 is -limit^2.
  const double limit = x.type() == F64 ? 9007199254740994.0 : 16777218.0;
  const Term square = x.Same(limit) * x.Same(limit);
  const Term is_small = (x < square) & (y < square);
  const Term sign = Select(real >= 0, x.Same(1), x.Same(-1));
  const Term quotient = AtanhQuotient(real, x, imag, y, is_small, limit);
  const Term angle = Atan2(imag + imag, (1 - x) * (1 + x) - imag * imag);
  const Term right_angles = Select(imag >= 0, x.Same(1), x.Same(-1)) * kPi64;
  return Complex((sign * LogPlusOne(4 * quotient)) * 0.25, Select(is_small, angle, right_angles) * 0.5);
}

}  // namespace

Term AsinAcosKernel(Term z) {
  const HullTerms terms = MakeHullTerms(z);
  return Complex(RootOfDifference(terms), LogarithmOfSum(terms));
}

Term Acos(Term x) { return HasComplexType(x) ? ComplexAcos(x) : Atan2(Cathetus(x), x); }

Term Asin(Term x) {
  if (HasComplexType(x)) return ComplexAsin(x);
  const Term half = Atan2(x, 1 + Cathetus(x));
  return half + half;
}

// atan z = -i atanh(i z)
Term Atan(Term x) {
  if (!HasComplexType(x)) return Atan2(x, x.Same(1));
  const Term turned = ComplexAtanh(Complex(-Imag(x), Real(x)));
  return Complex(Imag(turned), -Real(turned));
}

Term Acosh(Term x) {
  if (HasComplexType(x)) return ComplexAcosh(x);
  const Term root = Sqrt(x - 1);
  const Term large = Log(x.Same(2)) + Log(x);
  return Select(x >= LargestFinite(x) / 2, large, LogPlusOne(root * (Sqrt(x + 1) + root)));
}

Term Asinh(Term x) {
  if (HasComplexType(x)) return ComplexAsinh(x);
  const Term size = Abs(x);
  const Term square = size * size;
  const Term large = Log(x.Same(2)) + Log(size);
  const Term value = LogPlusOne(size + square / (1 + Sqrt(1 + square)));
  return Sign(x) * Select(size >= Sqrt(LargestFinite(x)), large, value);
}

Term Atanh(Term x) {
  if (HasComplexType(x)) return ComplexAtanh(x);
  return Select(Abs(x) > 1, NotANumber(x), (LogPlusOne(x) - LogPlusOne(-x)) * 0.5);
}

}  // namespace kashi::stablehlo
