// `kashi draw`: the figure of a layout.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/verb.h"
#include "kashi/array/shape.h"
#include "kashi/draw/layout_figure.h"

namespace kashi::cli {
namespace {

constexpr int kWidthWithoutTerminal = 100;

struct DrawOptions {
  std::string shape;
  std::string output;
  bool json = false;
  bool strict = false;
  bool svg = false;
  bool ascii = false;
  bool logical = false;
  bool no_title = false;
  bool no_legend = false;
  bool dark = false;
  LayoutFigureOptions figure;
};

int FigureWidth() {
  const size_t width = TerminalWidth(STDOUT_FILENO);
  return width > 0 ? std::max(static_cast<int>(width), 20) : kWidthWithoutTerminal;
}

std::string Render(const LayoutFigure& figure, const DrawOptions& options) {
  const CellText cell_text = options.logical ? CellText::kLogical : CellText::kPhysical;
  const bool to_file = IsFile(options.output);
  if (options.svg || (to_file && !absl::EndsWith(options.output, ".txt"))) {
    SvgOptions svg;
    svg.cell_text = cell_text;
    svg.show_title = !options.no_title;
    svg.show_legend = !options.no_legend;
    svg.dark = options.dark;
    return ToSvg(figure, svg);
  }
  TerminalOptions terminal;
  terminal.cell_text = cell_text;
  terminal.show_title = !options.no_title;
  terminal.show_legend = !options.no_legend;
  terminal.ascii = options.ascii;
  terminal.color = !to_file && StdoutTakesColour();
  terminal.width = to_file ? kWidthWithoutTerminal : FigureWidth();
  return ToTerminal(figure, terminal);
}

const char* RoleName(LayoutFigure::Axis::Role role) {
  switch (role) {
    case LayoutFigure::Axis::Role::kSlice:
      return "slice";
    case LayoutFigure::Axis::Role::kRow:
      return "row";
    case LayoutFigure::Axis::Role::kColumn:
      return "column";
  }
  return "";
}

Json AxesJson(const LayoutFigure& figure) {
  Json axes = Json::array();
  for (const LayoutFigure::Axis& axis : figure.axes) {
    Json& json = axes.emplace_back();
    json["role"] = RoleName(axis.role);
    json["name"] = axis.name;
    json["dimensions"] = std::vector<int64_t>(axis.dimensions.begin(), axis.dimensions.end());
    json["size"] = axis.size;
    json["padded_size"] = axis.positions;
  }
  return axes;
}

// The positions of the shown lines along their axis.
Json PositionsJson(const std::vector<LayoutFigure::Line>& lines) {
  Json positions = Json::array();
  for (const LayoutFigure::Line& line : lines) {
    if (!line.is_ellipsis) positions.push_back(line.position);
  }
  return positions;
}

Json CellJson(const LayoutFigure& figure, const LayoutFigure::Cell& cell) {
  Json json;
  json["row"] = figure.rows[cell.row].position;
  json["column"] = figure.columns[cell.column].position;
  json["physical"] = cell.physical;
  json["padding"] = !cell.is_element;
  json["index"] = cell.is_element ? Json(std::vector<int64_t>(cell.index.begin(), cell.index.end())) : Json();
  return json;
}

Json SlicesJson(const LayoutFigure& figure) {
  Json slices = Json::array();
  for (const LayoutFigure::Slice& slice : figure.slices) {
    if (slice.line.is_ellipsis) continue;
    Json& json = slices.emplace_back();
    json["position"] = slice.line.position;
    json["label"] = slice.line.label;
    Json& cells = json["cells"] = Json::array();
    for (const LayoutFigure::Cell& cell : slice.cells) cells.push_back(CellJson(figure, cell));
  }
  return slices;
}

Json FigureJson(const LayoutFigure& figure, const std::vector<Diagnostic>& warnings) {
  Json json;
  json["shape"] = figure.title;
  json["summary"] = figure.summary;
  json["axes"] = AxesJson(figure);
  json["cut"] = figure.is_cut();
  json["rows"] = PositionsJson(figure.rows);
  json["columns"] = PositionsJson(figure.columns);
  json["slices"] = SlicesJson(figure);
  if (!warnings.empty()) json["warnings"] = Json::array();
  for (const Diagnostic& warning : warnings) json["warnings"].push_back(warning.message);
  return json;
}

class DrawVerb {
 public:
  explicit DrawVerb(const DrawOptions& options) : options_(options), answers_(options.output, options.json) {}

  int Run() { return options_.shape == "-" ? RunLines() : RunOne({"shape", options_.shape}); }

 private:
  bool Draw(const SourceText& source);
  int RunOne(const SourceText& source);
  int RunLines();

