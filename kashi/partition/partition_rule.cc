#include "kashi/partition/partition_rule.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/ir/neutral_element.h"
#include "kashi/literal/literal_util.h"
#include "kashi/partition/partition_rules.h"

namespace kashi::partition {
namespace {

struct RuleRow {
  HloOpcode opcode;
  RuleMaker maker;
};

// Elementwise operations have the rule of all of them; operations that are not here have none.
constexpr RuleRow kRules[] = {
    {HloOpcode::kBatchNormGrad, BatchNormRule},
    {HloOpcode::kBatchNormInference, BatchNormRule},
    {HloOpcode::kBatchNormTraining, BatchNormRule},
    {HloOpcode::kBitcastConvert, BitcastConvertRule},
    {HloOpcode::kBroadcast, BroadcastRule},
    {HloOpcode::kCholesky, LeadingRule},
    {HloOpcode::kConcatenate, ConcatenateRule},
    {HloOpcode::kConvolution, ConvolutionRule},
    {HloOpcode::kDot, DotRule},
    {HloOpcode::kDynamicSlice, DynamicSliceRule},
    {HloOpcode::kDynamicUpdateSlice, DynamicUpdateSliceRule},
    {HloOpcode::kFft, FftRule},
    {HloOpcode::kGather, GatherRule},
    {HloOpcode::kIota, IotaRule},
    {HloOpcode::kPad, PadRule},
    {HloOpcode::kReduce, ReduceRule},
    {HloOpcode::kReduceWindow, WindowRule},
    {HloOpcode::kReshape, ReshapeRule},
    {HloOpcode::kReverse, ReverseRule},
    {HloOpcode::kScatter, ScatterRule},
    {HloOpcode::kSelectAndScatter, WindowRule},
    {HloOpcode::kSlice, SliceRule},
    {HloOpcode::kSort, SortRule},
    {HloOpcode::kTopK, LeadingRule},
    {HloOpcode::kTranspose, TransposeRule},
    {HloOpcode::kTriangularSolve, TriangularSolveRule},
};

bool IsStaticArray(const Shape& shape) { return shape.IsArray() && shape.is_static(); }

bool IsOnStaticArrays(const HloInstruction& instruction) {
  return absl::c_all_of(ResultsOf(instruction), [](const Shape* result) { return IsStaticArray(*result); }) &&
         absl::c_all_of(instruction.operands(),
                        [](const HloInstruction* operand) { return IsStaticArray(operand->shape()); });
}

// Dimensions of one factor have one size, unless it has a divisor; and there are as many as the shapes have.
bool FitsShape(const PartitionRule& rule, const std::vector<int>& dims, const Shape& shape, bool is_operand) {
  if (static_cast<int64_t>(dims.size()) != shape.rank()) return false;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (rule.IsWhole(dims[i])) continue;
    const PartitionFactor& factor = rule.factors[dims[i]];
    const int64_t size = shape.dimensions(static_cast<int>(i));
    if (factor.moving.has_value()) {
      if (size != (is_operand ? factor.moving->from_size : factor.moving->to_size)) return false;
      continue;
    }
    if (factor.divisor == 0 ? size != factor.size : size % factor.divisor != 0) return false;
  }
  return true;
}

bool Fits(const PartitionRule& rule, const HloInstruction& instruction) {
  const std::vector<const Shape*> results = ResultsOf(instruction);
  if (rule.results.size() != results.size()) return false;
  if (static_cast<int64_t>(rule.operands.size()) != instruction.operand_count()) return false;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!FitsShape(rule, rule.results[i], *results[i], /*is_operand=*/false)) return false;
  }
  for (size_t i = 0; i < rule.operands.size(); ++i) {
    const Shape& shape = instruction.operand(static_cast<int64_t>(i))->shape();
    if (!FitsShape(rule, rule.operands[i], shape, /*is_operand=*/true)) return false;
  }
  return true;
}

// Whether the window moves over parts: they begin where the first window does, and end where the last one does.
bool IsMoving(const PartitionRule& rule, const std::vector<int64_t>& tiles, int factor) {
  return factor != PartitionRule::kWhole && rule.factors[factor].moving.has_value() && tiles[factor] > 1;
}

void AdjustSlice(const PartitionRule& rule, const std::vector<int64_t>& tiles, HloInstruction* part) {
  SliceRanges* ranges = part->mutable_fields()->Mutable<HloField::slice_ranges>();
  for (size_t i = 0; i < rule.results[0].size(); ++i) {
    const int factor = rule.results[0][i];
    const bool is_moving = IsMoving(rule, tiles, factor);
    if (rule.IsWhole(factor) || (rule.factors[factor].moving.has_value() && !is_moving)) continue;
    ranges->starts[i] = 0;
    ranges->limits[i] = part->operand(0)->shape().dimensions(static_cast<int>(i));
  }
}

