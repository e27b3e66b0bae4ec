// Functions to make, check, change and query layouts: XLA's LayoutUtil. The implementation is in
//   layout_make.cc        making and defaults        layout_validate.cc   the checks, in XLA's order
//   layout_change.cc      clearing, copying, moving  layout_query.cc      order, splits, linear index
// Functions that need the layout of a shape die if it has none, as XLA's do.
#ifndef KASHI_ARRAY_LAYOUT_UTIL_H_
#define KASHI_ARRAY_LAYOUT_UTIL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kashi/array/layout.h"
#include "kashi/array/shape.h"
#include "kashi/base/printer.h"

namespace kashi {

class LayoutUtil {
 public:
  LayoutUtil() = delete;

  // Making. A negative tile entry other than Tile::kCombineDimension dies.
  static Layout MakeLayout(absl::Span<const int64_t> minor_to_major, absl::Span<const Tile> tiles = {},
                           int64_t tail_padding_alignment_in_elements = 1,
                           PrimitiveType index_primitive_type = PRIMITIVE_TYPE_INVALID,
                           PrimitiveType pointer_primitive_type = PRIMITIVE_TYPE_INVALID,
                           int64_t element_size_in_bits = 0, int64_t memory_space = 0,
                           absl::Span<const SplitConfig> split_configs = {},
                           std::optional<Shape> physical_shape = std::nullopt,
                           int64_t dynamic_shape_metadata_prefix_bytes = 0);
  static Layout MakeLayoutFromMajorToMinor(absl::Span<const int64_t> major_to_minor);
  static Layout MakeDescendingLayout(int64_t num_dims);  // {n-1,...,0}: row major, the default
  static Layout MakeAscendingLayout(int64_t num_dims);   // {0,...,n-1}

  static Layout GetDefaultLayoutForShape(const Shape& shape);  // token and opaque: empty; a tuple dies
  static Layout GetDefaultLayoutForRank(int64_t num_dims);
  static Layout GetDefaultLayoutForR2();
  static Layout GetDefaultLayoutForR3();
  static Layout GetDefaultLayoutForR4();
  // Recursive. Sets minor_to_major only: tiles, memory space and the like stay.
  static void SetToDefaultLayout(Shape* shape);
  static void SetToDefaultLayout(ProgramShape* program_shape);
  static Shape GetWithDefaultLayout(const Shape& shape);

  // Checking. Messages and their order: array-model.md, 3.3.
  static absl::Status ValidateLayoutInShape(const Shape& shape, bool allow_missing_layouts = false);
  static absl::Status ValidateLayoutForShape(const Layout& layout, const Shape& shape);

  // Changing.
  static void ClearLayout(Shape* shape);
  static void ClearLayout(ProgramShape* program_shape);
  static void ClearTiles(Shape* shape);
  // The trees and ranks must match. A source without layout clears the destination's.
  static absl::Status CopyLayoutBetweenShapes(const Shape& src, Shape* dst);
  // The dimension becomes the most major, or the most minor; the others keep their order, the other fields stay.
  static Layout MoveDimToMajor(const Layout& layout, int64_t dim);
  static Layout MoveDimToMinor(const Layout& layout, int64_t dim);

  // Asking.
  static bool IsDenseArray(const Shape& shape);
  static bool HasLayout(const Shape& shape);  // all array leaves have one; token and opaque count as having one
  static bool HasLayout(const ProgramShape& program_shape);
  static bool HasAnyLayout(const Shape& shape);
  static bool HasCustomElementSizeInBits(const Shape& shape);  // of any leaf
  static bool Equal(const Layout& lhs, const Layout& rhs);
  // Element types and sizes are ignored; ranks must agree. `equal` is not passed down into tuple elements, as in XLA.
  static bool LayoutsInShapesEqual(const Shape& lhs, const Shape& rhs,
                                   std::optional<Layout::Equal> equal = std::nullopt);

  static bool HasDescendingLayout(const Layout& layout);
  static bool HasAscendingLayout(const Layout& layout);
  static bool IsMonotonicWithDim0Minor(const Layout& layout);  // ascending
  static bool IsMonotonicWithDim0Major(const Layout& layout);  // descending
  static absl::Span<const int64_t> MinorToMajor(const Shape& shape);
  static absl::Span<const int64_t> MinorToMajor(const Layout& layout);
  // The logical dimension at a physical position counted from the most major, or from the most minor.
  static int64_t Major(const Layout& layout, int64_t physical_dim_number);
  static int64_t Minor(const Layout& layout, int64_t physical_dim_number);
  // Inverse of Major: result[logical] = physical position, 0 = most major.
  static std::vector<int64_t> MakeLogicalToPhysical(const Layout& layout);
  // True if the dimensions are neighbours in minor_to_major, in any order.
  static bool AreDimensionsConsecutive(const Layout& layout, absl::Span<const int64_t> dims);
  // True if the byte strides are those of a dense row-major array.
  static bool ByteStridesIsMajorToMinor(absl::Span<const int64_t> byte_strides, absl::Span<const int64_t> dims,
                                        PrimitiveType element_type);

  static std::string HumanString(const Layout& layout);
  static void PrintHumanString(Printer* printer, const Layout& layout);

  // Physical element position as XLA's helper computes it: only the first tile counts, and at rank 1 none
  // (array-model.md, 4.2). Exact: IndexMap.
  static int64_t LinearIndex(const Shape& shape, absl::Span<const int64_t> indices);
  static int64_t MemorySpace(const Shape& shape);  // 0 without a layout
  // Largest piece of logical dimension `dim` under the split configs; elements of the largest split of the array.
  static int64_t MaxSplitSize(const Shape& shape, int64_t dim);
  static int64_t MaxElementsInPerSplit(const Shape& shape);
  // The one split config, if any; dies if there are several.
  static std::optional<SplitConfig> GetSplitConfig(const Shape& shape);
};

}  // namespace kashi

#endif  // KASHI_ARRAY_LAYOUT_UTIL_H_
