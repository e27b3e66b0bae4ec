#include "kashi/relayout/simd/group_kernel.h"
#include "kashi/relayout/simd/highway_targets.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "kashi/base/math.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kashi/relayout/simd/group_kernel.cc"
#include "hwy/foreach_target.h"
// clang-format off
#include "hwy/highway.h"  // after foreach_target.h
#include "kashi/relayout/simd/highway_export-inl.h"
#include "kashi/relayout/simd/transpose_tiles-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kashi::relayout {
namespace HWY_NAMESPACE {

constexpr int64_t kLane = 16;

// The 16 bytes at `from`, in the order of the table, which counts from byte `before` of them; fill where it says 128.
HWY_INLINE void PutLane(const char* from, const uint8_t* table, int64_t before, const uint8_t* fill, char* to) {
#if HWY_TARGET == HWY_SCALAR
  char lane[kLane];
  for (int64_t i = 0; i < kLane; ++i) {
    const int64_t at = table[i] + before;
    lane[i] = at < kLane ? from[at] : static_cast<char>(fill[i]);
  }
  std::memcpy(to, lane, kLane);
#else
  const hn::Full128<uint8_t> d;
  const auto bytes = hn::LoadU(d, reinterpret_cast<const uint8_t*>(from));
  const auto order = hn::Add(hn::LoadU(d, table), hn::Set(d, static_cast<uint8_t>(before)));
  const auto lane = hn::Or(hn::TableLookupBytesOr0(bytes, order), hn::LoadU(d, fill));
  hn::StoreU(lane, d, reinterpret_cast<uint8_t*>(to));
#endif
}

#if HWY_TARGET != HWY_SCALAR
// The tables that all lanes have in common, if groups fill them.
struct SameLanes {
  explicit SameLanes(const GroupLanes::Lane& lane, int64_t period)
      : expand(hn::LoadDup128(Long(), lane.expand)),
        fill(hn::LoadDup128(Long(), lane.fill)),
        pack(hn::LoadDup128(Long(), lane.pack)),
        period(period) {
    const int64_t before = kLane - period;
    alignas(64) uint8_t table[kVectorBytes<Long>];
    for (int64_t i = 0; i < kVectorBytes<Long>; ++i) {
      const bool is_last = i / kLane == kLanes - 1;
      last_offsets[i / kLane] = i / kLane * period - (is_last ? before : 0);
      table[i] = static_cast<uint8_t>(lane.expand[i % kLane] + (is_last ? before : 0));
    }
    last_expand = hn::Load(Long(), table);
  }

  // Whole vectors of a row; returns the padded bytes that are done. The last lane of the last vector is read from bytes
  // before it, which end with the row. Pre: two lanes have 16 bytes of groups, so that no other lane is read beyond the
  // row.
  HWY_INLINE int64_t Expand(const char* row, char* to, int64_t to_bytes) const {
    const Long d;
    const int64_t last = RoundDownTo<int64_t>(to_bytes, kVectorBytes<Long>) - kVectorBytes<Long>;
    if (last / kLane * period + last_offsets[kLanes - 1] < 0) return 0;
    const char* from = row;
    for (int64_t at = 0; at < last; at += kVectorBytes<Long>, from += kLanes * period) {
      const auto lanes = hn::TableLookupBytesOr0(LoadLanesEvery(d, from, period), expand);
      hn::StoreU(hn::Or(lanes, fill), d, AsBytes(to + at));
    }
    const auto lanes = hn::TableLookupBytesOr0(LoadLanes<1>(d, from, last_offsets), last_expand);
    hn::StoreU(hn::Or(lanes, fill), d, AsBytes(to + last));
    return last + kVectorBytes<Long>;
  }

  // Whole vectors; likewise.
  HWY_INLINE int64_t Pack(char* data, int64_t bytes) const {
    const Long d;
    const hn::Repartition<uint32_t, Long> words;
    alignas(64) int32_t order[kVectorBytes<Long> / 4] = {};
    const int64_t lane_words = period / 4;
    for (int64_t i = 0; i < kLanes * lane_words; ++i)
      order[i] = static_cast<int32_t>(i / lane_words * 4 + i % lane_words);
    const auto indices = hn::SetTableIndices(words, order);
    const bool has_words = period % 4 == 0;
    int64_t at = 0;
    for (char* to = data; at + kVectorBytes<Long> <= bytes; at += kVectorBytes<Long>, to += kLanes * period) {
      const hn::Vec<Long> v[] = {hn::TableLookupBytesOr0(hn::LoadU(d, AsBytes(data + at)), pack)};
      if (has_words) {
        hn::StoreU(hn::BitCast(d, hn::TableLookupLanes(hn::BitCast(words, v[0]), indices)), d, AsBytes(to));
      } else {
        StoreAscendingFromLane<0>(d, v, to, period);
      }
    }
    return at;
  }

