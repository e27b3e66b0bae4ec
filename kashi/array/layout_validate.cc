// LayoutUtil: checks whether a layout is valid for a shape. Entry points: ValidateLayoutForShape and, for a tuple tree,
// ValidateLayoutInShape. Texts and order of the checks are upstream's (array-model.md, 3.3); the numbers in comments
// are those of its list. Not checked, as in XLA: tiles of higher rank than the array, `*` at a tile's end, S, M, and
// whether E fits the element type.

#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_join.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"

namespace kashi {
namespace {

using Flags = absl::InlinedVector<bool, InlineRank()>;

std::string List(absl::Span<const int64_t> values) { return absl::StrCat("{", absl::StrJoin(values, ", "), "}"); }

// 3, 4: a permutation of [0, rank).
absl::Status ValidateMinorToMajor(const Layout& layout, const Shape& shape) {
  const int64_t rank = shape.rank();
  if (layout.minor_to_major_size() != rank) {
    return InvalidArgument(
        "layout minor_to_major field contains %d elements, but shape has %d dimensions: %s; shape: %s",
        layout.minor_to_major_size(), rank, List(layout.minor_to_major()), shape.ToString());
  }
  Flags seen(rank, false);
  for (int64_t dimension : layout.minor_to_major()) {
    if (dimension < 0 || dimension >= rank) {
      return InvalidArgument("layout minor_to_major field has out-of-bounds value: %s; shape: %s",
                             List(layout.minor_to_major()), shape.ToString());
    }
    if (seen[dimension]) {
      return InvalidArgument("layout minor_to_major field has duplicate values: %s; shape: %s",
                             List(layout.minor_to_major()), shape.ToString());
    }
    seen[dimension] = true;
  }
  return absl::OkStatus();
}

// 6: fields left over from sparse arrays.
absl::Status ValidateNotSparse(const Layout& layout, const Shape& shape) {
  constexpr absl::string_view kMessage = "layout has a %s, but is not a sparse array: %s";
  const char* field = layout.index_primitive_type() != PRIMITIVE_TYPE_INVALID     ? "index_primitive_type"
                      : layout.pointer_primitive_type() != PRIMITIVE_TYPE_INVALID ? "pointer_primitive_type"
                      : layout.has_physical_shape()                               ? "physical_shape"
                                                                                  : nullptr;
  if (field == nullptr) return absl::OkStatus();
  return InvalidArgument(kMessage, field, shape.ToString());
}

// 7
absl::Status ValidateTiles(const Layout& layout, const Shape& shape) {
  for (const Tile& tile : layout.tiles()) {
    if (tile.dimensions().empty()) return InvalidArgument("layout has invalid tiles: %s", shape.ToString());
    for (int64_t size : tile.dimensions()) {
      if (size > 0 || size == Tile::kCombineDimension) continue;
      return InvalidArgument("layout has invalid tiles: tile dimension %d must be positive or kCombineDimension: %s",
                             size, shape.ToString());
    }
  }
  return absl::OkStatus();
}

// 9: `dimension` counts physically, 0 = most major. An empty list of indices is fine; of an unbounded dimension every
// index is out of bounds.
absl::Status ValidateSplitConfigs(const Layout& layout, const Shape& shape) {
  Flags seen(shape.rank(), false);
  for (const SplitConfig& config : layout.split_configs()) {
    const int64_t physical = config.dimension();
    if (physical < 0 || physical >= shape.rank()) {
      return InvalidArgument("split config has out-of-bounds physical dimension: %d; shape: %s", physical,
                             shape.ToString());
    }
    if (seen[physical]) {
      return InvalidArgument("split config has duplicate physical dimension: %d; shape: %s", physical,
                             shape.ToString());
    }
    seen[physical] = true;
    const int64_t size = shape.dimensions(static_cast<int>(LayoutUtil::Major(layout, physical)));
    int64_t previous = 0;
    for (int64_t index : config.split_indices()) {
      if (index >= size) {
        return InvalidArgument("split config split index is out of bounds: %d (dim size %d); shape: %s", index, size,
                               shape.ToString());
      }
      if (index <= previous) {
        return InvalidArgument("split config split indices must be strictly increasing and positive: %s; shape: %s",
                               List(config.split_indices()), shape.ToString());
      }
      previous = index;
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status LayoutUtil::ValidateLayoutForShape(const Layout& layout, const Shape& shape) {
  if (shape.IsTuple()) return InvalidArgument("a single Layout is not valid for tuple shapes");  // 1
  if (!shape.IsArray()) return absl::OkStatus();                                                 // 2
  KASHI_RETURN_IF_ERROR(ValidateMinorToMajor(layout, shape));
  if (layout.tail_padding_alignment_in_elements() <= 0) {  // 5
    return InvalidArgument("layout tail_padding_alignment_in_elements field is <= 0: {%d}",
                           layout.tail_padding_alignment_in_elements());
  }
  KASHI_RETURN_IF_ERROR(ValidateNotSparse(layout, shape));
  KASHI_RETURN_IF_ERROR(ValidateTiles(layout, shape));
  if (layout.element_size_in_bits() < 0) {  // 8
    return InvalidArgument("layout element_size_in_bits field is negative: %d", layout.element_size_in_bits());
  }
  return ValidateSplitConfigs(layout, shape);
}

absl::Status LayoutUtil::ValidateLayoutInShape(const Shape& shape, bool allow_missing_layouts) {
  return ShapeUtil::ForEachLeafShapeWithStatus(shape, [&](const Shape& leaf, const ShapeIndex&) {
    if (!leaf.IsArray()) return absl::OkStatus();
    if (leaf.has_layout()) return ValidateLayoutForShape(leaf.layout(), leaf);
    if (allow_missing_layouts) return absl::OkStatus();
    return InvalidArgument("shape %s does not have a layout", leaf.ToString());
  });
}

}  // namespace kashi
