// Lane by lane (W: bytes of an element, n = 16 / W: elements of a lane, P: rows). P lanes of n elements are a small
// matrix, and interleaving transposes it:
//
//   P a power of 2     log2(P) steps of a perfect shuffle (transpose_tiles-inl.h); back, as many as turn it all the way
//                      round
//   other P            each lane of one side is put together from those of the other that it has bytes of; small
//                      elements of 5 to 7 rows are taken apart as if they were 8, which reads a few bytes beyond them
//   W == 16            nothing to do
//
// A vector of two lanes has two neighbouring lanes of a row. The lanes of the run are as far apart, so they change
// places at the end; on the way back they are loaded so.
#include "kashi/relayout/simd/interleave_kernel.h"
#include "kashi/relayout/simd/copy_rows.h"
#include "kashi/relayout/simd/highway_targets.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "kashi/array/element_bytes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kashi/relayout/simd/interleave_kernel.cc"
#include "hwy/foreach_target.h"
// clang-format off
#include "hwy/highway.h"  // after foreach_target.h
#include "hwy/cache_control.h"
#include "kashi/relayout/simd/highway_export-inl.h"
#include "kashi/relayout/simd/transpose_tiles-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kashi::relayout {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

template <int W, int P, bool kStream>
void InterleaveUnit(const char* from, char* to, int64_t row_stride, int64_t columns) {
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = 0; r < P; ++r) std::memcpy(to + (c * P + r) * W, from + r * row_stride + c * W, W);
  }
}

template <int W, int P, bool kStream>
void DeinterleaveUnit(const char* from, char* to, int64_t row_stride, int64_t columns) {
  for (int64_t r = 0; r < P; ++r) {
    for (int64_t c = 0; c < columns; ++c) std::memcpy(to + r * row_stride + c * W, from + (c * P + r) * W, W);
  }
}

#else

constexpr int64_t kLine = 64;

// Two lanes at most: of more, neighbours would take more steps to come together.
using Tile = hn::CappedTag<uint8_t, 32>;
using Vector = hn::Vec<Tile>;
constexpr int kTileBytes = kVectorBytes<Tile>;

constexpr bool IsPower(int n) { return (n & (n - 1)) == 0; }

// The byte of each lane of one side that comes from each lane of the other; 0x80: none.
template <int P>
using LaneTables = std::array<std::array<std::array<uint8_t, kLaneBytes>, P>, P>;

// [lane of the run][row]
template <int W, int P>
constexpr LaneTables<P> InterleaveTables() {
  LaneTables<P> tables = {};
  for (int k = 0; k < P; ++k) {
    for (int r = 0; r < P; ++r) {
      for (int i = 0; i < kLaneBytes; ++i) {
        const int byte = k * kLaneBytes + i;
        tables[k][r][i] = byte / W % P == r ? static_cast<uint8_t>(byte / (W * P) * W + byte % W) : 0x80;
      }
    }
  }
  return tables;
}

// [row][lane of the run]
template <int W, int P>
constexpr LaneTables<P> DeinterleaveTables() {
  LaneTables<P> tables = {};
  for (int r = 0; r < P; ++r) {
    for (int k = 0; k < P; ++k) {
      for (int i = 0; i < kLaneBytes; ++i) {
        const int byte = i / W * W * P + r * W + i % W;
        tables[r][k][i] = byte / kLaneBytes == k ? static_cast<uint8_t>(byte % kLaneBytes) : 0x80;
      }
    }
  }
  return tables;
}

template <int P>
constexpr bool HasBytes(const LaneTables<P>& tables, int out, int in) {
  for (int i = 0; i < kLaneBytes; ++i) {
    if (tables[out][in][i] != 0x80) return true;
  }
  return false;
}

template <int W, int P, bool kBack>
struct TablesOf {
  static constexpr LaneTables<P> value = kBack ? DeinterleaveTables<W, P>() : InterleaveTables<W, P>();
};

// Lane kOut of the other side, from v[kIn] on.
template <class Tables, int P, int kOut, int kIn = 0>
HWY_INLINE Vector PutLaneTogether(const Vector (&v)[P], Vector so_far) {
  if constexpr (kIn < P) {
    if constexpr (HasBytes<P>(Tables::value, kOut, kIn)) {
      const Tile d;
      const Vector table = hn::LoadDup128(d, Tables::value[kOut][kIn].data());
      so_far = hn::Or(so_far, hn::TableLookupBytesOr0(v[kIn], table));
    }
    return PutLaneTogether<Tables, P, kOut, kIn + 1>(v, so_far);
  }
  return so_far;
}

