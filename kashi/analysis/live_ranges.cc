#include "kashi/analysis/live_ranges.h"

#include <algorithm>
#include <utility>

#include "kashi/analysis/instruction_order.h"

namespace kashi {

using analysis::InstructionOrder;
namespace {

// The computations of one region in one sequence.
struct RegionLayout {
  std::vector<const HloInstruction*> sequence;
  absl::flat_hash_map<const HloComputation*, LiveRanges::Span> spans;  // of all computations that are in it
};

// Lays the computations of one region out.
class Sequencer {
 public:
  Sequencer(const HloModule& module, const CallGraph& graph, const ValuePositions& positions,
            const BufferGroups& groups)
      : module_(module), graph_(graph), positions_(positions), groups_(groups) {}

  RegionLayout Run(const HloComputation* root) {
    layout_ = RegionLayout();
    Enter(root);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      if (frame.next == frame.order.size()) {
        Leave();
        continue;
      }
      const HloInstruction* instruction = frame.order[frame.next];
      if (const HloComputation* callee = NextCallee(*instruction, &frame)) {
        if (graph_.IsInline(callee)) Enter(callee);  // the frame is gone after this
        continue;
      }
      layout_.sequence.push_back(instruction);
      ++frame.next;
      frame.next_callee = 0;
    }
    return std::move(layout_);
  }

 private:
  struct Frame {
    const HloComputation* computation;
    std::vector<const HloInstruction*> order;
    size_t next = 0;
    size_t next_callee = 0;
  };

  // Null after the last.
  static const HloComputation* NextCallee(const HloInstruction& instruction, Frame* frame) {
    const auto callees = ControlFlowCallees(instruction);
    if (frame->next_callee == callees.size()) return nullptr;
    const size_t number = frame->next_callee++;
    // A while lists its body before its condition.
    return callees[instruction.opcode() == HloOpcode::kWhile ? callees.size() - 1 - number : number];
  }
  int32_t now() const { return static_cast<int32_t>(layout_.sequence.size()); }
  void Enter(const HloComputation* computation) {
    layout_.spans[computation].first = now();
    frames_.push_back({computation, InstructionOrder(module_, *computation, positions_, groups_)});
  }
  void Leave() {
    layout_.spans[frames_.back().computation].last = now() - 1;
    frames_.pop_back();
  }

  const HloModule& module_;
  const CallGraph& graph_;
  const ValuePositions& positions_;
  const BufferGroups& groups_;
  std::vector<Frame> frames_;
  RegionLayout layout_;
};

// When an instruction's value is looked at for the last time. Whole values are kept here, not each of their positions:
// a tuple of many elements may have many users.
struct LastUse {
  int32_t whole = -1;
  int32_t table = -1;  // at least

  int32_t Of(int32_t node) const { return node == 0 ? std::max(whole, table) : whole; }
};

// The part of an operand that a user reads. A tuple only reads pointers; the value is used where the tuple's elements
// are used.
enum class Use { kNone, kTable, kWhole };

Use UseBy(const HloInstruction& user) {
  if (user.opcode() == HloOpcode::kDomain) return Use::kNone;
  switch (GetHloOpcodeInfo(user.opcode()).flow) {
    case HloOpcodeFlags::Flow::kTuple:
      return Use::kNone;
    case HloOpcodeFlags::Flow::kElement:
      return Use::kTable;
    case HloOpcodeFlags::Flow::kCopy:
      return user.shape().IsTuple() ? Use::kTable : Use::kWhole;
    default:
      return Use::kWhole;
  }
}

// A loop takes its state over when it begins.
int32_t StepOfUse(const HloInstruction& user, int32_t step, const RegionLayout& layout) {
  if (user.opcode() != HloOpcode::kWhile) return step;
  for (const HloComputation* callee : user.called_computations()) {
    const auto span = layout.spans.find(callee);
    if (span != layout.spans.end()) step = std::min(step, span->second.first);
  }
  return step;
}

// A parameter is there from the computation's first step on.
int32_t StepOfMaking(const HloInstruction& instruction, int32_t step, const RegionLayout& layout) {
  return instruction.opcode() == HloOpcode::kParameter ? layout.spans.at(instruction.parent()).first : step;
}

// Notes the last use of each value, by entry.
void NoteUses(const RegionLayout& layout, const ValuePositions& positions, std::vector<LastUse>* last_uses) {
  for (int32_t i = 0; i < layout.sequence.size(); ++i) {
    const HloInstruction& user = *layout.sequence[i];
    const Use use = UseBy(user);
    const int32_t step = StepOfUse(user, i, layout);
    for (const HloInstruction* operand : user.operands()) {
      LastUse& last = (*last_uses)[positions.EntryIndexOf(operand)];
      if (use == Use::kWhole) last.whole = std::max(last.whole, step);
      if (use == Use::kTable) last.table = std::max(last.table, step);
    }
  }
  for (const auto& [computation, span] : layout.spans) {
    LastUse& last = (*last_uses)[positions.EntryIndexOf(computation->root_instruction())];
    last.whole = std::max(last.whole, span.last);
  }
}

void Extend(int32_t region, int32_t first, int32_t last, LiveRange* range) {
  range->region = region;
  range->first = std::min(range->first, first);
  range->last = std::max(range->last, last);
}

}  // namespace

LiveRanges LiveRanges::Compute(const HloModule& module, const CallGraph& graph, const ValuePositions& positions,
                               const BufferGroups& groups) {
  LiveRanges result;
  result.ranges_.resize(groups.group_count());
  result.value_ranges_.resize(positions.size());
  std::vector<LastUse> last_uses(positions.entries().size());
  Sequencer sequencer(module, graph, positions, groups);
  for (const CallGraph::Node& node : graph.nodes()) {
    if (!node.has_buffers || graph.IsInline(node.computation)) continue;
    const int32_t region = result.region_count();
    result.regions_.emplace(node.computation, region);
    RegionLayout layout = sequencer.Run(node.computation);
    NoteUses(layout, positions, &last_uses);
    for (int32_t step = 0; step < layout.sequence.size(); ++step) {
      const HloInstruction& instruction = *layout.sequence[step];
      const int32_t index = positions.EntryIndexOf(&instruction);
      const ValuePositions::Entry& entry = positions.entries()[index];
      for (int32_t node_number = 0; node_number < entry.nodes->size(); ++node_number) {
        const int32_t position = entry.first + node_number;
        const int32_t last_use = last_uses[index].Of(node_number);
        LiveRange& group = result.ranges_[groups.GroupOf(position)];
        LiveRange& value = result.value_ranges_[groups.ValueOf(position)];
        Extend(region, INT32_MAX, last_use, &group);
        Extend(region, INT32_MAX, last_use, &value);
        if (groups.KindOf(position) == PositionKind::kForwarded) continue;
        // A result without users is alive for one step.
        Extend(region, step, step, &group);
        Extend(region, StepOfMaking(instruction, step, layout), step, &value);
      }
    }
    result.sequences_.push_back(std::move(layout.sequence));
    result.spans_.merge(layout.spans);
  }
  return result;
}

}  // namespace kashi
