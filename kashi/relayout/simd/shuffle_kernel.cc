#include "kashi/relayout/simd/shuffle_kernel.h"
#include "kashi/relayout/simd/highway_targets.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kashi/relayout/simd/shuffle_kernel.cc"
#include "hwy/foreach_target.h"
// clang-format off
#include "hwy/highway.h"  // after foreach_target.h
#include "kashi/relayout/simd/highway_export-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kashi::relayout {
namespace HWY_NAMESPACE {

constexpr int64_t kLaneBytes = 16;

// The last bytes, less than a vector.
void ShuffleRest(const uint8_t* order, int64_t element, char* data, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += element) {
    char before[kLaneBytes];
    std::memcpy(before, data + at, element);
    for (int64_t i = 0; i < element; ++i) data[at + i] = before[order[i]];
  }
}

void Shuffle(const uint8_t* order, int64_t element, char* data, int64_t bytes) {
  int64_t at = 0;
#if HWY_TARGET != HWY_SCALAR
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<uint8_t> d;
  alignas(kLaneBytes) uint8_t table[kLaneBytes];  // the order of as many elements as a lane has
  for (int64_t i = 0; i < kLaneBytes; ++i) table[i] = static_cast<uint8_t>(i / element * element + order[i % element]);
  const auto lanes = hn::LoadDup128(d, table);
  const int64_t step = static_cast<int64_t>(hn::Lanes(d));
  for (; at + step <= bytes; at += step) {
    uint8_t* const p = reinterpret_cast<uint8_t*>(data + at);
    hn::StoreU(hn::TableLookupBytes(hn::LoadU(d, p), lanes), d, p);
  }
#endif
  ShuffleRest(order, element, data + at, bytes - at);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace kashi::relayout
HWY_AFTER_NAMESPACE();

namespace kashi::relayout {

KASHI_EXPORT(void, ShuffleElements, (absl::Span<const uint8_t> order, char* data, int64_t bytes), Shuffle,
             (order.data(), static_cast<int64_t>(order.size()), data, bytes))

}  // namespace kashi::relayout
