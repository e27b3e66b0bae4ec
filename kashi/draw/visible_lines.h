// The lines to show of a long row of positions, and the runs of positions that are left out.
#ifndef KASHI_DRAW_VISIBLE_LINES_H_
#define KASHI_DRAW_VISIBLE_LINES_H_

#include <cstdint>
#include <vector>

#include "kashi/draw/layout_figure.h"

namespace kashi::draw {

struct Extent {
  int64_t positions = 1;
  int64_t tile = 0;   // positions of a tile of the coarsest outlined level; 0: no tile
  int64_t group = 1;  // of the finest one: not cut in two if small
  int64_t edge = 0;   // behind the last element
};

// The number of positions to show: at most `lines`, or some more where the figure is better with them.
struct Budget {
  int64_t lines;
  bool is_exact;
};

// Shown lines, and an ellipsis for each run of positions that is left out.
std::vector<LayoutFigure::Line> MakeLines(const Extent& extent, const Budget& budget);

}  // namespace kashi::draw

#endif  // KASHI_DRAW_VISIBLE_LINES_H_
