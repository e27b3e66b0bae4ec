// The words of an expression (expression.h).
#ifndef KASHI_QUERY_EXPRESSION_LEXER_H_
#define KASHI_QUERY_EXPRESSION_LEXER_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kashi/base/diagnostic.h"
#include "kashi/query/facts.h"
#include "kashi/query/number.h"

namespace kashi::query {

struct Token {
  enum class Kind { kWord, kString, kNumber, kSymbol, kEnd };
  Kind kind = Kind::kEnd;
  size_t begin = 0, end = 0;  // bytes of the text
  absl::string_view text;     // as it is written
  std::string value;          // of a string, without quotes
  Number number;
  FactType unit = FactType::kCount;  // of a number; kCount: none is written

  bool Is(absl::string_view symbol_or_word) const { return kind != Kind::kString && text == symbol_or_word; }
};

// The tokens with a kEnd at the end. False after an error, which is then in `error`.
bool Tokenize(absl::string_view text, std::vector<Token>* tokens, Diagnostic* error);

}  // namespace kashi::query

#endif  // KASHI_QUERY_EXPRESSION_LEXER_H_
