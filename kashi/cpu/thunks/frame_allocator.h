// Places for arrays in one block of memory, chosen while the program is compiled.
#ifndef KASHI_CPU_THUNKS_FRAME_ALLOCATOR_H_
#define KASHI_CPU_THUNKS_FRAME_ALLOCATOR_H_

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace kashi::internal {

// First fit. Offsets are multiples of kAlignment.
class FrameAllocator {
 public:
  static constexpr int64_t kAlignment = 64;

  int64_t Allocate(int64_t bytes) {
    bytes = Rounded(bytes);
    for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
      if (hole->second < bytes) continue;
      const int64_t offset = hole->first, left = hole->second - bytes;
      holes_.erase(hole);
      if (left > 0) holes_[offset + bytes] = left;
      return offset;
    }
    size_ += bytes;
    return size_ - bytes;
  }

  void Free(int64_t offset, int64_t bytes) {
    bytes = Rounded(bytes);
    auto hole = holes_.emplace(offset, bytes).first;
    if (const auto next = std::next(hole); next != holes_.end() && next->first == offset + bytes) {
      hole->second += next->second;
      holes_.erase(next);
    }
    if (hole == holes_.begin()) return;
    const auto before = std::prev(hole);
    if (before->first + before->second != offset) return;
    before->second += hole->second;
    holes_.erase(hole);
  }

  // Bytes of the block.
  int64_t size() const { return size_; }

 private:
  static int64_t Rounded(int64_t bytes) {
    return (std::max<int64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  }

  std::map<int64_t, int64_t> holes_;  // bytes, by offset; no two touch
  int64_t size_ = 0;
};

}  // namespace kashi::internal

#endif  // KASHI_CPU_THUNKS_FRAME_ALLOCATOR_H_
