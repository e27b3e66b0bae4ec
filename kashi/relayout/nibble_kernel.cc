#include "kashi/relayout/nibble_kernel.h"
#include "kashi/relayout/highway_targets.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kashi/relayout/nibble_kernel.cc"
#include "hwy/foreach_target.h"
// clang-format off
#include "hwy/highway.h"  // after foreach_target.h
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kashi {
namespace HWY_NAMESPACE {

constexpr int64_t kShortGroup = 8;
constexpr int64_t kLongGroup = 32;  // at least

void SplitBytes(const uint8_t* from, int64_t group, uint8_t* to) {
  for (int64_t i = 0; i < group; i += 2) {
    to[i / 2] = static_cast<uint8_t>((from[i] & 15) | from[i + 1] << 4);
    to[(group + i) / 2] = static_cast<uint8_t>(from[i] >> 4 | (from[i + 1] & 0xf0));
  }
}

#if HWY_TARGET == HWY_SCALAR

void Split(const uint8_t* from, int64_t group, int64_t groups, uint8_t* to) {
  for (int64_t g = 0; g < groups; ++g) SplitBytes(from + g * group, group, to + g * group);
}

#else

namespace hn = hwy::HWY_NAMESPACE;

// Of each pair of bytes b0a0 b1a1: a1a0 b1b0, which is the two halves in the middle of 16 bits exchanged.
template <class D>
HWY_INLINE hn::Vec<D> SplitPairs(D d, hn::Vec<D> bytes) {
  const hn::Repartition<uint16_t, D> d16;
  const auto pairs = hn::BitCast(d16, bytes);
  const auto stay = hn::And(pairs, hn::Set(d16, 0xf00f));
  const auto down = hn::And(hn::ShiftRight<4>(pairs), hn::Set(d16, 0x00f0));
  const auto up = hn::And(hn::ShiftLeft<4>(pairs), hn::Set(d16, 0x0f00));
  return hn::BitCast(d, hn::Or(stay, hn::Or(down, up)));
}

// Groups of 8 bytes, which do not leave a lane.
void SplitShortGroups(const uint8_t* from, int64_t groups, uint8_t* to) {
  const hn::ScalableTag<uint8_t> d;
  alignas(16) static constexpr uint8_t kOrder[16] = {0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15};
  const auto order = hn::LoadDup128(d, kOrder);
  const int64_t bytes = groups * kShortGroup, step = static_cast<int64_t>(hn::Lanes(d));
  int64_t at = 0;
  for (; at + step <= bytes; at += step) {
    hn::StoreU(hn::TableLookupBytes(SplitPairs(d, hn::LoadU(d, from + at)), order), d, to + at);
  }
  for (; at < bytes; at += kShortGroup) SplitBytes(from + at, kShortGroup, to + at);
}

// 32 bytes of a group become 16 and 16. The last ones overlap those before.
void SplitLongGroup(const uint8_t* from, int64_t group, uint8_t* to) {
  const hn::Full128<uint8_t> d;
  const hn::Repartition<uint64_t, decltype(d)> d64;
  alignas(16) static constexpr uint8_t kOrder[16] = {0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15};
  const auto order = hn::Load(d, kOrder);
  const auto split = [&](const uint8_t* p) HWY_ATTR {
    return hn::BitCast(d64, hn::TableLookupBytes(SplitPairs(d, hn::LoadU(d, p)), order));
  };
  for (int64_t i = 0; i < group; i += kLongGroup) {
    const int64_t at = std::min(i, group - kLongGroup);
    const auto first = split(from + at), second = split(from + at + kLongGroup / 2);
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d64, first, second)), d, to + at / 2);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d64, first, second)), d, to + (group + at) / 2);
  }
}

void Split(const uint8_t* from, int64_t group, int64_t groups, uint8_t* to) {
  if (group == kShortGroup) return SplitShortGroups(from, groups, to);
  for (int64_t g = 0; g < groups; ++g) SplitLongGroup(from + g * group, group, to + g * group);
}

#endif

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace kashi
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kashi {

HWY_EXPORT(Split);

bool CanSplitNibbles(int64_t group) { return group == 8 || (group >= 32 && group % 2 == 0); }

void SplitNibbles(const char* from, int64_t group, int64_t groups, char* to) {
  HWY_DYNAMIC_DISPATCH(Split)
  (reinterpret_cast<const uint8_t*>(from), group, groups, reinterpret_cast<uint8_t*>(to));
}

}  // namespace kashi
#endif  // HWY_ONCE
