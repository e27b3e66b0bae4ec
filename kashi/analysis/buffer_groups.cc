#include "kashi/analysis/buffer_groups.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "kashi/analysis/disjoint_sets.h"
#include "kashi/analysis/in_place.h"

namespace kashi {

using analysis::DecidedPairs;
using analysis::DisjointSets;
using analysis::InPlacePair;
using analysis::InPlacePairs;
namespace {

using Flow = HloOpcodeFlags::Flow;

// Positions in one buffer, and positions with one value.
class BufferSets {
 public:
  explicit BufferSets(int32_t size)
      : buffers_(size), values_(size), owners_(size, kNoOwner), kinds_(size, PositionKind::kValue) {}

  int32_t BufferSet(int32_t position) { return buffers_.Find(position); }
  int32_t ValueSet(int32_t position) { return values_.Find(position); }
  const std::vector<PositionKind>& kinds() const { return kinds_; }

  // The value of an owner must stay as it is: two owners are never joined. Pre: nothing is joined yet.
  void MakeOwner(int32_t position) { owners_[position] = position; }
  bool HasOwner(int32_t position) { return owners_[buffers_.Find(position)] != kNoOwner; }
  // The position may then be joined with an owner.
  void RemoveOwner(int32_t position) {
    int32_t& owner = owners_[buffers_.Find(position)];
    if (owner == position) owner = kNoOwner;
  }

  void Join(int32_t a, int32_t b) {
    a = buffers_.Find(a);
    b = buffers_.Find(b);
    const int32_t owner_a = owners_[a], owner_b = owners_[b];
    if (owner_a != kNoOwner && owner_b != kNoOwner && owner_a != owner_b) return;
    owners_[buffers_.Join(a, b)] = owner_a != kNoOwner ? owner_a : owner_b;
  }
  // Position by position. Ranges of different trees, which an unverified module may have, are skipped.
  void JoinRanges(const std::optional<PositionRange>& a, const std::optional<PositionRange>& b) {
    if (!a || !b || a->size() != b->size()) return;
    for (int32_t i = 0; i < a->size(); ++i) Join(a->first + i, b->first + i);
  }
  void SetKind(const std::optional<PositionRange>& range, PositionKind kind) {
    if (!range) return;
    for (int32_t i = 0; i < range->size(); ++i) kinds_[range->first + i] = kind;
  }
  // `to` holds the value of `from`, unless the two cannot be joined: then the compiler makes a copy.
  void Forward(const std::optional<PositionRange>& from, const std::optional<PositionRange>& to) {
    if (!from || !to || from->size() != to->size()) return;
    for (int32_t i = 0; i < to->size(); ++i) {
      const int32_t source = from->first + i, target = to->first + i;
      Join(source, target);
      if (buffers_.Find(source) == buffers_.Find(target)) ForwardValue(source, target);
    }
  }
  void ForwardValue(int32_t from, int32_t to) {
    kinds_[to] = PositionKind::kForwarded;
    values_.Join(from, to);
  }

  // Whether no other value is in the buffer of each position. The answers stay as they are when sets are joined.
  std::vector<bool> AreAlone() {
    std::vector<bool> are_alone(kinds_.size());
    for (int32_t i = 0; i < are_alone.size(); ++i) are_alone[i] = buffers_.SizeOf(i) == values_.SizeOf(i);
    return are_alone;
  }

 private:
  static constexpr int32_t kNoOwner = -1;

  DisjointSets buffers_;
  DisjointSets values_;
  std::vector<int32_t> owners_;  // by representative in buffers_
  std::vector<PositionKind> kinds_;
};

std::optional<PositionRange> OperandRange(const ValuePositions& positions, const HloInstruction& instruction,
                                          int64_t number) {
  if (number < 0 || number >= instruction.operand_count()) return std::nullopt;
  return positions.RangeOf(instruction.operand(number));
}

// Within a computation: results that hold values of their operands.
class OperandForwarding {
 public:
  OperandForwarding(const ValuePositions& positions, BufferSets* sets) : positions_(positions), sets_(sets) {}

