#include "kashi/engine/dense_copy.h"

#include <cstring>

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

// Whether the placement has the bytes of the device, in the order of the device.
bool IsDense(const Placement& placement, const Shape& shape) {
  if (ShapeUtil::IsZeroElementArray(shape)) return true;
  if (!placement.has_layout()) return placement.byte_strides() == absl::MakeConstSpan(DenseStrides(shape));
  const Layout& layout = placement.shape().layout();
  return placement.is_whole_buffer() && layout.tiles().empty() && layout.tail_padding_alignment_in_elements() == 1 &&
         LayoutUtil::IsMonotonicWithDim0Major(layout) && layout.dynamic_shape_metadata_prefix_bytes() == 0 &&
         placement.slot_bits() == 8 * primitive_util::ByteWidth(shape.element_type());
}

absl::Status CheckFits(const Placement& placement, const Shape& shape) {
  if (placement.element_type() == shape.element_type() && placement.dimensions() == shape.dimensions()) {
    return absl::OkStatus();
  }
  return InvalidArgument("%s does not fit %s", placement.ToString(), ShapeUtil::HumanString(shape));
}

}  // namespace

int64_t BufferBytes(const Shape& shape) {
  return shape.IsArray() ? ShapeUtil::ElementsIn(shape) * primitive_util::ByteWidth(shape.element_type()) : 0;
}

absl::StatusOr<Placement> DensePlacement(const Shape& shape) {
  return Placement::OfStrides(shape.element_type(), shape.dimensions(), DenseStrides(shape));
}

absl::StatusOr<DenseCopy> DenseCopy::In(const Placement& placement, const Shape& shape) {
  KASHI_RETURN_IF_ERROR(CheckFits(placement, shape));
  if (IsDense(placement, shape)) return DenseCopy(BufferBytes(shape), std::nullopt);
  KASHI_ASSIGN_OR_RETURN(const Placement dense, DensePlacement(shape));
  KASHI_ASSIGN_OR_RETURN(RelayoutPlan plan, RelayoutPlan::Make(placement, dense));
  return DenseCopy(BufferBytes(shape), std::move(plan));
}

absl::StatusOr<DenseCopy> DenseCopy::Out(const Shape& shape, const Placement& placement) {
  KASHI_RETURN_IF_ERROR(CheckFits(placement, shape));
  if (IsDense(placement, shape)) return DenseCopy(BufferBytes(shape), std::nullopt);
  KASHI_ASSIGN_OR_RETURN(const Placement dense, DensePlacement(shape));
  KASHI_ASSIGN_OR_RETURN(RelayoutPlan plan, RelayoutPlan::Make(dense, placement));
  return DenseCopy(BufferBytes(shape), std::move(plan));
}

void DenseCopy::Run(const void* source, void* target) const {
  if (plan_.has_value()) return plan_->Execute(source, target);
  if (bytes_ > 0) std::memcpy(target, source, static_cast<size_t>(bytes_));
}

}  // namespace kashi::engine
