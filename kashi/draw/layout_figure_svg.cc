// Entry point: ToSvg.
//
// Everything is placed in whole or half units by the widths below; text is measured by a generous guess, because the
// fonts of the reader are not known. Attributes only: a style sheet would leak into the page that shows the figure.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/draw/layout_figure.h"
#include "kashi/draw/legend.h"
#include "kashi/draw/svg_canvas.h"

namespace kashi {

using draw::AxisLegend;
using draw::kEllipsisLegend;
using draw::kPaddingLegend;
using draw::NumberLegend;
namespace {

using draw::Escape;
using draw::kDarkPalette;
using draw::kLightPalette;
using draw::kMono;
using draw::kSans;
using draw::MonoWidth;
using draw::Palette;
using draw::Point;
using draw::Stroke;
using draw::SvgCanvas;
using draw::TextStyle;

using Cell = LayoutFigure::Cell;
using Line = LayoutFigure::Line;

constexpr int kMargin = 20;
constexpr int kCellHeight = 30;
constexpr int kEllipsisSize = 24;
constexpr int kPanelGap = 36;
constexpr int kSliceEllipsisWidth = 150;
constexpr int kTextLine = 20;
constexpr int kLegendLine = 26;
constexpr int kLegendMark = 34;
constexpr size_t kMaxTitle = 120;

std::string Shorten(const std::string& text) {
  return text.size() <= kMaxTitle ? text : absl::StrCat(text.substr(0, kMaxTitle - 3), "...");
}

// Measures of a panel: a panel shows one slice.
struct PanelMeasures {
  PanelMeasures(const LayoutFigure& figure, CellText cell_text) {
    size_t characters = 2;
    for (const LayoutFigure::Slice& slice : figure.slices) {
      for (const Cell& cell : slice.cells) characters = std::max(characters, ToString(cell, cell_text).size());
    }
    const int cell_width = std::max(36, MonoWidth(characters, 13) + 14);
    size_t label = 0;
    for (const Line& row : figure.rows) label = std::max(label, row.label.size());
    for (const LayoutFigure::Axis& axis : figure.axes) {
      if (axis.role == LayoutFigure::Axis::Role::kRow) row_axis = axis.name;
      if (axis.role == LayoutFigure::Axis::Role::kColumn) column_axis = axis.name;
    }
    label_width = row_axis.empty() ? 4 : std::max(MonoWidth(label, 12), MonoWidth(row_axis.size() + 2, 13)) + 10;
    column_x = Edges(figure.columns, cell_width);
    row_y = Edges(figure.rows, kCellHeight);
    for (const LayoutFigure::Slice& slice : figure.slices) {
      for (const Cell& cell : slice.cells) has_padding = has_padding || !cell.is_element;
    }
    has_captions = figure.slices.size() > 1 || (!figure.slices.empty() && !figure.slices.front().line.label.empty());
  }

  int top() const { return (has_captions ? 24 : 0) + (column_axis.empty() ? 4 : 40); }
  Point size() const { return {label_width + column_x.back(), top() + row_y.back()}; }
  Point Center(Point origin, int row, int column) const {
    return {origin.x + (column_x[column] + column_x[column + 1]) / 2, origin.y + (row_y[row] + row_y[row + 1]) / 2};
  }

  std::string row_axis;
  std::string column_axis;
  std::vector<int> column_x;  // where columns begin, and where the last one ends
  std::vector<int> row_y;
  int label_width = 0;
  bool has_captions = false;
  bool has_padding = false;

 private:
  static std::vector<int> Edges(const std::vector<Line>& lines, int size) {
    std::vector<int> edges = {0};
    for (const Line& line : lines) edges.push_back(edges.back() + (line.is_ellipsis ? kEllipsisSize : size));
    return edges;
  }
};

// Strokes of the outlined levels of tiles, the coarsest first.
class LevelStrokes {
 public:
  LevelStrokes(const LayoutFigure& figure, const Palette& palette) : palette_(palette) {
    for (size_t i = 0; i < figure.levels.size(); ++i) {
      if (figure.levels[i].is_outlined) outlined_.push_back(static_cast<int>(i) + 1);
    }
  }

