// The method for a block, by the bytes of its rows and columns (W is the bytes of an element):
//
//   rows * W >= 16, columns * W >= 16   tiles of 16 bytes by a vector; the last ones overlap the ones before
//   rows * W < 16                       rows interleaved: columns come out packed, one after the other
//   columns * W < 16                    columns picked out of packed rows
//   both                                like the second, through a buffer
//   one row or one column               a loop, or a copy
#include "kashi/relayout/simd/transpose_kernels.h"
#include "kashi/relayout/simd/highway_targets.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "kashi/array/element_bytes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kashi/relayout/simd/transpose_kernels.cc"
#include "hwy/foreach_target.h"
// clang-format off
#include "hwy/highway.h"  // after foreach_target.h
#include "kashi/relayout/simd/highway_export-inl.h"
#include "kashi/relayout/simd/transpose_tiles-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kashi::relayout {
namespace HWY_NAMESPACE {

// For a block of one row or one column, and for all blocks where there are no vectors.
template <int W>
void TransposeElements(const TransposeBlock& given) {
  const TransposeBlock block = given;  // so that no store can change it
  for (int64_t c = 0; c < block.columns; ++c) {
    const char* from = block.from + c * W;
    char* to = block.to + block.to_offsets[c];
    for (int64_t r = 0; r < block.rows; ++r) std::memcpy(to + r * W, from + block.from_offsets[r], W);
  }
}

#if HWY_TARGET == HWY_SCALAR

template <int W>
void Transpose(const TransposeBlock& block) {
  if (block.rows > 0) TransposeElements<W>(block);
}

#else

// ---- Copies ----

constexpr int64_t kLineBytes = 64;

template <int kCount>
HWY_INLINE void CopyVectors(char* to, const char* from) {
  const Long d;
  HWY_UNROLL(4)
  for (int i = 0; i < kCount; ++i) {
    hn::StoreU(hn::LoadU(d, AsBytes(from + i * kVectorBytes<Long>)), d, AsBytes(to + i * kVectorBytes<Long>));
  }
}

template <int kBytes>
HWY_INLINE void CopyExactly(char* to, const char* from) {
  char bytes[kBytes];
  std::memcpy(bytes, from, kBytes);
  std::memcpy(to, bytes, kBytes);
}

// Pre: kGroup / 2 <= bytes <= kGroup.
template <int kGroup>
HWY_INLINE void CopyGroup(char* to, const char* from, int64_t bytes) {
  if (bytes == kGroup) return CopyExactly<kGroup>(to, from);
  CopyExactly<kGroup / 2>(to, from);
  CopyExactly<kGroup / 2>(to + bytes - kGroup / 2, from + bytes - kGroup / 2);
}

// A memcpy that is never `rep movsb`, as that of some systems is: it is slow on some processors where the target's
// address modulo 4096 is just above the source's.
HWY_INLINE void CopyBytes(char* to, const char* from, int64_t bytes) {
  for (; bytes >= kLineBytes; bytes -= kLineBytes, to += kLineBytes, from += kLineBytes) {
    CopyVectors<kLineBytes / kVectorBytes<Long>>(to, from);
  }
  if (bytes > 0) std::memcpy(to, from, bytes);
}

// ---- One row or one column ----

template <int W>
void TransposeLine(const TransposeBlock& block) {
  if (block.rows == 1 ? block.to_is_dense : block.from_is_dense) {
    return CopyBytes(block.to + block.to_offsets[0], block.from + block.from_offsets[0],
                     block.rows * block.columns * W);
  }
  if (block.columns == 1) return TransposeElements<W>(block);
  const int64_t* const to_offsets = block.to_offsets;
  const char* const from = block.from + block.from_offsets[0];
  char* const to = block.to;
  for (int64_t c = 0, columns = block.columns; c < columns; ++c) std::memcpy(to + to_offsets[c], from + c * W, W);
}

// ---- Tiles ----

// 16 / W columns of the rows from `row` to `end`, a multiple of vector bytes / W of them. Going down the rows fills a
// few lines of the target at a time; far apart as they may be, they stay in the nearest cache until they are full.
template <int W, class D>
HWY_INLINE void TransposeTallColumns(D d, const TransposeBlock& block, int64_t row, int64_t end, int64_t column) {
  constexpr int64_t kRows = kVectorBytes<D> / W;
  char* to[kLaneBytes / W];
  HWY_UNROLL(16)
  for (int i = 0; i < kLaneBytes / W; ++i) to[i] = block.to + block.to_offsets[column + i];
  for (; row < end; row += kRows) TransposeTall<W>(d, block.from + column * W, block.from_offsets, to, row);
}

template <int W, class D>
HWY_INLINE void TransposeTallRows(D d, const TransposeBlock& block, int64_t row, int64_t end) {
  constexpr int64_t kColumns = kLaneBytes / W;
  for (int64_t c = 0; c < block.columns; c += kColumns) {
    TransposeTallColumns<W>(d, block, row, end, std::min(c, block.columns - kColumns));
  }
}

template <int W, class D>
HWY_INLINE void TransposeWideRows(D d, const TransposeBlock& block, int64_t row) {
  constexpr int64_t kColumns = kVectorBytes<D> / W;
  for (int64_t c = 0; c < block.columns; c += kColumns) {
    TransposeWide<W>(d, block, row, std::min(c, block.columns - kColumns));
  }
}

// Column by column of tiles. Pre: rows and columns of at least 16 bytes.
template <int W>
void TransposeDownColumns(const TransposeBlock& given) {
  const TransposeBlock block = given;  // so that no store can change it
  constexpr int64_t kTall = kVectorBytes<Long> / W;
  constexpr int64_t kShort = kLaneBytes / W;
  const int64_t end = block.rows / kTall * kTall;
  TransposeTallRows<W>(Long(), block, 0, end);
  if (end > 0 && block.rows - end > kShort) {
    return TransposeTallRows<W>(Long(), block, block.rows - kTall, block.rows);
  }
  for (int64_t r = end; r < block.rows; r += kShort) {
    const int64_t row = std::min(r, block.rows - kShort);
    if (block.columns * W >= kVectorBytes<Long>) {
      TransposeWideRows<W>(Long(), block, row);
    } else {
      TransposeWideRows<W>(Lane(), block, row);
    }
  }
}

template <int W>
HWY_INLINE void TransposeTallAt(const TransposeBlock& block, const int64_t* from_offsets, int64_t row, int64_t column) {
  char* to[kLaneBytes / W];
  HWY_UNROLL(16)
  for (int i = 0; i < kLaneBytes / W; ++i) to[i] = block.to + row * W + block.to_offsets[column + i];
  TransposeTall<W>(Long(), block.from + column * W, from_offsets, to, 0);
}

// Tile by tile along the rows: a line of the source is used up at once.
template <int W>
void TransposeAlongRows(const TransposeBlock& given) {
  const TransposeBlock block = given;
  constexpr int64_t kRows = kVectorBytes<Long> / W;
  constexpr int64_t kColumns = kLaneBytes / W;
  int64_t r = 0;
  for (; r + kRows <= block.rows; r += kRows) {
    int64_t offsets[kRows];  // a copy, which stays in registers
    HWY_UNROLL(16)
    for (int i = 0; i < kRows; ++i) offsets[i] = block.from_offsets[r + i];
    int64_t c = 0;
    for (; c + kColumns <= block.columns; c += kColumns) TransposeTallAt<W>(block, offsets, r, c);
    if (c < block.columns) TransposeTallAt<W>(block, offsets, r, block.columns - kColumns);
  }
  if (r == block.rows) return;
  r = std::min(r, block.rows - kColumns);
  TransposeDownColumns<W>({block.from, block.from_offsets + r, block.rows - r, block.to + r * W, block.to_offsets,
                           block.columns, false, false});
}

// Rows close to one another, at a pitch of an odd number of lines, so that they do not collide.
constexpr int64_t kBufferRows = 64;
constexpr int64_t kBufferPitch = 3 * kLineBytes;
constexpr std::array<int64_t, kBufferRows> BufferOffsets() {
  std::array<int64_t, kBufferRows> offsets = {};
  for (int64_t i = 0; i < kBufferRows; ++i) offsets[i] = i * kBufferPitch;
  return offsets;
}

// `bytes` bytes of each row.
HWY_INLINE void CopyToBuffer(const char* from, const int64_t* from_offsets, int64_t rows, int64_t bytes, char* buffer) {
  if (bytes == kLineBytes) {  // known to the compiler
    for (int64_t i = 0; i < rows; ++i) CopyBytes(buffer + i * kBufferPitch, from + from_offsets[i], kLineBytes);
  } else {
    for (int64_t i = 0; i < rows; ++i) CopyBytes(buffer + i * kBufferPitch, from + from_offsets[i], bytes);
  }
}

// Goes through a copy of the rows in the nearest cache, piece by piece, so that each line is fetched once.
template <int W>
void TransposeByWayOfBuffer(const TransposeBlock& block) {
  constexpr int64_t kColumns = 2 * kLineBytes / W;
  static constexpr std::array<int64_t, kBufferRows> kOffsets = BufferOffsets();
  alignas(kLineBytes) char buffer[kBufferRows * kBufferPitch];
  for (int64_t r = 0; r < block.rows; r += kBufferRows) {
    const int64_t row = std::min(r, block.rows - kLaneBytes / W);
    const int64_t rows = std::min(kBufferRows, block.rows - row);
    for (int64_t c = 0; c < block.columns; c += kColumns) {
      const int64_t column = std::min(c, block.columns - kLaneBytes / W);
      const int64_t columns = std::min(kColumns, block.columns - column);
      CopyToBuffer(block.from + column * W, block.from_offsets + row, rows, columns * W, buffer);
      TransposeDownColumns<W>(
          {buffer, kOffsets.data(), rows, block.to + row * W, block.to_offsets + column, columns, false, false});
    }
  }
}

template <int W>
void TransposeTiles(const TransposeBlock& block) {
  if (!block.from_collides) return TransposeDownColumns<W>(block);
  // Tiles of 1 and 2 bytes have more rows than lines that collide.
  if (W >= 4 && !block.to_collides) return TransposeAlongRows<W>(block);
  TransposeByWayOfBuffer<W>(block);
}

// ---- Few rows ----

// Up to M rows; the pointers beyond the last repeat it.
template <int M>
struct FewRows {
  const char* at[M];
  int64_t count;
};

template <int M>
HWY_INLINE FewRows<M> RowsOf(const TransposeBlock& block) {
  FewRows<M> rows;
  rows.count = block.rows;
  for (int64_t i = 0; i < M; ++i) rows.at[i] = block.from + block.from_offsets[std::min(i, block.rows - 1)];
  return rows;
}

// Vector bytes / W columns, from the byte `offset` of the rows on. Each column becomes rows.count * W bytes, the next
// follows. Writes up to 16 bytes more than that, unless rows.count == M.
template <int W, int M, bool kPack, class D>
HWY_INLINE void InterleaveTile(D d, const FewRows<M>& rows, int64_t offset, hn::Vec<D> table, char* to) {
  constexpr int kGroup = M * W;
  hn::Vec<D> v[M];
  HWY_UNROLL(16)
  for (int i = 0; i < M; ++i) v[i] = hn::LoadU(d, AsBytes(rows.at[i] + offset));
  Interleave<W>(v);
  if constexpr (kPack && kGroup < kLaneBytes) {
    HWY_UNROLL(16)
    for (int i = 0; i < M; ++i) v[i] = hn::TableLookupBytes(v[i], table);
  }
  StoreAscendingFromLane<0>(d, v, to, kPack ? kLaneBytes / kGroup * rows.count * W : kLaneBytes);
}

// Moves all columns, M * W bytes each. Pre: columns >= vector bytes / W.
template <int W, int M, class D>
HWY_INLINE void InterleavePadded(D d, const FewRows<M>& rows, int64_t column, int64_t columns, char* to) {
  constexpr int64_t kColumns = kVectorBytes<D> / W;
  const auto no_table = hn::Zero(d);
  for (int64_t c = 0; c < columns; c += kColumns) {
    const int64_t at = std::min(c, columns - kColumns);
    InterleaveTile<W, M, false>(d, rows, (column + at) * W, no_table, to + at * M * W);
  }
}

// Moves all columns, rows.count * W bytes each. Pre: rows.count < M, columns >= vector bytes / W.
template <int W, int M, class D>
HWY_INLINE void InterleavePacked(D d, const FewRows<M>& rows, int64_t columns, char* to) {
  constexpr int64_t kColumns = kVectorBytes<D> / W;
  constexpr int64_t kColumnsInLane = kLaneBytes / (M * W);
  const int64_t column_bytes = rows.count * W;
  const hn::Vec<D> table = PackTable<M * W>(d, column_bytes);
  // Columns that must follow a tile to take the bytes that its last store writes beyond it.
  const int64_t beyond = (kLaneBytes - kColumnsInLane * column_bytes + column_bytes - 1) / column_bytes;
  int64_t c = 0;
  for (; c + kColumns + beyond <= columns; c += kColumns) {
    InterleaveTile<W, M, true>(d, rows, c * W, table, to + c * column_bytes);
  }
  for (; c < columns; c += kColumns) {
    const int64_t last = std::min(c, columns - kColumns);
    char buffer[kColumns * M * W + kLaneBytes];
    InterleaveTile<W, M, true>(d, rows, last * W, table, buffer);
    std::memcpy(to + last * column_bytes, buffer, kColumns * column_bytes);
  }
}

// The target's columns lie here and there: through a buffer.
template <int W, int M, class D>
HWY_INLINE void InterleaveAndScatter(D d, const FewRows<M>& rows, const TransposeBlock& block) {
  constexpr int64_t kTileColumns = kVectorBytes<D> / W;
  constexpr int64_t kColumns = std::max<int64_t>(kTileColumns, 1024 / (M * W));
  alignas(64) char buffer[kColumns * M * W];
  for (int64_t c = 0; c < block.columns; c += kColumns) {
    const int64_t first = std::min(c, std::max<int64_t>(block.columns - kTileColumns, 0));
    const int64_t count = std::min(kColumns, block.columns - first);
    InterleavePadded<W, M>(d, rows, first, count, buffer);
    for (int64_t i = 0; i < count; ++i) {
      CopyGroup<M * W>(block.to + block.to_offsets[first + i], buffer + i * M * W, block.rows * W);
    }
  }
}

template <int W, int M, class D>
HWY_INLINE void InterleaveRows(D d, const TransposeBlock& block) {
  const FewRows<M> rows = RowsOf<M>(block);
  if (!block.to_is_dense) return InterleaveAndScatter<W, M>(d, rows, block);
  char* to = block.to + block.to_offsets[0];
  if (rows.count == M) return InterleavePadded<W, M>(d, rows, 0, block.columns, to);
  InterleavePacked<W, M>(d, rows, block.columns, to);
}

// Pre: M / 2 < rows, rows * W < 16, columns * W >= 16.
template <int W, int M = 2>
void TransposeFewRows(const TransposeBlock& block) {
  if constexpr (2 * M * W <= kLaneBytes) {
    if (block.rows > M) return TransposeFewRows<W, 2 * M>(block);
  }
  if (block.columns * W >= kVectorBytes<Long>) return InterleaveRows<W, M>(Long(), block);
  InterleaveRows<W, M>(Lane(), block);
}

// ---- Few columns ----

// Vector bytes / W rows of N columns or less, which follow one another at `pitch` bytes, from `from`, which is row
// `row`. Reads up to 16 bytes beyond them, unless pitch == N * W.
template <int W, int N, class D>
HWY_INLINE void DeinterleaveTile(D d, const char* from, int64_t pitch, hn::Vec<D> table, const TransposeBlock& block,
                                 int64_t row) {
  constexpr int64_t kRowsInLane = kLaneBytes / (N * W);
  hn::Vec<D> v[N];
  HWY_UNROLL(16)
  for (int i = 0; i < N; ++i) {
    v[i] = LoadLanesEvery(d, from + i * kRowsInLane * pitch, kLaneBytes / W * pitch);
    if constexpr (N * W < kLaneBytes) v[i] = hn::TableLookupBytes(v[i], table);
  }
  Interleave<kLaneBytes / N>(v);
  char* to = block.to + row * W;
  HWY_UNROLL(16)
  for (int i = 0; i < N; ++i) {
    if (i < block.columns) hn::StoreU(v[i], d, AsBytes(to + block.to_offsets[i]));
  }
}

// `rows` rows at `from`, N * W bytes each, which are those from `row` on. Pre: rows >= vector bytes / W.
template <int W, int N, class D>
HWY_INLINE void DeinterleavePadded(D d, const char* from, int64_t rows, const TransposeBlock& block, int64_t row) {
  constexpr int64_t kRows = kVectorBytes<D> / W;
  constexpr int64_t kPitch = N * W;
  const hn::Vec<D> table = ColumnTable<W, N * W>(d, kPitch);
  for (int64_t r = 0; r < rows; r += kRows) {
    const int64_t at = std::min(r, rows - kRows);
    DeinterleaveTile<W, N>(d, from + at * kPitch, kPitch, table, block, row + at);
  }
}

// Moves all rows of a dense source. Pre: columns < N, rows >= vector bytes / W.
template <int W, int N, class D>
HWY_INLINE void DeinterleavePacked(D d, const char* from, const TransposeBlock& block) {
  constexpr int64_t kRows = kVectorBytes<D> / W;
  constexpr int64_t kRowsInLane = kLaneBytes / (N * W);
  const int64_t pitch = block.columns * W;
  const hn::Vec<D> table = ColumnTable<W, N * W>(d, pitch);
  // Rows that must follow a tile because its last load reads beyond it.
  const int64_t beyond = (kLaneBytes - kRowsInLane * pitch + pitch - 1) / pitch;
  int64_t r = 0;
  for (; r + kRows + beyond <= block.rows; r += kRows) {
    DeinterleaveTile<W, N>(d, from + r * pitch, pitch, table, block, r);
  }
  for (; r < block.rows; r += kRows) {
    const int64_t at = std::min(r, block.rows - kRows);
    char buffer[kRows * N * W + kLaneBytes];
    std::memcpy(buffer, from + at * pitch, kRows * pitch);
    DeinterleaveTile<W, N>(d, buffer, pitch, table, block, at);
  }
}

// The source's rows lie here and there: through a buffer.
template <int W, int N, class D>
HWY_INLINE void GatherAndDeinterleave(D d, const TransposeBlock& block) {
  constexpr int64_t kTileRows = kVectorBytes<D> / W;
  constexpr int64_t kRows = std::max<int64_t>(kTileRows, 1024 / (N * W));
  alignas(64) char buffer[kRows * N * W + kLaneBytes];  // g++ 12 believes that a row more were written
  for (int64_t r = 0; r < block.rows; r += kRows) {
    const int64_t first = std::min(r, std::max<int64_t>(block.rows - kTileRows, 0));
    const int64_t count = std::min(kRows, block.rows - first);
    for (int64_t i = 0; i < count; ++i) {
      CopyGroup<N * W>(buffer + i * N * W, block.from + block.from_offsets[first + i], block.columns * W);
    }
    DeinterleavePadded<W, N>(d, buffer, count, block, first);
  }
}

template <int W, int N, class D>
HWY_INLINE void DeinterleaveColumns(D d, const TransposeBlock& block) {
  if (!block.from_is_dense) return GatherAndDeinterleave<W, N>(d, block);
  const char* from = block.from + block.from_offsets[0];
  if (block.columns == N) return DeinterleavePadded<W, N>(d, from, block.rows, block, 0);
  DeinterleavePacked<W, N>(d, from, block);
}

// Pre: N / 2 < columns, columns * W < 16, rows * W >= 16.
template <int W, int N = 2>
void TransposeFewColumns(const TransposeBlock& given) {
  if constexpr (2 * N * W <= kLaneBytes) {
    if (given.columns > N) return TransposeFewColumns<W, 2 * N>(given);
  }
  const TransposeBlock block = given;
  if (block.rows * W >= kVectorBytes<Long>) return DeinterleaveColumns<W, N>(Long(), block);
  DeinterleaveColumns<W, N>(Lane(), block);
}

// ---- Few of both ----

// Pre: M / 2 < rows, rows * W < 16; N / 2 < columns, columns * W < 16.
template <int W, int M = 2, int N = 2>
void TransposeSmall(const TransposeBlock& block) {
  if constexpr (2 * M * W <= kLaneBytes) {
    if (block.rows > M) return TransposeSmall<W, 2 * M, N>(block);
  }
  if constexpr (2 * N * W <= kLaneBytes) {
    if (block.columns > N) return TransposeSmall<W, M, 2 * N>(block);
  }
  char buffer[M * kLaneBytes];  // rows, a lane each
  char groups[M * kLaneBytes];  // columns, M * W bytes each
  FewRows<M> rows;
  rows.count = block.rows;
  for (int64_t i = 0; i < M; ++i) {
    rows.at[i] = buffer + std::min(i, block.rows - 1) * kLaneBytes;
    if (i < block.rows)
      CopyGroup<N * W>(buffer + i * kLaneBytes, block.from + block.from_offsets[i], block.columns * W);
  }
  InterleavePadded<W, M>(Lane(), rows, 0, kLaneBytes / W, groups);
  for (int64_t c = 0; c < block.columns; ++c) {
    CopyGroup<M * W>(block.to + block.to_offsets[c], groups + c * M * W, block.rows * W);
  }
}

template <int W>
void Transpose(const TransposeBlock& block) {
  if (block.rows <= 0 || block.columns <= 0) return;
  if (block.rows == 1 || block.columns == 1) return TransposeLine<W>(block);
  if constexpr (W < 8) {
    const bool few_rows = block.rows * W < kLaneBytes;
    const bool few_columns = block.columns * W < kLaneBytes;
    if (few_rows && few_columns) return TransposeSmall<W>(block);
    if (few_rows) return TransposeFewRows<W>(block);
    if (few_columns) return TransposeFewColumns<W>(block);
  }
  TransposeTiles<W>(block);
}

#endif  // HWY_TARGET == HWY_SCALAR

TransposeFunction FunctionFor(int64_t element_bytes) {
  return array::WithElementBytes(element_bytes, TransposeFunction{},
                                 [](auto bytes) -> TransposeFunction { return &Transpose<bytes>; });
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace kashi::relayout
HWY_AFTER_NAMESPACE();

namespace kashi::relayout {

KASHI_EXPORT(TransposeFunction, TransposeFunctionFor, (int64_t element_bytes), FunctionFor, (element_bytes))

}  // namespace kashi::relayout
