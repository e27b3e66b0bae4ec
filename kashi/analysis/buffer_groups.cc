#include "kashi/analysis/buffer_groups.h"

#include <algorithm>
#include <optional>

#include "kashi/analysis/disjoint_sets.h"
#include "kashi/analysis/in_place.h"

namespace kashi {

using internal::DecidedPairs;
using internal::DisjointSets;
using internal::InPlacePair;
using internal::InPlacePairs;
namespace {

using Flow = HloOpcodeFlags::Flow;

constexpr int32_t kNoOwner = -1;

// Whether the operands live on in the result, or in what is called.
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

class Grouping {
 public:
  Grouping(const HloModule& module, const CallGraph& graph, const ValuePositions& positions)
      : module_(module),
        graph_(graph),
        positions_(positions),
        in_place_(graph),
        sets_(positions.size()),
        values_(positions.size()),
        owners_(positions.size(), kNoOwner),
        kinds_(positions.size(), PositionKind::kValue) {}

  void Run() {
    if (!module_.has_schedule()) NoteOwners();
    for (const ValuePositions::Entry& entry : positions_.entries()) ForwardOperands(*entry.instruction);
    for (const CallGraph::Node& node : graph_.nodes()) NoteParameters(node);
    for (const ValuePositions::Entry& entry : positions_.entries()) ShareAcrossCalls(*entry.instruction);
    for (const ValuePositions::Entry& entry : positions_.entries()) ShareInPlace(*entry.instruction);
    ShareAsDecided();
    ShareEntry();
  }

  // Of each position, after Run().
  int32_t BufferSet(int32_t position) { return sets_.Find(position); }
  int32_t ValueSet(int32_t position) { return values_.Find(position); }
  const std::vector<PositionKind>& kinds() const { return kinds_; }

 private:
  PositionRange Of(const HloInstruction* instruction) const { return positions_.RangeOf(instruction); }
  std::optional<PositionRange> Operand(const HloInstruction& instruction, int64_t number) const {
    if (number < 0 || number >= instruction.operand_count()) return std::nullopt;
    return Of(instruction.operand(number));
  }

  // ---- Joining.

