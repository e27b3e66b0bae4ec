// Rows of 1-, 2- and 4-bit slots: to bytes, from bytes, and from one phase in a byte to another. The first element is
// in the lowest bits of its byte.
//
//   nibbles        bytes          A row may begin and end within a byte: the bits before the first whole byte of
//   ba dc fe  <->  a b c d e f    the packed side are moved alone, so that the loops see whole bytes there.
#include "kashi/relayout/simd/highway_targets.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kashi/relayout/simd/row_functions_packed.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kashi/relayout/simd/copy_rows.h"
#include "kashi/relayout/simd/highway_export-inl.h"
#include "kashi/relayout/simd/row_functions_internal.h"

// The parts that need no vectors: up to eight elements, as one word. These lines are compiled once.
#ifndef KASHI_RELAYOUT_ROW_FUNCTIONS_PACKED_ONCE_
#define KASHI_RELAYOUT_ROW_FUNCTIONS_PACKED_ONCE_

namespace kashi::relayout {
namespace {

// 0x…010101 times the byte.
constexpr uint64_t InEachByte(uint64_t byte) { return byte * 0x0101010101010101u; }

constexpr uint64_t LowBits(int64_t count) { return count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1; }

// The lowest `bits` of each group of `group` bits: 64 / group of them.
constexpr uint64_t LowBitsOfGroups(int bits, int group) { return LowBits(64) / LowBits(group) * LowBits(bits); }

// Eight slots to eight bytes: halves move apart, then quarters, then eighths.
template <int kBits>
constexpr uint64_t SpreadWord(uint64_t packed) {
  uint64_t x = packed & LowBitsOfGroups(8 * kBits, 64);
  x = (x | x << (32 - 4 * kBits)) & LowBitsOfGroups(4 * kBits, 32);
  x = (x | x << (16 - 2 * kBits)) & LowBitsOfGroups(2 * kBits, 16);
  return (x | x << (8 - kBits)) & LowBitsOfGroups(kBits, 8);
}

// The inverse; of each byte only the low bits count.
template <int kBits>
constexpr uint64_t GatherWord(uint64_t bytes) {
  uint64_t x = bytes & LowBitsOfGroups(kBits, 8);
  x = (x | x >> (8 - kBits)) & LowBitsOfGroups(2 * kBits, 16);
  x = (x | x >> (16 - 2 * kBits)) & LowBitsOfGroups(4 * kBits, 32);
  return (x | x >> (32 - 4 * kBits)) & LowBitsOfGroups(8 * kBits, 64);
}

// The high bits of each byte become its sign's, and there is no carry from one to the next.
template <int kBits, bool kSigned>
constexpr uint64_t ExtendWord(uint64_t x) {
  if constexpr (!kSigned) return x;
  return x | (x & InEachByte(1u << (kBits - 1))) * ((256 - (1 << kBits)) >> (kBits - 1));
}

// 0 to 8 bytes, by two words that may overlap: the sizes are rarely known to the compiler, and a call costs more than a
// row.
template <typename Word>
uint64_t LoadEnds(const char* from, int64_t bytes) {
  constexpr int64_t kSize = sizeof(Word);
  Word low, high;
  std::memcpy(&low, from, kSize);
  std::memcpy(&high, from + bytes - kSize, kSize);
  return low | uint64_t{high} << (8 * (bytes - kSize));
}
uint64_t LoadBytes(const char* from, int64_t bytes) {
  if (bytes >= 4) return LoadEnds<uint32_t>(from, bytes);
  if (bytes >= 2) return LoadEnds<uint16_t>(from, bytes);
  return bytes == 0 ? 0 : static_cast<uint8_t>(*from);
}

template <typename Word>
void StoreEnds(uint64_t word, char* to, int64_t bytes) {
  constexpr int64_t kSize = sizeof(Word);
  const auto low = static_cast<Word>(word), high = static_cast<Word>(word >> (8 * (bytes - kSize)));
  std::memcpy(to, &low, kSize);
  std::memcpy(to + bytes - kSize, &high, kSize);
}
void StoreBytes(uint64_t word, char* to, int64_t bytes) {
  if (bytes >= 4) return StoreEnds<uint32_t>(word, to, bytes);
  if (bytes >= 2) return StoreEnds<uint16_t>(word, to, bytes);
  if (bytes == 1) *to = static_cast<char>(word);
}

// Writes the bits of `value` where the mask has ones, from the byte at `to` on; the bytes where it has none are not
// touched.
void StoreBits(uint64_t value, uint64_t mask, char* to) {
  for (; mask != 0; mask >>= 8, value >>= 8, ++to) {
    *to = static_cast<char>((static_cast<uint8_t>(*to) & ~mask) | (value & mask));
  }
}

// Up to seven elements, from a slot within the first byte on: of one byte if that is not its first slot.
template <int kBits, bool kSigned>
void UnpackFew(const char* from, int phase, char* to, int64_t count) {
  const uint64_t packed = LoadBytes(from, (phase + count * kBits + 7) / 8) >> phase;
  StoreBytes(ExtendWord<kBits, kSigned>(SpreadWord<kBits>(packed)), to, count);
}

template <int kBits>
void PackFew(const char* from, char* to, int phase, int64_t count) {
  const uint64_t packed = GatherWord<kBits>(LoadBytes(from, count));
  StoreBits(packed << phase, LowBits(count * kBits) << phase, to);
}

}  // namespace
}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_ROW_FUNCTIONS_PACKED_ONCE_

