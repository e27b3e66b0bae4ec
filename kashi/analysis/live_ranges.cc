#include "kashi/analysis/live_ranges.h"

#include <algorithm>
#include <utility>

#include "kashi/analysis/instruction_order.h"

namespace kashi {
namespace {

// Lays the computations of one region out in one sequence.
class Sequencer {
 public:
  Sequencer(const HloModule& module, const CallGraph& graph, const ValuePositions& positions,
            const BufferGroups& groups)
      : module_(module), graph_(graph), positions_(positions), groups_(groups) {}

  struct Result {
    std::vector<const HloInstruction*> sequence;
    // Of each computation: it and the step of its last instruction.
    std::vector<std::pair<const HloComputation*, int32_t>> ends;
  };

  Result Run(const HloComputation* root) {
    Result result;
    Enter(root);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      if (frame.next == frame.order.size()) {
        result.ends.emplace_back(frame.computation, static_cast<int32_t>(result.sequence.size()) - 1);
        frames_.pop_back();
        continue;
      }
      const HloInstruction* instruction = frame.order[frame.next];
      const auto callees = ControlFlowCallees(*instruction);
      if (frame.next_callee < callees.size()) {
        // A while lists its body before its condition; which runs first makes no difference to what is alive.
        const HloComputation* callee = callees[frame.next_callee++];
        if (graph_.IsInline(callee)) Enter(callee);  // the frame is gone after this
        continue;
      }
      result.sequence.push_back(instruction);
      ++frame.next;
      frame.next_callee = 0;
    }
    return result;
  }

 private:
  struct Frame {
    const HloComputation* computation;
    std::vector<const HloInstruction*> order;
    size_t next = 0;
    size_t next_callee = 0;
  };

  void Enter(const HloComputation* computation) {
    frames_.push_back({computation, InstructionOrder(module_, *computation, positions_, groups_)});
  }

  const HloModule& module_;
  const CallGraph& graph_;
  const ValuePositions& positions_;
  const BufferGroups& groups_;
  std::vector<Frame> frames_;
};

// When an instruction's value is looked at for the last time. Whole values are kept here, not each of their positions:
// a tuple of many elements may have many users.
struct LastUses {
  int32_t whole = -1;
  int32_t table = -1;  // at least
};

// What a user looks at. A tuple only takes up pointers; the value is used where the tuple's elements are.
enum class Use { kNone, kTable, kWhole };

Use UseBy(const HloInstruction& user) {
  switch (user.opcode()) {
    case HloOpcode::kTuple:
    case HloOpcode::kDomain:
      return Use::kNone;
    case HloOpcode::kGetTupleElement:
      return Use::kTable;
    case HloOpcode::kCopy:
      return user.shape().IsTuple() ? Use::kTable : Use::kWhole;
    default:
      return Use::kWhole;
  }
}

}  // namespace

LiveRanges LiveRanges::Compute(const HloModule& module, const CallGraph& graph, const ValuePositions& positions,
                               const BufferGroups& groups) {
  LiveRanges result;
  result.ranges_.resize(groups.group_count());
  std::vector<LastUses> last_uses(positions.entries().size());
  Sequencer sequencer(module, graph, positions, groups);
  for (const CallGraph::Node& node : graph.nodes()) {
    if (!node.has_buffers || graph.IsInline(node.computation)) continue;
    const int32_t region = result.region_count();
    result.regions_.emplace(node.computation, region);
    Sequencer::Result laid_out = sequencer.Run(node.computation);
    const auto& sequence = laid_out.sequence;
    for (int32_t step = 0; step < sequence.size(); ++step) {
      const Use use = UseBy(*sequence[step]);
      for (const HloInstruction* operand : sequence[step]->operands()) {
        LastUses& uses = last_uses[positions.EntryIndexOf(operand)];
        if (use == Use::kWhole) uses.whole = std::max(uses.whole, step);
        if (use == Use::kTable) uses.table = std::max(uses.table, step);
      }
    }
    for (const auto& [computation, end] : laid_out.ends) {
      LastUses& uses = last_uses[positions.EntryIndexOf(computation->root_instruction())];
      uses.whole = std::max(uses.whole, end);
    }
    for (int32_t step = 0; step < sequence.size(); ++step) {
      const int32_t index = positions.EntryIndexOf(sequence[step]);
      const ValuePositions::Entry& entry = positions.entries()[index];
      for (int32_t i = 0; i < entry.nodes->size(); ++i) {
        LiveRange& range = result.ranges_[groups.GroupOf(entry.first + i)];
        range.region = region;
        const LastUses& uses = last_uses[index];
        range.last = std::max(range.last, i == 0 ? std::max(uses.whole, uses.table) : uses.whole);
        if (groups.KindOf(entry.first + i) == PositionKind::kHandedOn) continue;
        range.first = std::min(range.first, step);
        range.last = std::max(range.last, step);  // a result is there for a moment, even if nobody wants it
      }
    }
    result.sequences_.push_back(std::move(laid_out.sequence));
  }
  return result;
}

}  // namespace kashi
