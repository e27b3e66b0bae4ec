// log |gamma|, its derivatives, and the Hurwitz zeta function.
//
// gamma is Lanczos' approximation with g = 7 and 9 coefficients; below 1/2 the reflection formula.
#include <limits>

#include "kashi/stablehlo/conversion/chlo_functions.h"

namespace kashi::stablehlo {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kLanczosBase = 0.99999999999980993227684700473478;
constexpr double kLanczos[] = {676.520368121885098567009190444019, -1259.13921672240287047156078755283,
                               771.3234287776530788486528258894,   -176.61502916214059906584551354,
                               12.507343278686904814458936853,     -0.13857109526572011689554707,
                               9.984369578019570859563e-6,         1.50563273514931155834e-7};
constexpr double kLogLanczosG = 2.0149030205422647;  // log(7.5)

// log(z + 7.5)
Term LogOfShifted(Term z) { return kLogLanczosG + LogPlusOne(z / 7.5); }

}  // namespace

Term Lgamma(Term x) {
  const Term reflects = x < 0.5;
  const Term z = Select(reflects, -x, x - 1);
  Term sum = x.Same(kLanczosBase);
  for (int i = 0; i < 8; ++i) sum = sum + kLanczos[i] / (z + (i + 1));
  const Term log_t = LogOfShifted(z);
  const Term log_y = (0.9189385332046727 + (z + 0.5 - (7.5 + z) / log_t) * log_t) + Log(sum);
  // log(pi / |sin(pi x)|) - log_y; at the poles, where the sine is 0, only its logarithm is left
  const Term size = Abs(x);
  const Term fraction = size - Floor(size);
  const Term distance = Select(x.Same(0.5) < fraction, 1 - fraction, fraction);
  const Term log_sine = Log(Sine(kPi * distance));
  const Term reflection = Select(IsFinite(log_sine), (1.1447298858494002 - log_sine) - log_y, -log_sine);
  return Select(Equal(Abs(x), Infinity(x)), Infinity(x), Select(reflects, reflection, log_y));
}

Term Digamma(Term x) {
  const Term reflects = x < 0.5;
  const Term z = Select(reflects, -x, x - 1);
  Term numerator = x.Same(0), denominator = x.Same(kLanczosBase);
  for (int i = 0; i < 8; ++i) {
    const Term d = z + (i + 1);
    numerator = numerator - kLanczos[i] / (d * d);
    denominator = denominator + kLanczos[i] / d;
  }
  const Term y = (LogOfShifted(z) + numerator / denominator) - 7 / (7.5 + z);
  // cot(pi x) of the distance to the nearest whole number
  const Term angle = kPi * (x + Abs(Floor(x + 0.5)));
  const Term reflection = y - (kPi * Cosine(angle)) / Sine(angle);
  const Term is_pole = (x <= 0) & Equal(x, Floor(x));
  return Select(is_pole, NotANumber(x), Select(reflects, reflection, y));
}

// sum of (q + k)^-x over k >= 0: ten terms, then the formula of Euler and Maclaurin with twelve.
Term Zeta(Term x, Term q) {
  static constexpr double kCoefficients[] = {-1.3954464685812522e-19, 5.5090028283602295e-18, -2.1748686985580617e-16,
                                             8.586062056277845e-15,   -3.389680296322583e-13, 1.3382536530684679e-11,
                                             -5.284190138687493e-10,  2.08767569878681e-08,   -8.267195767195768e-07,
                                             3.306878306878307e-05,   -0.001388888888888889};
  const Term exponent = -x;
  Term a = q;
  Term sum = Power(a, exponent);
  for (int i = 0; i < 9; ++i) {
    a = a + 1;
    sum = sum + Power(a, exponent);
  }
  a = a + 1;
  const Term power = Power(a, exponent);
  const Term integral = sum + (power * a) / (x - 1);
  const Term inverse_square = 1 / (a * a);
  Term series = x.Same(0);
  for (int i = 0; i < 11; ++i) {
    series = ((x + (22 - 2 * i)) * (x + (21 - 2 * i))) * (inverse_square * (series + kCoefficients[i]));
  }
  series = power * (0.5 + (x / a) * (0.08333333333333333 + series));
  const double least =
      x.type() == F32 ? std::numeric_limits<float>::denorm_min() : std::numeric_limits<double>::denorm_min();
  const Term value = Select(Abs(power) < Abs(sum) * least, sum, integral + series);
  // Outside of x > 1, q > 0
  const Term nan = NotANumber(x), infinity = Infinity(x);
  const Term is_not_positive = q <= 0;
  const Term is_even = Equal(x, Floor(x)) & Equal(Remainder(x, x.Same(2)), 0);
  Term result = Select(x < 1, nan, value);
  result = Select(is_not_positive & NotEqual(x, Floor(x)), nan, result);
  result = Select(is_not_positive & Equal(q, Floor(q)), Select(is_even, infinity, nan), result);
  return Select(Equal(x, 1), infinity, result);
}

// (-1)^(n+1) n! zeta(n + 1, x)
Term Polygamma(Term n, Term x) {
  const Term next = n + 1;
  const Term sign = 2 * Remainder(n, n.Same(2)) - 1;
  const Term value = (sign * Exponential(Lgamma(next))) * Zeta(next, x);
  const Term is_invalid = NotEqual(n, Floor(n)) | (n < 0);
  return Select(is_invalid, NotANumber(n), Select(Equal(n, 0), Digamma(x), value));
}

}  // namespace kashi::stablehlo
