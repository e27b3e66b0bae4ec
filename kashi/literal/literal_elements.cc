#include "kashi/literal/literal_elements.h"

#include <charconv>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/primitive_util.h"
#include "kashi/literal/number_text.h"

namespace kashi::literal {
namespace {

using Kind = array::Token::Kind;

absl::string_view TypeText(PrimitiveType type) { return GetPrimitiveTypeInfo(type).text; }

template <typename T>
std::string RangeText() {
  return absl::StrCat("[", static_cast<double>(std::numeric_limits<T>::lowest()), ", ",
                      static_cast<double>(std::numeric_limits<T>::max()), "]");
}

// XLA first converts every number to double, then to the type. Numbers that become infinity or NaN do not fit.
template <typename T>
bool FitReal(double value, T* result) {
  using std::isfinite;
  *result = static_cast<T>(value);
  return isfinite(*result);
}

// 64 bits unsigned take any integer: a negative one wraps, as one beyond int64 did in the lexer.
template <typename T>
bool FitInteger(int64_t value, T* result) {
  *result = static_cast<T>(value);
  if constexpr (std::is_same_v<T, bool>) {
    *result = value != 0;
    return true;
  } else if constexpr (sizeof(T) == sizeof(int64_t)) {
    return true;
  } else {
    return value >= static_cast<int64_t>(std::numeric_limits<T>::min()) &&
           value <= static_cast<int64_t>(std::numeric_limits<T>::max());
  }
}

// inf, nan and similar tokens; nullopt for any other token.
std::optional<NonFinite> NonFiniteOf(const array::Lexer& lexer) {
  if (lexer.kind() != Kind::kNonFinite && lexer.kind() != Kind::kIdent) return std::nullopt;
  return ParseNonFinite(lexer.token_text());
}

bool IsBoolean(const array::Lexer& lexer) { return lexer.AtIdent("true") || lexer.AtIdent("false"); }
bool BeginsRealNumber(const array::Lexer& lexer) {
  return lexer.kind() == Kind::kInt || lexer.kind() == Kind::kDecimal || NonFiniteOf(lexer).has_value();
}

template <typename T>
bool ReadNonFinite(LiteralInput& in, NonFinite number, T* value) {
  constexpr PrimitiveType kType = primitive_util::NativeToPrimitiveType<T>();
  constexpr uint64_t kMaxPayload = MaxNanPayload(GetPrimitiveTypeInfo(kType).format);
  if (number.payload > kMaxPayload) {
    const std::string reason = kMaxPayload == 0
                                   ? absl::StrCat(TypeText(kType), " does not support payloads")
                                   : absl::StrCat("the NaN payload is out of range (0x", absl::Hex(kMaxPayload), ")");
    return in.ErrorHere(absl::StrCat("tries to set NaN payload 0x", absl::Hex(number.payload), " to a literal of ",
                                     TypeText(kType), ", but ", reason));
  }
  *value = MakeNonFinite<T>(number);
  in.lexer.Next();
  return true;
}

// The real number that begins here: an element of `type`, or a part of one.
template <typename T>
bool ReadReal(LiteralInput& in, PrimitiveType type, absl::string_view part, T* value) {
  if (const std::optional<NonFinite> number = NonFiniteOf(in.lexer)) return ReadNonFinite(in, *number, value);
  const array::Token& token = in.lexer.token();
  std::optional<double> number = static_cast<double>(token.int_value);
  if (token.kind == Kind::kDecimal) number = ParseDecimal(in.lexer.token_text());
  if (!number.has_value()) {
    return in.ErrorHere(absl::StrCat("Constant is out of range for double (+/-", std::numeric_limits<double>::max(),
                                     ") and so is unparsable: ", array::QuoteToken(in.lexer)));
  }
  if (!FitReal(*number, value)) return in.ErrorOutOfRange(part, type, RangeText<T>());
  in.lexer.Next();
  return true;
}

template <typename T>
bool ReadInteger(LiteralInput& in, T* value) {
  constexpr PrimitiveType kType = primitive_util::NativeToPrimitiveType<T>();
  if (in.lexer.kind() != Kind::kInt) {
    return in.ErrorGot(absl::StrCat("expects integer for primitive type: ", PrimitiveType_Name(kType)));
  }
  if (!FitInteger(in.lexer.token().int_value, value)) {
    return in.ErrorOutOfRange("value", kType,
                              absl::StrCat("[", static_cast<int64_t>(std::numeric_limits<T>::min()), ", ",
                                           static_cast<int64_t>(std::numeric_limits<T>::max()), "]"));
  }
  in.lexer.Next();
  return true;
}

bool ReadPred(LiteralInput& in, bool* value) {
  if (!IsBoolean(in.lexer)) return ReadInteger(in, value);
  *value = in.lexer.AtIdent("true");
  in.lexer.Next();
  return true;
}

template <typename T>
bool ReadComplexPart(LiteralInput& in, absl::string_view part, T* value) {
  if (!BeginsRealNumber(in.lexer)) {
    return in.ErrorGot(absl::StrCat("expect floating-point value for ", part, " of complex number"));
  }
  return ReadReal(in, primitive_util::NativeToPrimitiveType<std::complex<T>>(), part, value);
}

// In XLA an imaginary NaN is a double with its payload, which is then converted to the type: only the
// payload's high bits stay. And the imaginary part is lost if the real part is NaN.
template <typename T>
bool ReadComplex(LiteralInput& in, std::complex<T>* value) {
  T real{};
  T imaginary{};
  if (!in.lexer.Match(Kind::kLeftParen)) {
    constexpr PrimitiveType kType = primitive_util::NativeToPrimitiveType<std::complex<T>>();
    return in.ErrorGot(absl::StrCat("unsupported primitive type ", PrimitiveType_Name(kType),
                                    " of a real number: expected `(` to begin a complex one"));
  }
  if (!ReadComplexPart(in, "real part", &real)) return false;
  if (!in.lexer.Match(Kind::kComma)) return in.ErrorGot("expect comma after real part of complex literal");
  if (const std::optional<NonFinite> non_finite = NonFiniteOf(in.lexer)) {
    imaginary = static_cast<T>(MakeNonFinite<double>(*non_finite));
    in.lexer.Next();
  } else if (!ReadComplexPart(in, "imaginary part", &imaginary)) {
    return false;
  }
  *value = {real, std::isnan(real) ? real : imaginary};
  return in.lexer.Match(Kind::kRightParen) || in.ErrorGot("expect ')' after complex number");
}

bool IsSeparator(char c) { return c == ',' || c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool BeginsNumber(char c) { return c == '-' || absl::ascii_isdigit(c); }

// Reads the number at `at` if it begins with 1 to 18 digits and fits. Returns its end, which is where the lexer's token
// ends, or null.
template <typename T>
const char* ScanPlainNumber(const char* at, const char* end, T* value) {
  constexpr int kMaxDigits = 18;
  const bool negative = *at == '-';
  const char* const digits = at + negative;
  const char* next = digits;
  uint64_t magnitude = 0;
  while (next != end && absl::ascii_isdigit(*next) && next - digits <= kMaxDigits) {
    magnitude = magnitude * 10 + static_cast<uint64_t>(*next++ - '0');
  }
  if (next == digits || next - digits > kMaxDigits) return nullptr;
  const bool is_integer = next == end || (*next != '.' && *next != 'e' && *next != 'E');
  const int64_t integer = negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
  if constexpr (is_specialized_integral_v<T>) {
    return is_integer && FitInteger(integer, value) ? next : nullptr;
  } else {
    double number = static_cast<double>(integer);
    if (!is_integer) {
      const std::from_chars_result read = std::from_chars(at, end, number);
      if (read.ec != std::errc()) return nullptr;
      next = read.ptr;
    }
    return FitReal(number, value) ? next : nullptr;
  }
}

template <typename T>
class LiteralElementsOf : public LiteralElements {
 public:
  explicit LiteralElementsOf(LiteralInput in) : in_(in) {}

  bool CheckBegin() override {
    const array::Lexer& lexer = in_.lexer;
    if (IsBoolean(lexer) && kType != PRED) {
      return in_.ErrorHere(absl::StrCat(PrimitiveType_Name(kType), " is not PRED type: a boolean is not an element of ",
                                        TypeText(kType)));
    }
    if (IsBoolean(lexer) || BeginsRealNumber(lexer)) return true;
    if (lexer.kind() != Kind::kLeftParen) return in_.ErrorUnexpected(kType == PRED ? "true or false" : "a number");
    return is_complex_v<T> || in_.ErrorHere("unexpected '(' in literal. Parens are only valid for complex literals");
  }

  bool ReadOne(char* to) override {
    T value{};
    if (!Read(&value)) return false;
    std::memcpy(to, &value, sizeof(T));
    return true;
  }

  int64_t ReadRun(char* to, int64_t stride, int64_t count) override {
    if constexpr (is_complex_v<T>) {
      return 0;
    } else {
      const absl::string_view text = in_.lexer.text();
      const char* const end = text.data() + text.size();
      const char* at = text.data() + in_.lexer.token().begin;
      int64_t read = 0;
      while (read < count && at != end && BeginsNumber(*at)) {
        T value;
        const char* const next = ScanPlainNumber(at, end, &value);
        if (next == nullptr) break;
        std::memcpy(to + read * stride, &value, sizeof(T));
        ++read;
        at = next;
        while (at != end && IsSeparator(*at)) ++at;
      }
      if (read > 0) in_.lexer.MoveTo(at - text.data());
      return read;
    }
  }

 private:
  static constexpr PrimitiveType kType = primitive_util::NativeToPrimitiveType<T>();

  bool Read(T* value) {
    if constexpr (is_complex_v<T>) {
      return ReadComplex(in_, value);
    } else if constexpr (std::is_same_v<T, bool>) {
      return ReadPred(in_, value);
    } else if constexpr (is_specialized_integral_v<T>) {
      return ReadInteger(in_, value);
    } else {
      return ReadReal(in_, kType, "value", value);
    }
  }

  LiteralInput in_;
};

}  // namespace

void WithLiteralElements(PrimitiveType type, LiteralInput in, absl::FunctionRef<void(LiteralElements*)> f) {
  primitive_util::ArrayTypeSwitch(
      [&](auto native) {
        LiteralElementsOf<primitive_util::NativeTypeOf<native>> elements(in);
        f(&elements);
      },
      type);
}

}  // namespace kashi::literal
