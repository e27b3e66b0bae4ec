#include "kashi/analysis/host_buffer_assignment.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "kashi/analysis/operand_sharing.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/buffers/best_fit_heap.h"

namespace kashi::analysis {
namespace {

constexpr int64_t kMaxPairLooks = int64_t{1} << 25;

// Times are steps. The result of a computation lives until the step after its last, in which its caller takes it.
struct HostValue {
  int32_t position = 0;
  int32_t entry = 0;
  int32_t node = 0;
  int32_t first = 0;
  int32_t last = 0;
  // The position at the end of its life: the result of an instruction that uses it there may be written over it.
  int32_t end_position = 0;
  int32_t end_time = 0;
  int32_t order = 0;  // of the instruction, callers before callees, operands before users
};

struct Buffer {
  std::vector<int32_t> values;  // in XLA's order: values of instructions, callees before callers, then phis
  int64_t bytes = 0;
  int64_t memory_space = 0;
  int32_t min_order = INT32_MAX;
  bool lives_out = false;
  bool is_argument = false;
  bool is_donated = false;  // to an output
  bool is_constant = false;
  bool is_table = false;

  bool exists() const { return !values.empty(); }
};

// ---- The values and from when to when each is needed, as XLA's HloLiveRange has it.

class Values {
 public:
  Values(const HloModule& module, const CallGraph& graph, const ValuePositions& positions, const BufferGroups& groups,
         const LiveRanges& ranges)
      : module_(module), positions_(positions), groups_(groups), ranges_(ranges) {
    NoteSteps();
    NoteOrders(graph);
    NoteUses();
    CollectValues();
    NoteEnds();
    TakeTurns();
  }

  // The values in XLA's order.
  const std::vector<HostValue>& values() const { return values_; }
  // The number of the value at a position; -1 for none.
  int32_t NumberOf(int32_t position) const { return numbers_[position]; }
  int32_t GroupOf(const HostValue& value) const { return groups_.GroupOf(value.position); }
  const ValuePositions::Entry& EntryOf(const HostValue& value) const { return positions_.entries()[value.entry]; }
  const ShapeNode& NodeOf(const HostValue& value) const { return EntryOf(value).nodes->nodes()[value.node]; }
  OperandSharing::Part Part(int32_t position) const {
    const ValuePositions::Entry& entry = positions_.EntryAt(position);
    const int32_t node = position - entry.first;
    return {entry.instruction, entry.nodes->nodes()[node].shape, entry.nodes->IndexOf(node)};
  }

 private:
  struct Uses {
    int32_t whole = -1;
    int32_t table = -1;
  };

  void NoteSteps() {
    steps_.resize(positions_.entries().size());
    const auto sequence = ranges_.sequence(ranges_.region_count() - 1);
    for (int32_t step = 0; step < sequence.size(); ++step) steps_[positions_.EntryIndexOf(sequence[step])] = step;
  }
  void NoteOrders(const CallGraph& graph) {
    orders_.resize(positions_.entries().size());
    int32_t order = 0;
    for (int64_t i = static_cast<int64_t>(graph.nodes().size()) - 1; i >= 0; --i) {
      if (!graph.nodes()[i].has_buffers) continue;
      for (const HloInstruction* instruction : graph.nodes()[i].computation->MakeInstructionPostOrder()) {
        orders_[positions_.EntryIndexOf(instruction)] = order++;
      }
    }
  }
  // The body of a loop takes over the loop's operand where it reads its parameter.
  int32_t StepOfUse(const HloInstruction& user, int32_t step) const {
    if (user.opcode() != HloOpcode::kWhile || user.called_computations().size() != 2) return step;
    const HloComputation& body = *user.called_computations()[0];
    return body.num_parameters() > 0 ? steps_[positions_.EntryIndexOf(body.parameter_instruction(0))] : step;
  }
  void NoteUses() {
    uses_.resize(positions_.entries().size());
    const auto sequence = ranges_.sequence(ranges_.region_count() - 1);
    for (int32_t i = 0; i < sequence.size(); ++i) {
      const HloInstruction& user = *sequence[i];
      const bool is_of_table = user.opcode() == HloOpcode::kGetTupleElement || user.opcode() == HloOpcode::kCopy ||
                               user.opcode() == HloOpcode::kTuple;
      if (user.opcode() == HloOpcode::kDomain) continue;
      const int32_t step = StepOfUse(user, i);
      for (const HloInstruction* operand : user.operands()) {
        Uses& uses = uses_[positions_.EntryIndexOf(operand)];
        int32_t& last = is_of_table ? uses.table : uses.whole;
        last = std::max(last, step);
      }
    }
  }

