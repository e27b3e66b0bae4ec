#include "kashi/insight/run_spread.h"

#include <algorithm>
#include <limits>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"

namespace kashi::insight {

Runs SpreadRuns(const CallGraph& graph, const ExecutionCounts& counts, bool is_flat,
                absl::FunctionRef<double(const HloComputation*)> value) {
  Runs runs;
  runs[graph.entry()] = 1;
  const auto add = [&](const HloComputation* callee, double more) {
    double& count = runs[callee];
    count = std::min(count + more, std::numeric_limits<double>::max());
  };
  for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) {  // callers before callees
    const auto found = runs.find(node->computation);
    if (found == runs.end()) continue;
    const double here = found->second;
    for (const HloInstruction* instruction : node->computation->instructions()) {
      const absl::Span<HloComputation* const> callees = ControlFlowCallees(*instruction);
      if (callees.empty()) continue;
      if (instruction->opcode() == HloOpcode::kConditional) {
        const HloComputation* dearest =
            *absl::c_max_element(callees, [&](const auto* a, const auto* b) { return value(a) < value(b); });
        for (const HloComputation* branch : callees) add(branch, branch == dearest ? here : 0);
        continue;
      }
      const bool is_loop = instruction->opcode() == HloOpcode::kWhile && !is_flat;
      const double trip_count = is_loop ? static_cast<double>(counts.TripCountOf(instruction).value_or(1)) : 1;
      for (size_t i = 0; i < callees.size(); ++i) {
        // The condition, which comes second, runs once more than the body.
        add(callees[i], here * (is_loop && i == 1 ? trip_count + 1 : trip_count));
      }
    }
  }
  return runs;
}

}  // namespace kashi::insight
