#include "kashi/cpu/codegen/index_mapping.h"

#include <optional>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "kashi/array/common_factors.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"

namespace kashi::internal {
namespace {

constexpr size_t kMostVisits = 2000;

// Numbers beyond this are not followed, so that nothing overflows.
constexpr int64_t kLimit = int64_t{1} << 40;
bool IsWithinLimit(int64_t a) { return a > -kLimit && a < kLimit; }

IndexMapping OfBroadcast(const HloInstruction& broadcast, const IndexMapping& mapping) {
  const absl::Span<const int64_t> sizes = broadcast.operand(0)->shape().dimensions();
  IndexMapping operand(sizes.size());
  for (size_t i = 0; i < operand.size(); ++i) {
    if (sizes[i] != 1) operand[i] = mapping[broadcast.dimensions(i)];
  }
  return operand;
}

IndexMapping OfTranspose(const HloInstruction& transpose, const IndexMapping& mapping) {
  IndexMapping operand(mapping.size());
  for (size_t i = 0; i < operand.size(); ++i) operand[transpose.dimensions(i)] = mapping[i];
  return operand;
}

// The only dimension in [begin, end) with more than one index; -1: there is none, or several.
int64_t OnlyDimension(absl::Span<const int64_t> sizes, int64_t begin, int64_t end) {
  int64_t found = -1;
  for (int64_t d = begin; d < end; ++d) {
    if (sizes[d] == 1) continue;
    if (found >= 0) return -1;
    found = d;
  }
  return found;
}

// Dimensions that both shapes have.
IndexMapping OfReshape(const HloInstruction& reshape, const IndexMapping& mapping) {
  const absl::Span<const int64_t> to = reshape.shape().dimensions(), from = reshape.operand(0)->shape().dimensions();
  IndexMapping operand(from.size());
  const auto cuts = CommonFactors(from, to);
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    const int64_t in_from = OnlyDimension(from, cuts[i].first, cuts[i + 1].first);
    const int64_t in_to = OnlyDimension(to, cuts[i].second, cuts[i + 1].second);
    if (in_from >= 0 && in_to >= 0) operand[in_from] = mapping[in_to];
  }
  return operand;
}

IndexMapping OfSlice(const HloInstruction& slice, IndexMapping mapping) {
  for (size_t i = 0; i < mapping.size(); ++i) {
    mapping[i] = Shifted(Scaled(mapping[i], slice.slice_strides(i)), slice.slice_starts(i));
  }
  return mapping;
}

IndexMapping OfReverse(const HloInstruction& reverse, IndexMapping mapping) {
  for (int64_t d : reverse.dimensions()) {
    mapping[d] = Shifted(Scaled(mapping[d], -1), reverse.shape().dimensions(d) - 1);
  }
  return mapping;
}

IndexMapping OfPad(const HloInstruction& pad, IndexMapping mapping) {
  for (size_t i = 0; i < mapping.size(); ++i) {
    const auto& padding = pad.padding_config().dimensions(static_cast<int>(i));
    mapping[i] = padding.interior_padding() == 0 ? Shifted(mapping[i], -padding.edge_padding_low()) : Affine();
  }
  return mapping;
}

IndexMapping OfConcatenate(const HloInstruction& concatenate, int64_t operand, IndexMapping mapping) {
  const int64_t dimension = concatenate.concatenate_dimension();
  int64_t begin = 0;
  for (int64_t i = 0; i < operand; ++i) begin += concatenate.operand(i)->shape().dimensions(dimension);
  mapping[dimension] = Shifted(mapping[dimension], -begin);
  return mapping;
}

IndexMapping OfReduce(const HloInstruction& reduce, const IndexMapping& mapping) {
  IndexMapping operand = IdentityMapping(reduce.operand(0)->shape().dimensions().size());
  size_t kept = 0;
  for (size_t i = 0; i < operand.size(); ++i) {
    if (!absl::c_linear_search(reduce.dimensions(), static_cast<int64_t>(i))) operand[i] = mapping[kept++];
  }
  return operand;
}

}  // namespace

Affine Shifted(const Affine& a, int64_t by) {
  if (!IsWithinLimit(by)) return Affine();
  const Affine shifted = {a.dimension, a.step, a.offset + by};
  return IsWithinLimit(shifted.offset) ? shifted : Affine();
}

Affine Scaled(const Affine& a, int64_t by) {
  const std::optional<int64_t> step = CheckedMultiply(a.step, by), offset = CheckedMultiply(a.offset, by);
  if (!step.has_value() || !offset.has_value() || !IsWithinLimit(*step) || !IsWithinLimit(*offset)) return Affine();
  return {a.dimension, *step, *offset};
}

IndexMapping IdentityMapping(size_t rank) {
  IndexMapping identity(rank);
  for (size_t i = 0; i < rank; ++i) identity[i].dimension = static_cast<int64_t>(i);
  return identity;
}

IndexMapping OperandMapping(const HloInstruction& instruction, int64_t number, const IndexMapping& mapping) {
  const HloInstruction& operand = *instruction.operand(number);
  switch (instruction.opcode()) {
    case HloOpcode::kBroadcast:
      return OfBroadcast(instruction, mapping);
    case HloOpcode::kTranspose:
      return OfTranspose(instruction, mapping);
    case HloOpcode::kReshape:
    case HloOpcode::kBitcast:
      return OfReshape(instruction, mapping);
    case HloOpcode::kSlice:
      return OfSlice(instruction, mapping);
    case HloOpcode::kReverse:
      return OfReverse(instruction, mapping);
    case HloOpcode::kConcatenate:
      return OfConcatenate(instruction, number, mapping);
    case HloOpcode::kPad:
      if (number == 0) return OfPad(instruction, mapping);
      break;
    case HloOpcode::kReduce:
      if (number < instruction.operand_count() / 2) return OfReduce(instruction, mapping);
      break;
    default:
      if (instruction.IsElementwise() && operand.shape().dimensions() == instruction.shape().dimensions()) {
        return mapping;
      }
  }
  return IndexMapping(operand.shape().dimensions().size());
}

bool VisitMappings(absl::Span<const HloInstruction* const> results, const IndexMapping& mapping_of_results,
                   absl::FunctionRef<bool(const HloInstruction&)> is_member,
                   absl::FunctionRef<void(const HloInstruction&, const IndexMapping&)> visit) {
  absl::flat_hash_set<std::pair<const HloInstruction*, IndexMapping>> visited;
  std::vector<std::pair<const HloInstruction*, IndexMapping>> to_visit;
  const auto add = [&](const HloInstruction& instruction, IndexMapping mapping) {
    if (!is_member(instruction)) return;
    if (visited.emplace(&instruction, mapping).second) to_visit.emplace_back(&instruction, std::move(mapping));
  };
  for (const HloInstruction* result : results) add(*result, mapping_of_results);
  while (!to_visit.empty()) {
    if (visited.size() > kMostVisits) return false;
    const auto [instruction, mapping] = std::move(to_visit.back());
    to_visit.pop_back();
    visit(*instruction, mapping);
    for (int64_t i = 0; i < instruction->operand_count(); ++i) {
      add(*instruction->operand(i), OperandMapping(*instruction, i, mapping));
    }
  }
  return true;
}

}  // namespace kashi::internal