  int32_t FirstOf(const HloInstruction& instruction, int32_t entry) const {
    return instruction.opcode() == HloOpcode::kParameter ? ranges_.SpanOf(instruction.parent()).first : steps_[entry];
  }
  int32_t TimeOf(const HloInstruction& instruction, int32_t entry) const {
    return instruction.parent()->root_instruction() == &instruction ? ranges_.SpanOf(instruction.parent()).last + 1
                                                                    : steps_[entry];
  }
  void CollectValues() {
    for (int32_t entry = 0; entry < positions_.entries().size(); ++entry) {
      const ValuePositions::Entry& each = positions_.entries()[entry];
      for (int32_t node = 0; node < each.nodes->size(); ++node) {
        const int32_t position = each.first + node;
        if (groups_.ValueOf(position) != position || groups_.KindOf(position) == PositionKind::kForwarded) continue;
        if (each.nodes->nodes()[node].shape->IsToken()) continue;
        const int32_t time = TimeOf(*each.instruction, entry);
        values_.push_back(
            {position, entry, node, FirstOf(*each.instruction, entry), time, position, time, orders_[entry]});
      }
    }
    OrderLikeXla();
    numbers_.assign(positions_.size(), -1);
    for (int32_t i = 0; i < values_.size(); ++i) numbers_[values_[i].position] = i;
  }
  // Entries come by computation, callees first.
  void OrderLikeXla() {
    std::vector<int32_t> computations(positions_.entries().size());
    for (size_t i = 1; i < computations.size(); ++i) {
      const bool is_next =
          positions_.entries()[i].instruction->parent() != positions_.entries()[i - 1].instruction->parent();
      computations[i] = computations[i - 1] + (is_next ? 1 : 0);
    }
    absl::c_sort(values_, [&](const HostValue& a, const HostValue& b) {
      const auto key = [&](const HostValue& value) {
        return std::make_tuple(groups_.KindOf(value.position) == PositionKind::kPhi, computations[value.entry],
                               value.order, value.node);
      };
      return key(a) < key(b);
    });
  }

  void NoteEnds() {
    for (int32_t entry = 0; entry < positions_.entries().size(); ++entry) {
      const ValuePositions::Entry& each = positions_.entries()[entry];
      const int32_t time = TimeOf(*each.instruction, entry);
      for (int32_t node = 0; node < each.nodes->size(); ++node) {
        const int32_t number = numbers_[groups_.ValueOf(each.first + node)];
        if (number < 0) continue;
        HostValue& value = values_[number];
        if (time > value.end_time) {
          value.end_time = time;
          value.end_position = each.first + node;
        }
        value.last = std::max({value.last, time, node == 0 ? uses_[entry].table : -1, uses_[entry].whole});
      }
    }
    const HloComputation& entry = *module_.entry_computation();
    const int32_t end = ranges_.SpanOf(&entry).last + 1;
    for (HostValue& value : values_) {
      const HloInstruction& instruction = *EntryOf(value).instruction;
      if (instruction.opcode() != HloOpcode::kParameter || instruction.parent() != &entry) continue;
      const ShapeIndex index = EntryOf(value).nodes->IndexOf(value.node);
      if (!module_.input_output_alias_config().ParameterHasAlias(instruction.parameter_number(), index))
        value.last = end;
    }
  }

