// Whether numbers are equal but for their last places.
#ifndef KASHI_KERNELS_CLOSE_TESTING_H_
#define KASHI_KERNELS_CLOSE_TESTING_H_

#include <cmath>
#include <complex>

namespace kashi::kernels {

// Whether numbers are equal except for the last places, in which libraries differ. NaN equals NaN, and zeros have
// signs.
inline bool IsClose(double actual, double expected, double tolerance) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (std::isinf(expected) || expected == 0)
    return actual == expected && std::signbit(actual) == std::signbit(expected);
  return std::fabs(actual - expected) <= tolerance;
}
inline bool IsClose(std::complex<double> actual, std::complex<double> expected, double relative) {
  const double scale = std::isfinite(std::abs(expected)) ? std::abs(expected) : 1;
  return IsClose(actual.real(), expected.real(), relative * scale) &&
         IsClose(actual.imag(), expected.imag(), relative * scale);
}

}  // namespace kashi::kernels

#endif  // KASHI_KERNELS_CLOSE_TESTING_H_
