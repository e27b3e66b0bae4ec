// Errors and warnings about a text, and the function that prints them.
//
//   m.hlo:4:46: error: tile dimension must be positive or `*`, got -1
//     ROOT t = f32[8,128]{1,0:T(-1)} add(p, q)
//                               ^~
//
// Readers collect diagnostics with byte offsets; line and column are computed for printing.
#ifndef KASHI_BASE_DIAGNOSTIC_H_
#define KASHI_BASE_DIAGNOSTIC_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kashi {

struct Diagnostic {
  enum class Severity { kWarning, kError };
  Severity severity = Severity::kError;
  // The bytes [begin, end) of the source that the message is about; end == begin marks a place between bytes.
  size_t begin = 0;
  size_t end = 0;
  std::string message;
};

// A text with a name, for messages. Borrows both. `first_line`: the number of the text's first line, if it is a part of
// a longer text.
struct SourceText {
  absl::string_view name;
  absl::string_view text;
  size_t first_line = 1;
};

// 1-based line and column (in bytes) of an offset.
struct LineColumn {
  size_t line = 1;
  size_t column = 1;
};
LineColumn FindLineColumn(absl::string_view text, size_t offset);

// "name:line:column: error: message", the source line and a caret run as wide as the token, without a final newline.
// Control bytes of the line are shown as spaces, and a long line is cut around the caret.
std::string RenderDiagnostic(const SourceText& source, const Diagnostic& diagnostic);

// INVALID_ARGUMENT with all errors among `diagnostics` (warnings are left out) rendered; OK if there is none.
absl::Status DiagnosticsToStatus(const SourceText& source, const std::vector<Diagnostic>& diagnostics);

}  // namespace kashi

#endif  // KASHI_BASE_DIAGNOSTIC_H_
