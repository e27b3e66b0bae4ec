#include "kashi/base/diagnostic.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kashi/base/text.h"

namespace kashi {

using base::Printable;
namespace {

// At most this many bytes of a source line are shown.
constexpr size_t kMaxShownLine = 120;

struct ShownLine {
  std::string text;
  size_t caret;  // how many characters stand before the caret
};

// A byte within a character of UTF-8 other than its first: takes no column of its own.
bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

size_t CountCharacters(absl::string_view text) {
  return text.size() - std::count_if(text.begin(), text.end(), IsContinuation);
}

ShownLine CutLine(absl::string_view line, size_t offset) {
  size_t from = 0;
  if (line.size() > kMaxShownLine && offset > kMaxShownLine / 2) {
    from = std::min(offset - kMaxShownLine / 2, line.size() - kMaxShownLine);
  }
  while (from > 0 && IsContinuation(line[from])) --from;
  size_t end = std::min(from + kMaxShownLine, line.size());
  while (end < line.size() && IsContinuation(line[end])) ++end;
  const bool cut_left = from > 0;
  const bool cut_right = end < line.size();
  ShownLine shown;
  shown.text = absl::StrCat(cut_left ? "..." : "", line.substr(from, end - from), cut_right ? "..." : "");
  shown.text = Printable(shown.text);
  shown.caret = CountCharacters(Printable(line.substr(from, offset - from))) + (cut_left ? 3 : 0);
  return shown;
}

}  // namespace

LineColumn FindLineColumn(absl::string_view text, size_t offset) {
  absl::string_view before = text.substr(0, std::min(offset, text.size()));
  const size_t newline = before.rfind('\n');
  LineColumn result;
  result.line = 1 + std::count(before.begin(), before.end(), '\n');
  result.column = 1 + before.size() - (newline == absl::string_view::npos ? 0 : newline + 1);
  return result;
}

std::string RenderDiagnostic(const SourceText& source, const Diagnostic& diagnostic) {
  const LineColumn at = FindLineColumn(source.text, diagnostic.begin);
  const size_t line_begin = std::min(diagnostic.begin, source.text.size()) - (at.column - 1);
  absl::string_view line = source.text.substr(line_begin);
  line = line.substr(0, line.find('\n'));
  const ShownLine shown = CutLine(line, at.column - 1);
  const size_t bytes = diagnostic.end > diagnostic.begin ? diagnostic.end - diagnostic.begin : 0;
  const size_t width =
      std::max<size_t>(CountCharacters(Printable(source.text.substr(line_begin + at.column - 1, bytes))), 1);
  const size_t shown_width = CountCharacters(shown.text);
  const size_t room = shown_width > shown.caret ? shown_width - shown.caret : 1;
  const char* kind = diagnostic.severity == Diagnostic::Severity::kError ? "error" : "warning";
  return absl::StrCat(source.name, ":", source.first_line + at.line - 1, ":", at.column, ": ", kind, ": ",
                      Printable(diagnostic.message), "\n", shown.text, "\n", std::string(shown.caret, ' '), "^",
                      std::string(std::min(width, room) - 1, '~'));
}

absl::Status DiagnosticsToStatus(const SourceText& source, const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity != Diagnostic::Severity::kError) continue;
    absl::StrAppend(&text, text.empty() ? "" : "\n", RenderDiagnostic(source, diagnostic));
  }
  return text.empty() ? absl::OkStatus() : absl::InvalidArgumentError(text);
}

}  // namespace kashi
