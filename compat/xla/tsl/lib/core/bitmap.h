// tsl::core::Bitmap: a row of bits, all 0 at first.
#ifndef KASHI_COMPAT_XLA_TSL_LIB_CORE_BITMAP_H_
#define KASHI_COMPAT_XLA_TSL_LIB_CORE_BITMAP_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tsl::core {

class Bitmap {
 public:
  Bitmap() = default;
  explicit Bitmap(size_t n) { Reset(n); }
  Bitmap(const Bitmap&) = delete;
  Bitmap& operator=(const Bitmap&) = delete;

  // Makes this a bitmap of n bits, all 0.
  void Reset(size_t n) {
    bits_ = n;
    words_.assign((n + 63) / 64, 0);
  }
  size_t bits() const { return bits_; }
  bool get(size_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  void set(size_t i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
  void clear(size_t i) { words_[i / 64] &= ~(uint64_t{1} << (i % 64)); }
  // The first bit from `start` on that is 0; bits() if there is none.
  size_t FirstUnset(size_t start) const {
    while (start < bits_ && get(start)) ++start;
    return start < bits_ ? start : bits_;
  }
  // "0110", bit 0 first.
  std::string ToString() const {
    std::string text(bits_, '0');
    for (size_t i = 0; i < bits_; ++i) {
      if (get(i)) text[i] = '1';
    }
    return text;
  }

 private:
  size_t bits_ = 0;
  std::vector<uint64_t> words_;
};

}  // namespace tsl::core

#endif  // KASHI_COMPAT_XLA_TSL_LIB_CORE_BITMAP_H_
