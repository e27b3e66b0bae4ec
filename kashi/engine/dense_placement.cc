#include "kashi/engine/dense_placement.h"

#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"

namespace kashi::engine {
namespace {

DimensionVector DenseStrides(const Shape& shape) {
  DimensionVector strides(shape.dimensions().size());
  int64_t stride = primitive_util::ByteWidth(shape.element_type());
  for (size_t i = strides.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape.dimensions(static_cast<int>(i));
  }
  return strides;
}

}  // namespace

int64_t BufferBytes(const Shape& shape) {
  return shape.IsArray() ? ShapeUtil::ElementsIn(shape) * primitive_util::ByteWidth(shape.element_type()) : 0;
}

absl::StatusOr<Placement> DensePlacement(const Shape& shape) {
  return Placement::OfStrides(shape.element_type(), shape.dimensions(), DenseStrides(shape));
}

bool IsDensePlacement(const Placement& placement, const Shape& shape) {
  if (ShapeUtil::IsZeroElementArray(shape)) return true;
  if (!placement.has_layout()) return placement.byte_strides() == absl::MakeConstSpan(DenseStrides(shape));
  const Layout& layout = placement.shape().layout();
  return placement.is_whole_buffer() && layout.tiles().empty() && layout.tail_padding_alignment_in_elements() == 1 &&
         LayoutUtil::IsMonotonicWithDim0Major(layout) && layout.dynamic_shape_metadata_prefix_bytes() == 0 &&
         placement.slot_bits() == 8 * primitive_util::ByteWidth(shape.element_type());
}

absl::Status CheckPlacementFits(const Placement& placement, const Shape& shape) {
  if (placement.element_type() == shape.element_type() && placement.dimensions() == shape.dimensions()) {
    return absl::OkStatus();
  }
  return InvalidArgument("%s does not fit %s", placement.ToString(), ShapeUtil::HumanString(shape));
}

}  // namespace kashi::engine
