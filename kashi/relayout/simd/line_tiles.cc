#include "kashi/relayout/simd/line_tiles.h"
#include "kashi/relayout/simd/highway_targets.h"

#include <algorithm>

#include "kashi/array/element_bytes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kashi/relayout/simd/line_tiles.cc"
#include "hwy/foreach_target.h"
// clang-format off
#include "hwy/highway.h"  // after foreach_target.h
#include "kashi/relayout/simd/highway_export-inl.h"
#include "kashi/relayout/simd/transpose_tiles-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kashi::relayout {
namespace HWY_NAMESPACE {

template <int W>
void MoveOrderedElements(const TransposeBlock& given, const uint8_t* order) {
  const TransposeBlock block = given;  // so that no store can change it
  for (int64_t c = 0; c < block.columns; ++c) {
    char* const to = block.to + block.to_offsets[c];
    for (int64_t r = 0; r < block.rows; ++r) {
      const char* const from = block.from + block.from_offsets[r] + c * W;
      for (int i = 0; i < W; ++i) to[r * W + i] = from[order != nullptr ? order[i] : i];
    }
  }
}

#if HWY_TARGET == HWY_SCALAR

template <int W>
void LineTiles(const TransposeBlock& block, const uint8_t* order) {
  MoveOrderedElements<W>(block, order);
}

#else

constexpr int64_t kLineBytes = 64;

// The bytes of each element in another order.
template <int W>
struct InOrder {
  explicit HWY_INLINE InOrder(const uint8_t* order) {
    alignas(kLaneBytes) uint8_t lane[kLaneBytes];  // as many elements as it has
    for (int i = 0; i < kLaneBytes; ++i) lane[i] = static_cast<uint8_t>(i / W * W + order[i % W]);
    table = hn::LoadDup128(Long(), lane);
  }
  HWY_INLINE hn::Vec<Long> operator()(hn::Vec<Long> v) const { return hn::TableLookupBytes(v, table); }

  hn::Vec<Long> table;
};

// A lane of columns of up to a line of rows; the last vector overlaps those before. Pre: there are rows for a vector.
template <int W, class D, class Change>
HWY_INLINE void LaneOfTile(D d, const TransposeBlock& block, int64_t row, int64_t column, const Change& change) {
  constexpr int64_t kRows = kVectorBytes<D> / W, kLineRows = kLineBytes / W;
  char* to[kLaneBytes / W];
  HWY_UNROLL(16)
  for (int i = 0; i < kLaneBytes / W; ++i) to[i] = block.to + block.to_offsets[column + i];
  const char* const from = block.from + column * W;
  if (row + kLineRows <= block.rows) {
    HWY_UNROLL(4)
    for (int64_t r = 0; r < kLineRows; r += kRows) {
      TransposeTall<W>(d, from, block.from_offsets, to, row + r, change);
    }
  } else {
    for (int64_t r = row; r < block.rows; r += kRows) {
      TransposeTall<W>(d, from, block.from_offsets, to, std::min(r, block.rows - kRows), change);
    }
  }
}

// Along the rows: the next lines of the source are those that the processor expects.
template <int W, class Change>
void LineTilesOf(const TransposeBlock& given, const Change& given_change) {
  const TransposeBlock block = given;  // so that no store can change it
  const Change change = given_change;
  constexpr int64_t kColumns = kLaneBytes / W;
  for (int64_t r = 0; r < block.rows; r += kLineBytes / W) {
    for (int64_t c = 0; c < block.columns; c += kColumns) {
      LaneOfTile<W>(Long(), block, r, std::min(c, block.columns - kColumns), change);
    }
  }
}

template <int W>
void LineTiles(const TransposeBlock& block, const uint8_t* order) {
  const bool has_vectors = block.rows * W >= kVectorBytes<Long> && block.columns * W >= kLaneBytes;
  if (!has_vectors) return MoveOrderedElements<W>(block, order);
  order != nullptr ? LineTilesOf<W>(block, InOrder<W>(order)) : LineTilesOf<W>(block, AsItIs());
}

#endif  // HWY_TARGET == HWY_SCALAR

LineTilesFunction TilesFunctionFor(int64_t element_bytes) {
  return array::WithElementBytes(element_bytes, LineTilesFunction{}, [](auto bytes) -> LineTilesFunction {
    if constexpr (bytes >= 4) return &LineTiles<bytes>;
    return nullptr;
  });
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace kashi::relayout
HWY_AFTER_NAMESPACE();

namespace kashi::relayout {

KASHI_EXPORT(LineTilesFunction, LineTilesFunctionFor, (int64_t element_bytes), TilesFunctionFor, (element_bytes))

}  // namespace kashi::relayout
