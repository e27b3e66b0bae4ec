// Entry point: ToSvg.
//
// Everything is placed in whole or half units by the widths below; text is measured by a generous guess, because the
// fonts of the reader are not known. Attributes only: a style sheet would leak into the page that shows the figure.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/draw/layout_figure.h"
#include "kashi/draw/legend.h"

namespace kashi {
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

// Colours that stay apart with any colour vision (after Okabe and Ito), and in grey.
constexpr std::array<absl::string_view, 4> kTints = {"#dcebf7", "#fdebd0", "#f1e4f1", "#d9f0e6"};
constexpr absl::string_view kInk = "#1b1b1b";
constexpr absl::string_view kMuted = "#5a5a5a";
constexpr absl::string_view kHairline = "#c4c8cc";
constexpr absl::string_view kPathColor = "#c8450b";
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

// How borders of each level look, the coarsest first.
struct Stroke {
  absl::string_view color;
  absl::string_view width;
  absl::string_view dashes;
};
constexpr std::array<Stroke, 4> kStrokes = {
    {{"#1b1b1b", "2.8", ""}, {"#0072b2", "1.6", ""}, {"#00795a", "1.4", "5 2.5"}, {"#9a3a78", "1.2", "2 2"}}};

struct Point {
  int x = 0;
  int y = 0;
};

class SvgRenderer {
 public:
  SvgRenderer(const LayoutFigure& figure, const SvgOptions& options) : figure_(figure), options_(options) { Measure(); }

  std::string Render() && {
    int y = AddHeading();
    y = AddPanels(y);
    y = AddLegend(y);
    const int height = y + kMargin - 8;
    return absl::StrCat(Prolog(height), body_, "</svg>\n");
  }

 private:
  struct TextStyle {
    int size = 13;
    absl::string_view color = kInk;
    absl::string_view anchor = "start";
    bool is_mono = false;
    bool is_bold = false;
    absl::string_view halo = {};  // a colour behind the glyphs, so that lines do not touch them
  };

