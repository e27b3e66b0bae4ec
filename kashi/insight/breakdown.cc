#include "kashi/insight/breakdown.h"

#include <algorithm>
#include <iterator>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/analysis/source_location.h"
#include "kashi/base/check.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_opcode.h"

namespace kashi::insight {
namespace {

// In the order of Grouping.
constexpr absl::string_view kGroupings[] = {"scope", "layer", "opcode", "source", "computation"};

std::vector<std::string> OpcodePath(const HloInstruction& instruction) {
  std::vector<std::string> path = {std::string(HloOpcodeString(instruction.opcode()))};
  if (instruction.opcode() == HloOpcode::kFusion) path.emplace_back(ToString(instruction.fusion_kind()));
  if (instruction.opcode() == HloOpcode::kCustomCall) path.emplace_back(instruction.custom_call_target());
  return path;
}

std::vector<std::string> SourcePath(const HloInstruction& instruction) {
  const SourceLocation source = GetSourceLocation(instruction);
  if (source.file.empty()) return {"(no source)"};
  return {source.file, absl::StrCat(source.line)};
}

}  // namespace

absl::Span<const absl::string_view> GroupingNames() { return kGroupings; }

std::optional<Grouping> ParseGrouping(absl::string_view name) {
  const auto* found = absl::c_find(kGroupings, name);
  if (found == std::end(kGroupings)) return std::nullopt;
  return static_cast<Grouping>(found - std::begin(kGroupings));
}

absl::StatusOr<Groups> Groups::Create(const HloModule& module, const ExecutionCounts& counts, Grouping grouping,
                                      const ScopeOptions& options) {
  KASHI_ASSIGN_OR_RETURN(const CallGraph graph, CallGraph::Build(module));
  Groups groups(grouping);
  if (grouping == Grouping::kComputation) groups.AddComputationPaths(graph);
  if (grouping == Grouping::kScope || grouping == Grouping::kLayer) {
    KASHI_ASSIGN_OR_RETURN(groups.scopes_, Scopes::Create(module, counts, options));
  }
  return groups;
}

std::vector<Groups::Place> Groups::PlacesOf(const HloInstruction& instruction) const {
  switch (grouping_) {
    case Grouping::kOpcode:
      return {{OpcodePath(instruction), 1}};
    case Grouping::kSource:
      return {{SourcePath(instruction), 1}};
    case Grouping::kComputation:
      return {{computation_paths_.at(instruction.parent()), 1}};
    case Grouping::kScope:
    case Grouping::kLayer:
      break;
  }
  std::vector<Place> places = scopes_->PlacesOf(instruction);
  for (Place& place : places) {
    if (grouping_ == Grouping::kScope) {
      if (place.parts.empty()) place.parts = {"(no scope)", std::string(HloOpcodeString(instruction.opcode()))};
    } else {
      const std::string layer = scopes_->LayerOfParts(place.parts);
      place.parts = {layer.empty() ? "(no layer)" : layer};
    }
  }
  return places;
}

void Groups::AddComputationPaths(const CallGraph& graph) {
  const HloComputation* entry = graph.entry();
  for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) {  // callers before callees
    std::vector<std::string> path;
    if (node->control_flow_callers.size() == 1) {
      path = computation_paths_.at(node->control_flow_callers[0]->parent());
    } else if (node->control_flow_callers.size() > 1) {
      path = {std::string(entry->name())};
    }
    if (static_cast<int64_t>(path.size()) < Breakdown::kMostDepth) path.emplace_back(node->computation->name());
    computation_paths_[node->computation] = std::move(path);
  }
}

Breakdown::Breakdown(std::vector<std::string> measures) : measures_(std::move(measures)) {
  Node& root = nodes_.emplace_back();
  root.own.resize(measures_.size());
  root.sum.resize(measures_.size());
}

void Breakdown::Add(absl::Span<const std::string> path, absl::Span<const double> values) {
  KASHI_CHECK_EQ(values.size(), measures_.size());
  const auto add = [&](std::vector<double>* to) {
    for (size_t i = 0; i < values.size(); ++i) (*to)[i] += values[i];
  };
  int64_t at = 0;
  ++nodes_[at].items;
  add(&nodes_[at].sum);
  for (const std::string& part : path.first(std::min<size_t>(path.size(), kMostDepth))) {
    const auto [child, is_new] = children_.try_emplace({at, part}, static_cast<int64_t>(nodes_.size()));
    if (is_new) {
      Node node;
      node.name = part;
      node.parent = at;
      node.depth = nodes_[at].depth + 1;
      node.own.resize(measures_.size());
      node.sum.resize(measures_.size());
      nodes_[at].children.push_back(child->second);
      nodes_.push_back(std::move(node));
    }
    at = child->second;
    ++nodes_[at].items;
    add(&nodes_[at].sum);
  }
  ++nodes_[at].own_items;
  add(&nodes_[at].own);
}

bool Breakdown::IsLarger(const std::vector<double>& a, const std::vector<double>& b) const {
  if (sort_measure_ < a.size() && a[sort_measure_] != b[sort_measure_]) return a[sort_measure_] > b[sort_measure_];
  return a > b;
}

void Breakdown::Sort(size_t measure) {
  sort_measure_ = measure;
  for (Node& node : nodes_) {
    absl::c_sort(node.children, [&](int64_t a, int64_t b) {
      if (nodes_[a].sum != nodes_[b].sum) return IsLarger(nodes_[a].sum, nodes_[b].sum);
      return nodes_[a].name < nodes_[b].name;
    });
  }
}

std::string Breakdown::PathOf(int64_t node, absl::string_view separator) const {
  std::vector<absl::string_view> parts;
  for (; nodes_[node].parent >= 0; node = nodes_[node].parent) parts.push_back(nodes_[node].name);
  absl::c_reverse(parts);
  return absl::StrJoin(parts, separator);
}

std::vector<int64_t> Breakdown::Rows() const {
  std::vector<int64_t> rows;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].own_items > 0) rows.push_back(static_cast<int64_t>(i));
  }
  absl::c_sort(rows, [&](int64_t a, int64_t b) {
    if (nodes_[a].own != nodes_[b].own) return IsLarger(nodes_[a].own, nodes_[b].own);
    return PathOf(a) < PathOf(b);
  });
  return rows;
}

}  // namespace kashi::insight
