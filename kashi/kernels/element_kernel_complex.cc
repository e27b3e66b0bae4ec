// Complex numbers in c64 and c128 (docs/spec/hlo-ops.md 1.1, 1.2). Functions of c64 are computed in c128 and rounded
// once; products and sums are not. The functions of C++ are used; for those that it lacks:
//
//   expm1(x+iy) = (expm1(x) cos(y) - 2 sin(y/2)^2) + i exp(x) sin(y)       no 1 is subtracted from a number near 1
//   log1p(x+iy) = log1p(x (2+x) + y^2) / 2 + i atan2(y, 1+x)               |1+z|^2 - 1 = x (2+x) + y^2
//   atan2(y, x) = -i log((x + iy) / sqrt(x^2 + y^2))
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include "kashi/array/types.h"
#include "kashi/kernels/element_loops.h"

namespace kashi::kernels {
namespace {

// The plain formula. C's product, like that of std::complex, turns some NaNs into infinities; XLA's does not.
template <typename T>
T Multiply(T x, T y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

template <typename T>
bool IsFinite(T z) {
  return std::isfinite(z.real()) && std::isfinite(z.imag());
}

// f(z), in c128 also for c64.
template <typename T, typename Function>
T ComputeWide(T z, Function f) {
  return T(f(std::complex<double>(z)));
}

template <typename T>
T Sign(T z) {
  const auto magnitude = std::abs(z);
  return magnitude == 0 ? T(0) : T(z.real() / magnitude, z.imag() / magnitude);
}

template <typename T>
T Expm1(T z) {
  if (!IsFinite(z)) return std::exp(z) - T(1);
  const auto x = z.real(), y = z.imag(), half_sine = std::sin(y / 2);
  if (y == 0) return {std::expm1(x), y};
  return {std::expm1(x) * std::cos(y) - 2 * half_sine * half_sine, std::exp(x) * std::sin(y)};
}

// Computed from the magnitude 2^x and the angle y log(2); by C's exp where that would lose infinities.
template <typename T>
T Exp2(T z) {
  constexpr double kLogOf2 = 0.6931471805599453;
  const auto magnitude = std::exp2(z.real()), angle = z.imag() * kLogOf2;
  if (!IsFinite(z) || !std::isfinite(magnitude)) return std::exp(z * kLogOf2);
  return {magnitude * std::cos(angle), magnitude * std::sin(angle)};
}

template <typename T>
T Log2(T z) {
  constexpr double kLogOf2 = 0.6931471805599453;
  return std::log(z) / kLogOf2;
}

// Computed in a wider type: the terms cancel where |1+z| is near 1, and overflow where z is large.
template <typename T>
T Log1p(T z) {
  using Part = typename T::value_type;
  using Wide = std::conditional_t<std::is_same_v<Part, float>, double, long double>;
  if (!IsFinite(z)) return std::log(z + T(1));
  const Wide x = z.real(), y = z.imag();
  return {static_cast<Part>(std::log1p(x * (2 + x) + y * y) / 2), static_cast<Part>(std::atan2(y, 1 + x))};
}

template <typename T>
T Power(T base, T exponent) {
  using Part = typename T::value_type;
  if (base == T(1) || exponent == T(0)) return T(1);
  if (base == T(std::numeric_limits<Part>::infinity()) && exponent.imag() == 0) {
    if (exponent.real() > 0) return base;
    if (exponent.real() < 0) return T(0);
  }
  return std::pow(base, exponent);
}

template <typename T>
T Atan2(T y, T x) {
  // In c64 the logarithm of a quotient near 1 would cancel.
  if constexpr (std::is_same_v<T, std::complex<float>>) {
    return T(Atan2(std::complex<double>(y), std::complex<double>(x)));
  }
  const T i(0, 1);
  return Multiply(-i, std::log((x + Multiply(i, y)) / std::sqrt(Multiply(x, x) + Multiply(y, y))));
}

template <HloOpcode>
struct ComplexUnary {};
#define KASHI_COMPLEX_FUNCTION(opcode, expression) \
  KASHI_FORMULA(ComplexUnary, opcode, (T z), ComputeWide(z, [](std::complex<double> w) { return expression; }))
KASHI_FORMULA(ComplexUnary, kAbs, (T z), std::abs(z))
KASHI_FORMULA(ComplexUnary, kReal, (T z), z.real())
KASHI_FORMULA(ComplexUnary, kImag, (T z), z.imag())
KASHI_FORMULA(ComplexUnary, kNegate, (T z), -z)
KASHI_FORMULA(ComplexUnary, kSign, (T z), Sign(z))
KASHI_COMPLEX_FUNCTION(kSqrt, std::sqrt(w))
KASHI_COMPLEX_FUNCTION(kRsqrt, 1.0 / std::sqrt(w))
KASHI_COMPLEX_FUNCTION(kExp, std::exp(w))
KASHI_COMPLEX_FUNCTION(kExp2, Exp2(w))
KASHI_COMPLEX_FUNCTION(kExpm1, Expm1(w))
KASHI_COMPLEX_FUNCTION(kLog, std::log(w))
KASHI_COMPLEX_FUNCTION(kLog2, Log2(w))
KASHI_FORMULA(ComplexUnary, kLog1p, (T z), Log1p(z))
KASHI_COMPLEX_FUNCTION(kLogistic, 1.0 / (1.0 + std::exp(-w)))
KASHI_COMPLEX_FUNCTION(kSin, std::sin(w))
KASHI_COMPLEX_FUNCTION(kCos, std::cos(w))
KASHI_COMPLEX_FUNCTION(kTan, std::tan(w))
KASHI_COMPLEX_FUNCTION(kSinh, std::sinh(w))
KASHI_COMPLEX_FUNCTION(kCosh, std::cosh(w))
KASHI_COMPLEX_FUNCTION(kTanh, std::tanh(w))
KASHI_COMPLEX_FUNCTION(kAsin, std::asin(w))
KASHI_COMPLEX_FUNCTION(kAcos, std::acos(w))
KASHI_COMPLEX_FUNCTION(kAtan, std::atan(w))
KASHI_COMPLEX_FUNCTION(kAsinh, std::asinh(w))
KASHI_COMPLEX_FUNCTION(kAcosh, std::acosh(w))
KASHI_COMPLEX_FUNCTION(kAtanh, std::atanh(w))

template <HloOpcode>
struct ComplexBinary {};
KASHI_FORMULA(ComplexBinary, kAdd, (T x, T y), x + y)
KASHI_FORMULA(ComplexBinary, kSubtract, (T x, T y), x - y)
KASHI_FORMULA(ComplexBinary, kMultiply, (T x, T y), Multiply(x, y))
KASHI_FORMULA(ComplexBinary, kDivide, (T x, T y), T(std::complex<double>(x) / std::complex<double>(y)))
KASHI_FORMULA(ComplexBinary, kPower, (T x, T y), T(Power(std::complex<double>(x), std::complex<double>(y))))
KASHI_FORMULA(ComplexBinary, kAtan2, (T y, T x), Atan2(y, x))
// XLA:CPU's code compares only the real parts; XLA's evaluator does not support it.
KASHI_FORMULA(ComplexBinary, kMaximum, (T x, T y), x.real() >= y.real() ? x : y)
KASHI_FORMULA(ComplexBinary, kMinimum, (T x, T y), x.real() <= y.real() ? x : y)

bool GivesPart(HloOpcode opcode) {
  return opcode == HloOpcode::kAbs || opcode == HloOpcode::kReal || opcode == HloOpcode::kImag;
}

}  // namespace

ElementLoop ComplexUnaryLoop(HloOpcode opcode, PrimitiveType type) {
  if (!primitive_util::IsComplexType(type)) return {};
  const PrimitiveType result = GivesPart(opcode) ? primitive_util::ComplexComponentType(type) : type;
  if (type == C64) return {FindUnaryLoop<ComplexUnary, complex64>(opcode), type, result};
  return {FindUnaryLoop<ComplexUnary, complex128>(opcode), type, result};
}

ElementLoop ComplexBinaryLoop(HloOpcode opcode, PrimitiveType type) {
  if (!primitive_util::IsComplexType(type)) return {};
  if (type == C64) return {FindBinaryLoop<ComplexBinary, complex64>(opcode), type, type};
  return {FindBinaryLoop<ComplexBinary, complex128>(opcode), type, type};
}

}  // namespace kashi::kernels
