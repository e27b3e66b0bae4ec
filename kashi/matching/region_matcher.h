// Pairs the values of two regions (value_graph.h): instructions that compute the same, or that have changed.
//
// No rule depends on which module is A. The rules, in order:
//
//   parameters of equal number; the roots, if they are equal operations
//   equal name and operation, if names can be trusted
//   equal structure above (all it depends on) and below (all that depends on it), then above alone, then below alone
//   equal neighbourhood of up to three steps, in which neighbours with partners are known
//   changed: the opcode is the same, and operands or users say that one stands for the other
//   replaced: only the dimensions of the result are the same, and a user or the name says so
//
// When two values are paired, the rule is tried on their operands and users at once, so that pairs stay consistent.
// Where several values fit equally well, equal names decide, and then the order.
#ifndef KASHI_MATCHING_REGION_MATCHER_H_
#define KASHI_MATCHING_REGION_MATCHER_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kashi/matching/pairing.h"
#include "kashi/matching/value_graph.h"

namespace kashi::matching {

// How alike two values must be to be paired because of their neighbours.
enum class Likeness {
  kEqual,     // the operation with shape and attributes
  kChanged,   // the opcode
  kReplaced,  // the dimensions of the result
};

class RegionMatcher {
 public:
  struct Side {
    const ValueGraph& graph;
    const ValueGraph::Region& region;
  };

  // Pairs values that are free in `pairing`. `names_are_trusted`: an equal name is evidence, as between two stages of
  // one compilation. The graphs and the pairing must outlive this.
  RegionMatcher(Side a, Side b, bool names_are_trusted, Pairing* pairing)
      : a_(a), b_(b), names_are_trusted_(names_are_trusted), pairing_(*pairing) {}

  // Expected time O(nodes log nodes + operands) for both. The last rule, for values that were replaced by others, is
  // for when all else has been paired, also across regions.
  void Match();
  void MatchReplaced();

 private:
  using Pair = std::pair<NodeId, NodeId>;
  enum class Sizes { kOne, kEqual, kAny };  // which classes are paired: with one value on each side, as many, any
  // By node, from the begin of the region on.
  using Signatures = std::vector<uint64_t>;

  void PairParameters();
  void PairRoots(Likeness likeness);
  std::vector<NodeId> FreeValues(const Side& side) const;
  void PairByName(Likeness likeness);
  void PairBySignatures(const Signatures& a, const Signatures& b, Sizes sizes);
  void PairByStructure(bool above, bool below, Sizes sizes);
  void PairByNeighbourhood(int steps, Sizes sizes);
  void PairEqual(const EqualNodes& values);
  Signatures NeighbourhoodsOf(const Side& side, int steps) const;
  uint64_t PairLabel(const Side& side, NodeId node) const;

  void Add(NodeId a, NodeId b);
  // Tries the operands and users of all pairs that were made, for each likeness up to reach_.
  void Propagate();
  void PropagateToOperands(Pair pair, Likeness likeness);
  void PropagateToUsers(Pair pair, Likeness likeness);
  void PairUsers(const EqualNodes& users, Likeness likeness);
  bool AreAlike(NodeId a, NodeId b, Likeness likeness) const;
  bool OperandsAgree(NodeId a, NodeId b) const;
  bool IsFree(const Side& side, NodeId node) const {
    return (&side == &a_ ? pairing_.OfA(node) : pairing_.OfB(node)) == kNoNode;
  }

  const Side a_;
  const Side b_;
  const bool names_are_trusted_;
  Pairing& pairing_;
  static constexpr size_t kLikenesses = 3;
  Likeness reach_ = Likeness::kEqual;
  std::vector<Pair> pairs_;            // in the order in which they were made
  size_t followed_[kLikenesses] = {};  // how many of them were followed
};

}  // namespace kashi::matching

#endif  // KASHI_MATCHING_REGION_MATCHER_H_
