#include "kashi/partition/rotation.h"

#include <algorithm>
#include <vector>

#include "kashi/partition/device_program.h"
#include "kashi/partition/partition_rules.h"

namespace kashi::partition {
namespace {

// Whether it is the part [begin, end) of its operand along a dimension.
bool IsRange(const HloInstruction& slice, int64_t dimension, int64_t begin, int64_t end) {
  if (slice.opcode() != HloOpcode::kSlice) return false;
  for (int64_t i = 0; i < slice.shape().rank(); ++i) {
    const int64_t size = slice.operand(0)->shape().dimensions(static_cast<int>(i));
    const bool is_it = slice.slice_strides(i) == 1 && slice.slice_starts(i) == (i == dimension ? begin : 0) &&
                       slice.slice_limits(i) == (i == dimension ? end : size);
    if (!is_it) return false;
  }
  return true;
}

}  // namespace

std::optional<Rotation> RotationOf(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kConcatenate || instruction.operand_count() != 2) return std::nullopt;
  const HloInstruction &end = *instruction.operand(0), &begin = *instruction.operand(1);
  const int64_t dimension = instruction.concatenate_dimension();
  const int64_t size = instruction.shape().dimensions(static_cast<int>(dimension));
  const int64_t by = begin.shape().dimensions(static_cast<int>(dimension));
  if (by == 0 || by == size || !IsRange(end, dimension, by, size) || !IsRange(begin, dimension, 0, by)) {
    return std::nullopt;
  }
  HloInstruction* const array = const_cast<HloInstruction&>(end).mutable_operand(0);
  if (array != begin.operand(0) || array->shape().dimensions() != instruction.shape().dimensions() ||
      !array->shape().is_static()) {
    return std::nullopt;
  }
  return Rotation{array, dimension, by};
}

PartitionRule RuleOfRotation(const Rotation& rotation) {
  PartitionRule rule;
  const std::vector<int> factors = FactorsOf(rotation.array->shape(), &rule);
  rule.factors[factors[rotation.dimension]].is_rotated = true;
  rule.operands = {factors};
  rule.results = {factors};
  return rule;
}

// The elements from `by` on come from one part, those that follow from the next.
HloInstruction* DeviceProgram::Rotate(HloInstruction* x, int64_t dimension, const AxisList& along, int64_t by) {
  const int64_t shard = x->shape().dimensions(static_cast<int>(dimension)), parts = axes().SizeOf(along);
  const auto piece_of = [&](int64_t part, int64_t begin, int64_t end) {
    HloInstruction* const piece = Part(x, dimension, begin, end);
    return part % parts == 0 ? piece : FromNeighbour(piece, along, -part, /*goes_around=*/true);
  };
  const int64_t part = by / shard, begin = by % shard;
  if (begin == 0) return piece_of(part, 0, shard);
  const std::vector<HloInstruction*> pieces = {piece_of(part, begin, shard), piece_of(part + 1, 0, begin)};
  return Add(HloInstruction::CreateConcatenate(x->shape(), pieces, dimension));
}

}  // namespace kashi::partition
