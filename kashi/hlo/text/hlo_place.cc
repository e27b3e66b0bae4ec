#include "kashi/hlo/text/hlo_place.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/text/text_scanner.h"

namespace kashi {

using hlo::TextScanner;
namespace {

constexpr absl::string_view kPayload = "kashi/hlo_place";

// The byte at a line and a column; nullopt if the text has no such place.
std::optional<size_t> FindOffset(absl::string_view text, HloTextPlace place) {
  if (place.line == 0) return std::nullopt;
  size_t line_begin = 0;
  for (uint32_t line = 1; line < place.line; ++line) {
    const size_t newline = text.find('\n', line_begin);
    if (newline == absl::string_view::npos) return std::nullopt;
    line_begin = newline + 1;
  }
  const size_t line_end = std::min(text.find('\n', line_begin), text.size());
  const size_t offset = line_begin + (place.column - 1);
  return offset < line_end ? std::optional<size_t>(offset) : std::nullopt;
}

size_t NameEnd(absl::string_view text, size_t begin) {
  size_t end = begin + (text[begin] == '%' ? 1 : 0);
  while (end < text.size() && TextScanner::IsIdentByte(text[end])) ++end;
  return end;
}

}  // namespace

HloErrorPlace PlaceOf(const HloInstruction& instruction) {
  const HloComputation* computation = instruction.parent();
  return {instruction.text_place(), std::string(instruction.name()),
          computation != nullptr ? std::string(computation->name()) : ""};
}

absl::Status AtInstruction(absl::Status status, const HloInstruction& instruction) {
  if (status.ok() || absl::IsCancelled(status) || status.GetPayload(kPayload).has_value()) return status;
  const HloErrorPlace place = PlaceOf(instruction);
  // No name has a newline: names from a proto are sanitized.
  status.SetPayload(kPayload, absl::Cord(absl::StrCat(place.text.line, "\n", place.text.column, "\n", place.computation,
                                                      "\n", place.instruction)));
  return status;
}

std::optional<HloErrorPlace> PlaceOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayload);
  if (!payload.has_value()) return std::nullopt;
  const std::string text(*payload);
  const std::vector<std::string> parts = absl::StrSplit(text, absl::MaxSplits('\n', 3));
  HloErrorPlace place;
  if (parts.size() != 4 || !absl::SimpleAtoi(parts[0], &place.text.line) ||
      !absl::SimpleAtoi(parts[1], &place.text.column)) {
    return std::nullopt;
  }
  place.computation = parts[2];
  place.instruction = parts[3];
  return place;
}

std::optional<Diagnostic> DiagnosticAt(const SourceText& source, const HloErrorPlace& place,
                                       absl::string_view message) {
  const std::optional<size_t> begin = FindOffset(source.text, place.text);
  if (!begin.has_value()) return std::nullopt;
  return Diagnostic{Diagnostic::Severity::kError, *begin, NameEnd(source.text, *begin), std::string(message)};
}

std::string AboutText(const HloErrorPlace& place) {
  std::string text;
  if (!place.instruction.empty()) absl::StrAppend(&text, "\n  at instruction ", place.instruction);
  if (!place.computation.empty()) absl::StrAppend(&text, "\n  in computation ", place.computation);
  return text;
}

std::string RenderAt(const SourceText& source, const HloErrorPlace& place, absl::string_view message) {
  const std::optional<Diagnostic> diagnostic = DiagnosticAt(source, place, message);
  if (diagnostic.has_value()) return RenderDiagnostic(source, *diagnostic);
  return absl::StrCat(source.name, ": error: ", message, AboutText(place));
}

}  // namespace kashi