HWY_BEFORE_NAMESPACE();
namespace kashi::relayout {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Stage = RowFunction::Stage;

uint8_t* Bytes(char* p) { return reinterpret_cast<uint8_t*>(p); }
const uint8_t* Bytes(const char* p) { return reinterpret_cast<const uint8_t*>(p); }

template <int kBits, bool kSigned, class D, class V>
HWY_INLINE V ExtendBytes(D d, V v) {
  if constexpr (!kSigned || kBits == 8) return v;
  const V sign = hn::Set(d, 1u << (kBits - 1));
  return hn::Sub(hn::Xor(v, sign), sign);
}

#if HWY_TARGET == HWY_SCALAR

// Without vectors: the words of eight elements do all the work.
template <int kBits, bool kSigned>
int64_t UnpackVectors(const char*, char*, int64_t) {
  return 0;
}
template <int kBits>
int64_t PackVectors(const char*, char*, int64_t) {
  return 0;
}
int64_t ShiftDownVectors(const char*, int, char*, int64_t) { return 0; }

#else

// One vector of bytes from `Lanes(d) * kBits / 8` packed ones, as in SpreadWord, in lanes that each come from
// one byte.
template <class D>
HWY_INLINE hn::Vec<D> Spread4(D d, const uint8_t* from) {
  const hn::RepartitionToWide<D> d16;
  const auto x = hn::PromoteTo(d16, hn::LoadU(hn::Rebind<uint8_t, decltype(d16)>(), from));
  return hn::And(hn::BitCast(d, hn::Or(x, hn::ShiftLeft<4>(x))), hn::Set(d, 0x0f));
}
template <class D>
HWY_INLINE hn::Vec<D> Spread2(D d, const uint8_t* from) {
  const hn::RepartitionToWide<hn::RepartitionToWide<D>> d32;
  const auto x = hn::PromoteTo(d32, hn::LoadU(hn::Rebind<uint8_t, decltype(d32)>(), from));
  const auto halves = hn::Or(x, hn::ShiftLeft<12>(x));
  return hn::And(hn::BitCast(d, hn::Or(halves, hn::ShiftLeft<6>(halves))), hn::Set(d, 0x03));
}

// The eight bytes at `from` are in each 8 bytes of `words`; byte i of the result is bit i of 64, from bit 8 * index[i]
// on.
template <bool kSigned, class D>
HWY_INLINE hn::Vec<D> Spread1(D d, hn::Vec<D> words, hn::Vec<D> index) {
  const auto bit = hn::BitCast(d, hn::Set(hn::Repartition<uint64_t, D>(), uint64_t{0x8040201008040201}));
  const auto is_set = hn::VecFromMask(d, hn::TestBit(hn::TableLookupBytes(words, index), bit));
  return kSigned ? is_set : hn::And(is_set, hn::Set(d, 1));
}

// Each vector's bytes are found where lane / 8 says: the first `Lanes(d) / 8` bytes of the words, the next ones, ...
template <class D>
HWY_INLINE hn::Vec<D> IndexOfSpread1(D d, int64_t first_byte) {
  HWY_ALIGN uint8_t index[hn::MaxLanes(d)];
  for (size_t i = 0; i < hn::Lanes(d); ++i) index[i] = static_cast<uint8_t>(first_byte + i / 8);
  return hn::Load(d, index);
}

// Unpacks from whole bytes as many elements as vectors take; returns how many.
template <bool kSigned>
int64_t UnpackBits(const char* from, char* to, int64_t count) {
  const hn::ScalableTag<uint8_t> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (int64_t part = 0; part < 64; part += lanes) {
    const auto index = IndexOfSpread1(d, part / 8);
    for (i = 0; i + 64 <= count; i += 64) {
      uint64_t word;
      std::memcpy(&word, from + i / 8, 8);
      const auto words = hn::BitCast(d, hn::Set(hn::Repartition<uint64_t, decltype(d)>(), word));
      hn::StoreU(Spread1<kSigned>(d, words, index), d, Bytes(to) + i + part);
    }
  }
  return i;
}

template <int kBits, bool kSigned>
int64_t UnpackVectors(const char* from, char* to, int64_t count) {
  if constexpr (kBits == 1) {
    return UnpackBits<kSigned>(from, to, count);
  } else {
    const hn::ScalableTag<uint8_t> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
      const uint8_t* source = Bytes(from) + i * kBits / 8;
      hn::Vec<decltype(d)> v;
      if constexpr (kBits == 4) {
        v = Spread4(d, source);
      } else {
        v = Spread2(d, source);
      }
      hn::StoreU(ExtendBytes<kBits, kSigned>(d, v), d, Bytes(to) + i);
    }
    return i;
  }
}

