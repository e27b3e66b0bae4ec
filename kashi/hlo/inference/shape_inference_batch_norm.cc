// Batch normalisation (docs/spec/hlo-ops.md, 8). Feature f of an array is its slice at index f of dimension
// feature_index; scale, offset, mean and variance are vectors with an element for each feature.
#include "kashi/hlo/inference/shape_inference.h"
#include "kashi/hlo/inference/shape_inference_internal.h"

namespace kashi {
namespace {

using hlo::shape_inference::CompatibleSizes;
using hlo::shape_inference::TypeName;

// `op` is always the last word of the operation's name: "training", "inference", "grad".

absl::Status CheckFeatureIndexBelowRank(absl::string_view op, const Shape& operand, int64_t feature_index) {
  if (feature_index < operand.rank()) return absl::OkStatus();
  return InvalidArgument(
      "Expected feature_index of batch-norm-%s to be smaller than the rank of operand_shape; got feature_index %d, and "
      "rank %d.",
      op, feature_index, operand.rank());
}

absl::Status CheckFeatureIndexNotNegative(absl::string_view op, int64_t feature_index) {
  if (feature_index >= 0) return absl::OkStatus();
  return InvalidArgument("Expected feature_index of batch-norm-%s to be a non-negative number, got %d.", op,
                         feature_index);
}

// `what` begins with a capital: "Scale".
absl::Status CheckVector(absl::string_view op, absl::string_view what, const Shape& shape) {
  if (shape.IsArray() && shape.rank() == 1) return absl::OkStatus();
  return InvalidArgument("%s input of batch-norm-%s must have rank 1, but has rank %d.", what, op,
                         shape.IsArray() ? shape.rank() : 0);
}

absl::Status CheckFloating(absl::string_view op, absl::string_view what, const Shape& shape) {
  if (ShapeUtil::ElementIsFloating(shape)) return absl::OkStatus();
  return InvalidArgument("The %s to batch-norm-%s must have a floating point element type, but the shape is %s.", what,
                         op, TypeName(shape));
}

absl::Status CheckSameType(absl::string_view op, absl::string_view what, const Shape& shape, const Shape& operand) {
  if (ShapeUtil::SameElementTypeIgnoringFpPrecision(shape, operand)) return absl::OkStatus();
  return InvalidArgument(
      "The inputs should have the same element type for batch-norm-%s, but the shape of %s is %s and the shape of "
      "operand is %s.",
      op, what, TypeName(shape), TypeName(operand));
}

// For batch-norm-grad, whose error text says "type" twice.
absl::Status CheckSameTypeOfGrad(absl::string_view what, const Shape& shape, const Shape& operand) {
  if (ShapeUtil::SameElementTypeIgnoringFpPrecision(shape, operand)) return absl::OkStatus();
  return InvalidArgument(
      "The inputs should have the same element type for batch-norm-grad, but the element type of %s is %s and the "
      "element type of operand is %s.",
      what, TypeName(shape), TypeName(operand));
}

// The first dimension counts: inference does not require a vector. A scalar has no dimension, but XLA reads one anyway,
// and so accepts a scalar if the count is `?`.
absl::Status CheckSize(absl::string_view what, const Shape& vector, int64_t feature_count) {
  if (feature_count == Shape::kUnboundedSize) return absl::OkStatus();
  if (vector.rank() == 0) {
    return InvalidArgument("The size of %s should be compatible with feature count, but %s has none.", what,
                           ShapeUtil::HumanString(vector));
  }
  if (CompatibleSizes(vector.dimensions(0), feature_count)) return absl::OkStatus();
  return InvalidArgument(
      "The size of %s should be compatible with feature count, but the size of %s is %d and the feature count is %d.",
      what, what, vector.dimensions(0), feature_count);
}

// The checks of operand, offset and scale in training and inference, before those of sizes.
absl::Status CheckForward(absl::string_view op, const Shape& operand, const Shape& scale, const Shape& offset,
                          int64_t feature_index) {
  KASHI_RETURN_IF_ERROR(ExpectArray(operand, absl::StrCat("operand of batch norm ", op)));
  KASHI_RETURN_IF_ERROR(ExpectArray(offset, absl::StrCat("offset input of batch norm ", op)));
  KASHI_RETURN_IF_ERROR(ExpectArray(scale, absl::StrCat("scale input of batch norm ", op)));
  KASHI_RETURN_IF_ERROR(CheckFeatureIndexBelowRank(op, operand, feature_index));
  KASHI_RETURN_IF_ERROR(CheckFeatureIndexNotNegative(op, feature_index));
  KASHI_RETURN_IF_ERROR(CheckVector(op, "Offset", offset));
  KASHI_RETURN_IF_ERROR(CheckVector(op, "Scale", scale));
  KASHI_RETURN_IF_ERROR(CheckFloating(op, "operand", operand));
  KASHI_RETURN_IF_ERROR(CheckSameType(op, "offset factor", offset, operand));
  return CheckSameType(op, "scale factor", scale, operand);
}

// (operand, [features], [features]), the vectors of operand's type and as dynamic as its features.
absl::StatusOr<Shape> WithTwoVectors(const Shape& operand, int64_t feature_index) {
  hlo::shape_inference::ResultDimensions features;
  features.AddFrom(operand, feature_index);
  KASHI_ASSIGN_OR_RETURN(const Shape vector, features.Make(operand.element_type()));
  return ShapeUtil::MakeTupleShape({operand, vector, vector});
}

}  // namespace

absl::StatusOr<Shape> ShapeInference::InferBatchNormTrainingShape(const Shape& operand_shape, const Shape& scale_shape,
                                                                  const Shape& offset_shape, int64_t feature_index) {
  KASHI_RETURN_IF_ERROR(CheckForward("training", operand_shape, scale_shape, offset_shape, feature_index));
  const int64_t feature_count = operand_shape.dimensions(static_cast<int>(feature_index));
  KASHI_RETURN_IF_ERROR(CheckSize("offset factor", offset_shape, feature_count));
  KASHI_RETURN_IF_ERROR(CheckSize("scale factor", scale_shape, feature_count));
  return WithTwoVectors(operand_shape, feature_index);
}

absl::StatusOr<Shape> ShapeInference::InferBatchNormInferenceShape(const Shape& operand_shape, const Shape& scale_shape,
                                                                   const Shape& offset_shape, const Shape& mean_shape,
                                                                   const Shape& variance_shape, int64_t feature_index) {
  KASHI_RETURN_IF_ERROR(CheckForward("inference", operand_shape, scale_shape, offset_shape, feature_index));
  KASHI_RETURN_IF_ERROR(CheckSameType("inference", "mean", mean_shape, operand_shape));
  KASHI_RETURN_IF_ERROR(CheckSameType("inference", "variance", variance_shape, operand_shape));
  const int64_t feature_count = operand_shape.dimensions(static_cast<int>(feature_index));
  KASHI_RETURN_IF_ERROR(CheckSize("offset factor", offset_shape, feature_count));
  KASHI_RETURN_IF_ERROR(CheckSize("scale factor", scale_shape, feature_count));
  KASHI_RETURN_IF_ERROR(CheckSize("mean", mean_shape, feature_count));
  KASHI_RETURN_IF_ERROR(CheckSize("variance", variance_shape, feature_count));
  return operand_shape;
}

absl::StatusOr<Shape> ShapeInference::InferBatchNormGradShape(const Shape& operand_shape, const Shape& scale_shape,
                                                              const Shape& mean_shape, const Shape& var_shape,
                                                              const Shape& output_grad_shape, int64_t feature_index) {
  KASHI_RETURN_IF_ERROR(ExpectArray(operand_shape, "operand of batch norm grad"));
  KASHI_RETURN_IF_ERROR(ExpectArray(scale_shape, "scale input of batch norm grad"));
  KASHI_RETURN_IF_ERROR(ExpectArray(mean_shape, "mean input of batch norm grad"));
  KASHI_RETURN_IF_ERROR(ExpectArray(var_shape, "var input of batch norm grad"));
  KASHI_RETURN_IF_ERROR(ExpectArray(output_grad_shape, "output_grad input of batch norm grad"));
  KASHI_RETURN_IF_ERROR(CheckFeatureIndexBelowRank("grad", operand_shape, feature_index));
  if (operand_shape.rank() != output_grad_shape.rank()) {
    return InvalidArgument(
        "Expected operand_shape of batch-norm-grad to have the same rank as output_grad_shape; got rank(oprand_shape) "
        "%d, "
        "and rank(output_grad_shape) %d.",
        operand_shape.rank(), output_grad_shape.rank());
  }
  KASHI_RETURN_IF_ERROR(CheckVector("grad", "Mean", mean_shape));
  KASHI_RETURN_IF_ERROR(CheckVector("grad", "Scale", scale_shape));
  KASHI_RETURN_IF_ERROR(CheckVector("grad", "Var", var_shape));
  KASHI_RETURN_IF_ERROR(CheckFloating("grad", "operand", operand_shape));
  KASHI_RETURN_IF_ERROR(CheckFloating("grad", "output_grad", output_grad_shape));
  KASHI_RETURN_IF_ERROR(CheckSameTypeOfGrad("output_grad", output_grad_shape, operand_shape));
  KASHI_RETURN_IF_ERROR(CheckSameTypeOfGrad("scale factor", scale_shape, operand_shape));
  KASHI_RETURN_IF_ERROR(CheckSameTypeOfGrad("mean", mean_shape, operand_shape));
  KASHI_RETURN_IF_ERROR(CheckSameTypeOfGrad("variance", var_shape, operand_shape));
  // XLA reads before the first dimension.
  KASHI_RETURN_IF_ERROR(CheckFeatureIndexNotNegative("grad", feature_index));
  const int64_t feature_count = operand_shape.dimensions(static_cast<int>(feature_index));
  KASHI_RETURN_IF_ERROR(CheckSize("mean", mean_shape, feature_count));
  KASHI_RETURN_IF_ERROR(CheckSize("scale factor", scale_shape, feature_count));
  KASHI_RETURN_IF_ERROR(CheckSize("variance", var_shape, feature_count));
  for (int i = 0; i < operand_shape.dimensions_size(); ++i) {
    if (!CompatibleSizes(operand_shape.dimensions(i), output_grad_shape.dimensions(i))) {
      return InvalidArgument(
          "The bounds of operand shape should be compatible with output_grad's, but the bound of operand_shape at "
          "dimension %d is %d and the bound of output_grad_shape is %d.",
          i, operand_shape.dimensions(i), output_grad_shape.dimensions(i));
    }
  }
  return WithTwoVectors(operand_shape, feature_index);
}

}  // namespace kashi