  const DrawOptions& options_;
  Answers answers_;
  int drawn_ = 0;
};

// False after an error.
bool DrawVerb::Draw(const SourceText& source) {
  std::vector<Diagnostic> diagnostics;
  const absl::StatusOr<Shape> shape = ReadShape(source, options_.strict, &diagnostics);
  if (!shape.ok()) return answers_.AddError(source, diagnostics), false;
  const absl::StatusOr<LayoutFigure> figure = MakeLayoutFigure(*shape, options_.figure);
  if (!figure.ok()) return answers_.AddError(source, ErrorAboutText(source, figure.status())), false;
  if (options_.json) {
    answers_.AddLine(FigureJson(*figure, diagnostics));
  } else {
    answers_.Warn(source, diagnostics);
    answers_.Add(absl::StrCat(drawn_++ > 0 ? "\n" : "", Render(*figure, options_)));
  }
  return true;
}

// After an error no file is written: a file without a figure would not be a valid SVG.
int DrawVerb::RunOne(const SourceText& source) {
  const bool drawn = Draw(source);
  return drawn || options_.json ? answers_.Finish() : kBadInput;
}

int DrawVerb::RunLines() {
  const bool takes_one = IsFile(options_.output) && !options_.json;
  std::string first;
  InputLines input;
  int shapes = 0;
  while (!answers_.is_broken() && input.Next()) {
    if (input.is_blank()) {
      answers_.AddBlankLine();
      continue;
    }
    if (++shapes > 1 && takes_one) {
      return FailUsage("-o writes one figure, but standard input has several shapes; --json accepts several");
    }
    Draw(input.line());
  }
  if (takes_one && drawn_ == 0 && input.status().ok()) return shapes > 0 ? kBadInput : Fail(NoShapeInInput());
  return answers_.Finish(input.status());
}

// Refuses names such as x.png: the file would be SVG all the same.
int RunDraw(const DrawOptions& options) {
  const std::string extension = std::filesystem::path(options.output).extension().string();
  const bool is_known = extension.empty() || extension == ".svg" || extension == ".txt";
  if (!is_known && !options.svg && !options.json) {
    return FailUsage(absl::StrCat("-o writes svg or txt, not ", extension.substr(1), ": ", options.output,
                                  "; --svg writes SVG whatever the name is"));
  }
  return DrawVerb(options).Run();
}

void AddCutOption(Verb* verb, const std::string& lines, int* value) {
  const std::string description = absl::StrCat("Show at most this many ", lines, " (1 to ", kMaxFigureLines,
                                               "; default: chosen by the size of the figure)");
  verb->AddOption(absl::StrCat("--", lines), value, description)->Within(1, kMaxFigureLines);
}

}  // namespace

void AddDrawVerb(Command* command) {
  auto options = std::make_shared<DrawOptions>();
  VerbHelp help;
  help.group = kArrayVerbs;
  help.summary = "Draw how a layout places the elements of an array in memory";
  help.examples =
      "  kashi draw 'f32[3,5]{1,0:T(2,2)}'                 in the terminal\n"
      "  kashi draw 'f32[4,8]{1,0:T(2,4)(2,1)}' -o x.svg   for a document\n"
      "  kashi draw --json 'f32[3,5]{1,0:T(2,2)}'          for a script";
  help.sections = {
      {"",
       absl::StrCat("A figure shows at most ", kMaxFigureCells, " cells. It leaves out the slices that exceed this."),
       {}},
      {"Keys of --json",
       "",
       {{"shape, summary, axes", "The texts above the figure"},
        {"cut", "Whether rows, columns or slices are left out"},
        {"rows, columns", "The rows and columns that are shown"},
        {"slices",
         "The slices that are shown. Each has cells, with row, column, physical (the position in memory), "
         "padding (true or false) and index (the logical index, or null)"}}}};
  help.failure = "The shape is bad, or the output cannot be written";
  Verb* verb = command->AddVerb("draw", help, [options] { return RunDraw(*options); });
  verb->AddOption("SHAPE", &options->shape,
                  "An array shape with its layout; `-` reads one per line from standard input")
      ->Required();
  verb->BeginGroup("Figure");
  verb->AddFlag("--logical", &options->logical, "Label the cells by logical index, not by position in memory");
  AddCutOption(verb, "rows", &options->figure.max_rows);
  AddCutOption(verb, "columns", &options->figure.max_columns);
  AddCutOption(verb, "slices", &options->figure.max_slices);
  verb->AddFlag("--no-title", &options->no_title, "Leave out the shape, the summary and the axes above the figure");
  verb->AddFlag("--no-legend", &options->no_legend, "Leave out the legend below the figure");
  verb->AddFlag("--ascii", &options->ascii, "Use ASCII characters only");
  verb->AddFlag("--dark", &options->dark, "Use colours for a dark page (SVG)");
  verb->BeginGroup("Input and output");
  AddStrictFlag(verb, &options->strict);
  AddOutputOption(verb, &options->output, "Write SVG to this file, or text if its name ends in .txt");
  verb->AddFlag("--svg", &options->svg, "Print SVG to standard output");
  AddJsonFlag(verb, &options->json);
}

}  // namespace kashi::cli
