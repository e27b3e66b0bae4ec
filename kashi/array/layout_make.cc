// LayoutUtil: making layouts and setting the default one.

#include <memory>
#include <utility>

#include "kashi/array/layout_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/check.h"

namespace kashi {
namespace {

void FillDescending(DimensionVector* minor_to_major) {
  const int64_t rank = static_cast<int64_t>(minor_to_major->size());
  for (int64_t i = 0; i < rank; ++i) (*minor_to_major)[i] = rank - 1 - i;
}

}  // namespace

Layout LayoutUtil::MakeLayout(absl::Span<const int64_t> minor_to_major, absl::Span<const Tile> tiles,
                              int64_t tail_padding_alignment_in_elements, PrimitiveType index_primitive_type,
                              PrimitiveType pointer_primitive_type, int64_t element_size_in_bits, int64_t memory_space,
                              absl::Span<const SplitConfig> split_configs, std::optional<Shape> physical_shape,
                              int64_t dynamic_shape_metadata_prefix_bytes) {
  for (const Tile& tile : tiles) {
    for (int64_t size : tile.dimensions()) {
      KASHI_CHECK(size >= 0 || size == Tile::kCombineDimension)
          << "Tile dimension size needs to be minimum int64_t value if it's negative. Value is " << size;
    }
  }
  Layout layout(minor_to_major, tiles, index_primitive_type, pointer_primitive_type,
                /*tail_padding_alignment_in_elements=*/1, element_size_in_bits, memory_space, split_configs,
                physical_shape.has_value() ? std::make_unique<Shape>(*std::move(physical_shape)) : nullptr,
                dynamic_shape_metadata_prefix_bytes);
  // Uses the setter, since Layout's constructor dies on values for which ValidateLayoutForShape has a message.
  layout.set_tail_padding_alignment_in_elements(tail_padding_alignment_in_elements);
  return layout;
}

Layout LayoutUtil::MakeLayoutFromMajorToMinor(absl::Span<const int64_t> major_to_minor) {
  return Layout(DimensionVector(major_to_minor.rbegin(), major_to_minor.rend()));
}

Layout LayoutUtil::MakeDescendingLayout(int64_t num_dims) {
  DimensionVector minor_to_major(num_dims);
  FillDescending(&minor_to_major);
  return Layout(minor_to_major);
}

Layout LayoutUtil::MakeAscendingLayout(int64_t num_dims) {
  DimensionVector minor_to_major(num_dims);
  for (int64_t i = 0; i < num_dims; ++i) minor_to_major[i] = i;
  return Layout(minor_to_major);
}

Layout LayoutUtil::GetDefaultLayoutForShape(const Shape& shape) {
  if (shape.IsOpaque() || shape.IsToken()) return Layout();
  KASHI_CHECK(shape.IsArray()) << "a layout belongs to one array: " << shape;
  return MakeDescendingLayout(shape.rank());
}

Layout LayoutUtil::GetDefaultLayoutForRank(int64_t num_dims) { return MakeDescendingLayout(num_dims); }
Layout LayoutUtil::GetDefaultLayoutForR2() { return MakeDescendingLayout(2); }
Layout LayoutUtil::GetDefaultLayoutForR3() { return MakeDescendingLayout(3); }
Layout LayoutUtil::GetDefaultLayoutForR4() { return MakeDescendingLayout(4); }

void LayoutUtil::SetToDefaultLayout(Shape* shape) {
  ShapeUtil::ForEachMutableLeafShape(shape, [](Shape* leaf, const ShapeIndex&) {
    if (!leaf->IsArray()) return;
    DimensionVector* minor_to_major = leaf->mutable_layout()->mutable_minor_to_major();
    minor_to_major->resize(leaf->dimensions_size());
    FillDescending(minor_to_major);
  });
}

void LayoutUtil::SetToDefaultLayout(ProgramShape* program_shape) {
  for (int i = 0; i < program_shape->parameters_size(); ++i) SetToDefaultLayout(program_shape->mutable_parameters(i));
  SetToDefaultLayout(program_shape->mutable_result());
}

Shape LayoutUtil::GetWithDefaultLayout(const Shape& shape) {
  Shape copy = shape;
  SetToDefaultLayout(&copy);
  return copy;
}

}  // namespace kashi