  // The outlined levels, with the numbers that borders use.
  const std::vector<int>& outlined() const { return outlined_; }
  const Stroke& Of(int border) const {
    const auto at = std::find(outlined_.begin(), outlined_.end(), border) - outlined_.begin();
    return palette_.strokes[std::min<size_t>(static_cast<size_t>(at), palette_.strokes.size() - 1)];
  }

 private:
  const Palette& palette_;
  std::vector<int> outlined_;
};

// Inner borders of one level; the frame is drawn apart. On both sides of an ellipsis, where both are borders.
std::vector<int> BorderPlaces(const std::vector<Line>& lines, const std::vector<int>& edges, int level) {
  std::vector<int> places;
  for (size_t i = 1; i < lines.size(); ++i) {
    const int before = lines[i - 1].border_after;
    const int after = lines[i].border_before;
    const int border = before == 0 ? after : after == 0 ? before : std::min(before, after);
    if (border == level) places.push_back(edges[i]);
  }
  return places;
}

// ---- The order in memory

struct Place {
  double x;
  double y;
};

// The corners of a way between two cells that follow each other in memory. Neighbours, corner to corner too, are
// joined directly. Other ways take the borders between cells, so that they cross no number:
//
//    | 0-> 1-> 2-> 3 |            back to the next row: down to the border, along it, down into the cell
//    | .-----------' |
//    | 4-> 5-> 6-> 7 |
std::vector<Place> WayBetween(const PanelMeasures& measures, Point origin, std::pair<int, int> from,
                              std::pair<int, int> to) {
  const Point a = measures.Center(origin, from.first, from.second);
  const Point b = measures.Center(origin, to.first, to.second);
  const Place begin = {double(a.x), double(a.y)};
  const Place end = {double(b.x), double(b.y)};
  const int rows = to.first - from.first;
  const int columns = to.second - from.second;
  if (std::abs(rows) <= 1 && std::abs(columns) <= 1) return {begin, end};
  const double y = origin.y + measures.row_y[from.first + (rows >= 0 ? 1 : 0)];  // the border on the way out of the row
  const double x = origin.x + measures.column_x[to.second + (columns >= 0 ? 0 : 1)];  // and on the way into the column
  if (std::abs(rows) <= 1) return {begin, {begin.x, y}, {end.x, y}, end};
  if (std::abs(columns) <= 1) return {begin, {x, begin.y}, {x, end.y}, end};
  return {begin, {begin.x, y}, {x, y}, {x, end.y}, end};
}

// Moves `end` towards `other` until it is outside of the number drawn around it.
void LeaveNumber(Place* end, const Place& other, int text_width) {
  constexpr double kHalfHeight = 9;
  const double dx = std::abs(other.x - end->x);
  const double dy = std::abs(other.y - end->y);
  const double across = dx > 0 ? (text_width / 2.0 + 2) / dx : 1;
  const double along = dy > 0 ? kHalfHeight / dy : 1;
  const double part = std::min({across, along, 0.5});
  *end = {end->x + (other.x - end->x) * part, end->y + (other.y - end->y) * part};
}

std::string Tenths(double v) {
  const long n = std::lround(v * 10);
  return n % 10 == 0 ? absl::StrCat(n / 10) : absl::StrCat(n / 10, ".", n % 10);
}

// A triangle in the middle of a step: numbers leave room there.
std::string Arrow(const Place& from, const Place& to) {
  const double dx = to.x - from.x;
  const double dy = to.y - from.y;
  const double length = std::max(std::hypot(dx, dy), 1.0);
  const double x = (from.x + to.x) / 2;
  const double y = (from.y + to.y) / 2;
  const auto point = [&](double along, double across) {
    return absl::StrCat(Tenths(x + (along * dx - across * dy) / length), " ",
                        Tenths(y + (along * dy + across * dx) / length));
  };
  return absl::StrCat("M", point(5, 0), "L", point(-4, 4), "L", point(-4, -4), "Z");
}

// The paths of the first slice.
class PathRenderer {
 public:
  PathRenderer(const LayoutFigure& figure, CellText cell_text, const PanelMeasures& measures)
      : figure_(figure), measures_(measures) {
    for (const Cell& cell : figure_.slices.front().cells) {
      if (!cell.is_element) continue;
      number_widths_[{cell.row, cell.column}] = MonoWidth(ToString(cell, cell_text).size(), 13);
    }
  }

