// Small helpers for containers, numbers and bits, with XLA's names (xla/util.h). Header only. For arithmetic on sizes
// with overflow checks see math.h.
#ifndef KASHI_BASE_UTIL_H_
#define KASHI_BASE_UTIL_H_

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "kashi/base/check.h"

namespace kashi {

// Containers.

template <typename Container1, typename Container2>
bool ContainersEqual(const Container1& c1, const Container2& c2) {
  return std::equal(std::begin(c1), std::end(c1), std::begin(c2), std::end(c2));
}
template <typename Container>
bool ContainersEqual(const Container& c1, std::initializer_list<typename Container::value_type> c2) {
  return std::equal(std::begin(c1), std::end(c1), c2.begin(), c2.end());
}
template <typename Container1, typename Container2, typename Predicate>
bool ContainersEqual(const Container1& c1, const Container2& c2, Predicate equal) {
  return std::equal(std::begin(c1), std::end(c1), std::begin(c2), std::end(c2), equal);
}

// Position of the first such element; the size if there is none.
template <typename Container, typename Value>
int64_t PositionInContainer(const Container& container, const Value& value) {
  return std::distance(std::begin(container), std::find(std::begin(container), std::end(container), value));
}
template <typename Container, typename Value>
int64_t FindIndex(const Container& container, const Value& value) {
  return PositionInContainer(container, value);
}
template <typename Container, typename Value>
void InsertAt(Container* container, int64_t index, Value&& value) {
  container->insert(container->begin() + index, std::forward<Value>(value));
}
template <typename Container>
void EraseAt(Container* container, int64_t index) {
  container->erase(container->begin() + index);
}
// Takes the first such element out; dies if there is none.
template <typename T>
void EraseElementFromVector(std::vector<T>* container, const T& value) {
  auto it = std::find(container->begin(), container->end(), value);
  KASHI_CHECK(it != container->end());
  container->erase(it);
}
template <typename T>
std::vector<T> SpanToVector(absl::Span<const T> span) {
  return std::vector<T>(span.begin(), span.end());
}

// "1, 2" and "(1, 2)".
template <typename Container>
std::string CommaSeparatedString(const Container& c, const char* prefix = "", const char* suffix = "") {
  return absl::StrCat(prefix, absl::StrJoin(c, ", "), suffix);
}
template <typename T>
std::string CommaSeparatedString(std::initializer_list<T> c, const char* prefix = "", const char* suffix = "") {
  return absl::StrCat(prefix, absl::StrJoin(c, ", "), suffix);
}
template <typename Container>
std::string VectorString(const Container& c) {
  return CommaSeparatedString(c, "(", ")");
}
template <typename T>
std::string VectorString(std::initializer_list<T> c) {
  return CommaSeparatedString(c, "(", ")");
}

// Numbers.

// The product of all, 1 of none. Integers wrap around, as XLA's do.
template <typename T>
T Product(absl::Span<const T> values) {
  T product(1);
  for (const T& value : values) {
    if constexpr (std::is_integral_v<T>) {
      (void)__builtin_mul_overflow(product, value, &product);
    } else {
      product = product * value;
    }
  }
  return product;
}
inline int64_t Product(absl::Span<const int64_t> values) { return Product<int64_t>(values); }

// result[i] == a[i] * b[i]. Dies if the sizes differ.
template <typename T>
std::vector<T> ElemwiseProduct(absl::Span<const T> a, absl::Span<const T> b) {
  KASHI_CHECK_EQ(a.size(), b.size());
  std::vector<T> result;
  result.reserve(a.size());
  for (size_t i = 0; i < a.size(); ++i) result.push_back(a[i] * b[i]);
  return result;
}

// base to the power of exponent >= 0. Wraps around.
template <typename T>
constexpr T IPow(T base, int64_t exponent) {
  static_assert(std::is_integral_v<T>);
  T result(1);
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) (void)__builtin_mul_overflow(result, base, &result);
    if (exponent > 1) (void)__builtin_mul_overflow(base, base, &base);
  }
  return result;
}

// {floor(dividend / divisor), the rest}: the rest has the divisor's sign. -7 / 2 gives {-4, 1}.
template <typename T>
constexpr std::pair<T, T> FloorDivMod(T dividend, T divisor) {
  static_assert(std::is_integral_v<T>);
  T quotient = static_cast<T>(dividend / divisor);
  T rest = static_cast<T>(dividend % divisor);
  if (rest != 0 && ((rest < 0) != (divisor < 0))) {
    --quotient;
    rest = static_cast<T>(rest + divisor);
  }
  return {quotient, rest};
}

// The digits of n in a number system where position i counts bounds[i], most significant first: 7 in {2,3,4} is
// {0,1,3}. A larger number leaves its rest in the first digit. Dies if a bound is not positive.
template <typename Container = std::vector<int64_t>>
Container ToMixedRadix(int64_t n, absl::Span<const int64_t> bounds) {
  Container digits(bounds.begin(), bounds.end());
  for (int64_t i = static_cast<int64_t>(bounds.size()) - 1; i >= 0; --i) {
    KASHI_CHECK_GT(bounds[i], 0);
    digits[i] = i == 0 ? n : n % bounds[i];
    n /= bounds[i];
  }
  return digits;
}

// Bits.

// The lowest `width` bits are one.
template <typename T>
constexpr T LsbMask(int width) {
  static_assert(std::is_unsigned_v<T>);
  return width == 0 ? T{0} : static_cast<T>(static_cast<T>(~T{0}) >> (std::numeric_limits<T>::digits - width));
}
template <typename T>
constexpr T KeepLowerBits(T value, int width) {
  return static_cast<T>(value & LsbMask<T>(width));
}
// The number of leading bits that equal the sign bit, including it: 32 for int32_t 0 and -1, 1 for the extremes.
template <typename T>
constexpr int CountLeadingSignBits(T value) {
  static_assert(std::is_integral_v<T> && std::is_signed_v<T>);
  constexpr int kBits = std::numeric_limits<T>::digits + 1;
  const uint64_t magnitude = static_cast<uint64_t>(static_cast<int64_t>(value < 0 ? ~value : value));
  return magnitude == 0 ? kBits : __builtin_clzll(magnitude) - (64 - kBits);
}

}  // namespace kashi

#endif  // KASHI_BASE_UTIL_H_
