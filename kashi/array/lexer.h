// The tokens of XLA's texts, one at a time, without copies. (array-model.md, 2.1)
//
// Space, tab, line feed, carriage return and the comments /* … */ and // … separate tokens. An identifier directly
// before `:` or `=` is a name (`p0:`) or an attribute name (`dims=`): so `T:` is never the identifier T.
//
// `inf`, `nan`, `true` and `false` are identifiers. `-inf`, `nan(0x1)` and `...` are tokens of their own.
#ifndef KASHI_ARRAY_LEXER_H_
#define KASHI_ARRAY_LEXER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace kashi::array {

struct Token {
  enum class Kind {
    kEnd,
    // A byte that starts no token, an unfinished comment or string, an integer outside [-2^63, 2^64), `nan(` without a
    // payload.
    kError,
    kComma,
    kColon,
    kStar,
    kHash,
    kPlus,
    kTilde,
    kQuestion,
    kLessEqual,
    kArrow,
    kDots,  // `...`
    kLeftSquare,
    kRightSquare,
    kLeftBrace,
    kRightBrace,
    kLeftParen,
    kRightParen,
    kInt,
    kDecimal,
    kNonFinite,  // `-inf`, `-nan`, `-nan(0x1)`, `nan(0x1)`; payloads are 1 to 2^52 - 1, with a lower-case x
    kString,     // `"a\"b"` or `'a'`, with its quotes; UnescapeString gives its value
    kIdent,
    kName,           // identifier and `:`, both inside the token
    kAttributeName,  // identifier and `=`, both inside the token
  };
  Kind kind = Kind::kEnd;
  size_t begin = 0;  // bytes [begin, end) of the text
  size_t end = 0;
  // The value of kInt, as XLA reads it: 2^63 and above gives the negative number of the same 64 bits, and sets
  // `wrapped`.
  int64_t int_value = 0;
  bool wrapped = false;
};

// The value of a token of kind kString, without quotes and with C's escapes decoded. nullopt if an escape is not C's.
std::optional<std::string> UnescapeString(absl::string_view token_text);

// The name of a kind in messages: "`]`", "an integer", "end of text".
absl::string_view TokenKindName(Token::Kind kind);

class Lexer {
 public:
  // Begins at `offset` of `text`, which it borrows.
  explicit Lexer(absl::string_view text, size_t offset = 0) : text_(text) { token_ = Lex(offset); }

  absl::string_view text() const { return text_; }
  const Token& token() const { return token_; }
  Token::Kind kind() const { return token_.kind; }
  absl::string_view token_text() const { return text_.substr(token_.begin, token_.end - token_.begin); }
  bool AtIdent(absl::string_view ident) const { return kind() == Token::Kind::kIdent && token_text() == ident; }

  void Next() {
    previous_end_ = token_.end;
    token_ = Lex(token_.end);
  }
  // The end of the token before the current one.
  size_t previous_end() const { return previous_end_; }
  // Takes the token if it is of this kind.
  bool Match(Token::Kind kind) {
    if (token_.kind != kind) return false;
    Next();
    return true;
  }
  // Goes on at `offset` of the text: for readers that find their way through long lists of numbers by themselves.
  void MoveTo(size_t offset) {
    previous_end_ = offset;
    token_ = Lex(offset);
  }
  // The token behind the current one.
  Token LookAhead() const { return Lex(token_.end); }

 private:
  Token Lex(size_t offset) const;
  Token LexNumber(size_t begin) const;
  Token LexIdent(size_t begin) const;
  Token LexString(size_t begin) const;
  Token LexNan(size_t begin, size_t end) const;
  size_t SkipSpace(size_t offset) const;  // npos: a comment does not end

  absl::string_view text_;
  Token token_;
  size_t previous_end_ = 0;
};

// The current token as messages quote it: "`f33`", "end of text", "byte 0xc3".
std::string QuoteToken(const Lexer& lexer);

}  // namespace kashi::array

#endif  // KASHI_ARRAY_LEXER_H_
