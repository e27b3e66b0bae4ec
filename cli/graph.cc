#include "cli/graph.h"

#include <chrono>
#include <cstdio>
#include <limits>
#include <utility>

#include "cli/graphviz.h"
#include "cli/run_watch.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"
#include "kashi/hlo/hlo_computation.h"
#include "kashi/hlo/hlo_module.h"

namespace kashi::cli {
namespace {

constexpr std::chrono::seconds kLongestLayout(60);

absl::StatusOr<HloDotOptions> DotOptionsOf(const HloModule& module, const GraphOptions& options) {
  HloDotOptions dot;
  dot.depth = options.depth;
  dot.max_nodes = options.max_nodes;
  if (!options.computation.empty()) {
    dot.computation = module.GetComputationWithName(options.computation);
    if (dot.computation == nullptr) return NotFound("there is no computation named %s", options.computation);
  }
  if (!options.around.empty()) {
    KASHI_ASSIGN_OR_RETURN(dot.around, FindInstruction(module, options.around));
  }
  return dot;
}

}  // namespace

void AddGraphOptions(Verb* verb, GraphOptions* options) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  Option* computation =
      verb->AddOption("--computation", &options->computation, "Graphs: only this computation and what it calls")
          ->Value("NAME");
  verb->AddOption("--around", &options->around, "Graphs: only what lies near the instruction of this name")
      ->Value("NAME")
      ->Excludes(computation);
  verb->AddOption("--depth", &options->depth, "Graphs: how many edges from the instruction of --around")
      ->Within(0, kMost);
  verb->AddOption("--max-nodes", &options->max_nodes,
                  "Graphs: show at most this many instructions, those nearest to the root; 0: all")
      ->Within(0, kMost);
}

absl::StatusOr<std::string> DrawGraph(const ModuleFile& file, bool as_svg, const GraphOptions& options) {
  KASHI_ASSIGN_OR_RETURN(const HloDotOptions dot_options, DotOptionsOf(*file.module, options));
  HloDot dot = HloModuleToDot(*file.module, dot_options);
  if (dot.shown < dot.wanted) {
    std::fprintf(stderr, "%s: note: the graph shows %s of %s instructions; --max-nodes 0 shows all\n",
                 file.name.c_str(), WithThousands(dot.shown).c_str(), WithThousands(dot.wanted).c_str());
  }
  if (as_svg) return RenderSvg(dot.text, kLongestLayout);
  return std::move(dot.text);
}

}  // namespace kashi::cli
