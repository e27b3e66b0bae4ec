// Which instruction of one module corresponds to which of another, wherever compilers have moved it.
#ifndef KASHI_MATCHING_MODULE_MATCHER_H_
#define KASHI_MATCHING_MODULE_MATCHER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/matching/pairing.h"
#include "kashi/matching/region_matcher.h"
#include "kashi/matching/value_graph.h"

namespace kashi::matching {

// Pairs computations and instructions, beginning at ENTRY: the values of two regions by RegionMatcher, then the
// computations that paired values call, and so on. Then values without a partner are paired by name across regions, and
// at last fusions and calls by the values that they hold. No rule depends on which module is A.
class ModuleMatcher {
 public:
  // The graphs must outlive this. Expected time O(n log n) for n instructions and operands.
  ModuleMatcher(const ValueGraph& a, const ValueGraph& b) : a_(a), b_(b), pairing_(a.size(), b.size()) {}

  void Match();

  const Pairing& pairing() const { return pairing_; }
  // The partner of a computation of A, or of B; null: it has none.
  const HloComputation* PartnerOfA(const HloComputation* a) const { return Find(partners_of_a_, a); }
  const HloComputation* PartnerOfB(const HloComputation* b) const { return Find(partners_of_b_, b); }
  // Pairs of computations in the order in which they were paired, ENTRY first.
  const std::vector<std::pair<const HloComputation*, const HloComputation*>>& computations() const { return pairs_; }

 private:
  using Partners = absl::flat_hash_map<const HloComputation*, const HloComputation*>;
  struct RegionPair {
    const ValueGraph::Region& a;
    const ValueGraph::Region& b;
    std::unique_ptr<RegionMatcher> matcher;
  };
  struct Places {
    int64_t a;
    int64_t b;
  };
  // A pair that is supported by votes.
  struct Candidate {
    int64_t votes = 0;
    int64_t place = 0;       // the sum of the places of both: the first ones win if votes are equal
    int64_t place_of_a = 0;  // then the order does not decide who wins
    const HloComputation* a = nullptr;
    const HloComputation* b = nullptr;
  };
  using Votes = absl::flat_hash_map<std::pair<const HloComputation*, const HloComputation*>, Candidate>;

  static const HloComputation* Find(const Partners& partners, const HloComputation* computation) {
    const auto found = partners.find(computation);
    return found == partners.end() ? nullptr : found->second;
  }
  bool AreFree(const HloComputation* a, const HloComputation* b) const {
    return PartnerOfA(a) == nullptr && PartnerOfB(b) == nullptr;
  }
  bool NamesAreTrustworthy() const;
  void AddPair(const HloComputation* a, const HloComputation* b);
  // The candidates, best first. Two that share a computation are never equally good, so the order is the same from B's
  // side.
  static std::vector<Candidate> Ranked(const Votes& votes);
  static void Vote(const HloComputation* a, const HloComputation* b, int64_t votes, Places places, Votes* all);

  // Fusions and calls, their computations, and what the graph sees through in them.
  void PairTransparent(const RegionPair& pair);
  void VoteForCalls(const RegionPair& pair, Votes* votes) const;
  void PairForwarded(const RegionPair& pair);
  void PairCalledRegions(const ValueGraph::Region& a);
  void PairRemainingRegions();
  void PairAcrossRegions();
  void PairOrphans();
  void MatchNewPairs();

  const ValueGraph& a_;
  const ValueGraph& b_;
  Pairing pairing_;
  bool names_are_trusted_ = false;
  Partners partners_of_a_;
  Partners partners_of_b_;
  std::vector<std::pair<const HloComputation*, const HloComputation*>> pairs_;
  std::vector<RegionPair> region_pairs_;  // those of the pairs that were entered
  size_t entered_ = 0;                    // how many of the pairs were
};

}  // namespace kashi::matching

#endif  // KASHI_MATCHING_MODULE_MATCHER_H_
