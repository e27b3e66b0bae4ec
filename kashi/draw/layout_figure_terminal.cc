// Entry point: ToTerminal.
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/draw/layout_figure.h"
#include "kashi/draw/legend.h"

namespace kashi {

using draw::AxisLegend;
using draw::IsPadding;
using draw::kEllipsisLegend;
using draw::kPaddingLegend;
using draw::NumberLegend;
namespace {

using Cell = LayoutFigure::Cell;
using Line = LayoutFigure::Line;

// The weight of a border: the frame and the coarsest tiles are heavy, finer tiles light.
enum Weight { kNoLine = 0, kLightLine = 1, kHeavyLine = 2 };

// A piece of a border by the weight of its four arms: [up][down][left * 3 + right].
constexpr absl::string_view kBoxCharacters[3][3][9] = {
    {{" ", "╶", "╺", "╴", "─", "╼", "╸", "╾", "━"},
     {"╷", "┌", "┍", "┐", "┬", "┮", "┑", "┭", "┯"},
     {"╻", "┎", "┏", "┒", "┰", "┲", "┓", "┱", "┳"}},
    {{"╵", "└", "┕", "┘", "┴", "┶", "┙", "┵", "┷"},
     {"│", "├", "┝", "┤", "┼", "┾", "┥", "┽", "┿"},
     {"╽", "┟", "┢", "┧", "╁", "╆", "┪", "╅", "╈"}},
    {{"╹", "┖", "┗", "┚", "┸", "┺", "┛", "┹", "┻"},
     {"╿", "┞", "┡", "┦", "╀", "╄", "┩", "╃", "╇"},
     {"┃", "┠", "┣", "┨", "╂", "╊", "┫", "╉", "╋"}},
};

// The number of code points: every character here is one column wide.
size_t Width(absl::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string PadLeft(absl::string_view text, size_t width) {
  const size_t own = Width(text);
  return absl::StrCat(std::string(own < width ? width - own : 0, ' '), text);
}

// ---- Columns that are shown, where not all of them fit

struct ShownColumn {
  Line line;
  int index;  // into the figure's columns; -1 for an ellipsis
};

// Joins the ellipsis with the one behind it.
void Absorb(size_t at, std::vector<ShownColumn>* columns) {
  std::vector<ShownColumn>& shown = *columns;
  shown[at].line.count += shown[at + 1].line.count;
  shown[at].line.border_after = shown[at + 1].line.border_after;
  shown.erase(shown.begin() + static_cast<std::ptrdiff_t>(at) + 1);
}

void JoinEllipses(size_t at, std::vector<ShownColumn>* columns) {
  const std::vector<ShownColumn>& shown = *columns;
  if (at + 1 < shown.size() && shown[at + 1].line.is_ellipsis) Absorb(at, columns);
  if (at > 0 && shown[at - 1].line.is_ellipsis) Absorb(at - 1, columns);
}

// Takes a column from the longest run between ellipses, at an ellipsis if there is one. The first and the last column
// stay; false if there is no other.
bool LeaveOutOneColumn(std::vector<ShownColumn>* columns) {
  std::vector<ShownColumn>& shown = *columns;
  size_t best_begin = 0;
  size_t best_end = 0;
  for (size_t begin = 0, end = 0; begin < shown.size(); begin = end + 1) {
    for (end = begin; end < shown.size() && !shown[end].line.is_ellipsis;) ++end;
    const bool must_stay = end - begin == 1 && (begin == 0 || end == shown.size());
    if (!must_stay && end - begin > best_end - best_begin) {
      best_begin = begin;
      best_end = end;
    }
  }
  if (best_end == best_begin) return false;
  size_t victim = best_begin + (best_end - best_begin) * 2 / 3;
  if (best_end < shown.size()) {
    victim = best_end - 1;
  } else if (best_begin > 0) {
    victim = best_begin;
  }
  Line& line = shown[victim].line;
  line.is_ellipsis = true;
  line.label.clear();
  shown[victim].index = -1;
  JoinEllipses(victim, columns);
  return true;
}

// ---- The figure

class TerminalRenderer {
 public:
  TerminalRenderer(const LayoutFigure& figure, const TerminalOptions& options) : figure_(figure), options_(options) {}

  std::string Render() && {
    if (options_.show_title) AddHeading();
    Measure();
    for (const LayoutFigure::Slice& slice : figure_.slices) AddSlice(slice);
    if (options_.show_legend) AddLegend();
    return std::move(out_);
  }

 private:
  void AddHeading() {
    AddText(Paint(figure_.title, "1"));
    AddText(figure_.summary);
    for (const std::string& line : AxisLegend(figure_)) AddText(line);
  }

  void AddText(absl::string_view line) { absl::StrAppend(&out_, line, "\n"); }

  std::string Paint(absl::string_view text, absl::string_view sgr) const {
    if (!options_.color || text.empty()) return std::string(text);
    return absl::StrCat("\x1b[", sgr, "m", text, "\x1b[0m");
  }
  absl::string_view PaddingText() const { return options_.ascii ? "--" : "·"; }
  absl::string_view ColumnEllipsis() const { return options_.ascii ? ".." : "⋯"; }
  absl::string_view RowEllipsis() const { return options_.ascii ? ":" : "⋮"; }

  // Widths, and which columns are shown: all of the figure's, or fewer if they do not fit.
  void Measure() {
    cell_width_ = PaddingText().size();
    if (!options_.ascii) cell_width_ = 1;
    for (const LayoutFigure::Slice& slice : figure_.slices) {
      for (const Cell& cell : slice.cells)
        cell_width_ = std::max(cell_width_, ToString(cell, options_.cell_text).size());
    }
    for (const Line& column : figure_.columns) cell_width_ = std::max(cell_width_, column.label.size());
    for (const Line& row : figure_.rows) label_width_ = std::max(label_width_, row.label.size());
    label_width_ = std::max(label_width_, Corner().size());
    for (size_t i = 0; i < figure_.columns.size(); ++i) shown_.push_back({figure_.columns[i], static_cast<int>(i)});
    while (shown_.size() > 3 && GridWidth() > static_cast<size_t>(std::max(options_.width, 1))) {
      if (!LeaveOutOneColumn(&shown_)) break;
    }
  }

  bool is_tiled() const {
    return std::any_of(figure_.levels.begin(), figure_.levels.end(),
                       [](const auto& level) { return level.is_outlined; });
  }
  int CoarsestLevel() const {
    for (size_t i = 0; i < figure_.levels.size(); ++i) {
      if (figure_.levels[i].is_outlined) return static_cast<int>(i) + 1;
    }
    return 0;
  }
  Weight WeightOf(int border) const {
    if (border == 0) return kNoLine;
    return border == CoarsestLevel() ? kHeavyLine : kLightLine;
  }
  Weight FrameWeight() const { return is_tiled() ? kHeavyLine : kLightLine; }

  // The weight of the border before line i of n; i == n: behind the last.
  template <typename GetLine>
  Weight BorderAt(size_t i, size_t n, GetLine get_line) const {
    if (i == 0 || i == n) return FrameWeight();
    return std::max(WeightOf(get_line(i - 1).border_after), WeightOf(get_line(i).border_before));
  }
  Weight ColumnBorder(size_t i) const {
    return BorderAt(i, shown_.size(), [this](size_t k) -> const Line& { return shown_[k].line; });
  }
  Weight RowBorder(size_t i) const {
    return BorderAt(i, figure_.rows.size(), [this](size_t k) -> const Line& { return figure_.rows[k]; });
  }

  size_t ColumnWidth(const ShownColumn& column) const {
    return column.line.is_ellipsis ? Width(ColumnEllipsis()) : cell_width_;
  }
  size_t GridWidth() const {
    size_t width = label_width_ + 1;
    for (size_t i = 0; i <= shown_.size(); ++i) {
      if (ColumnBorder(i) != kNoLine) width += i == 0 ? 1 : 2;
      if (i < shown_.size()) width += 1 + ColumnWidth(shown_[i]);
    }
    return width;
  }

  // "y\x"; only the rows' name where the columns' labels are distances from it.
  std::string Corner() const {
    std::string row;
    std::string column;
    for (const LayoutFigure::Axis& axis : figure_.axes) {
      if (axis.role == LayoutFigure::Axis::Role::kRow) row = axis.name;
      if (axis.role == LayoutFigure::Axis::Role::kColumn) column = axis.name;
    }
    if (row.empty() || row == column || column.empty()) return row.empty() ? column : row;
    return absl::StrCat(row, "\\", column);
  }

  void AddSlice(const LayoutFigure::Slice& slice) {
    if (!out_.empty()) AddText("");
    if (slice.line.is_ellipsis) {
      AddText(absl::StrCat("  ", RowEllipsis(), " ", slice.line.count, " more slices"));
      return;
    }
    if (!slice.line.label.empty()) AddText(Paint(absl::StrCat(slice.line.label, ":"), "1"));
    if (slice.line.label.empty() && IsPadding(slice)) AddText("a slice of padding:");
    AddHeader();
    size_t next_cell = 0;
    for (size_t r = 0; r < figure_.rows.size(); ++r) {
      AddBorder(r);
      if (figure_.rows[r].is_ellipsis) {
        AddRow(figure_.rows[r], nullptr);
      } else {
        AddRow(figure_.rows[r], &slice.cells[next_cell]);
        while (next_cell < slice.cells.size() && slice.cells[next_cell].row == static_cast<int>(r)) ++next_cell;
      }
    }
    AddBorder(figure_.rows.size());
  }

  void AddHeader() {
    std::string line = PadLeft(Corner(), label_width_) + " ";
    for (size_t i = 0; i < shown_.size(); ++i) {
      if (ColumnBorder(i) != kNoLine) line += i == 0 ? " " : "  ";
      line += " " + PadLeft(shown_[i].line.label, ColumnWidth(shown_[i]));
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    if (!line.empty()) AddText(Paint(line, "2"));
  }

  std::string Box(Weight up, Weight down, Weight left, Weight right) const {
    if (!options_.ascii) return std::string(kBoxCharacters[up][down][left * 3 + right]);
    const Weight vertical = std::max(up, down);
    const Weight horizontal = std::max(left, right);
    if (vertical != kNoLine && horizontal != kNoLine) return "+";
    if (horizontal != kNoLine) return horizontal == kHeavyLine ? "=" : "-";
    return vertical == kHeavyLine ? "|" : vertical == kLightLine ? ":" : " ";
  }

  // The line above row r, if there is a border.
  void AddBorder(size_t r) {
    const Weight weight = RowBorder(r);
    if (weight == kNoLine) return;
    const std::string dash = Box(kNoLine, kNoLine, weight, weight);
    std::string line(label_width_ + 1, ' ');
    for (size_t i = 0; i <= shown_.size(); ++i) {
      const Weight crossing = ColumnBorder(i);
      if (crossing != kNoLine) {
        if (i > 0) line += dash;
        line += Box(r == 0 ? kNoLine : crossing, r == figure_.rows.size() ? kNoLine : crossing,
                    i == 0 ? kNoLine : weight, i == shown_.size() ? kNoLine : weight);
      }
      for (size_t k = 0; i < shown_.size() && k < 1 + ColumnWidth(shown_[i]); ++k) line += dash;
    }
    AddText(line);
  }

  // `cells` are the cells of the row; null for a row of ellipses.
  void AddRow(const Line& row, const Cell* cells) {
    std::string line = Paint(PadLeft(row.label, label_width_), "2") + " ";
    for (size_t i = 0; i <= shown_.size(); ++i) {
      const Weight border = ColumnBorder(i);
      if (border != kNoLine) line += (i > 0 ? " " : "") + Box(border, border, kNoLine, kNoLine);
      if (i == shown_.size()) break;
      line += " " + TextOfCell(shown_[i], cells);
    }
    AddText(line);
  }

  std::string TextOfCell(const ShownColumn& column, const Cell* cells) const {
    const size_t width = ColumnWidth(column);
    if (cells == nullptr) return PadLeft(RowEllipsis(), width);
    if (column.line.is_ellipsis) return PadLeft(ColumnEllipsis(), width);
    while (cells->column != column.index) ++cells;
    if (!cells->is_element) return Paint(PadLeft(PaddingText(), width), "2");
    static constexpr std::array<absl::string_view, 4> kColors = {"36", "33", "35", "32"};
    const std::string text = PadLeft(ToString(*cells, options_.cell_text), width);
    return is_tiled() ? Paint(text, kColors[static_cast<size_t>(cells->tint)]) : text;
  }

  void AddLegend() {
    if (!out_.empty() && (!figure_.slices.empty() || !figure_.notes.empty())) AddText("");
    const auto add = [this](absl::string_view mark, absl::string_view text) {
      AddText(absl::StrCat("  ", PadLeft(mark, 3), "  ", text));
    };
    bool has_padding = false;
    for (const LayoutFigure::Slice& slice : figure_.slices) {
      for (const Cell& cell : slice.cells) has_padding = has_padding || !cell.is_element;
    }
    if (!figure_.slices.empty()) {
      add(options_.cell_text == CellText::kPhysical ? "17" : "2,3", NumberLegend(options_.cell_text));
    }
    if (has_padding) add(PaddingText(), kPaddingLegend);
    for (size_t i = 0; i < figure_.levels.size(); ++i) {
      const Weight weight = figure_.levels[i].is_outlined ? WeightOf(static_cast<int>(i) + 1) : kNoLine;
      add(Box(weight, weight, kNoLine, kNoLine), figure_.levels[i].description);
    }
    if (figure_.is_cut()) add(ColumnEllipsis(), kEllipsisLegend);
    for (const std::string& note : figure_.notes) add("", note);
  }

  const LayoutFigure& figure_;
  const TerminalOptions& options_;
  std::string out_;
  size_t cell_width_ = 1;
  size_t label_width_ = 0;
  std::vector<ShownColumn> shown_;
};

}  // namespace

std::string ToTerminal(const LayoutFigure& figure, const TerminalOptions& options) {
  return TerminalRenderer(figure, options).Render();
}

}  // namespace kashi