  // Ways along borders are faint and dashed, so that they are not taken for borders.
  void AddTo(Point origin, SvgCanvas* canvas) const {
    std::string steps;
    std::string jumps;
    std::string arrows;
    for (const LayoutFigure::Path& path : figure_.paths) {
      std::string arrow;
      for (size_t i = 1; i < path.size(); ++i) {
        std::vector<Place> way = WayBetween(measures_, origin, path[i - 1], path[i]);
        const bool is_step = way.size() == 2;
        if (is_step) arrow = Arrow(way[0], way[1]);
        LeaveNumber(&way.front(), way[1], NumberWidth(path[i - 1]));
        LeaveNumber(&way.back(), way[way.size() - 2], NumberWidth(path[i]));
        std::string* lines = is_step ? &steps : &jumps;
        for (size_t k = 0; k < way.size(); ++k) {
          absl::StrAppend(lines, k == 0 ? "M" : "L", Tenths(way[k].x), " ", Tenths(way[k].y));
        }
      }
      arrows += arrow;
    }
    const auto add = [&](absl::string_view path, absl::string_view attributes) {
      if (!path.empty()) canvas->Append("<path d=\"", path, "\" ", attributes, "/>\n");
    };
    const std::string color = absl::StrCat("fill=\"none\" stroke=\"", canvas->palette().path, "\" ");
    add(jumps, absl::StrCat(color, "stroke-width=\"1.3\" stroke-opacity=\"0.7\" stroke-dasharray=\"4 3\""));
    add(steps, absl::StrCat(color, "stroke-width=\"1.7\" stroke-opacity=\"0.75\" stroke-linecap=\"round\""));
    add(arrows, absl::StrCat("fill=\"", canvas->palette().path, "\""));
  }

 private:
  // The width of the number in a cell; 0 for padding.
  int NumberWidth(std::pair<int, int> place) const {
    const auto found = number_widths_.find(place);
    return found == number_widths_.end() ? 0 : found->second;
  }

  const LayoutFigure& figure_;
  const PanelMeasures& measures_;
  std::map<std::pair<int, int>, int> number_widths_;  // by row and column
};

// ---- The legend

// Entries below one another: a mark and its text.
class LegendRenderer {
 public:
  LegendRenderer(const LayoutFigure& figure, const SvgOptions& options, const LevelStrokes& strokes, SvgCanvas* canvas)
      : figure_(figure), options_(options), strokes_(strokes), canvas_(*canvas), palette_(canvas->palette()) {}

  // Returns where it ends.
  int AddAt(int top, bool has_padding) {
    y_ = top;
    if (!figure_.slices.empty()) AddNumber();
    if (has_padding) AddPadding();
    for (size_t i = 0; i < figure_.levels.size(); ++i) AddLevel(static_cast<int>(i));
    if (options_.show_path && !figure_.paths.empty()) AddPath();
    if (figure_.is_cut()) AddCut();
    for (const std::string& note : figure_.notes) AddEntry(note);
    return y_;
  }

