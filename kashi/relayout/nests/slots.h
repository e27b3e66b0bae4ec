// One element in memory, as bits. Slots are whole bytes, or do not cross one.
#ifndef KASHI_RELAYOUT_NESTS_SLOTS_H_
#define KASHI_RELAYOUT_NESTS_SLOTS_H_

#include <cstdint>
#include <cstring>

#include "absl/numeric/int128.h"

namespace kashi::relayout {

inline absl::uint128 ReadSlot(const char* data, int64_t bit, int64_t bits) {
  if (bits < 8) return (static_cast<uint8_t>(data[bit >> 3]) >> (bit & 7)) & ((1u << bits) - 1);
  absl::uint128 value = 0;
  std::memcpy(&value, data + (bit >> 3), bits / 8);  // little-endian
  return value;
}

inline void WriteSlot(char* data, int64_t bit, int64_t bits, absl::uint128 value) {
  if (bits >= 8) {
    std::memcpy(data + (bit >> 3), &value, bits / 8);
    return;
  }
  const unsigned mask = ((1u << bits) - 1) << (bit & 7);
  char& byte = data[bit >> 3];
  byte = static_cast<char>((static_cast<uint8_t>(byte) & ~mask) |
                           ((static_cast<unsigned>(absl::Uint128Low64(value)) << (bit & 7)) & mask));
}

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_NESTS_SLOTS_H_