  // Each value of a buffer ends when the buffer's next value begins; the next value lives at least as long as the one
  // before.
  void TakeTurns() {
    std::vector<int32_t> order(values_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
    absl::c_sort(order, [this](int32_t a, int32_t b) {
      return std::make_tuple(GroupOf(values_[a]), values_[a].first, values_[a].last, a) <
             std::make_tuple(GroupOf(values_[b]), values_[b].first, values_[b].last, b);
    });
    for (size_t i = 0; i + 1 < order.size(); ++i) {
      HostValue& value = values_[order[i]];
      HostValue& next = values_[order[i + 1]];
      if (GroupOf(value) != GroupOf(next)) continue;
      next.last = std::max(next.last, value.last);
      value.last = std::min(value.last, next.first);
    }
  }

  const HloModule& module_;
  const ValuePositions& positions_;
  const BufferGroups& groups_;
  const LiveRanges& ranges_;
  std::vector<int32_t> steps_;   // by entry
  std::vector<int32_t> orders_;  // by entry
  std::vector<Uses> uses_;       // by entry
  std::vector<HostValue> values_;
  std::vector<int32_t> numbers_;
};

// ---- The block of temporaries.

// Temporaries begin and end one after the other, as in XLA's heap simulator.
class TemporaryHeap {
 public:
  TemporaryHeap(const Values& values, const ValuePositions& positions, const BufferGroups& groups,
                absl::Span<const Buffer> buffers, absl::Span<const HostBufferAssignment::Place> places,
                int64_t alignment, OperandSharing* sharing)
      : values_(values),
        positions_(positions),
        groups_(groups),
        buffers_(buffers),
        places_(places),
        alignment_(alignment),
        sharing_(sharing) {}

  // Values begin and end one after the other, also within a step.
  absl::StatusOr<buffers::HeapLayout> Run() {
    int32_t end = 0;
    for (int32_t i = 0; i < values_.values().size(); ++i) {
      if (!IsTemporary(values_.values()[i])) continue;
      order_.push_back(i);
      end = std::max(end, values_.values()[i].last + 1);
    }
    absl::c_sort(order_, [this](int32_t a, int32_t b) {
      const HostValue &x = values_.values()[a], &y = values_.values()[b];
      return std::make_tuple(x.first, x.last, a) < std::make_tuple(y.first, y.last, b);
    });
    freed_.resize(end);
    for (int32_t number : order_) freed_[values_.values()[number].last].push_back(number);
    interval_of_.assign(values_.values().size(), -1);
    size_t next = 0;
    for (int32_t step = 0; step < end; ++step) {
      for (; next < order_.size() && values_.values()[order_[next]].first == step; ++next) Begin(order_[next], step);
      for (int32_t number : freed_[step]) End(number);
    }
    return buffers::PlaceByBestFit(intervals_, alignment_);
  }

  // The temporaries by when they begin, and the interval of each in the heap.
  const std::vector<int32_t>& order() const { return order_; }
  int32_t IntervalOf(int32_t number) const { return interval_of_[number]; }

