// Integer arithmetic with overflow checks, for sizes from outside: the checked functions return nullopt if the result
// does not fit in int64_t.
#ifndef KASHI_BASE_MATH_H_
#define KASHI_BASE_MATH_H_

#include <cstdint>
#include <limits>
#include <optional>

namespace kashi {

// nullopt where the exact result does not fit int64_t.
constexpr std::optional<int64_t> CheckedMultiply(int64_t a, int64_t b) {
  int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}
constexpr std::optional<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

// ceil(a / b) and the next multiple, for b > 0 and a >= 0; CeilOfRatio cannot overflow, RoundUpTo's caller must know.
template <typename T>
constexpr T FloorOfRatio(T dividend, T divisor) {
  return dividend / divisor;
}
template <typename T>
constexpr T CeilOfRatio(T dividend, T divisor) {
  return dividend / divisor + (dividend % divisor != 0 ? 1 : 0);
}
template <typename T>
constexpr T RoundUpTo(T value, T divisor) {
  return CeilOfRatio(value, divisor) * divisor;
}
template <typename T>
constexpr T RoundDownTo(T value, T divisor) {
  return FloorOfRatio(value, divisor) * divisor;
}
constexpr std::optional<int64_t> CheckedRoundUpTo(int64_t value, int64_t divisor) {
  return CheckedMultiply(CeilOfRatio(value, divisor), divisor);
}

// Bytes that `count` values of `bits` bits each take when packed, for count and bits >= 0: the product may need more
// than 64 bits where the bytes do not.
constexpr std::optional<int64_t> CheckedPackedBytes(int64_t count, int64_t bits) {
  const unsigned __int128 total = static_cast<unsigned __int128>(count) * static_cast<uint64_t>(bits);
  const unsigned __int128 bytes = total / 8 + (total % 8 != 0 ? 1 : 0);
  if (bytes > static_cast<unsigned __int128>(std::numeric_limits<int64_t>::max())) return std::nullopt;
  return static_cast<int64_t>(bytes);
}

template <typename T>
constexpr bool IsPowerOf2(T value) {
  return value > 0 && (value & (value - 1)) == 0;
}
// Position of the highest set bit, -1 for 0; and the exponent of the next power of two, 0 for 0.
constexpr int Log2Floor(uint64_t value) { return value == 0 ? -1 : 63 - __builtin_clzll(value); }
constexpr int Log2Ceiling(uint64_t value) { return value <= 1 ? 0 : 64 - __builtin_clzll(value - 1); }

}  // namespace kashi

#endif  // KASHI_BASE_MATH_H_
