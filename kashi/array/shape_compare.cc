// ShapeUtil: comparing shapes. Nearly all of it is Shape::Equal with options; the table stands in array-model.md, 2.5.

#include "kashi/array/shape_util.h"

namespace kashi {

bool ShapeUtil::Equal(const Shape& lhs, const Shape& rhs) { return Shape::Equal()(lhs, rhs); }

bool ShapeUtil::EqualIgnoringElementType(const Shape& lhs, const Shape& rhs) {
  return Shape::Equal().IgnoreElementType()(lhs, rhs);
}

bool ShapeUtil::EqualIgnoringFpPrecision(const Shape& lhs, const Shape& rhs) {
  return Shape::Equal().IgnoreFpPrecision()(lhs, rhs);
}

// True if both trees have the same indices. So `()` and any leaf have the same structure, as in XLA.
bool ShapeUtil::EqualStructure(const Shape& lhs, const Shape& rhs) {
  const int count = lhs.IsTuple() ? lhs.tuple_shapes_size() : 0;
  if (count != (rhs.IsTuple() ? rhs.tuple_shapes_size() : 0)) return false;
  for (int i = 0; i < count; ++i) {
    if (!EqualStructure(lhs.tuple_shapes(i), rhs.tuple_shapes(i))) return false;
  }
  return true;
}

bool ShapeUtil::Compatible(const Shape& lhs, const Shape& rhs) {
  return Shape::Equal().IgnoreDynamicDimension().IgnoreLayout()(lhs, rhs);
}

bool ShapeUtil::CompatibleIgnoringElementType(const Shape& lhs, const Shape& rhs) {
  return Shape::Equal().IgnoreDynamicDimension().IgnoreElementType().IgnoreLayout()(lhs, rhs);
}

bool ShapeUtil::CompatibleIgnoringFpPrecision(const Shape& lhs, const Shape& rhs) {
  return Shape::Equal().IgnoreDynamicDimension().IgnoreFpPrecision().IgnoreLayout()(lhs, rhs);
}

bool ShapeUtil::CompatibleKind(const Shape& lhs, const Shape& rhs, bool ignore_buffer) {
  return Shape::Equal().IgnoreElementType().IgnoreLayout().IgnoreDimensions().IgnoreDynamicDimension().IgnoreBuffer(
      ignore_buffer)(lhs, rhs);
}

bool ShapeUtil::SameDimensions(const Shape& lhs, const Shape& rhs) {
  if (!SameRank(lhs, rhs)) return false;
  for (int i = 0; i < lhs.dimensions_size(); ++i) {
    if (lhs.is_unbounded_dynamic_dimension(i) || rhs.is_unbounded_dynamic_dimension(i)) continue;
    if (lhs.dimensions(i) != rhs.dimensions(i)) return false;
  }
  return true;
}

bool ShapeUtil::SameRank(const Shape& lhs, const Shape& rhs) { return lhs.dimensions_size() == rhs.dimensions_size(); }

bool ShapeUtil::SameElementType(const Shape& lhs, const Shape& rhs) { return lhs.element_type() == rhs.element_type(); }

bool ShapeUtil::SameElementTypeIgnoringFpPrecision(const Shape& lhs, const Shape& rhs) {
  return SameElementType(lhs, rhs) || (ElementIsFloating(lhs) && ElementIsFloating(rhs));
}

PrimitiveType ShapeUtil::HigherPrecisionElementType(const Shape& lhs, const Shape& rhs) {
  return primitive_util::HigherPrecisionType(lhs.element_type(), rhs.element_type());
}

// Elements that only the bounded shape has are not looked at, and neither are element types, as in XLA.
bool ShapeUtil::DynamicShapeIsCompatible(const Shape& dynamic_shape, const Shape& bounded_shape) {
  if (dynamic_shape.IsTuple() != bounded_shape.IsTuple()) return false;
  if (!dynamic_shape.IsTuple()) {
    if (!dynamic_shape.IsArray() || !bounded_shape.IsArray()) return dynamic_shape.IsArray() == bounded_shape.IsArray();
    return DynamicArrayShapeIsCompatible(dynamic_shape, bounded_shape);
  }
  if (dynamic_shape.tuple_shapes_size() > bounded_shape.tuple_shapes_size()) return false;
  for (int i = 0; i < dynamic_shape.tuple_shapes_size(); ++i) {
    if (!DynamicShapeIsCompatible(dynamic_shape.tuple_shapes(i), bounded_shape.tuple_shapes(i))) return false;
  }
  return true;
}

bool ShapeUtil::DynamicArrayShapeIsCompatible(const Shape& dynamic_shape, const Shape& bounded_shape) {
  if (!SameRank(dynamic_shape, bounded_shape)) return false;
  for (int i = 0; i < dynamic_shape.dimensions_size(); ++i) {
    if (dynamic_shape.dimensions(i) > bounded_shape.dimensions(i)) return false;
  }
  return true;
}

}  // namespace kashi
