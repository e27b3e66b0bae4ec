#include "kashi/query/grouping.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_join.h"
#include "kashi/analysis/call_graph.h"
#include "kashi/query/prepared_facts.h"

namespace kashi::query {
namespace {

using Instructions = absl::flat_hash_set<const HloInstruction*>;
using Computations = absl::flat_hash_set<const HloComputation*>;

// The computations whose cost is a part of the cost of one of the instructions: those that they call for elements, such
// as fusions, and what those call.
Computations CountedElsewhere(const CallGraph& graph, const Instructions& instructions) {
  Computations counted;
  const auto nodes = graph.nodes();
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {  // callers before callees
    const bool is_counted = counted.contains(node->computation);
    for (const HloInstruction* x : node->computation->instructions()) {
      const bool is_part = is_counted || (instructions.contains(x) && ControlFlowCallees(*x).empty());
      if (is_part) counted.insert(x->called_computations().begin(), x->called_computations().end());
    }
  }
  return counted;
}

}  // namespace

FactSet Grouping::facts() const {
  FactSet facts = SetOf(by_) | SetOf(Fact::bytes) | SetOf(Fact::flops);
  if (has_device_) facts |= SetOf(Fact::seconds);
  return facts;
}

Group& Grouping::GroupOf(const FactValue& value) {
  const auto [place, is_new] = places_.try_emplace(ValueText(value), groups_.size());
  if (is_new) groups_.emplace_back().value = value;
  return groups_[place->second];
}

// The values of the fact, and for each its share of the costs. A function with several calls is in several scopes.
std::vector<Grouping::Place> Grouping::PlacesOf(const ModuleFacts& facts, const HloInstruction& x) const {
  if (by_ != Fact::scope && by_ != Fact::layer) return {{facts.ValueOf(by_, x), 1}};
  const insight::Scopes& scopes = *facts.prepared().scopes;
  std::vector<Place> places;
  for (const insight::Scopes::Place& place : scopes.PlacesOf(x)) {
    places.push_back(
        {by_ == Fact::scope ? absl::StrJoin(place.parts, "/") : scopes.LayerOfParts(place.parts), place.share});
  }
  return places;
}

void Grouping::Add(const ModuleFacts& facts, absl::Span<const HloInstruction* const> instructions) {
  const ModuleFacts::Prepared& prepared = facts.prepared();
  const Computations counted =
      CountedElsewhere(prepared.call_graph, Instructions(instructions.begin(), instructions.end()));
  for (const HloInstruction* x : instructions) {
    Cost cost;
    if (prepared.call_graph.NodeOf(x->parent()).has_buffers) {
      cost = prepared.cost->CostOf(x);
    } else if (!counted.contains(x->parent())) {
      cost = prepared.CostOf(*x);
    }
    const double seconds = has_device_ ? prepared.roofline->SecondsOf(x) : 0;
    const std::vector<Place> places = PlacesOf(facts, *x);
    for (const Place& place : places) {
      Group& group = GroupOf(place.value);
      group.cost += cost * place.share;
      group.seconds += seconds * place.share;
    }
    Group& main = GroupOf(places.front().value);
    ++main.instructions;
    main.bytes += static_cast<double>(prepared.SizeOf(*x).bytes);
  }
}

}  // namespace kashi::query