template <class Tables, int P, int kOut = 0>
HWY_INLINE void PutLanesTogether(const Vector (&v)[P], Vector (&out)[P]) {
  if constexpr (kOut < P) {
    out[kOut] = PutLaneTogether<Tables, P, kOut>(v, hn::Zero(Tile()));
    PutLanesTogether<Tables, P, kOut + 1>(v, out);
  }
}

template <int W, int P, bool kBack>
HWY_INLINE void ByTables(Vector (&v)[P]) {
  Vector out[P];
  PutLanesTogether<TablesOf<W, P, kBack>>(v, out);
  HWY_UNROLL(8)
  for (int i = 0; i < P; ++i) v[i] = out[i];
}

// In each lane: v[r] is of row r  ->  v[k] is lane k of the run.
template <int W, int P>
HWY_INLINE void InterleaveLanes(Vector (&v)[P]) {
  if constexpr (W == kLaneBytes) {
    return;
  } else if constexpr (IsPower(P)) {
    Interleave<W>(v);
  } else {
    ByTables<W, P, false>(v);
  }
}

// The other way round.
template <int W, int P>
HWY_INLINE void DeinterleaveLanes(Vector (&v)[P]) {
  if constexpr (W == kLaneBytes) {
    return;
  } else if constexpr (!IsPower(P)) {
    ByTables<W, P, true>(v);
  } else if constexpr (W * P <= kLaneBytes) {  // the elements of a lane by rows, then like a transpose
    if constexpr (W * P < kLaneBytes) {
      const Vector table = ColumnTable<W, W * P>(Tile(), W * P);
      HWY_UNROLL(8)
      for (int i = 0; i < P; ++i) v[i] = hn::TableLookupBytes(v[i], table);
    }
    Interleave<kLaneBytes / P>(v);
  } else {
    if constexpr (kLaneBytes / W >= 2) InterleaveOnce<W>(v);
    if constexpr (kLaneBytes / W >= 4) InterleaveOnce<W>(v);
  }
}

template <bool kStream>
HWY_INLINE void StoreVector(Vector v, char* to) {
  if constexpr (kStream) {
    hn::Stream(v, Tile(), AsBytes(to));
  } else {
    hn::StoreU(v, Tile(), AsBytes(to));
  }
}

// Vector m of the run, with lanes 2m and 2m + 1; lane k is in v[k % P], its lower half if k < P.
template <int P, int m>
HWY_INLINE Vector RunVector(const Vector (&v)[P]) {
  if constexpr (kTileBytes == kLaneBytes) {
    return v[m];
  } else {
    const Tile d;
    constexpr int kLow = 2 * m, kHigh = 2 * m + 1;
    if constexpr (kHigh < P) {
      return hn::ConcatLowerLower(d, v[kHigh], v[kLow]);
    } else if constexpr (kLow >= P) {
      return hn::ConcatUpperUpper(d, v[kHigh - P], v[kLow - P]);
    } else {
      return hn::ConcatUpperLower(d, v[kHigh - P], v[kLow]);
    }
  }
}

template <int P, bool kStream, int m = 0>
HWY_INLINE void StoreRun(const Vector (&v)[P], char* to) {
  if constexpr (m < P) {
    StoreVector<kStream>(RunVector<P, m>(v), to + m * kTileBytes);
    StoreRun<P, kStream, m + 1>(v, to);
  }
}

template <int P>
struct RowPointers {
  RowPointers(const char* from, int64_t stride) {
    HWY_UNROLL(8)
    for (int r = 0; r < P; ++r) at[r] = from + r * stride;
  }
  const char* at[P];
};

// A vector of each row, from the byte `offset` on.
template <int W, int P, bool kStream>
HWY_INLINE void InterleaveTileAt(const RowPointers<P>& rows, int64_t offset, char* to) {
  Vector v[P];
  HWY_UNROLL(8)
  for (int r = 0; r < P; ++r) v[r] = hn::LoadU(Tile(), AsBytes(rows.at[r] + offset));
  InterleaveLanes<W, P>(v);
  StoreRun<P, kStream>(v, to);
}

HWY_INLINE int64_t BytesToLine(const char* p) { return -reinterpret_cast<uintptr_t>(p) % kLine; }

// Columns of `bytes` bytes each until one begins with a line; a line's bytes or more: none does.
HWY_INLINE int64_t ColumnsToLine(const char* to, int64_t bytes) {
  int64_t columns = 0;
  while (columns < kLine && (reinterpret_cast<uintptr_t>(to) + columns * bytes) % kLine != 0) ++columns;
  return columns;
}

// For at least a tile of columns. A tile's code is large: there is one copy of it here, and callers call this one.
template <int W, int P>
HWY_NOINLINE void InterleavePlainly(const char* from, char* to, int64_t row_stride, int64_t columns) {
  constexpr int64_t kColumns = kTileBytes / W;
  const RowPointers<P> rows(from, row_stride);
  for (int64_t c = 0; c < columns; c += kColumns) {
    const int64_t at = std::min(c, columns - kColumns);
    InterleaveTileAt<W, P, false>(rows, at * W, to + at * P * W);
  }
}