  void AddText(Point at, absl::string_view text, const TextStyle& style) {
    absl::StrAppend(&body_, "<text x=\"", at.x, "\" y=\"", at.y, "\" font-size=\"", style.size, "\" fill=\"",
                    style.color, "\"");
    if (style.anchor != "start") absl::StrAppend(&body_, " text-anchor=\"", style.anchor, "\"");
    if (style.is_mono) absl::StrAppend(&body_, " font-family=\"", kMono, "\"");
    if (style.is_bold) absl::StrAppend(&body_, " font-weight=\"600\"");
    if (!style.halo.empty()) {
      absl::StrAppend(&body_, " stroke=\"", style.halo,
                      "\" stroke-width=\"5\" stroke-linejoin=\"round\" paint-order=\"stroke\"");
    }
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
    text.color = kMuted;
    y += 4;
    AddText({kMargin, y += kTextLine}, figure_.summary, text);
    for (const std::string& line : internal::AxisLegend(figure_)) {
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
    style.color = kMuted;
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
    name.color = "#0a4f7d";
    if (!column_axis_.empty() && column_axis_ != row_axis_) {
      AddText({origin.x + 4, origin.y - 26}, absl::StrCat(column_axis_, " \u2192"), name);
    }
    name.anchor = "end";
    if (!row_axis_.empty()) AddText({origin.x - 8, origin.y - 9}, absl::StrCat(row_axis_, " \u2193"), name);
    TextStyle label;
    label.size = 12;
    label.color = kMuted;
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
    absl::StrAppend(&body_, "<g stroke=\"", kHairline, "\" stroke-width=\"1\">\n");
    for (const Cell& cell : slice.cells) {
      const Point at = {origin.x + column_x_[cell.column], origin.y + row_y_[cell.row]};
      const Point size = {column_x_[cell.column + 1] - column_x_[cell.column], row_y_[cell.row + 1] - row_y_[cell.row]};
      if (cell.is_element) {
        AddRect(at, size, absl::StrCat("fill=\"", kTints[static_cast<size_t>(cell.tint)], "\""));
      } else {
        AddRect(at, size, "fill=\"url(#kashi-padding)\"");
      }
    }
    absl::StrAppend(&body_, "</g>\n");
  }

  const Stroke& StrokeOf(int border) const {
    const auto at = std::find(outlined_.begin(), outlined_.end(), border) - outlined_.begin();
    return kStrokes[std::min<size_t>(static_cast<size_t>(at), kStrokes.size() - 1)];
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
            outlined_.empty() ? "fill=\"none\" stroke=\"#1b1b1b\" stroke-width=\"1.4\""
                              : "fill=\"none\" stroke=\"#1b1b1b\" stroke-width=\"2.8\"");
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

  // Numbers are drawn over it. Long ways back are faint: they would cover more than they tell.
  void AddPaths(Point origin) {
    std::string steps;
    std::string jumps;
    std::string arrows;
    for (const LayoutFigure::Path& path : figure_.paths) {
      std::string arrow;
      for (size_t i = 1; i < path.size(); ++i) {
        const Point from = Center(origin, path[i - 1].first, path[i - 1].second);
        const Point to = Center(origin, path[i].first, path[i].second);
        const bool is_jump = std::abs(path[i].second - path[i - 1].second) > 4;
        absl::StrAppend(is_jump ? &jumps : &steps, "M", from.x, " ", from.y, "L", to.x, " ", to.y);
        const int cells =
            std::max({1, std::abs(path[i].first - path[i - 1].first), std::abs(path[i].second - path[i - 1].second)});
        if (!is_jump) arrow = Arrow(from, to, 1 - 0.5 / cells);
      }
      arrows += arrow;
    }
    const auto add = [&](absl::string_view path, absl::string_view attributes) {
      if (!path.empty()) absl::StrAppend(&body_, "<path d=\"", path, "\" ", attributes, "/>\n");
    };
    const std::string color = absl::StrCat("fill=\"none\" stroke=\"", kPathColor, "\" ");
    add(jumps, absl::StrCat(color, "stroke-width=\"1\" stroke-opacity=\"0.45\" stroke-dasharray=\"4 3\""));
    add(steps, absl::StrCat(color, "stroke-width=\"1.7\" stroke-opacity=\"0.75\" stroke-linecap=\"round\""));
    add(arrows, absl::StrCat("fill=\"", kPathColor, "\""));
  }

  // A triangle on a step at `place` (0: its start, 1: its end): half a cell before the end, numbers leave room.
  static std::string Arrow(Point from, Point to, double place) {
    const double dx = to.x - from.x;
    const double dy = to.y - from.y;
    const double length = std::max(std::hypot(dx, dy), 1.0);
    const double x = from.x + dx * place;
    const double y = from.y + dy * place;
    const auto point = [&](double along, double across) {
      const auto tenths = [](double v) {
        const long n = std::lround(v * 10);
        return absl::StrCat(n / 10, ".", n % 10);
      };
      return absl::StrCat(tenths(x + (along * dx - across * dy) / length), " ",
                          tenths(y + (along * dy + across * dx) / length));
    };
    return absl::StrCat("M", point(5, 0), "L", point(-4, 4), "L", point(-4, -4), "Z");
  }

  void AddNumbers(Point origin, const LayoutFigure::Slice& slice) {
    absl::StrAppend(&body_, "<g font-size=\"13\" text-anchor=\"middle\" fill=\"", kInk, "\" font-family=\"", kMono,
                    "\">\n");
    for (const Cell& cell : slice.cells) {
      if (!cell.is_element) continue;
      const Point at = Center(origin, cell.row, cell.column);
      const absl::string_view tint = kTints[static_cast<size_t>(cell.tint)];
      absl::StrAppend(&body_, "<text x=\"", at.x, "\" y=\"", at.y + 5, "\" stroke=\"", tint,
                      "\" stroke-width=\"5\" stroke-linejoin=\"round\" paint-order=\"stroke\">",
                      Escape(ToString(cell, options_.cell_text)), "</text>\n");
    }
    absl::StrAppend(&body_, "</g>\n");
  }

  void AddEllipses(Point origin) {
    TextStyle style;
    style.anchor = "middle";
    style.color = kMuted;
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
      AddRect({kMargin, y + 4}, {kLegendMark, 19}, absl::StrCat("fill=\"", kTints[0], "\" stroke=\"", kHairline, "\""));
      TextStyle number;
      number.is_mono = true;
      number.anchor = "middle";
      AddText({kMargin + kLegendMark / 2, y + 18}, options_.cell_text == CellText::kPhysical ? "17" : "2,3", number);
      add(internal::NumberLegend(options_.cell_text));
    }
    if (has_padding_) {
      AddRect({kMargin, y + 4}, {kLegendMark, 19},
              absl::StrCat("fill=\"url(#kashi-padding)\" stroke=\"", kHairline, "\""));
      add(internal::kPaddingLegend);
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
      const Point from = {kMargin + 2, y + 13};
      const Point to = {kMargin + kLegendMark - 2, y + 13};
      absl::StrAppend(&body_, "<path d=\"M", from.x, " ", from.y, "H", to.x, "\" stroke=\"", kPathColor,
                      "\" stroke-width=\"1.7\" stroke-opacity=\"0.75\"/>\n<path d=\"", Arrow(from, to, 0.5),
                      "\" fill=\"", kPathColor, "\"/>\n");
      add(figure_.path_description);
    }
    if (figure_.is_cut()) {
      TextStyle mark;
      mark.anchor = "middle";
      mark.color = kMuted;
      mark.size = 15;
      AddText({kMargin + kLegendMark / 2, y + 18}, "\u22ef", mark);
      add(internal::kEllipsisLegend);
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
        "patternTransform=\"rotate(45)\"><rect width=\"7\" height=\"7\" fill=\"#f6f6f6\"/>"
        "<path d=\"M0 0V7\" stroke=\"#9aa0a6\" stroke-width=\"1.8\"/></pattern></defs>\n<rect width=\"",
        width, "\" height=\"", height, "\" fill=\"#ffffff\"/>\n");
  }

  std::string Description() const {
    std::string text = absl::StrCat("Where each element of the array lies in memory. ", figure_.summary, ".");
    for (const std::string& line : internal::AxisLegend(figure_)) absl::StrAppend(&text, " ", Shorten(line), ".");
    return text;
  }

  const LayoutFigure& figure_;
  const SvgOptions& options_;
  std::string body_;
  std::string row_axis_;
  std::string column_axis_;
  std::vector<int> column_x_;
  std::vector<int> row_y_;
  std::vector<int> outlined_;  // levels, as borders name them
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
