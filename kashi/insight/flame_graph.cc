#include "kashi/insight/flame_graph.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kashi/base/text.h"
#include "kashi/draw/svg_canvas.h"

namespace kashi::insight {

using draw::SansWidth;
namespace {

constexpr int kMargin = 10, kRowHeight = 22, kFontSize = 12, kPadding = 4;
constexpr int kHeaderHeight = 62, kFooterHeight = 30;
constexpr double kNarrowest = 0.5;
constexpr int kColors = 6;

// Tints that stay apart with any colour vision (after Okabe and Ito), for light and for dark pages. Boxes whose names
// differ only in a number at the end have one colour.
constexpr absl::string_view kStyle = R"(<style>
  .page{fill:#ffffff}.ink{fill:#1b1b1b}.muted{fill:#5a5a5a}
  rect.box{stroke:#ffffff;stroke-width:1}
  .total{fill:#d9d9d9}
  .c0{fill:#a8d3f0}.c1{fill:#f7cf82}.c2{fill:#96dcc1}.c3{fill:#ecb8d4}.c4{fill:#f5b695}.c5{fill:#efe68a}
  g:hover>rect.box{stroke:#1b1b1b}
  @media(prefers-color-scheme:dark){
    .page{fill:#16181c}.ink{fill:#f2f2f2}.muted{fill:#b0b0b0}
    rect.box{stroke:#16181c}
    .total{fill:#44484f}
    .c0{fill:#1d5f8c}.c1{fill:#85560a}.c2{fill:#0d6a4e}.c3{fill:#7c3d62}.c4{fill:#8d4220}.c5{fill:#655f12}
    g:hover>rect.box{stroke:#f2f2f2}
  }
</style>
)";

// Names come from a file, which may have any bytes.
std::string Escape(absl::string_view text) { return draw::Escape(base::Printable(text)); }

// The longest beginning of a UTF-8 text that is not longer than `bytes`.
absl::string_view Beginning(absl::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

// "layer_12": "layer_".
absl::string_view WithoutNumber(absl::string_view name) {
  while (!name.empty() && absl::ascii_isdigit(name.back())) name.remove_suffix(1);
  return name;
}

class Drawing {
 public:
  Drawing(const Breakdown& breakdown, const FlameGraphOptions& options)
      : breakdown_(breakdown), options_(options), width_(std::max(options.width, 300)) {}

  std::string Draw() && {
    total_ = ValueOf(0);
    AddBoxes();
    const int rows = deepest_ + 1;
    const int height = kHeaderHeight + rows * kRowHeight + kFooterHeight;
    std::string svg = absl::StrFormat(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" "
        "font-family=\"%s\" font-size=\"%d\">\n<title>%s</title>\n",
        width_, height, width_, height, draw::kSans, kFontSize, Escape(options_.title));
    absl::StrAppend(&svg, kStyle);
    absl::StrAppendFormat(&svg, "<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n", width_, height);
    AddText(26, "ink", "font-size=\"17\" font-weight=\"600\"", options_.title, &svg);
    AddText(48, "muted", "", options_.subtitle, &svg);
    absl::StrAppend(&svg, boxes_);
    AddText(height - 10, "muted", "", Footer(), &svg);
    return absl::StrCat(svg, "</svg>\n");
  }

 private:
  double ValueOf(int64_t node) const { return std::max(0.0, breakdown_.nodes()[node].sum[options_.measure]); }
  int inner_width() const { return width_ - 2 * kMargin; }

  void AddText(int y, absl::string_view css_class, absl::string_view attributes, const std::string& text,
               std::string* svg) const {
    absl::StrAppendFormat(svg, "<text class=\"%s\" x=\"%d\" y=\"%d\" %s>%s</text>\n", css_class, kMargin, y, attributes,
                          Escape(text));
  }

  std::string Footer() const {
    std::string text =
        absl::StrCat("Boxes are as wide as their part of ", breakdown_.measures()[options_.measure], ".");
    if (left_out_ == 1) absl::StrAppend(&text, " One box narrower than half a pixel is not drawn.");
    if (left_out_ > 1) absl::StrAppend(&text, " ", left_out_, " boxes narrower than half a pixel are not drawn.");
    return text;
  }

  struct Waiting {
    int64_t node;
    double x;
  };

  // Depth first, so that boxes follow in the order in which one reads them.
  void AddBoxes() {
    std::vector<Waiting> waiting = {{0, 0}};
    while (!waiting.empty()) {
      const Waiting next = waiting.back();
      waiting.pop_back();
      AddBox(next);
      const Breakdown::Node& node = breakdown_.nodes()[next.node];
      double x = next.x;
      std::vector<Waiting> children;
      for (const int64_t child : node.children) {
        const double width = WidthOf(child);
        if (width >= kNarrowest) {
          children.push_back({child, x});
        } else {
          ++left_out_;
        }
        x += width;
      }
      waiting.insert(waiting.end(), children.rbegin(), children.rend());
    }
  }

  double WidthOf(int64_t node) const { return total_ > 0 ? inner_width() * (ValueOf(node) / total_) : 0; }

  void AddBox(const Waiting& box) {
    const Breakdown::Node& node = breakdown_.nodes()[box.node];
    const double value = ValueOf(box.node), width = box.node == 0 ? inner_width() : WidthOf(box.node);
    deepest_ = std::max(deepest_, static_cast<int>(node.depth));
    const std::string name = box.node == 0 ? "total" : node.name;
    const std::string path = box.node == 0 ? name : breakdown_.PathOf(box.node, options_.separator);
    const std::string share = absl::StrFormat("%.3g %%", total_ > 0 ? 100 * value / total_ : 0);
    const std::string amount = absl::StrCat(options_.value_text(value), ", ", share);
    const double y = kHeaderHeight + node.depth * kRowHeight;
    const std::string color = box.node == 0 ? "total" : absl::StrCat("c", ColorOf(name));
    absl::StrAppendFormat(
        &boxes_, "<g><title>%s\n%s</title><rect class=\"box %s\" x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\"/>",
        Escape(path), Escape(amount), color, kMargin + box.x, y, width, kRowHeight - 1);
    const std::string label = LabelOf(name, {amount, share}, width - 2 * kPadding);
    if (!label.empty()) {
      absl::StrAppendFormat(&boxes_, "<text class=\"ink\" x=\"%.2f\" y=\"%.0f\">%s</text>", kMargin + box.x + kPadding,
                            y + 15, Escape(label));
    }
    absl::StrAppend(&boxes_, "</g>\n");
  }

  int ColorOf(absl::string_view name) {
    return colors_.try_emplace(std::string(WithoutNumber(name)), static_cast<int>(colors_.size()) % kColors)
        .first->second;
  }

  // The name with the first of these details, the name, or its beginning, as it fits.
  static std::string LabelOf(const std::string& name, const std::vector<std::string>& details, double width) {
    for (const std::string& detail : details) {
      std::string label = absl::StrCat(name, "  ", detail);
      if (SansWidth(label, kFontSize) <= width) return label;
    }
    if (SansWidth(name, kFontSize) <= width) return name;
    const double character = static_cast<double>(SansWidth("n", kFontSize));
    const auto fits = static_cast<int64_t>(width / character) - 2;
    return fits < 2 ? "" : absl::StrCat(Beginning(name, static_cast<size_t>(fits)), "…");
  }

  const Breakdown& breakdown_;
  const FlameGraphOptions& options_;
  const int width_;
  double total_ = 0;
  int deepest_ = 0;
  int64_t left_out_ = 0;
  std::string boxes_;
  absl::flat_hash_map<std::string, int> colors_;  // by name without its number
};

}  // namespace

std::string FlameGraphSvg(const Breakdown& breakdown, const FlameGraphOptions& options) {
  return Drawing(breakdown, options).Draw();
}

}  // namespace kashi::insight
