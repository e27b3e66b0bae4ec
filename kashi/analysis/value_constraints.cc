// Entry point: ValueConstraints::Build. Every place of a value (an instruction, and a node of its shape's tuple tree)
// has a number. If the constraint of a place changes, the place waits in a queue. Then its constraint is passed to the
// places that its value is made from. operand_constraints.h has the rules for arrays; tuples and calls are done here.
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
constexpr int kMostChanges = 16;  // of one constraint: intervals of loops may shrink by one each time

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

class Spreading {
 public:
  Spreading() : shapes_(MemoryTarget()) {}

  absl::Status Number(const CallGraph& graph);
  void Run();
  // visit(instruction, index, constraint) for each place that has a constraint.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const auto& [place, known] : constraints_) {
      const Entry& entry = EntryAt(place);
      visit(entry.instruction, entry.nodes->IndexOf(place - entry.first), known.constraint);
    }
  }

 private:
  struct Entry {
    const HloInstruction* instruction;
    const ShapeNodes* nodes;
    int32_t first;
  };
  struct Known {
    ValueConstraint constraint;
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

  void Join(const HloInstruction* value, ShapeIndexView index, const ValueConstraint& constraint);
  void JoinOperand(const HloInstruction& user, int64_t number, ShapeIndexView index,
                   const ValueConstraint& constraint) {
    if (number >= 0 && number < user.operand_count()) Join(user.operand(number), index, constraint);
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
  absl::flat_hash_map<int32_t, Known> constraints_;
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
    const int32_t place = waiting_.front();
    waiting_.pop_front();
    const Entry entry = EntryAt(place);
    const ValueConstraint constraint = constraints_[place].constraint;
    Spread(*entry.instruction, entry.nodes->IndexOf(place - entry.first), constraint);
  }
}

// Only for arrays: other leaves have no elements.
void Spreading::Join(const HloInstruction* value, ShapeIndexView index, const ValueConstraint& constraint) {
  const std::optional<PositionRange> whole = Of(value);
  const std::optional<PositionRange> part = whole.has_value() ? whole->Find(index) : std::nullopt;
  if (!part.has_value() || !part->nodes->nodes()[part->node].shape->IsArray()) return;
  Known& known = constraints_[part->first];
  const ValueConstraint both = Meet(known.constraint, constraint);
  if (SameConstraint(both, known.constraint) || ++known.changes > kMostChanges) return;
  known.constraint = both;
  waiting_.push_back(part->first);
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
  for (const HloInstruction* call : callers->second) {
    if (call->opcode() == HloOpcode::kWhile) {
      JoinOperand(*call, 0, index, constraint);
      if (call->called_computations().size() == 2) Join(call->while_body()->root_instruction(), index, constraint);
      continue;
    }
    if (call->opcode() != HloOpcode::kConditional) {
      JoinOperand(*call, number, index, constraint);
      continue;
    }
    const auto branches = call->called_computations();
    for (size_t i = 0; i < branches.size(); ++i) {
      if (branches[i] == parameter.parent()) JoinOperand(*call, static_cast<int64_t>(i) + 1, index, constraint);
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

}  // namespace kashi::internal
