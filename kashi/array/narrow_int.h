// Integers of 1, 2 and 4 bits (s4, u2, ...; their names are in types.h), one byte each in memory.
//
//   s4(7) + s4(1) == s4(-8)      arithmetic wraps
//   s4(0x0e) == s4(-2)           only the low bits count
//
// In memory the high bits are 0: s4(-2) is the byte 0x0e, as in XLA, in its protos and in ml_dtypes' NumPy arrays. The
// high bits of a byte from elsewhere are ignored.
//
// Conversions are explicit in both directions. Comparisons with ordinary integers exist. Division by zero is undefined,
// as for int. For packed arrays (two s4 in a byte) see PackIntN in primitive_util.h.

#ifndef KASHI_ARRAY_NARROW_INT_H_
#define KASHI_ARRAY_NARROW_INT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

namespace kashi {

template <int kNumBits, bool kIsSigned>
class NarrowInt {
  static_assert(kNumBits >= 1 && kNumBits < 8, "Use int8_t and uint8_t.");

 public:
  static constexpr int bits = kNumBits;
  using underlying_type = std::conditional_t<kIsSigned, int8_t, uint8_t>;

  constexpr NarrowInt() : value_(0) {}
  // The low bits of an integer; of a floating-point number, those of the integer that it is cut to.
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  explicit constexpr NarrowInt(T value) : value_(LowBits(static_cast<int>(value))) {}
  // From the number classes of narrow_float.h.
  template <typename T, std::enable_if_t<!std::is_arithmetic_v<T> && std::is_convertible_v<T, float>, int> = 0>
  explicit constexpr NarrowInt(const T& value) : NarrowInt(static_cast<float>(value)) {}
  template <int kOtherBits, bool kOtherSigned>
  explicit constexpr NarrowInt(NarrowInt<kOtherBits, kOtherSigned> value) : NarrowInt(value.ToInt()) {}

  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  explicit constexpr operator T() const {
    return static_cast<T>(ToInt());
  }

  constexpr int ToInt() const {
    const int low = value_ & kMask;
    return kIsSigned && (low >> (kNumBits - 1)) != 0 ? low - (1 << kNumBits) : low;
  }

  constexpr NarrowInt operator+() const { return *this; }
  constexpr NarrowInt operator-() const { return NarrowInt(-ToInt()); }
  constexpr NarrowInt operator~() const { return NarrowInt(~ToInt()); }
  friend constexpr NarrowInt operator+(NarrowInt a, NarrowInt b) { return NarrowInt(a.ToInt() + b.ToInt()); }
  friend constexpr NarrowInt operator-(NarrowInt a, NarrowInt b) { return NarrowInt(a.ToInt() - b.ToInt()); }
  friend constexpr NarrowInt operator*(NarrowInt a, NarrowInt b) { return NarrowInt(a.ToInt() * b.ToInt()); }
  friend constexpr NarrowInt operator/(NarrowInt a, NarrowInt b) { return NarrowInt(a.ToInt() / b.ToInt()); }
  friend constexpr NarrowInt operator%(NarrowInt a, NarrowInt b) { return NarrowInt(a.ToInt() % b.ToInt()); }
  friend constexpr NarrowInt operator&(NarrowInt a, NarrowInt b) { return NarrowInt(a.ToInt() & b.ToInt()); }
  friend constexpr NarrowInt operator|(NarrowInt a, NarrowInt b) { return NarrowInt(a.ToInt() | b.ToInt()); }
  friend constexpr NarrowInt operator^(NarrowInt a, NarrowInt b) { return NarrowInt(a.ToInt() ^ b.ToInt()); }
  friend constexpr NarrowInt operator<<(NarrowInt a, int amount) {
    return NarrowInt(static_cast<unsigned>(a.ToInt()) << amount);
  }
  friend constexpr NarrowInt operator>>(NarrowInt a, int amount) { return NarrowInt(a.ToInt() >> amount); }

