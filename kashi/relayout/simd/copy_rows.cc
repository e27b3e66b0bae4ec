#include "kashi/relayout/simd/copy_rows.h"
#include "kashi/relayout/simd/highway_targets.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kashi/relayout/simd/copy_rows.cc"
#include "hwy/foreach_target.h"
// clang-format off
#include "hwy/highway.h"  // after foreach_target.h
#include "hwy/cache_control.h"
#include "kashi/relayout/simd/highway_export-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kashi::relayout {
namespace HWY_NAMESPACE {

constexpr int64_t kLine = 64;

HWY_INLINE int64_t BytesToLine(const char* p) { return -reinterpret_cast<uintptr_t>(p) % kLine; }

// copy_row(from, to, bytes) of each.
template <class CopyRow>
HWY_INLINE void ForEachRow(const RowNest& given, CopyRow copy_row) {
  const RowNest nest = given;  // so that no store can change it
  const RowCopy& inner = nest.inner;
  for (int64_t i = 0; i < nest.count; ++i) {
    const char* const from = inner.from + i * nest.from_stride;
    char* const to = inner.to + i * nest.to_stride;
    for (int64_t r = 0; r < inner.rows; ++r) {
      copy_row(from + r * inner.from_stride, to + r * inner.to_stride, inner.bytes);
    }
  }
}

struct RowByMemcpy {
  HWY_INLINE void operator()(const char* from, char* to, int64_t bytes) const { std::memcpy(to, from, bytes); }
};

#if HWY_TARGET == HWY_SCALAR

HWY_INLINE void CopyEach(const RowNest& nest) { ForEachRow(nest, RowByMemcpy()); }

HWY_INLINE void StreamRow(const char* from, char* to, int64_t bytes) { std::memcpy(to, from, bytes); }

#else

namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE const uint8_t* Bytes(const char* p) { return reinterpret_cast<const uint8_t*>(p); }
HWY_INLINE uint8_t* Bytes(char* p) { return reinterpret_cast<uint8_t*>(p); }

// Pre: bytes is at least that of a vector. The last vector overlaps the one before.
template <class D>
struct RowByVectors {
  HWY_INLINE void operator()(const char* from, char* to, int64_t bytes) const {
    const D d;
    const int64_t step = static_cast<int64_t>(hn::Lanes(d));
    const auto last = hn::LoadU(d, Bytes(from + bytes - step));
    for (int64_t at = 0; at < bytes - step; at += step) hn::StoreU(hn::LoadU(d, Bytes(from + at)), d, Bytes(to + at));
    hn::StoreU(last, d, Bytes(to + bytes - step));
  }
};

// Pre: bytes is that of kVectors vectors, or a multiple.
template <class D, int kVectors>
struct RowByWholeVectors {
  HWY_INLINE void operator()(const char* from, char* to, int64_t bytes) const {
    const D d;
    constexpr int64_t kStep = static_cast<int64_t>(hn::MaxLanes(D()));
    for (int64_t at = 0; at < bytes; at += kVectors * kStep) {
      hn::Vec<D> v[kVectors];
      HWY_UNROLL(4)
      for (int i = 0; i < kVectors; ++i) v[i] = hn::LoadU(d, Bytes(from + at + i * kStep));
      HWY_UNROLL(4)
      for (int i = 0; i < kVectors; ++i) hn::StoreU(v[i], d, Bytes(to + at + i * kStep));
    }
  }
};

HWY_INLINE void CopyEach(const RowNest& nest) {
  using Longest = hn::ScalableTag<uint8_t>;
  using Lane = hn::Full128<uint8_t>;
  const int64_t bytes = nest.inner.bytes, vector = static_cast<int64_t>(hn::Lanes(Longest()));
  if (bytes >= vector) {
    if (bytes == 2 * vector) return ForEachRow(nest, RowByWholeVectors<Longest, 2>());
    if (bytes % (4 * vector) == 0) return ForEachRow(nest, RowByWholeVectors<Longest, 4>());
    return ForEachRow(nest, RowByVectors<Longest>());
  }
  if (bytes >= static_cast<int64_t>(hn::Lanes(Lane()))) return ForEachRow(nest, RowByVectors<Lane>());
  ForEachRow(nest, RowByMemcpy());
}

// Stores all of a line at once, so that it leaves the processor as one.
HWY_INLINE void StreamLine(const char* from, char* to) {
  const hn::CappedTag<uint8_t, kLine> d;
  HWY_UNROLL(4)
  for (size_t i = 0; i < kLine; i += hn::Lanes(d)) hn::Stream(hn::LoadU(d, Bytes(from + i)), d, Bytes(to + i));
}

HWY_INLINE void StreamRow(const char* from, char* to, int64_t bytes) {
  const int64_t head = std::min<int64_t>(bytes, BytesToLine(to));
  if (head > 0) std::memcpy(to, from, head);
  int64_t at = head;
  for (; at + kLine <= bytes; at += kLine) StreamLine(from + at, to + at);
  if (at < bytes) std::memcpy(to + at, from + at, bytes - at);
}

#endif

struct StreamedRow {
  HWY_INLINE void operator()(const char* from, char* to, int64_t bytes) const { StreamRow(from, to, bytes); }
};

// Copies of one round, which the compiler knows, and of any number.
void CopyOne(const RowCopy& copy) { CopyEach({copy, 1, 0, 0}); }
void CopyMany(const RowNest& nest) { CopyEach(nest); }
void StreamOne(const RowCopy& copy) { ForEachRow({copy, 1, 0, 0}, StreamedRow()); }
void StreamMany(const RowNest& nest) { ForEachRow(nest, StreamedRow()); }

void StreamEachLines(const RowCopy& given, bool skips_head, int64_t beyond) {
  const RowCopy copy = given;
  for (int64_t r = 0; r < copy.rows; ++r) {
    const char* const from = copy.from + r * copy.from_stride;
    char* const to = copy.to + r * copy.to_stride;
    const int64_t begin = skips_head ? BytesToLine(to) : 0;
    const int64_t end = copy.bytes + std::min(BytesToLine(to + copy.bytes), beyond);
    if (begin < end) StreamRow(from + begin, to + begin, end - begin);
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace kashi::relayout
HWY_AFTER_NAMESPACE();

namespace kashi::relayout {

KASHI_EXPORT(void, CopyRows, (const RowCopy& copy), CopyOne, (copy))
KASHI_EXPORT(void, CopyRowNest, (const RowNest& nest), CopyMany, (nest))
KASHI_EXPORT(void, StreamRows, (const RowCopy& copy), StreamOne, (copy))
KASHI_EXPORT(void, StreamRowNest, (const RowNest& nest), StreamMany, (nest))
KASHI_EXPORT(void, StreamLinesOfRows, (const RowCopy& copy, bool skips_head, int64_t beyond), StreamEachLines,
             (copy, skips_head, beyond))

#if HWY_ONCE
void StreamFence() { hwy::FlushStream(); }
#endif

}  // namespace kashi::relayout
