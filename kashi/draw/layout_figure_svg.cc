// Entry point: ToSvg.
//
// Everything is placed in whole or half units by the widths below; text is measured by a generous guess, because the
// fonts of the reader are not known. Attributes only: a style sheet would leak into the page that shows the figure.
#include <algorithm>
#include <array>
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

namespace kashi {

using internal::AxisLegend;
using internal::kEllipsisLegend;
using internal::kPaddingLegend;
using internal::NumberLegend;
namespace {

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

constexpr absl::string_view kSans = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif";
constexpr absl::string_view kMono = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace";

std::string Escape(absl::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

std::string Shorten(const std::string& text) {
  return text.size() <= kMaxTitle ? text : absl::StrCat(text.substr(0, kMaxTitle - 3), "...");
}

// Upper bounds for common fonts, in tenths of the size: DejaVu, which is wide.
int MonoWidth(size_t characters, int size) { return static_cast<int>(characters) * size * 61 / 100 + 1; }
int SansWidth(absl::string_view text, int size) { return static_cast<int>(text.size()) * size * 60 / 100 + 1; }

// How the borders of one level look.
struct Stroke {
  absl::string_view color;
  absl::string_view width;
  absl::string_view dashes;
};

// Colours that stay apart with any colour vision (after Okabe and Ito), and in grey.
struct Palette {
  absl::string_view background;
  std::array<absl::string_view, 4> tints;
  absl::string_view ink;
  absl::string_view muted;
  absl::string_view hairline;
  absl::string_view path;
  absl::string_view axis_name;
  absl::string_view padding;
  absl::string_view padding_hatch;
  std::array<Stroke, 4> strokes;  // the coarsest level first
};
constexpr Palette kLight = {
    "#ffffff",
    {"#dcebf7", "#fdebd0", "#f1e4f1", "#d9f0e6"},
    "#1b1b1b",
    "#5a5a5a",
    "#c4c8cc",
    "#c8450b",
    "#0a4f7d",
    "#f6f6f6",
    "#9aa0a6",
    {{{"#1b1b1b", "2.8", ""}, {"#0072b2", "1.6", ""}, {"#00795a", "1.4", "5 2.5"}, {"#9a3a78", "1.2", "2 2"}}}};
constexpr Palette kDark = {
    "#16191d",
    {"#1f3547", "#453619", "#3f2b3f", "#1d3d31"},
    "#f0f2f4",
    "#a9b0b7",
    "#4b535b",
    "#ff9b66",
    "#8cc8f0",
    "#22262b",
    "#6b737b",
    {{{"#f0f2f4", "2.8", ""}, {"#56b4e9", "1.6", ""}, {"#2fc79a", "1.4", "5 2.5"}, {"#e29bc8", "1.2", "2 2"}}}};

struct Point {
  int x = 0;
  int y = 0;
};

class SvgRenderer {
 public:
  SvgRenderer(const LayoutFigure& figure, const SvgOptions& options)
      : figure_(figure), options_(options), palette_(options.dark ? kDark : kLight) {
    Measure();
  }

  std::string Render() && {
    int y = options_.show_title ? AddHeading() : kMargin;
    y = AddPanels(y);
    if (options_.show_legend) y = AddLegend(y);
    const int height = y + kMargin - 8;
    return absl::StrCat(Prolog(height), body_, "</svg>\n");
  }

 private:
  struct TextStyle {
    int size = 13;
    absl::string_view color = {};  // empty: the palette's ink
    absl::string_view anchor = "start";
    bool is_mono = false;
    bool is_bold = false;
  };

  void AddText(Point at, absl::string_view text, const TextStyle& style) {
    absl::StrAppend(&body_, "<text x=\"", at.x, "\" y=\"", at.y, "\" font-size=\"", style.size, "\" fill=\"",
                    style.color.empty() ? palette_.ink : style.color, "\"");
    if (style.anchor != "start") absl::StrAppend(&body_, " text-anchor=\"", style.anchor, "\"");
    if (style.is_mono) absl::StrAppend(&body_, " font-family=\"", kMono, "\"");
    if (style.is_bold) absl::StrAppend(&body_, " font-weight=\"600\"");
    absl::StrAppend(&body_, ">", Escape(text), "</text>\n");
    const int width = style.is_mono ? MonoWidth(text.size(), style.size) : SansWidth(text, style.size);
    if (style.anchor == "start") Reach(at.x + width);
  }

  void AddRect(Point at, Point size, absl::string_view attributes) {
    absl::StrAppend(&body_, "<rect x=\"", at.x, "\" y=\"", at.y, "\" width=\"", size.x, "\" height=\"", size.y, "\" ",
                    attributes, "/>\n");
  }

  void AddLine(Point from, Point to, const Stroke& stroke) {
    absl::StrAppend(&body_, "<path d=\"M", from.x, " ", from.y, "L", to.x, " ", to.y, "\" stroke=\"", stroke.color,
                    "\" stroke-width=\"", stroke.width, "\" stroke-linecap=\"square\"");
    if (!stroke.dashes.empty()) absl::StrAppend(&body_, " stroke-dasharray=\"", stroke.dashes, "\"");
    absl::StrAppend(&body_, "/>\n");
  }

  void Reach(int x) { right_ = std::max(right_, x); }

  // ---- measures -----------------------------------------------------------------------------------------------------

  void Measure() {
    size_t characters = 2;
    for (const LayoutFigure::Slice& slice : figure_.slices) {
      for (const Cell& cell : slice.cells) characters = std::max(characters, ToString(cell, options_.cell_text).size());
    }
    cell_width_ = std::max(36, MonoWidth(characters, 13) + 14);
    size_t label = 0;
    for (const Line& row : figure_.rows) label = std::max(label, row.label.size());
    for (const LayoutFigure::Axis& axis : figure_.axes) {
      if (axis.role == LayoutFigure::Axis::Role::kRow) row_axis_ = axis.name;
      if (axis.role == LayoutFigure::Axis::Role::kColumn) column_axis_ = axis.name;
    }
    label_width_ = row_axis_.empty() ? 4 : std::max(MonoWidth(label, 12), MonoWidth(row_axis_.size() + 2, 13)) + 10;
    column_x_ = Edges(figure_.columns, cell_width_);
    row_y_ = Edges(figure_.rows, kCellHeight);
    for (size_t i = 0; i < figure_.levels.size(); ++i) {
      if (figure_.levels[i].is_outlined) outlined_.push_back(static_cast<int>(i) + 1);
    }
    for (const LayoutFigure::Slice& slice : figure_.slices) {
      for (const Cell& cell : slice.cells) has_padding_ = has_padding_ || !cell.is_element;
    }
  }

  // Where lines begin, and where the last one ends.
  static std::vector<int> Edges(const std::vector<Line>& lines, int size) {
    std::vector<int> edges = {0};
    for (const Line& line : lines) edges.push_back(edges.back() + (line.is_ellipsis ? kEllipsisSize : size));
    return edges;
  }

  bool HasCaptions() const {
    return figure_.slices.size() > 1 || (!figure_.slices.empty() && !figure_.slices.front().line.label.empty());
  }
  int PanelTop() const { return (HasCaptions() ? 24 : 0) + (column_axis_.empty() ? 4 : 40); }
  Point PanelSize() const { return {label_width_ + column_x_.back(), PanelTop() + row_y_.back()}; }

  // ---- heading ------------------------------------------------------------------------------------------------------

  int AddHeading() {
    TextStyle title;
    title.size = 17;
    title.is_mono = true;
    title.is_bold = true;
    int y = kMargin + 14;
    AddText({kMargin, y}, Shorten(figure_.title), title);
    TextStyle text;
    text.color = palette_.muted;
    y += 4;
    AddText({kMargin, y += kTextLine}, figure_.summary, text);
    for (const std::string& line : AxisLegend(figure_)) {
      AddText({kMargin, y += kTextLine}, Shorten(line), text);
    }
    return y + 16;
  }

  // ---- panels: one a slice ------------------------------------------------------------------------------------------

  int AddPanels(int top) {
    const Point size = PanelSize();
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
        AddSliceEllipsis({at.x + width / 2, at.y + PanelTop() + row_y_.back() / 2}, slice.line.count);
      } else {  // a line of its own
        AddSliceEllipsis({at.x + label_width_ + width / 2, at.y}, slice.line.count);
        bottom = at.y + 12;  // of its text, if nothing follows
        at.y += kPanelGap;
        continue;
      }
      Reach(at.x + width + 3);
      at.x += width + kPanelGap;
    }
    return bottom + 14;
  }

