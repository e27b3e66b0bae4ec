// A module as a graph of values: what depends on what, whatever computations the instructions are in.
//
// Fusions and calls only gather instructions: the value of a fusion is the value of its computation's root, and the
// value of a parameter there is the value of the fusion's operand. So a module has the same graph before and after a
// compiler moves instructions into a fusion. The graph sees through
//
//   a fusion, or a call that is the only one of its computation    the value of the root
//   a parameter of such a computation                              the value of the operand
//   an element of a tuple that was made by `tuple`                 the value of the element
//
// All other computations (the entry, bodies of loops, reducers …) are regions of their own. Operands and users of a
// value are in its region.
#ifndef KASHI_MATCHING_VALUE_GRAPH_H_
#define KASHI_MATCHING_VALUE_GRAPH_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::matching {

// The number of an instruction. Within a region, values come before their users.
using NodeId = int32_t;
inline constexpr NodeId kNoNode = -1;

// Combines hashes, in order. The result is the same on every machine, so that what depends on it can be tested.
uint64_t Combined(uint64_t hash, uint64_t other);

class ValueGraph {
 public:
  struct Use {
    NodeId user;
    int32_t operand;  // its index there
  };
  // A computation with all fusions and calls in it.
  struct Region {
    const HloComputation* computation;
    NodeId begin;  // its instructions are the nodes begin to end - 1
    NodeId end;
    NodeId root;        // a value
    uint64_t hash = 0;  // structure_above of the root: equal for regions that compute the same
  };

  // The module must outlive the graph, must be valid, and must not change. O(instructions + operands).
  ValueGraph(const HloModule& module, bool with_layouts);

  const HloModule& module() const { return module_; }
  NodeId size() const { return static_cast<NodeId>(instructions_.size()); }
  const HloInstruction& instruction(NodeId node) const { return *instructions_[node]; }
  NodeId NodeOf(const HloInstruction* instruction) const { return nodes_.at(instruction); }
  // Callees before callers, the entry last but for regions that it does not reach.
  const std::vector<Region>& regions() const { return regions_; }
  // Of a computation that is no region: -1.
  int32_t RegionOf(const HloComputation* computation) const;

  // The node whose value this one has: itself, unless the graph sees through it.
  NodeId value(NodeId node) const { return values_[node]; }
  bool IsValue(NodeId node) const { return values_[node] == node; }
  // The values of the operands; empty for a node that is no value.
  absl::Span<const NodeId> operands(NodeId node) const { return Row(operand_starts_, operands_, node); }
  // The uses by values. Of a node that is no value: empty.
  absl::Span<const Use> users(NodeId node) const { return Row(user_starts_, users_, node); }
  // Hashes of OperationKey; of all that a value depends on, itself and called computations included; and of all that
  // depends on it, itself included, down to the root. The last two are 0 for a node that is no value.
  uint64_t operation(NodeId node) const { return operations_[node]; }
  uint64_t structure_above(NodeId node) const { return above_[node]; }
  uint64_t structure_below(NodeId node) const { return below_[node]; }
  // Whether it is the fusion or the call of a computation that is no region.
  bool IsTransparentCall(NodeId node) const { return is_transparent_call_[node]; }

 private:
  friend class ValueGraphBuilder;

  template <typename T>
  static absl::Span<const T> Row(const std::vector<int32_t>& starts, const std::vector<T>& all, NodeId node) {
    return absl::MakeConstSpan(all).subspan(starts[node], starts[node + 1] - starts[node]);
  }
  void LinkOperands();
  void LinkUsers();
  void HashAbove();
  void HashBelow(const Region& region);

  const HloModule& module_;
  std::vector<const HloInstruction*> instructions_;
  absl::flat_hash_map<const HloInstruction*, NodeId> nodes_;
  std::vector<Region> regions_;
  absl::flat_hash_map<const HloComputation*, int32_t> region_numbers_;
  std::vector<NodeId> values_;
  std::vector<bool> is_transparent_call_;
  std::vector<uint64_t> operations_;
  std::vector<uint64_t> above_;
  std::vector<uint64_t> below_;
  std::vector<int32_t> operand_starts_;
  std::vector<NodeId> operands_;
  std::vector<int32_t> user_starts_;
  std::vector<Use> users_;
};

}  // namespace kashi::matching

#endif  // KASHI_MATCHING_VALUE_GRAPH_H_
