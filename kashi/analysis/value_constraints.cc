// Entry point: ValueConstraints::Build. Every place of a value (an instruction, and a node of its shape's tuple tree)
// has a number. A place whose wish has changed waits in a queue until the wish has been handed to the places that its
// value is made of; what operations on arrays do is operand_constraints.h, what moves tuples and what calls is here.
#include "kashi/analysis/value_constraints.h"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "kashi/analysis/call_graph.h"
#include "kashi/analysis/memory_target.h"
#include "kashi/analysis/operand_constraints.h"
#include "kashi/analysis/shape_nodes.h"
#include "kashi/analysis/value_positions.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_computation.h"

namespace kashi::internal {
namespace {

using Flow = HloOpcodeFlags::Flow;

constexpr int64_t kMaxPlaces = int64_t{1} << 24;
constexpr int kMostChanges = 16;  // of one wish: intervals of loops may go on shrinking by one

// Whether the parameters of the called computations are the operands, or parts of them.
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

class Spreading {
 public:
  Spreading() : shapes_(MemoryTarget()) {}

  absl::Status Number(const CallGraph& graph);
  void Run();
  // visit(instruction, index, wish) of each place that is wished something of.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const auto& [place, known] : wishes_) {
      const Entry& entry = EntryAt(place);
      visit(entry.instruction, entry.nodes->IndexOf(place - entry.first), known.wish);
    }
  }

 private:
  struct Entry {
    const HloInstruction* instruction;
    const ShapeNodes* nodes;
    int32_t first;
  };
  struct Known {
    ValueConstraint wish;
    int changes = 0;
  };

  const Entry& EntryAt(int32_t place) const {
    const auto after = std::upper_bound(entries_.begin(), entries_.end(), place,
                                        [](int32_t wanted, const Entry& entry) { return wanted < entry.first; });
    return *(after - 1);
  }
  std::optional<PositionRange> Of(const HloInstruction* instruction) const {
    const auto found = indices_.find(instruction);
    if (found == indices_.end()) return std::nullopt;
    const Entry& entry = entries_[found->second];
    return PositionRange{entry.first, 0, entry.nodes};
  }

  void Join(const HloInstruction* value, ShapeIndexView index, const ValueConstraint& wish);
  void JoinOperand(const HloInstruction& user, int64_t number, ShapeIndexView index, const ValueConstraint& wish) {
    if (number >= 0 && number < user.operand_count()) Join(user.operand(number), index, wish);
  }
  void Spread(const HloInstruction& instruction, ShapeIndexView index, const ValueConstraint& wish);
  void SpreadToRoots(const HloInstruction& call, ShapeIndexView index, const ValueConstraint& wish);
  void SpreadToCallers(const HloInstruction& parameter, ShapeIndexView index, const ValueConstraint& wish);
  void SpreadStart(const HloInstruction& start, ShapeIndexView index, const ValueConstraint& wish);
  void SpreadBehind(const HloInstruction& done, int64_t element, ShapeIndexView index, const ValueConstraint& wish);

  ShapeNodesCache shapes_;
  std::vector<Entry> entries_;
  absl::flat_hash_map<const HloInstruction*, int32_t> indices_;  // in entries_
  absl::flat_hash_map<const HloComputation*, std::vector<const HloInstruction*>> callers_;
  absl::flat_hash_map<int32_t, Known> wishes_;
  std::deque<int32_t> waiting_;
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
  return absl::OkStatus();
}

void Spreading::Run() {
  const auto join = [&](const HloInstruction* value, const ValueConstraint& wish) { Join(value, {}, wish); };
  for (const Entry& entry : entries_) {
    const HloInstruction& instruction = *entry.instruction;
    WantOfOperands(instruction, join);
    if (instruction.opcode() != HloOpcode::kWhile || instruction.called_computations().size() != 2) continue;
    ValueConstraint wish;
    wish.continues_loop = true;
    wish.user = &instruction;
    Join(instruction.while_condition()->root_instruction(), {}, wish);
  }
  while (!waiting_.empty()) {
    const int32_t place = waiting_.front();
    waiting_.pop_front();
    const Entry entry = EntryAt(place);
    const ValueConstraint wish = wishes_[place].wish;
    Spread(*entry.instruction, entry.nodes->IndexOf(place - entry.first), wish);
  }
}

// Of arrays only: other leaves have no elements.
void Spreading::Join(const HloInstruction* value, ShapeIndexView index, const ValueConstraint& wish) {
  const std::optional<PositionRange> whole = Of(value);
  const std::optional<PositionRange> part = whole.has_value() ? whole->Find(index) : std::nullopt;
  if (!part.has_value() || !part->nodes->nodes()[part->node].shape->IsArray()) return;
  Known& known = wishes_[part->first];
  const ValueConstraint both = Meet(known.wish, wish);
  if (SameWish(both, known.wish) || ++known.changes > kMostChanges) return;
  known.wish = both;
  waiting_.push_back(part->first);
}