// Columns begin .. end - 1 of rows that have `columns`.
template <int W, int P>
HWY_NOINLINE void InterleaveSome(const char* from, char* to, int64_t row_stride, int64_t begin, int64_t end,
                                 int64_t columns) {
  constexpr int64_t kColumns = kTileBytes / W;
  alignas(kLine) char buffer[P * kTileBytes];
  for (int64_t c = begin; c < end; c += kColumns) {
    const int64_t at = std::min(c, columns - kColumns);
    InterleavePlainly<W, P>(from + at * W, buffer, row_stride, kColumns);
    std::memcpy(to + c * P * W, buffer + (c - at) * P * W, std::min(kColumns, end - c) * P * W);
  }
}

template <int W, int P, bool kStream>
HWY_INLINE void InterleaveUnit(const char* from, char* to, int64_t row_stride, int64_t columns) {
  if constexpr (!kStream) {
    InterleavePlainly<W, P>(from, to, row_stride, columns);
  } else {
    constexpr int64_t kColumns = kTileBytes / W;
    constexpr int64_t kTiles = kLine / std::gcd(kLine, static_cast<int64_t>(P) * kTileBytes);  // fill lines
    const RowPointers<P> rows(from, row_stride);
    const int64_t head = BytesToLine(to) == 0 ? 0 : ColumnsToLine(to, P * W);
    if (head >= std::min(kLine, columns)) return InterleavePlainly<W, P>(from, to, row_stride, columns);
    const int64_t end = head + (columns - head) / (kTiles * kColumns) * (kTiles * kColumns);
    if (head > 0) InterleaveSome<W, P>(from, to, row_stride, 0, head, columns);
    for (int64_t c = head; c < end; c += kColumns) InterleaveTileAt<W, P, true>(rows, c * W, to + c * P * W);
    if (end < columns) InterleaveSome<W, P>(from, to, row_stride, end, columns, columns);
  }
}

// The number of columns that must follow a tile so that it can be taken apart as if it had 8 rows; 0: it never is.
template <int W, int P>
constexpr int64_t kColumnsBeyond = P > 4 && P < 8 && W <= 2 ? (kLaneBytes - 2 * P + P * W - 1) / (P * W) : 0;

// A vector of each row, from a tile of the run; with kBeyond, kColumnsBeyond columns follow it.
template <int W, int P, bool kBeyond>
HWY_INLINE void LoadAndDeinterleave(const char* from, Vector (&v)[P]) {
  const Tile d;
  if constexpr (!kBeyond) {
    HWY_UNROLL(8)
    for (int k = 0; k < P; ++k) v[k] = LoadLanesEvery(d, from + k * kLaneBytes, P * kLaneBytes);
    DeinterleaveLanes<W, P>(v);
  } else {
    constexpr int kStep = kLaneBytes / 8 * P;  // two elements of 1 byte or one of 2 of each row
    const Vector table = ColumnTable<W, 8 * W>(d, P * W);
    Vector all[8];
    HWY_UNROLL(8)
    for (int k = 0; k < 8; ++k) {
      all[k] = hn::TableLookupBytes(LoadLanesEvery(d, from + k * kStep, P * kLaneBytes), table);
    }
    Interleave<kLaneBytes / 8>(all);
    HWY_UNROLL(8)
    for (int r = 0; r < P; ++r) v[r] = all[r];
  }
}

template <int W, int P, bool kBeyond>
HWY_INLINE void DeinterleaveTileAt(const char* from, char* to, int64_t row_stride) {
  Vector v[P];
  LoadAndDeinterleave<W, P, kBeyond>(from, v);
  HWY_UNROLL(8)
  for (int r = 0; r < P; ++r) StoreVector<false>(v[r], to + r * row_stride);
}

// A line of each row, one after the other.
template <int W, int P, bool kBeyond>
HWY_INLINE void StreamDeinterleavedLines(const char* from, char* to, int64_t row_stride) {
  constexpr int kTiles = kLine / kTileBytes;
  Vector v[kTiles][P];
  HWY_UNROLL(4)
  for (int i = 0; i < kTiles; ++i) LoadAndDeinterleave<W, P, kBeyond>(from + i * P * kTileBytes, v[i]);
  HWY_UNROLL(8)
  for (int r = 0; r < P; ++r) {
    HWY_UNROLL(4)
    for (int i = 0; i < kTiles; ++i) StoreVector<true>(v[i][r], to + r * row_stride + i * kTileBytes);
  }
}

