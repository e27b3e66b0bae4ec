#include "kashi/relayout/simd/nibble_words.h"
#include "kashi/relayout/simd/highway_targets.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kashi/relayout/simd/nibble_words.cc"
#include "hwy/foreach_target.h"
// clang-format off
#include "hwy/highway.h"  // after foreach_target.h
#include "kashi/relayout/simd/highway_export-inl.h"
#include "kashi/relayout/simd/transpose_tiles-inl.h"
// clang-format on

// Word by word. Lines that are compiled once.
#ifndef KASHI_RELAYOUT_NIBBLE_WORDS_ONCE_
#define KASHI_RELAYOUT_NIBBLE_WORDS_ONCE_

namespace kashi::relayout {
namespace {

// `count` columns from column `first` of the rows on.
template <int kSlotBits>
void InterleaveSlowly(const char* from, const int64_t* bits, int64_t first, int64_t count, char* to) {
  for (int64_t c = 0; c < count; ++c) {
    uint32_t word = 0;
    for (int64_t r = 0; r < kNibbleRows; ++r) {
      const int64_t bit = bits[r] + (first + c) * kSlotBits;
      word |= (static_cast<uint8_t>(from[bit >> 3]) >> (bit & 7) & 15u) << (4 * r);
    }
    std::memcpy(to + c * kNibbleWordBytes, &word, kNibbleWordBytes);
  }
}

// Writes column `first` of the rows and those behind it, element by element.
template <int kSlotBits>
void DeinterleaveSlowly(const char* from, int64_t first, int64_t count, char* const* to) {
  for (int64_t c = 0; c < count; ++c) {
    uint32_t word;
    std::memcpy(&word, from + c * kNibbleWordBytes, kNibbleWordBytes);
    for (int64_t r = 0; r < kNibbleRows; ++r) {
      const auto nibble = static_cast<uint8_t>(word >> (4 * r) & 15);
      char& byte = to[r][(first + c) * kSlotBits / 8];
      if (kSlotBits == 8) {
        byte = static_cast<char>(nibble);
      } else {
        byte = static_cast<char>((first + c) % 2 == 0 ? (byte & 0xf0) | nibble : (byte & 0x0f) | nibble << 4);
      }
    }
  }
}

// Whether all even rows begin at the same place in their bytes, and all odd rows do.
bool BeginAlike(const int64_t* bits) {
  bool is_alike = true;
  for (int r = 2; r < kNibbleRows; ++r) is_alike = is_alike && (bits[r] - bits[r % 2]) % 8 == 0;
  return is_alike;
}

}  // namespace
}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_NIBBLE_WORDS_ONCE_

