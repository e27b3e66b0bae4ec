// Checks of operations on data, in addition to their inferred shape. (docs/spec/hlo-ops.md, 1 to 4 and 8)
#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_join.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/comparison_util.h"
#include "kashi/hlo/verifier/hlo_verifier_internal.h"

namespace kashi::hlo::hlo_verifier {
namespace {

absl::Span<const int64_t> Dimensions(const HloInstruction& x) {
  const auto* dimensions = x.fields().Find<HloField::dimensions>();
  return dimensions ? absl::MakeConstSpan(*dimensions) : absl::Span<const int64_t>();
}

// If mixed precision is allowed, only up to precision: compilers for TPU write such broadcasts and reshapes.
absl::Status CheckSameElementType(const HloInstruction& x, const Verification& v) {
  const Shape& operand = x.operand(0)->shape();
  const bool are_arrays = operand.IsArrayExcludingBuffer() && x.shape().IsArrayExcludingBuffer();
  if (are_arrays && (v.opts().allow_mixed_precision ? ShapeUtil::SameElementTypeIgnoringFpPrecision(operand, x.shape())
                                                    : ShapeUtil::SameElementType(operand, x.shape()))) {
    return absl::OkStatus();
  }
  return Internal("Expected operand and result to be arrays of one element type, but they are %s and %s",
                  ShapeUtil::HumanString(operand), ShapeUtil::HumanString(x.shape()));
}

// ---- Moving data ----------------------------------------------------------------------------------------------------

absl::Status CheckConstant(const HloInstruction& x, const Verification& v) {
  const SharedLiteral* literal = x.fields().Find<HloField::literal>();
  if (literal == nullptr || !*literal) return InvalidArgument("Constant is required to have a valid literal");
  return CheckResultIs(x, (*literal)->shape(), v);
}

absl::Status CheckIota(const HloInstruction& x, const Verification&) {
  if (!x.shape().IsArrayExcludingBuffer()) return Internal("Iota does not support non-array result.");
  if (x.shape().rank() == 0) return Internal("Iota does not support scalars.");
  const int64_t dimension = x.fields().Get<HloField::iota_dimension>(-1);
  if (dimension < 0 || dimension >= x.shape().rank()) {
    return Internal("The iota dimension cannot go beyond the operation rank or be negative: %d of rank %d", dimension,
                    x.shape().rank());
  }
  const PrimitiveType type = x.shape().element_type();
  if (primitive_util::IsIntegralType(type) || primitive_util::IsFloatingPointType(type) ||
      primitive_util::IsComplexType(type)) {
    return absl::OkStatus();
  }
  return InvalidArgument("Only support iota of integral, floating point or complex primitive types, got %s",
                         PrimitiveType_Name(type));
}

absl::Status CheckBroadcast(const HloInstruction& x, const Verification& v) {
  KASHI_RETURN_IF_ERROR(CheckSameElementType(x, v));
  const Shape& operand = x.operand(0)->shape();
  const absl::Span<const int64_t> dimensions = Dimensions(x);
  if (operand.rank() != static_cast<int64_t>(dimensions.size())) {
    return Internal("Broadcast has %d dimensions for an operand of rank %d", dimensions.size(), operand.rank());
  }
  for (size_t i = 0; i < dimensions.size(); ++i) {
    const int64_t to = dimensions[i];
    if (to < 0 || to >= x.shape().rank()) {
      return Internal("Broadcast dimension %d is not below the rank %d of the result", to, x.shape().rank());
    }
    if (x.shape().dimensions(to) == operand.dimensions(i)) continue;
    return Internal("Broadcast of dimension %d of size %d into dimension %d of size %d", i, operand.dimensions(i), to,
                    x.shape().dimensions(to));
  }
  if (v.opts().verify_broadcast_dimensions_order && !absl::c_is_sorted(dimensions)) {
    return Internal("Broadcast dimensions should be ordered, got: {%s}", absl::StrJoin(dimensions, ","));
  }
  return absl::OkStatus();
}

// Skips unbounded sizes, which are only known at run time.
absl::Status CheckElementCount(const HloInstruction& x) {
  const Shape& operand = x.operand(0)->shape();
  if (operand.is_unbounded_dynamic() || x.shape().is_unbounded_dynamic()) return absl::OkStatus();
  const int64_t from = ShapeUtil::ElementsIn(operand);
  const int64_t to = ShapeUtil::ElementsIn(x.shape());
  if (from == to) return absl::OkStatus();
  return Internal("Reshape operation has mismatched element counts: from=%d (%s) to=%d (%s)", from,
                  ShapeUtil::HumanString(operand), to, ShapeUtil::HumanString(x.shape()));
}

absl::Status CheckReshape(const HloInstruction& x, const Verification& v) {
  KASHI_RETURN_IF_ERROR(CheckSameElementType(x, v));
  KASHI_RETURN_IF_ERROR(CheckElementCount(x));
  const Shape& operand = x.operand(0)->shape();
  const bool have_layouts = operand.has_layout() && x.shape().has_layout();
  if (!v.opts().verify_reshape_is_bitcast || x.IsFused() || !have_layouts) return absl::OkStatus();
  if (ShapeUtil::ReshapeIsBitcast(operand, x.shape())) return absl::OkStatus();
  return Internal("Reshape should be a physical bitcast, got %s from %s", ShapeUtil::HumanStringWithLayout(x.shape()),
                  ShapeUtil::HumanStringWithLayout(operand));
}

absl::Status CheckDynamicReshape(const HloInstruction& x, const Verification& v) {
  KASHI_RETURN_IF_ERROR(x.operand_count() == 0 ? CheckOperandCount(x, 1) : CheckSameElementType(x, v));
  KASHI_RETURN_IF_ERROR(CheckElementCount(x));
  KASHI_RETURN_IF_ERROR(CheckOperandCount(x, x.shape().rank() + 1));
  for (int64_t i = 1; i < x.operand_count(); ++i) {
    const Shape& size = x.operand(i)->shape();
    if (size.IsArray() && size.element_type() == S32) continue;
    return Internal("Operand %d of dynamic-reshape must be a size of type s32, but is %s", i,
                    ShapeUtil::HumanString(size));
  }
  return absl::OkStatus();
}

absl::Status CheckBitcast(const HloInstruction& x, const Verification& v) {
  if (!v.opts().layout_sensitive || v.opts().allow_bitcast_to_have_different_size) return absl::OkStatus();
  const int64_t output = v.opts().ShapeSize(x.shape());
  const int64_t operand = v.opts().ShapeSize(x.operand(0)->shape());
  if (output == operand) return absl::OkStatus();
  return Internal("Bitcast cannot have different shape sizes of output (%d) and operand (%d) (%s) (%s)", output,
                  operand, v.ShapeText(x.shape()), v.ShapeText(x.operand(0)->shape()));
}

// ---- Arithmetic -----------------------------------------------------------------------------------------------------

absl::Status CheckComparisonType(const HloInstruction& x, const Verification&) {
  const Shape& operand = x.operand(0)->shape();
  if (!operand.IsArray()) return absl::OkStatus();  // shape inference has said so
  const Comparison::Type expected = Comparison::DefaultComparisonType(operand.element_type());
  const Comparison::Type actual = x.comparison_type();
  const bool is_float = ShapeUtil::ElementIsFloating(operand);
  if (actual == expected || (is_float && actual == Comparison::Type::kFloatTotalOrder)) return absl::OkStatus();
  return FailedPrecondition("Expected comparison type %s%s.\nactual: %s\noperand: %s", ComparisonTypeToString(expected),
                            is_float ? " or TOTALORDER" : "", ComparisonTypeToString(actual),
                            ShapeUtil::HumanString(operand));
}

absl::Status CheckReducerTypes(const HloInstruction& x, const Verification& v) {
  return v.opts().allow_mixed_precision ? absl::OkStatus() : CheckElementTypesOfParameters(x, x.operand_count());
}

absl::Status CheckSortComparator(const HloInstruction& x, const Verification&) {
  if (x.operand_count() == 0) return Internal("Expected at least 1 operand for sort");
  const HloComputation& compare = *x.to_apply();
  const Shape& answer = compare.root_instruction()->shape();
  if (!ShapeUtil::IsScalarWithElementType(answer, PRED)) {
    return InvalidArgument("The Sort compare computation shape does not lead to a scalar predicate shape: %s",
                           ShapeUtil::HumanString(answer));
  }
  KASHI_RETURN_IF_ERROR(CheckParameterCount(x, compare, 2 * x.operand_count()));
  for (int64_t i = 0; i < compare.num_parameters(); ++i) {
    const Shape& operand = x.operand(i / 2)->shape();
    const Shape& parameter = compare.parameter_instruction(i)->shape();
    if (!operand.IsArray())
      return InvalidArgument("Sort operand %d is not an array: %s", i / 2, ShapeUtil::HumanString(operand));
    const Shape element = ShapeUtil::MakeScalarShape(operand.element_type());
    if (ShapeUtil::CompatibleIgnoringFpPrecision(element, parameter)) continue;
    return InvalidArgument(
        "Expected the %d-th parameter of the compare computation of sort to have shape %s, but got %s", i,
        ShapeUtil::HumanString(element), ShapeUtil::HumanString(parameter));
  }
  return absl::OkStatus();
}

absl::Status CheckSortDimension(const HloInstruction& x, const Verification&) {
  if (x.operand_count() == 0 || !x.operand(0)->shape().IsArray()) return absl::OkStatus();  // said above
  const absl::Span<const int64_t> dimensions = Dimensions(x);
  const int64_t rank = x.operand(0)->shape().rank();
  if (dimensions.size() == 1 && dimensions[0] >= 0 && dimensions[0] < rank) return absl::OkStatus();
  return InvalidArgument("Expected the sort_dimension {%s} of sort to be smaller than the rank %d of the operand(s).",
                         absl::StrJoin(dimensions, ","), rank);
}

// ---- scaled-dot -----------------------------------------------------------------------------------------------------

// Whether the scale is a placeholder: one number in the operand's own type.
bool IsNoScale(const Shape& operand, const Shape& scale) {
  return operand.element_type() == BF16 && scale.element_type() == BF16 && ShapeUtil::IsEffectiveScalar(scale);
}

absl::Status CheckScale(const HloInstruction& x, int64_t operand_number, const Verification&) {
  const Shape& operand = x.operand(operand_number)->shape();
  const Shape& scale = x.operand(operand_number + 2)->shape();
  if (!operand.IsArray() || !scale.IsArray()) {
    return FailedPrecondition("Operands and scales of scaled-dot must be arrays, but are %s and %s",
                              ShapeUtil::HumanString(operand), ShapeUtil::HumanString(scale));
  }
  if (IsNoScale(operand, scale)) return absl::OkStatus();
  if (operand.rank() != scale.rank()) {
    return FailedPrecondition("Scale operand %s has a different number of dimensions than operand %s",
                              ShapeUtil::HumanString(scale), ShapeUtil::HumanString(operand));
  }
  for (int i = 0; i < operand.rank(); ++i) {
    if (operand.is_unbounded_dynamic_dimension(i) || scale.is_unbounded_dynamic_dimension(i)) continue;
    if (scale.dimensions(i) > 0 && operand.dimensions(i) % scale.dimensions(i) == 0) continue;
    return FailedPrecondition("Dimension %d of size %d of the operand is not a multiple of the scale's %d", i,
                              operand.dimensions(i), scale.dimensions(i));
  }
  return absl::OkStatus();
}

absl::Status CheckScaledDot(const HloInstruction& x, const Verification& v) {
  KASHI_RETURN_IF_ERROR(CheckScale(x, 0, v));
  KASHI_RETURN_IF_ERROR(CheckScale(x, 1, v));
  const auto* numbers = x.fields().Find<HloField::dot_dimension_numbers>();
  const int contracting = numbers != nullptr ? numbers->lhs_contracting_dimensions_size() : 0;
  if (contracting != 1)
    return FailedPrecondition("scaled-dot must have one contracting dimension, but has %d", contracting);
  const auto is_one_number = [&](int64_t i) { return ShapeUtil::IsEffectiveScalar(x.operand(i)->shape()); };
  if (!is_one_number(2) || !is_one_number(3)) return absl::OkStatus();
  return FailedPrecondition("At least one of the scales should be not a scalar");
}

// ---- Random numbers -------------------------------------------------------------------------------------------------

absl::Status CheckRng(const HloInstruction& x, const Verification& v) {
  KASHI_RETURN_IF_ERROR(CheckOperandCount(x, 2));
  const Shape& a = x.operand(0)->shape();
  const Shape& b = x.operand(1)->shape();
  if (!ShapeUtil::IsScalar(a) || !ShapeUtil::IsScalar(b)) {
    return Internal("Expected scalar types for the two operands of Rng instruction: %s and %s",
                    ShapeUtil::HumanString(a), ShapeUtil::HumanString(b));
  }
  const auto same_type = [&](const Shape& s, const Shape& t) {
    return s.IsArray() && t.IsArray() &&
           (v.opts().allow_mixed_precision ? ShapeUtil::SameElementTypeIgnoringFpPrecision(s, t)
                                           : ShapeUtil::SameElementType(s, t));
  };
  if (!same_type(a, b) || !same_type(a, x.shape())) {
    return Internal(
        "Expected compatible element types for the result and the two operands of Rng instruction: %s, %s and %s",
        ShapeUtil::HumanString(x.shape()), ShapeUtil::HumanString(a), ShapeUtil::HumanString(b));
  }
  const bool is_uniform = x.random_distribution() == RNG_UNIFORM;
  const bool is_fit = ShapeUtil::ElementIsFloating(x.shape()) ||
                      (is_uniform && (ShapeUtil::ElementIsIntegral(x.shape()) || x.shape().element_type() == PRED));
  if (is_fit) return absl::OkStatus();
  return Internal("Element type not supported: %s. Expected element to be %s for %s",
                  PrimitiveType_Name(x.shape().element_type()),
                  is_uniform ? "of FloatingPointType, IntegralType or PredType" : "of FloatingPointType",
                  is_uniform ? "RngUniform" : "RngNormal");
}

absl::Status CheckRngBitGenerator(const HloInstruction& x, const Verification&) {
  if (!x.shape().IsTuple()) return absl::OkStatus();
  if (x.shape().tuple_shapes_size() != 2) {
    return Internal("Expected tuple shape with 2 elements for RngBitGenerator. Got: %s",
                    ShapeUtil::HumanString(x.shape()));
  }
  if (ShapeUtil::Compatible(x.operand(0)->shape(), x.shape().tuple_shapes(0))) return absl::OkStatus();
  return Internal("Expected state shape to match between input and output for RngBitGenerator. Got %s vs. %s",
                  ShapeUtil::HumanString(x.operand(0)->shape()), ShapeUtil::HumanString(x.shape().tuple_shapes(0)));
}

absl::Status CheckRngState(const HloInstruction& x, const Verification&) {
  const Shape expected = ShapeUtil::MakeShape(U64, {2});
  if (ShapeUtil::Compatible(x.shape(), expected)) return absl::OkStatus();
  return Internal("Invalid RngGetAndUpdateState, expect result to have shape %s, got %s",
                  ShapeUtil::HumanString(expected), ShapeUtil::HumanString(x.shape()));
}

constexpr OpcodeCheck kDataChecks[] = {
    {HloOpcode::kConstant, "constant", CheckConstant},
    {HloOpcode::kIota, "iota", CheckIota},
    {HloOpcode::kBroadcast, "broadcast", CheckBroadcast},
    {HloOpcode::kReshape, "reshape", CheckReshape},
    {HloOpcode::kDynamicReshape, "dynamic-reshape", CheckDynamicReshape},
    {HloOpcode::kBitcast, "bitcast", CheckBitcast},
    {HloOpcode::kCompare, "comparison type", CheckComparisonType},
    {HloOpcode::kReduce, "reducer types", CheckReducerTypes},
    {HloOpcode::kMap, "reducer types", CheckReducerTypes},
    {HloOpcode::kSort, "sort comparator", CheckSortComparator},
    {HloOpcode::kSort, "sort dimension", CheckSortDimension},
    {HloOpcode::kScaledDot, "scaled-dot", CheckScaledDot},
    {HloOpcode::kRng, "rng", CheckRng},
    {HloOpcode::kRngBitGenerator, "rng-bit-generator", CheckRngBitGenerator},
    {HloOpcode::kRngGetAndUpdateState, "rng state", CheckRngState},
};

}  // namespace

absl::Span<const OpcodeCheck> DataChecks() { return kDataChecks; }

}  // namespace kashi::hlo::hlo_verifier
