#include "kashi/draw/svg_canvas.h"

#include <algorithm>

namespace kashi::draw {

const Palette kLightPalette = {
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
const Palette kDarkPalette = {
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

void SvgCanvas::AddText(Point at, absl::string_view text, const TextStyle& style) {
  absl::StrAppend(&body_, "<text x=\"", at.x, "\" y=\"", at.y, "\" font-size=\"", style.size, "\" fill=\"",
                  style.color.empty() ? palette_.ink : style.color, "\"");
  if (style.anchor != "start") absl::StrAppend(&body_, " text-anchor=\"", style.anchor, "\"");
  if (style.is_mono) absl::StrAppend(&body_, " font-family=\"", kMono, "\"");
  if (style.is_bold) absl::StrAppend(&body_, " font-weight=\"600\"");
  absl::StrAppend(&body_, ">", Escape(text), "</text>\n");
  const int width = style.is_mono ? MonoWidth(text.size(), style.size) : SansWidth(text, style.size);
  if (style.anchor == "start") Reach(at.x + width);
}

void SvgCanvas::AddRect(Point at, Point size, absl::string_view attributes) {
  absl::StrAppend(&body_, "<rect x=\"", at.x, "\" y=\"", at.y, "\" width=\"", size.x, "\" height=\"", size.y, "\" ",
                  attributes, "/>\n");
}

void SvgCanvas::AddLine(Point from, Point to, const Stroke& stroke) {
  absl::StrAppend(&body_, "<path d=\"M", from.x, " ", from.y, "L", to.x, " ", to.y, "\" stroke=\"", stroke.color,
                  "\" stroke-width=\"", stroke.width, "\" stroke-linecap=\"square\"");
  if (!stroke.dashes.empty()) absl::StrAppend(&body_, " stroke-dasharray=\"", stroke.dashes, "\"");
  absl::StrAppend(&body_, "/>\n");
}

void SvgCanvas::Reach(int x) { right_ = std::max(right_, x); }

}  // namespace kashi::draw
