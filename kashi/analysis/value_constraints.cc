// Entry point: ValueConstraints::Build. Every place of a value (an instruction, and a node of its shape's tuple tree)
// has a number. operand_constraints.h has the rules for arrays; tuples and calls are done here.
//
// The result must not depend on the order of instructions. So a place passes its constraint on once it has those of all
// users, and it puts them in an order of their own before it joins them. Users come before operands, a call before the
// computation that it calls, and this before the operands of the call. Some steps go back in this order: from the
// parameter of a loop's body to the body's root, and from a parameter to the operands of several calls. A constraint
// that has gone back is in the next round, and there are few rounds.
#include "kashi/analysis/value_constraints.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "kashi/analysis/call_graph.h"
#include "kashi/analysis/memory_target.h"
#include "kashi/analysis/operand_constraints.h"
#include "kashi/analysis/shape_nodes.h"
#include "kashi/analysis/value_positions.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_computation.h"

namespace kashi::analysis {
namespace {

using Flow = HloOpcodeFlags::Flow;

constexpr int64_t kMaxPlaces = int64_t{1} << 24;
constexpr int kRounds = 4;  // intervals of loops may shrink by one each time

// Whether the parameters of the called computations are the operands, or parts of operands.
bool CallsOnValues(const HloInstruction& instruction) {
  const HloOpcodeInfo& info = GetHloOpcodeInfo(instruction.opcode());
  return info.Has(HloOpcodeFlags::kControlFlow) || info.flow == Flow::kCallee;
}

// Custom calls whose result is their operand.
bool IsIdentity(const HloInstruction& call) {
  for (const char* target : {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement",
                             "MoveToHost", "MoveToDevice", "LayoutConstraint"}) {
    if (call.IsCustomCall(target)) return true;
  }
  return false;
}

bool IsIntegralOrPred(PrimitiveType type) { return primitive_util::IsIntegralType(type) || type == PRED; }

// -0 becomes 0, and where infinities cancelled out there is no bound.
void Simplify(ValueConstraint* constraint) {
  constraint->min = std::isnan(constraint->min) ? -ValueConstraint::kInfinity : constraint->min + 0.0;
  constraint->max = std::isnan(constraint->max) ? ValueConstraint::kInfinity : constraint->max + 0.0;
}

// The order in which constraints on one value are joined: the first ones win where they contradict each other. Indices
// first, then those that allow positive numbers, then narrow ones. The user does not count.
struct Stronger {
  static auto Key(const ValueConstraint& c) {
    const bool is_bounded = c.min > -ValueConstraint::kInfinity && c.max < ValueConstraint::kInfinity;
    const double width = is_bounded ? c.max - c.min : ValueConstraint::kInfinity;
    return std::make_tuple(!c.is_index, c.min < 0 && c.max <= 0, width, c.min, c.max, c.any_bits, c.no_duplicates,
                           c.is_sorted, c.is_dominant, c.continues_loop, c.value.has_value(), c.value.value_or(0));
  }
  bool operator()(const ValueConstraint& a, const ValueConstraint& b) const { return Key(a) < Key(b); }
};

class Spreading {
 public:
  Spreading() : shapes_(MemoryTarget()) {}

  absl::Status Number(const CallGraph& graph);
  void Run();
  // visit(instruction, index, constraint) for each place that has a constraint.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const auto& [place, constraint] : constraints_) {
      const Entry& entry = EntryAt(place);
      visit(entry.instruction, entry.nodes->IndexOf(place - entry.first), constraint);
    }
  }

 private:
  struct Entry {
    const HloInstruction* instruction;
    const ShapeNodes* nodes;
    int32_t first;
    int32_t rank = -1;  // larger than those of operands
  };
  // The value with the smallest key is next: a round, the rank from behind, a place.
  using Turn = std::tuple<int, int32_t, int32_t>;
  // Each constraint with its user. If several users have an equal one, messages name the user whose name comes first.
  using Constraints = std::map<ValueConstraint, const HloInstruction*, Stronger>;

  const Entry& EntryAt(int32_t place) const {
    const auto after = std::upper_bound(entries_.begin(), entries_.end(), place,
                                        [](int32_t wanted, const Entry& entry) { return wanted < entry.first; });
    return *(after - 1);
  }
  const Entry* EntryOf(const HloInstruction* instruction) const {
    const auto found = indices_.find(instruction);
    return found == indices_.end() ? nullptr : &entries_[found->second];
  }

  void Rank(const CallGraph& graph);
  void RankFrom(const HloInstruction* instruction, int32_t* next);
  void Join(const HloInstruction* value, ShapeIndexView index, ValueConstraint constraint, bool goes_back = false);
  void JoinOperand(const HloInstruction& user, int64_t number, ShapeIndexView index, const ValueConstraint& constraint,
                   bool goes_back = false) {
    if (number >= 0 && number < user.operand_count()) Join(user.operand(number), index, constraint, goes_back);
  }
  void Spread(const HloInstruction& instruction, ShapeIndexView index, const ValueConstraint& constraint);
  void SpreadToRoots(const HloInstruction& call, ShapeIndexView index, const ValueConstraint& constraint);
  void SpreadToCallers(const HloInstruction& parameter, ShapeIndexView index, const ValueConstraint& constraint);
  void SpreadStart(const HloInstruction& start, ShapeIndexView index, const ValueConstraint& constraint);
  void SpreadDone(const HloInstruction& done, int64_t element, ShapeIndexView index, const ValueConstraint& constraint);

