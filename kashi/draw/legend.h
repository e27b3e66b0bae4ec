// INTERNAL to kashi/draw. The legend, for both renderers.
#ifndef KASHI_DRAW_LEGEND_H_
#define KASHI_DRAW_LEGEND_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/draw/layout_figure.h"

namespace kashi::draw {

constexpr absl::string_view kPaddingLegend = "padding: memory that holds no element";
constexpr absl::string_view kEllipsisLegend = "left out";

constexpr absl::string_view NumberLegend(CellText text) {
  return text == CellText::kPhysical ? "position in memory (physical linear index, in elements)"
                                     : "logical index of the element";
}

// The descriptions of the axes; of many slice dimensions only the first ones.
inline std::vector<std::string> AxisLegend(const LayoutFigure& figure) {
  constexpr size_t kMaxAxes = 8;
  const size_t left_out = figure.axes.size() > kMaxAxes ? figure.axes.size() - kMaxAxes : 0;
  std::vector<std::string> lines;
  for (size_t i = 0; i < figure.axes.size(); ++i) {
    if (left_out > 0 && i == kMaxAxes - 2) {
      lines.push_back(absl::StrCat("slices: ", left_out, " more dimensions"));
      i += left_out;
    }
    lines.push_back(figure.axes[i].description);
  }
  return lines;
}

// True for a slice of padding only; such a slice has no label.
inline bool IsPadding(const LayoutFigure::Slice& slice) {
  for (const LayoutFigure::Cell& cell : slice.cells) {
    if (cell.is_element) return false;
  }
  return true;
}

}  // namespace kashi::draw

#endif  // KASHI_DRAW_LEGEND_H_