// Not inlined: callers share the one copy of a tile's code.
template <int W, int P>
HWY_NOINLINE void DeinterleavePlainly(const char* from, char* to, int64_t row_stride, int64_t columns) {
  constexpr int64_t kColumns = kTileBytes / W;
  constexpr int64_t kBeyond = kColumnsBeyond<W, P>;
  int64_t c = 0;
  for (; c + kColumns + kBeyond <= columns; c += kColumns) {
    DeinterleaveTileAt<W, P, (kBeyond > 0)>(from + c * P * W, to + c * W, row_stride);
  }
  for (; c < columns; c += kColumns) {
    const int64_t at = std::min(c, columns - kColumns);
    DeinterleaveTileAt<W, P, false>(from + at * P * W, to + at * W, row_stride);
  }
}

// Columns begin .. end - 1 of rows that have `columns`.
template <int W, int P>
HWY_NOINLINE void DeinterleaveSome(const char* from, char* to, int64_t row_stride, int64_t begin, int64_t end,
                                   int64_t columns) {
  constexpr int64_t kColumns = kTileBytes / W;
  alignas(kLine) char buffer[P * kTileBytes];
  for (int64_t c = begin; c < end; c += kColumns) {
    const int64_t at = std::min(c, columns - kColumns);
    DeinterleavePlainly<W, P>(from + at * P * W, buffer, kTileBytes, kColumns);
    const int64_t bytes = std::min(kColumns, end - c) * W;
    for (int64_t r = 0; r < P; ++r) {
      std::memcpy(to + r * row_stride + c * W, buffer + r * kTileBytes + (c - at) * W, bytes);
    }
  }
}

template <int W, int P, bool kStream>
HWY_INLINE void DeinterleaveUnit(const char* from, char* to, int64_t row_stride, int64_t columns) {
  if constexpr (!kStream) {
    DeinterleavePlainly<W, P>(from, to, row_stride, columns);
  } else {
    constexpr int64_t kBeyond = kColumnsBeyond<W, P>;
    constexpr int64_t kLineColumns = kLine / W;
    const int64_t to_line = BytesToLine(to), head = to_line / W;
    if (row_stride % kLine != 0 || to_line % W != 0 || head >= columns) {
      return DeinterleavePlainly<W, P>(from, to, row_stride, columns);
    }
    const int64_t end = head + (columns - head) / kLineColumns * kLineColumns;
    if (head > 0) DeinterleaveSome<W, P>(from, to, row_stride, 0, head, columns);
    int64_t c = head;
    for (; c < end && c + kLineColumns + kBeyond <= columns; c += kLineColumns) {
      StreamDeinterleavedLines<W, P, (kBeyond > 0)>(from + c * P * W, to + c * W, row_stride);
    }
    if (c < end) StreamDeinterleavedLines<W, P, false>(from + c * P * W, to + c * W, row_stride);
    if (end < columns) DeinterleaveSome<W, P>(from, to, row_stride, end, columns, columns);
  }
}

#endif  // HWY_TARGET == HWY_SCALAR

template <int W, int P, bool kBack, bool kStream>
void RunJob(const InterleaveJob& given) {
  const InterleaveJob job = given;  // so that no store can change it
  for (int64_t o = 0; o < job.outer.count; ++o) {
    const char* from = job.from + o * job.outer.from;
    char* to = job.to + o * job.outer.to;
    for (int64_t i = 0; i < job.inner.count; ++i, from += job.inner.from, to += job.inner.to) {
      if constexpr (kBack) {
        DeinterleaveUnit<W, P, kStream>(from, to, job.row_stride, job.columns);
      } else {
        InterleaveUnit<W, P, kStream>(from, to, job.row_stride, job.columns);
      }
    }
  }
}

template <int W, int P = 2>
InterleaveFunctions FunctionsForRows(int64_t rows) {
  if constexpr (P <= kMostInterleavedRows) {
    if (rows != P) return FunctionsForRows<W, P + 1>(rows);
    return {&RunJob<W, P, false, false>, &RunJob<W, P, true, false>, &RunJob<W, P, false, true>,
            &RunJob<W, P, true, true>};
  }
  return {};
}

InterleaveFunctions FunctionsFor(int64_t element_bytes, int64_t rows) {
  return array::WithElementBytes(element_bytes, InterleaveFunctions{},
                                 [rows](auto bytes) -> InterleaveFunctions { return FunctionsForRows<bytes>(rows); });
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace kashi::relayout
HWY_AFTER_NAMESPACE();

namespace kashi::relayout {

KASHI_EXPORT(InterleaveFunctions, InterleaveFunctionsFor, (int64_t element_bytes, int64_t rows), FunctionsFor,
             (element_bytes, rows))

}  // namespace kashi::relayout
