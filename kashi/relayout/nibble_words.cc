#include "kashi/relayout/nibble_words.h"
#include "kashi/relayout/highway_targets.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kashi/relayout/nibble_words.cc"
#include "hwy/foreach_target.h"
// clang-format off
#include "hwy/highway.h"  // after foreach_target.h
#include "kashi/relayout/transpose_tiles-inl.h"
// clang-format on

// Word by word. Lines that are compiled once.
#ifndef KASHI_RELAYOUT_NIBBLE_WORDS_ONCE_
#define KASHI_RELAYOUT_NIBBLE_WORDS_ONCE_

namespace kashi {
namespace {

// Rows of either kind: an element's bits in its slot.
struct FromRows {
  const char* from;
  const int64_t* bits;
  int64_t slot_bits;
};

void InterleaveSlowly(const FromRows& rows, int64_t begin, int64_t end, char* to) {
  for (int64_t c = begin; c < end; ++c) {
    uint32_t word = 0;
    for (int64_t r = 0; r < kNibbleRows; ++r) {
      const int64_t bit = rows.bits[r] + c * rows.slot_bits;
      word |= (static_cast<uint8_t>(rows.from[bit >> 3]) >> (bit & 7) & 15u) << (4 * r);
    }
    std::memcpy(to + c * kNibbleWordBytes, &word, kNibbleWordBytes);
  }
}

template <int kSlotBits>
void DeinterleaveSlowly(const char* from, int64_t begin, int64_t end, char* const (&to)[kNibbleRows]) {
  for (int64_t c = begin; c < end; ++c) {
    uint32_t word;
    std::memcpy(&word, from + c * kNibbleWordBytes, kNibbleWordBytes);
    for (int64_t r = 0; r < kNibbleRows; ++r) {
      const auto nibble = static_cast<uint8_t>(word >> (4 * r) & 15);
      char& byte = to[r][c * kSlotBits / 8];
      if (kSlotBits == 8) {
        byte = static_cast<char>(nibble);
      } else {
        byte = static_cast<char>(c % 2 == 0 ? (byte & 0xf0) | nibble : (byte & 0x0f) | nibble << 4);
      }
    }
  }
}

}  // namespace
}  // namespace kashi

#endif  // KASHI_RELAYOUT_NIBBLE_WORDS_ONCE_

