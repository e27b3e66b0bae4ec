#include "kashi/passes/index_mapping.h"

#include <optional>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "kashi/array/common_factors.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"

namespace kashi::passes {
namespace {

constexpr size_t kMostVisits = 2000;

// Numbers beyond this are not followed, so that nothing overflows.
constexpr int64_t kLimit = int64_t{1} << 40;
bool IsWithinLimit(int64_t a) { return a > -kLimit && a < kLimit; }

IndexMapping OfBroadcast(const HloInstruction& broadcast, int64_t, const IndexMapping& mapping) {
  const absl::Span<const int64_t> sizes = broadcast.operand(0)->shape().dimensions();
  IndexMapping operand(sizes.size());
  for (size_t i = 0; i < operand.size(); ++i) {
    if (sizes[i] != 1) operand[i] = mapping[broadcast.dimensions(i)];
  }
  return operand;
}

IndexMapping OfTranspose(const HloInstruction& transpose, int64_t, const IndexMapping& mapping) {
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
IndexMapping OfReshape(const HloInstruction& reshape, int64_t, const IndexMapping& mapping) {
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

IndexMapping OfSlice(const HloInstruction& slice, int64_t, const IndexMapping& mapping) {
  IndexMapping moved = mapping;
  for (size_t i = 0; i < mapping.size(); ++i) {
    moved[i] = Shifted(Scaled(moved[i], slice.slice_strides(i)), slice.slice_starts(i));
  }
  return moved;
}

IndexMapping OfReverse(const HloInstruction& reverse, int64_t, const IndexMapping& mapping) {
  IndexMapping moved = mapping;
  for (int64_t d : reverse.dimensions()) {
    moved[d] = Shifted(Scaled(moved[d], -1), reverse.shape().dimensions(d) - 1);
  }
  return moved;
}

IndexMapping OfPad(const HloInstruction& pad, int64_t operand, const IndexMapping& mapping) {
  if (operand == 1) return {};  // a scalar
  IndexMapping moved = mapping;
  for (size_t i = 0; i < mapping.size(); ++i) {
    const auto& padding = pad.padding_config().dimensions(static_cast<int>(i));
    moved[i] = padding.interior_padding() == 0 ? Shifted(moved[i], -padding.edge_padding_low()) : Affine();
  }
  return moved;
}

IndexMapping OfConcatenate(const HloInstruction& concatenate, int64_t operand, const IndexMapping& mapping) {
  IndexMapping moved = mapping;
  const int64_t dimension = concatenate.concatenate_dimension();
  int64_t begin = 0;
  for (int64_t i = 0; i < operand; ++i) begin += concatenate.operand(i)->shape().dimensions(dimension);
  moved[dimension] = Shifted(moved[dimension], -begin);
  return moved;
}

IndexMapping OfReduce(const HloInstruction& reduce, int64_t operand, const IndexMapping& mapping) {
  if (operand >= reduce.operand_count() / 2) return {};  // a scalar
  IndexMapping moved = IdentityMapping(reduce.operand(0)->shape().dimensions().size());
  size_t kept = 0;
  for (size_t i = 0; i < moved.size(); ++i) {
    if (!absl::c_linear_search(reduce.dimensions(), static_cast<int64_t>(i))) moved[i] = mapping[kept++];
  }
  return moved;
}

struct MappingRow {
  HloOpcode opcode;
  IndexMapping (*of_operand)(const HloInstruction& instruction, int64_t operand, const IndexMapping& mapping);
};
constexpr MappingRow kMappings[] = {
    {HloOpcode::kBroadcast, &OfBroadcast},
    {HloOpcode::kTranspose, &OfTranspose},
    {HloOpcode::kReshape, &OfReshape},
    {HloOpcode::kBitcast, &OfReshape},
    {HloOpcode::kSlice, &OfSlice},
    {HloOpcode::kReverse, &OfReverse},
    {HloOpcode::kConcatenate, &OfConcatenate},
    {HloOpcode::kPad, &OfPad},
    {HloOpcode::kReduce, &OfReduce},
};

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
  const Shape& operand = instruction.operand(number)->shape();
  const auto* const row =
      absl::c_find_if(kMappings, [&](const MappingRow& row) { return row.opcode == instruction.opcode(); });
  if (row != std::end(kMappings)) return row->of_operand(instruction, number, mapping);
  const bool keeps = instruction.IsElementwise() && operand.dimensions() == instruction.shape().dimensions();
  return keeps ? mapping : IndexMapping(operand.dimensions().size());
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

}  // namespace kashi::passes