 private:
  void AddEntry(absl::string_view text) {
    canvas_.AddText({kMargin + kLegendMark + 12, y_ + 18}, text, {});
    y_ += kLegendLine;
  }
  void AddNumber() {
    canvas_.AddRect({kMargin, y_ + 4}, {kLegendMark, 19},
                    absl::StrCat("fill=\"", palette_.tints[0], "\" stroke=\"", palette_.hairline, "\""));
    TextStyle number;
    number.is_mono = true;
    number.anchor = "middle";
    canvas_.AddText({kMargin + kLegendMark / 2, y_ + 18}, options_.cell_text == CellText::kPhysical ? "17" : "2,3",
                    number);
    AddEntry(NumberLegend(options_.cell_text));
  }
  void AddPadding() {
    canvas_.AddRect({kMargin, y_ + 4}, {kLegendMark, 19},
                    absl::StrCat("fill=\"url(#kashi-padding)\" stroke=\"", palette_.hairline, "\""));
    AddEntry(kPaddingLegend);
  }
  void AddLevel(int level) {
    if (figure_.levels[level].is_outlined) {
      const Stroke& stroke = strokes_.Of(level + 1);
      canvas_.AddRect({kMargin + 1, y_ + 5}, {kLegendMark - 2, 17},
                      absl::StrCat("fill=\"none\" stroke=\"", stroke.color, "\" stroke-width=\"", stroke.width,
                                   "\" stroke-dasharray=\"", stroke.dashes.empty() ? "none" : stroke.dashes, "\""));
    }
    AddEntry(figure_.levels[level].description);
  }
  void AddPath() {
    const Place from = {kMargin + 2, y_ + 13.0};
    const Place to = {kMargin + kLegendMark - 2, y_ + 13.0};
    canvas_.Append("<path d=\"M", Tenths(from.x), " ", Tenths(from.y), "H", Tenths(to.x), "\" stroke=\"", palette_.path,
                   "\" stroke-width=\"1.7\" stroke-opacity=\"0.75\"/>\n<path d=\"", Arrow(from, to), "\" fill=\"",
                   palette_.path, "\"/>\n");
    AddEntry(figure_.path_description);
  }
  void AddCut() {
    TextStyle mark;
    mark.anchor = "middle";
    mark.color = palette_.muted;
    mark.size = 15;
    canvas_.AddText({kMargin + kLegendMark / 2, y_ + 18}, "\u22ef", mark);
    AddEntry(kEllipsisLegend);
  }

  const LayoutFigure& figure_;
  const SvgOptions& options_;
  const LevelStrokes& strokes_;
  SvgCanvas& canvas_;
  const Palette& palette_;
  int y_ = 0;
};

// ---- The figure

class SvgRenderer {
 public:
  SvgRenderer(const LayoutFigure& figure, const SvgOptions& options)
      : figure_(figure),
        options_(options),
        canvas_(options.dark ? kDarkPalette : kLightPalette),
        palette_(canvas_.palette()),
        measures_(figure, options.cell_text),
        strokes_(figure, palette_) {}

  std::string Render() && {
    int y = options_.show_title ? AddHeading() : kMargin;
    y = AddPanels(y);
    if (options_.show_legend) {
      y = LegendRenderer(figure_, options_, strokes_, &canvas_).AddAt(y, measures_.has_padding);
    }
    const int height = y + kMargin - 8;
    return absl::StrCat(Prolog(height), canvas_.body(), "</svg>\n");
  }

 private:
  // ---- heading ------------------------------------------------------------------------------------------------------

  int AddHeading() {
    TextStyle title;
    title.size = 17;
    title.is_mono = true;
    title.is_bold = true;
    int y = kMargin + 14;
    canvas_.AddText({kMargin, y}, Shorten(figure_.title), title);
    TextStyle text;
    text.color = palette_.muted;
    y += 4;
    canvas_.AddText({kMargin, y += kTextLine}, figure_.summary, text);
    for (const std::string& line : AxisLegend(figure_)) {
      canvas_.AddText({kMargin, y += kTextLine}, Shorten(line), text);
    }
    return y + 16;
  }

  // ---- panels: one a slice ------------------------------------------------------------------------------------------

