#include "cli/table_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace kashi::cli {
namespace {

using TableRows = std::vector<std::vector<std::string>>;

constexpr size_t kGap = 2;  // between columns

bool IsContinuation(char c) {
  constexpr unsigned char kTwoUpperBits = 0xc0, kContinuation = 0x80;  // of a byte of UTF-8
  return (static_cast<unsigned char>(c) & kTwoUpperBits) == kContinuation;
}

// The characters of UTF-8 text.
size_t LengthOf(absl::string_view text) {
  return text.size() - static_cast<size_t>(std::count_if(text.begin(), text.end(), IsContinuation));
}

// The position after `count` characters.
size_t PositionAfter(absl::string_view text, size_t count) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (!IsContinuation(text[at]) && count-- == 0) break;
  }
  return at;
}

// "module_0001.jit_…optimizations". The end is more informative than the middle.
std::string CutInTheMiddle(absl::string_view text, size_t length) {
  const size_t all = LengthOf(text);
  if (all <= length) return std::string(text);
  const size_t begin = (length - 1) / 2, end = length - 1 - begin;
  return absl::StrCat(text.substr(0, PositionAfter(text, begin)), "…", text.substr(PositionAfter(text, all - end)));
}

std::vector<size_t> WidthsOf(const TableRows& rows) {
  std::vector<size_t> widths(rows[0].size());
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], LengthOf(row[i]));
  }
  return widths;
}

size_t Sum(const std::vector<size_t>& widths) {
  size_t sum = kGap * (widths.size() - 1);
  for (const size_t width : widths) sum += width;
  return sum;
}

void DropEmptyColumns(TableRows* rows, std::vector<bool>* is_left) {
  for (size_t i = rows->front().size() - 1; i-- > 1;) {
    const bool is_empty =
        std::all_of(rows->begin() + 1, rows->end(), [i](const std::vector<std::string>& row) { return row[i] == "-"; });
    if (!is_empty) continue;
    for (auto& row : *rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(i));
    is_left->erase(is_left->begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void Fit(size_t width, TableRows* rows, std::vector<bool>* is_left) {
  constexpr size_t kLeast = 16;
  if (Sum(WidthsOf(*rows)) <= width) return;
  DropEmptyColumns(rows, is_left);
  const std::vector<size_t> widths = WidthsOf(*rows);
  const size_t others = Sum(widths) - widths[0];
  const size_t first = std::max(width > others ? width - others : 0, kLeast);
  for (auto& row : *rows) row[0] = CutInTheMiddle(row[0], first);
}

}  // namespace

std::string TableText(std::vector<std::vector<std::string>> rows, size_t width, const std::vector<bool>& is_left) {
  std::vector<bool> left = is_left;
  if (left.empty()) {
    left.resize(rows[0].size());
    left.front() = left.back() = true;
  }
  if (width > 0) Fit(width, &rows, &left);
  const std::vector<size_t> widths = WidthsOf(rows);
  std::string text;
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string fill(widths[i] - LengthOf(row[i]), ' ');
      const bool is_last = i + 1 == row.size();
      absl::StrAppend(&text, i == 0 ? "" : std::string(kGap, ' '), left[i] ? row[i] : fill,
                      !left[i] ? row[i] : (is_last ? "" : fill));
    }
    text.erase(text.find_last_not_of(' ') + 1);  // an empty last column
    absl::StrAppend(&text, "\n");
  }
  return text;
}

}  // namespace kashi::cli
