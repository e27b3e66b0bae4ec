#include "kashi/relayout/copy_rows.h"
#include "kashi/relayout/highway_targets.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kashi/relayout/copy_rows.cc"
#include "hwy/foreach_target.h"
// clang-format off
#include "hwy/highway.h"  // after foreach_target.h
#include "hwy/cache_control.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kashi {
namespace HWY_NAMESPACE {

constexpr int64_t kLine = 64;

HWY_INLINE int64_t BytesToLine(const char* p) { return -reinterpret_cast<uintptr_t>(p) % kLine; }

#if HWY_TARGET == HWY_SCALAR

void CopyEach(const RowCopy& copy) {
  for (int64_t r = 0; r < copy.rows; ++r) {
    std::memcpy(copy.to + r * copy.to_stride, copy.from + r * copy.from_stride, copy.bytes);
  }
}

HWY_INLINE void StreamRow(const char* from, char* to, int64_t bytes) { std::memcpy(to, from, bytes); }

#else

namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE const uint8_t* Bytes(const char* p) { return reinterpret_cast<const uint8_t*>(p); }
HWY_INLINE uint8_t* Bytes(char* p) { return reinterpret_cast<uint8_t*>(p); }

// Pre: bytes is at least that of a vector. The last vector overlaps those before.
template <class D>
HWY_INLINE void CopyRow(D d, const char* from, char* to, int64_t bytes) {
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  const auto last = hn::LoadU(d, Bytes(from + bytes - step));
  for (int64_t at = 0; at < bytes - step; at += step) hn::StoreU(hn::LoadU(d, Bytes(from + at)), d, Bytes(to + at));
  hn::StoreU(last, d, Bytes(to + bytes - step));
}

template <class D>
HWY_INLINE void CopyEachBy(D d, const RowCopy& given) {
  const RowCopy copy = given;  // so that no store can change it
  for (int64_t r = 0; r < copy.rows; ++r) {
    CopyRow(d, copy.from + r * copy.from_stride, copy.to + r * copy.to_stride, copy.bytes);
  }
}

void CopyEach(const RowCopy& copy) {
  const hn::ScalableTag<uint8_t> longest;
  const hn::Full128<uint8_t> lane;
  if (copy.bytes >= static_cast<int64_t>(hn::Lanes(longest))) return CopyEachBy(longest, copy);
  if (copy.bytes >= static_cast<int64_t>(hn::Lanes(lane))) return CopyEachBy(lane, copy);
  for (int64_t r = 0; r < copy.rows; ++r) {
    std::memcpy(copy.to + r * copy.to_stride, copy.from + r * copy.from_stride, copy.bytes);
  }
}

// All of a line at once, so that it leaves the processor as one.
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

void StreamEach(const RowCopy& given) {
  const RowCopy copy = given;
  for (int64_t r = 0; r < copy.rows; ++r) {
    StreamRow(copy.from + r * copy.from_stride, copy.to + r * copy.to_stride, copy.bytes);
  }
}

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
}  // namespace kashi
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kashi {

HWY_EXPORT(CopyEach);
HWY_EXPORT(StreamEach);
HWY_EXPORT(StreamEachLines);

void CopyRows(const RowCopy& copy) { HWY_DYNAMIC_DISPATCH(CopyEach)(copy); }
void StreamRows(const RowCopy& copy) { HWY_DYNAMIC_DISPATCH(StreamEach)(copy); }
void StreamLinesOfRows(const RowCopy& copy, bool skips_head, int64_t beyond) {
  HWY_DYNAMIC_DISPATCH(StreamEachLines)(copy, skips_head, beyond);
}
void StreamFence() { hwy::FlushStream(); }

}  // namespace kashi
#endif  // HWY_ONCE
