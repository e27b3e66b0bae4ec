// The calls between computations, and their kinds.
//
//   kControlFlow   while, conditional, call, async-start: the values of the callee have buffers
//   kEmbedded      fusion, reduce, sort, map …: the callee works on elements and has no buffers
//
// The graph is built once from a module, which must outlive it and must not change. Recursion is not valid HLO and an
// error here, so walks to callees end.
#ifndef KASHI_ANALYSIS_CALL_GRAPH_H_
#define KASHI_ANALYSIS_CALL_GRAPH_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi {

class CallGraph {
 public:
  struct Node {
    const HloComputation* computation = nullptr;
    // Calls by control flow, from computations that the entry reaches by control flow; an instruction with two calls is
    // listed twice.
    std::vector<const HloInstruction*> control_flow_callers;
    // The entry, and the computations that it reaches only by control flow: those that have buffers.
    bool has_buffers = false;
    bool is_reached = false;  // the entry, and all that it calls in any manner
  };

  // INVALID_ARGUMENT for a module without an entry, for recursion, and for operands or roots that are not of their
  // computation. O(instructions + operands).
  static absl::StatusOr<CallGraph> Build(const HloModule& module);

  // Callees before callers. Computations that the entry does not reach may stand before it and after it.
  absl::Span<const Node> nodes() const { return nodes_; }
  const HloComputation* entry() const { return entry_; }
  // Dies for a computation of another module.
  int64_t IndexOf(const HloComputation* computation) const { return indices_.at(computation); }
  const Node& NodeOf(const HloComputation* computation) const { return nodes_[IndexOf(computation)]; }
  // Whether it runs as a part of its only caller, in the caller's steps and buffers. False for the entry.
  bool IsInline(const HloComputation* computation) const {
    return NodeOf(computation).control_flow_callers.size() == 1;
  }

 private:
  const HloComputation* entry_ = nullptr;
  std::vector<Node> nodes_;
  absl::flat_hash_map<const HloComputation*, int64_t> indices_;
};

// The computations whose buffers the caller must consider: empty unless the instruction is control flow.
absl::Span<HloComputation* const> ControlFlowCallees(const HloInstruction& instruction);

}  // namespace kashi

#endif  // KASHI_ANALYSIS_CALL_GRAPH_H_