  ShapeNodesCache shapes_;
  std::vector<Entry> entries_;
  absl::flat_hash_map<const HloInstruction*, int32_t> indices_;  // in entries_
  absl::flat_hash_map<const HloComputation*, std::vector<const HloInstruction*>> callers_;
  std::map<Turn, Constraints> waiting_;
  int round_ = 0;
  absl::flat_hash_map<int32_t, ValueConstraint> constraints_;
};

absl::Status Spreading::Number(const CallGraph& graph) {
  int64_t size = 0;
  for (const CallGraph::Node& node : graph.nodes()) {
    if (!node.is_reached) continue;
    for (const HloInstruction* instruction : node.computation->instructions()) {
      KASHI_ASSIGN_OR_RETURN(const ShapeNodes* nodes, shapes_.Get(instruction->shape()));
      indices_[instruction] = static_cast<int32_t>(entries_.size());
      entries_.push_back({instruction, nodes, static_cast<int32_t>(size)});
      size += nodes->size();
      if (size > kMaxPlaces) return ResourceExhausted("the module has more than %d values", kMaxPlaces);
      if (!CallsOnValues(*instruction)) continue;
      for (const HloComputation* callee : instruction->called_computations()) callers_[callee].push_back(instruction);
    }
  }
  Rank(graph);
  return absl::OkStatus();
}

void Spreading::Rank(const CallGraph& graph) {
  int32_t next = 0;
  const auto nodes = graph.nodes();
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {  // callers first
    if (!node->is_reached) continue;
    for (const HloInstruction* instruction : node->computation->instructions()) RankFrom(instruction, &next);
  }
}

// Operands, then the instructions of called computations, then the instruction.
void Spreading::RankFrom(const HloInstruction* instruction, int32_t* next) {
  constexpr int32_t kOpen = -2;
  std::vector<const HloInstruction*> stack = {instruction};
  while (!stack.empty()) {
    const HloInstruction* x = stack.back();
    int32_t& rank = entries_[indices_.at(x)].rank;
    if (rank != -1) {
      if (rank == kOpen) rank = (*next)++;
      stack.pop_back();
      continue;
    }
    rank = kOpen;
    if (CallsOnValues(*x)) {  // under the operands on the stack
      for (const HloComputation* callee : x->called_computations()) {
        for (const HloInstruction* inner : callee->instructions()) stack.push_back(inner);
      }
    }
    for (const HloInstruction* operand : x->operands()) stack.push_back(operand);
  }
}

void Spreading::Run() {
  const auto join = [&](const HloInstruction* value, const ValueConstraint& constraint) {
    Join(value, {}, constraint);
  };
  for (const Entry& entry : entries_) {
    const HloInstruction& instruction = *entry.instruction;
    ConstrainOperands(instruction, join);
    if (instruction.opcode() != HloOpcode::kWhile || instruction.called_computations().size() != 2) continue;
    ValueConstraint constraint;
    constraint.continues_loop = true;
    constraint.user = &instruction;
    Join(instruction.while_condition()->root_instruction(), {}, constraint);
  }
  while (!waiting_.empty()) {
    const auto turn = waiting_.begin();
    const int32_t place = std::get<2>(turn->first);
    round_ = std::get<0>(turn->first);
    const Entry& entry = EntryAt(place);
    const ShapeIndex index = entry.nodes->IndexOf(place - entry.first);
    const bool is_integer = IsIntegralOrPred(entry.nodes->nodes()[place - entry.first].shape->element_type());
    ValueConstraint constraint;
    for (const auto& [one, user] : turn->second) {
      ValueConstraint next = one;
      next.user = user;
      constraint = Meet(constraint, next, is_integer);
    }
    waiting_.erase(turn);
    ValueConstraint& known = constraints_[place];
    known = Meet(known, constraint, is_integer);
    Spread(*entry.instruction, index, constraint);
  }
}

// Only for arrays: other leaves have no elements.
void Spreading::Join(const HloInstruction* value, ShapeIndexView index, ValueConstraint constraint, bool goes_back) {
  const Entry* entry = EntryOf(value);
  const int round = goes_back ? round_ + 1 : round_;
  if (entry == nullptr || round == kRounds || constraint.is_free()) return;
  const std::optional<PositionRange> part = PositionRange{entry->first, 0, entry->nodes}.Find(index);
  if (!part.has_value() || !part->nodes->nodes()[part->node].shape->IsArray()) return;
  Simplify(&constraint);
  const HloInstruction*& user =
      waiting_[Turn(round, -entry->rank, part->first)].try_emplace(constraint, constraint.user).first->second;
  if (constraint.user->name() < user->name()) user = constraint.user;
}

