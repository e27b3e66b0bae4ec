#include "cli/sharding_figure.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/base/text.h"

namespace kashi::cli {

using base::Count;
using hlo::DevicePart;
using hlo::DeviceParts;
namespace {

constexpr size_t kMostDevicesInCell = 24;  // letters of a cell

// The indices of a part along one dimension: "4..7", "4", or "padding".
std::string RangeText(int64_t offset, int64_t size) {
  if (size <= 0) return "padding";
  return size == 1 ? absl::StrCat(offset) : absl::StrCat(offset, "..", offset + size - 1);
}

std::string CellText(const DevicePart& part) {
  std::string text = NumbersText(part.devices);
  if (text.size() <= kMostDevicesInCell) return text;
  return absl::StrCat(part.devices.front(), ", … (", part.devices.size(), ")");
}

// A dimension of the array as rows or columns; -1: the array has none.
struct Axis {
  int64_t dimension = -1;
  int64_t tiles = 1;
};

// The grid of parts over two dimensions, the indices of the others being fixed.
class Grid {
 public:
  Grid(const DeviceParts& parts, Axis rows, Axis columns) : parts_(parts), rows_(rows), columns_(columns) {}

  // `tile`: of the other dimensions.
  std::string Text(std::vector<int64_t> tile, size_t width, int64_t most_rows) const {
    std::vector<std::vector<std::string>> cells = Cells(std::move(tile), most_rows);
    std::vector<size_t> widths(cells[0].size(), 0);
    for (const auto& row : cells) {
      for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Columns(row[i]));
    }
    size_t shown = 1, total = widths[0] + 2;
    while (shown < widths.size() && (width == 0 || total + widths[shown] + 2 <= width)) total += widths[shown++] + 2;
    shown = std::max<size_t>(shown, std::min<size_t>(2, widths.size()));
    std::string text;
    for (const auto& row : cells) {
      std::string line = "  ";
      for (size_t i = 0; i < std::min(shown, row.size()); ++i) {
        const std::string spaces(widths[i] - Columns(row[i]), ' ');
        absl::StrAppend(&line, i == 0 ? "" : "  ", i == 0 ? row[i] + spaces : spaces + row[i]);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      if (!line.empty()) absl::StrAppend(&text, line, "\n");  // the head of an array of one dimension is empty
    }
    if (cells.size() - 1 < static_cast<size_t>(rows_.tiles)) {
      absl::StrAppend(&text, "  … and ", Count(rows_.tiles - static_cast<int64_t>(cells.size()) + 1, "more row"), "\n");
    }
    if (shown < widths.size()) {
      absl::StrAppend(&text, "  … and ", Count(static_cast<int64_t>(widths.size() - shown), "more column"), "\n");
    }
    return text;
  }

 private:
  // The columns of a terminal: "…" has three bytes.
  static size_t Columns(const std::string& text) {
    return text.size() - 2 * static_cast<size_t>(std::count(text.begin(), text.end(), '\xe2'));
  }

  const DevicePart& PartAt(const std::vector<int64_t>& tile) const {
    int64_t number = 0;
    for (size_t i = 0; i < tile.size(); ++i) number = number * parts_.tiles[i] + tile[i];
    return parts_.parts[number];
  }

  std::vector<std::vector<std::string>> Cells(std::vector<int64_t> tile, int64_t most_rows) const {
    std::vector<std::vector<std::string>> cells;
    std::vector<std::string>& head = cells.emplace_back();
    head.emplace_back();
    for (int64_t c = 0; c < columns_.tiles; ++c) {
      if (columns_.dimension >= 0) tile[columns_.dimension] = c;
      head.push_back(columns_.dimension < 0 ? "" : RangeOf(PartAt(tile), columns_.dimension));
    }
    for (int64_t r = 0; r < std::min(rows_.tiles, most_rows); ++r) {
      std::vector<std::string>& row = cells.emplace_back();
      if (rows_.dimension >= 0) tile[rows_.dimension] = r;
      if (columns_.dimension >= 0) tile[columns_.dimension] = 0;
      row.push_back(rows_.dimension < 0 ? "" : RangeOf(PartAt(tile), rows_.dimension));
      for (int64_t c = 0; c < columns_.tiles; ++c) {
        if (columns_.dimension >= 0) tile[columns_.dimension] = c;
        row.push_back(CellText(PartAt(tile)));
      }
    }
    return cells;
  }
  static std::string RangeOf(const DevicePart& part, int64_t dimension) {
    return RangeText(part.offsets[dimension], part.sizes[dimension]);
  }

