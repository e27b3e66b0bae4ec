#include "cli/graph.h"

#include <limits>
#include <utility>

#include "cli/graph_svg.h"
#include "cli/run_watch.h"
#include "cli/verb.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::cli {

using base::WithThousands;
namespace {

// Graphviz takes minutes for some thousands of nodes; our own layout takes a second for ten thousand.
constexpr int64_t kDefaultSvgNodes = 5000;

absl::StatusOr<HloDotOptions> DotOptionsOf(const HloModule& module, bool as_svg, const GraphOptions& options) {
  HloDotOptions dot;
  dot.depth = options.depth;
  dot.max_nodes = options.max_nodes >= 0 ? options.max_nodes : as_svg ? kDefaultSvgNodes : kDefaultDotNodes;
  if (!options.computation.empty()) {
    dot.computation = module.GetComputationWithName(options.computation);
    if (dot.computation == nullptr) return NotFound("the module has no computation `%s`", options.computation);
  }
  if (!options.around.empty()) {
    KASHI_ASSIGN_OR_RETURN(dot.around, FindInstruction(module, options.around));
  }
  return dot;
}

}  // namespace

void AddGraphOptions(Verb* verb, GraphOptions* options) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  Option* computation = verb->AddOption("--computation", &options->computation,
                                        "Draw only this computation and the computations that it calls")
                            ->Value("NAME");
  verb->AddOption("--around", &options->around, "Draw only instructions near this one")
      ->Value("NAME")
      ->Excludes(computation);
  verb->AddOption("--depth", &options->depth, "Follow this many edges from the instruction of --around")
      ->Within(0, kMost);
  verb->AddOption("--max-nodes", &options->max_nodes,
                  "Draw at most this many instructions, those nearest to the root; 0 draws all (default: 5000 for svg, "
                  "200 for dot)")
      ->Within(0, kMost);
  const auto set = [options](const std::string& text) {
    options->source_url = text;
    return SourceUrlError(text);
  };
  verb->AddOption("--source-url", set,
                  "Of svg: the address of a source, with {file} and {line}, as in "
                  "https://github.com/me/it/blob/main/{file}#L{line} (default: file://{file}, for whole paths)")
      ->Value("URL");
}

absl::StatusOr<std::string> DrawGraph(const ModuleFile& file, bool as_svg, const GraphOptions& options) {
  KASHI_ASSIGN_OR_RETURN(const HloDotOptions dot_options, DotOptionsOf(*file.module, as_svg, options));
  const HloDotSelection selection = SelectForHloDot(*file.module, dot_options);
  const auto shown = static_cast<int64_t>(selection.shown.size());
  const std::string part = absl::StrCat(WithThousands(shown), " of ", Count(selection.wanted, "instruction"));
  if (shown < selection.wanted) {
    PrintNote(absl::StrCat("kashi: note: ", file.name, ": the graph shows ", part, "; --max-nodes 0 shows all\n"));
  }
  if (!as_svg) return HloModuleToDot(*file.module, dot_options).text;
  return GraphSvg(*file.module, selection.shown, {options.source_url, shown < selection.wanted ? part : ""});
}

}  // namespace kashi::cli