  int AddPanels(int top) {
    const Point size = measures_.size();
    Point at = {kMargin, top};
    int bottom = top;
    const bool is_one_below_the_other = kMargin + 2 * size.x + kPanelGap > options_.max_width;
    for (const LayoutFigure::Slice& slice : figure_.slices) {
      const int width = slice.line.is_ellipsis ? kSliceEllipsisWidth : size.x;
      if (at.x > kMargin && (is_one_below_the_other || at.x + width > options_.max_width))
        at = {kMargin, bottom + kPanelGap};
      if (!slice.line.is_ellipsis) {
        AddPanel(at, slice);
        bottom = at.y + size.y;
      } else if (at.x > kMargin) {
        AddSliceEllipsis({at.x + width / 2, at.y + measures_.top() + measures_.row_y.back() / 2}, slice.line.count);
      } else {  // a line of its own
        AddSliceEllipsis({at.x + measures_.label_width + width / 2, at.y}, slice.line.count);
        bottom = at.y + 12;  // of its text, if nothing follows
        at.y += kPanelGap;
        continue;
      }
      canvas_.Reach(at.x + width + 3);
      at.x += width + kPanelGap;
    }
    return bottom + 14;
  }

  void AddSliceEllipsis(Point middle, int64_t count) {
    TextStyle style;
    style.anchor = "middle";
    style.color = palette_.muted;
    canvas_.AddText({middle.x, middle.y - 6}, "\u22ef", style);
    canvas_.AddText({middle.x, middle.y + 12}, absl::StrCat(count, count == 1 ? " more slice" : " more slices"), style);
  }

  void AddPanel(Point at, const LayoutFigure::Slice& slice) {
    if (measures_.has_captions) {
      TextStyle caption;
      caption.is_bold = true;
      canvas_.AddText({at.x + measures_.label_width, at.y + 14},
                      slice.line.label.empty() ? "padding" : Shorten(slice.line.label), caption);
    }
    const Point origin = {at.x + measures_.label_width, at.y + measures_.top()};
    AddAxes(origin);
    AddBackgrounds(origin, slice);
    AddBorders(origin);
    if (options_.show_path && &slice == &figure_.slices.front()) {
      PathRenderer(figure_, options_.cell_text, measures_).AddTo(origin, &canvas_);
    }
    AddNumbers(origin, slice);
    AddEllipses(origin);
  }

  void AddAxes(Point origin) {
    TextStyle name;
    name.is_mono = true;
    name.is_bold = true;
    name.color = palette_.axis_name;
    if (!measures_.column_axis.empty() && measures_.column_axis != measures_.row_axis) {
      canvas_.AddText({origin.x + 4, origin.y - 26}, absl::StrCat(measures_.column_axis, " \u2192"), name);
    }
    name.anchor = "end";
    if (!measures_.row_axis.empty())
      canvas_.AddText({origin.x - 8, origin.y - 9}, absl::StrCat(measures_.row_axis, " \u2193"), name);
    TextStyle label;
    label.size = 12;
    label.color = palette_.muted;
    label.is_mono = true;
    label.anchor = "middle";
    for (size_t i = 0; i < figure_.columns.size(); ++i) {
      if (!figure_.columns[i].label.empty()) {
        canvas_.AddText({origin.x + (measures_.column_x[i] + measures_.column_x[i + 1]) / 2, origin.y - 9},
                        figure_.columns[i].label, label);
      }
    }
    label.anchor = "end";
    for (size_t i = 0; i < figure_.rows.size(); ++i) {
      if (!figure_.rows[i].label.empty()) {
        canvas_.AddText({origin.x - 8, origin.y + (measures_.row_y[i] + measures_.row_y[i + 1]) / 2 + 4},
                        figure_.rows[i].label, label);
      }
    }
  }

  void AddBackgrounds(Point origin, const LayoutFigure::Slice& slice) {
    canvas_.Append("<g stroke=\"", palette_.hairline, "\" stroke-width=\"1\">\n");
    for (const Cell& cell : slice.cells) {
      const Point at = {origin.x + measures_.column_x[cell.column], origin.y + measures_.row_y[cell.row]};
      const Point size = {measures_.column_x[cell.column + 1] - measures_.column_x[cell.column],
                          measures_.row_y[cell.row + 1] - measures_.row_y[cell.row]};
      if (cell.is_element) {
        canvas_.AddRect(at, size, absl::StrCat("fill=\"", palette_.tints[static_cast<size_t>(cell.tint)], "\""));
      } else {
        canvas_.AddRect(at, size, "fill=\"url(#kashi-padding)\"");
      }
    }
    canvas_.Append("</g>\n");
  }