 private:
  bool IsTemporary(const HostValue& value) const {
    return places_[values_.GroupOf(value)].owner == HostBufferAssignment::kTemporaries;
  }
  void Begin(int32_t number, int32_t step) {
    const HostValue& value = values_.values()[number];
    const int32_t group = values_.GroupOf(value);
    int32_t shared = -1;
    const auto [first, is_new] = first_of_group_.try_emplace(group, number);
    if (!is_new) {
      shared = interval_of_[first->second];
    } else if (const std::optional<int32_t> operand = DyingOperand(value, step)) {
      End(*operand);
      auto& freed = freed_[step];
      freed.erase(absl::c_find(freed, *operand));
      shared = interval_of_[*operand];
    }
    interval_of_[number] = static_cast<int32_t>(intervals_.size());
    const int64_t bytes = values_.NodeOf(value).bytes;
    intervals_.push_back({bytes, bytes == 0 ? 0 : now_++, 0, shared, number});
  }
  void End(int32_t number) {
    buffers::HeapInterval& interval = intervals_[interval_of_[number]];
    if (interval.bytes != 0) interval.last = now_++;
  }
  // The operand over which the value can be written, where both are alone in their buffers.
  std::optional<int32_t> DyingOperand(const HostValue& value, int32_t step) {
    if (buffers_[values_.GroupOf(value)].values.size() != 1) return std::nullopt;
    const HloInstruction& instruction = *values_.EntryOf(value).instruction;
    if (instruction.opcode() == HloOpcode::kCopy) return std::nullopt;
    for (const HloInstruction* operand : instruction.operands()) {
      const int32_t number = values_.NumberOf(groups_.ValueOf(positions_.RangeOf(operand).first));
      if (number < 0 || !IsTemporary(values_.values()[number])) continue;
      const HostValue& candidate = values_.values()[number];
      if (candidate.last != step || buffers_[values_.GroupOf(candidate)].values.size() != 1) continue;
      if (!absl::c_linear_search(freed_[step], number)) continue;
      if (sharing_->MayShare(values_.Part(candidate.position), values_.Part(value.position))) return number;
    }
    return std::nullopt;
  }

  const Values& values_;
  const ValuePositions& positions_;
  const BufferGroups& groups_;
  const absl::Span<const Buffer> buffers_;                      // by group
  const absl::Span<const HostBufferAssignment::Place> places_;  // by group
  const int64_t alignment_;
  OperandSharing* const sharing_;
  std::vector<int32_t> order_;
  int32_t now_ = 0;
  std::vector<std::vector<int32_t>> freed_;  // values, by step
  absl::flat_hash_map<int32_t, int32_t> first_of_group_;
  std::vector<int32_t> interval_of_;  // by value
  std::vector<buffers::HeapInterval> intervals_;
};

// ---- The place of each buffer.

class Assigner {
 public:
  Assigner(const HloModule& module, const CallGraph& graph, const ValuePositions& positions, const BufferGroups& groups,
           const LiveRanges& ranges, int64_t alignment, int64_t thread_local_count)
      : module_(module),
        positions_(positions),
        groups_(groups),
        values_(module, graph, positions, groups, ranges),
        buffers_(groups.group_count()),
        alignment_(alignment),
        thread_local_count_(thread_local_count) {
    result_.places.resize(groups.group_count());
  }

  absl::StatusOr<HostBufferAssignment> Run() {
    CollectBuffers();
    std::vector<int32_t> order;
    for (int32_t group = 0; group < buffers_.size(); ++group) {
      if (buffers_[group].exists()) order.push_back(group);
    }
    absl::c_sort(order, [this](int32_t a, int32_t b) { return SizeKey(a) < SizeKey(b); });
    for (int32_t group : order) {
      KASHI_RETURN_IF_ERROR(Assign(group));
    }
    KASHI_RETURN_IF_ERROR(PlaceInBlock());
    return std::move(result_);
  }

 private:
  // The values that lie in one place, by first step. Their times overlap only where one is written over another.
  struct Allocation {
    int32_t owner = 0;
    int64_t bytes = 0;
    int64_t memory_space = 0;
    std::multimap<int32_t, int32_t> values;  // numbers, by first step
  };

  // Large ones first, of equal ones those that the caller sees.
  std::tuple<int64_t, bool, int32_t, int32_t> SizeKey(int32_t group) const {
    const Buffer& buffer = buffers_[group];
    return {-buffer.bytes, !buffer.lives_out, buffer.min_order, buffer.values.front()};
  }

