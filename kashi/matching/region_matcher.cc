#include "kashi/matching/region_matcher.h"

#include <algorithm>

#include "kashi/array/shape_util.h"

namespace kashi::matching {
namespace {

struct Keyed {
  uint64_t key;
  NodeId node;
};

void SortByKey(std::vector<Keyed>* nodes) {
  std::stable_sort(nodes->begin(), nodes->end(), [](const Keyed& x, const Keyed& y) { return x.key < y.key; });
}

// Calls `visit` with the nodes of A and of B for each key that both have, in the order of the keys. Sorts both.
template <typename Visit>
void ForEachCommonKey(std::vector<Keyed>* a, std::vector<Keyed>* b, Visit visit) {
  SortByKey(a);
  SortByKey(b);
  const auto end_of = [](const std::vector<Keyed>& nodes, size_t begin) {
    size_t end = begin;
    while (end < nodes.size() && nodes[end].key == nodes[begin].key) ++end;
    return end;
  };
  EqualNodes nodes;
  for (size_t i = 0, j = 0; i < a->size() && j < b->size();) {
    const uint64_t key_a = (*a)[i].key;
    const uint64_t key_b = (*b)[j].key;
    const size_t end_a = end_of(*a, i);
    const size_t end_b = end_of(*b, j);
    if (key_a == key_b) {
      nodes.a.clear();
      nodes.b.clear();
      for (size_t k = i; k < end_a; ++k) nodes.a.push_back((*a)[k].node);
      for (size_t k = j; k < end_b; ++k) nodes.b.push_back((*b)[k].node);
      visit(nodes);
    }
    if (key_a <= key_b) i = end_a;
    if (key_b <= key_a) j = end_b;
  }
}

// Whether one may stand for the other: arrays of equal dimensions, or both no arrays. A parameter is given, and nothing
// replaces it.
bool MayReplace(const HloInstruction& a, const HloInstruction& b) {
  if (a.opcode() == HloOpcode::kParameter || b.opcode() == HloOpcode::kParameter) return false;
  if (!a.shape().IsArray() || !b.shape().IsArray()) return ShapeUtil::Compatible(a.shape(), b.shape());
  return ShapeUtil::SameDimensions(a.shape(), b.shape());
}

}  // namespace

// ---- Rules for neighbours -------------------------------------------------------------------------------------------

bool RegionMatcher::AreAlike(NodeId a, NodeId b, Likeness likeness) const {
  if (likeness == Likeness::kEqual) return a_.graph.operation(a) == b_.graph.operation(b);
  const HloInstruction& x = a_.graph.instruction(a);
  const HloInstruction& y = b_.graph.instruction(b);
  return likeness == Likeness::kChanged ? x.opcode() == y.opcode() : MayReplace(x, y);
}

// Whether each operand of `a` has its partner at its place in `b`, or both are free.
bool RegionMatcher::OperandsAgree(NodeId a, NodeId b) const {
  const auto of_a = a_.graph.operands(a);
  const auto of_b = b_.graph.operands(b);
  if (of_a.size() != of_b.size()) return false;
  for (size_t i = 0; i < of_a.size(); ++i) {
    if (!pairing_.ArePaired(of_a[i], of_b[i]) && !pairing_.AreFree(of_a[i], of_b[i])) return false;
  }
  return true;
}

void RegionMatcher::Add(NodeId a, NodeId b) {
  pairing_.Add(a, b);
  pairs_.emplace_back(a, b);
}

void RegionMatcher::Propagate() {
  for (size_t level = 0; level <= static_cast<size_t>(reach_);) {
    if (followed_[level] == pairs_.size()) {
      ++level;
      continue;
    }
    const Pair pair = pairs_[followed_[level]++];
    const size_t before = pairs_.size();
    PropagateToOperands(pair, static_cast<Likeness>(level));
    PropagateToUsers(pair, static_cast<Likeness>(level));
    if (pairs_.size() > before) level = 0;  // the closest likeness first
  }
}

void RegionMatcher::PropagateToOperands(Pair pair, Likeness likeness) {
  const auto of_a = a_.graph.operands(pair.first);
  const auto of_b = b_.graph.operands(pair.second);
  if (of_a.size() != of_b.size()) return;
  for (size_t i = 0; i < of_a.size(); ++i) {
    if (pairing_.AreFree(of_a[i], of_b[i]) && AreAlike(of_a[i], of_b[i], likeness)) Add(of_a[i], of_b[i]);
  }
}

void RegionMatcher::PropagateToUsers(Pair pair, Likeness likeness) {
  if (likeness == Likeness::kReplaced) return;
  const auto free_users = [&](const Side& side, NodeId node) {
    std::vector<Keyed> users;
    for (const ValueGraph::Use& use : side.graph.users(node)) {
      if (!IsFree(side, use.user)) continue;
      const uint64_t kind = likeness == Likeness::kEqual
                                ? side.graph.operation(use.user)
                                : static_cast<uint64_t>(side.graph.instruction(use.user).opcode());
      users.push_back({Combined(kind, static_cast<uint64_t>(use.operand)), use.user});
    }
    return users;
  };
  std::vector<Keyed> of_a = free_users(a_, pair.first);
  if (of_a.empty()) return;
  std::vector<Keyed> of_b = free_users(b_, pair.second);
  ForEachCommonKey(&of_a, &of_b, [&](const EqualNodes& users) { PairUsers(users, likeness); });
}

// Users of a pair, at the same place.
void RegionMatcher::PairUsers(const EqualNodes& users, Likeness likeness) {
  // Those with very many operands are left to the other rules: each operand would look at all of them.
  constexpr size_t kMostOperands = 64;
  const bool are_single = users.a.size() == 1 && users.b.size() == 1;
  if (likeness == Likeness::kChanged) {
    if (are_single && pairing_.AreFree(users.a[0], users.b[0])) Add(users.a[0], users.b[0]);
    return;
  }
  if (are_single) {
    const NodeId a = users.a[0];
    const NodeId b = users.b[0];
    const bool is_small = a_.graph.operands(a).size() <= kMostOperands;
    if (is_small && pairing_.AreFree(a, b) && OperandsAgree(a, b)) Add(a, b);
    return;
  }
  // Of several, those whose operands all have partners; at first also only those with equal users.
  const auto known = [&](const Side& side, const std::vector<NodeId>& nodes) {
    std::vector<Keyed> found;
    for (const NodeId node : nodes) {
      const auto operands = side.graph.operands(node);
      const auto is_known = [&](NodeId operand) { return !IsFree(side, operand); };
      if (!IsFree(side, node) || operands.size() > kMostOperands) continue;
      if (!std::all_of(operands.begin(), operands.end(), is_known)) continue;
      uint64_t key = reach_ == Likeness::kEqual ? side.graph.structure_below(node) : 0;
      for (const NodeId operand : operands) key = Combined(key, PairLabel(side, operand));
      found.push_back({key, node});
    }
    return found;
  };
  std::vector<Keyed> a = known(a_, users.a);
  std::vector<Keyed> b = known(b_, users.b);
  ForEachCommonKey(&a, &b, [&](const EqualNodes& nodes) {
    PairByNameThenOrder(nodes, a_.graph, b_.graph, pairing_, [this](NodeId x, NodeId y) { Add(x, y); });
  });
}

// ---- Rules for all values -------------------------------------------------------------------------------------------

// Equal for the two nodes of a pair, and whichever module is A.
uint64_t RegionMatcher::PairLabel(const Side& side, NodeId node) const {
  const bool is_a = &side == &a_;
  const NodeId a = is_a ? node : pairing_.OfB(node);
  const NodeId b = is_a ? pairing_.OfA(node) : node;
  return Combined(1, static_cast<uint64_t>(a)) + Combined(1, static_cast<uint64_t>(b));
}

void RegionMatcher::PairParameters() {
  const auto& of_a = a_.region.computation->parameter_instructions();
  const auto& of_b = b_.region.computation->parameter_instructions();
  const auto pair = [&](const HloInstruction* x, const HloInstruction* y) {
    const NodeId a = a_.graph.NodeOf(x);
    const NodeId b = b_.graph.NodeOf(y);
    if (pairing_.AreFree(a, b)) Add(a, b);
  };
  if (of_a.size() != of_b.size()) {  // some were added or removed: names say which
    EqualNodes nodes;
    for (const HloInstruction* x : of_a) nodes.a.push_back(a_.graph.NodeOf(x));
    for (const HloInstruction* y : of_b) nodes.b.push_back(b_.graph.NodeOf(y));
    for (const auto& [a, b] : Namesakes(nodes, a_.graph, b_.graph)) {
      const HloInstruction& x = a_.graph.instruction(a);
      const HloInstruction& y = b_.graph.instruction(b);
      if (ShapeUtil::Compatible(x.shape(), y.shape())) pair(&x, &y);
    }
  }
  for (size_t i = 0; i < std::min(of_a.size(), of_b.size()); ++i) {
    if (of_a.size() == of_b.size() || ShapeUtil::Compatible(of_a[i]->shape(), of_b[i]->shape())) pair(of_a[i], of_b[i]);
  }
}

void RegionMatcher::PairRoots(Likeness likeness) {
  const NodeId a = a_.region.root;
  const NodeId b = b_.region.root;
  if (pairing_.AreFree(a, b) && AreAlike(a, b, likeness)) Add(a, b);
  Propagate();
}

std::vector<NodeId> RegionMatcher::FreeValues(const Side& side) const {
  std::vector<NodeId> nodes;
  for (NodeId node = side.region.begin; node < side.region.end; ++node) {
    if (side.graph.IsValue(node) && IsFree(side, node)) nodes.push_back(node);
  }
  return nodes;
}

void RegionMatcher::PairByName(Likeness likeness) {
  if (!names_are_trusted_) return;
  for (const auto& [a, b] : Namesakes({FreeValues(a_), FreeValues(b_)}, a_.graph, b_.graph)) {
    if (AreAlike(a, b, likeness)) Add(a, b);
  }
  Propagate();
}

void RegionMatcher::PairBySignatures(const Signatures& a, const Signatures& b, Sizes sizes) {
  const auto free_values = [&](const Side& side, const Signatures& signatures) {
    std::vector<Keyed> nodes;
    for (const NodeId node : FreeValues(side)) nodes.push_back({signatures[node - side.region.begin], node});
    return nodes;
  };
  std::vector<Keyed> of_a = free_values(a_, a);
  std::vector<Keyed> of_b = free_values(b_, b);
  ForEachCommonKey(&of_a, &of_b, [&](const EqualNodes& nodes) {
    if (sizes != Sizes::kAny && nodes.a.size() != nodes.b.size()) return;
    if (sizes == Sizes::kOne && nodes.a.size() > 1) return;
    PairEqual(nodes);
  });
}

void RegionMatcher::PairEqual(const EqualNodes& values) {
  PairByNameThenOrder(values, a_.graph, b_.graph, pairing_, [this](NodeId a, NodeId b) {
    Add(a, b);
    Propagate();
  });
}

void RegionMatcher::PairByStructure(bool above, bool below, Sizes sizes) {
  const auto signatures = [&](const Side& side) {
    Signatures result;
    for (NodeId node = side.region.begin; node < side.region.end; ++node) {
      result.push_back(
          Combined(above ? side.graph.structure_above(node) : 0, below ? side.graph.structure_below(node) : 0));
    }
    return result;
  };
  PairBySignatures(signatures(a_), signatures(b_), sizes);
}

RegionMatcher::Signatures RegionMatcher::NeighbourhoodsOf(const Side& side, int steps) const {
  const NodeId begin = side.region.begin;
  Signatures known;
  for (NodeId node = begin; node < side.region.end; ++node) {
    known.push_back(IsFree(side, node) ? side.graph.operation(node) : PairLabel(side, node));
  }
  for (int step = 0; step < steps; ++step) {
    Signatures next = known;
    for (NodeId node = begin; node < side.region.end; ++node) {
      if (!side.graph.IsValue(node) || !IsFree(side, node)) continue;
      uint64_t& hash = next[node - begin];
      for (const NodeId operand : side.graph.operands(node)) hash = Combined(hash, known[operand - begin]);
      uint64_t sum = 0;
      for (const ValueGraph::Use& use : side.graph.users(node)) {
        sum += Combined(known[use.user - begin], static_cast<uint64_t>(use.operand));
      }
      hash = Combined(hash, sum);
    }
    known = std::move(next);
  }
  return known;
}

void RegionMatcher::PairByNeighbourhood(int steps, Sizes sizes) {
  PairBySignatures(NeighbourhoodsOf(a_, steps), NeighbourhoodsOf(b_, steps), sizes);
}

void RegionMatcher::Match() {
  PairParameters();
  PairRoots(Likeness::kEqual);
  PairByName(Likeness::kEqual);
  PairByStructure(/*above=*/true, /*below=*/true, Sizes::kEqual);
  PairByStructure(/*above=*/true, /*below=*/false, Sizes::kOne);
  PairByStructure(/*above=*/false, /*below=*/true, Sizes::kOne);
  for (const int steps : {3, 2, 1}) PairByNeighbourhood(steps, Sizes::kOne);
  reach_ = Likeness::kChanged;
  PairByName(Likeness::kChanged);
  Propagate();
  PairByNeighbourhood(1, Sizes::kEqual);
  PairByStructure(/*above=*/true, /*below=*/false, Sizes::kAny);
  PairByStructure(/*above=*/false, /*below=*/true, Sizes::kAny);
}

void RegionMatcher::MatchReplaced() {
  reach_ = Likeness::kReplaced;
  Propagate();
  PairByName(Likeness::kReplaced);
  PairRoots(Likeness::kReplaced);
}

}  // namespace kashi::matching
