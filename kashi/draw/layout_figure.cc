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
#include "kashi/draw/visible_lines.h"

namespace kashi {

using array::DimensionName;
namespace {

using draw::Budget;
using draw::Extent;
using draw::MakeLines;
using draw::PictureGeometry;
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
// The figure of an array with elements
// ---------------------------------------------------------------------------------------------------------------------

// The plane of a figure: the digits of its rows, columns and slices.
struct FigurePlane {
  explicit FigurePlane(const Shape& shape) : geometry(shape) {
    const std::vector<PictureGeometry::Axis>& axes = geometry.axes();
    if (!axes.empty()) column_digits = axes.back().digits;
    if (axes.size() >= 2) row_digits = axes[axes.size() - 2].digits;
    for (size_t i = 0; i + 2 < axes.size(); ++i) {
      slice_digits.insert(slice_digits.end(), axes[i].digits.begin(), axes[i].digits.end());
    }
  }

  bool HasSlices() const { return geometry.Positions(slice_digits) > 1; }

  // Rank 1: helps if a later tile has rows of its own, or if the row does not fit.
  void WrapLongRow(const Layout& layout, int64_t max_columns) {
    const int in_row = geometry.WrappedColumnDigits();
    if (in_row == 0) return;
    bool wants_rows = geometry.Positions(column_digits) > max_columns;
    for (int64_t i = 1; i < layout.tiles_size(); ++i) {
      wants_rows = wants_rows || layout.tiles(static_cast<int>(i)).dimensions().size() > 1;
    }
    if (!wants_rows) return;
    is_wrapped = true;
    row_digits.assign(column_digits.begin(), column_digits.end() - in_row);
    column_digits.erase(column_digits.begin(), column_digits.end() - in_row);
  }

  // The slices of one tile.
  int64_t SlicesOfTile(int level) const {
    int64_t slices = 1;
    for (size_t i = 0; i + 2 < geometry.axes().size(); ++i)
      slices *= geometry.TileExtent(geometry.axes()[i].digits, level);
    return slices;
  }

  PictureGeometry geometry;
  std::vector<int> row_digits;
  std::vector<int> column_digits;
  std::vector<int> slice_digits;
  bool is_wrapped = false;
};

// ---- Levels of tiles

int64_t EntryProduct(const Tile& tile) {
  int64_t product = 1;
  for (const int64_t entry : tile.dimensions()) {
    if (entry != Tile::kCombineDimension) product *= entry;
  }
  return product;
}

LayoutFigure::TileLevel MakeLevel(const Tile& tile_of_layout, int level, const FigurePlane& plane) {
  LayoutFigure::TileLevel tile;
  tile.text = tile_of_layout.ToString();
  tile.rows = plane.geometry.TileExtent(plane.row_digits, level);
  tile.columns = plane.geometry.TileExtent(plane.column_digits, level);
  const bool is_rectangle = tile.rows > 0 && tile.columns > 0 && !plane.geometry.IsBroken(level);
  tile.is_outlined = is_rectangle && (tile.rows > 1 || tile.columns > 1);
  tile.description = absl::StrCat(level == 0 ? "T" : "", tile.text, ": ");
  if (plane.geometry.IsBroken(level)) {
    absl::StrAppend(&tile.description, "merged with other cells by a later `*`, not outlined");
  } else if (!is_rectangle) {
    absl::StrAppend(&tile.description, "groups cells that are not adjacent here, not outlined");
  } else if (!tile.is_outlined) {
    absl::StrAppend(&tile.description, "a tile is a single cell, not outlined");
  } else {
    absl::StrAppend(&tile.description, level == 0 ? "tiles" : "inner tiles", " of ", Plural(tile.rows, "row"), " and ",
                    Plural(tile.columns, "column"));
    const int64_t slices = plane.SlicesOfTile(level);
    if (slices > 1) absl::StrAppend(&tile.description, ", over ", Plural(slices, "slice"));
    if (tile.rows * tile.columns * slices != EntryProduct(tile_of_layout))
      absl::StrAppend(&tile.description, ", inner padding included");
  }
  return tile;
}

// In T(1024)(128)(2,1) the last tile joins rows of the tile before: both outlines together would show neither.
void HideIfCrossed(size_t level, std::vector<LayoutFigure::TileLevel>* levels) {
  LayoutFigure::TileLevel& tile = (*levels)[level];
  for (size_t i = level + 1; i < (*levels).size(); ++i) {
    const LayoutFigure::TileLevel& later = (*levels)[i];
    if (!tile.is_outlined || !later.is_outlined || (later.rows <= tile.rows && later.columns <= tile.columns)) continue;
    tile.is_outlined = false;
    absl::StrAppend(&tile.description, ", not outlined: later tiles cross them");
  }
}

// ---- Labels of lines

// The label of a line is the index part that all its elements share. It is computed from all visible cells; lines
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

std::string AxisName(const PictureGeometry::Axis& axis, int rank) {
  return absl::StrJoin(axis.dimensions, "*", [rank](std::string* out, int64_t d) {
    absl::StrAppend(out, DimensionName(rank, static_cast<int>(d)));
  });
}

bool HasLabels(const PictureGeometry::Axis& axis) { return !axis.is_mixed && !axis.dimensions.empty(); }

// Labels the lines of a figure whose cells are made.
class LineLabels {
 public:
  LineLabels(const IndexMap& map, const FigurePlane& plane, LayoutFigure* figure)
      : map_(map), plane_(plane), figure_(*figure) {}

