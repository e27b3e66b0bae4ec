#include "kashi/stablehlo/text/mlir_numbers.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <system_error>
#include <type_traits>

#include "absl/strings/charconv.h"
#include "absl/strings/string_view.h"
#include "kashi/array/primitive_type.h"
#include "kashi/array/primitive_util.h"

namespace kashi::stablehlo {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool ParseHex(absl::string_view digits, uint64_t* value) {
  if (digits.empty()) return false;
  *value = 0;
  for (const char c : digits) {
    const int digit = HexDigit(c);
    if (digit < 0 || *value >> 60 != 0) return false;
    *value = *value << 4 | static_cast<uint64_t>(digit);
  }
  return true;
}

bool ParseDecimal(absl::string_view digits, uint64_t* value) {
  if (digits.empty()) return false;
  *value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return false;
    const uint64_t digit = static_cast<uint64_t>(c - '0');
    if (*value > (std::numeric_limits<uint64_t>::max() - digit) / 10) return false;
    *value = *value * 10 + digit;
  }
  return true;
}

// The bits of the double as a value of the type.
struct EncodeFloat {
  double value;
  uint64_t* bits;
  template <typename Type>
  bool operator()(Type type) const {
    using T = primitive_util::NativeTypeOf<type>;
    const T number = static_cast<T>(value);
    if constexpr (std::is_same_v<T, double> || std::is_same_v<T, float>) {
      std::memcpy(bits, &number, sizeof(number));
    } else {
      *bits = number.rep();
    }
    return true;
  }
};

bool IsHex(absl::string_view token) { return token.size() > 2 && token[0] == '0' && token[1] == 'x'; }

}  // namespace

bool ParseInteger(absl::string_view token, int bits, bool is_signed, int64_t* value) {
  const bool negative = !token.empty() && token[0] == '-';
  if (negative) token.remove_prefix(1);
  uint64_t magnitude = 0;
  const bool is_hex = IsHex(token);
  if (is_hex ? !ParseHex(token.substr(2), &magnitude) : !ParseDecimal(token, &magnitude)) return false;
  const uint64_t limit = bits >= 64 ? std::numeric_limits<uint64_t>::max() : (uint64_t{1} << bits) - 1;
  const uint64_t top = uint64_t{1} << (bits - 1);
  if (negative ? magnitude > (is_signed ? top : 0) : magnitude > (is_signed && !is_hex ? top - 1 : limit)) return false;
  uint64_t pattern = negative ? uint64_t{0} - magnitude : magnitude;
  if (is_signed && bits < 64 && (pattern & top) != 0) pattern |= ~limit;
  *value = static_cast<int64_t>(pattern);
  return true;
}

bool ParseFloatBits(absl::string_view token, PrimitiveType element, uint64_t* bits) {
  *bits = 0;
  if (IsHex(token)) {
    const int width = primitive_util::BitWidth(element);
    return ParseHex(token.substr(2), bits) && (width >= 64 || *bits >> width == 0);
  }
  if (token.find('.') == absl::string_view::npos) return false;
  double value = 0;
  const char* end = token.data() + token.size();
  const absl::from_chars_result result = absl::from_chars(token.data(), end, value);
  if (result.ptr != end || result.ec == std::errc::invalid_argument) return false;
  return primitive_util::FloatingPointTypeSwitch(EncodeFloat{value, bits}, element);
}

bool ParseElementBits(absl::string_view token, PrimitiveType element, uint64_t* bits) {
  *bits = 0;
  if (primitive_util::IsFloatingPointType(element)) return ParseFloatBits(token, element, bits);
  if (element == PRED) {
    *bits = token == "true" || token == "1" || token == "-1" ? 1 : 0;
    return *bits == 1 || token == "false" || token == "0";
  }
  const bool is_signed = primitive_util::IsSignedIntegralType(element);
  int64_t value = 0;
  if (!ParseInteger(token, primitive_util::BitWidth(element), is_signed, &value)) return false;
  *bits = static_cast<uint64_t>(value);
  return true;
}

}  // namespace kashi::stablehlo