  void AddSliceEllipsis(Point middle, int64_t count) {
    TextStyle style;
    style.anchor = "middle";
    style.color = palette_.muted;
    AddText({middle.x, middle.y - 6}, "\u22ef", style);
    AddText({middle.x, middle.y + 12}, absl::StrCat(count, count == 1 ? " more slice" : " more slices"), style);
  }

  void AddPanel(Point at, const LayoutFigure::Slice& slice) {
    if (HasCaptions()) {
      TextStyle caption;
      caption.is_bold = true;
      AddText({at.x + label_width_, at.y + 14}, slice.line.label.empty() ? "padding" : Shorten(slice.line.label),
              caption);
    }
    const Point origin = {at.x + label_width_, at.y + PanelTop()};
    AddAxes(origin);
    AddBackgrounds(origin, slice);
    AddBorders(origin);
    if (options_.show_path && &slice == &figure_.slices.front()) AddPaths(origin);
    AddNumbers(origin, slice);
    AddEllipses(origin);
  }

  Point Center(Point origin, int row, int column) const {
    return {origin.x + (column_x_[column] + column_x_[column + 1]) / 2, origin.y + (row_y_[row] + row_y_[row + 1]) / 2};
  }

  void AddAxes(Point origin) {
    TextStyle name;
    name.is_mono = true;
    name.is_bold = true;
    name.color = palette_.axis_name;
    if (!column_axis_.empty() && column_axis_ != row_axis_) {
      AddText({origin.x + 4, origin.y - 26}, absl::StrCat(column_axis_, " \u2192"), name);
    }
    name.anchor = "end";
    if (!row_axis_.empty()) AddText({origin.x - 8, origin.y - 9}, absl::StrCat(row_axis_, " \u2193"), name);
    TextStyle label;
    label.size = 12;
    label.color = palette_.muted;
    label.is_mono = true;
    label.anchor = "middle";
    for (size_t i = 0; i < figure_.columns.size(); ++i) {
      if (!figure_.columns[i].label.empty()) {
        AddText({origin.x + (column_x_[i] + column_x_[i + 1]) / 2, origin.y - 9}, figure_.columns[i].label, label);
      }
    }
    label.anchor = "end";
    for (size_t i = 0; i < figure_.rows.size(); ++i) {
      if (!figure_.rows[i].label.empty()) {
        AddText({origin.x - 8, origin.y + (row_y_[i] + row_y_[i + 1]) / 2 + 4}, figure_.rows[i].label, label);
      }
    }
  }

