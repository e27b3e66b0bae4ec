// Real numbers in f32 and f64 (docs/spec/hlo-ops.md 1.1, 1.2, 1.4, 1.5). Narrower types come here as f32.
//
// Results follow IEEE 754, without flushing denormal numbers; where XLA's evaluator and its compiled code differ, they
// follow the evaluator.
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kashi/array/element_convert.h"
#include "kashi/kernels/element_loops.h"

namespace kashi::kernels {
namespace {

template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
template <typename T>
constexpr int kMantissaBits = std::numeric_limits<T>::digits - 1;
template <typename T>
constexpr BitsOf<T> kSignBit = BitsOf<T>{1} << (sizeof(T) * 8 - 1);
template <typename T>
constexpr BitsOf<T> kInfinityBits = kSignBit<T> - (BitsOf<T>{1} << kMantissaBits<T>);

template <typename T>
BitsOf<T> ToBits(T x) {
  return __builtin_bit_cast(BitsOf<T>, x);
}
template <typename T>
T FromBits(BitsOf<T> bits) {
  return __builtin_bit_cast(T, bits);
}

// ---- Rounding. Loops of these become vector code, which calls of the C functions would not.

// To the nearest, ties to even: a number below 2^23 (f32) loses its fraction when 2^23 is added. The sign survives:
// -0.4 gives -0.
template <typename T>
T RoundNearestEven(T x) {
  constexpr T kNoFraction = static_cast<T>(BitsOf<T>{1} << kMantissaBits<T>);
  const T magnitude = std::fabs(x);
  const T rounded = std::copysign((magnitude + kNoFraction) - kNoFraction, x);
  return magnitude < kNoFraction ? rounded : x;
}
template <typename T>
T Floor(T x) {
  const T nearest = RoundNearestEven(x);
  return std::copysign(nearest - (nearest > x ? T(1) : T(0)), x);
}
template <typename T>
T Ceil(T x) {
  const T nearest = RoundNearestEven(x);
  return std::copysign(nearest + (nearest < x ? T(1) : T(0)), x);
}
// x - Floor(x) is exact, so that 0.49999997 does not become 1.
template <typename T>
T RoundNearestAwayFromZero(T x) {
  const T magnitude = std::fabs(x), floor = Floor(magnitude);
  return std::copysign(floor + (magnitude - floor >= T(0.5) ? T(1) : T(0)), x);
}

template <typename T>
T Sign(T x) {
  const T one = std::copysign(T(1), x);
  const bool has_sign = (x > 0) | (x < 0);
  return has_sign ? one : x;  // NaN and both zeros as they are
}

// ---- The larger and the smaller: NaN if either is, the first of two. Equal numbers differ at most by the sign of
// zero: the larger of -0 and 0 is 0, whichever comes first.
template <typename T>
T Maximum(T x, T y) {
  const BitsOf<T> a = ToBits(x), b = ToBits(y);
  return FromBits<T>(Pick((x > y) | (x != x), a, Pick(x == y, a & b, b)));
}
template <typename T>
T Minimum(T x, T y) {
  const BitsOf<T> a = ToBits(x), b = ToBits(y);
  return FromBits<T>(Pick((x < y) | (x != x), a, Pick(x == y, a | b, b)));
}

// ---- Functions that the C library computes in float with errors of 2 units in the last place and more: computed in
// double and rounded to float.
template <typename T, typename Function>
T ComputeInDouble(T x, Function f) {
  return static_cast<T>(f(static_cast<double>(x)));
}

template <HloOpcode>
struct RealUnary {};
KASHI_FORMULA(RealUnary, kAbs, (T x), std::fabs(x))
KASHI_FORMULA(RealUnary, kNegate, (T x), -x)
KASHI_FORMULA(RealUnary, kSign, (T x), Sign(x))
KASHI_FORMULA(RealUnary, kCeil, (T x), Ceil(x))
KASHI_FORMULA(RealUnary, kFloor, (T x), Floor(x))
KASHI_FORMULA(RealUnary, kRoundNearestAfz, (T x), RoundNearestAwayFromZero(x))
KASHI_FORMULA(RealUnary, kRoundNearestEven, (T x), RoundNearestEven(x))
KASHI_FORMULA(RealUnary, kIsFinite, (T x), (ToBits(x) & kInfinityBits<T>) != kInfinityBits<T>)
KASHI_FORMULA(RealUnary, kReal, (T x), x)
KASHI_FORMULA(RealUnary, kImag, (T), T(0))
KASHI_FORMULA(RealUnary, kSqrt, (T x), std::sqrt(x))
KASHI_FORMULA(RealUnary, kRsqrt, (T x), 1 / std::sqrt(x))
KASHI_FORMULA(RealUnary, kCbrt, (T x), std::cbrt(x))
KASHI_FORMULA(RealUnary, kExp, (T x), std::exp(x))
KASHI_FORMULA(RealUnary, kExp2, (T x), std::exp2(x))
KASHI_FORMULA(RealUnary, kExpm1, (T x), std::expm1(x))
KASHI_FORMULA(RealUnary, kLog, (T x), std::log(x))
KASHI_FORMULA(RealUnary, kLog2, (T x), std::log2(x))
KASHI_FORMULA(RealUnary, kLog1p, (T x), std::log1p(x))
KASHI_FORMULA(RealUnary, kLogistic, (T x), 1 / (1 + std::exp(-x)))  // in T, as XLA: logistic(17.0f) is 1
KASHI_FORMULA(RealUnary, kErf, (T x), std::erf(x))
KASHI_FORMULA(RealUnary, kSin, (T x), std::sin(x))
KASHI_FORMULA(RealUnary, kCos, (T x), std::cos(x))
KASHI_FORMULA(RealUnary, kTan, (T x), std::tan(x))
KASHI_FORMULA(RealUnary, kSinh, (T x), ComputeInDouble(x, [](double y) { return std::sinh(y); }))
KASHI_FORMULA(RealUnary, kCosh, (T x), ComputeInDouble(x, [](double y) { return std::cosh(y); }))
KASHI_FORMULA(RealUnary, kTanh, (T x), ComputeInDouble(x, [](double y) { return std::tanh(y); }))
KASHI_FORMULA(RealUnary, kAsin, (T x), std::asin(x))
KASHI_FORMULA(RealUnary, kAcos, (T x), std::acos(x))
KASHI_FORMULA(RealUnary, kAtan, (T x), std::atan(x))
KASHI_FORMULA(RealUnary, kAsinh, (T x), ComputeInDouble(x, [](double y) { return std::asinh(y); }))
KASHI_FORMULA(RealUnary, kAcosh, (T x), ComputeInDouble(x, [](double y) { return std::acosh(y); }))
KASHI_FORMULA(RealUnary, kAtanh, (T x), ComputeInDouble(x, [](double y) { return std::atanh(y); }))

template <HloOpcode>
struct RealBinary {};
KASHI_FORMULA(RealBinary, kAdd, (T x, T y), x + y)
KASHI_FORMULA(RealBinary, kSubtract, (T x, T y), x - y)
KASHI_FORMULA(RealBinary, kMultiply, (T x, T y), x* y)
KASHI_FORMULA(RealBinary, kDivide, (T x, T y), x / y)
KASHI_FORMULA(RealBinary, kRemainder, (T x, T y), std::fmod(x, y))
KASHI_FORMULA(RealBinary, kPower, (T x, T y), std::pow(x, y))
KASHI_FORMULA(RealBinary, kMaximum, (T x, T y), Maximum(x, y))
KASHI_FORMULA(RealBinary, kMinimum, (T x, T y), Minimum(x, y))
KASHI_FORMULA(RealBinary, kAtan2, (T y, T x), std::atan2(y, x))
KASHI_FORMULA(RealBinary, kComplex, (T x, T y), std::complex<T>(x, y))

// The first NaN of the three; the high bound where the bounds cross.
struct RealClamp {
  template <typename T>
  static T Of(T low, T x, T high) {
    return Minimum(Maximum(low, x), high);
  }
};

// ---- reduce-precision (1.5): to the nearest number of m mantissa and e exponent bits, ties to even, without
// subnormals.
template <typename T>
T ReducePrecision(T x, int exponent_bits, int mantissa_bits) {
  constexpr int kMantissa = kMantissaBits<T>, kExponent = sizeof(T) * 8 - 1 - kMantissa;
  using Bits = BitsOf<T>;
  const Bits sign = ToBits(x) & kSignBit<T>;
  if (x != x) return mantissa_bits > 0 ? x : std::numeric_limits<T>::infinity();  // no mantissa bit to say NaN with
  Bits magnitude = ToBits(x) ^ sign;
  if (mantissa_bits < kMantissa) {
    // Half of the last place that stays, less one unless that place is odd; a carry into the exponent is right.
    const int cut = kMantissa - mantissa_bits;
    const Bits last = Bits{1} << cut;
    magnitude = (magnitude + ((magnitude & last) >> cut) + (last >> 1) - 1) & ~(last - 1);
  }
  if (exponent_bits < kExponent) {
    const Bits bias = (Bits{1} << (kExponent - 1)) - 1, reduced_bias = (Bits{1} << (exponent_bits - 1)) - 1;
    const Bits exponent = magnitude >> kMantissa;
    if (exponent > bias + reduced_bias) magnitude = kInfinityBits<T>;
    if (exponent <= bias - reduced_bias) magnitude = 0;
  }
  return FromBits<T>(sign | magnitude);
}
template <typename T>
void ReducePrecisionLoopOn(const ElementKernel& kernel, const void* const* inputs, void* output, int64_t n) {
  const T* a = InputOf<T>(inputs, 0);
  T* out = static_cast<T*>(output);
  for (int64_t i = 0; i < n; ++i) out[i] = ReducePrecision(a[i], kernel.exponent_bits, kernel.mantissa_bits);
}

// ---- stochastic-convert (1.5): away from zero if the random number, as a fraction, is below the fraction of x.
template <typename To, typename T, typename Random>
To StochasticConvert(T x, Random random, T random_range) {
  const To cut = array::ConvertElement<To>(x);
  if (cut == std::numeric_limits<To>::max() || cut == std::numeric_limits<To>::lowest() || x != x) return cut;
  const T fraction = std::fabs(x) - std::floor(std::fabs(x));
  if (random >= static_cast<Random>(fraction * random_range)) return cut;
  return static_cast<To>(static_cast<int64_t>(cut) + (x < 0 ? -1 : 1));
}
template <typename To, typename T>
void StochasticConvertLoopOn(const ElementKernel& kernel, const void* const* inputs, void* output, int64_t n) {
  using Random = BitsOf<T>;
  const T* a = InputOf<T>(inputs, 0);
  const Random* random = InputOf<Random>(inputs, 1);
  To* out = static_cast<To*>(output);
  const T random_range = std::ldexp(T(1), primitive_util::BitWidth(kernel.input_types[1]));
  for (int64_t i = 0; i < n; ++i) out[i] = StochasticConvert<To>(a[i], random[i], random_range);
}
template <typename T>
ElementFunction StochasticConvertLoopTo(PrimitiveType result) {
  return primitive_util::IntegralTypeSwitch<ElementFunction>(
      [](auto type) -> ElementFunction {
        using To = primitive_util::NativeTypeOf<type>;
        if constexpr (std::numeric_limits<To>::is_signed) {
          return &StochasticConvertLoopOn<To, T>;
        } else {
          return nullptr;
        }
      },
      result);
}

// f32 and f64 also serve all types that compute in them.
ElementLoop LoopOn(PrimitiveType type, ElementFunction f32, ElementFunction f64) {
  if (!primitive_util::IsFloatingPointType(type)) return {};
  return type == F64 ? ElementLoop{f64, F64, F64} : ElementLoop{f32, F32, F32};
}

}  // namespace

ElementLoop RealUnaryLoop(HloOpcode opcode, PrimitiveType type) {
  ElementLoop loop = LoopOn(type, FindUnaryLoop<RealUnary, float>(opcode), FindUnaryLoop<RealUnary, double>(opcode));
  if (opcode == HloOpcode::kIsFinite) loop.output = PRED;
  return loop;
}

ElementLoop RealBinaryLoop(HloOpcode opcode, PrimitiveType type) {
  ElementLoop loop =
      LoopOn(type, FindBinaryLoop<RealBinary, float>(opcode), FindBinaryLoop<RealBinary, double>(opcode));
  if (opcode == HloOpcode::kComplex && loop.function != nullptr) loop.output = loop.input == F32 ? C64 : C128;
  return loop;
}

ElementLoop RealClampLoop(PrimitiveType type) {
  return LoopOn(type, &TernaryLoop<RealClamp, float>, &TernaryLoop<RealClamp, double>);
}

ElementLoop ReducePrecisionLoop(PrimitiveType type) {
  return LoopOn(type, &ReducePrecisionLoopOn<float>, &ReducePrecisionLoopOn<double>);
}

ElementLoop StochasticConvertLoop(PrimitiveType operand, PrimitiveType result) {
  if (!primitive_util::IsFloatingPointType(operand) || !primitive_util::IsSignedIntegralType(result)) return {};
  if (operand == F64) return {StochasticConvertLoopTo<double>(result), F64, result};
  return {StochasticConvertLoopTo<float>(result), F32, result};
}

}  // namespace kashi::kernels