HWY_BEFORE_NAMESPACE();
namespace kashi {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

void InterleavePackedRows(const char* from, const int64_t (&bits)[kNibbleRows], int64_t columns, char* to) {
  InterleaveSlowly({from, bits, 4}, 0, columns, to);
}
void InterleaveByteRows(const char* from, const int64_t (&bits)[kNibbleRows], int64_t columns, char* to) {
  InterleaveSlowly({from, bits, 8}, 0, columns, to);
}
void DeinterleavePackedRows(const char* from, int64_t columns, char* const (&to)[kNibbleRows]) {
  DeinterleaveSlowly<4>(from, 0, columns, to);
}
void DeinterleaveByteRows(const char* from, int64_t columns, char* const (&to)[kNibbleRows]) {
  DeinterleaveSlowly<8>(from, 0, columns, to);
}

#else

constexpr int kPairs = kNibbleRows / 2;

// Columns that one step takes: a vector's bytes of each row, of two elements or of one.
template <class D>
constexpr int64_t kPackedColumns = 2 * kVectorBytes<D>;
template <class D>
constexpr int64_t kByteColumns = kVectorBytes<D>;

// Each byte's halves are where 16 bits would have them, but for those that have crossed from the byte beside: masks follow.
template <class D>
HWY_INLINE hn::Vec<D> Down4(D d, hn::Vec<D> v) {
  return hn::BitCast(d, hn::ShiftRight<4>(hn::BitCast(hn::Repartition<uint16_t, D>(), v)));
}
template <class D>
HWY_INLINE hn::Vec<D> Up4(D d, hn::Vec<D> v) {
  return hn::BitCast(d, hn::ShiftLeft<4>(hn::BitCast(hn::Repartition<uint16_t, D>(), v)));
}
template <class D>
HWY_INLINE hn::Vec<D> LowOf(D d, hn::Vec<D> v) {
  return hn::And(v, hn::Set(d, 0x0f));
}

// The low half of each byte of `low`, the high half of each of `high`.
template <class D>
HWY_INLINE hn::Vec<D> Blend(D d, hn::Vec<D> low, hn::Vec<D> high) {
  const auto mask = hn::Set(d, 0x0f);
  return hn::Or(hn::And(mask, low), hn::AndNot(mask, high));
}

// The high halves of a's bytes and the low halves of b's change places: of two rows, each with two columns a byte, one of the
// even columns and one of the odd columns, each with two rows a byte; and back.
template <class D>
HWY_INLINE void SwapHalves(D d, hn::Vec<D>* a, hn::Vec<D>* b) {
  const auto differ = LowOf(d, hn::Xor(Down4(d, *a), *b));
  *b = hn::Xor(*b, differ);
  *a = hn::Xor(*a, Up4(d, differ));
}

// From rows a and b the even columns, of both rows in each byte, and the odd ones. A row begins with the byte at its pointer,
// or within it (kA, kB).
template <bool kA, bool kB, class D>
HWY_INLINE void PairColumns(D d, const char* a, const char* b, hn::Vec<D>* even, hn::Vec<D>* odd) {
  const auto first = hn::LoadU(d, AsBytes(a)), second = hn::LoadU(d, AsBytes(b));
  if constexpr (!kA && !kB) {
    *even = first;
    *odd = second;
    SwapHalves(d, even, odd);
  } else {
    *even = Blend(d, kA ? Down4(d, first) : first, kB ? second : Up4(d, second));
    *odd = Blend(d, kA ? hn::LoadU(d, AsBytes(a + 1)) : Down4(d, first),
                 kB ? Up4(d, hn::LoadU(d, AsBytes(b + 1))) : second);
  }
}

// One step from packed rows: words of kPackedColumns columns.
template <bool kA, bool kB, class D>
HWY_INLINE void InterleavePackedStep(D d, const char* const* rows, int64_t at, char* to) {
  hn::Vec<D> v[kNibbleRows];
  HWY_UNROLL(4)
  for (int p = 0; p < kPairs; ++p) {
    PairColumns<kA, kB>(d, rows[2 * p] + at, rows[2 * p + 1] + at, &v[p], &v[p + kPairs]);
  }
  Interleave<1>(v);
  StoreAscendingFromLane<0>(d, v, to, kLaneBytes);
}

// The last step overlaps those before; one odd column is left. Pre: columns >= kPackedColumns.
template <bool kA, bool kB, class D>
HWY_INLINE void InterleavePackedBy(D d, const FromRows& from, int64_t columns, char* to) {
  const char* rows[kNibbleRows];
  for (int r = 0; r < kNibbleRows; ++r) rows[r] = from.from + (from.bits[r] >> 3);
  const int64_t even = columns / 2 * 2;
  for (int64_t c = 0; c < even; c += kPackedColumns<D>) {
    const int64_t at = std::min(c, even - kPackedColumns<D>);
    InterleavePackedStep<kA, kB>(d, rows, at / 2, to + at * kNibbleWordBytes);
  }
  InterleaveSlowly(from, even, columns, to);
}

template <class D>
void InterleavePackedRowsBy(D d, const FromRows& from, int64_t columns, char* to) {
  const bool a = from.bits[0] % 8 != 0, b = from.bits[1] % 8 != 0;
  bool is_alike = true;
  for (int r = 2; r < kNibbleRows; ++r) is_alike = is_alike && (from.bits[r] - from.bits[r % 2]) % 8 == 0;
  if (columns < kPackedColumns<D> || !is_alike) return InterleaveSlowly(from, 0, columns, to);
  if (a) return b ? InterleavePackedBy<true, true>(d, from, columns, to) : InterleavePackedBy<true, false>(d, from, columns, to);
  b ? InterleavePackedBy<false, true>(d, from, columns, to) : InterleavePackedBy<false, false>(d, from, columns, to);
}

// One step from rows of bytes.
template <class D>
HWY_INLINE void InterleaveByteStep(D d, const char* const* rows, int64_t at, char* to) {
  hn::Vec<D> v[kPairs];
  HWY_UNROLL(4)
  for (int p = 0; p < kPairs; ++p) {
    v[p] = Blend(d, hn::LoadU(d, AsBytes(rows[2 * p] + at)), Up4(d, hn::LoadU(d, AsBytes(rows[2 * p + 1] + at))));
  }
  Interleave<1>(v);
  StoreAscendingFromLane<0>(d, v, to, kLaneBytes);
}

template <class D>
void InterleaveByteRowsBy(D d, const FromRows& from, int64_t columns, char* to) {
  if (columns < kByteColumns<D>) return InterleaveSlowly(from, 0, columns, to);
  const char* rows[kNibbleRows];
  for (int r = 0; r < kNibbleRows; ++r) rows[r] = from.from + (from.bits[r] >> 3);
  for (int64_t c = 0; c < columns; c += kByteColumns<D>) {
    const int64_t at = std::min(c, columns - kByteColumns<D>);
    InterleaveByteStep(d, rows, at, to + at * kNibbleWordBytes);
  }
}

// One step to packed rows. Of each lane, 4 words, the even columns come first; then units of two columns are transposed.
template <class D>
HWY_INLINE void DeinterleavePackedStep(D d, const char* from, int64_t at, char* const* to) {
  alignas(16) static constexpr uint8_t kOrder[16] = {0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15};
  const auto order = hn::LoadDup128(d, kOrder);
  hn::Vec<D> v[kNibbleRows];
  HWY_UNROLL(8)
  for (int i = 0; i < kNibbleRows; ++i) {
    v[i] = hn::TableLookupBytes(LoadLanesEvery(d, from + i * kLaneBytes, kNibbleRows * kLaneBytes), order);
  }
  Interleave<2>(v);
  HWY_UNROLL(4)
  for (int p = 0; p < kPairs; ++p) {
    SwapHalves(d, &v[p], &v[p + kPairs]);
    hn::StoreU(v[p], d, AsBytes(to[2 * p] + at));
    hn::StoreU(v[p + kPairs], d, AsBytes(to[2 * p + 1] + at));
  }
}

template <class D>
void DeinterleavePackedRowsBy(D d, const char* from, int64_t columns, char* const (&given)[kNibbleRows]) {
  if (columns < kPackedColumns<D>) return DeinterleaveSlowly<4>(from, 0, columns, given);
  char* to[kNibbleRows];  // a copy, so that no store can change it
  std::copy(given, given + kNibbleRows, to);
  const int64_t even = columns / 2 * 2;
  for (int64_t c = 0; c < even; c += kPackedColumns<D>) {
    const int64_t at = std::min(c, even - kPackedColumns<D>);
    DeinterleavePackedStep(d, from + at * kNibbleWordBytes, at / 2, to);
  }
  DeinterleaveSlowly<4>(from, even, columns, given);
}

// One step to rows of bytes: units of 4 columns are transposed.
template <class D>
HWY_INLINE void DeinterleaveByteStep(D d, const char* from, int64_t at, char* const* to) {
  alignas(16) static constexpr uint8_t kOrder[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  const auto order = hn::LoadDup128(d, kOrder);
  hn::Vec<D> v[kPairs];
  HWY_UNROLL(4)
  for (int i = 0; i < kPairs; ++i) {
    v[i] = hn::TableLookupBytes(LoadLanesEvery(d, from + i * kLaneBytes, kPairs * kLaneBytes), order);
  }
  Interleave<4>(v);
  HWY_UNROLL(4)
  for (int p = 0; p < kPairs; ++p) {
    hn::StoreU(LowOf(d, v[p]), d, AsBytes(to[2 * p] + at));
    hn::StoreU(LowOf(d, Down4(d, v[p])), d, AsBytes(to[2 * p + 1] + at));
  }
}

template <class D>
void DeinterleaveByteRowsBy(D d, const char* from, int64_t columns, char* const (&given)[kNibbleRows]) {
  if (columns < kByteColumns<D>) return DeinterleaveSlowly<8>(from, 0, columns, given);
  char* to[kNibbleRows];
  std::copy(given, given + kNibbleRows, to);
  for (int64_t c = 0; c < columns; c += kByteColumns<D>) {
    const int64_t at = std::min(c, columns - kByteColumns<D>);
    DeinterleaveByteStep(d, from + at * kNibbleWordBytes, at, to);
  }
}

void InterleavePackedRows(const char* from, const int64_t (&bits)[kNibbleRows], int64_t columns, char* to) {
  if (columns >= kPackedColumns<Long>) return InterleavePackedRowsBy(Long(), {from, bits, 4}, columns, to);
  InterleavePackedRowsBy(Lane(), {from, bits, 4}, columns, to);
}
void InterleaveByteRows(const char* from, const int64_t (&bits)[kNibbleRows], int64_t columns, char* to) {
  if (columns >= kByteColumns<Long>) return InterleaveByteRowsBy(Long(), {from, bits, 8}, columns, to);
  InterleaveByteRowsBy(Lane(), {from, bits, 8}, columns, to);
}
void DeinterleavePackedRows(const char* from, int64_t columns, char* const (&to)[kNibbleRows]) {
  if (columns >= kPackedColumns<Long>) return DeinterleavePackedRowsBy(Long(), from, columns, to);
  DeinterleavePackedRowsBy(Lane(), from, columns, to);
}
void DeinterleaveByteRows(const char* from, int64_t columns, char* const (&to)[kNibbleRows]) {
  if (columns >= kByteColumns<Long>) return DeinterleaveByteRowsBy(Long(), from, columns, to);
  DeinterleaveByteRowsBy(Lane(), from, columns, to);
}

#endif

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace kashi
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kashi {

HWY_EXPORT(InterleavePackedRows);
HWY_EXPORT(InterleaveByteRows);
HWY_EXPORT(DeinterleavePackedRows);
HWY_EXPORT(DeinterleaveByteRows);

void InterleaveNibbles(const char* from, const int64_t (&bits)[kNibbleRows], int64_t columns, char* to) {
  HWY_DYNAMIC_DISPATCH(InterleavePackedRows)(from, bits, columns, to);
}
void InterleaveNibbleBytes(const char* from, const int64_t (&bits)[kNibbleRows], int64_t columns, char* to) {
  HWY_DYNAMIC_DISPATCH(InterleaveByteRows)(from, bits, columns, to);
}
void DeinterleaveNibbles(const char* from, int64_t columns, char* const (&to)[kNibbleRows]) {
  HWY_DYNAMIC_DISPATCH(DeinterleavePackedRows)(from, columns, to);
}
void DeinterleaveNibbleBytes(const char* from, int64_t columns, char* const (&to)[kNibbleRows]) {
  HWY_DYNAMIC_DISPATCH(DeinterleaveByteRows)(from, columns, to);
}

}  // namespace kashi
#endif  // HWY_ONCE