// Two vectors of bytes become one: the low nibbles of them, or the low half of each byte's half, and so on.
template <int kBits, class D>
HWY_INLINE hn::Vec<D> GatherPairs(D d, hn::Vec<D> low, hn::Vec<D> high) {
  const hn::RepartitionToWide<D> d16;
  const auto mask = hn::Set(d, (1u << kBits) - 1);
  const auto a = hn::BitCast(d16, hn::And(low, mask)), b = hn::BitCast(d16, hn::And(high, mask));
  return hn::ConcatEven(d, hn::BitCast(d, hn::Or(b, hn::ShiftRight<8 - kBits>(b))),
                        hn::BitCast(d, hn::Or(a, hn::ShiftRight<8 - kBits>(a))));
}

// Packs to whole bytes as many elements as vectors take; returns how many.
template <int kBits>
int64_t PackVectors(const char* from, char* to, int64_t count) {
  const hn::ScalableTag<uint8_t> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const uint8_t* source = Bytes(from);
  int64_t i = 0;
  if constexpr (kBits == 4) {
    for (; i + 2 * lanes <= count; i += 2 * lanes) {
      const auto packed = GatherPairs<4>(d, hn::LoadU(d, source + i), hn::LoadU(d, source + i + lanes));
      hn::StoreU(packed, d, Bytes(to) + i / 2);
    }
  } else if constexpr (kBits == 2) {
    for (; i + 4 * lanes <= count; i += 4 * lanes) {
      const uint8_t* p = source + i;
      const auto low = GatherPairs<2>(d, hn::LoadU(d, p), hn::LoadU(d, p + lanes));
      const auto high = GatherPairs<2>(d, hn::LoadU(d, p + 2 * lanes), hn::LoadU(d, p + 3 * lanes));
      hn::StoreU(GatherPairs<4>(d, low, high), d, Bytes(to) + i / 4);
    }
  } else {
    for (; i + lanes <= count; i += lanes) {
      uint8_t bits[8 + hn::MaxLanes(d) / 8];
      hn::StoreMaskBits(d, hn::TestBit(hn::LoadU(d, source + i), hn::Set(d, 1)), bits);
      std::memcpy(to + i / 8, bits, hn::MaxLanes(d) / 8);
    }
  }
  return i;
}