  void AddBackgrounds(Point origin, const LayoutFigure::Slice& slice) {
    absl::StrAppend(&body_, "<g stroke=\"", palette_.hairline, "\" stroke-width=\"1\">\n");
    for (const Cell& cell : slice.cells) {
      const Point at = {origin.x + column_x_[cell.column], origin.y + row_y_[cell.row]};
      const Point size = {column_x_[cell.column + 1] - column_x_[cell.column], row_y_[cell.row + 1] - row_y_[cell.row]};
      if (cell.is_element) {
        AddRect(at, size, absl::StrCat("fill=\"", palette_.tints[static_cast<size_t>(cell.tint)], "\""));
      } else {
        AddRect(at, size, "fill=\"url(#kashi-padding)\"");
      }
    }
    absl::StrAppend(&body_, "</g>\n");
  }

  const Stroke& StrokeOf(int border) const {
    const auto at = std::find(outlined_.begin(), outlined_.end(), border) - outlined_.begin();
    return palette_.strokes[std::min<size_t>(static_cast<size_t>(at), palette_.strokes.size() - 1)];
  }

  // Finer borders first, so that the bold ones lie on top.
  void AddBorders(Point origin) {
    absl::StrAppend(&body_, "<g fill=\"none\">\n");
    const Point end = {origin.x + column_x_.back(), origin.y + row_y_.back()};
    for (auto level = outlined_.rbegin(); level != outlined_.rend(); ++level) {
      for (const int x : BorderPlaces(figure_.columns, column_x_, *level)) {
        AddLine({origin.x + x, origin.y}, {origin.x + x, end.y}, StrokeOf(*level));
      }
      for (const int y : BorderPlaces(figure_.rows, row_y_, *level)) {
        AddLine({origin.x, origin.y + y}, {end.x, origin.y + y}, StrokeOf(*level));
      }
    }
    absl::StrAppend(&body_, "</g>\n");
    AddRect(origin, {column_x_.back(), row_y_.back()},
            absl::StrCat("fill=\"none\" stroke=\"", palette_.ink, "\" stroke-width=\"",
                         outlined_.empty() ? "1.4" : "2.8", "\""));
  }

