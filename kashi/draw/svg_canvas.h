// An SVG in the making: text, rectangles and lines in whole units, and how far they reach to the right.
#ifndef KASHI_DRAW_SVG_CANVAS_H_
#define KASHI_DRAW_SVG_CANVAS_H_

#include <array>
#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace kashi::draw {

inline constexpr absl::string_view kSans =
    "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif";
inline constexpr absl::string_view kMono = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace";

std::string Escape(absl::string_view text);

// Upper bounds for common fonts, in tenths of the size: DejaVu, which is wide.
inline int MonoWidth(size_t characters, int size) { return static_cast<int>(characters) * size * 61 / 100 + 1; }
inline int SansWidth(absl::string_view text, int size) { return static_cast<int>(text.size()) * size * 60 / 100 + 1; }

// The look of the borders of one level.
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
extern const Palette kLightPalette;
extern const Palette kDarkPalette;

struct Point {
  int x = 0;
  int y = 0;
};

struct TextStyle {
  int size = 13;
  absl::string_view color = {};  // empty: the palette's ink
  absl::string_view anchor = "start";
  bool is_mono = false;
  bool is_bold = false;
};

class SvgCanvas {
 public:
  explicit SvgCanvas(const Palette& palette) : palette_(palette) {}

  const Palette& palette() const { return palette_; }
  const std::string& body() const { return body_; }
  // The right end of everything drawn so far.
  int right() const { return right_; }

  void AddText(Point at, absl::string_view text, const TextStyle& style);
  void AddRect(Point at, Point size, absl::string_view attributes);
  void AddLine(Point from, Point to, const Stroke& stroke);
  template <typename... Parts>
  void Append(const Parts&... parts) {
    absl::StrAppend(&body_, parts...);
  }
  void Reach(int x);

 private:
  const Palette& palette_;
  std::string body_;
  int right_ = 0;
};

}  // namespace kashi::draw

#endif  // KASHI_DRAW_SVG_CANVAS_H_
