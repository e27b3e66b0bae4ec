// The rules of operations that add up: reduce, dot, convolution, and of windows.
#include <optional>

#include "absl/algorithm/container.h"
#include "kashi/base/math.h"
#include "kashi/hlo/ir/combiner.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/partition/partition_rules.h"

namespace kashi::partition {
namespace {

bool IsPlain(const WindowDimension& window) {
  return window.size() == 1 && window.stride() == 1 && window.padding_low() == 0 && window.padding_high() == 0 &&
         window.base_dilation() == 1 && window.window_dilation() == 1;
}

// A window over neighbours, without holes between the elements of the array.
bool CanMove(const WindowDimension& window) { return window.base_dilation() == 1 && window.size() > 0; }

MovingWindow MovingOf(const WindowDimension& window, int64_t from_size, int64_t to_size) {
  const auto reach = CheckedMultiply(window.size() - 1, window.window_dilation());
  constexpr int64_t kFar = int64_t{1} << 40;  // no plan takes it
  return {-window.padding_low(), window.stride(), reach.has_value() && *reach < kFar ? *reach + 1 : kFar, from_size,
          to_size};
}

// Gives the dimensions of two or three arrays one factor.
void Tie(int factor, int64_t lhs_dimension, int64_t rhs_dimension, PartitionRule* rule) {
  rule->operands[0][lhs_dimension] = factor;
  rule->operands[1][rhs_dimension] = factor;
}

int64_t SizeOf(const Shape& shape, int64_t dimension) { return shape.dimensions(static_cast<int>(dimension)); }

// Features in groups: each group is a small convolution of its own. The groups are neighbours in the dimension of the
// operand that the group count belongs to, in the features of the kernel and in those of the result.
void TieGroups(const HloInstruction& convolution, int64_t lhs_dimension, int64_t groups, PartitionRule* rule) {
  const ConvolutionDimensionNumbers& numbers = convolution.convolution_dimension_numbers();
  const int factor = rule->Add(groups);
  rule->factors[factor].divisor = groups;
  Tie(factor, lhs_dimension, numbers.kernel_output_feature_dimension(), rule);
  rule->results[0][numbers.output_feature_dimension()] = factor;
}

// Windows of a reduce-window may move if the values that they find outside of the array do not change the result.
bool MayLeaveArray(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kReduceWindow || instruction.operand_count() != 2) return false;
  const std::optional<HloOpcode> combiner = hlo::ReorderableCombiner(*instruction.to_apply());
  return combiner.has_value() && IsNeutral(*instruction.operand(1), *combiner);
}

}  // namespace

// Dimensions that are reduced are sums if the computation is known; otherwise its neutral element is not.
std::optional<PartitionRule> ReduceRule(const HloInstruction& reduce) {
  const int64_t inputs = reduce.operand_count() / 2;
  if (inputs == 0) return std::nullopt;
  const std::optional<HloOpcode> combiner = inputs == 1 ? hlo::ReorderableCombiner(*reduce.to_apply()) : std::nullopt;
  PartitionRule rule;
  rule.combiner = combiner.value_or(HloOpcode::kAdd);
  const Shape& input = reduce.operand(0)->shape();
  std::vector<int> factors;
  std::vector<int> kept;
  for (int64_t i = 0; i < input.rank(); ++i) {
    const bool is_reduced = absl::c_linear_search(reduce.dimensions(), i);
    const bool is_whole = is_reduced && (!combiner.has_value() ||
                                         reduce.operand(0)->shape().element_type() != reduce.shape().element_type());
    factors.push_back(is_whole ? kWhole : rule.Add(SizeOf(input, i), is_reduced));
    if (!is_reduced) kept.push_back(factors.back());
  }
  rule.operands.assign(inputs, factors);
  rule.operands.resize(2 * inputs);
  rule.results.assign(ResultsOf(reduce).size(), kept);
  return rule;
}