  // Before anything is joined: what must not be joined with another of its kind.
  void NoteOwners() {
    const HloComputation* entry = module_.entry_computation();
    for (const ValuePositions::Entry& each : positions_.entries()) {
      const HloInstruction& instruction = *each.instruction;
      const bool is_owner = instruction.IsConstant() || instruction.opcode() == HloOpcode::kWhile ||
                            (instruction.opcode() == HloOpcode::kParameter && instruction.parent() == entry);
      if (!is_owner) continue;
      for (int32_t i = 0; i < each.nodes->size(); ++i) owners_[each.first + i] = each.first + i;
    }
  }
  void Join(int32_t a, int32_t b) {
    a = sets_.Find(a);
    b = sets_.Find(b);
    const int32_t owner_a = owners_[a], owner_b = owners_[b];
    if (owner_a != kNoOwner && owner_b != kNoOwner && owner_a != owner_b) return;
    owners_[sets_.Join(a, b)] = owner_a != kNoOwner ? owner_a : owner_b;
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
  // `to` holds what `from` holds: unless the two cannot be joined, and then the compiler makes a copy.
  void Forward(const std::optional<PositionRange>& from, const std::optional<PositionRange>& to) {
    if (!from || !to || from->size() != to->size()) return;
    for (int32_t i = 0; i < to->size(); ++i) {
      const int32_t source = from->first + i, target = to->first + i;
      Join(source, target);
      if (sets_.Find(source) == sets_.Find(target)) ForwardValue(source, target);
    }
  }
  void ForwardValue(int32_t from, int32_t to) {
    kinds_[to] = PositionKind::kForwarded;
    values_.Join(from, to);
  }

  // ---- Within a computation.

  void ForwardOperands(const HloInstruction& instruction) {
    const PositionRange result = Of(&instruction);
    switch (GetHloOpcodeInfo(instruction.opcode()).flow) {
      case Flow::kTuple:
        for (int64_t i = 0; i < instruction.operand_count(); ++i) Forward(Operand(instruction, i), result.Element(i));
        return;
      case Flow::kElement:
        if (const auto operand = Operand(instruction, 0)) Forward(operand->Element(instruction.tuple_index()), result);
        return;
      case Flow::kOperand:
        return Forward(Operand(instruction, 0), result);
      case Flow::kCopy:  // of a tuple: only the table is copied
        for (int64_t i = 0; result.Element(i); ++i) ForwardElement(instruction, i, result.Element(i));
        return;
      case Flow::kCopyStart:
        return Forward(Operand(instruction, 0), result.Element(1));
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
        return Forward(Operand(instruction, 0), result.Element(0));
      case Flow::kRecvDone:
        return ForwardElement(instruction, 0, result.Element(0));
      default:
        return;
    }
  }
  // Element `number` of operand 0.
  void ForwardElement(const HloInstruction& instruction, int64_t number, const std::optional<PositionRange>& to) {
    if (const auto operand = Operand(instruction, 0)) Forward(operand->Element(number), to);
  }
  // Element 1 of the start. Of several destinations the table is the -done's own.
  void ForwardDestination(const HloInstruction& instruction, const PositionRange& result) {
    if (!instruction.shape().IsTuple()) return ForwardElement(instruction, 1, result);
    const auto start = Operand(instruction, 0);
    const auto destinations = start ? start->Element(1) : std::nullopt;
    if (!destinations) return;
    for (int64_t i = 0; result.Element(i); ++i) Forward(destinations->Element(i), result.Element(i));
  }
  // One operand is the source, several are a tuple of sources.
  void ForwardSources(const HloInstruction& instruction, const std::optional<PositionRange>& sources) {
    if (!sources) return;
    if (instruction.operand_count() == 1) return Forward(Operand(instruction, 0), sources);
    ForwardAsyncSources(instruction, sources);
  }
  void ForwardAsyncSources(const HloInstruction& instruction, const std::optional<PositionRange>& sources) {
    if (!sources) return;
    for (int64_t i = 0; i < instruction.operand_count(); ++i) Forward(Operand(instruction, i), sources->Element(i));
  }

  // ---- Between computations.

  void NoteParameters(const CallGraph::Node& node) {
    if (node.control_flow_callers.empty()) return;
    for (const HloInstruction* parameter : node.computation->parameter_instructions()) {
      SetKind(Of(parameter), PositionKind::kPhi);
    }
  }
  // Callees come first, so what a loop's body does to its state is known when the loop is looked at.
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
    SetKind(result, PositionKind::kPhi);
    if (callees.size() != 2) return JoinRanges(Operand(loop, 0), result);
    const HloComputation& body = *callees[0];
    const LoopState state = {Operand(loop, 0), Parameter(body, 0), Parameter(*callees[1], 0),
                             Of(body.root_instruction()), result};
    const std::vector<bool> is_kept = KeptParts(state);
    for (int32_t i = 0; i < result.size(); ++i) {
      int32_t& owner = owners_[sets_.Find(result.first + i)];
      if (is_kept[i] && owner == result.first + i) owner = kNoOwner;  // nothing changes
    }
    JoinRanges(state.init, result);
    JoinRanges(state.parameter, result);
    JoinRanges(state.condition_parameter, result);
    if (body.num_parameters() == 1) {  // the state's place inside the body, also where callers only lend it
      JoinRanges(state.root, Of(body.parameter_instruction(0)));
    }
    if (graph_.IsInline(&body)) JoinRanges(state.root, result);
    for (int32_t i = 0; i < result.size(); ++i) {
      if (is_kept[i]) ForwardKeptPart(state, i);
    }
  }
  struct LoopState {
    std::optional<PositionRange> init, parameter, condition_parameter;
    PositionRange root, result;
  };
  // Which parts of its state the body returns as it was given, having changed nothing in their place.
  std::vector<bool> KeptParts(const LoopState& state) {
    const int32_t size = state.result.size();
    std::vector<bool> is_kept(size);
    if (!state.init || !state.parameter || !state.condition_parameter) return is_kept;
    for (const PositionRange& each : {*state.init, *state.parameter, *state.condition_parameter, state.root}) {
      if (each.size() != size) return is_kept;
    }
    for (int32_t i = 0; i < size; ++i) {
      const int32_t given = state.parameter->first + i;
      is_kept[i] = values_.Find(given) == values_.Find(state.root.first + i) && owners_[sets_.Find(given)] == kNoOwner;
    }
    return is_kept;
  }
  // It is the value from before the loop, all the time.
  void ForwardKeptPart(const LoopState& state, int32_t i) {
    const int32_t before = state.init->first + i;
    const int32_t places[] = {state.parameter->first + i, state.condition_parameter->first + i, state.result.first + i};
    for (int32_t place : places) {
      if (sets_.Find(place) != sets_.Find(before)) return;
    }
    for (int32_t place : places) ForwardValue(before, place);
  }
  void ShareBranches(const HloInstruction& conditional) {
    const PositionRange result = Of(&conditional);
    const auto callees = ControlFlowCallees(conditional);
    for (size_t i = 0; i < callees.size(); ++i) {
      Forward(Operand(conditional, static_cast<int64_t>(i) + 1), Parameter(*callees[i], 0));
      if (graph_.IsInline(callees[i])) JoinRanges(Of(callees[i]->root_instruction()), result);
    }
    if (!callees.empty()) SetKind(result, PositionKind::kPhi);
  }
  void ShareCall(const HloInstruction& call, const std::optional<PositionRange>& made) {
    for (const HloComputation* callee : ControlFlowCallees(call)) {
      if (!graph_.IsInline(callee)) continue;
      for (int64_t i = 0; i < call.operand_count(); ++i) Forward(Operand(call, i), Parameter(*callee, i));
      Forward(Of(callee->root_instruction()), made);
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
      JoinRanges(operand->Find(pair.operand_index), result.Find(pair.output_index));
    }
    if (!instruction.IsCustomCall("ConcatBitcast")) return;
    for (int64_t i = 0; i < instruction.operand_count(); ++i) {
      if (MayChange(*instruction.operand(i))) JoinRanges(Operand(instruction, i), result);
    }
  }
  // A TPU's compiler says where it has put a result in place of an operand that dies. As XLA's HeapSimulator does it,
  // that is the first one, and neither shares its buffer with other values for reasons above.
  void ShareAsDecided() {
    if (!module_.has_schedule()) return;
    DisjointSets before = sets_;
    const auto is_alone = [&](int32_t position) { return before.SizeOf(position) == values_.SizeOf(position); };
    for (const ValuePositions::Entry& entry : positions_.entries()) {
      std::optional<int32_t> done;
      for (const InPlacePair& pair : DecidedPairs(*entry.instruction)) {
        const int32_t operand = Operand(*entry.instruction, pair.operand_number)->first;
        const std::optional<PositionRange> result = Of(entry.instruction).Find(pair.output_index);
        if (!result || result->size() != 1 || result->first == done) continue;
        if (!is_alone(operand) || !is_alone(result->first)) continue;
        if (last_users_.empty()) NoteLastUsers();
        if (last_users_[values_.Find(operand)] != entry.instruction) continue;
        Join(operand, result->first);
        done = result->first;
      }
    }
  }
  // By representative in values_, of values that are arrays. Null for those that live on: in tuples, in what is called,
  // in asynchronous operations, and as results.
  void NoteLastUsers() {
    last_users_.resize(positions_.size());
    for (const CallGraph::Node& node : graph_.nodes()) {
      const auto* sequence = node.has_buffers ? module_.schedule().Find(node.computation) : nullptr;
      if (sequence == nullptr) continue;
      for (const HloInstruction* user : *sequence) {
        if (user != nullptr && user->parent() == node.computation) SetLastUserOfOperands(*user, user);
      }
    }
    for (const ValuePositions::Entry& entry : positions_.entries()) {
      const HloInstruction& user = *entry.instruction;
      if (KeepsOperands(user)) SetLastUserOfOperands(user, nullptr);
    }
    for (const CallGraph::Node& node : graph_.nodes()) {
      if (node.has_buffers) SetLastUser(node.computation->root_instruction(), nullptr);
    }
  }
  void SetLastUserOfOperands(const HloInstruction& instruction, const HloInstruction* user) {
    for (const HloInstruction* operand : instruction.operands()) SetLastUser(operand, user);
  }
  void SetLastUser(const HloInstruction* value, const HloInstruction* user) {
    if (!value->shape().IsTuple()) last_users_[values_.Find(Of(value).first)] = user;
  }
  bool MayChange(const HloInstruction& operand) const { return module_.has_schedule() || operand.user_count() == 1; }