  void ForwardOf(const HloInstruction& instruction) {
    const PositionRange result = positions_.RangeOf(&instruction);
    switch (GetHloOpcodeInfo(instruction.opcode()).flow) {
      case Flow::kTuple:
        for (int64_t i = 0; i < instruction.operand_count(); ++i)
          sets_->Forward(Operand(instruction, i), result.Element(i));
        return;
      case Flow::kElement:
        if (const auto operand = Operand(instruction, 0))
          sets_->Forward(operand->Element(instruction.tuple_index()), result);
        return;
      case Flow::kOperand:
        return sets_->Forward(Operand(instruction, 0), result);
      case Flow::kCopy:  // of a tuple: only the table is copied
        for (int64_t i = 0; result.Element(i); ++i) ForwardElement(instruction, i, result.Element(i));
        return;
      case Flow::kCopyStart:
        return sets_->Forward(Operand(instruction, 0), result.Element(1));
      case Flow::kCopyDone:
        return ForwardElement(instruction, 0, result);
      case Flow::kStart:
        return ForwardSources(instruction, result.Element(0));
      case Flow::kDone:
        return ForwardDestination(instruction, result);
      case Flow::kAsyncDone:
        return ForwardElement(instruction, 1, result);
      case Flow::kAsyncStart:
        return ForwardAsyncSources(instruction, result.Element(0));
      case Flow::kSend:
        return sets_->Forward(Operand(instruction, 0), result.Element(0));
      case Flow::kRecvDone:
        return ForwardElement(instruction, 0, result.Element(0));
      default:
        return;
    }
  }

 private:
  std::optional<PositionRange> Operand(const HloInstruction& instruction, int64_t number) const {
    return OperandRange(positions_, instruction, number);
  }
  // Element `number` of operand 0.
  void ForwardElement(const HloInstruction& instruction, int64_t number, const std::optional<PositionRange>& to) {
    if (const auto operand = Operand(instruction, 0)) sets_->Forward(operand->Element(number), to);
  }
  // Element 1 of the start. Of several destinations the table is the -done's own.
  void ForwardDestination(const HloInstruction& instruction, const PositionRange& result) {
    if (!instruction.shape().IsTuple()) return ForwardElement(instruction, 1, result);
    const auto start = Operand(instruction, 0);
    const auto destinations = start ? start->Element(1) : std::nullopt;
    if (!destinations) return;
    for (int64_t i = 0; result.Element(i); ++i) sets_->Forward(destinations->Element(i), result.Element(i));
  }
  // A single operand is the source; several operands are a tuple of sources.
  void ForwardSources(const HloInstruction& instruction, const std::optional<PositionRange>& sources) {
    if (!sources) return;
    if (instruction.operand_count() == 1) return sets_->Forward(Operand(instruction, 0), sources);
    ForwardAsyncSources(instruction, sources);
  }
  void ForwardAsyncSources(const HloInstruction& instruction, const std::optional<PositionRange>& sources) {
    if (!sources) return;
    for (int64_t i = 0; i < instruction.operand_count(); ++i)
      sets_->Forward(Operand(instruction, i), sources->Element(i));
  }

  const ValuePositions& positions_;
  BufferSets* const sets_;
};

// Whether the operands live on in the result, or in the called computations.
bool KeepsOperands(const HloInstruction& user) {
  switch (GetHloOpcodeInfo(user.opcode()).flow) {
    case Flow::kTuple:
    case Flow::kCopyStart:
    case Flow::kStart:
    case Flow::kSend:
      return true;
    default:
      return user.opcode() == HloOpcode::kAllReduceStart || !ControlFlowCallees(user).empty();
  }
}

// The last user of each value that is an array, in a module with a schedule. Null for those that live on: in tuples, in
// called computations, in asynchronous operations, and as results.
class LastUsers {
 public:
  LastUsers(const HloModule& module, const CallGraph& graph, const ValuePositions& positions, BufferSets* sets)
      : positions_(positions), sets_(sets), users_(positions.size()) {
    for (const CallGraph::Node& node : graph.nodes()) {
      const auto* sequence = node.has_buffers ? module.schedule().Find(node.computation) : nullptr;
      if (sequence == nullptr) continue;
      for (const HloInstruction* user : *sequence) {
        if (user != nullptr && user->parent() == node.computation) SetLastUserOfOperands(*user, user);
      }
    }
    for (const ValuePositions::Entry& entry : positions.entries()) {
      const HloInstruction& user = *entry.instruction;
      if (KeepsOperands(user)) SetLastUserOfOperands(user, nullptr);
    }
    for (const CallGraph::Node& node : graph.nodes()) {
      if (node.has_buffers) SetLastUser(node.computation->root_instruction(), nullptr);
    }
  }

