#include "kashi/draw/visible_lines.h"

#include <algorithm>

#include "kashi/base/math.h"

namespace kashi::draw {
namespace {

using Line = LayoutFigure::Line;

struct Window {
  int64_t begin;
  int64_t end;
};

// Enough lines for the first one, both sides of a tile border, and the last one.
constexpr int64_t kLeastForTileBorder = 4;
// Enough for the edge of the padding as well.
constexpr int64_t kLeastForPaddingEdge = 7;

// The beginning, and the places where something changes: the first tile border, the edge of the padding, the end.
std::vector<Window> ChooseWindows(const Extent& extent, int64_t budget) {
  if (extent.positions <= budget) return {{0, extent.positions}};
  if (budget == 1) return {{0, 1}};
  const int64_t reach = budget >= 14 ? 2 : 1;
  std::vector<Window> windows = {{extent.positions - reach, extent.positions}};
  int64_t used = reach;
  // The tile border is the main point of a figure; the edge of the padding comes second.
  if (budget >= kLeastForTileBorder && extent.tile > budget - used - reach && extent.tile < extent.positions) {
    windows.push_back({extent.tile - reach, extent.tile + reach});
    used += 2 * reach;
  }
  if (budget >= kLeastForPaddingEdge && extent.edge < extent.positions - reach) {
    windows.push_back({extent.edge - reach, extent.edge + 1});
    used += reach + 1;
  }
  windows.push_back({0, std::max<int64_t>(budget - used, 1)});
  return windows;
}

// Sorts, and joins windows that touch; unless the budget is exact, widens them to whole groups and leaves out no single
// position.
std::vector<Window> MergeWindows(std::vector<Window> windows, const Extent& extent, bool is_exact) {
  std::sort(windows.begin(), windows.end(), [](const Window& a, const Window& b) { return a.begin < b.begin; });
  const int64_t group = !is_exact && extent.group <= 4 ? extent.group : 1;
  const int64_t gap = is_exact ? 0 : 1;
  std::vector<Window> merged;
  for (const Window& window : windows) {
    const Window widened = {RoundDownTo(std::max<int64_t>(window.begin, 0), group),
                            std::min(RoundUpTo(window.end, group), extent.positions)};
    if (!merged.empty() && widened.begin <= merged.back().end + gap) {
      merged.back().end = std::max(merged.back().end, widened.end);
    } else {
      merged.push_back(widened);
    }
  }
  return merged;
}

}  // namespace

std::vector<Line> MakeLines(const Extent& extent, const Budget& budget) {
  std::vector<Line> lines;
  const auto add = [&](int64_t begin, int64_t count, bool is_ellipsis) {
    Line& line = lines.emplace_back();
    line.is_ellipsis = is_ellipsis;
    line.position = begin;
    line.count = count;
  };
  // Leaving out two of ten would not be worth it.
  const int64_t enough = budget.is_exact ? budget.lines : budget.lines + budget.lines / 4;
  const int64_t wanted = extent.positions <= enough ? extent.positions : budget.lines;
  int64_t next = 0;
  for (const Window& window : MergeWindows(ChooseWindows(extent, wanted), extent, budget.is_exact)) {
    if (window.begin > next) add(next, window.begin - next, /*is_ellipsis=*/true);
    for (next = window.begin; next < window.end; ++next) add(next, 1, /*is_ellipsis=*/false);
  }
  if (next < extent.positions) add(next, extent.positions - next, /*is_ellipsis=*/true);
  return lines;
}

}  // namespace kashi::draw
