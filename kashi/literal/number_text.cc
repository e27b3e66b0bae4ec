// Three ways to the digits, the quick one first:
//
// 1. float and narrower, not too far from 1: in double. A number of at most 24 bits times (or divided by) an exact
//    power of ten is off by half a unit in the 53rd bit at most; unless that could matter, the nearest integer gives
//    the digits.
// 2. std::to_chars: the fewest digits that read back as the number. If there are no more of them than the short format
//    has, %.6g of a float would print just these (but for subnormals: a decimal of 6 digits survives the way to float
//    and back). If there are as many as the long format has, they are what %.9g prints.
// 3. Between the two, and for subnormals: std::to_chars with a precision.
#include "kashi/literal/number_text.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>

#include "absl/strings/charconv.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace kashi::literal {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

char* Append(absl::string_view text, char* out) {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

// 0.d1d2d3... * 10^(exponent + 1), without trailing zeros.
struct Decimal {
  char digits[20];
  int count = 0;
  int exponent = 0;
};

// Reads `d.ddde+XX`, the form that std::to_chars writes.
Decimal ReadScientific(const char* at, const char* end) {
  Decimal decimal;
  decimal.digits[decimal.count++] = *at++;
  if (*at == '.') ++at;
  while (*at != 'e') decimal.digits[decimal.count++] = *at++;
  while (decimal.count > 1 && decimal.digits[decimal.count - 1] == '0') --decimal.count;
  at += at[1] == '+' ? 2 : 1;  // std::from_chars takes no plus
  std::from_chars(at, end, decimal.exponent);
  return decimal;
}

template <typename T>
Decimal ShortestDecimal(T magnitude) {
  char buffer[kMaxNumberText];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), magnitude, std::chars_format::scientific);
  return ReadScientific(buffer, end.ptr);
}

template <typename T>
Decimal RoundedDecimal(T magnitude, int precision) {
  char buffer[kMaxNumberText];
  const auto end =
      std::to_chars(buffer, buffer + sizeof(buffer), magnitude, std::chars_format::scientific, precision - 1);
  return ReadScientific(buffer, end.ptr);
}

// 10^0 to 10^22 are doubles.
constexpr int kMaxExactPower = 22;
constexpr double kPowersOfTen[kMaxExactPower + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// value * 10^power, rounded once.
double Scale(double value, int power) {
  return power >= 0 ? value * kPowersOfTen[power] : value / kPowersOfTen[-power];
}

// The nearest decimal of `precision` digits as an integer and the exponent of its first digit.
struct ScaledInteger {
  int64_t integer = 0;
  int exponent = 0;
};

// nullopt if double is not precise enough. `value` has at most 24 bits; precision is at most 9.
std::optional<ScaledInteger> RoundInDouble(double value, int precision) {
  constexpr double kLog10Of2 = 0.30103;
  ScaledInteger result;
  result.exponent = static_cast<int>(std::floor(std::ilogb(value) * kLog10Of2));  // or one more
  if (std::abs(precision - 1 - result.exponent) >= kMaxExactPower) return std::nullopt;
  double scaled = Scale(value, precision - 1 - result.exponent);
  if (scaled >= kPowersOfTen[precision]) scaled = Scale(value, precision - 1 - ++result.exponent);
  result.integer = static_cast<int64_t>(scaled);
  const double rest = scaled - static_cast<double>(result.integer);
  if (std::abs(rest - 0.5) <= scaled * std::numeric_limits<double>::epsilon()) return std::nullopt;
  if (rest > 0.5) ++result.integer;
  if (static_cast<double>(result.integer) < kPowersOfTen[precision]) return result;
  result.integer /= 10;
  ++result.exponent;
  return result;
}

// Whether strtof of the decimal is `value`; nullopt if double is not precise enough: near the middle of two floats,
// where the lower 29 bits are 1 and zeros.
std::optional<bool> ReadsBackAs(float value, const ScaledInteger& decimal, int precision) {
  constexpr uint64_t kLowBits = (uint64_t{1} << 29) - 1;
  constexpr uint64_t kMiddle = uint64_t{1} << 28;
  const double read = Scale(static_cast<double>(decimal.integer), decimal.exponent - precision + 1);
  const uint64_t low = __builtin_bit_cast(uint64_t, read) & kLowBits;
  if (low + 1 >= kMiddle && low <= kMiddle + 1) return std::nullopt;
  return static_cast<float>(read) == value;
}

Decimal DecimalOf(const ScaledInteger& scaled) {
  Decimal decimal;
  decimal.exponent = scaled.exponent;
  decimal.count =
      static_cast<int>(std::to_chars(decimal.digits, std::end(decimal.digits), scaled.integer).ptr - decimal.digits);
  while (decimal.count > 1 && decimal.digits[decimal.count - 1] == '0') --decimal.count;
  return decimal;
}

char* WriteScientific(const Decimal& decimal, char* out) {
  *out++ = decimal.digits[0];
  if (decimal.count > 1) {
    *out++ = '.';
    out = Append(absl::string_view(decimal.digits + 1, decimal.count - 1), out);
  }
  *out++ = 'e';
  *out++ = decimal.exponent < 0 ? '-' : '+';
  const int exponent = std::abs(decimal.exponent);
  if (exponent < 10) *out++ = '0';
  return std::to_chars(out, out + 4, exponent).ptr;
}

char* WriteFixed(const Decimal& decimal, char* out) {
  const int integer_digits = decimal.exponent + 1;
  if (integer_digits <= 0) {
    out = Append("0.", out);
    for (int i = integer_digits; i < 0; ++i) *out++ = '0';
    return Append(absl::string_view(decimal.digits, decimal.count), out);
  }
  for (int i = 0; i < integer_digits; ++i) *out++ = i < decimal.count ? decimal.digits[i] : '0';
  if (decimal.count <= integer_digits) return out;
  *out++ = '.';
  return Append(absl::string_view(decimal.digits + integer_digits, decimal.count - integer_digits), out);
}

// Lays a number out as printf's %g does.
char* WriteGeneral(const Decimal& decimal, int precision, char* out) {
  return decimal.exponent < -4 || decimal.exponent >= precision ? WriteScientific(decimal, out)
                                                                : WriteFixed(decimal, out);
}

// Writes a number that is neither NaN, infinite nor zero.
template <typename T>
char* WriteMagnitude(T magnitude, char* out) {
  constexpr int kShort = std::numeric_limits<T>::digits10;
  constexpr int kLong = std::numeric_limits<T>::max_digits10;
  const Decimal shortest = ShortestDecimal(magnitude);
  if (shortest.count == kLong) return WriteGeneral(shortest, kLong, out);
  if (shortest.count > kShort) return WriteGeneral(RoundedDecimal(magnitude, kLong), kLong, out);
  if (magnitude >= std::numeric_limits<T>::min()) return WriteGeneral(shortest, kShort, out);
  // %.6g of a subnormal reads back, as it has at least the shortest digits' precision.
  return WriteGeneral(RoundedDecimal(magnitude, kShort), kShort, out);
}

// Like WriteMagnitude, for floats that are neither very large nor very small; null if double is not precise enough.
char* WriteMagnitudeInDouble(float magnitude, char* out) {
  constexpr int kShort = std::numeric_limits<float>::digits10;
  constexpr int kLong = std::numeric_limits<float>::max_digits10;
  const std::optional<ScaledInteger> rounded = RoundInDouble(magnitude, kShort);
  if (!rounded.has_value()) return nullptr;
  const std::optional<bool> reads_back = ReadsBackAs(magnitude, *rounded, kShort);
  if (!reads_back.has_value()) return nullptr;
  if (*reads_back) return WriteGeneral(DecimalOf(*rounded), kShort, out);
  const std::optional<ScaledInteger> exact = RoundInDouble(magnitude, kLong);
  return exact.has_value() ? WriteGeneral(DecimalOf(*exact), kLong, out) : nullptr;
}

template <typename T>
char* WriteReal(T value, char* out) {
  if (std::signbit(value)) *out++ = '-';
  if (std::isinf(value)) return Append("inf", out);
  if (value == 0) return Append("0", out);
  if constexpr (std::is_same_v<T, float>) {
    if (char* const end = WriteMagnitudeInDouble(std::abs(value), out)) return end;
  }
  return WriteMagnitude(std::abs(value), out);
}

}  // namespace

