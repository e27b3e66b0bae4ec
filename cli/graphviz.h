// Graphs as SVG, by the program `dot` of Graphviz.
#ifndef KASHI_CLI_GRAPHVIZ_H_
#define KASHI_CLI_GRAPHVIZ_H_

#include <chrono>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kashi::cli {

// Runs `dot` on a graph in DOT and returns the SVG document. Errors: NOT_FOUND if `dot` is not installed;
// DEADLINE_EXCEEDED if it takes longer than `limit` (it is killed then); INTERNAL with its message if it fails.
absl::StatusOr<std::string> RenderSvg(absl::string_view dot_text, std::chrono::seconds limit);

}  // namespace kashi::cli

#endif  // KASHI_CLI_GRAPHVIZ_H_