  static constexpr int64_t kLanes = kVectorBytes<Long> / kLane;
  hn::Vec<Long> expand, fill, pack, last_expand;
  int64_t last_offsets[kLanes];
  int64_t period;
};
#endif

// The rest of a row of at least 16 bytes. A lane whose source would end beyond the row is read from bytes before it.
HWY_INLINE void ExpandRest(absl::Span<const GroupLanes::Lane> lanes, int64_t period, const char* from, int64_t bytes,
                           char* to, int64_t at, int64_t to_bytes) {
  const int64_t last = bytes - kLane;
  size_t k = 0;
  for (int64_t base = at / kLane * period; at < to_bytes; at += kLane) {
    const int64_t source = base + lanes[k].packed_at, before = std::max<int64_t>(source - last, 0);
    PutLane(from + source - before, lanes[k].expand, before, lanes[k].fill, to + at);
    if (++k == lanes.size()) {
      k = 0;
      base += period;
    }
  }
}

void ExpandRows(absl::Span<const GroupLanes::Lane> lanes, int64_t period, const char* from, const int64_t* from_offsets,
                int64_t rows, int64_t bytes, char* to, int64_t to_pitch, int64_t to_bytes) {
#if HWY_TARGET != HWY_SCALAR
  const SameLanes same(lanes[0], period);
  const bool is_same = lanes.size() == 1 && period >= kLane / 2;
#endif
  for (int64_t r = 0; r < rows; ++r, to += to_pitch) {
    const char* row = from + from_offsets[r];
    char buffer[kLane];
    if (bytes < kLane) {
      std::memcpy(buffer, row, bytes);
      row = buffer;
    }
    int64_t at = 0;
#if HWY_TARGET != HWY_SCALAR
    if (is_same && to_bytes >= kVectorBytes<Long>) at = same.Expand(row, to, to_bytes);
#endif
    ExpandRest(lanes, period, row, std::max(bytes, kLane), to, at, to_bytes);
  }
}

// The extra bytes that a lane writes are written again by the next; nothing is written that has not been read.
void PackLanes(absl::Span<const GroupLanes::Lane> lanes, int64_t period, char* data, int64_t bytes) {
  alignas(kLane) static constexpr uint8_t kNothing[kLane] = {};
  int64_t at = 0;
#if HWY_TARGET != HWY_SCALAR
  if (lanes.size() == 1) at = SameLanes(lanes[0], period).Pack(data, bytes);
#endif
  size_t k = 0;
  for (int64_t base = at / kLane * period; at < bytes; at += kLane) {
    PutLane(data + at, lanes[k].pack, 0, kNothing, data + base + lanes[k].packed_at);
    if (++k == lanes.size()) {
      k = 0;
      base += period;
    }
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace kashi::relayout
HWY_AFTER_NAMESPACE();

namespace kashi::relayout {

#if HWY_ONCE

GroupLanes::GroupLanes(const Groups& groups, absl::Span<const char> fill) : groups_(groups) {
  constexpr int64_t kLane = 16;
  const int64_t bytes = std::lcm(groups.padded, kLane);
  period_ = groups.InMemory(bytes);
  for (int64_t at = 0; at < bytes; at += kLane) {
    Lane lane = {at / groups.padded * groups.packed + std::min(at % groups.padded, groups.packed), {}, {}, {}};
    std::fill_n(lane.pack, kLane, 128);
    int64_t packed = 0;
    for (int64_t i = 0; i < kLane; ++i) {
      const int64_t place = (at + i) % groups.padded;
      const bool is_fill = place >= groups.packed;
      lane.expand[i] = static_cast<uint8_t>(is_fill ? 128 : packed);
      lane.fill[i] = is_fill ? static_cast<uint8_t>(fill[place - groups.packed]) : 0;
      if (!is_fill) lane.pack[packed++] = static_cast<uint8_t>(i);
    }
    lanes_.push_back(lane);
  }
}

#endif  // HWY_ONCE

KASHI_EXPORT(void, GroupLanes::Expand,
             (const char* from, const int64_t* from_offsets, int64_t rows, int64_t groups, char* to, int64_t to_pitch)
                 const,
             ExpandRows,
             (lanes_, period_, from, from_offsets, rows, groups* groups_.packed, to, to_pitch, groups* groups_.padded))
KASHI_EXPORT(void, GroupLanes::Pack, (char* data, int64_t groups) const, PackLanes,
             (lanes_, period_, data, groups* groups_.padded))

}  // namespace kashi::relayout
