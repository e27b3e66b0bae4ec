// Pictures of graphs, by Graphviz's own program `dot`, where it is installed.
#ifndef KASHI_CLI_GRAPHVIZ_H_
#define KASHI_CLI_GRAPHVIZ_H_

#include <chrono>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kashi::internal::cli {

// The SVG document that `dot` makes of a graph in DOT. Errors: NOT_FOUND where there is no `dot`; DEADLINE_EXCEEDED where
// it takes longer than `limit` (it is ended then); INTERNAL, with what it says, where it fails.
absl::StatusOr<std::string> RenderSvg(absl::string_view dot_text, std::chrono::seconds limit);

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_GRAPHVIZ_H_
