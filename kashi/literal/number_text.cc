// Digits come from std::to_chars: first the fewest that read back as the number. If there are no more of them than the
// short format has, %.6g of a float would print just these (for numbers that are not subnormal: a decimal of 6 digits
// survives the way to float and back). If there are as many as the long format has, they are what %.9g prints. Only
// between the two, and for subnormals, the number is written once more.
#include "kashi/literal/number_text.h"

#include <charconv>
#include <cmath>
#include <cstring>

#include "absl/strings/charconv.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace kashi {
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

// From `d.ddde+XX`, what std::to_chars writes.
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

// As printf's %g lays a number out.
char* WriteGeneral(const Decimal& decimal, int precision, char* out) {
  return decimal.exponent < -4 || decimal.exponent >= precision ? WriteScientific(decimal, out)
                                                                : WriteFixed(decimal, out);
}

// What is neither NaN, infinite nor zero.
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

template <typename T>
char* WriteReal(T value, char* out) {
  if (std::signbit(value)) *out++ = '-';
  if (std::isinf(value)) return Append("inf", out);
  if (value == 0) return Append("0", out);
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
  return WriteGeneral(RoundedDecimal(std::abs(value), precision), precision, out);
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
  // Too large and too small are one error above; absl tells them apart by the value.
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

}  // namespace kashi
