#include "kashi/array/lexer.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace kashi::array {
namespace {

using Kind = Token::Kind;

// Tokens of one byte; kError for the bytes that are none.
Kind SingleByteKind(char c) {
  switch (c) {
    case ',':
      return Kind::kComma;
    case ':':
      return Kind::kColon;
    case '*':
      return Kind::kStar;
    case '#':
      return Kind::kHash;
    case '+':
      return Kind::kPlus;
    case '~':
      return Kind::kTilde;
    case '?':
      return Kind::kQuestion;
    case '[':
      return Kind::kLeftSquare;
    case ']':
      return Kind::kRightSquare;
    case '{':
      return Kind::kLeftBrace;
    case '}':
      return Kind::kRightBrace;
    case '(':
      return Kind::kLeftParen;
    case ')':
      return Kind::kRightParen;
    default:
      return Kind::kError;
  }
}

bool IsIdentChar(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-'; }

Token MakeToken(Kind kind, size_t begin, size_t end) {
  Token token;
  token.kind = kind;
  token.begin = begin;
  token.end = end;
  return token;
}

// Skips [0-9]*.
size_t SkipDigits(absl::string_view text, size_t at) {
  while (at < text.size() && absl::ascii_isdigit(text[at])) ++at;
  return at;
}

// The end of a fraction and an exponent that begin at `at`; `at` itself if there are none.
size_t SkipFractionAndExponent(absl::string_view text, size_t at) {
  if (at < text.size() && text[at] == '.') at = SkipDigits(text, at + 1);
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    size_t digits = at + 1;
    if (digits < text.size() && (text[digits] == '+' || text[digits] == '-')) ++digits;
    const size_t end = SkipDigits(text, digits);
    if (end > digits) at = end;
  }
  return at;
}

}  // namespace

std::optional<std::string> UnescapeString(absl::string_view token_text) {
  std::string text;
  if (!absl::CUnescape(token_text.substr(1, token_text.size() - 2), &text)) return std::nullopt;
  return text;
}

absl::string_view TokenKindName(Token::Kind kind) {
  switch (kind) {
    case Kind::kEnd:
      return "end of text";
    case Kind::kError:
      return "an invalid token";
    case Kind::kComma:
      return "`,`";
    case Kind::kColon:
      return "`:`";
    case Kind::kStar:
      return "`*`";
    case Kind::kHash:
      return "`#`";
    case Kind::kPlus:
      return "`+`";
    case Kind::kTilde:
      return "`~`";
    case Kind::kQuestion:
      return "`?`";
    case Kind::kLessEqual:
      return "`<=`";
    case Kind::kArrow:
      return "`->`";
    case Kind::kDots:
      return "`...`";
    case Kind::kLeftSquare:
      return "`[`";
    case Kind::kRightSquare:
      return "`]`";
    case Kind::kLeftBrace:
      return "`{`";
    case Kind::kRightBrace:
      return "`}`";
    case Kind::kLeftParen:
      return "`(`";
    case Kind::kRightParen:
      return "`)`";
    case Kind::kInt:
      return "an integer";
    case Kind::kDecimal:
      return "a decimal number";
    case Kind::kNonFinite:
      return "an infinity or NaN";
    case Kind::kString:
      return "a string";
    case Kind::kIdent:
      return "an identifier";
    case Kind::kName:
      return "a name";
    case Kind::kAttributeName:
      return "an attribute name";
  }
  return "an unknown token";
}

size_t Lexer::SkipSpace(size_t at) const {
  while (at < text_.size()) {
    const char c = text_[at];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at;
    } else if (absl::string_view rest = text_.substr(at); rest.substr(0, 2) == "/*") {
      const size_t end = text_.find("*/", at + 2);
      if (end == absl::string_view::npos) return end;
      at = end + 2;
    } else if (rest.substr(0, 2) == "//") {
      at = text_.find_first_of("\n\r", at);
      if (at == absl::string_view::npos) return text_.size();
    } else {
      return at;
    }
  }
  return at;
}

