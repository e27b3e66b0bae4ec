// Reads shape text: `f32[8,<=128]{1,0:T(8,128)}`, `(s32[], token[])`, … (array-model.md, 2.1–2.3).
//
// Two modes:
//   lax (the default)  accepts all text that real XLA accepts, also sloppy text. It warns about sloppy text and about
//                      shapes that ShapeUtil::ValidateShape refuses.
//                      Text that ends XLA's process is an error here.
//   strict             treats these warnings as errors.
// Errors are INVALID_ARGUMENT, printed as `name:line:column: error: …` with the line and a caret (base/diagnostic.h).
// One pass without recursion: tuples may be nested kMaxTupleDepth deep.
#ifndef KASHI_ARRAY_SHAPE_PARSER_H_
#define KASHI_ARRAY_SHAPE_PARSER_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/array/layout.h"
#include "kashi/array/lexer.h"
#include "kashi/array/shape.h"
#include "kashi/base/diagnostic.h"

namespace kashi {

// Values of deeper trees could not be copied, compared or destroyed on a thread's stack.
inline constexpr int kMaxTupleDepth = 6000;

struct ShapeParserOptions {
  bool strict = false;
  // Give every array without a layout the default one, as XLA's ParseShape does.
  bool fill_missing_layouts = true;
  // The name of the text in messages.
  absl::string_view source_name = "shape";
  size_t first_line = 1;
};

// The whole text must be one shape. `diagnostics`, if given, receives the warnings (the text that strict reading would
// have refused) or, after a failure, the errors that the status has rendered.
absl::StatusOr<Shape> ParseShape(absl::string_view text);
absl::StatusOr<Shape> ParseShape(absl::string_view text, const ShapeParserOptions& options,
                                 std::vector<Diagnostic>* diagnostics = nullptr);

// The whole text must be one layout in braces: `{1,0:T(8,128)}`.
absl::StatusOr<Layout> ParseLayout(absl::string_view text);

// `(p0: f32[2], p1: s32[]) -> f32[2]`, as ProgramShape prints; "(unknown)" stands for a parameter without a name.
absl::StatusOr<ProgramShape> ParseProgramShape(absl::string_view text);

// Reads one shape where `lexer` stands and leaves it behind the shape; for readers of larger texts.
// nullopt after an error, which then is in `diagnostics`. Warnings go there too.
std::optional<Shape> ParseShapePrefix(array::Lexer* lexer, const ShapeParserOptions& options,
                                      std::vector<Diagnostic>* diagnostics);

}  // namespace kashi

#endif  // KASHI_ARRAY_SHAPE_PARSER_H_
