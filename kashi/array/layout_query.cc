// LayoutUtil: queries about a layout: the order of dimensions, where an element stands, where a dimension is split.

#include <algorithm>
#include <functional>

#include "kashi/array/layout_util.h"
#include "kashi/array/permutation_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/check.h"
#include "kashi/base/wrapping.h"

namespace kashi {

using base::WrappingAdd;
using base::WrappingMultiply;
using base::WrappingSubtract;

bool LayoutUtil::IsDenseArray(const Shape& shape) { return shape.IsArray(); }

bool LayoutUtil::HasLayout(const Shape& shape) {
  if (!shape.IsTuple()) return !shape.IsArray() || shape.has_layout();
  for (const Shape& element : shape.tuple_shapes()) {
    if (!HasLayout(element)) return false;
  }
  return true;
}

bool LayoutUtil::HasLayout(const ProgramShape& program_shape) {
  for (const Shape& parameter : program_shape.parameters()) {
    if (!HasLayout(parameter)) return false;
  }
  return HasLayout(program_shape.result());
}

bool LayoutUtil::HasAnyLayout(const Shape& shape) {
  if (!shape.IsTuple()) return !shape.IsArray() || shape.has_layout();
  for (const Shape& element : shape.tuple_shapes()) {
    if (HasAnyLayout(element)) return true;
  }
  return false;
}

bool LayoutUtil::HasCustomElementSizeInBits(const Shape& shape) {
  if (!shape.IsTuple()) return shape.has_layout() && shape.layout().element_size_in_bits() != 0;
  for (const Shape& element : shape.tuple_shapes()) {
    if (HasCustomElementSizeInBits(element)) return true;
  }
  return false;
}

bool LayoutUtil::Equal(const Layout& lhs, const Layout& rhs) { return lhs == rhs; }

bool LayoutUtil::LayoutsInShapesEqual(const Shape& lhs, const Shape& rhs, std::optional<Layout::Equal> equal) {
  if (lhs.IsTuple()) {
    if (!rhs.IsTuple() || lhs.tuple_shapes_size() != rhs.tuple_shapes_size()) return false;
    for (int i = 0; i < lhs.tuple_shapes_size(); ++i) {
      if (!LayoutsInShapesEqual(lhs.tuple_shapes(i), rhs.tuple_shapes(i))) return false;
    }
    return true;
  }
  if (!lhs.IsArray()) return true;
  if (!rhs.IsArray() || lhs.rank() != rhs.rank()) return false;
  if (!lhs.has_layout() || !rhs.has_layout()) return lhs.has_layout() == rhs.has_layout();
  return equal.value_or(Layout::Equal())(lhs.layout(), rhs.layout());
}

bool LayoutUtil::HasDescendingLayout(const Layout& layout) { return IsMonotonicWithDim0Major(layout); }
bool LayoutUtil::HasAscendingLayout(const Layout& layout) { return IsMonotonicWithDim0Minor(layout); }

bool LayoutUtil::IsMonotonicWithDim0Minor(const Layout& layout) {
  const auto order = layout.minor_to_major();
  return std::is_sorted(order.begin(), order.end());
}

bool LayoutUtil::IsMonotonicWithDim0Major(const Layout& layout) {
  const auto order = layout.minor_to_major();
  return std::is_sorted(order.begin(), order.end(), std::greater<int64_t>());
}

absl::Span<const int64_t> LayoutUtil::MinorToMajor(const Shape& shape) {
  KASHI_CHECK(shape.IsArray()) << "not an array shape: " << shape;
  return shape.layout().minor_to_major();
}

absl::Span<const int64_t> LayoutUtil::MinorToMajor(const Layout& layout) { return layout.minor_to_major(); }

int64_t LayoutUtil::Major(const Layout& layout, int64_t physical_dim_number) {
  return Minor(layout, layout.minor_to_major_size() - 1 - physical_dim_number);
}

int64_t LayoutUtil::Minor(const Layout& layout, int64_t physical_dim_number) {
  KASHI_CHECK_GE(physical_dim_number, 0);
  KASHI_CHECK_LT(physical_dim_number, layout.minor_to_major_size());
  return layout.minor_to_major(static_cast<int>(physical_dim_number));
}

std::vector<int64_t> LayoutUtil::MakeLogicalToPhysical(const Layout& layout) {
  KASHI_CHECK(IsPermutation(layout.minor_to_major())) << layout;
  std::vector<int64_t> logical_to_physical(layout.minor_to_major_size());
  for (int64_t physical = 0; physical < layout.minor_to_major_size(); ++physical) {
    logical_to_physical[Major(layout, physical)] = physical;
  }
  return logical_to_physical;
}

bool LayoutUtil::AreDimensionsConsecutive(const Layout& layout, absl::Span<const int64_t> dims) {
  const auto order = layout.minor_to_major();
  DimensionVector positions;
  for (int64_t dim : dims) positions.push_back(std::find(order.begin(), order.end(), dim) - order.begin());
  std::sort(positions.begin(), positions.end());
  const auto is_gap = [](int64_t a, int64_t b) { return b != a + 1; };
  return std::adjacent_find(positions.begin(), positions.end(), is_gap) == positions.end();
}

bool LayoutUtil::ByteStridesIsMajorToMinor(absl::Span<const int64_t> byte_strides, absl::Span<const int64_t> dims,
                                           PrimitiveType element_type) {
  KASHI_CHECK_EQ(byte_strides.size(), dims.size());
  int64_t stride = ShapeUtil::ByteSizeOfPrimitiveType(element_type);
  for (int64_t i = static_cast<int64_t>(dims.size()) - 1; i >= 0; --i) {
    if (byte_strides[i] != stride) return false;
    stride = WrappingMultiply(stride, dims[i]);
  }
  return true;
}

std::string LayoutUtil::HumanString(const Layout& layout) { return layout.ToString(); }
void LayoutUtil::PrintHumanString(Printer* printer, const Layout& layout) { layout.Print(printer); }

// Dimensions from the minor end; the last n of them are covered by the n entries of the first tile.
//
//   f32[3,5]{1,0:T(2,2)}   element (2,3)      within a tile     tiles before it
//     dimension 1: 3 = 1 * 2 + 1                 1 * 1            1 * 4          4: elements of a tile
//     dimension 0: 2 = 1 * 2 + 0                 0 * 2            1 * 4 * 3      3: ceil(5 / 2)
//                                                                                together 17
int64_t LayoutUtil::LinearIndex(const Shape& shape, absl::Span<const int64_t> indices) {
  const Layout& layout = shape.layout();
  const int64_t rank = shape.rank();
  KASHI_CHECK_EQ(rank, static_cast<int64_t>(indices.size()));
  if (rank == 0) return 0;
  if (rank == 1) return indices[0];

  const absl::Span<const int64_t> tile =
      layout.tiles().empty() ? absl::Span<const int64_t>() : layout.tiles(0).dimensions();
  int64_t tile_stride = 1;  // elements between two tiles that are neighbours along the current dimension
  for (int64_t size : tile) tile_stride = WrappingMultiply(tile_stride, size);
  int64_t stride_in_tile = 1;

  int64_t linear_index = 0;
  for (int64_t minor = 0; minor < rank; ++minor) {
    const int64_t dimension = Minor(layout, minor);
    const int64_t size = shape.dimensions(static_cast<int>(dimension));
    const int64_t index = indices[dimension];
    if (minor < static_cast<int64_t>(tile.size())) {
      const int64_t tile_size = tile[tile.size() - 1 - minor];
      KASHI_CHECK(tile_size > 0 || tile_size == Tile::kCombineDimension) << "tile of " << shape;
      linear_index = WrappingAdd(linear_index, WrappingMultiply(tile_stride, index / tile_size));
      linear_index = WrappingAdd(linear_index, WrappingMultiply(stride_in_tile, index % tile_size));
      tile_stride = WrappingMultiply(tile_stride, CeilOfRatio(size, tile_size));
      stride_in_tile = WrappingMultiply(stride_in_tile, tile_size);
    } else {
      linear_index = WrappingAdd(linear_index, WrappingMultiply(tile_stride, index));
      tile_stride = WrappingMultiply(tile_stride, size);
    }
  }
  return linear_index;
}

int64_t LayoutUtil::MemorySpace(const Shape& shape) {
  return shape.has_layout() ? shape.layout().memory_space() : Layout::kDefaultMemorySpace;
}

int64_t LayoutUtil::MaxSplitSize(const Shape& shape, int64_t dim) {
  const int64_t size = shape.dimensions(static_cast<int>(dim));
  if (!shape.has_layout()) return size;
  const auto configs = shape.layout().split_configs();
  const auto config = std::find_if(configs.begin(), configs.end(), [&](const SplitConfig& candidate) {
    return Major(shape.layout(), candidate.dimension()) == dim;
  });
  if (config == configs.end()) return size;
  int64_t largest = 0;
  int64_t begin = 0;
  for (int64_t end : config->split_indices()) {
    largest = std::max(largest, WrappingSubtract(end, begin));
    begin = end;
  }
  return std::max(largest, WrappingSubtract(size, begin));
}

int64_t LayoutUtil::MaxElementsInPerSplit(const Shape& shape) {
  int64_t elements = 1;
  for (int64_t dim = 0; dim < shape.rank(); ++dim) elements = WrappingMultiply(elements, MaxSplitSize(shape, dim));
  return elements;
}

std::optional<SplitConfig> LayoutUtil::GetSplitConfig(const Shape& shape) {
  KASHI_CHECK(shape.IsArray()) << "not an array shape: " << shape;
  if (!shape.has_layout() || shape.layout().split_configs_size() == 0) return std::nullopt;
  KASHI_CHECK_EQ(shape.layout().split_configs_size(), 1);
  return shape.layout().split_configs(0);
}

}  // namespace kashi
