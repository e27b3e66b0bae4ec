// Figures of array layouts: the position of each element in memory, the padding, and the borders of tiles.
//
// The axes of a figure are the *physical dimensions*: the columns are the most minor dimension (adjacent in memory,
// apart from tiles), the rows are the next one, both padded to whole tiles. The number in a cell is its position in
// memory.
//
//   f32[3,5]{1,0:T(2,2)}
//   y\x    0  1    2  3    4
//       +=======+=======+=======+
//     0 |  0  1 |  4  5 |  8 -- |
//     1 |  2  3 |  6  7 | 10 -- |        element (2,3) lies at position 17; -- is padding
//       +=======+=======+=======+
//     2 | 12 13 | 16 17 | 20 -- |
//       | -- -- | -- -- | -- -- |
//       +=======+=======+=======+
//
// Special cases:
//   `*` entries          dimensions that the first tile merges are one axis; its description names them
//   rank above 2         one slice per index of the other dimensions
//   a tile longer than   the missing dimension becomes an axis without a name (its size is 1 before padding)
//     the rank
//   rank 1               one row; wrapped where a tile ends if later tiles have two dimensions, or the row is too long
//   large arrays         rows, columns and slices are left out; the first tile border and
//                        the edge of the padding stay. A figure has at most kMaxFigureCells cells for any shape, which
//                        also bounds its cost
//
// MakeLayoutFigure makes the figure as data; ToSvg and ToTerminal print it. They do not depend on the locale or the
// screen.
#ifndef KASHI_DRAW_LAYOUT_FIGURE_H_
#define KASHI_DRAW_LAYOUT_FIGURE_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/shape.h"

namespace kashi {

inline constexpr int kMaxFigureCells = 4096;
// Rows, columns and slices each.
inline constexpr int kMaxFigureLines = 64;
static_assert(kMaxFigureLines * kMaxFigureLines <= kMaxFigureCells);
// More tiles than any compiler has written; longer lists are refused.
inline constexpr int kMaxFigureTiles = 16;

// The number of rows, columns and slices that are shown before a figure is cut; values outside [1, kMaxFigureLines] are
// clamped to it. kMaxFigureCells bounds the slices further.
struct LayoutFigureOptions {
  // 0: as many as look well on a page, by the size of a slice and the width of the largest position; and a few more, so
  // as not to cut a group of cells in two.
  int max_rows = 0;
  int max_columns = 0;
  int max_slices = 0;
};

struct LayoutFigure {
  // A dimension of the picture, or several that are merged.
  struct Axis {
    enum class Role { kSlice, kRow, kColumn };
    Role role = Role::kColumn;
    std::string name;            // "y", "d4", "z*y"; empty for an axis that only a tile has
    DimensionVector dimensions;  // logical dimensions, most major first
    int64_t size = 1;            // of the dimensions together
    int64_t positions = 1;       // with padding
    std::string description;     // "columns: dimension 1 (x), size 5, padded to 6; most minor"
  };

  // A row, column or slice; or, as an ellipsis, all those that are left out at this place.
  struct Line {
    bool is_ellipsis = false;
    int64_t position = 0;  // of the line, or of the first one left out
    int64_t count = 1;     // how many an ellipsis stands for
    std::string label;     // the index along the axis: "3", "+3" behind the row's label, "z=1"; empty for padding
    // The tile border on each side: 0 none, n that of levels[n - 1]; the coarsest one counts.
    int border_before = 0;
    int border_after = 0;
  };

  struct Cell {
    int row = 0;     // into `rows`
    int column = 0;  // into `columns`
    int64_t physical = 0;
    bool is_element = false;
    DimensionVector index;  // logical; empty for padding
    int64_t tile = 0;       // which tile of the first level, in memory order; 0 without tiles
    int tint = 0;           // 0..3; neighbouring tiles of the coarsest outlined level differ
  };

  struct Slice {
    Line line;
    std::vector<Cell> cells;  // row by row, without those left out; none for an ellipsis
  };

  // One entry of the layout's tiles: the rectangle of cells that a tile takes in the picture.
  struct TileLevel {
    std::string text;  // "(2,4)"
    int64_t rows = 1;
    int64_t columns = 1;
    bool is_outlined = false;  // false if it is not a rectangle, or a single cell
    std::string description;
  };

  // Cells that follow each other in memory, as places in `rows` and `columns` of the first slice.
  using Path = std::vector<std::pair<int, int>>;

  std::string title;       // the shape
  std::string summary;     // "15 elements, 24 positions in memory, 9 of them padding (37.5 %); 96 bytes"
  std::vector<Axis> axes;  // slices first, then rows, then columns: most major first
  std::vector<Line> rows;
  std::vector<Line> columns;
  std::vector<Slice> slices;  // at least one, but none if there are no elements
  std::vector<TileLevel> levels;
  // The order in memory of the first tile, or of the first rows if there are no tiles; in pieces where cells are left
  // out.
  std::vector<Path> paths;
  std::string path_description;
  std::vector<std::string> notes;  // sentences for the legend

  bool is_cut() const;
};

// Errors: those of IndexMap::Make; INVALID_ARGUMENT for a tuple (draw its parts); UNIMPLEMENTED above kMaxFigureTiles.
absl::StatusOr<LayoutFigure> MakeLayoutFigure(const Shape& shape, const LayoutFigureOptions& options = {});

// The contents of cells.
enum class CellText { kPhysical, kLogical };
std::string ToString(const LayoutFigure::Cell& cell, CellText text);

struct SvgOptions {
  CellText cell_text = CellText::kPhysical;
  bool show_path = true;
  bool show_title = true;   // the shape, its summary and its axes above the figure
  bool show_legend = true;  // the meaning of the marks, below the figure
  bool dark = false;        // for a dark page
  // Slices stand side by side up to this width.
  int max_width = 1100;
};
// A complete SVG document (UTF-8): no script, no style sheet, no reference to anything outside.
std::string ToSvg(const LayoutFigure& figure, const SvgOptions& options = {});

struct TerminalOptions {
  CellText cell_text = CellText::kPhysical;
  bool color = false;  // ANSI escapes
  bool show_title = true;
  bool show_legend = true;
  bool ascii = false;  // else box-drawing characters, UTF-8
  // Columns are left out until the figure fits, as far as that goes: the first and the last one stay. Text is not
  // wrapped.
  int width = 100;
};
// Lines, each with a newline.
std::string ToTerminal(const LayoutFigure& figure, const TerminalOptions& options = {});

// ToTerminal in ASCII.
std::ostream& operator<<(std::ostream& out, const LayoutFigure& figure);

}  // namespace kashi

#endif  // KASHI_DRAW_LAYOUT_FIGURE_H_