  void Make() {
    const std::vector<PictureGeometry::Axis>& axes = plane_.geometry.axes();
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
        if (HasLabels(axes.back())) columns[cell.column].Add(plane_.is_wrapped ? index - row_start : index);
        if (plane_.is_wrapped) {
          rows[cell.row].Add(row_start);
        } else if (axes.size() >= 2 && HasLabels(axes[axes.size() - 2])) {
          rows[cell.row].Add(AxisIndex(axes[axes.size() - 2], cell.index));
        }
        for (size_t i = 0; i < slice_axes.size(); ++i) slice_axes[i].Add(AxisIndex(axes[i], cell.index));
      }
      if (!slice.line.is_ellipsis) slice.line.label = SliceLabel(slice_axes);
    }
    for (size_t i = 0; i < rows.size(); ++i) figure_.rows[i].label = rows[i].Text("");
    for (size_t i = 0; i < columns.size(); ++i)
      figure_.columns[i].label = columns[i].Text(plane_.is_wrapped ? "+" : "");
  }

 private:
  // The index along merged dimensions.
  int64_t AxisIndex(const PictureGeometry::Axis& axis, absl::Span<const int64_t> index) const {
    int64_t result = 0;
    for (const int64_t dimension : axis.dimensions) result = result * map_.dimensions()[dimension] + index[dimension];
    return result;
  }

  std::string SliceLabel(const std::vector<CommonIndex>& indices) const {
    std::vector<std::string> parts;
    for (size_t i = 0; i < indices.size(); ++i) {
      if (HasLabels(plane_.geometry.axes()[i]) && indices[i].has_value()) {
        parts.push_back(indices[i].Text(absl::StrCat(AxisName(plane_.geometry.axes()[i], map_.rank()), "=")));
      }
    }
    return absl::StrJoin(parts, ", ");
  }

  const IndexMap& map_;
  const FigurePlane& plane_;
  LayoutFigure& figure_;
};

// ---- Axes

class AxisDescriptions {
 public:
  AxisDescriptions(const Shape& shape, const IndexMap& map, const FigurePlane& plane)
      : shape_(shape), map_(map), plane_(plane) {}

  std::vector<Axis> Make() const {
    std::vector<Axis> result;
    const std::vector<PictureGeometry::Axis>& axes = plane_.geometry.axes();
    for (size_t i = 0; i < axes.size(); ++i) {
      const bool is_last = i + 1 == axes.size();
      Axis axis;
      axis.role = is_last ? Axis::Role::kColumn : i + 2 == axes.size() ? Axis::Role::kRow : Axis::Role::kSlice;
      axis.name = AxisName(axes[i], map_.rank());
      axis.dimensions = axes[i].dimensions;
      for (const int64_t dimension : axis.dimensions) axis.size *= map_.dimensions()[dimension];
      axis.positions = plane_.geometry.Positions(axes[i].digits);
      if (plane_.is_wrapped) result.push_back(WrappedRows(axis));
      axis.description = Describe(axis, axes[i].is_mixed);
      if (i == 0 && axes.size() > 1) absl::StrAppend(&axis.description, "; most major");
      if (is_last && axes.size() > 1) absl::StrAppend(&axis.description, "; most minor");
      result.push_back(std::move(axis));
    }
    return result;
  }

 private:
  Axis WrappedRows(Axis axis) const {
    axis.role = Axis::Role::kRow;
    axis.description = absl::StrCat("rows: the same dimension, wrapped after ",
                                    Plural(plane_.geometry.Positions(plane_.column_digits), "position"));
    return axis;
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
  const FigurePlane& plane_;
};

class FigureBuilder {
 public:
  FigureBuilder(const Shape& shape, const IndexMap& map, const LayoutFigureOptions& options, LayoutFigure* figure)
      : shape_(shape), map_(map), plane_(shape), figure_(*figure) {
    rows_ = MakeBudget(options.max_rows, RowsOfAPage());
    columns_ = MakeBudget(options.max_columns, ColumnsOfAPage());
    max_slices_ = options.max_slices;
    last_element_.assign(map.dimensions().begin(), map.dimensions().end());
    for (int64_t& index : last_element_) --index;
  }

