#include "kashi/analysis/buffer_groups.h"

#include <algorithm>
#include <optional>

#include "kashi/analysis/disjoint_sets.h"
#include "kashi/analysis/in_place.h"

namespace kashi {
namespace {

constexpr int32_t kNoOwner = -1;

class Grouping {
 public:
  Grouping(const HloModule& module, const CallGraph& graph, const ValuePositions& positions)
      : module_(module),
        graph_(graph),
        positions_(positions),
        in_place_(graph),
        sets_(positions.size()),
        owners_(positions.size(), kNoOwner),
        kinds(positions.size(), PositionKind::kValue) {}

  void Run() {
    if (!module_.has_schedule()) NoteOwners();
    for (const ValuePositions::Entry& entry : positions_.entries()) HandOn(*entry.instruction);
    for (const CallGraph::Node& node : graph_.nodes()) NoteParameters(node);
    for (const ValuePositions::Entry& entry : positions_.entries()) ShareAcrossCalls(*entry.instruction);
    for (const ValuePositions::Entry& entry : positions_.entries()) ShareInPlace(*entry.instruction);
    ShareEntry();
  }

  int32_t Find(int32_t position) { return sets_.Find(position); }

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
  // Position by position. Ranges of different trees, in a module that was not verified, are left alone.
  void JoinRanges(const std::optional<PositionRange>& a, const std::optional<PositionRange>& b) {
    if (!a || !b || a->size() != b->size()) return;
    for (int32_t i = 0; i < a->size(); ++i) Join(a->first + i, b->first + i);
  }
  void SetKind(const std::optional<PositionRange>& range, PositionKind kind) {
    if (!range) return;
    for (int32_t i = 0; i < range->size(); ++i) kinds[range->first + i] = kind;
  }
  // `to` holds what `from` holds.
  void Forward(const std::optional<PositionRange>& from, const std::optional<PositionRange>& to) {
    if (!from || !to || from->size() != to->size()) return;
    JoinRanges(from, to);
    SetKind(to, PositionKind::kHandedOn);
  }

  // ---- Within a computation.

  void HandOn(const HloInstruction& instruction) {
    const PositionRange result = Of(&instruction);
    switch (instruction.opcode()) {
      case HloOpcode::kTuple:
        for (int64_t i = 0; i < instruction.operand_count(); ++i) Forward(Operand(instruction, i), result.Element(i));
        return;
      case HloOpcode::kGetTupleElement:
        if (const auto operand = Operand(instruction, 0)) Forward(operand->Element(instruction.tuple_index()), result);
        return;
      case HloOpcode::kBitcast:
      case HloOpcode::kOptimizationBarrier:
      case HloOpcode::kDomain:
      case HloOpcode::kAddDependency:
      case HloOpcode::kAllReduceDone:
      case HloOpcode::kAsyncUpdate:
        return Forward(Operand(instruction, 0), result);
      case HloOpcode::kCopy:  // of a tuple: only the table is copied
        for (int64_t i = 0; result.Element(i); ++i) ForwardElement(instruction, i, result.Element(i));
        return;
      case HloOpcode::kCopyStart:  // (destination, source, context)
        return Forward(Operand(instruction, 0), result.Element(1));
      case HloOpcode::kCopyDone:
        return ForwardElement(instruction, 0, result);
      case HloOpcode::kAllGatherStart:  // (source, destination)
      case HloOpcode::kCollectivePermuteStart:
        return ForwardSources(instruction, result.Element(0));
      case HloOpcode::kAllGatherDone:
      case HloOpcode::kCollectivePermuteDone:
      case HloOpcode::kAsyncDone:
        return ForwardElement(instruction, 1, result);
      case HloOpcode::kAsyncStart:  // ((sources), destination, contexts)
        return ForwardAsyncSources(instruction, result.Element(0));
      case HloOpcode::kSend:  // (source, context, token)
        return Forward(Operand(instruction, 0), result.Element(0));
      case HloOpcode::kRecvDone:  // (destination, token)
        return ForwardElement(instruction, 0, result.Element(0));
      default:
        return;
    }
  }
  // Element `number` of operand 0.
  void ForwardElement(const HloInstruction& instruction, int64_t number, const std::optional<PositionRange>& to) {
    if (const auto operand = Operand(instruction, 0)) Forward(operand->Element(number), to);
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
  void ShareAcrossCalls(const HloInstruction& instruction) {
    const PositionRange result = Of(&instruction);
    const auto callees = ControlFlowCallees(instruction);
    switch (instruction.opcode()) {
      case HloOpcode::kWhile:
        JoinRanges(Operand(instruction, 0), result);
        SetKind(result, PositionKind::kPhi);
        if (callees.size() != 2) return;
        ShareParameter(*callees[0], 0, result);
        ShareParameter(*callees[1], 0, result);
        // The state's place inside the body, also where callers only lend it.
        if (callees[0]->num_parameters() == 1) {
          const PositionRange state = Of(callees[0]->parameter_instruction(0));
          if (state.size() == result.size()) JoinRanges(Of(callees[0]->root_instruction()), state);
        }
        return ShareResult(*callees[0], result);
      case HloOpcode::kConditional:
        for (size_t i = 0; i < callees.size(); ++i) {
          ShareParameter(*callees[i], 0, Operand(instruction, static_cast<int64_t>(i) + 1));
          ShareResult(*callees[i], result);
        }
        if (!callees.empty()) SetKind(result, PositionKind::kPhi);
        return;
      case HloOpcode::kCall:
      case HloOpcode::kAsyncStart: {
        const bool is_call = instruction.opcode() == HloOpcode::kCall;
        const std::optional<PositionRange> made = is_call ? result : result.Element(1);
        bool is_inline = false;
        for (const HloComputation* callee : callees) {
          if (!graph_.IsInline(callee)) continue;
          const int64_t given = std::min<int64_t>(instruction.operand_count(), callee->num_parameters());
          for (int64_t i = 0; i < given; ++i) ShareParameter(*callee, i, Operand(instruction, i));
          ShareResult(*callee, made);
          is_inline = true;
        }
        if (is_inline) SetKind(made, PositionKind::kHandedOn);
        return;
      }
      default:
        return;
    }
  }
  void ShareParameter(const HloComputation& callee, int64_t number, const std::optional<PositionRange>& given) {
    if (number >= callee.num_parameters() || !graph_.IsInline(&callee)) return;
    JoinRanges(given, Of(callee.parameter_instruction(number)));
  }
  void ShareResult(const HloComputation& callee, const std::optional<PositionRange>& result) {
    if (graph_.IsInline(&callee)) JoinRanges(Of(callee.root_instruction()), result);
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
  DisjointSets sets_;
  std::vector<int32_t> owners_;  // by representative: the position whose value must stay as it is

 public:
  std::vector<PositionKind> kinds;
};

}  // namespace

BufferGroups BufferGroups::Build(const HloModule& module, const CallGraph& graph, const ValuePositions& positions) {
  Grouping grouping(module, graph, positions);
  grouping.Run();
  BufferGroups result;
  result.groups_.resize(positions.size());
  std::vector<int32_t> groups_of_sets(positions.size(), -1);
  for (int32_t position = 0; position < positions.size(); ++position) {
    int32_t& group = groups_of_sets[grouping.Find(position)];
    if (group < 0) group = result.group_count_++;
    result.groups_[position] = group;
  }
  result.kinds_ = std::move(grouping.kinds);
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
