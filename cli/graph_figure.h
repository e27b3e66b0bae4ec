// A module, or a part of it, as boxes in boxes: scopes, fusions and called computations hold instructions.
//
// A computation with one caller is drawn in the box of its caller, others beside the entry. A scope that holds one
// thing is no box of its own. A parameter or constant stands in the scope of its users; if those are in several scopes,
// it stands in each, so that no line crosses the drawing.
#ifndef KASHI_CLI_GRAPH_FIGURE_H_
#define KASHI_CLI_GRAPH_FIGURE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "kashi/draw/layered_layout.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::cli {

struct FigureBox {
  int64_t parent = -1;  // of the root; others have a parent with a smaller number
  int64_t depth = 0;
  const HloInstruction* instruction = nullptr;  // null: a scope, a computation or the root
  std::string label;                            // of a scope or a computation
  bool is_copy = false;                         // of a parameter or constant that stands elsewhere too
  int64_t first = 0;                            // boxes of one parent are ordered by it
  std::vector<int64_t> children;
  draw::LayeredPoint corner;  // within the whole figure
  double width = 0, height = 0;

  bool is_open() const { return !children.empty(); }
};

struct FigureLine {
  int64_t from = 0;
  int64_t to = 0;
  double bytes = 0;
  bool is_control = false;  // a control dependency
  bool is_call = false;     // from a computation with several callers to one of them
  std::vector<draw::LayeredPoint> points;
};

struct GraphFigure {
  std::vector<FigureBox> boxes;  // the root first
  std::vector<FigureLine> lines;
};

// The scope of an instruction, outermost part first.
using ScopeOf = std::function<std::vector<std::string>(const HloInstruction&)>;
// The size of a closed box.
using SizeOf = std::function<draw::LayeredBox(const FigureBox&)>;

inline constexpr double kFigurePadding = 14;
inline constexpr double kFigureHead = 20;  // for the name of an open box

// `shown` is in the order of the drawing. Near linear in its size.
GraphFigure MakeGraphFigure(const HloModule& module, absl::Span<const HloInstruction* const> shown,
                            const ScopeOf& scope_of, const SizeOf& size_of);

}  // namespace kashi::cli

#endif  // KASHI_CLI_GRAPH_FIGURE_H_
