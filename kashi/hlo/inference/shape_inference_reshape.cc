// Reshapes and broadcasts (docs/spec/hlo-ops.md, 2).
#include <algorithm>
#include <optional>

#include "kashi/array/common_factors.h"
#include "kashi/hlo/inference/shape_inference.h"
#include "kashi/hlo/inference/shape_inference_internal.h"

namespace kashi {
namespace {

using hlo::shape_inference::ResultDimensions;

absl::Status CheckElementCounts(const Shape& from, const Shape& to) {
  const auto [from_count, from_overflows] = ShapeUtil::StaticExtentProduct(from);
  const auto [to_count, to_overflows] = ShapeUtil::StaticExtentProduct(to);
  if (from_count == to_count && !from_overflows && !to_overflows) return absl::OkStatus();
  return InvalidArgument("Reshape operation has mismatched element counts: from=%d (%s) to=%d (%s).", from_count,
                         ShapeUtil::HumanString(from), to_count, ShapeUtil::HumanString(to));
}

// Input dimensions [first, last) become the output's: no finer cut has equal products on both sides. Sizes of 1 at
// either end of the output's part belong to it, too.
struct ReshapeBlock {
  int64_t input_begin, input_end;
  int64_t output_begin, output_end;
};

ReshapeBlock BlockOf(absl::Span<const std::pair<int64_t, int64_t>> cuts, int64_t input_dimension) {
  const auto end = std::find_if(cuts.begin(), cuts.end(), [&](const auto& cut) { return cut.first > input_dimension; });
  const auto begin = end - 1;
  return {begin->first, end->first, begin->second, end->second};
}

// A piece that has only ones in the output is a cut at the same place of the input.
void IncludeOnes(absl::Span<const std::pair<int64_t, int64_t>> cuts, ReshapeBlock* block) {
  for (const auto& [input, output] : cuts) {
    if (input == block->input_begin) block->output_begin = std::min(block->output_begin, output);
    if (input == block->input_end) block->output_end = std::max(block->output_end, output);
  }
}

// The output dimension that dynamic input dimension `i` becomes; nullopt if several are possible.
absl::StatusOr<std::optional<int64_t>> DynamicOutputDimension(const Shape& operand, const Shape& result,
                                                              absl::Span<const std::pair<int64_t, int64_t>> cuts,
                                                              int64_t i, int64_t inferred_dimension) {
  const auto unimplemented = [&](absl::string_view what) {
    return Unimplemented("%s is not supported: output: %s, input: %s, input_dim: %d", what,
                         ShapeUtil::HumanString(result), ShapeUtil::HumanString(operand), i);
  };
  ReshapeBlock block = BlockOf(cuts, i);
  if (block.input_end - block.input_begin > 1 && block.output_end - block.output_begin > 1) {
    return unimplemented("Dynamic input dimension to reshape that is both splitted and combined");
  }
  if (result.rank() == 0) return std::optional<int64_t>();  // a scalar has no dimension to mark
  if (operand.dimensions(static_cast<int>(i)) == 1) {
    if (i == operand.rank() - 1) return std::optional<int64_t>(result.rank() - 1);
    if (i == 0) return std::optional<int64_t>(0);
    return unimplemented("Dynamic degenerated dimension that's not most-minor nor most-major");
  }
  IncludeOnes(cuts, &block);
  if (block.output_end - block.output_begin == 1) return std::optional<int64_t>(block.output_begin);
  if (inferred_dimension != -1) return std::optional<int64_t>(inferred_dimension);
  std::optional<int64_t> not_one;
  for (int64_t output = block.output_begin; output < block.output_end; ++output) {
    if (result.dimensions(static_cast<int>(output)) == 1) continue;
    if (not_one.has_value()) return std::optional<int64_t>();
    not_one = output;
  }
  return not_one;
}

absl::Status CheckInDim(const Shape& operand, const Shape& output, absl::Span<const int64_t> broadcast_dimensions,
                        int i) {
  const int64_t target = broadcast_dimensions[i];
  if (target < 0 || target >= output.rank()) return InvalidArgument("Broadcast dimension %d is out of bound", target);
  const int64_t size = operand.dimensions(i), output_size = output.dimensions(static_cast<int>(target));
  if (!operand.is_unbounded_dynamic_dimension(i)) {
    if (size != output_size && size != 1) {
      return InvalidArgument(
          "Input dimension should be either 1 or equal to the output dimension it is broadcasting into; the %dth "
          "operand dimension is %d, the %dth output dimension is %d.",
          i, size, target, output_size);
    }
    if (operand.is_bounded_dynamic_dimension(i) != output.is_bounded_dynamic_dimension(static_cast<int>(target))) {
      return InvalidArgument("Broadcast input and output dynamism mismatch: %s and %s", ShapeUtil::HumanString(operand),
                             ShapeUtil::HumanString(output));
    }
  }
  if (i > 0 && broadcast_dimensions[i - 1] >= target) {
    return InvalidArgument("Broadcast dimensions order is wrong: %d comes after %d.", target,
                           broadcast_dimensions[i - 1]);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Shape> ShapeInference::InferReshapeShape(const Shape& operand, absl::Span<const int64_t> dimensions,
                                                        int64_t inferred_dimension) {
  KASHI_RETURN_IF_ERROR(ExpectArray(operand, "reshape"));
  KASHI_ASSIGN_OR_RETURN(Shape result, ShapeUtil::MakeValidatedShape(operand.element_type(), dimensions));
  KASHI_RET_CHECK(!result.is_unbounded_dynamic(), "Reshaping with unbounded result shape is not supported.");
  if (operand.is_unbounded_dynamic()) {
    KASHI_RET_CHECK(!operand.is_bounded_dynamic(),
                    "Reshape operand with bounded and unbounded dynamism not supported.");
    return result;
  }
  KASHI_RETURN_IF_ERROR(CheckElementCounts(operand, result));
  if (operand.is_static()) return result;

  const auto cuts = CommonFactors(operand.dimensions(), result.dimensions());
  for (int i = 0; i < operand.dimensions_size(); ++i) {
    if (!operand.is_dynamic_dimension(i)) continue;
    KASHI_ASSIGN_OR_RETURN(const std::optional<int64_t> output,
                           DynamicOutputDimension(operand, result, cuts, i, inferred_dimension));
    if (!output.has_value()) continue;
    if (*output < 0 || *output >= result.rank()) {
      return InvalidArgument("Dynamic dimension %d of %s has no dimension in %s.", i, ShapeUtil::HumanString(operand),
                             ShapeUtil::HumanString(result));
    }
    result.set_dynamic_dimension(static_cast<int>(*output), true);
  }
  return result;
}

absl::StatusOr<Shape> ShapeInference::InferDynamicReshapeShape(const Shape& operand,
                                                               absl::Span<const Shape* const> dim_size_shapes,
                                                               absl::Span<const int64_t> new_size_bounds,
                                                               const std::vector<bool>& dims_are_dynamic) {
  KASHI_RETURN_IF_ERROR(ExpectArray(operand, "dynamic reshape"));
  if (new_size_bounds.size() != dims_are_dynamic.size()) {
    return InvalidArgument(
        "DynamicReshape has to have the same number of elements in new_sizes (%d) and dims_are_dynamic (%d)",
        new_size_bounds.size(), dims_are_dynamic.size());
  }
  for (const Shape* size : dim_size_shapes) {
    // Upstream accepts a scalar of any type, and s32 of any rank.
    if (size->element_type() == S32 || ShapeUtil::IsScalar(*size)) continue;
    return InvalidArgument("DynamicReshape's dim size has to be scalar S32, got (%s): ", ShapeUtil::HumanString(*size));
  }
  KASHI_ASSIGN_OR_RETURN(const Shape result,
                         ShapeUtil::MakeValidatedShape(operand.element_type(), new_size_bounds, dims_are_dynamic));
  KASHI_RETURN_IF_ERROR(CheckElementCounts(operand, result));
  return result;
}

absl::StatusOr<Shape> ShapeInference::InferBroadcastShape(const Shape& operand,
                                                          absl::Span<const int64_t> broadcast_sizes) {
  KASHI_RETURN_IF_ERROR(ExpectArray(operand, "operand of broadcast"));
  KASHI_RET_CHECK(!operand.is_unbounded_dynamic(), "!operand.is_unbounded_dynamic()");
  ResultDimensions result;
  for (int64_t size : broadcast_sizes) {
    if (size == Shape::kUnboundedSize) return InvalidArgument("Non-broadcast dimensions must not be dynamic.");
    if (size < 0) return InvalidArgument("Broadcast with negative dimension size %d.", size);
    result.Add(size);
  }
  result.AddAllFrom(operand);
  return result.Make(operand.element_type());
}

absl::StatusOr<Shape> ShapeInference::InferBroadcastShape(const Shape& operand_shape, const Shape& output_shape,
                                                          absl::Span<const int64_t> broadcast_dimensions) {
  KASHI_RETURN_IF_ERROR(ExpectArray(operand_shape, "operand of broadcast"));
  KASHI_RETURN_IF_ERROR(ExpectArray(output_shape, "operand of broadcast"));
  KASHI_RET_CHECK(!output_shape.is_unbounded_dynamic(), "!output_shape.is_unbounded_dynamic()");
  if (operand_shape.rank() > output_shape.rank()) {
    return InvalidArgument(
        "InDim style broadcast must be to an equal or higher ranked shape; operand rank: %d; output rank: %d",
        operand_shape.rank(), output_shape.rank());
  }
  if (operand_shape.rank() != static_cast<int64_t>(broadcast_dimensions.size())) {
    return InvalidArgument(
        "Size of broadcast_dimensions has to match operand's rank; operand rank: %d, size of broadcast_dimensions %u.",
        operand_shape.rank(), broadcast_dimensions.size());
  }
  for (int i = 0; i < operand_shape.dimensions_size(); ++i) {
    KASHI_RETURN_IF_ERROR(CheckInDim(operand_shape, output_shape, broadcast_dimensions, i));
  }
  return output_shape;
}

}  // namespace kashi
