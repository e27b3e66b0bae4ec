#include "kashi/matching/module_matcher.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "kashi/array/shape_util.h"

namespace kashi::matching {
namespace {

// The nodes of values whose hash no other value of the graph has.
absl::flat_hash_map<uint64_t, NodeId> Unique(const ValueGraph& graph, uint64_t (ValueGraph::*hash)(NodeId) const) {
  absl::flat_hash_map<uint64_t, NodeId> found;
  for (NodeId node = 0; node < graph.size(); ++node) {
    if (!graph.IsValue(node)) continue;
    const auto [place, is_new] = found.try_emplace((graph.*hash)(node), node);
    if (!is_new) place->second = kNoNode;
  }
  return found;
}

absl::string_view NameOf(const ValueGraph& graph, NodeId node) { return graph.instruction(node).name(); }
const HloComputation* ParentOf(const ValueGraph& graph, NodeId node) { return graph.instruction(node).parent(); }
const HloComputation* CalleeOf(const ValueGraph& graph, NodeId call) {
  return graph.instruction(call).called_computations()[0];
}

}  // namespace

// Names are evidence if nearly all values that certainly correspond have equal names. A value certainly corresponds to
// the only one with the same structure above it, or below it.
bool ModuleMatcher::NamesAreTrustworthy() const {
  int64_t equal = 0;
  int64_t all = 0;
  for (const auto hash : {&ValueGraph::structure_above, &ValueGraph::structure_below}) {
    const auto of_a = Unique(a_, hash);
    const auto of_b = Unique(b_, hash);
    for (const auto& [key, a] : of_a) {
      const auto found = of_b.find(key);
      if (a == kNoNode || found == of_b.end() || found->second == kNoNode) continue;
      ++all;
      equal += NameOf(a_, a) == NameOf(b_, found->second) ? 1 : 0;
    }
  }
  return 10 * equal >= 9 * all;
}

void ModuleMatcher::AddPair(const HloComputation* a, const HloComputation* b) {
  partners_of_a_[a] = b;
  partners_of_b_[b] = a;
  pairs_.emplace_back(a, b);
}

void ModuleMatcher::Vote(const HloComputation* a, const HloComputation* b, int64_t votes, Places places, Votes* all) {
  Candidate& candidate = (*all)[{a, b}];
  candidate.votes += votes;
  candidate.place = places.a + places.b;
  candidate.place_of_a = places.a;
  candidate.a = a;
  candidate.b = b;
}

std::vector<ModuleMatcher::Candidate> ModuleMatcher::Ranked(const Votes& votes) {
  std::vector<Candidate> ranked;
  for (const auto& [pair, candidate] : votes) ranked.push_back(candidate);
  std::sort(ranked.begin(), ranked.end(), [](const Candidate& x, const Candidate& y) {
    return std::make_tuple(-x.votes, x.place, x.place_of_a) < std::make_tuple(-y.votes, y.place, y.place_of_a);
  });
  return ranked;
}

// ---- Fusions and calls ----------------------------------------------------------------------------------------------

// Two calls are alike if they hold values that correspond, have corresponding results, or equal names.
void ModuleMatcher::VoteForCalls(const RegionPair& pair, Votes* votes) const {
  const ValueGraph::Region& a = pair.a;
  const ValueGraph::Region& b = pair.b;
  absl::flat_hash_map<const HloComputation*, NodeId> calls_a;  // by callee
  absl::flat_hash_map<const HloComputation*, NodeId> calls_b;
  std::map<std::tuple<NodeId, HloOpcode>, std::vector<NodeId>> by_result;
  absl::flat_hash_map<absl::string_view, NodeId> by_name;
  for (NodeId node = a.begin; node < a.end; ++node) {
    if (a_.IsTransparentCall(node)) calls_a[CalleeOf(a_, node)] = node;
  }
  for (NodeId node = b.end; node-- > b.begin;) {  // so that the first is the last of its list
    if (!b_.IsTransparentCall(node)) continue;
    calls_b[CalleeOf(b_, node)] = node;
    by_result[{b_.value(node), b_.instruction(node).opcode()}].push_back(node);
    by_name[NameOf(b_, node)] = node;
  }
  const auto vote = [&](NodeId call_a, NodeId call_b, int64_t count) {
    if (a_.instruction(call_a).opcode() != b_.instruction(call_b).opcode()) return;
    Vote(CalleeOf(a_, call_a), CalleeOf(b_, call_b), count, {call_a - a.begin, call_b - b.begin}, votes);
  };
  for (NodeId node = a.begin; node < a.end; ++node) {
    if (a_.IsTransparentCall(node)) {
      const auto same = by_result.find({pairing_.OfA(a_.value(node)), a_.instruction(node).opcode()});
      if (same != by_result.end() && !same->second.empty()) {
        vote(node, same->second.back(), 1);
        same->second.pop_back();
      }
      const auto namesake = by_name.find(NameOf(a_, node));
      if (names_are_trusted_ && namesake != by_name.end()) vote(node, namesake->second, 1);
    } else if (a_.IsValue(node) && pairing_.OfA(node) != kNoNode) {
      const auto call_a = calls_a.find(ParentOf(a_, node));
      const auto call_b = calls_b.find(ParentOf(b_, pairing_.OfA(node)));
      if (call_a != calls_a.end() && call_b != calls_b.end()) vote(call_a->second, call_b->second, 2);
    }
  }
}

// Parameters and elements of tuples in paired computations: by the values that they forward, then parameters by number.
void ModuleMatcher::PairForwarded(const RegionPair& pair) {
  const ValueGraph::Region& a = pair.a;
  const ValueGraph::Region& b = pair.b;
  std::map<std::tuple<const HloComputation*, NodeId, HloOpcode>, EqualNodes> found;  // by computation and value of B
  const auto is_forwarded = [](const ValueGraph& graph, NodeId node) {
    return !graph.IsValue(node) && !graph.IsTransparentCall(node);
  };
  for (NodeId node = b.begin; node < b.end; ++node) {
    if (!is_forwarded(b_, node)) continue;
    found[{ParentOf(b_, node), b_.value(node), b_.instruction(node).opcode()}].b.push_back(node);
  }
  std::vector<NodeId> parameters;
  for (NodeId node = a.begin; node < a.end; ++node) {
    const HloComputation* partner = PartnerOfA(ParentOf(a_, node));
    if (!is_forwarded(a_, node) || partner == nullptr) continue;
    found[{partner, pairing_.OfA(a_.value(node)), a_.instruction(node).opcode()}].a.push_back(node);
    if (a_.instruction(node).opcode() == HloOpcode::kParameter) parameters.push_back(node);
  }
  for (const auto& [key, nodes] : found) {
    PairByNameThenOrder(nodes, a_, b_, pairing_, [this](NodeId x, NodeId y) { pairing_.Add(x, y); });
  }
  for (const NodeId node : parameters) {
    const HloInstruction& x = a_.instruction(node);
    const HloComputation& partner = *PartnerOfA(x.parent());
    if (x.parameter_number() >= partner.num_parameters()) continue;
    const HloInstruction* y = partner.parameter_instruction(x.parameter_number());
    if (pairing_.AreFree(node, b_.NodeOf(y)) && ShapeUtil::Compatible(x.shape(), y->shape())) {
      pairing_.Add(node, b_.NodeOf(y));
    }
  }
}

void ModuleMatcher::PairTransparent(const RegionPair& pair) {
  const ValueGraph::Region& a = pair.a;
  const ValueGraph::Region& b = pair.b;
  Votes votes;
  VoteForCalls(pair, &votes);
  absl::flat_hash_map<const HloComputation*, NodeId> calls_b;
  for (NodeId node = b.begin; node < b.end; ++node) {
    if (b_.IsTransparentCall(node)) calls_b[CalleeOf(b_, node)] = node;
  }
  for (const Candidate& best : Ranked(votes)) {
    if (AreFree(best.a, best.b)) AddPair(best.a, best.b);
  }
  for (NodeId node = a.begin; node < a.end; ++node) {
    if (!a_.IsTransparentCall(node)) continue;
    const HloComputation* partner = PartnerOfA(CalleeOf(a_, node));
    if (partner != nullptr) pairing_.Add(node, calls_b.at(partner));
  }
  PairForwarded(pair);
}

// ---- Regions --------------------------------------------------------------------------------------------------------

// The computations that paired values call.
void ModuleMatcher::PairCalledRegions(const ValueGraph::Region& a) {
  constexpr int64_t kEqualStructure = int64_t{1} << 40;  // more than all votes
  Votes votes;
  for (NodeId node = a.begin; node < a.end; ++node) {
    if (!a_.IsValue(node) || pairing_.OfA(node) == kNoNode) continue;
    const auto callees_a = a_.instruction(node).called_computations();
    const auto callees_b = b_.instruction(pairing_.OfA(node)).called_computations();
    for (size_t i = 0; i < std::min(callees_a.size(), callees_b.size()); ++i) {
      const int32_t region_a = a_.RegionOf(callees_a[i]);
      const int32_t region_b = b_.RegionOf(callees_b[i]);
      if (region_a < 0 || region_b < 0 || !AreFree(callees_a[i], callees_b[i])) continue;
      const bool are_equal = a_.regions()[region_a].hash == b_.regions()[region_b].hash;
      const bool is_first = votes.count({callees_a[i], callees_b[i]}) == 0;
      Vote(callees_a[i], callees_b[i], 1 + (are_equal && is_first ? kEqualStructure : 0), {region_a, region_b}, &votes);
    }
  }
  for (const Candidate& best : Ranked(votes)) {
    if (AreFree(best.a, best.b)) AddPair(best.a, best.b);
  }
}

void ModuleMatcher::MatchNewPairs() {
  while (entered_ < pairs_.size()) {
    const auto [a, b] = pairs_[entered_++];
    const ValueGraph::Region& region_a = a_.regions()[a_.RegionOf(a)];
    const ValueGraph::Region& region_b = b_.regions()[b_.RegionOf(b)];
    auto matcher = std::make_unique<RegionMatcher>(RegionMatcher::Side{a_, region_a}, RegionMatcher::Side{b_, region_b},
                                                   names_are_trusted_, &pairing_);
    matcher->Match();
    region_pairs_.push_back({region_a, region_b, std::move(matcher)});
    PairCalledRegions(region_a);
  }
}

// Regions that no paired value calls: by structure, then by name.
void ModuleMatcher::PairRemainingRegions() {
  absl::flat_hash_map<uint64_t, std::vector<const HloComputation*>> by_hash;
  absl::flat_hash_map<absl::string_view, const HloComputation*> by_name;
  for (auto region = b_.regions().rbegin(); region != b_.regions().rend(); ++region) {
    if (PartnerOfB(region->computation) == nullptr) by_hash[region->hash].push_back(region->computation);
    by_name[region->computation->name()] = region->computation;
  }
  for (const ValueGraph::Region& region : a_.regions()) {
    if (PartnerOfA(region.computation) != nullptr) continue;
    auto& equal = by_hash[region.hash];
    if (equal.empty()) continue;
    AddPair(region.computation, equal.back());
    equal.pop_back();
  }
  for (const ValueGraph::Region& region : a_.regions()) {
    const auto found = by_name.find(region.computation->name());
    if (found != by_name.end() && AreFree(region.computation, found->second))
      AddPair(region.computation, found->second);
  }
  MatchNewPairs();
}

// Compilers move instructions between a loop and its surroundings, and keep their names.
void ModuleMatcher::PairAcrossRegions() {
  absl::flat_hash_map<absl::string_view, NodeId> by_name;
  for (NodeId b = 0; b < b_.size(); ++b) {
    if (b_.IsValue(b) && pairing_.OfB(b) == kNoNode) by_name[NameOf(b_, b)] = b;
  }
  for (NodeId a = 0; a < a_.size(); ++a) {
    if (!a_.IsValue(a) || pairing_.OfA(a) != kNoNode) continue;
    const auto found = by_name.find(NameOf(a_, a));
    if (found == by_name.end() || pairing_.OfB(found->second) != kNoNode) continue;
    const HloInstruction& x = a_.instruction(a);
    const HloInstruction& y = b_.instruction(found->second);
    const bool is_same = x.opcode() == y.opcode() && x.opcode() != HloOpcode::kParameter &&
                         x.metadata().op_name() == y.metadata().op_name();
    if (is_same) pairing_.Add(a, found->second);
  }
}

// A computation that was fused and has lost its fusion, or the other way round: compilers leave such ones behind.
void ModuleMatcher::PairOrphans() {
  if (!names_are_trusted_) return;
  absl::flat_hash_map<absl::string_view, const HloComputation*> by_name;
  for (const HloComputation* y : b_.module().computations()) {
    if (PartnerOfB(y) == nullptr) by_name[y->name()] = y;
  }
  for (const HloComputation* x : a_.module().computations()) {
    const auto found = by_name.find(x->name());
    if (found == by_name.end() || !AreFree(x, found->second)) continue;
    AddPair(x, found->second);
    EqualNodes nodes;
    for (const HloInstruction* each : x->instructions()) nodes.a.push_back(a_.NodeOf(each));
    for (const HloInstruction* each : found->second->instructions()) nodes.b.push_back(b_.NodeOf(each));
    for (const auto& [a, b] : Namesakes(nodes, a_, b_)) {
      const bool is_same = a_.instruction(a).opcode() == b_.instruction(b).opcode();
      if (is_same && pairing_.AreFree(a, b)) pairing_.Add(a, b);
    }
  }
}

void ModuleMatcher::Match() {
  names_are_trusted_ = NamesAreTrustworthy();
  AddPair(a_.module().entry_computation(), b_.module().entry_computation());
  MatchNewPairs();
  PairRemainingRegions();
  PairAcrossRegions();
  for (size_t i = 0; i < region_pairs_.size(); ++i) {  // the list grows
    region_pairs_[i].matcher->MatchReplaced();
    PairCalledRegions(region_pairs_[i].a);
    MatchNewPairs();
  }
  for (const RegionPair& pair : region_pairs_) PairTransparent(pair);
  PairOrphans();
}

}  // namespace kashi::matching
