#include "cli/graph.h"

#include <chrono>
#include <limits>
#include <utility>

#include "cli/graphviz.h"
#include "cli/run_watch.h"
#include "cli/verb.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::cli {

using base::WithThousands;
namespace {

constexpr std::chrono::seconds kLongestLayout(60);

absl::StatusOr<HloDotOptions> DotOptionsOf(const HloModule& module, const GraphOptions& options) {
  HloDotOptions dot;
  dot.depth = options.depth;
  dot.max_nodes = options.max_nodes;
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
                  "Draw at most this many instructions, those nearest to the root; 0 draws all")
      ->Within(0, kMost);
}

absl::StatusOr<std::string> DrawGraph(const ModuleFile& file, bool as_svg, const GraphOptions& options) {
  KASHI_ASSIGN_OR_RETURN(const HloDotOptions dot_options, DotOptionsOf(*file.module, options));
  HloDot dot = HloModuleToDot(*file.module, dot_options);
  if (dot.shown < dot.wanted) {
    PrintNote(absl::StrCat("kashi: note: ", file.name, ": the graph shows ", WithThousands(dot.shown), " of ",
                           Count(dot.wanted, "instruction"), "; --max-nodes 0 shows all\n"));
  }
  if (as_svg) return RenderSvg(dot.text, kLongestLayout);
  return std::move(dot.text);
}

}  // namespace kashi::cli
