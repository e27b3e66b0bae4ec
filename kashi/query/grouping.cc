#include "kashi/query/grouping.h"

#include "absl/container/flat_hash_set.h"
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

void Grouping::Add(const ModuleFacts& facts, absl::Span<const HloInstruction* const> instructions) {
  const ModuleFacts::Prepared& prepared = facts.prepared();
  const Computations counted =
      CountedElsewhere(prepared.call_graph, Instructions(instructions.begin(), instructions.end()));
  for (const HloInstruction* x : instructions) {
    Group& group = GroupOf(facts.ValueOf(by_, *x));
    ++group.instructions;
    group.bytes += static_cast<double>(prepared.SizeOf(*x).bytes);
    if (prepared.call_graph.NodeOf(x->parent()).has_buffers) {
      group.cost += prepared.cost->CostOf(x);
      if (has_device_) group.seconds += prepared.roofline->SecondsOf(x);
    } else if (!counted.contains(x->parent())) {
      group.cost += prepared.CostOf(*x);
    }
  }
}

}  // namespace kashi::query
