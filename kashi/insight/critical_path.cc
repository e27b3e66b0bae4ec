#include "kashi/insight/critical_path.h"

#include <algorithm>
#include <limits>

#include "kashi/analysis/call_graph.h"
#include "kashi/base/status.h"

namespace kashi::insight {
namespace {

// When an instruction ends, and what it has waited for longest; null: for nothing.
struct Finish {
  double seconds = 0;
  const HloInstruction* after = nullptr;
};
using Finishes = absl::flat_hash_map<const HloInstruction*, Finish>;

void WaitFor(const HloInstruction* before, const Finishes& finishes, Finish* start) {
  const auto found = finishes.find(before);
  if (found == finishes.end()) return;
  if (start->after != nullptr && found->second.seconds <= start->seconds) return;
  *start = {found->second.seconds, before};
}

}  // namespace

// Of one run, with what it calls.
double CriticalPath::OwnSeconds(const HloInstruction& instruction, const ExecutionCounts& counts,
                                const Roofline& roofline) const {
  const absl::Span<HloComputation* const> callees = ControlFlowCallees(instruction);
  if (callees.empty()) return roofline.TimeOf(&instruction).seconds();
  if (instruction.opcode() == HloOpcode::kWhile && callees.size() == 2) {
    const double iterations = static_cast<double>(counts.TripCountOf(&instruction).value_or(1));
    const double condition = SecondsOf(callees[1]);
    return std::min(iterations * (SecondsOf(callees[0]) + condition) + condition, std::numeric_limits<double>::max());
  }
  double longest = 0;
  for (const HloComputation* callee : callees) longest = std::max(longest, SecondsOf(callee));
  return longest;
}

CriticalPath::Path CriticalPath::FindPath(const HloComputation& computation, const ExecutionCounts& counts,
                                          const Roofline& roofline) const {
  Finishes finishes;
  const HloInstruction* last = nullptr;
  Path path;
  for (const HloInstruction* instruction : computation.MakeInstructionPostOrder()) {
    Finish finish;
    for (const HloInstruction* operand : instruction->operands()) WaitFor(operand, finishes, &finish);
    for (const HloInstruction* before : instruction->control_predecessors()) WaitFor(before, finishes, &finish);
    finish.seconds =
        std::min(finish.seconds + OwnSeconds(*instruction, counts, roofline), std::numeric_limits<double>::max());
    finishes[instruction] = finish;
    const bool is_later = last == nullptr || finish.seconds > path.seconds;
    if (!is_later && !(finish.seconds == path.seconds && instruction->IsRoot())) continue;
    path.seconds = finish.seconds;
    last = instruction;
  }
  for (; last != nullptr; last = finishes.at(last).after) path.instructions.push_back(last);
  std::reverse(path.instructions.begin(), path.instructions.end());
  return path;
}

absl::StatusOr<CriticalPath> CriticalPath::Compute(const HloModule& module, const CountedCost& cost,
                                                   const Roofline& roofline) {
  KASHI_ASSIGN_OR_RETURN(const CallGraph graph, CallGraph::Build(module));
  CriticalPath result;
  for (const CallGraph::Node& node : graph.nodes()) {  // callees before callers
    if (!node.has_buffers) continue;
    result.paths_[node.computation] = result.FindPath(*node.computation, cost.counts(), roofline);
  }
  result.seconds_ = result.SecondsOf(graph.entry());
  return result;
}

double CriticalPath::SecondsOf(const HloComputation* computation) const {
  const auto found = paths_.find(computation);
  return found == paths_.end() ? 0 : found->second.seconds;
}

absl::Span<const HloInstruction* const> CriticalPath::PathOf(const HloComputation* computation) const {
  const auto found = paths_.find(computation);
  if (found == paths_.end()) return {};
  return found->second.instructions;
}

}  // namespace kashi::insight
