// Walks over the elements of dense arrays. A walk updates the storage position by adding strides, without
// multiplications. Positions and strides count elements; only minor_to_major decides positions (array-model.md, 8:
// literals do not apply tiles).
#ifndef KASHI_LITERAL_STRIDED_WALK_H_
#define KASHI_LITERAL_STRIDED_WALK_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/shape.h"

namespace kashi::literal {

// Distance in storage of two neighbours along each dimension of an array with a layout. Dies on a layout of another
// rank.
DimensionVector ElementStrides(const Shape& shape);

// Whether the elements are in row-major order; dimensions of size 1 may be anywhere in the layout.
bool IsStoredRowMajor(const Shape& shape);

// Calls visit(index, position) for each index of the box [0, bounds) in row-major order, until it returns false; then
// the result is false. A box of rank 0 has one index; one with a bound of 0 has none. The index is good during the call
// only.
template <typename Visit>
bool WalkRowMajor(absl::Span<const int64_t> bounds, absl::Span<const int64_t> strides, Visit&& visit) {
  const size_t rank = bounds.size();
  for (int64_t bound : bounds) {
    if (bound <= 0) return true;
  }
  DimensionVector index(rank, 0);
  const absl::Span<const int64_t> view(index.data(), rank);
  if (rank == 0) return visit(view, int64_t{0});
  const size_t last = rank - 1;
  int64_t row = 0;  // position of the first element of the current row
  while (true) {
    int64_t position = row;
    for (index[last] = 0; index[last] < bounds[last]; ++index[last], position += strides[last]) {
      if (!visit(view, position)) return false;
    }
    size_t dimension = last;
    while (true) {
      if (dimension == 0) return true;
      --dimension;
      row += strides[dimension];
      if (++index[dimension] < bounds[dimension]) break;
      row -= strides[dimension] * bounds[dimension];
      index[dimension] = 0;
    }
  }
}

// Visits the same box on two sides, a row (the last dimension) per call: visit(a, b) gets the positions of the row's
// first element on either side, until it returns false. A box of rank 0 is one row.
template <typename Visit>
bool WalkRows(absl::Span<const int64_t> bounds, absl::Span<const int64_t> a_strides,
              absl::Span<const int64_t> b_strides, Visit&& visit) {
  for (int64_t bound : bounds) {
    if (bound <= 0) return true;
  }
  const size_t outer = bounds.empty() ? 0 : bounds.size() - 1;
  DimensionVector index(outer, 0);
  int64_t a = 0, b = 0;
  while (true) {
    if (!visit(a, b)) return false;
    size_t dimension = outer;
    while (true) {
      if (dimension == 0) return true;
      --dimension;
      a += a_strides[dimension];
      b += b_strides[dimension];
      if (++index[dimension] < bounds[dimension]) break;
      a -= a_strides[dimension] * bounds[dimension];
      b -= b_strides[dimension] * bounds[dimension];
      index[dimension] = 0;
    }
  }
}

// Calls visit(index, position) for the storage positions [begin, end) of the whole array, in the order of storage.
template <typename Visit>
void WalkStorage(const Shape& shape, int64_t begin, int64_t end, Visit&& visit) {
  if (begin >= end) return;
  const absl::Span<const int64_t> order = shape.layout().minor_to_major();
  const absl::Span<const int64_t> bounds = shape.dimensions();
  DimensionVector index(bounds.size(), 0);
  int64_t rest = begin;
  for (int64_t dimension : order) {
    index[dimension] = rest % bounds[dimension];
    rest /= bounds[dimension];
  }
  const absl::Span<const int64_t> view(index.data(), index.size());
  for (int64_t position = begin; position < end; ++position) {
    visit(view, position);
    for (int64_t dimension : order) {
      if (++index[dimension] < bounds[dimension]) break;
      index[dimension] = 0;
    }
  }
}

// A place in a dense array: where the box begins, and how far apart neighbours are along each dimension.
struct StridedSource {
  const char* data;
  absl::Span<const int64_t> strides;
};
struct StridedTarget {
  char* data;
  absl::Span<const int64_t> strides;
};

// Copies a box of elements of 1, 2, 4, 8 or 16 bytes (dies for others). Strides may be 0 on the source's side. The two
// sides must not overlap. Runs at the speed of memcpy where both sides go the same way, tile by tile where one is a
// transpose of the other.
void CopyStrided(absl::Span<const int64_t> bounds, int element_bytes, StridedSource source, StridedTarget target);

}  // namespace kashi::literal

#endif  // KASHI_LITERAL_STRIDED_WALK_H_
