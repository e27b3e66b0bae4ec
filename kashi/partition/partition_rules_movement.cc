// The rules of operations on single elements, and of those that move elements.
#include <algorithm>
#include <numeric>

#include "absl/algorithm/container.h"
#include "kashi/array/common_factors.h"
#include "kashi/array/shape_util.h"
#include "kashi/partition/partition_rules.h"

namespace kashi::partition {
namespace {

// A rule in which the operand's dimension i is the result's dimension i wherever passes(i). Elsewhere, and for other
// operands, there are no factors.
template <typename Passes>
PartitionRule SameDimensions(const HloInstruction& instruction, Passes passes) {
  PartitionRule rule;
  const Shape& shape = instruction.shape();
  for (const HloInstruction* operand : instruction.operands()) {
    rule.operands.push_back(WholeDimensions(operand->shape()));
  }
  rule.results.push_back(WholeDimensions(shape));
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (!passes(i)) continue;
    rule.operands[0][i] = rule.results[0][i] = rule.Add(shape.dimensions(static_cast<int>(i)));
  }
  return rule;
}

// Goes through the dimensions of one side of a reshape, and what is left of the present one.
struct DimensionsInTurn {
  const Shape& shape;
  int64_t at, end;
  int64_t left = at < end ? Size() : 0;
  std::vector<std::vector<int>> digits = std::vector<std::vector<int>>(shape.rank());

  int64_t Size() const { return shape.dimensions(static_cast<int>(at)); }
  bool IsUntouched() const { return left == Size(); }
  void MoveTo(int64_t begin, int64_t new_end) {
    at = begin;
    end = new_end;
    left = at < end ? Size() : 0;
  }
  // False: there are none.
  bool SkipUsed() {
    while (at < end && left == 1) MoveTo(at + 1, end);
    return at < end;
  }
  void Take(int factor, int64_t size) {
    digits[at].push_back(factor);
    left /= size;
  }
  // The factor of each dimension.
  std::vector<int> Factors(PartitionRule* rule) const {
    std::vector<int> factors;
    for (size_t i = 0; i < digits.size(); ++i) {
      const bool is_compound = digits[i].size() > 1;
      factors.push_back(is_compound         ? rule->Add(shape.dimensions(static_cast<int>(i)))
                        : digits[i].empty() ? kWhole
                                            : digits[i][0]);
      if (is_compound) rule->factors.back().digits = digits[i];
    }
    return factors;
  }
};

// The common factors of two pieces with the same product, as far as sizes divide each other. Where they do not, both
// are cut into a number of parts that divides both, and what follows is whole.
void AddCommonFactors(DimensionsInTurn* a, DimensionsInTurn* b, PartitionRule* rule) {
  while (a->SkipUsed() && b->SkipUsed()) {
    const int64_t size = std::min(a->left, b->left), divisor = std::gcd(a->left, b->left);
    if (divisor == 1) return;
    const bool is_plain = a->left == b->left && a->IsUntouched() && b->IsUntouched();
    const int factor = rule->Add(size);
    if (!is_plain) rule->factors[factor].divisor = divisor;
    a->Take(factor, size);
    b->Take(factor, size);
    if (divisor != size) return;
  }
}

}  // namespace

std::vector<const Shape*> ResultsOf(const HloInstruction& instruction) {
  std::vector<const Shape*> results;
  if (!instruction.shape().IsTuple()) return {&instruction.shape()};
  for (const Shape& element : instruction.shape().tuple_shapes()) results.push_back(&element);
  return results;
}

std::vector<int> FactorsOf(const Shape& shape, PartitionRule* rule) {
  std::vector<int> factors;
  for (const int64_t size : shape.dimensions()) factors.push_back(rule->Add(size));
  return factors;
}

std::vector<int> WholeDimensions(const Shape& shape) { return std::vector<int>(shape.rank(), kWhole); }

// Scalars go with arrays: the predicate of select, the limits of clamp.
std::optional<PartitionRule> ElementwiseRule(const HloInstruction& instruction) {
  if (instruction.shape().IsTuple()) return std::nullopt;
  PartitionRule rule;
  const std::vector<int> factors = FactorsOf(instruction.shape(), &rule);
  rule.results.push_back(factors);
  for (const HloInstruction* operand : instruction.operands()) {
    if (ShapeUtil::IsScalar(operand->shape())) {
      rule.operands.emplace_back();
    } else if (operand->shape().dimensions() == instruction.shape().dimensions()) {
      rule.operands.push_back(factors);
    } else {
      return std::nullopt;
    }
  }
  return rule;
}

// A type of another width has one dimension more, or less, at the end.
std::optional<PartitionRule> BitcastConvertRule(const HloInstruction& convert) {
  PartitionRule rule;
  const Shape& from = convert.operand(0)->shape();
  rule.operands.push_back(WholeDimensions(from));
  rule.results.push_back(WholeDimensions(convert.shape()));
  for (int64_t i = 0; i < from.rank() && i < convert.shape().rank(); ++i) {
    rule.operands[0][i] = rule.results[0][i] = rule.Add(from.dimensions(static_cast<int>(i)));
  }
  return rule;
}

std::optional<PartitionRule> BroadcastRule(const HloInstruction& broadcast) {
  PartitionRule rule;
  rule.results.push_back(FactorsOf(broadcast.shape(), &rule));
  std::vector<int> operand;
  for (int64_t i = 0; i < broadcast.operand(0)->shape().rank(); ++i) {
    operand.push_back(rule.results[0][broadcast.dimensions(i)]);
  }
  rule.operands.push_back(std::move(operand));
  return rule;
}

