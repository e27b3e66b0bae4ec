// Entry point: MakeLayoutFigure. The renderers are in layout_figure_svg.cc and layout_figure_terminal.cc.
#include "kashi/draw/layout_figure.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "kashi/array/dimension_names.h"
#include "kashi/array/index_map.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/draw/picture_geometry.h"

namespace kashi {

using internal::DimensionName;
namespace {

using internal::PictureGeometry;
using Axis = LayoutFigure::Axis;
using Cell = LayoutFigure::Cell;
using Line = LayoutFigure::Line;

std::string Plural(int64_t count, absl::string_view noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

// "12.5 %", in integers: no locale, no rounding surprises.
std::string Percent(int64_t part, int64_t whole) {
  const auto tenths = static_cast<int64_t>((static_cast<__int128>(part) * 1000 + whole / 2) / whole);
  return absl::StrCat(tenths / 10, ".", tenths % 10, " %");
}

// ---------------------------------------------------------------------------------------------------------------------
// What to show of a long row of positions
// ---------------------------------------------------------------------------------------------------------------------

struct Window {
  int64_t begin;
  int64_t end;
};

struct Extent {
  int64_t positions = 1;
  int64_t tile = 0;   // positions of a tile of the coarsest outlined level; 0: no tile
  int64_t group = 1;  // of the finest one: not cut in two if small
  int64_t edge = 0;   // behind the last element
};

// How many positions to show: at most `lines`, or some more where the figure is nicer so.
struct Budget {
  int64_t lines;
  bool is_exact;
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
  // The tile border is what a figure is about; the edge of the padding comes second.
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

// Shown lines, and an ellipsis for each run of positions that is left out.
std::vector<Line> MakeLines(const Extent& extent, const Budget& budget) {
  std::vector<Line> lines;
  const auto add = [&](int64_t begin, int64_t count, bool is_ellipsis) {
    Line& line = lines.emplace_back();
    line.is_ellipsis = is_ellipsis;
    line.position = begin;
    line.count = count;
  };
  // To leave out two of ten is silly.
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

// ---------------------------------------------------------------------------------------------------------------------
// The figure of an array with elements
// ---------------------------------------------------------------------------------------------------------------------

class FigureBuilder {
 public:
  FigureBuilder(const Shape& shape, const IndexMap& map, const LayoutFigureOptions& options, LayoutFigure* figure)
      : shape_(shape), map_(map), geometry_(shape), figure_(*figure) {
    AssignAxes();
    rows_ = MakeBudget(options.max_rows, RowsOfAPage());
    columns_ = MakeBudget(options.max_columns, ColumnsOfAPage());
    max_slices_ = options.max_slices;
    last_element_.assign(map.dimensions().begin(), map.dimensions().end());
    for (int64_t& index : last_element_) --index;
  }

  absl::Status Build() {
    if (geometry_.PhysicalDimensions() !=
        DimensionVector(map_.physical_dimensions().begin(), map_.physical_dimensions().end())) {
      return Internal("%s: the picture's physical dimensions {%s} are not the index map's {%s}", figure_.title,
                      absl::StrJoin(geometry_.PhysicalDimensions(), ","),
                      absl::StrJoin(map_.physical_dimensions(), ","));
    }
    WrapLongRow();
    MakeLevels();
    MakeVisibleLines();
    MakeCells();
    LabelLines();
    MakePaths();
    DescribeAxes();
    return absl::OkStatus();
  }

 private:
  void AssignAxes() {
    const std::vector<PictureGeometry::Axis>& axes = geometry_.axes();
    if (!axes.empty()) column_digits_ = axes.back().digits;
    if (axes.size() >= 2) row_digits_ = axes[axes.size() - 2].digits;
    for (size_t i = 0; i + 2 < axes.size(); ++i) {
      slice_digits_.insert(slice_digits_.end(), axes[i].digits.begin(), axes[i].digits.end());
    }
  }

  static Budget MakeBudget(int wanted, int automatic) {
    if (wanted == 0) return {automatic, /*is_exact=*/false};
    return {std::clamp(wanted, 1, kMaxFigureLines), /*is_exact=*/true};
  }

  bool HasSlices() const { return geometry_.Positions(slice_digits_) > 1; }
  int RowsOfAPage() const { return HasSlices() ? 10 : 16; }
  // By the width of the largest position, as the SVG draws it. Two slices may stand side by side.
  int ColumnsOfAPage() const {
    const auto digits = static_cast<int>(absl::StrCat(map_.padded_element_count() - 1).size());
    const int width = 84 * digits + 140;
    return HasSlices() ? std::clamp(4800 / width, 7, 12) : std::clamp(10000 / width, 9, 20);
  }

  // Rank 1: helps if a later tile has rows of its own, or if the row does not fit.
  void WrapLongRow() {
    const int in_row = geometry_.WrappedColumnDigits();
    if (in_row == 0) return;
    bool wants_rows = geometry_.Positions(column_digits_) > columns_.lines;
    for (int64_t i = 1; i < shape_.layout().tiles_size(); ++i) {
      wants_rows = wants_rows || shape_.layout().tiles(static_cast<int>(i)).dimensions().size() > 1;
    }
    if (!wants_rows) return;
    is_wrapped_ = true;
    row_digits_.assign(column_digits_.begin(), column_digits_.end() - in_row);
    column_digits_.erase(column_digits_.begin(), column_digits_.end() - in_row);
  }

  void MakeLevels() {
    for (int level = 0; level < shape_.layout().tiles_size(); ++level) {
      LayoutFigure::TileLevel tile;
      tile.text = shape_.layout().tiles(level).ToString();
      tile.rows = geometry_.TileExtent(row_digits_, level);
      tile.columns = geometry_.TileExtent(column_digits_, level);
      const bool is_rectangle = tile.rows > 0 && tile.columns > 0 && !geometry_.IsBroken(level);
      tile.is_outlined = is_rectangle && (tile.rows > 1 || tile.columns > 1);
      tile.description = absl::StrCat(level == 0 ? "T" : "", tile.text, ": ");
      if (geometry_.IsBroken(level)) {
        absl::StrAppend(&tile.description, "merged with other cells by a later `*`, not outlined");
      } else if (!is_rectangle) {
        absl::StrAppend(&tile.description, "groups cells that are not adjacent here, not outlined");
      } else if (!tile.is_outlined) {
        absl::StrAppend(&tile.description, "a tile is a single cell, not outlined");
      } else {
        absl::StrAppend(&tile.description, level == 0 ? "tiles" : "inner tiles", " of ", Plural(tile.rows, "row"),
                        " and ", Plural(tile.columns, "column"));
        const int64_t slices = SlicesOfTile(level);
        if (slices > 1) absl::StrAppend(&tile.description, ", over ", Plural(slices, "slice"));
        if (tile.rows * tile.columns * slices != EntryProduct(level))
          absl::StrAppend(&tile.description, ", inner padding included");
      }
      if (tile.is_outlined && coarsest_level_ < 0) coarsest_level_ = level;
      figure_.levels.push_back(std::move(tile));
    }
    if (coarsest_level_ < 0) return;
    coarsest_ = &figure_.levels[coarsest_level_];
    for (size_t i = static_cast<size_t>(coarsest_level_) + 1; i < figure_.levels.size(); ++i) HideIfCrossed(i);
  }

  // In T(1024)(128)(2,1) the last tile joins rows of the one before: the two outlines together would say neither.
  void HideIfCrossed(size_t level) {
    LayoutFigure::TileLevel& tile = figure_.levels[level];
    for (size_t i = level + 1; i < figure_.levels.size(); ++i) {
      const LayoutFigure::TileLevel& later = figure_.levels[i];
      if (!tile.is_outlined || !later.is_outlined || (later.rows <= tile.rows && later.columns <= tile.columns))
        continue;
      tile.is_outlined = false;
      absl::StrAppend(&tile.description, ", not outlined: later tiles cross them");
    }
  }

  int64_t EntryProduct(int level) const {
    int64_t product = 1;
    for (const int64_t entry : shape_.layout().tiles(level).dimensions()) {
      if (entry != Tile::kCombineDimension) product *= entry;
    }
    return product;
  }

  int64_t SlicesOfTile(int level) const {
    int64_t slices = 1;
    for (size_t i = 0; i + 2 < geometry_.axes().size(); ++i)
      slices *= geometry_.TileExtent(geometry_.axes()[i].digits, level);
    return slices;
  }

  void MakeVisibleLines() {
    Extent rows = ExtentOf(row_digits_);
    Extent columns = ExtentOf(column_digits_);
    if (coarsest_ != nullptr) {
      rows.tile = coarsest_->rows;
      columns.tile = coarsest_->columns;
      for (const LayoutFigure::TileLevel& level : figure_.levels) {
        if (!level.is_outlined) continue;
        rows.group = level.rows;
        columns.group = level.columns;
      }
    }
    figure_.rows = MakeLines(rows, rows_);
    figure_.columns = MakeLines(columns, columns_);
    for (Line& line : figure_.rows) SetBorders(&line, &LayoutFigure::TileLevel::rows);
    for (Line& line : figure_.columns) SetBorders(&line, &LayoutFigure::TileLevel::columns);

    const int64_t cells = static_cast<int64_t>(figure_.rows.size() * figure_.columns.size());
    Budget slices = MakeBudget(max_slices_, static_cast<int>(std::clamp<int64_t>(256 / cells, 4, 8)));
    slices.lines = std::clamp<int64_t>(kMaxFigureCells / cells, 1, slices.lines);
    for (Line& line : MakeLines(ExtentOf(slice_digits_), slices)) {
      figure_.slices.emplace_back();
      figure_.slices.back().line = std::move(line);
    }
  }

  Extent ExtentOf(absl::Span<const int> digits) const {
    Extent extent;
    extent.positions = geometry_.Positions(digits);
    extent.edge = geometry_.PositionOf(digits, map_.LogicalToPhysical(last_element_)) + 1;
    return extent;
  }

  void SetBorders(Line* line, int64_t LayoutFigure::TileLevel::*extent) const {
    for (int i = static_cast<int>(figure_.levels.size()) - 1; i >= 0; --i) {
      const LayoutFigure::TileLevel& level = figure_.levels[i];
      if (!level.is_outlined) continue;
      if (line->position % (level.*extent) == 0) line->border_before = i + 1;
      if ((line->position + line->count) % (level.*extent) == 0) line->border_after = i + 1;
    }
  }

  void MakeCells() {
    std::vector<int64_t> column_parts;
    for (const Line& column : figure_.columns) {
      column_parts.push_back(geometry_.PhysicalPart(column_digits_, column.position));
    }
    DimensionVector index(map_.rank());
    for (LayoutFigure::Slice& slice : figure_.slices) {
      if (slice.line.is_ellipsis) continue;
      const int64_t slice_part = geometry_.PhysicalPart(slice_digits_, slice.line.position);
      for (size_t r = 0; r < figure_.rows.size(); ++r) {
        if (figure_.rows[r].is_ellipsis) continue;
        const int64_t row_part = geometry_.PhysicalPart(row_digits_, figure_.rows[r].position);
        for (size_t c = 0; c < figure_.columns.size(); ++c) {
          if (figure_.columns[c].is_ellipsis) continue;
          Cell cell;
          cell.row = static_cast<int>(r);
          cell.column = static_cast<int>(c);
          cell.physical = slice_part + row_part + column_parts[c];
          cell.is_element = map_.PhysicalToLogical(cell.physical, absl::MakeSpan(index));
          if (cell.is_element) cell.index = index;
          if (!figure_.levels.empty()) cell.tile = geometry_.TileOf(cell.physical);
          if (coarsest_ != nullptr) {
            cell.tint = static_cast<int>(figure_.rows[r].position / coarsest_->rows % 2 * 2 +
                                         figure_.columns[c].position / coarsest_->columns % 2);
          }
          slice.cells.push_back(std::move(cell));
        }
      }
    }
  }

  static bool HasLabels(const PictureGeometry::Axis& axis) { return !axis.is_mixed && !axis.dimensions.empty(); }

  // The index along merged dimensions.
  int64_t AxisIndex(const PictureGeometry::Axis& axis, absl::Span<const int64_t> index) const {
    int64_t result = 0;
    for (const int64_t dimension : axis.dimensions) result = result * map_.dimensions()[dimension] + index[dimension];
    return result;
  }

  // A line's label is what its elements have in common. All visible cells are asked, so a label is never a guess; lines
  // of padding have none.
  class CommonIndex {
   public:
    void Add(int64_t index) {
      is_unique_ = is_unique_ && (!index_.has_value() || *index_ == index);
      index_ = index;
    }
    bool has_value() const { return is_unique_ && index_.has_value(); }
    std::string Text(absl::string_view prefix) const { return has_value() ? absl::StrCat(prefix, *index_) : ""; }

   private:
    std::optional<int64_t> index_;
    bool is_unique_ = true;
  };

  void LabelLines() {
    const std::vector<PictureGeometry::Axis>& axes = geometry_.axes();
    if (axes.empty()) return;
    std::vector<CommonIndex> rows(figure_.rows.size());
    std::vector<CommonIndex> columns(figure_.columns.size());
    for (LayoutFigure::Slice& slice : figure_.slices) {
      std::vector<CommonIndex> slice_axes(axes.size() >= 2 ? axes.size() - 2 : 0);
      int64_t row_start = 0;
      for (const Cell& cell : slice.cells) {
        if (!cell.is_element) continue;
        const int64_t index = AxisIndex(axes.back(), cell.index);
        if (cell.column == 0) row_start = index;
        if (HasLabels(axes.back())) columns[cell.column].Add(is_wrapped_ ? index - row_start : index);
        if (is_wrapped_) {
          rows[cell.row].Add(row_start);
        } else if (axes.size() >= 2 && HasLabels(axes[axes.size() - 2])) {
          rows[cell.row].Add(AxisIndex(axes[axes.size() - 2], cell.index));
        }
        for (size_t i = 0; i < slice_axes.size(); ++i) slice_axes[i].Add(AxisIndex(axes[i], cell.index));
      }
      if (!slice.line.is_ellipsis) slice.line.label = SliceLabel(slice_axes);
    }
    for (size_t i = 0; i < rows.size(); ++i) figure_.rows[i].label = rows[i].Text("");
    for (size_t i = 0; i < columns.size(); ++i) figure_.columns[i].label = columns[i].Text(is_wrapped_ ? "+" : "");
  }

  std::string SliceLabel(const std::vector<CommonIndex>& indices) const {
    std::vector<std::string> parts;
    for (size_t i = 0; i < indices.size(); ++i) {
      if (HasLabels(geometry_.axes()[i]) && indices[i].has_value()) {
        parts.push_back(indices[i].Text(absl::StrCat(AxisName(geometry_.axes()[i]), "=")));
      }
    }
    return absl::StrJoin(parts, ", ");
  }

  void MakePaths() {
    const int64_t columns = geometry_.Positions(column_digits_);
    int64_t limit = SaturatingMultiply(2, columns);
    figure_.path_description = "order in memory";
    if (coarsest_level_ == 0 && map_.tile_element_count() > 0) {
      limit = map_.tile_element_count();
      absl::StrAppend(&figure_.path_description, ": the first tile",
                      SlicesOfTile(0) > 1 ? ", the part in this slice" : "");
    } else if (limit < map_.tiled_element_count()) {
      absl::StrAppend(&figure_.path_description, ": the first ", Plural(limit, "position"));
    }
    std::vector<const Cell*> cells;
    for (const Cell& cell : figure_.slices.front().cells) {
      if (cell.physical < limit) cells.push_back(&cell);
    }
    std::sort(cells.begin(), cells.end(), [](const Cell* a, const Cell* b) { return a->physical < b->physical; });
    for (size_t begin = 0, end = 0; begin < cells.size(); begin = end) {
      LayoutFigure::Path path;
      for (end = begin;
           end < cells.size() && cells[end]->physical - cells[begin]->physical == static_cast<int64_t>(end - begin);
           ++end) {
        path.emplace_back(cells[end]->row, cells[end]->column);
      }
      if (path.size() > 1) figure_.paths.push_back(std::move(path));
    }
  }

  std::string AxisName(const PictureGeometry::Axis& axis) const {
    return absl::StrJoin(axis.dimensions, "*", [this](std::string* out, int64_t d) {
      absl::StrAppend(out, DimensionName(map_.rank(), static_cast<int>(d)));
    });
  }

  void DescribeAxes() {
    const std::vector<PictureGeometry::Axis>& axes = geometry_.axes();
    for (size_t i = 0; i < axes.size(); ++i) {
      const bool is_last = i + 1 == axes.size();
      Axis axis;
      axis.role = is_last ? Axis::Role::kColumn : i + 2 == axes.size() ? Axis::Role::kRow : Axis::Role::kSlice;
      axis.name = AxisName(axes[i]);
      axis.dimensions = axes[i].dimensions;
      for (const int64_t dimension : axis.dimensions) axis.size *= map_.dimensions()[dimension];
      axis.positions = geometry_.Positions(axes[i].digits);
      if (is_wrapped_) AddWrappedRows(axis);
      axis.description = Describe(axis, axes[i].is_mixed);
      if (i == 0 && axes.size() > 1) absl::StrAppend(&axis.description, "; most major");
      if (is_last && axes.size() > 1) absl::StrAppend(&axis.description, "; most minor");
      figure_.axes.push_back(std::move(axis));
    }
  }

  void AddWrappedRows(Axis axis) {
    axis.role = Axis::Role::kRow;
    axis.description = absl::StrCat("rows: the same dimension, wrapped after ",
                                    Plural(geometry_.Positions(column_digits_), "position"));
    figure_.axes.push_back(std::move(axis));
  }

  std::string Describe(const Axis& axis, bool is_mixed) const {
    const absl::string_view role = axis.role == Axis::Role::kColumn ? "columns: "
                                   : axis.role == Axis::Role::kRow  ? "rows: "
                                                                    : "slices: ";
    std::string text(role);
    if (axis.dimensions.empty()) {
      absl::StrAppend(&text, "a dimension that only the tile has, size 1");
    } else {
      const bool is_merged = axis.dimensions.size() > 1;
      absl::StrAppend(&text, is_merged ? "dimensions " : "dimension ", absl::StrJoin(axis.dimensions, "*"));
      if (map_.rank() <= 4) absl::StrAppend(&text, " (", axis.name, ")");
      if (is_mixed) {
        return absl::StrCat(text, ", merged with others by a later tile's `*`; ", Plural(axis.positions, "position"));
      }
      absl::StrAppend(&text, is_merged ? " merged by the tile's `*`, size " : ", size ", SizeText(axis));
    }
    if (axis.positions != axis.size) absl::StrAppend(&text, ", padded to ", axis.positions);
    return text;
  }

  std::string SizeText(const Axis& axis) const {
    std::string text = absl::StrJoin(axis.dimensions, "*", [this](std::string* out, int64_t d) {
      absl::StrAppend(out, shape_.is_dynamic_dimension(static_cast<int>(d)) ? "<=" : "", map_.dimensions()[d]);
    });
    if (axis.dimensions.size() > 1) absl::StrAppend(&text, " = ", axis.size);
    return text;
  }

  const Shape& shape_;
  const IndexMap& map_;
  const PictureGeometry geometry_;
  LayoutFigure& figure_;
  Budget rows_;
  Budget columns_;
  int max_slices_;  // 0: by the size of a slice
  DimensionVector last_element_;
  std::vector<int> row_digits_;
  std::vector<int> column_digits_;
  std::vector<int> slice_digits_;
  bool is_wrapped_ = false;
  int coarsest_level_ = -1;  // of the outlined ones
  const LayoutFigure::TileLevel* coarsest_ = nullptr;
};

std::string Summarize(const IndexMap& map) {
  const int64_t positions = map.padded_element_count();
  const int64_t padding = positions - map.element_count();
  std::string text =
      absl::StrCat(Plural(map.element_count(), "element"), ", ", Plural(positions, "position"), " in memory");
  if (padding > 0) absl::StrAppend(&text, ", ", padding, " of them padding (", Percent(padding, positions), ")");
  absl::StrAppend(&text, "; ", Plural(map.byte_size(), "byte"));
  return text;
}

std::vector<std::string> MakeNotes(const Shape& shape, const IndexMap& map) {
  std::vector<std::string> notes;
  const Layout& layout = shape.layout();
  if (map.element_count() == 0) notes.push_back("a dimension has size 0: the array takes no memory");
  if (shape.is_dynamic()) notes.push_back("<=n: the bound of a dynamic dimension is drawn");
  if (map.padded_element_count() > map.tiled_element_count()) {
    notes.push_back(absl::StrCat("L(", layout.tail_padding_alignment_in_elements(),
                                 "): ", Plural(map.padded_element_count() - map.tiled_element_count(), "position"),
                                 " of padding follow at the end, not drawn"));
  }
  if (layout.element_size_in_bits() != 0) {
    notes.push_back(absl::StrCat("E(", layout.element_size_in_bits(), "): a position takes ",
                                 Plural(layout.element_size_in_bits(), "bit")));
  }
  if (map.prefix_bytes() > 0) {
    notes.push_back(
        absl::StrCat("M(", map.prefix_bytes(), "): ", Plural(map.prefix_bytes(), "byte"), " precede position 0"));
  }
  return notes;
}

}  // namespace

bool LayoutFigure::is_cut() const {
  const auto is_ellipsis = [](const Line& line) { return line.is_ellipsis; };
  return std::any_of(rows.begin(), rows.end(), is_ellipsis) ||
         std::any_of(columns.begin(), columns.end(), is_ellipsis) ||
         std::any_of(slices.begin(), slices.end(), [](const Slice& slice) { return slice.line.is_ellipsis; });
}

absl::StatusOr<LayoutFigure> MakeLayoutFigure(const Shape& shape, const LayoutFigureOptions& options) {
  if (shape.IsTuple()) {
    return InvalidArgument("a figure shows one array, but %s is a tuple of %s: draw its arrays one by one",
                           shape.ToString(), Plural(shape.tuple_shapes_size(), "shape"));
  }
  KASHI_ASSIGN_OR_RETURN(const IndexMap map, IndexMap::Make(shape));
  if (shape.layout().tiles_size() > kMaxFigureTiles) {
    return Unimplemented("%s has %d tiles; a figure shows at most %d", shape.ToString(), shape.layout().tiles_size(),
                         kMaxFigureTiles);
  }
  LayoutFigure figure;
  figure.title = shape.ToString(/*print_layout=*/true);
  figure.summary = Summarize(map);
  figure.notes = MakeNotes(shape, map);
  if (map.element_count() > 0) KASHI_RETURN_IF_ERROR(FigureBuilder(shape, map, options, &figure).Build());
  return figure;
}

std::string ToString(const LayoutFigure::Cell& cell, CellText text) {
  if (text == CellText::kPhysical) return absl::StrCat(cell.physical);
  return cell.index.empty() ? "()" : absl::StrJoin(cell.index, ",");
}

std::ostream& operator<<(std::ostream& out, const LayoutFigure& figure) {
  TerminalOptions options;
  options.ascii = true;
  return out << ToTerminal(figure, options);
}

}  // namespace kashi
