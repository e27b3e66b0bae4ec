// The text of one number, as XLA prints it (array-model.md, 8.2), and numbers read from text.
//
//   type                   digits                          example
//   integers, bool         all; bool is 1 or 0             -8  18446744073709551615
//   F32                    %.6g, else %.9g                 0.1  3.40282347e+38
//   F64                    %.15g, else %.17g               0.1  3.1415926535897931
//   narrower floats        %.Ng, N = ceil(1 + p log10 2)   f16 0.099976  bf16 3.141  f8e5m2 5.7e+04
//   complex                (re, im)                        (1, -2.5)
//
// "else" applies if the shorter text does not read back as the same number. Infinities are inf and -inf. A NaN is nan
// or -nan; if its mantissa is not just the quiet bit, the mantissa follows: nan(0x1). Types with one NaN per sign
// print no mantissa.
//
// The locale has no effect.
#ifndef KASHI_LITERAL_NUMBER_TEXT_H_
#define KASHI_LITERAL_NUMBER_TEXT_H_

#include <charconv>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include "absl/strings/string_view.h"
#include "kashi/array/types.h"

namespace kashi::literal {

// ---------------------------------------------------------------------------------------------------------------------
// Writing
// ---------------------------------------------------------------------------------------------------------------------

// An upper limit of the length of a number's text; the longest texts are those of complex128.
inline constexpr size_t kMaxNumberText = 64;

namespace number_text_internal {

char* WriteNan(bool negative, uint64_t payload, char* out);  // payload 0: none is shown
char* WriteRounded(float value, int precision, char* out);   // %.<precision>g, or an infinity

// The payload of a NaN; 0 for the default NaN.
template <typename Bits>
constexpr uint64_t ShownNanPayload(Bits bits, int mantissa_bits) {
  const uint64_t payload = bits & ((uint64_t{1} << mantissa_bits) - 1);
  return payload == uint64_t{1} << (mantissa_bits - 1) ? 0 : payload;
}

}  // namespace number_text_internal

// Write the text of `value` to `out`, which has room for kMaxNumberText bytes, and return its end. There is no
// terminating NUL.
char* WriteNumber(float value, char* out);
char* WriteNumber(double value, char* out);
template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
char* WriteNumber(T value, char* out) {
  if constexpr (std::is_same_v<T, bool>) {
    *out = value ? '1' : '0';
    return out + 1;
  } else {
    return std::to_chars(out, out + kMaxNumberText, value).ptr;
  }
}
template <int kNumBits, bool kIsSigned>
char* WriteNumber(NarrowInt<kNumBits, kIsSigned> value, char* out) {
  return WriteNumber(static_cast<int>(value), out);
}
template <PrimitiveType kType>
char* WriteNumber(NarrowFloat<kType> value, char* out) {
  constexpr FloatFormat kFormat = NarrowFloat<kType>::kFormat;
  if (isnan(value)) {
    uint64_t payload = 0;
    if constexpr (kFormat.specials == FloatSpecials::kIeee) {
      payload = number_text_internal::ShownNanPayload(value.rep(), kFormat.mantissa_bits);
    }
    return number_text_internal::WriteNan(signbit(value), payload, out);
  }
  return number_text_internal::WriteRounded(value, std::numeric_limits<NarrowFloat<kType>>::max_digits10, out);
}
template <typename T>
char* WriteNumber(std::complex<T> value, char* out) {
  *out++ = '(';
  out = WriteNumber(value.real(), out);
  *out++ = ',';
  *out++ = ' ';
  out = WriteNumber(value.imag(), out);
  *out++ = ')';
  return out;
}

template <typename T>
void AppendNumber(T value, std::string* text) {
  char buffer[kMaxNumberText];
  text->append(buffer, WriteNumber(value, buffer) - buffer);
}

// XLA's name of the function. Returns a text that reads back as the same real number.
template <typename T>
std::string RoundTripFpToString(T value) {
  static_assert(is_specialized_floating_point_v<T>, "RoundTripFpToString takes a real floating-point type.");
  std::string text;
  AppendNumber(value, &text);
  return text;
}

// ---------------------------------------------------------------------------------------------------------------------
// Reading
// ---------------------------------------------------------------------------------------------------------------------

// The number nearest to `text`, which is a decimal or an integer as the Lexer finds them. A number too small for a
// double is 0 or -0; nullopt if it is too large.
std::optional<double> ParseDecimal(absl::string_view text);

// `inf`, `-inf`, `nan`, `-nan`, `nan(0x1)`, `-nan(0x1)`: numbers that are not finite.
struct NonFinite {
  bool is_nan = false;
  bool negative = false;
  uint64_t payload = 0;  // 0: none is given
};
// nullopt if it is none of them. A payload comes from the Lexer, from 1 to 2^52 - 1.
std::optional<NonFinite> ParseNonFinite(absl::string_view text);

// The largest payload of a NaN; 0 for types without NaN, and for types whose NaNs have no payload.
constexpr uint64_t MaxNanPayload(const FloatFormat& format) {
  return format.specials == FloatSpecials::kIeee ? (uint64_t{1} << format.mantissa_bits) - 1 : 0;
}

// The value as a T. A payload must be at most MaxNanPayload. Types without infinity, without NaN or with only one NaN
// get the result of the conversion from double (narrow_float.h).
template <typename T>
T MakeNonFinite(NonFinite value) {
  if (!value.is_nan) {
    const double infinity = std::numeric_limits<double>::infinity();
    return static_cast<T>(value.negative ? -infinity : infinity);
  }
  if (value.payload == 0) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return static_cast<T>(value.negative ? -nan : nan);
  }
  if constexpr (std::is_same_v<T, double>) {
    return __builtin_bit_cast(double, (uint64_t{value.negative ? 0xfffu : 0x7ffu} << 52) | value.payload);
  } else if constexpr (std::is_same_v<T, float>) {
    return __builtin_bit_cast(float, ((value.negative ? 0x1ffu : 0x0ffu) << 23) | static_cast<uint32_t>(value.payload));
  } else {
    constexpr FloatFormat kFormat = T::kFormat;
    const unsigned exponent = (1u << kFormat.exponent_bits) - 1;
    const unsigned sign = value.negative ? 1u << kFormat.exponent_bits : 0;
    return T::FromRep(static_cast<typename T::Rep>(((sign | exponent) << kFormat.mantissa_bits) |
                                                   static_cast<unsigned>(value.payload)));
  }
}

}  // namespace kashi::literal

#endif  // KASHI_LITERAL_NUMBER_TEXT_H_
