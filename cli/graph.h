// A module, or a part of it, as a graph: the output of `kashi convert --to dot` and `--to svg`.
#ifndef KASHI_CLI_GRAPH_H_
#define KASHI_CLI_GRAPH_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "cli/module_file.h"
#include "cli/options.h"
#include "kashi/hlo/text/hlo_dot.h"

namespace kashi::cli {

struct GraphOptions {
  std::string computation;  // empty: all of them
  std::string around;       // empty: all instructions
  int64_t depth = HloDotOptions().depth;
  int64_t max_nodes = -1;  // -1: the default of the format
  std::string source_url;  // of SVG; see GraphSvgOptions

  bool chooses_a_part() const { return !computation.empty() || !around.empty(); }
};

void AddGraphOptions(Verb* verb, GraphOptions* options);

// DOT or SVG. Prints a note to standard error if instructions are left out. NOT_FOUND for an unknown name.
absl::StatusOr<std::string> DrawGraph(const ModuleFile& file, bool as_svg, const GraphOptions& options);

}  // namespace kashi::cli

#endif  // KASHI_CLI_GRAPH_H_