  void CollectBuffers() {
    for (int32_t i = 0; i < values_.values().size(); ++i) {
      const HostValue& value = values_.values()[i];
      const HloInstruction& instruction = *values_.EntryOf(value).instruction;
      const ShapeNode& node = values_.NodeOf(value);
      Buffer& buffer = buffers_[values_.GroupOf(value)];
      if (buffer.values.empty()) buffer.memory_space = node.memory_space;
      buffer.values.push_back(i);
      buffer.bytes = std::max(buffer.bytes, node.bytes);
      buffer.min_order = std::min(buffer.min_order, value.order);
      buffer.is_constant = buffer.is_constant || instruction.IsConstant();
      buffer.is_table = buffer.is_table || node.is_tuple;
      if (instruction.opcode() != HloOpcode::kParameter || instruction.parent() != module_.entry_computation())
        continue;
      buffer.is_argument = true;
      const ShapeIndex index = values_.EntryOf(value).nodes->IndexOf(value.node);
      buffer.is_donated |= module_.input_output_alias_config().ParameterHasAlias(instruction.parameter_number(), index);
    }
    const PositionRange result = positions_.RangeOf(module_.entry_computation()->root_instruction());
    for (int32_t i = 0; i < result.size(); ++i) buffers_[groups_.GroupOf(result.first + i)].lives_out = true;
  }

  absl::Status Assign(int32_t group) {
    const Buffer& buffer = buffers_[group];
    if (buffer.is_constant || buffer.is_argument || buffer.is_table) {
      MakePlace(group);
      return absl::OkStatus();
    }
    if (!TryOperands(group) && !TryOutputs(group)) {
      if (buffer.lives_out) {
        MakePlace(group);
      } else {
        result_.places[group].owner = HostBufferAssignment::kTemporaries;
      }
    }
    if (looks_ < 0) return ResourceExhausted("too many temporaries and outputs to place them");
    return absl::OkStatus();
  }
  void MakePlace(int32_t group) {
    const Buffer& buffer = buffers_[group];
    result_.places[group] = {group, 0};
    owners_.push_back(group);
    if (buffer.is_table || buffer.is_constant || (buffer.is_argument && !buffer.is_donated)) return;
    allocation_of_[group] = static_cast<int32_t>(allocations_.size());
    allocations_.push_back({group, buffer.bytes, buffer.memory_space, {}});
    for (int32_t number : buffer.values) Enter(number, &allocations_.back());
  }
  void Enter(int32_t number, Allocation* allocation) {
    allocation->values.emplace(values_.values()[number].first, number);
  }

  bool TryOperands(int32_t group) {
    for (int32_t number : buffers_[group].values) {
      const HostValue& value = values_.values()[number];
      if (value.node != 0) continue;
      for (const HloInstruction* operand : values_.EntryOf(value).instruction->operands()) {
        const int32_t owner = result_.places[groups_.GroupOf(positions_.RangeOf(operand).first)].owner;
        const auto found = allocation_of_.find(owner);
        if (found != allocation_of_.end() && TryPlace(group, &allocations_[found->second])) return true;
      }
    }
    return false;
  }
  // Places were made from large to small.
  bool TryOutputs(int32_t group) {
    for (int64_t i = static_cast<int64_t>(allocations_.size()) - 1; i >= 0 && looks_ >= 0; --i) {
      if (TryPlace(group, &allocations_[i])) return true;
    }
    return false;
  }
  bool TryPlace(int32_t group, Allocation* allocation) {
    const Buffer& buffer = buffers_[group];
    --looks_;
    if (buffer.memory_space != allocation->memory_space || buffer.bytes > allocation->bytes) return false;
    if (buffer.lives_out && buffer.bytes != allocation->bytes) return false;
    for (int32_t number : buffer.values) {
      if (IsCopyFrom(number, *allocation) || !IsFree(number, *allocation)) return false;
    }
    for (int32_t number : buffer.values) Enter(number, allocation);
    result_.places[group] = {allocation->owner, 0};
    return true;
  }
  // Whether nothing is in the way of the value.
  bool IsFree(int32_t number, const Allocation& allocation) {
    const HostValue& value = values_.values()[number];
    // Compares with the values that begin during the life of this one, and with the value before them. Earlier values
    // have ended when that one begins.
    auto it = allocation.values.upper_bound(value.last);
    while (it != allocation.values.begin()) {
      --it;
      --looks_;
      const HostValue& other = values_.values()[it->second];
      if (other.last >= value.first && !MayMeet(other, value)) return false;
      if (other.last < value.first) break;
    }
    return true;
  }
  // Pre: their times overlap. They may, if that is one step, in which the later is written over the earlier.
  bool MayMeet(const HostValue& a, const HostValue& b) {
    if (a.last == b.first) return IsWrittenOver(a, b);
    return b.last == a.first && IsWrittenOver(b, a);
  }
  bool IsWrittenOver(const HostValue& operand, const HostValue& result) {
    const HloInstruction& user = *values_.EntryOf(result).instruction;
    if (user.opcode() == HloOpcode::kCopy) return false;
    return sharing_.MayShare(values_.Part(operand.end_position), values_.Part(result.position));
  }
  // A copy of a value in this place must not return to the place: it was made for a reason.
  bool IsCopyFrom(int32_t number, const Allocation& allocation) const {
    const HloInstruction& user = *values_.EntryOf(values_.values()[number]).instruction;
    if (user.opcode() != HloOpcode::kCopy || user.operand_count() != 1) return false;
    const int32_t source = positions_.RangeOf(user.operand(0)).first;
    return values_.NumberOf(source) >= 0 && result_.places[groups_.GroupOf(source)].owner == allocation.owner;
  }