namespace number_text_internal {

char* WriteNan(bool negative, uint64_t payload, char* out) {
  out = Append(negative ? "-nan" : "nan", out);
  if (payload == 0) return out;
  out = Append("(0x", out);
  int shift = 60;
  while ((payload >> shift) == 0) shift -= 4;
  for (; shift >= 0; shift -= 4) *out++ = kHexDigits[(payload >> shift) & 0xf];
  *out++ = ')';
  return out;
}

char* WriteRounded(float value, int precision, char* out) {
  if (std::signbit(value)) *out++ = '-';
  if (std::isinf(value)) return Append("inf", out);
  if (value == 0) return Append("0", out);
  const std::optional<ScaledInteger> rounded = RoundInDouble(std::abs(value), precision);
  const Decimal decimal = rounded.has_value() ? DecimalOf(*rounded) : RoundedDecimal(std::abs(value), precision);
  return WriteGeneral(decimal, precision, out);
}

}  // namespace number_text_internal

char* WriteNumber(float value, char* out) {
  if (!std::isnan(value)) return WriteReal(value, out);
  const uint64_t payload = number_text_internal::ShownNanPayload(__builtin_bit_cast(uint32_t, value), 23);
  return number_text_internal::WriteNan(std::signbit(value), payload, out);
}

char* WriteNumber(double value, char* out) {
  if (!std::isnan(value)) return WriteReal(value, out);
  const uint64_t payload = number_text_internal::ShownNanPayload(__builtin_bit_cast(uint64_t, value), 52);
  return number_text_internal::WriteNan(std::signbit(value), payload, out);
}

std::optional<double> ParseDecimal(absl::string_view text) {
  double value = 0;
  const std::from_chars_result read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec == std::errc()) return value;
  // Too large and too small are one error above; absl distinguishes them by the value.
  absl::from_chars(text.data(), text.data() + text.size(), value);
  return std::abs(value) > 1 ? std::nullopt : std::make_optional(value);
}

std::optional<NonFinite> ParseNonFinite(absl::string_view text) {
  NonFinite value;
  value.negative = absl::ConsumePrefix(&text, "-");
  if (text == "inf") return value;
  if (!absl::ConsumePrefix(&text, "nan")) return std::nullopt;
  value.is_nan = true;
  if (text.empty()) return value;
  if (!absl::ConsumePrefix(&text, "(0x") || !absl::ConsumeSuffix(&text, ")")) return std::nullopt;
  if (!absl::SimpleHexAtoi(text, &value.payload)) return std::nullopt;
  return value;
}

}  // namespace kashi::literal