  // Inner borders of one level; the frame is drawn apart. On both sides of an ellipsis, where both are borders.
  static std::vector<int> BorderPlaces(const std::vector<Line>& lines, const std::vector<int>& edges, int level) {
    std::vector<int> places;
    for (size_t i = 1; i < lines.size(); ++i) {
      const int before = lines[i - 1].border_after;
      const int after = lines[i].border_before;
      const int border = before == 0 ? after : after == 0 ? before : std::min(before, after);
      if (border == level) places.push_back(edges[i]);
    }
    return places;
  }

  // ---- the order in memory ------------------------------------------------------------------------------------------

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
  std::vector<Place> WayBetween(Point origin, std::pair<int, int> from, std::pair<int, int> to) const {
    const Point a = Center(origin, from.first, from.second);
    const Point b = Center(origin, to.first, to.second);
    const Place begin = {double(a.x), double(a.y)};
    const Place end = {double(b.x), double(b.y)};
    const int rows = to.first - from.first;
    const int columns = to.second - from.second;
    if (std::abs(rows) <= 1 && std::abs(columns) <= 1) return {begin, end};
    const double y = origin.y + row_y_[from.first + (rows >= 0 ? 1 : 0)];       // the border on the way out of the row
    const double x = origin.x + column_x_[to.second + (columns >= 0 ? 0 : 1)];  // and on the way into the column
    if (std::abs(rows) <= 1) return {begin, {begin.x, y}, {end.x, y}, end};
    if (std::abs(columns) <= 1) return {begin, {x, begin.y}, {x, end.y}, end};
    return {begin, {begin.x, y}, {x, y}, {x, end.y}, end};
  }

  // Moves `end` towards `other` until it is out of the number that is written around it.
  static void LeaveNumber(Place* end, const Place& other, int text_width) {
    constexpr double kHalfHeight = 9;
    const double dx = std::abs(other.x - end->x);
    const double dy = std::abs(other.y - end->y);
    const double across = dx > 0 ? (text_width / 2.0 + 2) / dx : 1;
    const double along = dy > 0 ? kHalfHeight / dy : 1;
    const double part = std::min({across, along, 0.5});
    *end = {end->x + (other.x - end->x) * part, end->y + (other.y - end->y) * part};
  }

  // How wide the number in a cell of the first slice is; 0 for padding.
  int NumberWidth(std::pair<int, int> place) const {
    const auto found = number_widths_.find(place);
    return found == number_widths_.end() ? 0 : found->second;
  }

  void MeasureNumbers() {
    for (const Cell& cell : figure_.slices.front().cells) {
      if (!cell.is_element) continue;
      number_widths_[{cell.row, cell.column}] = MonoWidth(ToString(cell, options_.cell_text).size(), 13);
    }
  }

  static std::string Tenths(double v) {
    const long n = std::lround(v * 10);
    return n % 10 == 0 ? absl::StrCat(n / 10) : absl::StrCat(n / 10, ".", n % 10);
  }

  // Ways along borders are faint and dashed, so that they are not taken for borders.
  void AddPaths(Point origin) {
    MeasureNumbers();
    std::string steps;
    std::string jumps;
    std::string arrows;
    for (const LayoutFigure::Path& path : figure_.paths) {
      std::string arrow;
      for (size_t i = 1; i < path.size(); ++i) {
        std::vector<Place> way = WayBetween(origin, path[i - 1], path[i]);
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
      if (!path.empty()) absl::StrAppend(&body_, "<path d=\"", path, "\" ", attributes, "/>\n");
    };
    const std::string color = absl::StrCat("fill=\"none\" stroke=\"", palette_.path, "\" ");
    add(jumps, absl::StrCat(color, "stroke-width=\"1.3\" stroke-opacity=\"0.7\" stroke-dasharray=\"4 3\""));
    add(steps, absl::StrCat(color, "stroke-width=\"1.7\" stroke-opacity=\"0.75\" stroke-linecap=\"round\""));
    add(arrows, absl::StrCat("fill=\"", palette_.path, "\""));
  }

  // A triangle in the middle of a step: numbers leave room there.
  static std::string Arrow(const Place& from, const Place& to) {
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

  void AddNumbers(Point origin, const LayoutFigure::Slice& slice) {
    absl::StrAppend(&body_, "<g font-size=\"13\" text-anchor=\"middle\" fill=\"", palette_.ink, "\" font-family=\"",
                    kMono, "\">\n");
    for (const Cell& cell : slice.cells) {
      if (!cell.is_element) continue;
      const Point at = Center(origin, cell.row, cell.column);
      absl::StrAppend(&body_, "<text x=\"", at.x, "\" y=\"", at.y + 5, "\">",
                      Escape(ToString(cell, options_.cell_text)), "</text>\n");
    }
    absl::StrAppend(&body_, "</g>\n");
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
        const Point at = Center(origin, static_cast<int>(r), static_cast<int>(c));
        AddText({at.x, at.y + 5}, is_row && is_column ? "\u22f1" : is_row ? "\u22ee" : "\u22ef", style);
      }
    }
  }

