#include "kashi/insight/execution_counts.h"

#include <algorithm>
#include <limits>

#include "kashi/base/status.h"
#include "kashi/scale/trip_count.h"

namespace kashi::insight {
namespace {

double Saturate(double count) { return std::min(count, std::numeric_limits<double>::max()); }

}  // namespace

absl::StatusOr<ExecutionCounts> ExecutionCounts::Compute(const HloModule& module) {
  KASHI_ASSIGN_OR_RETURN(const CallGraph graph, CallGraph::Build(module));
  ExecutionCounts result;
  for (const CallGraph::Node& node : graph.nodes()) result.counts_[node.computation] = 0;
  result.counts_[module.entry_computation()] = 1;
  scale::TripCounts trip_counts;
  for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) {  // callers before callees
    if (!node->is_reached) continue;
    const double runs = result.CountOf(node->computation);
    for (const HloInstruction* instruction : node->computation->instructions()) {
      const auto add = [&](size_t callee, double times) {
        double& count = result.counts_[instruction->called_computations()[callee]];
        count = Saturate(count + runs * times);
      };
      if (instruction->opcode() != HloOpcode::kWhile || instruction->called_computations().size() != 2) {
        for (size_t i = 0; i < instruction->called_computations().size(); ++i) add(i, 1);
        continue;
      }
      const std::optional<int64_t> trip_count = trip_counts.Of(*instruction);
      result.trip_counts_[instruction] = trip_count;
      add(0, static_cast<double>(trip_count.value_or(1)));
      add(1, static_cast<double>(trip_count.value_or(1)) + 1);
    }
  }
  for (const HloComputation* computation : module.computations()) {
    if (result.CountOf(computation) == 0 && !graph.NodeOf(computation).is_reached) continue;
    for (const HloInstruction* instruction : computation->instructions()) {
      const auto found = result.trip_counts_.find(instruction);
      if (found == result.trip_counts_.end()) continue;
      result.loops_.push_back(instruction);
      if (!found->second.has_value()) result.unknown_loops_.push_back(instruction);
    }
  }
  return result;
}

std::optional<int64_t> ExecutionCounts::TripCountOf(const HloInstruction* loop) const {
  const auto found = trip_counts_.find(loop);
  return found == trip_counts_.end() ? std::nullopt : found->second;
}

}  // namespace kashi::insight
