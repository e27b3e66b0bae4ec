// Converts an element from one native type to another by the rules of XLA's convert operation (hlo-ops.md, 1.5):
//
//   from \ to    PRED      integer              real               complex
//   PRED         -         0, 1                 0, 1               (0 or 1, 0)
//   integer      x != 0    the low bits         nearest, even      (nearest, 0)
//   real         x != 0    cut, saturated;      nearest, even      (nearest, 0)
//                          NaN is 0
//   complex      x != 0    of the real part     of the real part   part by part
//
// Literals and the evaluator refuse complex to non-complex without an explicit operation. Here it is defined.
#ifndef KASHI_ARRAY_ELEMENT_CONVERT_H_
#define KASHI_ARRAY_ELEMENT_CONVERT_H_

#include <cstdint>
#include <limits>
#include <type_traits>

#include "kashi/array/types.h"

namespace kashi::array {

// The type in which the functions below compute with a T: int or float for narrow types, otherwise T.
template <typename T>
using ComputedType = std::conditional_t<
    is_intN_v<T>, int,
    std::conditional_t<is_specialized_floating_point_v<T> && !std::is_floating_point_v<T>, float, T>>;

template <typename To, typename From>
constexpr To RealToInteger(From value) {
  static_assert(std::is_floating_point_v<From>);
  // 2^digits is the first number that is too large; it is exact in every From, where To's own maximum may not be.
  constexpr int kDigits = std::numeric_limits<To>::digits;
  constexpr From kTooLarge = static_cast<From>(uint64_t{1} << (kDigits - (kDigits == 64))) * (kDigits == 64 ? 2 : 1);
  constexpr From kLowest = std::numeric_limits<To>::is_signed ? -kTooLarge : From{0};
  if (value != value) return To(0);
  if (value >= kTooLarge) return std::numeric_limits<To>::max();
  if (value <= kLowest) return std::numeric_limits<To>::lowest();
  if constexpr (is_intN_v<To>) {
    return To(static_cast<int>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <typename To, typename From>
constexpr To ConvertElement(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<To, bool>) {
    return static_cast<ComputedType<From>>(value) != ComputedType<From>(0);
  } else if constexpr (is_complex_v<From>) {
    if constexpr (is_complex_v<To>) {
      return To(value);
    } else {
      return ConvertElement<To>(value.real());
    }
  } else if constexpr (is_complex_v<To>) {
    return To(ConvertElement<typename To::value_type>(value), 0);
  } else if constexpr (is_specialized_floating_point_v<From> && is_specialized_integral_v<To>) {
    return RealToInteger<To>(static_cast<ComputedType<From>>(value));
  } else if constexpr (is_specialized_integral_v<From> && is_intN_v<To>) {
    // Only the low bits of a wide integer matter; int may not hold the rest.
    return To(static_cast<int>(static_cast<uint8_t>(static_cast<ComputedType<From>>(value))));
  } else if constexpr (std::is_same_v<To, float> && std::is_same_v<From, double>) {
    // Too large for a float is infinity. The cast alone leaves that open in the language, though not in IEEE 754.
    return __builtin_fabs(value) < 0x1.ffffffp+127 ? static_cast<float>(value)
           : value != value                        ? static_cast<float>(value)
                            : __builtin_copysignf(std::numeric_limits<float>::infinity(), value < 0 ? -1.0f : 1.0f);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace kashi::array

#endif  // KASHI_ARRAY_ELEMENT_CONVERT_H_