  // ---- legend -------------------------------------------------------------------------------------------------------

  int AddLegend(int top) {
    int y = top;
    const auto add = [&](absl::string_view text) {
      AddText({kMargin + kLegendMark + 12, y + 18}, text, {});
      y += kLegendLine;
    };
    if (!figure_.slices.empty()) {
      AddRect({kMargin, y + 4}, {kLegendMark, 19},
              absl::StrCat("fill=\"", palette_.tints[0], "\" stroke=\"", palette_.hairline, "\""));
      TextStyle number;
      number.is_mono = true;
      number.anchor = "middle";
      AddText({kMargin + kLegendMark / 2, y + 18}, options_.cell_text == CellText::kPhysical ? "17" : "2,3", number);
      add(NumberLegend(options_.cell_text));
    }
    if (has_padding_) {
      AddRect({kMargin, y + 4}, {kLegendMark, 19},
              absl::StrCat("fill=\"url(#kashi-padding)\" stroke=\"", palette_.hairline, "\""));
      add(kPaddingLegend);
    }
    for (size_t i = 0; i < figure_.levels.size(); ++i) {
      if (figure_.levels[i].is_outlined) {
        const Stroke& stroke = StrokeOf(static_cast<int>(i) + 1);
        AddRect({kMargin + 1, y + 5}, {kLegendMark - 2, 17},
                absl::StrCat("fill=\"none\" stroke=\"", stroke.color, "\" stroke-width=\"", stroke.width,
                             "\" stroke-dasharray=\"", stroke.dashes.empty() ? "none" : stroke.dashes, "\""));
      }
      add(figure_.levels[i].description);
    }
    if (options_.show_path && !figure_.paths.empty()) {
      const Place from = {kMargin + 2, y + 13.0};
      const Place to = {kMargin + kLegendMark - 2, y + 13.0};
      absl::StrAppend(&body_, "<path d=\"M", Tenths(from.x), " ", Tenths(from.y), "H", Tenths(to.x), "\" stroke=\"",
                      palette_.path, "\" stroke-width=\"1.7\" stroke-opacity=\"0.75\"/>\n<path d=\"", Arrow(from, to),
                      "\" fill=\"", palette_.path, "\"/>\n");
      add(figure_.path_description);
    }
    if (figure_.is_cut()) {
      TextStyle mark;
      mark.anchor = "middle";
      mark.color = palette_.muted;
      mark.size = 15;
      AddText({kMargin + kLegendMark / 2, y + 18}, "\u22ef", mark);
      add(kEllipsisLegend);
    }
    for (const std::string& note : figure_.notes) add(note);
    return y;
  }

  std::string Prolog(int height) const {
    const int width = right_ + kMargin;
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
  const Palette& palette_;
  std::string body_;
  std::string row_axis_;
  std::string column_axis_;
  std::vector<int> column_x_;
  std::vector<int> row_y_;
  std::map<std::pair<int, int>, int> number_widths_;  // by row and column
  std::vector<int> outlined_;                         // levels, as borders name them
  int cell_width_ = 0;
  int label_width_ = 0;
  int right_ = 0;
  bool has_padding_ = false;
};

}  // namespace

std::string ToSvg(const LayoutFigure& figure, const SvgOptions& options) {
  return SvgRenderer(figure, options).Render();
}

}  // namespace kashi
