// Memory of a thread for one block at a time.
#ifndef KASHI_RELAYOUT_SIMD_SCRATCH_H_
#define KASHI_RELAYOUT_SIMD_SCRATCH_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace kashi::relayout {

class Scratch {
 public:
  static Scratch& OfThread() {
    thread_local Scratch scratch;
    return scratch;
  }

  // Good until the next call. 64-byte aligned.
  char* Bytes(int64_t bytes) {
    if (bytes > bytes_) {
      bytes_ = bytes + bytes / 2;
      memory_ = std::make_unique<char[]>(bytes_ + 64);
    }
    return reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(memory_.get()) + 63) / 64 * 64);
  }

  // The offsets 0, stride, 2*stride, … of the rows of a dense block. Valid until the next call with the same `which`.
  const int64_t* Offsets(int which, int64_t count, int64_t stride) {
    std::vector<int64_t>& offsets = offsets_[which];
    if (offsets.size() < 2 || offsets[1] != stride) offsets.clear();
    for (int64_t i = offsets.size(); i < std::max<int64_t>(2, count); ++i) offsets.push_back(i * stride);
    return offsets.data();
  }

 private:
  std::unique_ptr<char[]> memory_;
  int64_t bytes_ = 0;
  std::vector<int64_t> offsets_[2];
};

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_SIMD_SCRATCH_H_
