// Eigen::half and Eigen::bfloat16 as names of ours, where Eigen itself is not installed. Where it is, Eigen's own
// classes have these names, and they are not xla::half and xla::bfloat16.
#ifndef KASHI_COMPAT_KASHI_COMPAT_EIGEN_NAMES_H_
#define KASHI_COMPAT_KASHI_COMPAT_EIGEN_NAMES_H_

#if !__has_include(<Eigen/src/Core/util/Macros.h>)

#include <cmath>
#include <cstddef>
#include <cstring>

#include "kashi/array/types.h"

namespace Eigen {

using half = ::kashi::half;
using bfloat16 = ::kashi::bfloat16;
using Index = std::ptrdiff_t;
using DenseIndex = std::ptrdiff_t;

namespace numext {

template <typename T>
bool isnan(const T& x) {
  return std::isnan(static_cast<double>(x));
}
template <typename T>
bool isinf(const T& x) {
  return std::isinf(static_cast<double>(x));
}
template <typename T>
bool isfinite(const T& x) {
  return std::isfinite(static_cast<double>(x));
}
template <typename T>
T abs(const T& x) {
  using std::abs;
  return abs(x);
}
template <typename To, typename From>
To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "bit_cast needs types of one size.");
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

}  // namespace numext
}  // namespace Eigen

#endif

#endif  // KASHI_COMPAT_KASHI_COMPAT_EIGEN_NAMES_H_
