// ShapeUtil: the checks of shapes. Texts and order are upstream's (array-model.md, 2.6): first everything but layouts
// over the whole tuple tree, then the layouts (layout_validate.cc).

#include "absl/strings/str_format.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"

namespace kashi {
namespace {

absl::Status ShapeError(const Shape& shape, absl::string_view message) {
  // A buffer that has no array yet would die on element_type().
  const PrimitiveType type = shape.IsArray() ? shape.element_type() : shape.element_type_including_buffer();
  return InvalidArgument("Shape Error: %s Shape(%s): %s", message, primitive_util::LowercasePrimitiveTypeName(type),
                         shape.ToString());
}

absl::Status ValidateArray(const Shape& shape) {
  for (int i = 0; i < shape.dimensions_size(); ++i) {
    if (!Shape::IsValidDimensionSize(shape.dimensions(i), shape.is_dynamic_dimension(i))) {
      return ShapeError(shape, absl::StrFormat("Negative dimension at index %d: %d.", i, shape.dimensions(i)));
    }
  }
  const auto [elements, overflows] = ShapeUtil::StaticExtentProduct(shape);
  if (overflows) return ShapeError(shape, "Dimensions overflow.");
  if (!CheckedMultiply(elements, primitive_util::ByteWidth(shape.element_type())).has_value()) {
    return InvalidArgument("Shape %s size may overflow int64_t.", shape.ToString());
  }
  return absl::OkStatus();
}

absl::Status ValidateAllButLayouts(const Shape& shape) {
  return ShapeUtil::ForEachLeafShapeWithStatus(shape, [](const Shape& leaf, const ShapeIndex&) {
    if (leaf.IsArray()) return ValidateArray(leaf);
    if (leaf.IsBuffer()) return ShapeError(leaf, "Buffer shape must have array shape.");
    if (leaf.IsToken() || leaf.IsOpaque()) return absl::OkStatus();
    return ShapeError(leaf, "Invalid element type.");
  });
}

}  // namespace

absl::Status ShapeUtil::ValidateShape(const Shape& shape) {
  KASHI_RETURN_IF_ERROR(ValidateAllButLayouts(shape));
  return LayoutUtil::ValidateLayoutInShape(shape);
}

absl::Status ShapeUtil::ValidateShapeWithOptionalLayout(const Shape& shape) {
  KASHI_RETURN_IF_ERROR(ValidateAllButLayouts(shape));
  return LayoutUtil::ValidateLayoutInShape(shape, /*allow_missing_layouts=*/true);
}

}  // namespace kashi
