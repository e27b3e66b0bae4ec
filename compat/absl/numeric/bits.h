// abseil's own header, plus what Debian 12's version lacks: byteswap, endian, and bit_cast (then in another header).
#ifndef KASHI_COMPAT_ABSL_NUMERIC_BITS_H_
#define KASHI_COMPAT_ABSL_NUMERIC_BITS_H_

#include_next "absl/numeric/bits.h"

#include "kashi_compat/abseil.h"

#if KASHI_COMPAT_OLD_ABSEIL

#include <type_traits>

#include "absl/base/casts.h"

namespace absl {

enum class endian {
  little,
  big,
#ifdef ABSL_IS_LITTLE_ENDIAN
  native = little,
#else
  native = big,
#endif
};

template <typename T>
constexpr T byteswap(T value) {
  static_assert(std::is_integral_v<T>, "byteswap takes an integer.");
  if constexpr (sizeof(T) == 2) return static_cast<T>(__builtin_bswap16(static_cast<unsigned short>(value)));
  if constexpr (sizeof(T) == 4) return static_cast<T>(__builtin_bswap32(static_cast<unsigned>(value)));
  if constexpr (sizeof(T) == 8) return static_cast<T>(__builtin_bswap64(static_cast<unsigned long long>(value)));
  return value;
}

}  // namespace absl

#endif  // KASHI_COMPAT_OLD_ABSEIL

#endif  // KASHI_COMPAT_ABSL_NUMERIC_BITS_H_