  // ---- The block of temporaries.

  bool IsInBlock(int32_t owner) const {
    if (owner < 0) return owner == HostBufferAssignment::kTemporaries;
    const Buffer& buffer = buffers_[owner];
    return buffer.is_table && !buffer.lives_out && !buffer.is_argument && !buffer.is_constant;
  }
  // The block has the tables of tuples that the caller does not see, and the heap, one after the other. Their order is
  // the order in which they were made, as std::partition changes it.
  absl::Status PlaceInBlock() {
    TemporaryHeap temporaries(values_, positions_, groups_, buffers_, result_.places, alignment_, &sharing_);
    KASHI_ASSIGN_OR_RETURN(const buffers::HeapLayout heap, temporaries.Run());
    std::vector<int32_t> owners = std::move(owners_);
    if (!temporaries.order().empty()) owners.push_back(HostBufferAssignment::kTemporaries);
    owners.resize(owners.size() + thread_local_count_, HostBufferAssignment::kNowhere);
    const auto block =
        std::partition(owners.begin(), owners.end(), [this](int32_t owner) { return !IsInBlock(owner); });
    for (auto owner = block; owner != owners.end(); ++owner) {
      const int64_t base = RoundUpTo(result_.temp_bytes, alignment_);
      if (*owner >= 0) {
        result_.places[*owner] = {HostBufferAssignment::kTemporaries, base};
        result_.temp_bytes = base + buffers_[*owner].bytes;
        continue;
      }
      for (int32_t number : temporaries.order()) {
        result_.places[values_.GroupOf(values_.values()[number])].offset =
            base + heap.offsets[temporaries.IntervalOf(number)];
      }
      result_.temp_bytes = base + heap.bytes;
    }
    return absl::OkStatus();
  }

  const HloModule& module_;
  const ValuePositions& positions_;
  const BufferGroups& groups_;
  const Values values_;
  std::vector<Buffer> buffers_;  // by group
  const int64_t alignment_;
  const int64_t thread_local_count_;
  OperandSharing sharing_;
  HostBufferAssignment result_;
  std::vector<int32_t> owners_;                          // of all places, as they were made
  std::vector<Allocation> allocations_;                  // in which others may lie
  absl::flat_hash_map<int32_t, int32_t> allocation_of_;  // by owner
  int64_t looks_ = kMaxPairLooks;
};

}  // namespace

absl::StatusOr<HostBufferAssignment> AssignHostBuffers(const HloModule& module, const CallGraph& graph,
                                                       const ValuePositions& positions, const BufferGroups& groups,
                                                       const LiveRanges& ranges, int64_t alignment,
                                                       int64_t thread_local_count) {
  return Assigner(module, graph, positions, groups, ranges, alignment, thread_local_count).Run();
}

}  // namespace kashi::analysis
