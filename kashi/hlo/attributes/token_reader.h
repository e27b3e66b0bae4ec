// The base of the readers of HLO's smaller texts (shardings, device lists): it takes tokens and reports errors, in
// the words of XLA's reader.
#ifndef KASHI_HLO_ATTRIBUTES_TOKEN_READER_H_
#define KASHI_HLO_ATTRIBUTES_TOKEN_READER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/array/lexer.h"
#include "kashi/base/diagnostic.h"

namespace kashi::hlo {

// Borrows the lexer and the list of diagnostics. The readers record one error and return false; they read nothing after
// an error.
class TokenReader {
 public:
  TokenReader(array::Lexer* lexer, std::vector<Diagnostic>* diagnostics) : lexer_(*lexer), diagnostics_(*diagnostics) {}

  array::Lexer& lexer() { return lexer_; }
  std::vector<Diagnostic>* diagnostics() { return &diagnostics_; }
  array::Token::Kind kind() const { return lexer_.kind(); }
  bool Match(array::Token::Kind kind) { return lexer_.Match(kind); }
  bool MatchIdent(absl::string_view ident) {
    if (!lexer_.AtIdent(ident)) return false;
    lexer_.Next();
    return true;
  }
  // The name of an attribute with its `=`: `devices=`.
  bool MatchAttribute(absl::string_view name) {
    if (!AtAttribute(name)) return false;
    lexer_.Next();
    return true;
  }
  bool AtAttribute(absl::string_view name) const {
    const absl::string_view text = lexer_.token_text();
    return kind() == array::Token::Kind::kAttributeName && text.substr(0, text.size() - 1) == name;
  }

  bool Error(size_t begin, size_t end, std::string message) {
    diagnostics_.push_back({Diagnostic::Severity::kError, begin, end, std::move(message)});
    return false;
  }
  bool ErrorHere(std::string message) { return Error(lexer_.token().begin, lexer_.token().end, std::move(message)); }
  // An error about everything from `begin` to the last token that was taken.
  bool ErrorSince(size_t begin, std::string message) { return Error(begin, lexer_.previous_end(), std::move(message)); }
  bool ErrorGot(absl::string_view message) {
    return ErrorHere(absl::StrCat(message, ", got ", array::QuoteToken(lexer_)));
  }
  bool ErrorExpected(absl::string_view what) { return ErrorGot(absl::StrCat("expected ", what)); }

  bool Expect(array::Token::Kind kind, absl::string_view where) {
    return Match(kind) || ErrorExpected(absl::StrCat(array::TokenKindName(kind), " ", where));
  }
  // A separate `=` after a string, as in 'x'=2.
  bool ExpectEqualSign(absl::string_view where) {
    if (lexer_.token_text() != "=") return ErrorExpected(absl::StrCat("`=` ", where));
    lexer_.Next();
    return true;
  }
  // As in XLA, numbers from 2^63 on become the negative numbers with the same 64 bits.
  bool ReadInt(int64_t* value) {
    if (kind() != array::Token::Kind::kInt) return ErrorGot("expects integer");
    *value = lexer_.token().int_value;
    lexer_.Next();
    return true;
  }
  bool ReadString(std::string* text) {
    if (kind() != array::Token::Kind::kString) return ErrorGot("expects string");
    std::optional<std::string> read = array::UnescapeString(lexer_.token_text());
    if (!read.has_value()) return ErrorHere("a string with an escape sequence that C does not have");
    *text = *std::move(read);
    lexer_.Next();
    return true;
  }
  // begin [item {"," item}] end
  bool ReadList(array::Token::Kind begin, array::Token::Kind end, absl::string_view what,
                absl::FunctionRef<bool()> read_item) {
    if (!Expect(begin, absl::StrCat("to start ", what))) return false;
    if (Match(end)) return true;
    do {
      if (!read_item()) return false;
    } while (Match(array::Token::Kind::kComma));
    return Expect(end, absl::StrCat("to end ", what));
  }

 private:
  array::Lexer& lexer_;
  std::vector<Diagnostic>& diagnostics_;
};

}  // namespace kashi::hlo

#endif  // KASHI_HLO_ATTRIBUTES_TOKEN_READER_H_