  // Finer borders first, so that the bold ones lie on top.
  void AddBorders(Point origin) {
    canvas_.Append("<g fill=\"none\">\n");
    const Point end = {origin.x + measures_.column_x.back(), origin.y + measures_.row_y.back()};
    for (auto level = strokes_.outlined().rbegin(); level != strokes_.outlined().rend(); ++level) {
      for (const int x : BorderPlaces(figure_.columns, measures_.column_x, *level)) {
        canvas_.AddLine({origin.x + x, origin.y}, {origin.x + x, end.y}, strokes_.Of(*level));
      }
      for (const int y : BorderPlaces(figure_.rows, measures_.row_y, *level)) {
        canvas_.AddLine({origin.x, origin.y + y}, {end.x, origin.y + y}, strokes_.Of(*level));
      }
    }
    canvas_.Append("</g>\n");
    canvas_.AddRect(origin, {measures_.column_x.back(), measures_.row_y.back()},
                    absl::StrCat("fill=\"none\" stroke=\"", palette_.ink, "\" stroke-width=\"",
                                 strokes_.outlined().empty() ? "1.4" : "2.8", "\""));
  }

  void AddNumbers(Point origin, const LayoutFigure::Slice& slice) {
    canvas_.Append("<g font-size=\"13\" text-anchor=\"middle\" fill=\"", palette_.ink, "\" font-family=\"", kMono,
                   "\">\n");
    for (const Cell& cell : slice.cells) {
      if (!cell.is_element) continue;
      const Point at = measures_.Center(origin, cell.row, cell.column);
      canvas_.Append("<text x=\"", at.x, "\" y=\"", at.y + 5, "\">", Escape(ToString(cell, options_.cell_text)),
                     "</text>\n");
    }
    canvas_.Append("</g>\n");
  }

  void AddEllipses(Point origin) {
    TextStyle style;
    style.anchor = "middle";
    style.color = palette_.muted;
    style.size = 15;
    for (size_t r = 0; r < figure_.rows.size(); ++r) {
      for (size_t c = 0; c < figure_.columns.size(); ++c) {
        const bool is_row = figure_.rows[r].is_ellipsis;
        const bool is_column = figure_.columns[c].is_ellipsis;
        if (!is_row && !is_column) continue;
        const Point at = measures_.Center(origin, static_cast<int>(r), static_cast<int>(c));
        canvas_.AddText({at.x, at.y + 5}, is_row && is_column ? "\u22f1" : is_row ? "\u22ee" : "\u22ef", style);
      }
    }
  }

  std::string Prolog(int height) const {
    const int width = canvas_.right() + kMargin;
    return absl::StrCat(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width,
        "\" height=\"", height, "\" viewBox=\"0 0 ", width, " ", height, "\" role=\"img\" font-family=\"", kSans,
        "\">\n<title>", Escape(Shorten(figure_.title)), "</title>\n<desc>", Escape(Description()), "</desc>\n",
        "<defs><pattern id=\"kashi-padding\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\"><rect width=\"7\" height=\"7\" fill=\"",
        palette_.padding, "\"/><path d=\"M0 0V7\" stroke=\"", palette_.padding_hatch,
        "\" stroke-width=\"1.8\"/></pattern></defs>\n<rect width=\"", width, "\" height=\"", height, "\" fill=\"",
        palette_.background, "\"/>\n");
  }

  std::string Description() const {
    std::string text = absl::StrCat("Where each element of the array lies in memory. ", figure_.summary, ".");
    for (const std::string& line : AxisLegend(figure_)) absl::StrAppend(&text, " ", Shorten(line), ".");
    return text;
  }

  const LayoutFigure& figure_;
  const SvgOptions& options_;
  SvgCanvas canvas_;
  const Palette& palette_;
  const PanelMeasures measures_;
  const LevelStrokes strokes_;
};

}  // namespace

std::string ToSvg(const LayoutFigure& figure, const SvgOptions& options) {
  return SvgRenderer(figure, options).Render();
}

}  // namespace kashi