// The bits that a word lacks at its top after the shift are in the word that begins a byte later. The last vector
// overlaps the one before; fewer bytes than a vector are not moved. Returns the number of moved bytes.
int64_t ShiftDownVectors(const char* from, int phase, char* to, int64_t bytes) {
  const hn::ScalableTag<uint64_t> d;
  const hn::Repartition<uint8_t, decltype(d)> d8;
  const auto vector_bytes = static_cast<int64_t>(hn::Lanes(d8));
  if (bytes < vector_bytes) return 0;
  for (int64_t i = 0; i < bytes; i += vector_bytes) {
    const int64_t at = std::min(i, bytes - vector_bytes);
    const auto low = hn::BitCast(d, hn::LoadU(d8, Bytes(from) + at));
    const auto high = hn::BitCast(d, hn::LoadU(d8, Bytes(from) + at + 1));
    const auto moved = hn::Or(hn::ShiftRightSame(low, phase), hn::ShiftLeftSame(high, 8 - phase));
    hn::StoreU(hn::BitCast(d8, moved), d8, Bytes(to) + at);
  }
  return bytes;
}

#endif  // HWY_TARGET == HWY_SCALAR

template <int kBits, bool kSigned>
void Unpack(const Stage&, const char* from, int64_t from_bit, char* to, int64_t to_bit, int64_t count) {
  from += from_bit / 8;
  to += to_bit / 8;
  const int phase = static_cast<int>(from_bit % 8);
  if (phase != 0) {
    const int64_t few = std::min<int64_t>(count, (8 - phase) / kBits);
    UnpackFew<kBits, kSigned>(from, phase, to, few);
    from += 1;
    to += few;
    count -= few;
  }
  int64_t i = UnpackVectors<kBits, kSigned>(from, to, count);
  for (; i + 8 <= count; i += 8) {
    const uint64_t bytes = ExtendWord<kBits, kSigned>(SpreadWord<kBits>(LoadBytes(from + i / 8 * kBits, kBits)));
    std::memcpy(to + i, &bytes, 8);
  }
  if (i < count) UnpackFew<kBits, kSigned>(from + i / 8 * kBits, 0, to + i, count - i);
}

template <int kBits>
void Pack(const Stage&, const char* from, int64_t from_bit, char* to, int64_t to_bit, int64_t count) {
  from += from_bit / 8;
  to += to_bit / 8;
  const int phase = static_cast<int>(to_bit % 8);
  if (phase != 0) {
    const int64_t few = std::min<int64_t>(count, (8 - phase) / kBits);
    PackFew<kBits>(from, to, phase, few);
    from += few;
    to += 1;
    count -= few;
  }
  int64_t i = PackVectors<kBits>(from, to, count);
  for (; i + 8 <= count; i += 8) {
    const uint64_t packed = GatherWord<kBits>(LoadBytes(from + i, 8));
    std::memcpy(to + i / 8 * kBits, &packed, kBits);
  }
  if (i < count) PackFew<kBits>(from + i, to + i / 8 * kBits, 0, count - i);
}

// Bits from bit `phase`, 1 to 7, of the byte at `from` on become whole bytes.
void ShiftDown(const char* from, int phase, char* to, int64_t bytes) {
  int64_t i = ShiftDownVectors(from, phase, to, bytes);
  for (; i + 8 <= bytes; i += 8) {
    const uint64_t moved = LoadBytes(from + i, 8) >> phase | LoadBytes(from + i + 1, 8) << (8 - phase);
    std::memcpy(to + i, &moved, 8);
  }
  for (; i < bytes; ++i) to[i] = static_cast<char>(LoadBytes(from + i, 2) >> phase);
}