// `nan` or `-nan` is [begin, end); a payload may follow.
Token Lexer::LexNan(size_t begin, size_t end) const {
  constexpr uint64_t kMaxPayload = (uint64_t{1} << 52) - 1;
  if (end == text_.size() || text_[end] != '(') return MakeToken(Kind::kNonFinite, begin, end);
  size_t digits_end = end + 3;
  while (digits_end < text_.size() && absl::ascii_isxdigit(text_[digits_end])) ++digits_end;
  uint64_t payload = 0;
  if (text_.substr(end, 3) != "(0x" || digits_end >= text_.size() || text_[digits_end] != ')' ||
      !absl::SimpleHexAtoi(text_.substr(end + 3, digits_end - end - 3), &payload) || payload == 0 ||
      payload > kMaxPayload) {
    return MakeToken(Kind::kError, begin, end);
  }
  return MakeToken(Kind::kNonFinite, begin, digits_end + 1);
}

Token Lexer::LexNumber(size_t begin) const {
  const bool negative = text_[begin] == '-';
  if (negative && begin + 1 < text_.size() && !absl::ascii_isdigit(text_[begin + 1])) {
    const absl::string_view word = text_.substr(begin + 1, 3);
    if (word == "inf") return MakeToken(Kind::kNonFinite, begin, begin + 4);
    if (word == "nan") return LexNan(begin, begin + 4);
  }
  const size_t digits = begin + negative;
  const size_t integer_end = SkipDigits(text_, digits);
  const size_t end = SkipFractionAndExponent(text_, integer_end);
  if (integer_end == digits && end <= digits + 1) return MakeToken(Kind::kError, begin, begin + 1);
  if (end > integer_end) return MakeToken(Kind::kDecimal, begin, end);

  Token token = MakeToken(Kind::kInt, begin, end);
  const absl::string_view number = text_.substr(begin, end - begin);
  uint64_t magnitude = 0;
  if (absl::SimpleAtoi(number, &token.int_value)) return token;
  if (!negative && absl::SimpleAtoi(number, &magnitude)) {
    token.int_value = static_cast<int64_t>(magnitude);
    token.wrapped = true;
    return token;
  }
  token.kind = Kind::kError;
  return token;
}

Token Lexer::LexIdent(size_t begin) const {
  size_t end = begin + 1;
  while (end < text_.size() && IsIdentChar(text_[end])) ++end;
  if (end < text_.size() && text_[end] == ':') return MakeToken(Kind::kName, begin, end + 1);
  if (end < text_.size() && text_[end] == '=') return MakeToken(Kind::kAttributeName, begin, end + 1);
  if (end < text_.size() && text_[end] == '(' && text_.substr(begin, end - begin) == "nan") return LexNan(begin, end);
  return MakeToken(Kind::kIdent, begin, end);
}

Token Lexer::LexString(size_t begin) const {
  const char quote = text_[begin];
  for (size_t at = begin + 1; at < text_.size(); ++at) {
    if (text_[at] == quote) return MakeToken(Kind::kString, begin, at + 1);
    if (text_[at] == '\\') ++at;
  }
  return MakeToken(Kind::kError, begin, text_.size());
}

Token Lexer::Lex(size_t offset) const {
  const size_t begin = SkipSpace(offset);
  if (begin == absl::string_view::npos) return MakeToken(Kind::kError, offset, text_.size());
  if (begin == text_.size()) return MakeToken(Kind::kEnd, begin, begin);
  const char c = text_[begin];
  const absl::string_view pair = text_.substr(begin, 2);
  if (absl::ascii_isalpha(c) || c == '_') return LexIdent(begin);
  if (pair == "->") return MakeToken(Kind::kArrow, begin, begin + 2);
  if (pair == "<=") return MakeToken(Kind::kLessEqual, begin, begin + 2);
  if (absl::ascii_isdigit(c) || c == '-') return LexNumber(begin);
  if (c == '"' || c == '\'') return LexString(begin);
  if (c == '.' && text_.substr(begin, 3) == "...") return MakeToken(Kind::kDots, begin, begin + 3);
  return MakeToken(SingleByteKind(c), begin, begin + 1);
}

// Bytes that begin no token may be anything, half a character included.
std::string QuoteToken(const Lexer& lexer) {
  if (lexer.kind() == Kind::kEnd) return std::string(TokenKindName(Kind::kEnd));
  const absl::string_view text = lexer.token_text().substr(0, 40);
  if (absl::ascii_isprint(text[0])) return absl::StrCat("`", absl::CHexEscape(text), "`");
  return absl::StrFormat("byte 0x%02x", static_cast<unsigned char>(text[0]));
}

}  // namespace kashi::array
