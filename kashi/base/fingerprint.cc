#include "kashi/base/fingerprint.h"

#include <algorithm>

#include "absl/strings/escaping.h"

namespace kashi::base {
namespace {

uint64_t RotateLeft(uint64_t x, int bits) { return (x << bits) | (x >> (64 - bits)); }

uint64_t LoadLittleEndian(const unsigned char* bytes) {
  uint64_t word = 0;
  for (int i = 7; i >= 0; --i) word = word << 8 | bytes[i];
  return word;
}

}  // namespace

std::string Fingerprint::ToString() const {
  std::string bytes;
  for (uint64_t word : {low, high}) {
    for (int shift = 0; shift < 64; shift += 8) bytes.push_back(static_cast<char>(word >> shift));
  }
  return absl::BytesToHexString(bytes);
}

void FingerprintBuilder::State::Rounds(int count) {
  for (int i = 0; i < count; ++i) {
    v0 += v1;
    v1 = RotateLeft(v1, 13) ^ v0;
    v0 = RotateLeft(v0, 32);
    v2 += v3;
    v3 = RotateLeft(v3, 16) ^ v2;
    v0 += v3;
    v3 = RotateLeft(v3, 21) ^ v0;
    v2 += v1;
    v1 = RotateLeft(v1, 17) ^ v2;
    v2 = RotateLeft(v2, 32);
  }
}

void FingerprintBuilder::State::Absorb(uint64_t word) {
  v3 ^= word;
  Rounds(2);
  v0 ^= word;
}

// The four words spell "somepseudorandomlygeneratedbytes"; 0xee marks the 128-bit variant.
FingerprintBuilder::FingerprintBuilder(uint64_t key_low, uint64_t key_high)
    : state_{0x736f6d6570736575 ^ key_low, 0x646f72616e646f6d ^ key_high ^ 0xee, 0x6c7967656e657261 ^ key_low,
             0x7465646279746573 ^ key_high} {}

void FingerprintBuilder::Append(absl::string_view bytes) {
  const auto* next = reinterpret_cast<const unsigned char*>(bytes.data());
  size_t left = bytes.size();
  const size_t begun = total_ % 8;
  total_ += left;
  if (begun > 0) {
    const size_t taken = std::min(left, 8 - begun);
    std::copy_n(next, taken, tail_ + begun);
    if (begun + taken < 8) return;
    state_.Absorb(LoadLittleEndian(tail_));
    next += taken;
    left -= taken;
  }
  for (; left >= 8; left -= 8, next += 8) state_.Absorb(LoadLittleEndian(next));
  std::copy_n(next, left, tail_);
}

// The last word holds the bytes left over, and the number of all in its highest byte.
Fingerprint FingerprintBuilder::Finish() const {
  State state = state_;
  unsigned char last[8] = {};
  std::copy_n(tail_, total_ % 8, last);
  last[7] = static_cast<unsigned char>(total_);
  state.Absorb(LoadLittleEndian(last));
  Fingerprint result;
  state.v2 ^= 0xee;
  state.Rounds(4);
  result.low = state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
  state.v1 ^= 0xdd;
  state.Rounds(4);
  result.high = state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
  return result;
}

Fingerprint FingerprintOf(absl::string_view bytes) {
  FingerprintBuilder builder;
  builder.Append(bytes);
  return builder.Finish();
}

}  // namespace kashi::base
