// The elements of a literal's text: numbers, bools and complex numbers, without braces and commas.
#ifndef KASHI_LITERAL_LITERAL_ELEMENTS_H_
#define KASHI_LITERAL_LITERAL_ELEMENTS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/array/lexer.h"
#include "kashi/array/primitive_type.h"
#include "kashi/base/diagnostic.h"

namespace kashi::literal {

// The text and its errors. All errors return false, so that a reader can use `return in.Error(...)`. Their
// terms are those of XLA's reader, so that a search for one finds the other.
struct LiteralInput {
  array::Lexer& lexer;
  std::vector<Diagnostic>& diagnostics;

  bool Error(const array::Token& token, std::string message) {
    diagnostics.push_back({Diagnostic::Severity::kError, token.begin, token.end, std::move(message)});
    return false;
  }
  bool ErrorHere(std::string message) { return Error(lexer.token(), std::move(message)); }
  // Reports a token that cannot begin an element, where `what` was expected.
  bool ErrorUnexpected(absl::string_view what) {
    constexpr absl::string_view kTerm = "unexpected token type in a literal: ";
    const bool is_error = lexer.kind() == array::Token::Kind::kError;
    if (is_error && absl::ascii_isdigit(lexer.token_text().back())) {
      return ErrorHere(absl::StrCat(kTerm, array::QuoteToken(lexer), " does not fit in 64 bits"));
    }
    if (is_error && absl::EndsWith(lexer.token_text(), "nan")) {
      return ErrorHere(absl::StrCat(kTerm, "write the payload of a NaN as (0x1) to (0xfffffffffffff)"));
    }
    return ErrorHere(absl::StrCat(kTerm, "expected ", what, ", got ", array::QuoteToken(lexer)));
  }
  bool ErrorGot(absl::string_view message) {
    return ErrorHere(absl::StrCat(message, ", got ", array::QuoteToken(lexer)));
  }
  // `part` names a part of an element, or is "value" for the whole element.
  bool ErrorOutOfRange(absl::string_view part, PrimitiveType type, absl::string_view range) {
    return ErrorHere(absl::StrCat(part, " ", lexer.token_text(), " is out of range for literal's primitive type ",
                                  PrimitiveType_Name(type), part == "value" ? " namely " : ", namely ", range));
  }
};

class LiteralElements {
 public:
  virtual ~LiteralElements() = default;
  // Whether the lexer is at the start of an element. If not, reports an error.
  virtual bool CheckBegin() = 0;
  // Reads the element at the lexer, and stores it.
  virtual bool ReadOne(char* to) = 0;
  // Reads elements while they are plain numbers with nothing but commas and space between them, at most `count`, and
  // stores them `stride` bytes apart. Returns how many; none is no error, but ReadOne's case.
  virtual int64_t ReadRun(char* to, int64_t stride, int64_t count) = 0;
};

// Calls f with the reader of elements of `type`, an array's type. The reader lives during the call.
void WithLiteralElements(PrimitiveType type, LiteralInput in, absl::FunctionRef<void(LiteralElements*)> f);

}  // namespace kashi::literal

#endif  // KASHI_LITERAL_LITERAL_ELEMENTS_H_
