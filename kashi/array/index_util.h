// Index arithmetic of dense arrays, as in XLA's IndexUtil: by minor_to_major and bounds. It ignores tiles and padding
// (array-model.md, 4.2 and 6). IndexMap (index_map.h) is exact.
#ifndef KASHI_ARRAY_INDEX_UTIL_H_
#define KASHI_ARRAY_INDEX_UTIL_H_

#include <cstdint>

#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/shape.h"

namespace kashi {

class IndexUtil {
 public:
  IndexUtil() = delete;

  // Position of an element when the dimensions are laid out densely, minor_to_major[0] varying fastest.
  static int64_t MultidimensionalIndexToLinearIndex(const Shape& shape, absl::Span<const int64_t> multi_index);
  static int64_t MultidimensionalIndexToLinearIndex(const Shape& shape, absl::Span<const int64_t> minor_to_major,
                                                    absl::Span<const int64_t> multi_index);
  // The inverse. `linear_index` must be in [0, elements).
  static DimensionVector LinearIndexToMultidimensionalIndex(const Shape& shape, int64_t linear_index);

  // Steps to the next index in logical row-major order (the last dimension fastest), for any layout.
  // False at the end; the indices are then as they were.
  static bool BumpIndices(const Shape& shape, absl::Span<int64_t> indices);

  // The distance in elements between two neighbours along `dimension`.
  static int64_t GetDimensionStride(const Shape& shape, int64_t dimension);

  // True if the rank matches and every index is below its bound. Negative indices are not detected, as in XLA.
  static bool IndexInBounds(const Shape& shape, absl::Span<const int64_t> index);

  // Lexicographic: -1 if lhs is smaller, 0, or 1. Dies if the sizes differ.
  static int CompareIndices(absl::Span<const int64_t> lhs, absl::Span<const int64_t> rhs);
};

}  // namespace kashi

#endif  // KASHI_ARRAY_INDEX_UTIL_H_
