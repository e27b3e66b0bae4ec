// A drawing of a directed graph in layers, after Sugiyama, Tagawa and Toda (1981): where boxes stand, and through which
// points lines go.
//
//   a   b        layer 0
//    \ / \       .
//     c   |      layer 1: the line from b to e bends here, so that it goes around c
//      \  |      .
//       \ |
//        e       layer 2
//
// Boxes come in an order in which most lines lead from a box to a later one; lines that lead back have no influence,
// and a straight route. A box that waits for nothing stands just before the first box that needs it. Cost: O((boxes +
// lines) log boxes) for each of a fixed number of passes; no recursion. cli/report_layout.js does the same in a page.
#ifndef KASHI_DRAW_LAYERED_LAYOUT_H_
#define KASHI_DRAW_LAYERED_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace kashi::draw {

struct LayeredBox {
  double width = 0;
  double height = 0;
};

struct LayeredLine {
  int64_t from = 0;  // numbers of boxes
  int64_t to = 0;
};

struct LayeredPoint {
  double x = 0;
  double y = 0;
};

struct LayeredLayout {
  std::vector<LayeredPoint> corners;  // by box, its upper left one; all x and y are at least 0
  double width = 0;
  double height = 0;
  // By line: from the lower side of a box to the upper side of another.
  std::vector<std::vector<LayeredPoint>> routes;
};

// Pre: the numbers in `lines` are those of boxes.
LayeredLayout LayOutInLayers(absl::Span<const LayeredBox> boxes, absl::Span<const LayeredLine> lines);

}  // namespace kashi::draw

#endif  // KASHI_DRAW_LAYERED_LAYOUT_H_