  const HloInstruction* Of(int32_t position) const { return users_[sets_->ValueSet(position)]; }

 private:
  void SetLastUserOfOperands(const HloInstruction& instruction, const HloInstruction* user) {
    for (const HloInstruction* operand : instruction.operands()) SetLastUser(operand, user);
  }
  void SetLastUser(const HloInstruction* value, const HloInstruction* user) {
    if (!value->shape().IsTuple()) users_[sets_->ValueSet(positions_.RangeOf(value).first)] = user;
  }

  const ValuePositions& positions_;
  BufferSets* const sets_;
  std::vector<const HloInstruction*> users_;  // by set of the value
};

class Grouping {
 public:
  Grouping(const HloModule& module, const CallGraph& graph, const ValuePositions& positions)
      : module_(module), graph_(graph), positions_(positions), in_place_(graph), sets_(positions.size()) {}

  BufferSets Run() && {
    if (!module_.has_schedule()) NoteOwners();
    OperandForwarding forwarding(positions_, &sets_);
    for (const ValuePositions::Entry& entry : positions_.entries()) forwarding.ForwardOf(*entry.instruction);
    for (const CallGraph::Node& node : graph_.nodes()) NoteParameters(node);
    for (const ValuePositions::Entry& entry : positions_.entries()) ShareAcrossCalls(*entry.instruction);
    for (const ValuePositions::Entry& entry : positions_.entries()) ShareInPlace(*entry.instruction);
    ShareAsDecided();
    ShareEntry();
    return std::move(sets_);
  }

 private:
  PositionRange Of(const HloInstruction* instruction) const { return positions_.RangeOf(instruction); }
  std::optional<PositionRange> Operand(const HloInstruction& instruction, int64_t number) const {
    return OperandRange(positions_, instruction, number);
  }

  void NoteOwners() {
    const HloComputation* entry = module_.entry_computation();
    for (const ValuePositions::Entry& each : positions_.entries()) {
      const HloInstruction& instruction = *each.instruction;
      const bool is_owner = instruction.IsConstant() || instruction.opcode() == HloOpcode::kWhile ||
                            (instruction.opcode() == HloOpcode::kParameter && instruction.parent() == entry);
      if (!is_owner) continue;
      for (int32_t i = 0; i < each.nodes->size(); ++i) sets_.MakeOwner(each.first + i);
    }
  }

  // ---- Between computations.

