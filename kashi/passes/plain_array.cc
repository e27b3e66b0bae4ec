#include "kashi/passes/plain_array.h"

#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"

namespace kashi::passes {
namespace {

bool IsStaticAndNotEmpty(const Shape& shape) {
  return shape.IsArray() && shape.is_static() && !ShapeUtil::IsZeroElementArray(shape);
}

}  // namespace

bool IsPlainType(PrimitiveType type) {
  return type == PRED || type == BF16 || type == F16 || type == F32 || type == F64 ||
         (primitive_util::IsIntegralType(type) && primitive_util::BitWidth(type) >= 8);
}

bool IsPlainArray(const Shape& shape) { return IsStaticAndNotEmpty(shape) && IsPlainType(shape.element_type()); }

bool IsElementType(PrimitiveType type) { return IsPlainType(type) || primitive_util::IsComplexType(type); }

bool IsElementArray(const Shape& shape) { return IsStaticAndNotEmpty(shape) && IsElementType(shape.element_type()); }

}  // namespace kashi::passes