  absl::Status Build() {
    if (plane_.geometry.PhysicalDimensions() !=
        DimensionVector(map_.physical_dimensions().begin(), map_.physical_dimensions().end())) {
      return Internal("%s: the picture's physical dimensions {%s} are not the index map's {%s}", figure_.title,
                      absl::StrJoin(plane_.geometry.PhysicalDimensions(), ","),
                      absl::StrJoin(map_.physical_dimensions(), ","));
    }
    plane_.WrapLongRow(shape_.layout(), columns_.lines);
    MakeLevels();
    MakeVisibleLines();
    MakeCells();
    LineLabels(map_, plane_, &figure_).Make();
    MakePaths();
    figure_.axes = AxisDescriptions(shape_, map_, plane_).Make();
    return absl::OkStatus();
  }

 private:
  static Budget MakeBudget(int wanted, int automatic) {
    if (wanted == 0) return {automatic, /*is_exact=*/false};
    return {std::clamp(wanted, 1, kMaxFigureLines), /*is_exact=*/true};
  }

  int RowsOfAPage() const { return plane_.HasSlices() ? 10 : 16; }
  // Depends on the width of the largest position, as the SVG draws it. Two slices may stand side by side.
  int ColumnsOfAPage() const {
    const auto digits = static_cast<int>(absl::StrCat(map_.padded_element_count() - 1).size());
    const int width = 84 * digits + 140;
    return plane_.HasSlices() ? std::clamp(4800 / width, 7, 12) : std::clamp(10000 / width, 9, 20);
  }

  void MakeLevels() {
    for (int level = 0; level < shape_.layout().tiles_size(); ++level) {
      figure_.levels.push_back(MakeLevel(shape_.layout().tiles(level), level, plane_));
      if (figure_.levels.back().is_outlined && coarsest_level_ < 0) coarsest_level_ = level;
    }
    if (coarsest_level_ < 0) return;
    coarsest_ = &figure_.levels[coarsest_level_];
    for (size_t i = static_cast<size_t>(coarsest_level_) + 1; i < figure_.levels.size(); ++i) {
      HideIfCrossed(i, &figure_.levels);
    }
  }

  void MakeVisibleLines() {
    Extent rows = ExtentOf(plane_.row_digits);
    Extent columns = ExtentOf(plane_.column_digits);
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
    for (Line& line : MakeLines(ExtentOf(plane_.slice_digits), slices)) {
      figure_.slices.emplace_back();
      figure_.slices.back().line = std::move(line);
    }
  }

  Extent ExtentOf(absl::Span<const int> digits) const {
    Extent extent;
    extent.positions = plane_.geometry.Positions(digits);
    extent.edge = plane_.geometry.PositionOf(digits, map_.LogicalToPhysical(last_element_)) + 1;
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
      column_parts.push_back(plane_.geometry.PhysicalPart(plane_.column_digits, column.position));
    }
    DimensionVector index(map_.rank());
    for (LayoutFigure::Slice& slice : figure_.slices) {
      if (slice.line.is_ellipsis) continue;
      const int64_t slice_part = plane_.geometry.PhysicalPart(plane_.slice_digits, slice.line.position);
      for (size_t r = 0; r < figure_.rows.size(); ++r) {
        if (figure_.rows[r].is_ellipsis) continue;
        const int64_t row_part = plane_.geometry.PhysicalPart(plane_.row_digits, figure_.rows[r].position);
        for (size_t c = 0; c < figure_.columns.size(); ++c) {
          if (figure_.columns[c].is_ellipsis) continue;
          Cell cell;
          cell.row = static_cast<int>(r);
          cell.column = static_cast<int>(c);
          cell.physical = slice_part + row_part + column_parts[c];
          cell.is_element = map_.PhysicalToLogical(cell.physical, absl::MakeSpan(index));
          if (cell.is_element) cell.index = index;
          if (!figure_.levels.empty()) cell.tile = plane_.geometry.TileOf(cell.physical);
          if (coarsest_ != nullptr) {
            cell.tint = static_cast<int>(figure_.rows[r].position / coarsest_->rows % 2 * 2 +
                                         figure_.columns[c].position / coarsest_->columns % 2);
          }
          slice.cells.push_back(std::move(cell));
        }
      }
    }
  }

  void MakePaths() {
    const int64_t columns = plane_.geometry.Positions(plane_.column_digits);
    int64_t limit = SaturatingMultiply(2, columns);
    figure_.path_description = "order in memory";
    if (coarsest_level_ == 0 && map_.tile_element_count() > 0) {
      limit = map_.tile_element_count();
      absl::StrAppend(&figure_.path_description, ": the first tile",
                      plane_.SlicesOfTile(0) > 1 ? ", the part in this slice" : "");
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

  const Shape& shape_;
  const IndexMap& map_;
  FigurePlane plane_;
  LayoutFigure& figure_;
  Budget rows_;
  Budget columns_;
  int max_slices_;  // 0: by the size of a slice
  DimensionVector last_element_;
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
