#include "cli/graph_svg.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "cli/graph_figure.h"
#include "cli/operation_kind.h"
#include "kashi/analysis/source_location.h"
#include "kashi/base/text.h"
#include "kashi/draw/svg_canvas.h"
#include "kashi/hlo/ir/hlo_opcode.h"
#include "kashi/insight/execution_counts.h"
#include "kashi/insight/scopes.h"

namespace kashi::cli {
namespace {

constexpr double kMargin = 12, kTitleHeight = 34, kBoxHeight = 36;
constexpr size_t kLongestName = 36, kLongestShape = 48;  // letters in a box
constexpr double kNameWidth = 6.8, kSmallWidth = 6.1;    // of a letter

// The colours of the page of `kashi report`; open boxes alternate.
constexpr absl::string_view kGraphStyle = R"(<style>
  svg{background:#ffffff}
  text{fill:#1b1b1b;font:10px system-ui,'Segoe UI',Roboto,'Helvetica Neue',Arial,'DejaVu Sans',sans-serif}
  .name{font-size:11px;font-weight:600}.title{font-size:15px;font-weight:600}.muted{fill:#555b61}
  rect{stroke:#555b61;stroke-width:1}
  .even{fill:#f5f6f7}.odd{fill:#ffffff}.root{stroke-width:2.5}.copy{stroke-dasharray:4 3}
  path{fill:none;stroke:#555b61;stroke-opacity:.55}.control{stroke-dasharray:6 4}.call{stroke-dasharray:1 4}
  a:hover rect{stroke:#0050d0;stroke-width:3}
  .parameter{fill:#ffe9b8}.constant{fill:#e3e6e9}.call-box{fill:#bfe0f5}.collective{fill:#f3cfe4}
  .matrix{fill:#f6bfa0}.move{fill:#f7f3b0}.elementwise{fill:#ffffff}.other{fill:#c5ead9}
  @media(prefers-color-scheme:dark){
    svg{background:#16181b}text{fill:#eceef0}.muted{fill:#a9b0b7}rect{stroke:#a9b0b7}path{stroke:#a9b0b7}
    .even{fill:#202327}.odd{fill:#16181b}
    .parameter{fill:#6b5212}.constant{fill:#3c4147}.call-box{fill:#1e4f70}.collective{fill:#6d3558}
    .matrix{fill:#86431f}.move{fill:#5d5a14}.elementwise{fill:#26292e}.other{fill:#1c5a45}
  }
</style>
)";

// Texts come from a file, which may have any bytes.
std::string SvgText(absl::string_view text) { return draw::Escape(base::Printable(text)); }

// The first letters of a text, which may be UTF-8.
std::string FirstLetters(absl::string_view text, size_t most) {
  const std::string whole = base::Printable(text);
  size_t letters = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(whole[i]) & 0xc0) != 0x80;
    if (begins && ++letters > most) return absl::StrCat(whole.substr(0, i), "…");
  }
  return whole;
}
double LetterCount(absl::string_view text) {
  return static_cast<double>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::pair<std::string, std::string> LabelOf(const FigureBox& box) {
  if (box.instruction == nullptr) return {FirstLetters(box.label, kLongestShape), ""};
  const HloInstruction& instruction = *box.instruction;
  return {FirstLetters(instruction.name(), kLongestName),
          FirstLetters(absl::StrCat(instruction.IsRoot() ? "ROOT " : "", HloOpcodeString(instruction.opcode()), " ",
                                    instruction.shape().ToString(/*print_layout=*/true)),
                       kLongestShape)};
}

draw::LayeredBox SizeOfBox(const FigureBox& box) {
  const auto [name, below] = LabelOf(box);
  if (box.is_open()) return {(LetterCount(name) + LetterCount(below)) * kNameWidth + 30, 0};
  return {std::max(std::max(LetterCount(name) * kNameWidth, LetterCount(below) * kSmallWidth) + 16, 70.0), kBoxHeight};
}

// A path in a URL: only letters that mean nothing there.
std::string PercentEncoded(absl::string_view text) {
  std::string url;
  for (const char c : text) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
        absl::string_view("/._~-").find(c) != absl::string_view::npos) {
      url.push_back(c);
    } else {
      absl::StrAppendFormat(&url, "%%%02X", static_cast<unsigned char>(c));
    }
  }
  return url;
}

// "" if nobody knows where the file is.
std::string UrlOf(const SourceLocation& source, const std::string& source_url) {
  if (source.file.empty()) return "";
  if (source_url.empty() && source.file[0] != '/') return "";
  return absl::StrReplaceAll(source_url.empty() ? "file://{file}" : source_url,
                             {{"{file}", PercentEncoded(source.file)}, {"{line}", absl::StrCat(source.line)}});
}

class SvgWriter {
 public:
  SvgWriter(const GraphFigure& figure, const GraphSvgOptions& options) : figure_(figure), options_(options) {}

  std::string Write(absl::string_view module_name) {
    const FigureBox& root = figure_.boxes.front();
    const double width = std::max(root.width, LetterCount(module_name) * 9) + 2 * kMargin;
    const double height = root.height + kTitleHeight + 2 * kMargin;
    absl::StrAppendFormat(
        &svg_, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n",
        width, height, width, height);
    absl::StrAppend(&svg_, kGraphStyle, "<title>", SvgText(module_name), "</title>\n<text class=\"title\" x=\"",
                    kMargin, "\" y=\"26\">", SvgText(module_name), "</text>\n");
    if (!options_.note.empty()) {
      absl::StrAppendFormat(&svg_, "<text class=\"muted\" x=\"%.0f\" y=\"26\">%s</text>\n",
                            kMargin + LetterCount(module_name) * 9.5 + 10, SvgText(options_.note));
    }
    absl::StrAppendFormat(&svg_, "<g transform=\"translate(%.0f %.0f)\">\n", kMargin, kMargin + kTitleHeight);
    for (size_t i = 1; i < figure_.boxes.size(); ++i) {
      if (figure_.boxes[i].is_open()) WriteOpen(figure_.boxes[i]);
    }
    for (const FigureLine& line : figure_.lines) WriteLine(line);
    for (size_t i = 1; i < figure_.boxes.size(); ++i) {
      if (!figure_.boxes[i].is_open()) WriteClosed(figure_.boxes[i]);
    }
    return absl::StrCat(svg_, "</g>\n</svg>\n");
  }

 private:
  void WriteRect(const FigureBox& box, absl::string_view classes, int radius) {
    absl::StrAppendFormat(&svg_, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%d\"/>",
                          classes, box.corner.x, box.corner.y, box.width, box.height, radius);
  }
  // Returns whether there is a link, which the caller must close.
  bool BeginLink(const FigureBox& box) {
    if (box.instruction == nullptr) return false;
    const SourceLocation source = GetSourceLocation(*box.instruction);
    const std::string url = UrlOf(source, options_.source_url);
    if (!url.empty()) absl::StrAppend(&svg_, "<a href=\"", SvgText(url), "\">");
    return !url.empty();
  }
  void WriteTitle(const FigureBox& box) {
    if (box.instruction == nullptr) return;
    const SourceLocation source = GetSourceLocation(*box.instruction);
    absl::StrAppend(&svg_, "<title>", SvgText(box.instruction->name()), ": ",
                    SvgText(box.instruction->shape().ToString(/*print_layout=*/true)));
    if (!source.op_name.empty()) absl::StrAppend(&svg_, "\n", SvgText(source.op_name));
    if (!source.file.empty()) absl::StrAppend(&svg_, "\n", SvgText(source.file), ":", source.line);
    absl::StrAppend(&svg_, "</title>");
  }
  void WriteOpen(const FigureBox& box) {
    const auto [name, below] = LabelOf(box);
    const bool has_link = BeginLink(box);
    absl::StrAppend(&svg_, "<g>");
    WriteTitle(box);
    WriteRect(box, box.depth % 2 == 0 ? "even" : "odd", 6);
    absl::StrAppendFormat(&svg_, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\">%s</text>", box.corner.x + 9,
                          box.corner.y + 16, SvgText(name));
    if (!below.empty()) {
      absl::StrAppendFormat(&svg_, "<text class=\"muted\" x=\"%.1f\" y=\"%.1f\">%s</text>",
                            box.corner.x + 18 + LetterCount(name) * kNameWidth, box.corner.y + 16, SvgText(below));
    }
    absl::StrAppend(&svg_, "</g>", has_link ? "</a>" : "", "\n");
  }
  void WriteClosed(const FigureBox& box) {
    const auto [name, below] = LabelOf(box);
    const absl::string_view kind = OperationKindOf(box.instruction->opcode());
    const std::string classes = absl::StrCat(kind == "call" ? "call-box" : kind,
                                             box.instruction->IsRoot() ? " root" : "", box.is_copy ? " copy" : "");
    const bool has_link = BeginLink(box);
    absl::StrAppend(&svg_, "<g>");
    WriteTitle(box);
    WriteRect(box, classes, 2);
    absl::StrAppendFormat(
        &svg_, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\">%s</text><text x=\"%.1f\" y=\"%.1f\">%s</text></g>%s\n",
        box.corner.x + 8, box.corner.y + 15, SvgText(name), box.corner.x + 8, box.corner.y + 28, SvgText(below),
        has_link ? "</a>" : "");
  }
  void WriteLine(const FigureLine& line) {
    const double width = std::clamp(0.8 + std::log2(line.bytes / 4096 + 1) * 0.42, 0.8, 9.0);
    const absl::string_view classes = line.is_control ? " class=\"control\"" : line.is_call ? " class=\"call\"" : "";
    absl::StrAppendFormat(&svg_, "<path%s stroke-width=\"%.1f\" d=\"M%.1f %.1f", classes, width, line.points[0].x,
                          line.points[0].y);
    for (size_t i = 1; i < line.points.size(); ++i) {
      const draw::LayeredPoint &a = line.points[i - 1], &b = line.points[i];
      const double bend = (b.y - a.y) / 2;
      absl::StrAppendFormat(&svg_, "C%.1f %.1f %.1f %.1f %.1f %.1f", a.x, a.y + bend, b.x, b.y - bend, b.x, b.y);
    }
    absl::StrAppend(&svg_, "\"/>\n");
  }

  const GraphFigure& figure_;
  const GraphSvgOptions& options_;
  std::string svg_;
};

}  // namespace

std::string GraphSvg(const HloModule& module, absl::Span<const HloInstruction* const> shown,
                     const GraphSvgOptions& options) {
  // A module with broken links or recursion has no scopes, but a graph.
  absl::StatusOr<insight::ExecutionCounts> counts = insight::ExecutionCounts::Compute(module);
  std::optional<insight::Scopes> scopes;
  if (counts.ok()) {
    absl::StatusOr<insight::Scopes> made = insight::Scopes::Create(module, *counts);
    if (made.ok()) scopes = *std::move(made);
  }
  const auto scope_of = [&](const HloInstruction& instruction) {
    return scopes.has_value() ? scopes->PartsOf(instruction) : std::vector<std::string>();
  };
  const GraphFigure figure = MakeGraphFigure(module, shown, scope_of, SizeOfBox);
  return SvgWriter(figure, options).Write(module.name());
}

std::string SourceUrlError(const std::string& source_url) {
  for (const absl::string_view scheme : {"https://", "http://", "file://", "vscode://"}) {
    if (absl::StartsWithIgnoreCase(source_url, scheme)) return "";
  }
  return "an address begins with https://, http://, file:// or vscode://, and has {file} and {line}";
}

}  // namespace kashi::cli