  void NoteParameters(const CallGraph::Node& node) {
    if (node.control_flow_callers.empty()) return;
    for (const HloInstruction* parameter : node.computation->parameter_instructions()) {
      sets_.SetKind(Of(parameter), PositionKind::kPhi);
    }
  }
  // Callees come first, so the effect of a loop's body on its state is known when the loop is visited.
  void ShareAcrossCalls(const HloInstruction& instruction) {
    if (!GetHloOpcodeInfo(instruction.opcode()).Has(HloOpcodeFlags::kControlFlow)) return;
    switch (instruction.opcode()) {
      case HloOpcode::kWhile:
        return ShareLoop(instruction);
      case HloOpcode::kConditional:
        return ShareBranches(instruction);
      case HloOpcode::kAsyncStart:
        return ShareCall(instruction, Of(&instruction).Element(1));
      default:
        return ShareCall(instruction, Of(&instruction));
    }
  }
  void ShareLoop(const HloInstruction& loop) {
    const PositionRange result = Of(&loop);
    const auto callees = ControlFlowCallees(loop);
    sets_.SetKind(result, PositionKind::kPhi);
    if (callees.size() != 2) return sets_.JoinRanges(Operand(loop, 0), result);
    const HloComputation& body = *callees[0];
    const LoopState state = {Operand(loop, 0), Parameter(body, 0), Parameter(*callees[1], 0),
                             Of(body.root_instruction()), result};
    const std::vector<bool> is_kept = KeptParts(state);
    for (int32_t i = 0; i < result.size(); ++i) {
      if (is_kept[i]) sets_.RemoveOwner(result.first + i);  // nothing changes
    }
    sets_.JoinRanges(state.init, result);
    sets_.JoinRanges(state.parameter, result);
    sets_.JoinRanges(state.condition_parameter, result);
    if (body.num_parameters() == 1) {  // the state's place inside the body, also where callers only lend it
      sets_.JoinRanges(state.root, Of(body.parameter_instruction(0)));
    }
    if (graph_.IsInline(&body)) sets_.JoinRanges(state.root, result);
    for (int32_t i = 0; i < result.size(); ++i) {
      if (is_kept[i]) ForwardKeptPart(state, i);
    }
  }
  struct LoopState {
    std::optional<PositionRange> init, parameter, condition_parameter;
    PositionRange root, result;
  };
  // The parts of the state that the body returns unchanged, without a write to their place.
  std::vector<bool> KeptParts(const LoopState& state) {
    const int32_t size = state.result.size();
    std::vector<bool> is_kept(size);
    if (!state.init || !state.parameter || !state.condition_parameter) return is_kept;
    for (const PositionRange& each : {*state.init, *state.parameter, *state.condition_parameter, state.root}) {
      if (each.size() != size) return is_kept;
    }
    for (int32_t i = 0; i < size; ++i) {
      const int32_t given = state.parameter->first + i;
      is_kept[i] = sets_.ValueSet(given) == sets_.ValueSet(state.root.first + i) && !sets_.HasOwner(given);
    }
    return is_kept;
  }
  // The part keeps its value from before the loop during the whole loop.
  void ForwardKeptPart(const LoopState& state, int32_t i) {
    const int32_t before = state.init->first + i;
    const int32_t places[] = {state.parameter->first + i, state.condition_parameter->first + i, state.result.first + i};
    for (int32_t place : places) {
      if (sets_.BufferSet(place) != sets_.BufferSet(before)) return;
    }
    for (int32_t place : places) sets_.ForwardValue(before, place);
  }
  void ShareBranches(const HloInstruction& conditional) {
    const PositionRange result = Of(&conditional);
    const auto callees = ControlFlowCallees(conditional);
    for (size_t i = 0; i < callees.size(); ++i) {
      sets_.Forward(Operand(conditional, static_cast<int64_t>(i) + 1), Parameter(*callees[i], 0));
      if (graph_.IsInline(callees[i])) sets_.JoinRanges(Of(callees[i]->root_instruction()), result);
    }
    if (!callees.empty()) sets_.SetKind(result, PositionKind::kPhi);
  }
  void ShareCall(const HloInstruction& call, const std::optional<PositionRange>& made) {
    for (const HloComputation* callee : ControlFlowCallees(call)) {
      if (!graph_.IsInline(callee)) continue;
      for (int64_t i = 0; i < call.operand_count(); ++i) sets_.Forward(Operand(call, i), Parameter(*callee, i));
      sets_.Forward(Of(callee->root_instruction()), made);
    }
  }
  // nullopt also for one that several callers give.
  std::optional<PositionRange> Parameter(const HloComputation& callee, int64_t number) const {
    if (number >= callee.num_parameters() || !graph_.IsInline(&callee)) return std::nullopt;
    return Of(callee.parameter_instruction(number));
  }

  // ---- In place.

