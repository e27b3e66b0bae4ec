#include "kashi/relayout/simd/exchange_kernel.h"
#include "kashi/relayout/simd/highway_targets.h"

#include <algorithm>
#include <cstring>

#include "kashi/array/element_bytes.h"
#include "kashi/relayout/simd/copy_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kashi/relayout/simd/exchange_kernel.cc"
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

// The words from byte `at` on, element by element.
template <int W, int P>
void ExchangeElements(const ExchangeRows& rows, int64_t at) {
  for (; at < rows.bytes; at += P * W) {
    for (int64_t t = 0; t < rows.targets; ++t) {
      for (int64_t s = 0; s < P; ++s) {
        std::memcpy(rows.to + t * rows.to_stride + at + s * W, rows.from + s * rows.from_stride + at + t * W, W);
      }
    }
  }
}

#if HWY_TARGET == HWY_SCALAR

template <int W, int P>
void ExchangeWords(const ExchangeRows& rows, bool) {
  ExchangeElements<W, P>(rows, 0);
}

#else

constexpr int64_t kLine = 64;

// Vectors whose numbers differ only in the bit kHalf exchange the elements whose places in their words differ so, too.
// Elements here have kBytes == kHalf * W bytes: with all places that the lower bits tell apart.
//
//   a0 a1        a0 b0
//   b0 b1   ->   a1 b1
template <int kBytes, int kHalf, int P, class V>
HWY_INLINE void ExchangeFrom(V (&v)[P]) {
  if constexpr (kHalf < P) {
    const hn::DFromV<V> bytes;
    const hn::Repartition<hwy::UnsignedFromSize<kBytes>, hn::DFromV<V>> elements;
    HWY_UNROLL(4)
    for (int i = 0; i < P; ++i) {
      if ((i & kHalf) != 0) continue;
      const auto a = hn::BitCast(elements, v[i]), b = hn::BitCast(elements, v[i + kHalf]);
      v[i] = hn::BitCast(bytes, hn::OddEven(hn::ShiftLeftLanes<1>(elements, b), a));
      v[i + kHalf] = hn::BitCast(bytes, hn::OddEven(b, hn::ShiftRightLanes<1>(elements, a)));
    }
    ExchangeFrom<2 * kBytes, 2 * kHalf>(v);
  }
}

template <int W, int P, class D>
HWY_INLINE void LoadExchanged(D d, const ExchangeRows& rows, int64_t at, hn::Vec<D> (&v)[P]) {
  HWY_UNROLL(4)
  for (int s = 0; s < P; ++s) v[s] = hn::LoadU(d, AsBytes(rows.from + s * rows.from_stride + at));
  ExchangeFrom<W, 1>(v);
}

template <int W, int P, class D>
HWY_INLINE void ExchangeVector(D d, const ExchangeRows& rows, int64_t at) {
  hn::Vec<D> v[P];
  LoadExchanged<W>(d, rows, at, v);
  HWY_UNROLL(4)
  for (int t = 0; t < P; ++t) {
    if (t < rows.targets) hn::StoreU(v[t], d, AsBytes(rows.to + t * rows.to_stride + at));
  }
}

// A cache line of each row, all of it at once, so that it leaves the processor as one. Pre: the target's lines begin
// there.
template <int W, int P>
HWY_INLINE void StreamExchangedLine(const ExchangeRows& rows, int64_t at) {
  const hn::CappedTag<uint8_t, kLine> d;
  constexpr int kVectors = kLine / kVectorBytes<hn::CappedTag<uint8_t, kLine>>;
  hn::Vec<hn::CappedTag<uint8_t, kLine>> v[kVectors][P];
  HWY_UNROLL(4)
  for (int i = 0; i < kVectors; ++i) LoadExchanged<W>(d, rows, at + i * (kLine / kVectors), v[i]);
  HWY_UNROLL(4)
  for (int t = 0; t < P; ++t) {
    if (t >= rows.targets) break;
    char* const to = rows.to + t * rows.to_stride + at;
    HWY_UNROLL(4)
    for (int i = 0; i < kVectors; ++i) hn::Stream(v[i][t], d, AsBytes(to + i * (kLine / kVectors)));
  }
}

// The words whose elements may all be read by vectors, then the others. A last vector overlaps the one before.
template <int W, int P>
void ExchangeThroughCaches(const ExchangeRows& rows, int64_t at) {
  const int64_t end = rows.targets < P ? rows.bytes - P * W : rows.bytes;
  for (; at + kVectorBytes<Long> <= end; at += kVectorBytes<Long>) ExchangeVector<W, P>(Long(), rows, at);
  for (; at + kLaneBytes <= end; at += kLaneBytes) ExchangeVector<W, P>(Lane(), rows, at);
  if (at < end && end >= kLaneBytes) {
    ExchangeVector<W, P>(Lane(), rows, end - kLaneBytes);
    at = end;
  }
  ExchangeElements<W, P>(rows, at);
}

// For lines of the target that do not begin with vectors of words: through rows that do.
template <int W, int P>
void ExchangeByWayOfBuffer(const ExchangeRows& rows) {
  constexpr int64_t kPortion = 2048;
  alignas(kLine) char buffer[P * kPortion];
  for (int64_t at = 0; at < rows.bytes; at += kPortion) {
    const int64_t bytes = std::min(kPortion, rows.bytes - at);
    ExchangeThroughCaches<W, P>({rows.from + at, rows.from_stride, buffer, kPortion, rows.targets, bytes}, 0);
    for (int64_t t = 0; t < rows.targets; ++t)
      StreamCopy(rows.to + t * rows.to_stride + at, buffer + t * kPortion, bytes);
  }
}

template <int W, int P>
void ExchangeWords(const ExchangeRows& given, bool past_caches) {
  const ExchangeRows rows = given;  // so that no store can change it
  int64_t at = 0;
  if (past_caches) {
    if ((reinterpret_cast<uintptr_t>(rows.to) | rows.to_stride) % kLine != 0) return ExchangeByWayOfBuffer<W, P>(rows);
    const int64_t end = rows.targets < P ? rows.bytes - P * W : rows.bytes;
    for (; at + kLine <= end; at += kLine) StreamExchangedLine<W, P>(rows, at);
  }
  ExchangeThroughCaches<W, P>(rows, at);
}

#endif  // HWY_TARGET == HWY_SCALAR

template <int W>
ExchangeFunction FunctionOf(int64_t word_elements) {
  if (word_elements == 2) return &ExchangeWords<W, 2>;
  if constexpr (4 * W <= 16) {
    if (word_elements == 4) return &ExchangeWords<W, 4>;
  }
  return nullptr;
}

ExchangeFunction FunctionFor(int64_t element_bytes, int64_t word_elements) {
  return array::WithElementBytes(element_bytes, ExchangeFunction{}, [word_elements](auto bytes) -> ExchangeFunction {
    if constexpr (2 * bytes <= 16) return FunctionOf<bytes>(word_elements);
    return nullptr;
  });
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace kashi::relayout
HWY_AFTER_NAMESPACE();

namespace kashi::relayout {

KASHI_EXPORT(ExchangeFunction, ExchangeFunctionFor, (int64_t element_bytes, int64_t word_elements), FunctionFor,
             (element_bytes, word_elements))

}  // namespace kashi::relayout
