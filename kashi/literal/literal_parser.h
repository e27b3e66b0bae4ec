// Literals from text, as XLA reads them in `shape constant(LITERAL)` (array-model.md, 8.1):
//
//   f32[2,2]           {{1, 2.5}, {-inf, nan(0x1)}}        commas between elements may be missing or repeated
//   c64[]              (1, -2)
//   (s32[], pred[2])   (3, {true, 0})
//   f32[4096,4096]     {...}                               elided elements: zeros here (XLA chooses other values)
//   s32[2]             7                                   means {7, 0}
//
// The text has the values in logical row-major order for any layout; the literal has the layout of the shape. Text that
// XLA accepts is accepted with the same meaning, also where it is odd: `-0` is +0, `nan` as a real part makes the
// imaginary part the same NaN, 18446744073709551615 is -1 for s64. Text that ends XLA's process is an error.
//
// Time and memory are proportional to the text: memory is allocated only for elements that the rest of the text can
// contain. Elements that are not listed, as in `{...}`, have a budget. There is no recursion.
#ifndef KASHI_LITERAL_LITERAL_PARSER_H_
#define KASHI_LITERAL_LITERAL_PARSER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/array/lexer.h"
#include "kashi/array/shape.h"
#include "kashi/base/diagnostic.h"
#include "kashi/literal/literal.h"

namespace kashi {

// 1 GiB.
inline constexpr int64_t kDefaultUnlistedBytes = int64_t{1} << 30;

struct LiteralParserOptions {
  // The budget in bytes for elements that the text does not list. A literal subtracts the bytes that it uses, so
  // literals with the same counter share the budget. Null: each literal has kDefaultUnlistedBytes.
  int64_t* unlisted_bytes = nullptr;
  // Set to true if the text elides elements by `...`; otherwise not changed. May be null.
  bool* is_elided = nullptr;
};

// Reads one literal of `shape` at the position of `lexer`, and moves `lexer` to its end; for readers of larger texts.
// nullopt after an error, which then is in `diagnostics` (offsets into the lexer's text).
//
// The literal's shape is `shape` with bounds for sizes, defaults for missing layouts, no E, and a buffer's array in
// place of the buffer. Errors too: `?`, tokens and opaque values anywhere, layouts that are not valid.
std::optional<Literal> ParseLiteralPrefix(array::Lexer* lexer, const Shape& shape, const LiteralParserOptions& options,
                                          std::vector<Diagnostic>* diagnostics);

// The whole text must be one literal. INVALID_ARGUMENT, rendered "literal:line:column: error: ..." (base/diagnostic.h).
absl::StatusOr<Literal> ParseLiteral(absl::string_view text, const Shape& shape);

}  // namespace kashi

#endif  // KASHI_LITERAL_LITERAL_PARSER_H_