std::optional<PartitionRule> TransposeRule(const HloInstruction& transpose) {
  PartitionRule rule;
  rule.operands.push_back(FactorsOf(transpose.operand(0)->shape(), &rule));
  std::vector<int> result;
  for (const int64_t dimension : transpose.dimensions()) result.push_back(rule.operands[0][dimension]);
  rule.results.push_back(std::move(result));
  return rule;
}

// Pieces with the same product are merged, split or kept (common_factors.h). Dimensions are cut into the factors that
// both sides have: f32[8,16] to f32[128] into 8 and 16, of which the 128 consists.
std::optional<PartitionRule> ReshapeRule(const HloInstruction& reshape) {
  const Shape& from = reshape.operand(0)->shape();
  const Shape& to = reshape.shape();
  if (ShapeUtil::IsZeroElementArray(to) || ShapeUtil::IsZeroElementArray(from)) return std::nullopt;
  PartitionRule rule;
  DimensionsInTurn a = {from, 0, 0}, b = {to, 0, 0};
  const auto cuts = CommonFactors(from.dimensions(), to.dimensions());
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    a.MoveTo(cuts[i].first, cuts[i + 1].first);
    b.MoveTo(cuts[i].second, cuts[i + 1].second);
    AddCommonFactors(&a, &b, &rule);
  }
  rule.operands.push_back(a.Factors(&rule));
  rule.results.push_back(b.Factors(&rule));
  return rule;
}

// A part of a dimension is a window of one element that moves by the stride.
std::optional<PartitionRule> SliceRule(const HloInstruction& slice) {
  const Shape& from = slice.operand(0)->shape();
  const auto passes = [&](int64_t i) {
    return slice.slice_starts(i) == 0 && slice.slice_strides(i) == 1 &&
           slice.slice_limits(i) == from.dimensions(static_cast<int>(i));
  };
  PartitionRule rule = SameDimensions(slice, passes);
  for (int64_t i = 0; i < from.rank(); ++i) {
    if (passes(i)) continue;
    rule.operands[0][i] = rule.results[0][i] =
        rule.AddMoving({slice.slice_starts(i), slice.slice_strides(i), 1, from.dimensions(static_cast<int>(i)),
                        slice.shape().dimensions(static_cast<int>(i))});
  }
  return rule;
}

std::optional<PartitionRule> PadRule(const HloInstruction& pad) {
  const Shape& from = pad.operand(0)->shape();
  const auto padding_of = [&](int64_t i) { return pad.padding_config().dimensions(static_cast<int>(i)); };
  const auto passes = [&](int64_t i) {
    const PaddingConfigDimension padding = padding_of(i);
    return padding.edge_padding_low() == 0 && padding.edge_padding_high() == 0 && padding.interior_padding() == 0;
  };
  PartitionRule rule = SameDimensions(pad, passes);
  for (int64_t i = 0; i < from.rank(); ++i) {
    if (passes(i)) continue;
    rule.operands[0][i] = rule.results[0][i] =
        padding_of(i).interior_padding() != 0
            ? rule.AddWhole()
            : rule.AddMoving({-padding_of(i).edge_padding_low(), 1, 1, from.dimensions(static_cast<int>(i)),
                              pad.shape().dimensions(static_cast<int>(i))});
  }
  return rule;
}

// All operands and results have the same dimensions; those that the operation names are whole.
static PartitionRule NamedWhole(const HloInstruction& instruction) {
  PartitionRule rule;
  const std::vector<const Shape*> results = ResultsOf(instruction);
  std::vector<int> factors;
  for (int64_t i = 0; i < results[0]->rank(); ++i) {
    const bool is_named = absl::c_linear_search(instruction.dimensions(), i);
    factors.push_back(is_named ? rule.AddWhole() : rule.Add(results[0]->dimensions(static_cast<int>(i))));
  }
  rule.operands.assign(instruction.operand_count(), factors);
  rule.results.assign(results.size(), factors);
  return rule;
}

std::optional<PartitionRule> ConcatenateRule(const HloInstruction& concatenate) { return NamedWhole(concatenate); }

std::optional<PartitionRule> ReverseRule(const HloInstruction& reverse) { return NamedWhole(reverse); }

// A single line that is sorted stays whole, as in Shardy: all devices have it then.
std::optional<PartitionRule> SortRule(const HloInstruction& sort) {
  if (ResultsOf(sort)[0]->rank() < 2) return std::nullopt;
  return NamedWhole(sort);
}

// If the slice is as large as the array, its start is clamped to 0.
std::optional<PartitionRule> DynamicSliceRule(const HloInstruction& slice) {
  const Shape& from = slice.operand(0)->shape();
  return SameDimensions(slice, [&](int64_t i) {
    return from.dimensions(static_cast<int>(i)) == slice.shape().dimensions(static_cast<int>(i));
  });
}

std::optional<PartitionRule> DynamicUpdateSliceRule(const HloInstruction& update) {
  const Shape& part = update.operand(1)->shape();
  const auto passes = [&](int64_t i) {
    return part.dimensions(static_cast<int>(i)) == update.shape().dimensions(static_cast<int>(i));
  };
  PartitionRule rule = SameDimensions(update, passes);
  for (int64_t i = 0; i < part.rank(); ++i) {
    rule.operands[1][i] = rule.operands[0][i];
    if (!passes(i)) rule.operands[0][i] = rule.results[0][i] = rule.AddWhole();
  }
  return rule;
}

std::optional<PartitionRule> IotaRule(const HloInstruction& iota) {
  PartitionRule rule;
  rule.results.push_back(FactorsOf(iota.shape(), &rule));
  rule.is_offset = true;
  return rule;
}

}  // namespace kashi::partition
