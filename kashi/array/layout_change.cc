// LayoutUtil: clearing and copying the layouts of shapes, and moving a dimension within a layout.

#include <algorithm>

#include "kashi/array/layout_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"

namespace kashi {

void LayoutUtil::ClearLayout(Shape* shape) {
  ShapeUtil::ForEachMutableLeafShape(shape, [](Shape* leaf, const ShapeIndex&) { leaf->clear_layout(); });
}

void LayoutUtil::ClearLayout(ProgramShape* program_shape) {
  for (int i = 0; i < program_shape->parameters_size(); ++i) ClearLayout(program_shape->mutable_parameters(i));
  ClearLayout(program_shape->mutable_result());
}

void LayoutUtil::ClearTiles(Shape* shape) {
  ShapeUtil::ForEachMutableLeafShape(shape, [](Shape* leaf, const ShapeIndex&) {
    if (leaf->has_layout()) leaf->mutable_layout()->clear_tiles();
  });
}

absl::Status LayoutUtil::CopyLayoutBetweenShapes(const Shape& src, Shape* dst) {
  if (src.IsTuple() != dst->IsTuple()) {
    return absl::InvalidArgumentError("cannot copy layout from shape: shape structure differs");
  }
  if (src.IsTuple()) {
    if (src.tuple_shapes_size() != dst->tuple_shapes_size()) {
      return absl::InvalidArgumentError("cannot copy layout from shape: tuple element count differs");
    }
    for (int i = 0; i < src.tuple_shapes_size(); ++i) {
      KASHI_RETURN_IF_ERROR(CopyLayoutBetweenShapes(src.tuple_shapes(i), dst->mutable_tuple_shapes(i)));
    }
    return absl::OkStatus();
  }
  if (!src.has_layout()) {
    dst->clear_layout();
    return absl::OkStatus();
  }
  if (!dst->IsArray() || src.rank() != dst->rank()) {
    return absl::InvalidArgumentError("cannot copy layout from shape: ranks differs");
  }
  KASHI_RETURN_IF_ERROR(ValidateLayoutForShape(src.layout(), *dst));
  *dst->mutable_layout() = src.layout();
  return absl::OkStatus();
}

Layout LayoutUtil::MoveDimToMajor(const Layout& layout, int64_t dim) {
  Layout moved = layout;
  DimensionVector* order = moved.mutable_minor_to_major();
  order->erase(std::remove(order->begin(), order->end(), dim), order->end());
  order->push_back(dim);
  return moved;
}

Layout LayoutUtil::MoveDimToMinor(const Layout& layout, int64_t dim) {
  Layout moved = layout;
  DimensionVector* order = moved.mutable_minor_to_major();
  order->erase(std::remove(order->begin(), order->end(), dim), order->end());
  order->insert(order->begin(), dim);
  return moved;
}

}  // namespace kashi
