// A module, or a part of it, as an SVG: boxes for scopes, fusions and called computations, lines as wide as their
// bytes, links to the source.
#ifndef KASHI_CLI_GRAPH_SVG_H_
#define KASHI_CLI_GRAPH_SVG_H_

#include <string>

#include "absl/types/span.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::cli {

struct GraphSvgOptions {
  // Where the source of an instruction is, as a URL with {file} and {line}. Empty: file://{file}, for whole paths.
  std::string source_url;
  std::string note;  // below the name of the module
};

// `shown`: the instructions, in the order of MakeComputationPostOrder and InstructionOrder. Near linear in its size.
std::string GraphSvg(const HloModule& module, absl::Span<const HloInstruction* const> shown,
                     const GraphSvgOptions& options);

// An error message about a template for GraphSvgOptions::source_url; "" if it is one.
std::string SourceUrlError(const std::string& source_url);

}  // namespace kashi::cli

#endif  // KASHI_CLI_GRAPH_SVG_H_