  void ShareInPlace(const HloInstruction& instruction) {
    const PositionRange result = Of(&instruction);
    for (const InPlacePair& pair : in_place_.Of(instruction)) {
      const std::optional<PositionRange> operand = Operand(instruction, pair.operand_number);
      if (!operand || !MayChange(*instruction.operand(pair.operand_number))) continue;
      sets_.JoinRanges(operand->Find(pair.operand_index), result.Find(pair.output_index));
    }
    if (!instruction.IsCustomCall("ConcatBitcast")) return;
    for (int64_t i = 0; i < instruction.operand_count(); ++i) {
      if (MayChange(*instruction.operand(i))) sets_.JoinRanges(Operand(instruction, i), result);
    }
  }
  // The TPU compiler records where it has put a result in place of an operand after its last use. As in XLA's
  // HeapSimulator, the first such operand counts, and only if neither buffer is shared already by the rules above.
  void ShareAsDecided() {
    if (!module_.has_schedule()) return;
    const std::vector<bool> is_alone = sets_.AreAlone();
    std::optional<LastUsers> last_users;
    for (const ValuePositions::Entry& entry : positions_.entries()) {
      std::optional<int32_t> done;
      for (const InPlacePair& pair : DecidedPairs(*entry.instruction)) {
        const int32_t operand = Operand(*entry.instruction, pair.operand_number)->first;
        const std::optional<PositionRange> result = Of(entry.instruction).Find(pair.output_index);
        if (!result || result->size() != 1 || result->first == done) continue;
        if (!is_alone[operand] || !is_alone[result->first]) continue;
        if (!last_users) last_users.emplace(module_, graph_, positions_, &sets_);
        if (last_users->Of(operand) != entry.instruction) continue;
        sets_.Join(operand, result->first);
        done = result->first;
      }
    }
  }
  bool MayChange(const HloInstruction& operand) const { return module_.has_schedule() || operand.user_count() == 1; }

  void ShareEntry() {
    const HloComputation& entry = *module_.entry_computation();
    const PositionRange result = Of(entry.root_instruction());
    for (const auto& [output_index, alias] : module_.input_output_alias_config().aliases()) {
      if (alias.parameter_number < 0 || alias.parameter_number >= entry.num_parameters()) continue;
      const PositionRange parameter = Of(entry.parameter_instruction(alias.parameter_number));
      sets_.JoinRanges(parameter.Find(alias.parameter_index), result.Find(output_index));
    }
  }

  const HloModule& module_;
  const CallGraph& graph_;
  const ValuePositions& positions_;
  const InPlacePairs in_place_;
  BufferSets sets_;
};

// For each position, the position of its set that makes the value.
std::vector<int32_t> MakersOfValues(int32_t count, BufferSets* sets) {
  std::vector<int32_t> makers(count, -1);  // by representative
  for (int32_t position = 0; position < count; ++position) {
    int32_t& maker = makers[sets->ValueSet(position)];
    if (maker < 0 || sets->kinds()[position] != PositionKind::kForwarded) maker = position;
  }
  std::vector<int32_t> values(count);
  for (int32_t position = 0; position < count; ++position) values[position] = makers[sets->ValueSet(position)];
  return values;
}

}  // namespace

BufferGroups BufferGroups::Build(const HloModule& module, const CallGraph& graph, const ValuePositions& positions) {
  BufferSets sets = Grouping(module, graph, positions).Run();
  BufferGroups result;
  result.groups_.resize(positions.size());
  std::vector<int32_t> groups_of_sets(positions.size(), -1);
  for (int32_t position = 0; position < positions.size(); ++position) {
    int32_t& group = groups_of_sets[sets.BufferSet(position)];
    if (group < 0) group = result.group_count_++;
    result.groups_[position] = group;
  }
  result.kinds_ = sets.kinds();
  result.values_ = MakersOfValues(positions.size(), &sets);
  result.is_borrowed_.resize(result.group_count_);
  for (const CallGraph::Node& node : graph.nodes()) {
    if (node.control_flow_callers.size() < 2) continue;
    const auto lend = [&](const HloInstruction* instruction) {
      const PositionRange range = positions.RangeOf(instruction);
      for (int32_t i = 0; i < range.size(); ++i) result.is_borrowed_[result.groups_[range.first + i]] = true;
    };
    for (const HloInstruction* parameter : node.computation->parameter_instructions()) lend(parameter);
    lend(node.computation->root_instruction());
  }
  return result;
}

}  // namespace kashi
