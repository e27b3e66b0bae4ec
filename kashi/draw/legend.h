// INTERNAL to kashi/draw. What both renderers say in the same words.
#ifndef KASHI_DRAW_LEGEND_H_
#define KASHI_DRAW_LEGEND_H_

#include "absl/strings/string_view.h"
#include "kashi/draw/layout_figure.h"

namespace kashi::internal {

constexpr absl::string_view kPaddingLegend = "padding: memory that holds no element";
constexpr absl::string_view kEllipsisLegend = "left out";

constexpr absl::string_view NumberLegend(CellText text) {
  return text == CellText::kPhysical ? "position in memory (physical linear index, in elements)"
                                     : "logical index of the element";
}

// A row, column or slice that holds no element has no label.
inline bool IsPadding(const LayoutFigure::Slice& slice) {
  for (const LayoutFigure::Cell& cell : slice.cells) {
    if (cell.is_element) return false;
  }
  return true;
}

}  // namespace kashi::internal

#endif  // KASHI_DRAW_LEGEND_H_
