#include "kashi/relayout/simd/nibble_kernel.h"
#include "kashi/relayout/simd/highway_targets.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kashi/relayout/simd/nibble_kernel.cc"
#include "hwy/foreach_target.h"
// clang-format off
#include "hwy/highway.h"  // after foreach_target.h
#include "kashi/relayout/simd/highway_export-inl.h"
#include "kashi/relayout/simd/transpose_tiles-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kashi::relayout {
namespace HWY_NAMESPACE {

constexpr int64_t kShortGroup = 8;

void SplitBytes(const char* from, int64_t group, char* low, char* high) {
  for (int64_t i = 0; i < group; i += 2) {
    const auto first = static_cast<uint8_t>(from[i]), second = static_cast<uint8_t>(from[i + 1]);
    low[i / 2] = static_cast<char>((first & 15) | second << 4);
    high[i / 2] = static_cast<char>(first >> 4 | (second & 0xf0));
  }
}

#if HWY_TARGET == HWY_SCALAR

void SplitGroup(const char* from, int64_t group, char* low, char* high) { SplitBytes(from, group, low, high); }

void SplitShortGroups(const char* from, int64_t groups, char* to) {
  for (int64_t at = 0; at < groups * kShortGroup; at += kShortGroup) {
    SplitBytes(from + at, kShortGroup, to + at, to + at + kShortGroup / 2);
  }
}

#else

// From each pair of bytes b0a0 b1a1 makes a1a0 b1b0: it exchanges the two halves in the middle of 16 bits.
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
void SplitShortGroups(const char* from, int64_t groups, char* to) {
  const Long d;
  alignas(16) static constexpr uint8_t kOrder[16] = {0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15};
  const auto order = hn::LoadDup128(d, kOrder);
  const int64_t bytes = groups * kShortGroup, step = kVectorBytes<Long>;
  int64_t at = 0;
  for (; at + step <= bytes; at += step) {
    hn::StoreU(hn::TableLookupBytes(SplitPairs(d, hn::LoadU(d, AsBytes(from + at))), order), d, AsBytes(to + at));
  }
  for (; at < bytes; at += kShortGroup) SplitBytes(from + at, kShortGroup, to + at, to + at + kShortGroup / 2);
}

// Two vectors of a group become one of either half. The last ones overlap those before. Pre: the group has two vectors.
//
//   lanes 0 2 | 1 3  ->  each with its low halves before its high ones  ->  low 0 1 2 3, high 0 1 2 3
template <class D>
HWY_INLINE void SplitGroupBy(D d, const char* from, int64_t group, char* low, char* high) {
  const hn::Repartition<uint64_t, D> d64;
  alignas(16) static constexpr uint8_t kOrder[16] = {0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15};
  const auto order = hn::LoadDup128(d, kOrder);
  constexpr int64_t kStep = 2 * kVectorBytes<D>;
  for (int64_t i = 0; i < group; i += kStep) {
    const int64_t at = std::min(i, group - kStep);
    const auto even = hn::TableLookupBytes(SplitPairs(d, LoadLanesEvery(d, from + at, 2 * kLaneBytes)), order);
    const auto odd =
        hn::TableLookupBytes(SplitPairs(d, LoadLanesEvery(d, from + at + kLaneBytes, 2 * kLaneBytes)), order);
    const auto lower = hn::InterleaveLower(d64, hn::BitCast(d64, even), hn::BitCast(d64, odd));
    const auto upper = hn::InterleaveUpper(d64, hn::BitCast(d64, even), hn::BitCast(d64, odd));
    hn::StoreU(hn::BitCast(d, lower), d, AsBytes(low + at / 2));
    hn::StoreU(hn::BitCast(d, upper), d, AsBytes(high + at / 2));
  }
}

void SplitGroup(const char* from, int64_t group, char* low, char* high) {
  if (group >= 2 * kVectorBytes<Long>) return SplitGroupBy(Long(), from, group, low, high);
  SplitGroupBy(Lane(), from, group, low, high);
}

#endif

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace kashi::relayout
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kashi::relayout {

HWY_EXPORT(SplitShortGroups);

bool CanSplitNibbles(int64_t group) { return group == 8 || (group >= 32 && group % 2 == 0); }

void SplitNibbles(const char* from, int64_t group, int64_t groups, char* to) {
  if (group == 8) return HWY_DYNAMIC_DISPATCH(SplitShortGroups)(from, groups, to);
  for (int64_t g = 0; g < groups; ++g, from += group, to += group) SplitNibbleGroup(from, group, to, to + group / 2);
}

KASHI_EXPORT(void, SplitNibbleGroup, (const char* from, int64_t group, char* low, char* high), SplitGroup,
             (from, group, low, high))

}  // namespace kashi::relayout
#endif  // HWY_ONCE