std::optional<PartitionRule> DotRule(const HloInstruction& dot) {
  if (dot.fields().Has(HloField::sparsity_config)) return std::nullopt;
  const DotDimensionNumbers& numbers = dot.dot_dimension_numbers();
  const Shape& lhs = dot.operand(0)->shape();
  PartitionRule rule;
  rule.operands = {WholeDimensions(lhs), WholeDimensions(dot.operand(1)->shape())};
  std::vector<int> result;
  for (int i = 0; i < numbers.lhs_batch_dimensions_size(); ++i) {
    const int factor = rule.Add(SizeOf(lhs, numbers.lhs_batch_dimensions(i)));
    Tie(factor, numbers.lhs_batch_dimensions(i), numbers.rhs_batch_dimensions(i), &rule);
    result.push_back(factor);
  }
  for (int i = 0; i < numbers.lhs_contracting_dimensions_size(); ++i) {
    const int factor = rule.Add(SizeOf(lhs, numbers.lhs_contracting_dimensions(i)), /*is_sum=*/true);
    Tie(factor, numbers.lhs_contracting_dimensions(i), numbers.rhs_contracting_dimensions(i), &rule);
  }
  for (int64_t operand = 0; operand < 2; ++operand) {
    for (int64_t i = 0; i < dot.operand(operand)->shape().rank(); ++i) {
      if (rule.operands[operand][i] != kWhole) continue;
      rule.operands[operand][i] = rule.Add(SizeOf(dot.operand(operand)->shape(), i));
      result.push_back(rule.operands[operand][i]);
    }
  }
  rule.results.push_back(std::move(result));
  return rule;
}

std::optional<PartitionRule> ConvolutionRule(const HloInstruction& convolution) {
  const ConvolutionDimensionNumbers& numbers = convolution.convolution_dimension_numbers();
  const Shape& lhs = convolution.operand(0)->shape();
  const Shape& rhs = convolution.operand(1)->shape();
  PartitionRule rule;
  rule.operands = {WholeDimensions(lhs), WholeDimensions(rhs)};
  rule.results = {WholeDimensions(convolution.shape())};
  const int64_t feature_groups = convolution.feature_group_count();
  const int64_t batch_groups = convolution.batch_group_count();
  if (feature_groups > 1) {
    TieGroups(convolution, numbers.input_feature_dimension(), feature_groups, &rule);
  } else {
    const int factor = rule.Add(SizeOf(lhs, numbers.input_feature_dimension()), /*is_sum=*/true);
    Tie(factor, numbers.input_feature_dimension(), numbers.kernel_input_feature_dimension(), &rule);
  }
  if (batch_groups > 1) {
    TieGroups(convolution, numbers.input_batch_dimension(), batch_groups, &rule);
  } else {
    rule.operands[0][numbers.input_batch_dimension()] = rule.results[0][numbers.output_batch_dimension()] =
        rule.Add(SizeOf(lhs, numbers.input_batch_dimension()));
  }
  if (feature_groups == 1 && batch_groups == 1) {
    rule.operands[1][numbers.kernel_output_feature_dimension()] = rule.results[0][numbers.output_feature_dimension()] =
        rule.Add(SizeOf(rhs, numbers.kernel_output_feature_dimension()));
  }
  for (int i = 0; i < numbers.input_spatial_dimensions_size(); ++i) {
    const int64_t from = numbers.input_spatial_dimensions(i), to = numbers.output_spatial_dimensions(i);
    const WindowDimension& window = convolution.window().dimensions(i);
    if (!IsPlain(window) && !CanMove(window)) continue;
    rule.operands[0][from] = rule.results[0][to] =
        IsPlain(window) ? rule.Add(SizeOf(lhs, from))
                        : rule.AddMoving(MovingOf(window, SizeOf(lhs, from), SizeOf(convolution.shape(), to)));
  }
  return rule;
}

std::optional<PartitionRule> WindowRule(const HloInstruction& instruction) {
  PartitionRule rule;
  const Shape& input = instruction.operand(0)->shape();
  std::vector<int> factors = WholeDimensions(input);
  const bool may_move = MayLeaveArray(instruction);
  for (int64_t i = 0; i < input.rank(); ++i) {
    const WindowDimension& window = instruction.window().dimensions(static_cast<int>(i));
    if (IsPlain(window)) {
      factors[i] = rule.Add(SizeOf(input, i));
    } else if (may_move && CanMove(window)) {
      factors[i] = rule.AddMoving(MovingOf(window, SizeOf(input, i), SizeOf(instruction.shape(), i)));
    } else {
      factors[i] = rule.AddWhole();
    }
  }
  for (const HloInstruction* operand : instruction.operands()) {
    rule.operands.push_back(operand->shape().rank() == input.rank() ? factors : WholeDimensions(operand->shape()));
  }
  rule.results.assign(ResultsOf(instruction).size(), factors);
  return rule;
}

}  // namespace kashi::partition
