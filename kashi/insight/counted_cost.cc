#include "kashi/insight/counted_cost.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "kashi/analysis/call_graph.h"
#include "kashi/base/status.h"
#include "kashi/insight/run_spread.h"

namespace kashi::insight {
namespace {

// Each number of a cost, with the weight that belongs to it.
struct Number {
  double Cost::*of_cost;
  double CountedCost::Weights::*of_weights;
};
constexpr Number kNumbers[] = {{&Cost::flops, &CountedCost::Weights::flops},
                               {&Cost::transcendentals, &CountedCost::Weights::transcendentals},
                               {&Cost::bytes_accessed, &CountedCost::Weights::bytes_accessed},
                               {&Cost::unknown, &CountedCost::Weights::unknown}};

}  // namespace

absl::StatusOr<CountedCost> CountedCost::Compute(const HloModule& module, const CountedCostOptions& options) {
  KASHI_ASSIGN_OR_RETURN(const CallGraph graph, CallGraph::Build(module));
  CountedCost result;
  result.is_flat_ = options.as_xla;
  KASHI_ASSIGN_OR_RETURN(result.counts_, ExecutionCounts::Compute(module));
  KASHI_ASSIGN_OR_RETURN(result.xla_, CostAnalysis::Run(module));
  if (!options.as_xla) {
    CostRules rules;
    rules.counts_needed_work = true;
    rules.trip_count = [&](const HloInstruction& loop) {
      return static_cast<double>(result.counts_.TripCountOf(&loop).value_or(1));
    };
    KASHI_ASSIGN_OR_RETURN(CostAnalysis counted, CostAnalysis::Run(module, rules));
    result.counted_ = std::make_shared<const CostAnalysis>(std::move(counted));
  }
  for (const Number& number : kNumbers) {
    const Runs runs = SpreadRuns(graph, result.counts_, options.as_xla, [&](const HloComputation* branch) {
      return result.own().CostOf(branch).*number.of_cost;
    });
    for (const auto& [computation, count] : runs) result.weights_[computation].*number.of_weights = count;
  }
  result.AddInstructions(graph);
  return result;
}

void CountedCost::AddInstructions(const CallGraph& graph) {
  for (const CallGraph::Node& node : graph.nodes()) {
    if (!weights_.contains(node.computation)) continue;
    for (const HloInstruction* instruction : node.computation->instructions()) {
      if (!ControlFlowCallees(*instruction).empty()) continue;
      instructions_.push_back(instruction);
      total_ += CostOf(instruction);
    }
  }
}

Cost CountedCost::OwnCostOf(const HloInstruction* instruction) const {
  return ControlFlowCallees(*instruction).empty() ? own().CostOf(instruction) : Cost();
}

CountedCost::Weights CountedCost::WeightsOf(const HloComputation* computation) const {
  const auto found = weights_.find(computation);
  return found == weights_.end() ? Weights() : found->second;
}

Cost CountedCost::CostOf(const HloInstruction* instruction) const {
  const Cost own = OwnCostOf(instruction);
  const Weights weights = WeightsOf(instruction->parent());
  Cost cost;
  for (const Number& number : kNumbers) {
    cost.*number.of_cost =
        std::min(own.*number.of_cost * (weights.*number.of_weights), std::numeric_limits<double>::max());
  }
  return cost;
}

}  // namespace kashi::insight
