#include "kashi/array/broadcast.h"

#include <algorithm>
#include <optional>

#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"

namespace kashi {
namespace {

struct Dimension {
  int64_t size;
  bool is_dynamic;
  bool IsUnbounded() const { return is_dynamic && size == Shape::kUnboundedSize; }
};

Dimension GetDimension(const Shape& shape, int64_t i) {
  return {shape.dimensions(static_cast<int>(i)), shape.is_dynamic_dimension(static_cast<int>(i))};
}

void SetDimension(Shape* shape, int64_t i, Dimension dimension) {
  shape->set_dimensions(static_cast<int>(i), dimension.size, dimension.is_dynamic);
}

//   lhs, rhs          result
//   1, y              y           the 1 may be `<=1`, and y too: `<=1` with 1 is 1, as with all sizes the other's is
//                                 taken
//   n, n              n           dynamic if either is
//   ?, x              x           number or bound; `?` with `?` is `?`
//   otherwise         nullopt
std::optional<Dimension> BroadcastDimension(Dimension lhs, Dimension rhs) {
  if (lhs.size == 1) return rhs;
  if (rhs.size == 1) return lhs;
  if (lhs.size == rhs.size) return Dimension{lhs.size, lhs.is_dynamic || rhs.is_dynamic};
  if (lhs.IsUnbounded()) return rhs;
  if (rhs.IsUnbounded()) return lhs;
  return std::nullopt;
}

bool IsIota(absl::Span<const int64_t> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// XLA dies if neither of the two types is more precise, such as f8e4m3 and f8e4m3fnuz.
absl::StatusOr<PrimitiveType> HigherPrecision(const Shape& lhs, const Shape& rhs) {
  const PrimitiveType type = primitive_util::TryHigherPrecisionType(lhs.element_type(), rhs.element_type());
  if (type != PRIMITIVE_TYPE_INVALID) return type;
  return InvalidArgument("Neither of the element types of %s and %s is the more precise one.",
                         ShapeUtil::HumanString(lhs), ShapeUtil::HumanString(rhs));
}

// Checks of dimension i of the smaller shape, in upstream's order.
absl::Status CheckInDim(const Shape& smaller, const Shape& larger, absl::Span<const int64_t> broadcast_dimensions,
                        int64_t i) {
  const int64_t target = broadcast_dimensions[i];
  if (target < 0) return InvalidArgument("Broadcast dimension number (%d) cannot be negative.", target);
  if (target >= larger.dimensions_size()) {
    return InvalidArgument("Broadcast dimension number (%d) too large; higher-rank operand has rank %d.", target,
                           larger.dimensions_size());
  }
  const Dimension small = GetDimension(smaller, i);
  const Dimension large = GetDimension(larger, target);
  if (small.size != large.size && small.size != 1 && large.size != 1) {
    return InvalidArgument("Broadcast dimension %d mismatch: %d != %d; %s and %s.", i, small.size, large.size,
                           ShapeUtil::HumanString(smaller), ShapeUtil::HumanString(larger));
  }
  const bool static_one = (small.size == 1 && !small.is_dynamic) || (large.size == 1 && !large.is_dynamic);
  if (small.is_dynamic != large.is_dynamic && small.size != large.size && !static_one) {
    return InvalidArgument("Broadcast dimension %d dynamism mismatch: %s and %s.", i, ShapeUtil::HumanString(smaller),
                           ShapeUtil::HumanString(larger));
  }
  if (i > 0 && broadcast_dimensions[i - 1] >= target) {
    return InvalidArgument("Broadcast dimensions order is wrong: %d comes after %d.", target,
                           broadcast_dimensions[i - 1]);
  }
  return absl::OkStatus();
}

// Sizes that agree up to dynamism: lhs' layout stays.
Shape MergeCompatible(const Shape& lhs, const Shape& rhs, PrimitiveType type) {
  Shape result = ShapeUtil::ChangeElementType(lhs, type);
  for (int i = 0; i < rhs.dimensions_size(); ++i) {
    if (rhs.is_dynamic_dimension(i)) result.set_dynamic_dimension(i, true);
  }
  return result;
}

}  // namespace

absl::Status ExpectArray(const Shape& shape, absl::string_view what) {
  if (shape.IsArrayExcludingBuffer()) return absl::OkStatus();
  return InvalidArgument("Expected array argument for %s, but got %s.", what, ShapeUtil::HumanString(shape));
}

absl::StatusOr<Shape> InferDegenerateDimensionBroadcastShape(const Shape& lhs, const Shape& rhs) {
  const auto incompatible = [&] {
    return InvalidArgument("Binary op with incompatible shapes: %s and %s.", ShapeUtil::HumanString(lhs),
                           ShapeUtil::HumanString(rhs));
  };
  if (lhs.dimensions_size() != rhs.dimensions_size()) return incompatible();
  std::vector<int64_t> sizes;
  std::vector<bool> dynamic;
  for (int i = 0; i < lhs.dimensions_size(); ++i) {
    const std::optional<Dimension> dimension = BroadcastDimension(GetDimension(lhs, i), GetDimension(rhs, i));
    if (!dimension.has_value()) return incompatible();
    sizes.push_back(dimension->size);
    dynamic.push_back(dimension->is_dynamic);
  }
  return ShapeUtil::MakeValidatedShape(lhs.element_type(), sizes, dynamic);
}

absl::StatusOr<Shape> InferInDimBroadcastShape(const Shape& smaller, const Shape& larger,
                                               absl::Span<const int64_t> broadcast_dimensions) {
  if (broadcast_dimensions.empty() && !ShapeUtil::IsScalar(smaller)) {
    return InvalidArgument("Shapes must be equal rank, but are %s and %s", ShapeUtil::HumanString(smaller),
                           ShapeUtil::HumanString(larger));
  }
  if (static_cast<int>(broadcast_dimensions.size()) != smaller.dimensions_size()) {
    return InvalidArgument(
        "Size of broadcast_dimensions has to match lower-rank operand's rank;  lower-rank operand's rank is %d, "
        "size of broadcast_dimensions is %u.",
        smaller.dimensions_size(), broadcast_dimensions.size());
  }
  Shape result = larger;
  for (int i = 0; i < smaller.dimensions_size(); ++i) {
    KASHI_RETURN_IF_ERROR(CheckInDim(smaller, larger, broadcast_dimensions, i));
    SetDimension(&result, broadcast_dimensions[i], GetDimension(smaller, i));
  }
  return result;
}

absl::StatusOr<Shape> InferElementwiseBinaryShape(absl::string_view operation, const Shape& lhs, const Shape& rhs,
                                                  absl::Span<const int64_t> broadcast_dimensions) {
  KASHI_RETURN_IF_ERROR(ExpectArray(lhs, absl::StrCat("lhs of binary operation ", operation)));
  KASHI_RETURN_IF_ERROR(ExpectArray(rhs, absl::StrCat("rhs of binary operation ", operation)));
  if (!ShapeUtil::SameElementTypeIgnoringFpPrecision(lhs, rhs)) {
    return InvalidArgument("Binary op %s with different element types: %s and %s.", operation,
                           ShapeUtil::HumanString(lhs), ShapeUtil::HumanString(rhs));
  }
  KASHI_ASSIGN_OR_RETURN(const PrimitiveType type, HigherPrecision(lhs, rhs));
  const bool same_rank = lhs.dimensions_size() == rhs.dimensions_size();
  if (same_rank && !broadcast_dimensions.empty() &&
      (static_cast<int>(broadcast_dimensions.size()) != lhs.dimensions_size() || !IsIota(broadcast_dimensions))) {
    return InvalidArgument(
        "Broadcast dimensions field must either be not set or be the identity on binary operations with operands "
        "of the same rank.");
  }
  if (ShapeUtil::CompatibleIgnoringFpPrecision(lhs, rhs) && !lhs.is_unbounded_dynamic() &&
      !rhs.is_unbounded_dynamic()) {
    return MergeCompatible(lhs, rhs, type);
  }
  absl::StatusOr<Shape> result;
  if (same_rank) {
    result = InferDegenerateDimensionBroadcastShape(lhs, rhs);
  } else {
    const bool lhs_is_larger = lhs.dimensions_size() > rhs.dimensions_size();
    const Shape& larger = lhs_is_larger ? lhs : rhs;
    const Shape& smaller = lhs_is_larger ? rhs : lhs;
    KASHI_ASSIGN_OR_RETURN(Shape in_dim, InferInDimBroadcastShape(smaller, larger, broadcast_dimensions));
    result = InferDegenerateDimensionBroadcastShape(in_dim, larger);
  }
  KASHI_RETURN_IF_ERROR(result.status());
  result->set_element_type(type);
  return result;
}

absl::StatusOr<Shape> InferSelectShape(const Shape& pred, const Shape& on_true, const Shape& on_false) {
  KASHI_RETURN_IF_ERROR(ExpectArray(pred, "select pred"));
  KASHI_RETURN_IF_ERROR(ExpectArray(on_true, "select on-true"));
  KASHI_RETURN_IF_ERROR(ExpectArray(on_false, "select on-false"));
  if (!ShapeUtil::CompatibleIgnoringFpPrecision(on_true, on_false)) {
    return InvalidArgument("Operands to select must be the same shape; got %s and %s.", ShapeUtil::HumanString(on_true),
                           ShapeUtil::HumanString(on_false));
  }
  if (pred.element_type() != PRED) {
    return InvalidArgument("Select's pred operand must have PRED element type; got %s.", ShapeUtil::HumanString(pred));
  }
  const bool scalar_pred = ShapeUtil::IsScalar(pred);
  if (!scalar_pred && (!ShapeUtil::CompatibleIgnoringElementType(pred, on_true) ||
                       !ShapeUtil::CompatibleIgnoringElementType(pred, on_false))) {
    return InvalidArgument("Operands to select and predicate must be the same shape; got %s and %s and %s.",
                           ShapeUtil::HumanString(on_true), ShapeUtil::HumanString(on_false),
                           ShapeUtil::HumanString(pred));
  }
  const Shape& full = scalar_pred ? on_true : pred;
  KASHI_ASSIGN_OR_RETURN(const PrimitiveType type, HigherPrecision(on_true, on_false));
  Shape result = ShapeUtil::ChangeElementType(full, type);
  for (int i = 0; i < full.dimensions_size(); ++i) {
    const Dimension a = GetDimension(on_true, i), b = GetDimension(on_false, i);
    if (a.IsUnbounded() || b.IsUnbounded()) {
      SetDimension(&result, i, a.IsUnbounded() ? b : a);
    } else if (a.is_dynamic || b.is_dynamic) {
      result.set_dynamic_dimension(i, true);
    }
  }
  if (result.has_layout()) {
    const int64_t bits = on_true.has_layout() ? on_true.layout().element_size_in_bits() : 0;
    result.mutable_layout()->set_element_size_in_bits(bits);
  }
  return result;
}

absl::StatusOr<Shape> InferClampShape(const Shape& min, const Shape& operand, const Shape& max) {
  KASHI_RETURN_IF_ERROR(ExpectArray(min, "clamp min"));
  KASHI_RETURN_IF_ERROR(ExpectArray(operand, "clamp operand"));
  KASHI_RETURN_IF_ERROR(ExpectArray(max, "clamp max"));
  const auto error = [&](absl::string_view what) {
    return InvalidArgument("Clamp with incompatible %s: %s, %s, %s.", what, ShapeUtil::HumanString(min),
                           ShapeUtil::HumanString(operand), ShapeUtil::HumanString(max));
  };
  if (!ShapeUtil::SameElementTypeIgnoringFpPrecision(min, operand) ||
      !ShapeUtil::SameElementTypeIgnoringFpPrecision(max, operand)) {
    return error("element types");
  }
  const auto fits = [](const Shape& bound, const Shape& other) {
    return ShapeUtil::IsScalar(bound) || ShapeUtil::CompatibleIgnoringFpPrecision(bound, other);
  };
  // Compatible is not transitive: both 2 and 3 fit `?`, but not one another.
  if (!fits(min, operand) || !fits(max, operand)) return error("shapes");
  if (!ShapeUtil::IsScalar(max) && !fits(min, max)) return error("shapes");
  return operand;
}

}  // namespace kashi
