// The layouts of XLA's older documents: Layout { minor_to_major = 1; padded_dimensions = 2; padding_value = 3 }.
//
// Padding is given per *logical* dimension, at its high end. The padded array is stored by minor_to_major with the
// padded widths as bounds. There are no tiles. [2,3] with the elements a b c / d e f:
//
//   minor_to_major {0,1}                          a d b e c f
//   minor_to_major {0,1}, padded [3,5], ZERO      a d 0 b e 0 c f 0 0 0 0 0 0 0
//   minor_to_major {1,0}, padded [3,5], ZERO      a b c 0 0 d e f 0 0 0 0 0 0 0
//
// XLA's present proto ignores fields 2 to 5, and its text never had them. So a Layout (layout.h) does not have them;
// use a LegacyLayout for them. (XLA's index helpers of that time used the bounds without padding. The definition here
// is the example above, which is that of the old documents.)
//
// ToModernLayout is exact: legacy padding is one tile of full rank whose entries are the padded widths in physical
// order, [2,3] {0,1} padded [3,5] = {0,1:T(5,3)}. Two things are lost: the fill value (the contents of tile padding are
// not defined), and the positions of shapes with a dimension of size 0: a tiled array has none, a legacy array has
// product(padded).
#ifndef KASHI_ARRAY_LEGACY_LAYOUT_H_
#define KASHI_ARRAY_LEGACY_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/layout.h"
#include "kashi/array/shape.h"

namespace kashi {

// The contents of the padding. The numbers are those of proto field 3.
enum class PaddingValue {
  kInvalid = 0,
  kZero = 1,
  kOne = 2,
  kLowest = 3,   // of the element type
  kHighest = 4,  // of the element type
  kUnknown = 5,  // nothing in particular
};
absl::string_view PaddingValueName(PaddingValue value);  // "ZERO"; "" for numbers that are none of these

// Field 4.
enum class LegacyFormat { kInvalid = 0, kDense = 1, kSparse = 2 };

// The fields of the proto, unchecked; ValidateLegacyLayout checks them.
struct LegacyLayout {
  DimensionVector minor_to_major;
  DimensionVector padded_dimensions;  // by logical dimension; empty: no padding
  PaddingValue padding_value = PaddingValue::kInvalid;
  LegacyFormat format = LegacyFormat::kDense;
  int64_t max_sparse_elements = 0;  // field 5; for kSparse

  // "{1,0}" or "sparse{7}", as XLA printed it: padding does not show.
  std::string ToString() const;
};

// The checks of that time, with their messages: the order of dimensions, then the padding. `shape` is an array of known
// sizes (bounds count); its own layout takes no part. INVALID_ARGUMENT for anything else.
absl::Status ValidateLegacyLayout(const LegacyLayout& layout, const Shape& shape);

// The functions below validate first. A sparse layout has no positions: UNIMPLEMENTED. INVALID_ARGUMENT where a result
// does not fit int64_t.

// product(padded_dimensions), or of the dimensions if there is no padding; times the bytes of the element type.
absl::StatusOr<int64_t> LegacyPaddedElementCount(const LegacyLayout& layout, const Shape& shape);
absl::StatusOr<int64_t> LegacyByteSize(const LegacyLayout& layout, const Shape& shape);

// The position of an element; INVALID_ARGUMENT for an index outside of the array.
absl::StatusOr<int64_t> LegacyLinearIndex(const LegacyLayout& layout, const Shape& shape,
                                          absl::Span<const int64_t> index);

// The picture of a buffer: for each position the row-major number of the element there, or kLegacyPadding. To fill a
// buffer, put the padding value where that stands. RESOURCE_EXHAUSTED over 2^28 positions.
inline constexpr int64_t kLegacyPadding = -1;
absl::StatusOr<std::vector<int64_t>> LegacyPicture(const LegacyLayout& layout, const Shape& shape);

// The modern layout with the same positions; without a tile if no dimension is padded. INVALID_ARGUMENT for a padded
// array with a dimension of size 0 (see above).
absl::StatusOr<Layout> ToModernLayout(const LegacyLayout& layout, const Shape& shape);

}  // namespace kashi

#endif  // KASHI_ARRAY_LEGACY_LAYOUT_H_