void Spreading::Spread(const HloInstruction& x, ShapeIndexView index, const ValueConstraint& constraint) {
  switch (GetHloOpcodeInfo(x.opcode()).flow) {
    case Flow::kElement: {
      ShapeIndex inner(index.begin(), index.end());
      inner.push_front(x.fields().Get<HloField::tuple_index>(0));
      return JoinOperand(x, 0, inner, constraint);
    }
    case Flow::kLoop:
      JoinOperand(x, 0, index, constraint);
      if (x.called_computations().size() == 2) Join(x.while_body()->root_instruction(), index, constraint);
      return;
    case Flow::kCallee:
      return SpreadToRoots(x, index, constraint);
    case Flow::kAsyncStart:
    case Flow::kCopyStart:
    case Flow::kStart:
      return SpreadStart(x, index, constraint);
    case Flow::kAsyncDone:
    case Flow::kDone:
      return SpreadDone(x, 1, index, constraint);
    case Flow::kCopyDone:
      return SpreadDone(x, 0, index, constraint);
    case Flow::kTuple:
    case Flow::kEachOperand:
      if (index.empty()) break;
      return JoinOperand(x, index[0], index.subspan(1), constraint);
    case Flow::kOperand:
    case Flow::kCopy:
      if (index.empty()) break;
      return JoinOperand(x, 0, index, constraint);
    default:
      if (x.opcode() == HloOpcode::kParameter) return SpreadToCallers(x, index, constraint);
      if (x.opcode() == HloOpcode::kCustomCall && IsIdentity(x)) return JoinOperand(x, 0, index, constraint);
      if (!index.empty()) return;
  }
  PassToOperands(x, constraint,
                 [&](const HloInstruction* value, const ValueConstraint& passed) { Join(value, {}, passed); });
}

void Spreading::SpreadToRoots(const HloInstruction& call, ShapeIndexView index, const ValueConstraint& constraint) {
  for (const HloComputation* callee : call.called_computations()) Join(callee->root_instruction(), index, constraint);
}

void Spreading::SpreadToCallers(const HloInstruction& parameter, ShapeIndexView index,
                                const ValueConstraint& constraint) {
  const auto callers = callers_.find(parameter.parent());
  if (callers == callers_.end()) return;
  const int64_t number = parameter.parameter_number();
  const bool goes_back = callers->second.size() > 1;
  for (const HloInstruction* call : callers->second) {
    if (call->opcode() == HloOpcode::kWhile) {
      JoinOperand(*call, 0, index, constraint, goes_back);
      if (call->called_computations().size() != 2) continue;
      Join(call->while_body()->root_instruction(), index, constraint, /*goes_back=*/true);
    } else if (call->opcode() != HloOpcode::kConditional) {
      JoinOperand(*call, number, index, constraint, goes_back);
    } else {
      const auto branches = call->called_computations();
      for (size_t i = 0; i < branches.size(); ++i) {
        if (branches[i] != parameter.parent()) continue;
        JoinOperand(*call, static_cast<int64_t>(i) + 1, index, constraint, goes_back);
      }
    }
  }
}

// (sources, results, …) of an asynchronous start; of copy-start (result, source, context).
void Spreading::SpreadStart(const HloInstruction& start, ShapeIndexView index, const ValueConstraint& constraint) {
  if (index.empty() || index[0] > 1) return;
  if (start.opcode() == HloOpcode::kAsyncStart) {
    if (index[0] == 1) return SpreadToRoots(start, index.subspan(1), constraint);
    if (index.size() > 1) JoinOperand(start, index[1], index.subspan(2), constraint);
    return;
  }
  if (start.operand_count() == 1 || index.size() < 2) return JoinOperand(start, 0, index.subspan(1), constraint);
  JoinOperand(start, index[1], index.subspan(2), constraint);
}

// A done takes an element of the tuple that its start made.
void Spreading::SpreadDone(const HloInstruction& done, int64_t element, ShapeIndexView index,
                           const ValueConstraint& constraint) {
  ShapeIndex inner(index.begin(), index.end());
  inner.push_front(element);
  JoinOperand(done, 0, inner, constraint);
}

}  // namespace

absl::StatusOr<ValueConstraints> ValueConstraints::Build(const HloModule& module) {
  KASHI_ASSIGN_OR_RETURN(const CallGraph graph, CallGraph::Build(module));
  Spreading spreading;
  KASHI_RETURN_IF_ERROR(spreading.Number(graph));
  spreading.Run();
  ValueConstraints result;
  spreading.ForEach([&](const HloInstruction* instruction, ShapeIndex index, const ValueConstraint& constraint) {
    const bool is_given = instruction->opcode() == HloOpcode::kParameter || instruction->IsConstant();
    if (is_given && !constraint.is_free()) result.constraints_[instruction].emplace(std::move(index), constraint);
  });
  return result;
}

ValueConstraint ValueConstraints::Of(const HloInstruction* instruction, const ShapeIndex& index) const {
  const auto places = constraints_.find(instruction);
  if (places == constraints_.end()) return ValueConstraint();
  const auto place = places->second.find(index);
  return place == places->second.end() ? ValueConstraint() : place->second;
}

}  // namespace kashi::analysis