void Spreading::Spread(const HloInstruction& x, ShapeIndexView index, const ValueConstraint& wish) {
  switch (GetHloOpcodeInfo(x.opcode()).flow) {
    case Flow::kElement: {
      ShapeIndex inner(index.begin(), index.end());
      inner.push_front(x.fields().Get<HloField::tuple_index>(0));
      return JoinOperand(x, 0, inner, wish);
    }
    case Flow::kLoop:
      JoinOperand(x, 0, index, wish);
      if (x.called_computations().size() == 2) Join(x.while_body()->root_instruction(), index, wish);
      return;
    case Flow::kCallee:
      return SpreadToRoots(x, index, wish);
    case Flow::kAsyncStart:
    case Flow::kCopyStart:
    case Flow::kStart:
      return SpreadStart(x, index, wish);
    case Flow::kAsyncDone:
    case Flow::kDone:
      return SpreadBehind(x, 1, index, wish);
    case Flow::kCopyDone:
      return SpreadBehind(x, 0, index, wish);
    case Flow::kTuple:
    case Flow::kEachOperand:
      if (index.empty()) break;
      return JoinOperand(x, index[0], index.subspan(1), wish);
    case Flow::kOperand:
    case Flow::kCopy:
      if (index.empty()) break;
      return JoinOperand(x, 0, index, wish);
    default:
      if (x.opcode() == HloOpcode::kParameter) return SpreadToCallers(x, index, wish);
      if (x.opcode() == HloOpcode::kCustomCall && IsIdentity(x)) return JoinOperand(x, 0, index, wish);
      if (!index.empty()) return;
  }
  HandToOperands(x, wish, [&](const HloInstruction* value, const ValueConstraint& handed) { Join(value, {}, handed); });
}

void Spreading::SpreadToRoots(const HloInstruction& call, ShapeIndexView index, const ValueConstraint& wish) {
  for (const HloComputation* callee : call.called_computations()) Join(callee->root_instruction(), index, wish);
}

void Spreading::SpreadToCallers(const HloInstruction& parameter, ShapeIndexView index, const ValueConstraint& wish) {
  const auto callers = callers_.find(parameter.parent());
  if (callers == callers_.end()) return;
  const int64_t number = parameter.parameter_number();
  for (const HloInstruction* call : callers->second) {
    if (call->opcode() == HloOpcode::kWhile) {
      JoinOperand(*call, 0, index, wish);
      if (call->called_computations().size() == 2) Join(call->while_body()->root_instruction(), index, wish);
      continue;
    }
    if (call->opcode() != HloOpcode::kConditional) {
      JoinOperand(*call, number, index, wish);
      continue;
    }
    const auto branches = call->called_computations();
    for (size_t i = 0; i < branches.size(); ++i) {
      if (branches[i] == parameter.parent()) JoinOperand(*call, static_cast<int64_t>(i) + 1, index, wish);
    }
  }
}

// (sources, results, …) of an asynchronous start; of copy-start (result, source, context).
void Spreading::SpreadStart(const HloInstruction& start, ShapeIndexView index, const ValueConstraint& wish) {
  if (index.empty() || index[0] > 1) return;
  if (start.opcode() == HloOpcode::kAsyncStart) {
    if (index[0] == 1) return SpreadToRoots(start, index.subspan(1), wish);
    if (index.size() > 1) JoinOperand(start, index[1], index.subspan(2), wish);
    return;
  }
  if (start.operand_count() == 1 || index.size() < 2) return JoinOperand(start, 0, index.subspan(1), wish);
  JoinOperand(start, index[1], index.subspan(2), wish);
}

// What a done takes out of the tuple that its start has made.
void Spreading::SpreadBehind(const HloInstruction& done, int64_t element, ShapeIndexView index,
                             const ValueConstraint& wish) {
  ShapeIndex inner(index.begin(), index.end());
  inner.push_front(element);
  JoinOperand(done, 0, inner, wish);
}

}  // namespace

absl::StatusOr<ValueConstraints> ValueConstraints::Build(const HloModule& module) {
  KASHI_ASSIGN_OR_RETURN(const CallGraph graph, CallGraph::Build(module));
  Spreading spreading;
  KASHI_RETURN_IF_ERROR(spreading.Number(graph));
  spreading.Run();
  ValueConstraints result;
  spreading.ForEach([&](const HloInstruction* instruction, ShapeIndex index, const ValueConstraint& wish) {
    const bool is_given = instruction->opcode() == HloOpcode::kParameter || instruction->IsConstant();
    if (is_given && !wish.is_free()) result.constraints_[instruction].emplace(std::move(index), wish);
  });
  return result;
}

ValueConstraint ValueConstraints::Of(const HloInstruction* instruction, const ShapeIndex& index) const {
  const auto places = constraints_.find(instruction);
  if (places == constraints_.end()) return ValueConstraint();
  const auto place = places->second.find(index);
  return place == places->second.end() ? ValueConstraint() : place->second;
}

}  // namespace kashi::internal
