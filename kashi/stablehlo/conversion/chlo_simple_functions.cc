// Functions of CHLO that are a line or two.
#include <cstdint>

#include "kashi/array/primitive_util.h"
#include "kashi/stablehlo/conversion/chlo_functions.h"

namespace kashi::stablehlo {

// (e^x ± e^-x) / 2, as e^(x + log 1/2) ± e^(log 1/2 - x), which does not overflow early.
Term Cosh(Term x) {
  const Term log_half = Log(x.Same(0.5));
  return Exponential(x + log_half) + Exponential(log_half - x);
}

Term Sinh(Term x) {
  const Term log_half = Log(x.Same(0.5));
  const Term large = Exponential(x + log_half) - Exponential(log_half - x);
  if (primitive_util::IsComplexType(x.type())) return large;
  const Term e = ExponentialMinusOne(x);  // near 0 the difference above cancels
  return Select(Abs(x) < 1, 0.5 * (e + e / (e + 1)), large);
}

Term Conj(Term x) { return primitive_util::IsComplexType(x.type()) ? Complex(Real(x), -Imag(x)) : x; }

Term Square(Term x) {
  if (!primitive_util::IsComplexType(x.type())) return x * x;
  const Term a = Real(x), b = Imag(x);
  const Term is_diagonal = IsFinite(a) & Equal(Abs(a), Abs(b));  // exactly 0, where the product may be inf * 0
  return Complex(Select(is_diagonal, a.Same(0), (a - b) * (a + b)), 2 * (a * b));
}

Term IsInf(Term x) { return Equal(Abs(x), Infinity(x)); }
Term IsPosInf(Term x) { return Equal(x, Infinity(x)); }
Term IsNegInf(Term x) { return Equal(x, -Infinity(x)); }

// The bits of a float, as a number, grow with its magnitude: the neighbour is one more or one less.
Term NextAfter(Term x, Term y) {
  const int bits = primitive_util::BitWidth(x.type());
  const PrimitiveType type = primitive_util::UnsignedIntegralTypeForBitWidth(bits);
  TermScope& scope = x.scope();
  const uint64_t sign = uint64_t{1} << (bits - 1);
  const Term sign_bit = scope.Integer(type, sign), other_bits = scope.Integer(type, sign - 1);
  const Term zero = scope.Integer(type, 0), one = scope.Integer(type, 1);
  const Term from = BitcastConvert(x, type), to = BitcastConvert(y, type);
  const Term from_size = from & other_bits, to_size = to & other_bits;
  const Term to_sign = to & sign_bit;
  const Term moves_down = (from_size > to_size) | NotEqual(from & sign_bit, to_sign);
  const Term step = from + Select(moves_down, scope.Integer(type, ~uint64_t{0} >> (64 - bits)), one);
  const Term from_zero = Select(Equal(to_size, zero), to, to_sign | one);
  const Term neighbour = Select(Equal(from_size, zero), from_zero, step);
  const Term has_nan = NotEqual(x, x) | NotEqual(y, y);
  const Term bits_of_result = Select(has_nan, BitcastConvert(NotANumber(x), type), Select(Equal(x, y), to, neighbour));
  return BitcastConvert(bits_of_result, x.type());
}

}  // namespace kashi::stablehlo