HWY_BEFORE_NAMESPACE();
namespace kashi::relayout {
namespace HWY_NAMESPACE {

// Calls run(first, count, bits of the first word) for each run of words.
template <class Run>
HWY_INLINE void ForEachRun(const NibbleWordRuns& words, Run run) {
  for (int64_t c = 0; c < words.columns; c += words.run) run(c, std::min(words.run, words.columns - c), words.bits[c]);
}

#if HWY_TARGET == HWY_SCALAR

template <int kSlotBits>
void InterleaveRows(const char* from, const int64_t* bits, const NibbleWordRuns& words, char* to) {
  ForEachRun(words, [&](int64_t first, int64_t count, int64_t bit) {
    InterleaveSlowly<kSlotBits>(from, bits, first, count, to + (bit >> 3));
  });
}

template <int kSlotBits>
void DeinterleaveWords(const char* from, const NibbleWordRuns& words, char* const* to) {
  ForEachRun(words, [&](int64_t first, int64_t count, int64_t bit) {
    DeinterleaveSlowly<kSlotBits>(from + (bit >> 3), first, count, to);
  });
}

#else

constexpr int kPairs = kNibbleRows / 2;

// The columns of one step: those of a vector's bytes of each row.
template <int kSlotBits, class D>
constexpr int64_t kStepColumns = kVectorBytes<D> * 8 / kSlotBits;

// Each byte's halves are where 16 bits would have them, but for those that have crossed from the byte beside: masks
// follow.
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

// The high halves of a's bytes and the low halves of b's change places: of two rows, each with two columns a byte, one
// of the even columns and one of the odd columns, each with two rows a byte; and back.
template <class D>
HWY_INLINE void SwapHalves(D d, hn::Vec<D>* a, hn::Vec<D>* b) {
  const auto differ = LowOf(d, hn::Xor(Down4(d, *a), *b));
  *b = hn::Xor(*b, differ);
  *a = hn::Xor(*a, Up4(d, differ));
}

// Makes from rows a and b the even columns, with both rows in each byte, and the odd ones. A row begins with the byte
// at its pointer, or within it (kA, kB).
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

// One step from rows of `kSlotBits` per element; kA and kB as above, of even and odd rows.
template <int kSlotBits, bool kA, bool kB, class D>
HWY_INLINE void InterleaveStep(D d, const char* const* rows, int64_t at, char* to) {
  constexpr int kVectors = kSlotBits == 8 ? kPairs : kNibbleRows;
  hn::Vec<D> v[kVectors];
  HWY_UNROLL(4)
  for (int p = 0; p < kPairs; ++p) {
    const char *const a = rows[2 * p] + at, *const b = rows[2 * p + 1] + at;
    if constexpr (kSlotBits == 8) {
      v[p] = Blend(d, hn::LoadU(d, AsBytes(a)), Up4(d, hn::LoadU(d, AsBytes(b))));
    } else {
      PairColumns<kA, kB>(d, a, b, &v[p], &v[p + kPairs]);
    }
  }
  Interleave<1>(v);
  StoreAscendingFromLane<0>(d, v, to, kLaneBytes);
}

// The last step of a run overlaps those before; an odd column is left, and runs that are shorter than a step.
template <int kSlotBits, bool kA, bool kB, class D>
HWY_INLINE void InterleaveBy(D d, const char* from, const int64_t* bits, const NibbleWordRuns& words, char* to) {
  constexpr int64_t kStep = kStepColumns<kSlotBits, D>;
  const char* rows[kNibbleRows];
  for (int r = 0; r < kNibbleRows; ++r) rows[r] = from + (bits[r] >> 3);
  ForEachRun(words, [&](int64_t first, int64_t count, int64_t bit) {
    char* const run = to + (bit >> 3);
    const int64_t whole = count < kStep ? 0 : kSlotBits == 8 ? count : count / 2 * 2;
    for (int64_t c = 0; c < whole; c += kStep) {
      const int64_t at = std::min(c, whole - kStep);
      InterleaveStep<kSlotBits, kA, kB>(d, rows, (first + at) * kSlotBits / 8, run + at * kNibbleWordBytes);
    }
    InterleaveSlowly<kSlotBits>(from, bits, first + whole, count - whole, run + whole * kNibbleWordBytes);
  });
}

template <int kSlotBits, class D>
void InterleaveAnyPhase(D d, const char* from, const int64_t* bits, const NibbleWordRuns& words, char* to) {
  if constexpr (kSlotBits == 8) {
    InterleaveBy<8, false, false>(d, from, bits, words, to);
  } else {
    const bool a = bits[0] % 8 != 0, b = bits[1] % 8 != 0;
    if (a && b) return InterleaveBy<4, true, true>(d, from, bits, words, to);
    if (a) return InterleaveBy<4, true, false>(d, from, bits, words, to);
    if (b) return InterleaveBy<4, false, true>(d, from, bits, words, to);
    InterleaveBy<4, false, false>(d, from, bits, words, to);
  }
}

template <int kSlotBits>
void InterleaveRows(const char* from, const int64_t* bits, const NibbleWordRuns& words, char* to) {
  if (!BeginAlike(bits)) {
    return ForEachRun(words, [&](int64_t first, int64_t count, int64_t bit) {
      InterleaveSlowly<kSlotBits>(from, bits, first, count, to + (bit >> 3));
    });
  }
  if (std::min(words.run, words.columns) >= kStepColumns<kSlotBits, Long>) {
    return InterleaveAnyPhase<kSlotBits>(Long(), from, bits, words, to);
  }
  InterleaveAnyPhase<kSlotBits>(Lane(), from, bits, words, to);
}

// One step to packed rows. Of each lane, 4 words, the even columns come first; then units of two columns are
// transposed.
template <class D>
HWY_INLINE void DeinterleavePackedStep(D d, const char* from, char* const* to, int64_t at) {
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

// One step to rows of bytes: units of 4 columns are transposed.
template <class D>
HWY_INLINE void DeinterleaveByteStep(D d, const char* from, char* const* to, int64_t at) {
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

// Like InterleaveBy, in the other direction.
template <int kSlotBits, class D>
void DeinterleaveBy(D d, const char* from, const NibbleWordRuns& words, char* const* given) {
  constexpr int64_t kStep = kStepColumns<kSlotBits, D>;
  char* to[kNibbleRows];  // a copy, so that no store can change it
  std::copy(given, given + kNibbleRows, to);
  ForEachRun(words, [&](int64_t first, int64_t count, int64_t bit) {
    const char* const run = from + (bit >> 3);
    const int64_t whole = count < kStep ? 0 : kSlotBits == 8 ? count : count / 2 * 2;
    for (int64_t c = 0; c < whole; c += kStep) {
      const int64_t at = std::min(c, whole - kStep);
      if constexpr (kSlotBits == 8) {
        DeinterleaveByteStep(d, run + at * kNibbleWordBytes, to, first + at);
      } else {
        DeinterleavePackedStep(d, run + at * kNibbleWordBytes, to, (first + at) / 2);
      }
    }
    DeinterleaveSlowly<kSlotBits>(run + whole * kNibbleWordBytes, first + whole, count - whole, given);
  });
}

template <int kSlotBits>
void DeinterleaveWords(const char* from, const NibbleWordRuns& words, char* const* to) {
  if (std::min(words.run, words.columns) >= kStepColumns<kSlotBits, Long>) {
    return DeinterleaveBy<kSlotBits>(Long(), from, words, to);
  }
  DeinterleaveBy<kSlotBits>(Lane(), from, words, to);
}

#endif

void InterleavePacked(const char* from, const int64_t* bits, const NibbleWordRuns& words, char* to) {
  InterleaveRows<4>(from, bits, words, to);
}
void InterleaveBytes(const char* from, const int64_t* bits, const NibbleWordRuns& words, char* to) {
  InterleaveRows<8>(from, bits, words, to);
}
void DeinterleaveToPacked(const char* from, const NibbleWordRuns& words, char* const* to) {
  DeinterleaveWords<4>(from, words, to);
}
void DeinterleaveToBytes(const char* from, const NibbleWordRuns& words, char* const* to) {
  DeinterleaveWords<8>(from, words, to);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace kashi::relayout
HWY_AFTER_NAMESPACE();

namespace kashi::relayout {

KASHI_EXPORT(void, InterleaveNibbles,
             (const char* from, const int64_t (&bits)[kNibbleRows], const NibbleWordRuns& words, char* to),
             InterleavePacked, (from, bits, words, to))
KASHI_EXPORT(void, InterleaveNibbleBytes,
             (const char* from, const int64_t (&bits)[kNibbleRows], const NibbleWordRuns& words, char* to),
             InterleaveBytes, (from, bits, words, to))
KASHI_EXPORT(void, DeinterleaveNibbles, (const char* from, const NibbleWordRuns& words, char* const (&to)[kNibbleRows]),
             DeinterleaveToPacked, (from, words, to))
KASHI_EXPORT(void, DeinterleaveNibbleBytes,
             (const char* from, const NibbleWordRuns& words, char* const (&to)[kNibbleRows]), DeinterleaveToBytes,
             (from, words, to))

}  // namespace kashi::relayout
