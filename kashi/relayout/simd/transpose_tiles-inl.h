// Pieces of the transpose kernels that live in registers: tiles of a few rows and columns. Compiled once for each
// target.
//
// A vector is one or more lanes of 16 bytes; no step moves bytes from lane to lane. Below, W is the bytes of an
// element, and n = 16 / W the elements of a lane.
#if defined(KASHI_RELAYOUT_SIMD_TRANSPOSE_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KASHI_RELAYOUT_SIMD_TRANSPOSE_TILES_INL_H_
#undef KASHI_RELAYOUT_SIMD_TRANSPOSE_TILES_INL_H_
#else
#define KASHI_RELAYOUT_SIMD_TRANSPOSE_TILES_INL_H_
#endif

#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "kashi/relayout/simd/transpose_kernels.h"

#if HWY_TARGET != HWY_SCALAR

HWY_BEFORE_NAMESPACE();
namespace kashi::relayout {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int kLaneBytes = 16;

// Descriptors of byte vectors: the longest, and one lane. On some targets they are one type.
using Long = hn::ScalableTag<uint8_t>;
using Lane = hn::Full128<uint8_t>;

template <class D>
constexpr int kVectorBytes = static_cast<int>(hn::MaxLanes(D()));

HWY_INLINE const uint8_t* AsBytes(const char* p) { return reinterpret_cast<const uint8_t*>(p); }
HWY_INLINE uint8_t* AsBytes(char* p) { return reinterpret_cast<uint8_t*>(p); }

// One of the log2(kCount) equal steps of Interleave.
template <int kBytes, int kCount, class V>
HWY_INLINE void InterleaveOnce(V (&v)[kCount]) {
  const hn::DFromV<V> bytes;
  const hn::Repartition<hwy::UnsignedFromSize<kBytes>, hn::DFromV<V>> words;
  V out[kCount];
  HWY_UNROLL(16)
  for (int i = 0; i < kCount / 2; ++i) {
    const auto even = hn::BitCast(words, v[i]);
    const auto odd = hn::BitCast(words, v[i + kCount / 2]);
    out[2 * i] = hn::BitCast(bytes, hn::InterleaveLower(words, even, odd));
    out[2 * i + 1] = hn::BitCast(bytes, hn::InterleaveUpper(words, even, odd));
  }
  HWY_UNROLL(16)
  for (int i = 0; i < kCount; ++i) v[i] = out[i];
}

// In each lane: `kCount` rows of words of kBytes become columns, which follow one another.
//
//   v[0]  a0 a1 a2 a3      a0 b0 a1 b1
//   v[1]  b0 b1 b2 b3  ->  a2 b2 a3 b3
//
// With as many rows as a lane has words, each vector becomes a column: a transpose of every lane.
template <int kBytes, int kCount, class V>
HWY_INLINE void Interleave(V (&v)[kCount]) {
  if constexpr (kCount >= 2) InterleaveOnce<kBytes>(v);
  if constexpr (kCount >= 4) InterleaveOnce<kBytes>(v);
  if constexpr (kCount >= 8) InterleaveOnce<kBytes>(v);
  if constexpr (kCount >= 16) InterleaveOnce<kBytes>(v);
}

// A vector whose lane l is the 16 bytes at from + offsets[l * kStep].
template <int kStep, class D>
HWY_INLINE hn::Vec<D> LoadLanes(D d, const char* from, const int64_t* offsets) {
  if constexpr (kVectorBytes<D> == kLaneBytes) {
    return hn::LoadU(d, AsBytes(from + offsets[0]));
  } else {
    const hn::Half<D> half;
    constexpr int kHalfStep = kStep * kVectorBytes<D> / (2 * kLaneBytes);
    return hn::Combine(d, LoadLanes<kStep>(half, from, offsets + kHalfStep), LoadLanes<kStep>(half, from, offsets));
  }
}

// A vector whose lane l is the 16 bytes at from + l * step.
template <class D>
HWY_INLINE hn::Vec<D> LoadLanesEvery(D d, const char* from, int64_t step) {
  if constexpr (kVectorBytes<D> == kLaneBytes) {
    return hn::LoadU(d, AsBytes(from));
  } else {
    const hn::Half<D> half;
    constexpr int kHalf = kVectorBytes<D> / (2 * kLaneBytes);
    return hn::Combine(d, LoadLanesEvery(half, from + kHalf * step, step), LoadLanesEvery(half, from, step));
  }
}

// Stores the 16 bytes of lane kLane.
template <int kLane, class D>
HWY_INLINE void StoreLane(D d, hn::Vec<D> v, char* to) {
  if constexpr (kVectorBytes<D> == kLaneBytes) {
    hn::StoreU(v, d, AsBytes(to));
  } else {
    const hn::Half<D> half;
    constexpr int kHalf = kVectorBytes<D> / (2 * kLaneBytes);
    if constexpr (kLane < kHalf) {
      StoreLane<kLane>(half, hn::LowerHalf(half, v), to);
    } else {
      StoreLane<kLane - kHalf>(half, hn::UpperHalf(half, v), to);
    }
  }
}

// Interleave<W>, and stores vector i at to[i] + offset. Finishes one half before it begins with the other, so that 16
// vectors need few registers more.
template <int W, int kCount, class D>
HWY_INLINE void InterleaveAndStore(D d, const hn::Vec<D> (&v)[kCount], char* const* to, int64_t offset) {
  if constexpr (kCount == 1) {
    hn::StoreU(v[0], d, AsBytes(to[0] + offset));
  } else {
    const hn::Repartition<hwy::UnsignedFromSize<W>, D> words;
    constexpr int kHalf = kCount / 2;
    hn::Vec<D> lower[kHalf];
    hn::Vec<D> upper[kHalf];
    HWY_UNROLL(16)
    for (int i = 0; i < kHalf; ++i) {
      const auto even = hn::BitCast(words, v[i]);
      const auto odd = hn::BitCast(words, v[i + kHalf]);
      lower[i] = hn::BitCast(d, hn::InterleaveLower(words, even, odd));
      upper[i] = hn::BitCast(d, hn::InterleaveUpper(words, even, odd));
    }
    InterleaveAndStore<W>(d, lower, to, offset);
    InterleaveAndStore<W>(d, upper, to + kHalf, offset);
  }
}

struct AsItIs {
  template <class V>
  HWY_INLINE V operator()(V v) const {
    return v;
  }
};

// Vector bytes / W rows from `row` on, n columns: a column is one vector. change(v) is the new value of the vector v,
// lanes of rows.
template <int W, class D, class Change = AsItIs>
HWY_INLINE void TransposeTall(D d, const char* from, const int64_t* from_offsets, char* const* to, int64_t row,
                              Change change = Change()) {
  constexpr int n = kLaneBytes / W;
  hn::Vec<D> v[n];
  HWY_UNROLL(16)
  for (int i = 0; i < n; ++i) {
    const int k = i / 2 + i % 2 * (n / 2);  // in the order in which they are needed
    v[k] = change(LoadLanes<n>(d, from, from_offsets + row + k));
  }
  InterleaveAndStore<W>(d, v, to, row * W);
}

template <int W, int kLane, class D>
HWY_INLINE void StoreColumnsFromLane(D d, const hn::Vec<D> (&v)[kLaneBytes / W], char* to, const int64_t* offsets) {
  constexpr int n = kLaneBytes / W;
  HWY_UNROLL(16)
  for (int i = 0; i < n; ++i) StoreLane<kLane>(d, v[i], to + offsets[kLane * n + i]);
  if constexpr ((kLane + 1) * kLaneBytes < kVectorBytes<D>) StoreColumnsFromLane<W, kLane + 1>(d, v, to, offsets);
}

// n rows, vector bytes / W columns: a column is one lane.
template <int W, class D>
HWY_INLINE void TransposeWide(D d, const TransposeBlock& block, int64_t row, int64_t column) {
  constexpr int n = kLaneBytes / W;
  hn::Vec<D> v[n];
  HWY_UNROLL(16)
  for (int i = 0; i < n; ++i) {
    v[i] = hn::LoadU(d, AsBytes(block.from + block.from_offsets[row + i] + column * W));
  }
  Interleave<W>(v);
  StoreColumnsFromLane<W, 0>(d, v, block.to + row * W, block.to_offsets + column);
}

template <int kLane, int M, class D>
HWY_INLINE void StoreAscendingFromLane(D d, const hn::Vec<D> (&v)[M], char* to, int64_t step) {
  HWY_UNROLL(16)
  for (int i = 0; i < M; ++i) StoreLane<kLane>(d, v[i], to + (kLane * M + i) * step);
  if constexpr ((kLane + 1) * kLaneBytes < kVectorBytes<D>) StoreAscendingFromLane<kLane + 1>(d, v, to, step);
}

// Puts the groups of a lane together, of each its first `bytes`:   a0 b0 c0 ?? a1 b1 c1 ?? -> a0 b0 c0 a1 b1 c1 ?? ??
template <int kGroup, class D>
HWY_INLINE hn::Vec<D> PackTable(D d, int64_t bytes) {
  alignas(kLaneBytes) uint8_t table[kLaneBytes] = {};
  for (int group = 0; group < kLaneBytes / kGroup; ++group) {
    for (int i = 0; i < bytes; ++i) table[group * bytes + i] = static_cast<uint8_t>(group * kGroup + i);
  }
  return hn::LoadDup128(d, table);
}

// From rows that follow one another at `pitch` bytes to columns, for as many rows as a lane holds with kGroup bytes
// each:
//   a0 b0 c0 a1 b1 c1 ?? ?? -> a0 a1 b0 b1 c0 c1 ?? ??     W == 1, pitch == 3, kGroup == 4
template <int W, int kGroup, class D>
HWY_INLINE hn::Vec<D> ColumnTable(D d, int64_t pitch) {
  constexpr int kRows = kLaneBytes / kGroup;
  alignas(kLaneBytes) uint8_t table[kLaneBytes] = {};
  for (int i = 0; i < kLaneBytes; ++i) {
    const int64_t column = i / (kRows * W);
    const int64_t from = i / W % kRows * pitch + column * W + i % W;
    table[i] = static_cast<uint8_t>(from < kLaneBytes ? from : 0);  // from >= 16 only in columns that are not used
  }
  return hn::LoadDup128(d, table);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace kashi::relayout
HWY_AFTER_NAMESPACE();

#endif  // HWY_TARGET != HWY_SCALAR

#endif  // KASHI_RELAYOUT_SIMD_TRANSPOSE_TILES_INL_H_
