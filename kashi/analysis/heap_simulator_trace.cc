#include "kashi/analysis/heap_simulator_trace.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"

namespace kashi::analysis {
namespace {

struct TracedValue {
  int32_t group = 0;
  int32_t position = 0;
  bool starts_apart = false;  // the one before it in its buffer ends before it begins
  MemoryUse use;
};

class Tracer {
 public:
  Tracer(const ValuePositions& positions, const BufferGroups& groups, const LiveRanges& ranges,
         const MemoryTarget& target)
      : positions_(positions), groups_(groups), ranges_(ranges), vector_memory_(target.vector_memory_space()) {}

  std::vector<MemoryUse> Run(const std::vector<bool>& is_temporary) {
    for (const ValuePositions::Entry& entry : positions_.entries()) NoteParts(*entry.instruction);
    for (const ValuePositions::Entry& entry : positions_.entries()) AddValues(entry, is_temporary);
    absl::c_sort(values_, [](const TracedValue& a, const TracedValue& b) {
      return std::make_tuple(a.group, a.use.range.first, a.use.range.last, a.position) <
             std::make_tuple(b.group, b.use.range.first, b.use.range.last, b.position);
    });
    for (size_t i = 0, end; i < values_.size(); i = end) {
      for (end = i + 1; end < values_.size() && values_[end].group == values_[i].group;) ++end;
      AddTurns(absl::MakeSpan(values_).subspan(i, end - i));
    }
    return std::move(uses_);
  }

 private:
  // The operands of ConcatBitcast lie side by side. Each is counted on its own until then.
  void NoteParts(const HloInstruction& instruction) {
    if (!instruction.IsCustomCall("ConcatBitcast")) return;
    const int32_t end = ranges_.RangeOfValue(positions_.RangeOf(&instruction).first).first - 1;
    for (const HloInstruction* operand : instruction.operands()) {
      ends_of_parts_.emplace(groups_.ValueOf(positions_.RangeOf(operand).first), end);
    }
  }
  void AddValues(const ValuePositions::Entry& entry, const std::vector<bool>& is_temporary) {
    for (int32_t node_number = 0; node_number < entry.nodes->size(); ++node_number) {
      const int32_t position = entry.first + node_number;
      const ShapeNode& node = entry.nodes->nodes()[node_number];
      const LiveRange& range = ranges_.RangeOfValue(position);
      if (groups_.ValueOf(position) != position || !is_temporary[groups_.GroupOf(position)]) continue;
      if (node.is_tuple || node.bytes == 0 || range.first > range.last) continue;
      AddValue({groups_.GroupOf(position), position, StartsApart(position, node, *entry.instruction),
                MemoryUse{range, node.memory_space, node.bytes}});
    }
  }
  bool StartsApart(int32_t position, const ShapeNode& node, const HloInstruction& instruction) const {
    return node.memory_space != vector_memory_ || groups_.KindOf(position) == PositionKind::kPhi ||
           !instruction.output_operand_aliasing().empty();
  }
  void AddValue(const TracedValue& value) {
    const auto part = ends_of_parts_.find(value.position);
    if (part == ends_of_parts_.end()) {
      values_.push_back(value);
    } else {
      AddUse(value.use, part->second);
    }
  }
  void AddUse(MemoryUse use, int32_t end) {
    use.range.last = std::min(use.range.last, end);
    if (use.range.first <= use.range.last) uses_.push_back(use);
  }
  // Each value of a buffer ends when the buffer's next value begins; the next value lives at least as long as the one
  // before.
  void AddTurns(absl::Span<TracedValue> values) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (i + 1 == values.size()) {
        uses_.push_back(values[i].use);
        continue;
      }
      TracedValue& next = values[i + 1];
      next.use.range.last = std::max(next.use.range.last, values[i].use.range.last);
      AddUse(values[i].use, next.use.range.first - (next.starts_apart ? 1 : 0));
    }
  }

  const ValuePositions& positions_;
  const BufferGroups& groups_;
  const LiveRanges& ranges_;
  const int64_t vector_memory_;
  absl::flat_hash_map<int32_t, int32_t> ends_of_parts_;  // by position
  std::vector<TracedValue> values_;
  std::vector<MemoryUse> uses_;
};

}  // namespace

std::vector<MemoryUse> TraceTemporaries(const ValuePositions& positions, const BufferGroups& groups,
                                        const LiveRanges& ranges, const MemoryTarget& target,
                                        const std::vector<bool>& is_temporary) {
  return Tracer(positions, groups, ranges, target).Run(is_temporary);
}

}  // namespace kashi::analysis
