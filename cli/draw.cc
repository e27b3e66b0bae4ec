// `kashi draw`: the figure of a layout.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "cli/verb.h"
#include "kashi/array/shape_parser.h"
#include "kashi/base/status.h"
#include "kashi/draw/layout_figure.h"

namespace kashi::cli {
namespace {

constexpr int kWidthWithoutTerminal = 100;

struct DrawOptions {
  std::string shape;
  std::string output;
  bool svg = false;
  bool ascii = false;
  bool logical = false;
  LayoutFigureOptions figure;
};

int TerminalWidth() {
  winsize size = {};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? std::max<int>(size.ws_col, 20) : kWidthWithoutTerminal;
}

std::string Render(const LayoutFigure& figure, const DrawOptions& options) {
  const CellText cell_text = options.logical ? CellText::kLogical : CellText::kPhysical;
  const bool to_file = !options.output.empty() && options.output != "-";
  if (options.svg || (to_file && !absl::EndsWith(options.output, ".txt"))) {
    SvgOptions svg;
    svg.cell_text = cell_text;
    return ToSvg(figure, svg);
  }
  TerminalOptions terminal;
  terminal.cell_text = cell_text;
  terminal.ascii = options.ascii;
  terminal.color = !to_file && StdoutTakesColour();
  terminal.width = to_file ? kWidthWithoutTerminal : TerminalWidth();
  return ToTerminal(figure, terminal);
}

int RunDraw(const DrawOptions& options) {
  absl::StatusOr<Shape> shape = ParseShape(options.shape);
  if (!shape.ok()) return Fail(shape.status());
  absl::StatusOr<LayoutFigure> figure = MakeLayoutFigure(*shape, options.figure);
  if (!figure.ok()) return Fail(figure.status());
  absl::Status written = WriteOutput(options.output, Render(*figure, options));
  return written.ok() ? kSuccess : Fail(written);
}

}  // namespace

void AddDrawVerb(Command* command) {
  auto options = std::make_shared<DrawOptions>();
  CLI::App* verb = AddVerb(command, "draw", "Draw how a layout puts an array into memory",
                           "  kashi draw 'f32[3,5]{1,0:T(2,2)}'                 in the terminal\n"
                           "  kashi draw 'f32[4,8]{1,0:T(2,4)(2,1)}' -o x.svg   for a document",
                           [options] { return RunDraw(*options); });
  verb->add_option("SHAPE", options->shape, "An array shape with its layout")->required();
  verb->add_option("-o,--output", options->output, "Write SVG to this file (text if its name ends in .txt)");
  verb->add_flag("--svg", options->svg, "SVG also on standard output");
  verb->add_flag("--ascii", options->ascii, "Plain ASCII in the terminal");
  verb->add_flag("--logical", options->logical, "Number the cells by logical index instead of place in memory");
  verb->add_option("--rows", options->figure.max_rows, "Cut above this many rows");
  verb->add_option("--columns", options->figure.max_columns, "Cut above this many columns");
  verb->add_option("--slices", options->figure.max_slices, "Cut above this many slices");
}

}  // namespace kashi::cli
