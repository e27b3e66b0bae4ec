// int64 arithmetic that wraps around in two's complement, without undefined behaviour.
//
// XLA's size helpers multiply dimensions without overflow checks. Our functions of the same names must return the same
// numbers, also for shapes that were not validated. All other code uses the checked functions of math.h.
#ifndef KASHI_BASE_WRAPPING_H_
#define KASHI_BASE_WRAPPING_H_

#include <cstdint>

#include "kashi/base/math.h"

namespace kashi::base {

constexpr int64_t WrappingMultiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
constexpr int64_t WrappingAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
constexpr int64_t WrappingSubtract(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
constexpr int64_t WrappingRoundUpTo(int64_t value, int64_t divisor) {
  return WrappingMultiply(CeilOfRatio(value, divisor), divisor);
}

}  // namespace kashi::base

#endif  // KASHI_BASE_WRAPPING_H_