  const DeviceParts& parts_;
  Axis rows_, columns_;
};

// The dimensions for rows and columns: those that are cut; without them the first two.
std::pair<Axis, Axis> ChooseAxes(const DeviceParts& parts) {
  std::vector<int64_t> chosen;
  const auto rank = static_cast<int64_t>(parts.tiles.size());
  for (int64_t i = 0; i < rank && chosen.size() < 2; ++i) {
    if (parts.tiles[i] > 1) chosen.push_back(i);
  }
  for (int64_t i = 0; i < rank && chosen.size() < 2; ++i) {
    if (parts.tiles[i] == 1) chosen.push_back(i);
  }
  std::sort(chosen.begin(), chosen.end());
  Axis rows, columns;
  if (!chosen.empty()) rows = {chosen[0], parts.tiles[chosen[0]]};
  if (chosen.size() > 1) columns = {chosen[1], parts.tiles[chosen[1]]};
  return {rows, columns};
}

}  // namespace

std::string NumbersText(absl::Span<const int64_t> numbers) {
  std::vector<std::string> runs;
  for (size_t begin = 0; begin < numbers.size();) {
    size_t end = begin + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (end - begin > 2) {
      runs.push_back(absl::StrCat(numbers[begin], " to ", numbers[end - 1]));
    } else {
      for (size_t i = begin; i < end; ++i) runs.push_back(absl::StrCat(numbers[i]));
    }
    begin = end;
  }
  return absl::StrJoin(runs, ", ");
}

std::string ShardingFigure(const DeviceParts& parts, absl::Span<const int64_t> dimensions, size_t width,
                           size_t most_lines) {
  const auto [rows, columns] = ChooseAxes(parts);
  const Grid grid(parts, rows, columns);
  std::string text;
  if (rows.dimension >= 0 && dimensions.size() > 1) {
    text = absl::StrCat("rows: dimension ", rows.dimension, "; columns: dimension ", columns.dimension, "\n");
  }
  // The grids: over all tiles of the other dimensions, the last the fastest.
  std::vector<int64_t> tile(parts.tiles.size(), 0);
  int64_t grids = 1;
  for (size_t i = 0; i < tile.size(); ++i) {
    if (static_cast<int64_t>(i) != rows.dimension && static_cast<int64_t>(i) != columns.dimension)
      grids *= parts.tiles[i];
  }
  size_t lines = 0;
  for (int64_t g = 0; g < grids; ++g) {
    if (lines >= most_lines) {
      absl::StrAppend(&text, "… and ", Count(grids - g, "more grid"), "\n");
      break;
    }
    int64_t rest = g;
    std::vector<std::string> place;
    for (auto i = static_cast<int64_t>(tile.size()) - 1; i >= 0; --i) {
      if (i == rows.dimension || i == columns.dimension) continue;
      tile[i] = rest % parts.tiles[i];
      rest /= parts.tiles[i];
      const int64_t offset = std::min(tile[i] * parts.shard_dimensions[i], dimensions[i]);
      if (parts.tiles[i] > 1) {
        place.insert(place.begin(),
                     absl::StrCat("dimension ", i, ": ",
                                  RangeText(offset, std::min(parts.shard_dimensions[i], dimensions[i] - offset))));
      }
    }
    if (!place.empty()) absl::StrAppend(&text, absl::StrJoin(place, ", "), "\n");
    const std::string cells = grid.Text(tile, width, static_cast<int64_t>(most_lines - lines));
    lines += static_cast<size_t>(std::count(cells.begin(), cells.end(), '\n')) + (place.empty() ? 0 : 1);
    text += cells;
  }
  return text;
}

}  // namespace kashi::cli
