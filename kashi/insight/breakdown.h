// Measures of a module, summed up by scope, layer, opcode, source or computation.
//
//   Breakdown breakdown({"flops", "bytes"});
//   breakdown.Add({"layer_3", "attention"}, {100, 20});
//   breakdown.Sort(/*measure=*/0);
//   breakdown.root().sum[0] == the sum over all that was added
//
// The result is a tree: a node's sum is its own value and the sums of its children, so each level adds up to the total.
// `kashi cost --by`, `kashi memory --by` and `kashi run --profile --by` all use it.
#ifndef KASHI_INSIGHT_BREAKDOWN_H_
#define KASHI_INSIGHT_BREAKDOWN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/analysis/call_graph.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/insight/execution_counts.h"
#include "kashi/insight/scopes.h"

namespace kashi::insight {

enum class Grouping { kScope, kLayer, kOpcode, kSource, kComputation };
absl::Span<const absl::string_view> GroupingNames();  // "scope", "layer", "opcode", "source", "computation"
std::optional<Grouping> ParseGrouping(absl::string_view name);

// The groups that a module's instructions belong to.
class Groups {
 public:
  using Place = Scopes::Place;

  // The module must outlive it. INVALID_ARGUMENT for modules with broken links or recursion.
  static absl::StatusOr<Groups> Create(const HloModule& module, const ExecutionCounts& counts, Grouping grouping,
                                       const ScopeOptions& options = {});

  // The path of the instruction's group, from the outermost part to the innermost; several with shares that add up to 1
  // for a scope or a layer of a function with several calls. Never an empty path.
  //
  //   kScope         the parts of the scope; or "(no scope)", the opcode
  //   kLayer         the layer, or "(no layer)"
  //   kOpcode        "dot"; "fusion", "kLoop"; "custom-call", the target
  //   kSource        the file, the line; or "(no source)"
  //   kComputation   the computations from the entry down to the instruction's, through the only caller of each; a
  //                  computation with several callers comes directly after the entry
  std::vector<Place> PlacesOf(const HloInstruction& instruction) const;
  // Between the parts of a path in text: "/", or ":" for a line of a source.
  absl::string_view separator() const { return grouping_ == Grouping::kSource ? ":" : "/"; }

 private:
  explicit Groups(Grouping grouping) : grouping_(grouping) {}
  void AddComputationPaths(const CallGraph& graph);

  Grouping grouping_;
  std::optional<Scopes> scopes_;  // of kScope and kLayer
  // Of kComputation; the first Breakdown::kMostDepth parts.
  absl::flat_hash_map<const HloComputation*, std::vector<std::string>> computation_paths_;
};

class Breakdown {
 public:
  struct Node {
    std::string name;     // the last part of its path; "" for the root
    int64_t parent = -1;  // -1: the root
    int64_t depth = 0;    // the number of parts of its path
    std::vector<int64_t> children;
    int64_t items = 0;             // that were added to this node or below it
    int64_t own_items = 0;         // that were added to this node
    std::vector<double> own, sum;  // by measure; the sum with all that is below
  };

  explicit Breakdown(std::vector<std::string> measures);

  // Parts beyond kMostDepth are left out. O(parts). Pre: one value for each measure.
  void Add(absl::Span<const std::string> path, absl::Span<const double> values);
  // Orders the children of each node, and what Rows gives: the largest first by this measure, then by the other
  // measures in their order, then by name.
  void Sort(size_t measure);

  absl::Span<const std::string> measures() const { return measures_; }
  // The root first; parents before children.
  absl::Span<const Node> nodes() const { return nodes_; }
  const Node& root() const { return nodes_.front(); }
  std::string PathOf(int64_t node, absl::string_view separator = "/") const;
  // The nodes to which something was added: their own values add up to the total.
  std::vector<int64_t> Rows() const;

  static constexpr int64_t kMostDepth = 64;

 private:
  bool IsLarger(const std::vector<double>& a, const std::vector<double>& b) const;

  std::vector<std::string> measures_;
  std::vector<Node> nodes_;
  size_t sort_measure_ = 0;
  absl::flat_hash_map<std::pair<int64_t, std::string>, int64_t> children_;  // by parent and name
};

}  // namespace kashi::insight

#endif  // KASHI_INSIGHT_BREAKDOWN_H_