  void ShareEntry() {
    const HloComputation& entry = *module_.entry_computation();
    const PositionRange result = Of(entry.root_instruction());
    for (const auto& [output_index, alias] : module_.input_output_alias_config().aliases()) {
      if (alias.parameter_number < 0 || alias.parameter_number >= entry.num_parameters()) continue;
      const PositionRange parameter = Of(entry.parameter_instruction(alias.parameter_number));
      JoinRanges(parameter.Find(alias.parameter_index), result.Find(output_index));
    }
  }

  const HloModule& module_;
  const CallGraph& graph_;
  const ValuePositions& positions_;
  const InPlacePairs in_place_;
  DisjointSets sets_;            // of positions in one buffer
  DisjointSets values_;          // of positions that hold one value
  std::vector<int32_t> owners_;  // by representative in sets_: the position whose value must stay as it is
  std::vector<PositionKind> kinds_;
  std::vector<const HloInstruction*> last_users_;
};

// By position, the one of its set that makes the value.
std::vector<int32_t> MakersOfValues(int32_t count, Grouping* grouping) {
  std::vector<int32_t> makers(count, -1);  // by representative
  for (int32_t position = 0; position < count; ++position) {
    int32_t& maker = makers[grouping->ValueSet(position)];
    if (maker < 0 || grouping->kinds()[position] != PositionKind::kForwarded) maker = position;
  }
  std::vector<int32_t> values(count);
  for (int32_t position = 0; position < count; ++position) values[position] = makers[grouping->ValueSet(position)];
  return values;
}

}  // namespace

BufferGroups BufferGroups::Build(const HloModule& module, const CallGraph& graph, const ValuePositions& positions) {
  Grouping grouping(module, graph, positions);
  grouping.Run();
  BufferGroups result;
  result.groups_.resize(positions.size());
  std::vector<int32_t> groups_of_sets(positions.size(), -1);
  for (int32_t position = 0; position < positions.size(); ++position) {
    int32_t& group = groups_of_sets[grouping.BufferSet(position)];
    if (group < 0) group = result.group_count_++;
    result.groups_[position] = group;
  }
  result.kinds_ = grouping.kinds();
  result.values_ = MakersOfValues(positions.size(), &grouping);
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
