// Operations that move elements: slices, pad, concatenate, transpose, … (docs/spec/hlo-ops.md, 2). Reshapes and
// broadcasts: shape_inference_reshape.cc.
#include <limits>
#include <optional>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/permutation_util.h"
#include "kashi/array/primitive_util.h"
#include "kashi/base/math.h"
#include "kashi/hlo/inference/shape_inference.h"
#include "kashi/hlo/inference/shape_inference_internal.h"

namespace kashi {
namespace {

using hlo::shape_inference::AllUnique;
using hlo::shape_inference::CompatibleSizes;
using hlo::shape_inference::HigherPrecision;
using hlo::shape_inference::ResultDimensions;
using hlo::shape_inference::TypeName;

// ---------------------------------------------------------------------------------------------------------------------
// Start indices of dynamic slices. `what` is "Dynamic slice" or "Dynamic update slice".
// ---------------------------------------------------------------------------------------------------------------------

absl::Status CheckVectorIndex(absl::string_view what, const Shape& operand, absl::Span<const Shape> indices) {
  if (indices.size() != 1) {
    return InvalidArgument("%s should have exactly 1 index operand, has %d.", what, indices.size());
  }
  const Shape& index = indices[0];
  KASHI_RETURN_IF_ERROR(ExpectArray(index, absl::StrCat("start indices of ", what)));
  if (index.rank() != 1) {
    return InvalidArgument("%s start indices of rank %d must be rank1.", what, index.rank());
  }
  if (!ShapeUtil::ElementIsIntegral(index)) {
    return InvalidArgument("%s start indices must be of integral type.", what);
  }
  if (index.dimensions(0) != operand.rank()) {
    return InvalidArgument("%s start number of dimensions %d (%s) must match rank %d of slice input (%s).", what,
                           index.dimensions(0), ShapeUtil::HumanString(index), operand.rank(),
                           ShapeUtil::HumanString(operand));
  }
  return absl::OkStatus();
}

absl::Status CheckScalarIndices(absl::string_view what, const Shape& operand, absl::Span<const Shape> indices) {
  if (static_cast<int64_t>(indices.size()) != operand.rank()) {
    return InvalidArgument("%s start number of dimensions %d must match rank %d of slice input (%s).", what,
                           indices.size(), operand.rank(), ShapeUtil::HumanString(operand));
  }
  for (const Shape& index : indices) {
    if (!ShapeUtil::IsScalar(indices[0])) {
      return InvalidArgument("%s indices must be scalar, not %s.", what, ShapeUtil::HumanString(indices[0]));
    }
    if (!ShapeUtil::ElementIsIntegral(indices[0])) {
      return InvalidArgument("%s start indices must be of integral type.", what);
    }
    if (!ShapeUtil::Compatible(indices[0], index)) {
      return InvalidArgument(
          "%s start indices must all have the same shape, got mismatching indices with shapes %s and %s.", what,
          ShapeUtil::HumanString(indices[0]), ShapeUtil::HumanString(index));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckStartIndices(absl::string_view what, const Shape& operand, absl::Span<const Shape> indices,
                               bool allow_scalar_indices) {
  const bool is_vector = !indices.empty() && indices[0].IsArray() && indices[0].rank() == 1;
  return is_vector || !allow_scalar_indices ? CheckVectorIndex(what, operand, indices)
                                            : CheckScalarIndices(what, operand, indices);
}

// ---------------------------------------------------------------------------------------------------------------------
// Concatenate
// ---------------------------------------------------------------------------------------------------------------------

absl::Status CheckConcatenated(const Shape& first, const Shape& shape, int64_t dimension) {
  KASHI_RETURN_IF_ERROR(ExpectArray(shape, "operand of concatenation"));
  if (shape.rank() != first.rank()) {
    return InvalidArgument("Cannot concatenate arrays with different ranks: %d (%s) vs %d (%s).", first.rank(),
                           ShapeUtil::HumanString(first), shape.rank(), ShapeUtil::HumanString(shape));
  }
  if (!ShapeUtil::SameElementTypeIgnoringFpPrecision(first, shape)) {
    return InvalidArgument("Cannot concatenate arrays with different element types: %s vs %s.", TypeName(first),
                           TypeName(shape));
  }
  for (int i = 0; i < first.dimensions_size(); ++i) {
    if (i == dimension || CompatibleSizes(first.dimensions(i), shape.dimensions(i))) continue;
    return InvalidArgument(
        "Cannot concatenate arrays that differ in dimensions other than the one being concatenated. Dimension %d in "
        "both shapes must be equal (or compatible): %s vs %s.",
        i, ShapeUtil::HumanString(first), ShapeUtil::HumanString(shape));
  }
  return absl::OkStatus();
}

// The known facts of a size: 3 is {3, nothing}, <=3 is {nothing, 3}, ? is nothing at all. Both: the size is 3, and was
// derived from a bound, which makes the result dynamic.
struct KnownSize {
  std::optional<int64_t> size;
  std::optional<int64_t> bound;

  static KnownSize Of(const Shape& shape, int i) {
    if (shape.is_static_dimension(i)) return {shape.dimensions(i), std::nullopt};
    if (shape.is_unbounded_dynamic_dimension(i)) return {};
    return {std::nullopt, shape.dimensions(i)};
  }
  std::optional<int64_t> SizeOrBound() const { return size.has_value() ? size : bound; }
};

// The size that follows if a and b must be equal.
absl::StatusOr<KnownSize> Unified(const KnownSize& a, const KnownSize& b, int64_t i) {
  const KnownSize result = {a.size.has_value() ? a.size : b.size, a.bound.has_value() ? a.bound : b.bound};
  if (a.size.has_value() && b.size.has_value() && *a.size != *b.size) {
    return InvalidArgument("Mismatched dimension sizes %d and %d in dimension %d", *a.size, *b.size, i);
  }
  if (a.bound.has_value() && b.bound.has_value() && *a.bound != *b.bound) {
    return InvalidArgument("Mismatched bound sizes %d and %d in dimension %d", *a.bound, *b.bound, i);
  }
  if (result.size.has_value() && result.bound.has_value() && *result.size > *result.bound) {
    return InvalidArgument("Mismatched dimension size %d and bound %d in dimension %d", *result.size, *result.bound, i);
  }
  return result;
}

// The size of a concatenation.
absl::StatusOr<KnownSize> Sum(const KnownSize& a, const KnownSize& b) {
  const std::optional<int64_t> x = a.SizeOrBound(), y = b.SizeOrBound();
  if (!x.has_value() || !y.has_value()) return KnownSize();
  const std::optional<int64_t> sum = CheckedAdd(*x, *y);
  if (!sum.has_value()) return InvalidArgument("Concatenated sizes %d and %d do not fit 64 bits.", *x, *y);
  if (a.bound.has_value() || b.bound.has_value()) return KnownSize{std::nullopt, sum};
  return KnownSize{sum, std::nullopt};
}

}  // namespace

absl::StatusOr<Shape> ShapeInference::InferSliceShape(const Shape& arg, absl::Span<const int64_t> starts,
                                                      absl::Span<const int64_t> limits,
                                                      absl::Span<const int64_t> strides) {
  const auto error = [&](const std::string& message) {
    return InvalidArgument("%s in slice operation; argument shape: %s; starts: {%s}; limits: {%s}; strides: {%s}.",
                           message, ShapeUtil::HumanString(arg), absl::StrJoin(starts, ","), absl::StrJoin(limits, ","),
                           absl::StrJoin(strides, ","));
  };
  KASHI_RETURN_IF_ERROR(ExpectArray(arg, "operand of slice"));
  if (starts.size() != limits.size()) {
    return error(absl::StrFormat("slice start and limit sizes differ: %u vs %u", starts.size(), limits.size()));
  }
  if (starts.size() != strides.size()) {
    return error(absl::StrFormat("slice start and strides sizes differ: %u vs %u", starts.size(), strides.size()));
  }
  if (static_cast<int64_t>(starts.size()) != arg.rank()) {
    return InvalidArgument("Slice index count does not match argument rank: %u vs %d.", starts.size(), arg.rank());
  }
  ResultDimensions result;
  for (int i = 0; i < arg.dimensions_size(); ++i) {
    const int64_t start = starts[i], limit = limits[i], stride = strides[i];
    if (start < 0) return InvalidArgument("Negative start index to slice: %d.", start);
    if (!arg.is_unbounded_dynamic_dimension(i) && limit > arg.dimensions(i)) {
      return error(absl::StrFormat("limit index (%d) must be less than or equal to dimension size (%d)", limit,
                                   arg.dimensions(i)));
    }
    if (start > limit) {
      return error(absl::StrFormat(
          "limit index (%d) must be greater or equal to start index (%d) in slice with positive stride", limit, start));
    }
    if (stride <= 0) return InvalidArgument("Stride (%d) must be positive.", stride);
    const int64_t size = CeilOfRatio(limit - start, stride);
    result.Add(size, arg.is_bounded_dynamic_dimension(i) && size != 1);
  }
  return result.Make(arg.element_type());
}

absl::StatusOr<Shape> ShapeInference::InferDynamicSliceShape(const Shape& operand_shape,
                                                             absl::Span<const Shape> start_index_shapes,
                                                             absl::Span<const int64_t> slice_sizes,
                                                             bool allow_scalar_indices) {
  KASHI_RETURN_IF_ERROR(ExpectArray(operand_shape, "operand of dynamic slice"));
  KASHI_RETURN_IF_ERROR(CheckStartIndices("Dynamic slice", operand_shape, start_index_shapes, allow_scalar_indices));
  if (static_cast<int64_t>(slice_sizes.size()) != operand_shape.rank()) {
    return InvalidArgument("Dynamic slice index count does not match argument rank: %u vs %d.", slice_sizes.size(),
                           operand_shape.rank());
  }
  ResultDimensions result;
  for (int i = 0; i < operand_shape.dimensions_size(); ++i) {
    const int64_t size = slice_sizes[i];
    if (size < 0) return InvalidArgument("Negative size index to dynamic slice: %d.", size);
    if (!operand_shape.is_unbounded_dynamic_dimension(i) && size > operand_shape.dimensions(i)) {
      return InvalidArgument("Slice dim size %d greater than dynamic slice dimension: %d.", size,
                             operand_shape.dimensions(i));
    }
    result.Add(size, operand_shape.is_dynamic_dimension(i) && size > 1 && size == operand_shape.dimensions(i));
  }
  return result.Make(operand_shape.element_type());
}

absl::StatusOr<Shape> ShapeInference::InferDynamicUpdateSliceShape(const Shape& operand_shape,
                                                                   const Shape& update_shape,
                                                                   absl::Span<const Shape> start_index_shapes,
                                                                   bool allow_scalar_indices) {
  KASHI_RETURN_IF_ERROR(ExpectArray(operand_shape, "operand of dynamic update slice"));
  KASHI_RETURN_IF_ERROR(ExpectArray(update_shape, "update of dynamic update slice"));
  KASHI_RETURN_IF_ERROR(
      CheckStartIndices("Dynamic update slice", operand_shape, start_index_shapes, allow_scalar_indices));
  if (update_shape.rank() != operand_shape.rank()) {
    return InvalidArgument("Dynamic update slice update rank does not match argument rank: %d vs %d.",
                           update_shape.rank(), operand_shape.rank());
  }
  if (!ShapeUtil::SameElementTypeIgnoringFpPrecision(operand_shape, update_shape)) {
    return InvalidArgument(
        "Dynamic update slice update element type does not match argument. operand.element_type: %s vs "
        "update.element_type: %s.",
        TypeName(operand_shape), TypeName(update_shape));
  }
  Shape result = operand_shape;
  for (int i = 0; i < operand_shape.dimensions_size(); ++i) {
    const int64_t size = update_shape.dimensions(i), operand_size = operand_shape.dimensions(i);
    // Upstream compares the numbers as they are: an unbounded update fits every operand, an unbounded operand only an
    // unbounded update.
    if (size > operand_size) {
      return InvalidArgument("Update dim size %d greater than dynamic slice dimension: %d.", size, operand_size);
    }
    if (update_shape.is_dynamic_dimension(i) && size == operand_size) result.set_dynamic_dimension(i, true);
  }
  return result;
}

absl::StatusOr<Shape> ShapeInference::InferPadShape(const Shape& operand_shape, const Shape& padding_value_shape,
                                                    const PaddingConfig& padding_config) {
  if (!operand_shape.IsArrayExcludingBuffer()) {
    return InvalidArgument("Pad operation does not support tuple-shape operands.");
  }
  if (!ShapeUtil::IsScalar(padding_value_shape)) {
    return InvalidArgument("Pad operation does not support non-scalar padding values.");
  }
  if (operand_shape.dimensions_size() != padding_config.dimensions_size()) {
    return InvalidArgument("The rank of the operand and the padding configuration do not match: %s vs %d dimensions.",
                           ShapeUtil::HumanString(operand_shape), padding_config.dimensions_size());
  }
  if (!ShapeUtil::SameElementTypeIgnoringFpPrecision(operand_shape, padding_value_shape)) {
    return InvalidArgument("The element types of the operands to Pad do not match.");
  }
  for (const PaddingConfigDimension& padding : padding_config.dimensions()) {
    if (padding.interior_padding() >= 0) continue;
    return InvalidArgument("Interior padding cannot be negative: %d", padding.interior_padding());
  }
  ResultDimensions result;
  for (int i = 0; i < operand_shape.dimensions_size(); ++i) {
    if (operand_shape.is_unbounded_dynamic_dimension(i)) {
      result.AddFrom(operand_shape, i);
      continue;
    }
    const int64_t size = operand_shape.dimensions(i);
    const PaddingConfigDimension& padding = padding_config.dimensions(i);
    const absl::int128 padded = absl::int128(size) + padding.edge_padding_low() + padding.edge_padding_high() +
                                absl::int128(size > 0 ? size - 1 : 0) * padding.interior_padding();
    if (padded < 0) return InvalidArgument("Padding result in negative size for dimension %d", i);
    if (padded > std::numeric_limits<int64_t>::max()) {
      return InvalidArgument("The padded size of dimension %d does not fit 64 bits.", i);
    }
    result.Add(static_cast<int64_t>(padded), operand_shape.is_dynamic_dimension(i));
  }
  KASHI_ASSIGN_OR_RETURN(const PrimitiveType type, HigherPrecision(operand_shape, padding_value_shape));
  return result.Make(type);
}

absl::StatusOr<Shape> ShapeInference::InferReverseShape(const Shape& operand_shape,
                                                        absl::Span<const int64_t> dimensions) {
  KASHI_RETURN_IF_ERROR(ExpectArray(operand_shape, "operand of reverse"));
  if (!AllUnique(dimensions)) return InvalidArgument("a dimension number is duplicated in reverse");
  for (int64_t dimension : dimensions) {
    if (dimension >= 0 && dimension < operand_shape.rank()) continue;
    return InvalidArgument("One of the reverse dimensions (%d) is out-of-bounds in shape %s.", dimension,
                           ShapeUtil::HumanString(operand_shape));
  }
  return operand_shape;
}

absl::StatusOr<Shape> ShapeInference::InferShuffleShape(const Shape& operand_shape,
                                                        absl::Span<const int64_t> dimensions,
                                                        absl::Span<const int64_t> shifts) {
  KASHI_RETURN_IF_ERROR(ExpectArray(operand_shape, "operand of shuffle"));
  if (dimensions.empty()) return InvalidArgument("A shuffle must shuffle at least one dimension.");
  if (!AllUnique(dimensions)) return InvalidArgument("A dimension number is duplicated in shuffle.");
  for (int64_t dimension : dimensions) {
    if (dimension >= 0 && dimension < operand_shape.rank()) continue;
    return InvalidArgument("One of the shuffle dimensions (%d) is out-of-bounds in shape %s.", dimension,
                           ShapeUtil::HumanString(operand_shape));
  }
  if (dimensions.size() == shifts.size()) return operand_shape;
  return InvalidArgument("dimensions and shifts must have the same size, got %d and %d.", dimensions.size(),
                         shifts.size());
}

absl::StatusOr<Shape> ShapeInference::InferConcatOpShape(absl::Span<const Shape* const> arg_shapes, int64_t dimension) {
  if (arg_shapes.empty()) return InvalidArgument("Concatenate expects at least one argument.");
  const Shape& first = *arg_shapes[0];
  if (!first.IsArray() || dimension < 0 || dimension >= first.rank()) {
    return InvalidArgument("Concatenate dimension out of bounds: %d.", dimension);
  }
  for (const Shape* shape : arg_shapes) KASHI_RETURN_IF_ERROR(CheckConcatenated(first, *shape, dimension));

  ResultDimensions result;
  for (int i = 0; i < first.dimensions_size(); ++i) {
    KnownSize known = KnownSize::Of(first, i);
    for (const Shape* shape : arg_shapes.subspan(1)) {
      KASHI_ASSIGN_OR_RETURN(
          known, i == dimension ? Sum(known, KnownSize::Of(*shape, i)) : Unified(known, KnownSize::Of(*shape, i), i));
    }
    const bool is_static = known.size.has_value() && !known.bound.has_value();
    result.Add(known.SizeOrBound().value_or(Shape::kUnboundedSize), !is_static);
  }
  // Not the highest type of all: as in XLA, operands in the middle do not count.
  KASHI_ASSIGN_OR_RETURN(const PrimitiveType type, HigherPrecision(*arg_shapes.back(), first));
  return result.Make(type);
}

absl::StatusOr<Shape> ShapeInference::InferTransposeShape(const Shape& operand_shape,
                                                          absl::Span<const int64_t> dimensions) {
  KASHI_RETURN_IF_ERROR(ExpectArray(operand_shape, "transpose"));
  if (static_cast<int64_t>(dimensions.size()) != operand_shape.rank() || !IsPermutation(dimensions)) {
    return InvalidArgument(
        "Transpose dimensions [%s] are not a permutation of the operand dimensions (operand shape is %s).",
        absl::StrJoin(dimensions, ","), ShapeUtil::HumanString(operand_shape));
  }
  return ShapeUtil::PermuteDimensions(dimensions, operand_shape);
}

absl::StatusOr<Shape> ShapeInference::InferGetTupleElementShape(const Shape& arg, int64_t index) {
  if (!arg.IsTuple()) {
    return InvalidArgument("Cannot infer shape: attempting to index into non-tuple: %s.", ShapeUtil::HumanString(arg));
  }
  if (index < 0 || index >= arg.tuple_shapes_size()) {
    return InvalidArgument("Cannot infer shape: attempt to index out of tuple bounds: %d >= %d in shape %s.", index,
                           arg.tuple_shapes_size(), ShapeUtil::HumanString(arg));
  }
  return arg.tuple_shapes(static_cast<int>(index));
}

namespace {

// Sizes at run time are s32. `operation` is "GetDimensionSize" or "SetDimensionSize".
absl::Status CheckFitsS32(absl::string_view operation, const Shape& shape, int64_t dimension) {
  if (shape.dimensions(static_cast<int>(dimension)) <= std::numeric_limits<int32_t>::max()) return absl::OkStatus();
  return InvalidArgument("%s's input shape is %s, the %dth dimension exceeds the INT_MAX limit.", operation,
                         ShapeUtil::HumanString(shape), dimension);
}

absl::Status CheckDimensionNumber(absl::string_view operation, const Shape& shape, int64_t dimension) {
  if (shape.IsArray() && dimension >= 0 && dimension < shape.rank()) return absl::OkStatus();
  return InvalidArgument("%s dimension out of bounds: %d.", operation, dimension);
}

}  // namespace

absl::StatusOr<Shape> ShapeInference::InferGetDimensionSizeShape(const Shape& shape, int64_t dimension) {
  KASHI_RETURN_IF_ERROR(CheckDimensionNumber("GetDimensionSize", shape, dimension));
  KASHI_RETURN_IF_ERROR(CheckFitsS32("GetDimensionSize", shape, dimension));
  return ShapeUtil::MakeScalarShape(S32);
}

absl::StatusOr<Shape> ShapeInference::InferSetDimensionSizeShape(const Shape& shape, const Shape& val_shape,
                                                                 int64_t dimension) {
  KASHI_RETURN_IF_ERROR(CheckDimensionNumber("SetDimensionSize", shape, dimension));
  if (!ShapeUtil::IsScalarWithElementType(val_shape, S32)) {
    return InvalidArgument("SetDimensionSize's value has to be S32 scalar, got %s", ShapeUtil::HumanString(val_shape));
  }
  KASHI_RETURN_IF_ERROR(CheckFitsS32("SetDimensionSize", shape, dimension));
  Shape result = shape;
  result.set_dynamic_dimension(static_cast<int>(dimension), true);
  return result;
}

}  // namespace kashi
