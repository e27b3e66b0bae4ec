// A breakdown as a flame graph: the total at the top, below each box its parts, as wide as their share.
#ifndef KASHI_INSIGHT_FLAME_GRAPH_H_
#define KASHI_INSIGHT_FLAME_GRAPH_H_

#include <cstddef>
#include <functional>
#include <string>

#include "absl/strings/string_view.h"
#include "kashi/insight/breakdown.h"

namespace kashi::insight {

struct FlameGraphOptions {
  std::string title;
  std::string subtitle;
  size_t measure = 0;                 // of the breakdown: the widths of the boxes
  int width = 1200;                   // in pixels; at least 300
  absl::string_view separator = "/";  // between the parts of paths
  // The text of a value: "1.2 Gflop". Not null.
  std::function<std::string(double)> value_text;
};

// One SVG (UTF-8): no script, no reference to anything outside; light or dark as the viewer is. Each box has a tooltip
// with its path, value and share. Boxes narrower than half a pixel are left out, and a line at the end counts them.
// Boxes are in the order of the breakdown's children. Negative values count as 0.
std::string FlameGraphSvg(const Breakdown& breakdown, const FlameGraphOptions& options);

}  // namespace kashi::insight

#endif  // KASHI_INSIGHT_FLAME_GRAPH_H_
