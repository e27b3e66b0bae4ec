// A 128-bit hash of bytes: SipHash-2-4 with the 128-bit output and the key zero (Aumasson, Bernstein: "SipHash: a fast
// short-input PRF", 2012). It is the same on every machine and in every version. It does not protect against deliberate
// collisions, because the key is public.
#ifndef KASHI_BASE_FINGERPRINT_H_
#define KASHI_BASE_FINGERPRINT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace kashi::base {

struct Fingerprint {
  uint64_t low = 0;
  uint64_t high = 0;
  // 32 lower-case hexadecimal digits: the bytes of `low`, then of `high`, each from the least significant on.
  std::string ToString() const;
  friend bool operator==(const Fingerprint& a, const Fingerprint& b) { return a.low == b.low && a.high == b.high; }
  friend bool operator!=(const Fingerprint& a, const Fingerprint& b) { return !(a == b); }
};

// Takes bytes piece by piece; where they are cut does not matter.
class FingerprintBuilder {
 public:
  explicit FingerprintBuilder(uint64_t key_low = 0, uint64_t key_high = 0);
  void Append(absl::string_view bytes);
  Fingerprint Finish() const;

 private:
  struct State {
    uint64_t v0, v1, v2, v3;
    void Rounds(int count);
    void Absorb(uint64_t word);
  };
  State state_;
  unsigned char tail_[8] = {};  // bytes that make no word yet: total_ % 8 of them
  uint64_t total_ = 0;
};

Fingerprint FingerprintOf(absl::string_view bytes);

}  // namespace kashi::base

#endif  // KASHI_BASE_FINGERPRINT_H_
