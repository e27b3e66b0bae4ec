#include "kashi/analysis/call_graph.h"

#include "kashi/base/status.h"
#include "kashi/hlo/text/hlo_place.h"

namespace kashi {
namespace {

absl::Status CheckLinks(const HloComputation& computation) {
  const HloInstruction* root = computation.root_instruction();
  if (root == nullptr || root->parent() != &computation) {
    return InvalidArgumentStrCat("computation ", computation.name(), " has no root");
  }
  for (const HloInstruction* instruction : computation.instructions()) {
    for (const HloInstruction* operand : instruction->operands()) {
      if (operand == nullptr || operand->parent() != &computation) {
        return AtInstruction(
            InvalidArgumentStrCat("an operand of instruction ", instruction->name(), " is not in its computation"),
            *instruction);
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<HloComputation* const> ControlFlowCallees(const HloInstruction& instruction) {
  if (!GetHloOpcodeInfo(instruction.opcode()).Has(HloOpcodeFlags::kControlFlow)) return {};
  return instruction.called_computations();
}

absl::StatusOr<CallGraph> CallGraph::Build(const HloModule& module) {
  if (!module.has_entry_computation()) return InvalidArgumentStrCat("module ", module.name(), " has no entry");
  CallGraph graph;
  graph.entry_ = module.entry_computation();
  for (const HloComputation* computation : module.MakeComputationPostOrder()) {
    KASHI_RETURN_IF_ERROR(CheckLinks(*computation));
    for (const HloInstruction* instruction : computation->instructions()) {
      for (const HloComputation* callee : instruction->called_computations()) {
        if (graph.indices_.contains(callee)) continue;
        return AtInstruction(InvalidArgumentStrCat("computation ", computation->name(), " calls ", callee->name(),
                                                   ", which calls it: recursion"),
                             *instruction);
      }
    }
    graph.indices_.emplace(computation, static_cast<int64_t>(graph.nodes_.size()));
    const bool is_entry = computation == module.entry_computation();
    graph.nodes_.push_back({computation, {}, is_entry, is_entry});
  }
  for (auto node = graph.nodes_.rbegin(); node != graph.nodes_.rend(); ++node) {
    if (!node->is_reached) continue;
    for (const HloInstruction* instruction : node->computation->instructions()) {
      for (const HloComputation* callee : instruction->called_computations()) {
        graph.nodes_[graph.indices_.at(callee)].is_reached = true;
      }
      if (!node->has_buffers) continue;
      for (const HloComputation* callee : ControlFlowCallees(*instruction)) {
        Node& called = graph.nodes_[graph.indices_.at(callee)];
        called.has_buffers = true;
        called.control_flow_callers.push_back(instruction);
      }
    }
  }
  return graph;
}

}  // namespace kashi
