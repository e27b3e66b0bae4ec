// One-to-one pairs of the nodes of two value graphs, A and B.
#ifndef KASHI_MATCHING_PAIRING_H_
#define KASHI_MATCHING_PAIRING_H_

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "kashi/base/check.h"
#include "kashi/matching/value_graph.h"

namespace kashi::matching {

class Pairing {
 public:
  Pairing(NodeId size_a, NodeId size_b) : partners_a_(size_a, kNoNode), partners_b_(size_b, kNoNode) {}

  // The partner of a node of A, or of B; kNoNode: it has none.
  NodeId OfA(NodeId a) const { return partners_a_[a]; }
  NodeId OfB(NodeId b) const { return partners_b_[b]; }
  bool AreFree(NodeId a, NodeId b) const { return OfA(a) == kNoNode && OfB(b) == kNoNode; }
  bool ArePaired(NodeId a, NodeId b) const { return partners_a_[a] == b; }
  // Pre: both are free.
  void Add(NodeId a, NodeId b) {
    KASHI_DCHECK(AreFree(a, b));
    partners_a_[a] = b;
    partners_b_[b] = a;
  }

 private:
  std::vector<NodeId> partners_a_;
  std::vector<NodeId> partners_b_;
};

// Nodes of A and of B that fit each other equally well.
struct EqualNodes {
  std::vector<NodeId> a;
  std::vector<NodeId> b;
};

// Those with equal names, in the order of their names, so that it does not matter which module is A.
inline std::vector<std::pair<NodeId, NodeId>> Namesakes(const EqualNodes& nodes, const ValueGraph& a,
                                                        const ValueGraph& b) {
  absl::flat_hash_map<absl::string_view, NodeId> by_name;
  for (const NodeId y : nodes.b) by_name[b.instruction(y).name()] = y;
  std::vector<std::pair<NodeId, NodeId>> pairs;
  for (const NodeId x : nodes.a) {
    const auto found = by_name.find(a.instruction(x).name());
    if (found != by_name.end()) pairs.emplace_back(x, found->second);
  }
  std::sort(pairs.begin(), pairs.end(), [&](const auto& left, const auto& right) {
    return a.instruction(left.first).name() < a.instruction(right.first).name();
  });
  return pairs;
}

// Calls `add` for those with equal names, then for the others in their order, as long as both sides have free nodes.
template <typename Add>
void PairByNameThenOrder(const EqualNodes& nodes, const ValueGraph& a, const ValueGraph& b, const Pairing& pairing,
                         Add add) {
  if (nodes.a.size() > 1 || nodes.b.size() > 1) {
    for (const auto& [x, y] : Namesakes(nodes, a, b)) {
      if (pairing.AreFree(x, y)) add(x, y);
    }
  }
  auto y = nodes.b.begin();
  for (const NodeId x : nodes.a) {
    if (pairing.OfA(x) != kNoNode) continue;
    y = std::find_if(y, nodes.b.end(), [&](NodeId node) { return pairing.OfB(node) == kNoNode; });
    if (y == nodes.b.end()) return;
    add(x, *y);
  }
}

}  // namespace kashi::matching

#endif  // KASHI_MATCHING_PAIRING_H_