void AdjustPadding(const PartitionRule& rule, const std::vector<int64_t>& tiles, HloInstruction* part) {
  PaddingConfig* padding = part->mutable_fields()->Mutable<HloField::padding_config>();
  for (size_t i = 0; i < rule.results[0].size(); ++i) {
    if (!IsMoving(rule, tiles, rule.results[0][i])) continue;
    padding->mutable_dimensions(static_cast<int>(i))->set_edge_padding_low(0);
    padding->mutable_dimensions(static_cast<int>(i))->set_edge_padding_high(0);
  }
}

// `dims`: the factor of each dimension of the window.
void AdjustWindow(const PartitionRule& rule, const std::vector<int64_t>& tiles, const std::vector<int>& dims,
                  HloInstruction* part) {
  Window window = part->window();
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!IsMoving(rule, tiles, dims[i])) continue;
    window.mutable_dimensions(static_cast<int>(i))->set_padding_low(0);
    window.mutable_dimensions(static_cast<int>(i))->set_padding_high(0);
  }
  part->set_window(window);
}

void AdjustConvolution(const HloInstruction& whole, const PartitionRule& rule, const std::vector<int64_t>& tiles,
                       HloInstruction* part) {
  const ConvolutionDimensionNumbers& numbers = whole.convolution_dimension_numbers();
  std::vector<int> spatial;
  for (const int64_t dimension : numbers.output_spatial_dimensions()) spatial.push_back(rule.results[0][dimension]);
  AdjustWindow(rule, tiles, spatial, part);
  const int parts_of = rule.operands[1][numbers.kernel_output_feature_dimension()];
  if (parts_of == PartitionRule::kWhole) return;
  if (whole.feature_group_count() > 1) {
    part->mutable_fields()->Set<HloField::feature_group_count>(whole.feature_group_count() / tiles[parts_of]);
  } else if (whole.batch_group_count() > 1) {
    part->mutable_fields()->Set<HloField::batch_group_count>(whole.batch_group_count() / tiles[parts_of]);
  }
}

}  // namespace

std::optional<PartitionRule> PartitionRuleOf(const HloInstruction& instruction) {
  if (!IsOnStaticArrays(instruction)) return std::nullopt;
  const RuleRow* row = absl::c_find_if(kRules, [&](const RuleRow& r) { return r.opcode == instruction.opcode(); });
  std::optional<PartitionRule> rule;
  if (row != std::end(kRules)) {
    rule = row->maker(instruction);
  } else if (HloInstruction::IsOpElementwise(instruction.opcode()) && instruction.operand_count() > 0) {
    rule = ElementwiseRule(instruction);
  }
  if (!rule.has_value() || rule->factors.empty() || !Fits(*rule, instruction)) return std::nullopt;
  return rule;
}

std::optional<PartitionRule> BatchRuleOf(const HloInstruction& custom_call) {
  if (custom_call.operand_count() == 0 || !IsOnStaticArrays(custom_call)) return std::nullopt;
  const auto& attributes = custom_call.frontend_attributes().map();
  const auto found = attributes.find("num_batch_dims");
  int64_t batch = 0;
  if (found == attributes.end() || !absl::SimpleAtoi(found->second, &batch)) return std::nullopt;
  if (batch <= 0 || batch > custom_call.operand(0)->shape().rank()) return std::nullopt;
  PartitionRule rule = LeadingDimensionsRule(custom_call, batch);
  if (!Fits(rule, custom_call)) return std::nullopt;
  return rule;
}

bool IsNeutral(const HloInstruction& initial, HloOpcode combiner) {
  if (!initial.IsConstant() || initial.shape().rank() != 0) return false;
  const PrimitiveType type = initial.shape().element_type();
  if (combiner == HloOpcode::kAdd && initial.literal() == LiteralUtil::Zero(type)) return true;
  return initial.literal() == hlo::NeutralOf(combiner, type);
}

void AdjustAttributes(const HloInstruction& whole, const PartitionRule& rule, const std::vector<int64_t>& tiles,
                      HloInstruction* part) {
  HloFieldList* fields = part->mutable_fields();
  const HloOpcode opcode = whole.opcode();
  if (opcode == HloOpcode::kSlice) {
    AdjustSlice(rule, tiles, part);
  } else if (opcode == HloOpcode::kPad) {
    AdjustPadding(rule, tiles, part);
  } else if (opcode == HloOpcode::kReduceWindow) {
    AdjustWindow(rule, tiles, rule.results[0], part);
  } else if (opcode == HloOpcode::kDynamicSlice) {
    fields->Set<HloField::dynamic_slice_sizes>(Int64List(part->shape().dimensions()));
  } else if (opcode == HloOpcode::kGather) {
    std::vector<int64_t> sizes(whole.gather_slice_sizes().begin(), whole.gather_slice_sizes().end());
    const GatherDimensionNumbers& numbers = whole.gather_dimension_numbers();
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (rule.IsWhole(rule.operands[0][i]) || absl::c_linear_search(numbers.operand_batching_dims(), i)) {
        continue;
      }
      sizes[i] = part->operand(0)->shape().dimensions(static_cast<int>(i));
    }
    fields->Set<HloField::gather_slice_sizes>(Int64List(sizes));
  } else if (opcode == HloOpcode::kConvolution) {
    AdjustConvolution(whole, rule, tiles, part);
  }
}

}  // namespace kashi::partition