  constexpr NarrowInt& operator+=(NarrowInt b) { return *this = *this + b; }
  constexpr NarrowInt& operator-=(NarrowInt b) { return *this = *this - b; }
  constexpr NarrowInt& operator*=(NarrowInt b) { return *this = *this * b; }
  constexpr NarrowInt& operator/=(NarrowInt b) { return *this = *this / b; }
  constexpr NarrowInt& operator%=(NarrowInt b) { return *this = *this % b; }
  constexpr NarrowInt& operator&=(NarrowInt b) { return *this = *this & b; }
  constexpr NarrowInt& operator|=(NarrowInt b) { return *this = *this | b; }
  constexpr NarrowInt& operator^=(NarrowInt b) { return *this = *this ^ b; }
  constexpr NarrowInt& operator<<=(int amount) { return *this = *this << amount; }
  constexpr NarrowInt& operator>>=(int amount) { return *this = *this >> amount; }
  constexpr NarrowInt& operator++() { return *this = NarrowInt(ToInt() + 1); }
  constexpr NarrowInt& operator--() { return *this = NarrowInt(ToInt() - 1); }
  constexpr NarrowInt operator++(int) { return std::exchange(*this, NarrowInt(ToInt() + 1)); }
  constexpr NarrowInt operator--(int) { return std::exchange(*this, NarrowInt(ToInt() - 1)); }

#define KASHI_NARROW_INT_COMPARISON(op)                                                          \
  friend constexpr bool operator op(NarrowInt a, NarrowInt b) { return a.ToInt() op b.ToInt(); } \
  friend constexpr bool operator op(NarrowInt a, int64_t b) { return int64_t{a.ToInt()} op b; }  \
  friend constexpr bool operator op(int64_t a, NarrowInt b) { return a op int64_t{b.ToInt()}; }
  KASHI_NARROW_INT_COMPARISON(==)
  KASHI_NARROW_INT_COMPARISON(!=)
  KASHI_NARROW_INT_COMPARISON(<)
  KASHI_NARROW_INT_COMPARISON(<=)
  KASHI_NARROW_INT_COMPARISON(>)
  KASHI_NARROW_INT_COMPARISON(>=)
#undef KASHI_NARROW_INT_COMPARISON

  std::string ToString() const { return std::to_string(ToInt()); }
  friend std::ostream& operator<<(std::ostream& out, NarrowInt x) { return out << x.ToInt(); }
  template <typename H>
  friend H AbslHashValue(H h, NarrowInt x) {
    return H::combine(std::move(h), x.ToInt());
  }

 private:
  static constexpr int kMask = (1 << kNumBits) - 1;
  static constexpr underlying_type LowBits(int value) { return static_cast<underlying_type>(value & kMask); }

  underlying_type value_;
};

}  // namespace kashi

namespace std {

template <int kNumBits, bool kIsSigned>
class numeric_limits<kashi::NarrowInt<kNumBits, kIsSigned>> {
  using T = kashi::NarrowInt<kNumBits, kIsSigned>;

 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = kIsSigned;
  static constexpr bool is_integer = true;
  static constexpr bool is_exact = true;
  static constexpr bool has_infinity = false;
  static constexpr bool has_quiet_NaN = false;
  static constexpr bool has_signaling_NaN = false;
  static constexpr float_denorm_style has_denorm = denorm_absent;
  static constexpr bool has_denorm_loss = false;
  static constexpr float_round_style round_style = round_toward_zero;
  static constexpr bool is_iec559 = false;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = true;
  static constexpr bool traps = numeric_limits<int>::traps;
  static constexpr bool tinyness_before = false;
  static constexpr int radix = 2;
  static constexpr int digits = kIsSigned ? kNumBits - 1 : kNumBits;
  static constexpr int digits10 = digits >= 4 ? 1 : 0;
  static constexpr int max_digits10 = 0;
  static constexpr int min_exponent = 0;
  static constexpr int min_exponent10 = 0;
  static constexpr int max_exponent = 0;
  static constexpr int max_exponent10 = 0;

  static constexpr T min() noexcept { return T(kIsSigned ? -(1 << digits) : 0); }
  static constexpr T lowest() noexcept { return min(); }
  static constexpr T max() noexcept { return T((1 << digits) - 1); }
  static constexpr T epsilon() noexcept { return T(); }
  static constexpr T round_error() noexcept { return T(); }
  static constexpr T infinity() noexcept { return T(); }
  static constexpr T quiet_NaN() noexcept { return T(); }
  static constexpr T signaling_NaN() noexcept { return T(); }
  static constexpr T denorm_min() noexcept { return T(); }
};
template <int kNumBits, bool kIsSigned>
class numeric_limits<const kashi::NarrowInt<kNumBits, kIsSigned>>
    : public numeric_limits<kashi::NarrowInt<kNumBits, kIsSigned>> {};

template <int kNumBits, bool kIsSigned>
struct hash<kashi::NarrowInt<kNumBits, kIsSigned>> {
  size_t operator()(kashi::NarrowInt<kNumBits, kIsSigned> x) const { return hash<int>()(x.ToInt()); }
};

}  // namespace std

#endif  // KASHI_ARRAY_NARROW_INT_H_