void CopyPacked(const Stage& stage, const char* from, int64_t from_bit, char* to, int64_t to_bit, int64_t count) {
  int64_t bits = count * stage.from_slot;
  const int target_phase = static_cast<int>(to_bit % 8);
  to += to_bit / 8;
  // A target byte that is not all the row's: the first one here, the last one at the end.
  const auto store_few = [from](int64_t first, int64_t few, char* target, int phase) {
    const int source_phase = static_cast<int>(first % 8);
    const uint64_t value = LoadBytes(from + first / 8, (source_phase + few + 7) / 8) >> source_phase;
    StoreBits(value << phase, LowBits(few) << phase, target);
  };
  if (target_phase != 0 && bits > 0) {
    const int64_t few = std::min<int64_t>(bits, 8 - target_phase);
    store_few(from_bit, few, to++, target_phase);
    from_bit += few;
    bits -= few;
  }
  const int source_phase = static_cast<int>(from_bit % 8);
  if (source_phase == 0) {
    CopyRow(to, from + from_bit / 8, bits / 8);
  } else {
    ShiftDown(from + from_bit / 8, source_phase, to, bits / 8);
  }
  if (bits % 8 != 0) store_few(from_bit + bits / 8 * 8, bits % 8, to + bits / 8, 0);
}

template <int kBits, bool kSigned>
void Extend(const char* from, char* to, int64_t count) {
  const hn::ScalableTag<uint8_t> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto mask = hn::Set(d, (1u << kBits) - 1);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto low = hn::And(hn::LoadU(d, Bytes(from) + i), mask);
    hn::StoreU(ExtendBytes<kBits, kSigned>(d, low), d, Bytes(to) + i);
  }
  for (; i < count; i += 8) {
    const int64_t few = std::min<int64_t>(8, count - i);
    const uint64_t word = LoadBytes(from + i, few) & LowBitsOfGroups(kBits, 8);
    StoreBytes(ExtendWord<kBits, kSigned>(word), to + i, few);
  }
}

}  // namespace

RowFunction::Stage::Function UnpackFunctionHere(int slot_bits, bool is_signed) {
  if (slot_bits == 1) return is_signed ? &Unpack<1, true> : &Unpack<1, false>;
  if (slot_bits == 2) return is_signed ? &Unpack<2, true> : &Unpack<2, false>;
  return is_signed ? &Unpack<4, true> : &Unpack<4, false>;
}

RowFunction::Stage::Function PackFunctionHere(int slot_bits) {
  return slot_bits == 1 ? &Pack<1> : slot_bits == 2 ? &Pack<2> : &Pack<4>;
}

RowFunction::Stage::Function CopyPackedFunctionHere() { return &CopyPacked; }

ConvertLoop ExtendLoopHere(int bits, bool is_signed) {
  switch (bits) {
    case 1:
      return is_signed ? &Extend<1, true> : &Extend<1, false>;
    case 2:
      return is_signed ? &Extend<2, true> : &Extend<2, false>;
    case 4:
      return is_signed ? &Extend<4, true> : &Extend<4, false>;
    default:
      return &Extend<6, false>;  // f6e2m3fn, f6e3m2fn
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace kashi::relayout
HWY_AFTER_NAMESPACE();

namespace kashi::relayout {

KASHI_EXPORT(RowFunction::Stage::Function, UnpackFunction, (int slot_bits, bool is_signed), UnpackFunctionHere,
             (slot_bits, is_signed))
KASHI_EXPORT(RowFunction::Stage::Function, PackFunction, (int slot_bits), PackFunctionHere, (slot_bits))
KASHI_EXPORT(RowFunction::Stage::Function, CopyPackedFunction, (), CopyPackedFunctionHere, ())
KASHI_EXPORT(ConvertLoop, ExtendLoop, (int bits, bool is_signed), ExtendLoopHere, (bits, is_signed))

}  // namespace kashi::relayout
