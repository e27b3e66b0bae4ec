// Memory for many small things that are all freed at once.
#ifndef KASHI_BASE_ARENA_H_
#define KASHI_BASE_ARENA_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace kashi::base {

// Hands out memory from blocks that it frees when it is destroyed. Runs no destructors. Not thread-safe.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  void* Allocate(size_t size, size_t alignment) {
    const size_t padding = (alignment - reinterpret_cast<uintptr_t>(next_) % alignment) % alignment;
    if (size + padding > left_) return AllocateInNewBlock(size);
    char* result = next_ + padding;
    next_ += padding + size;
    left_ -= padding + size;
    return result;
  }
  void Swap(Arena* other) {
    std::swap(blocks_, other->blocks_);
    std::swap(block_size_, other->block_size_);
    std::swap(next_, other->next_);
    std::swap(left_, other->left_);
  }
  // A copy of the text that lives as long as the arena.
  absl::string_view Copy(absl::string_view text) {
    if (text.empty()) return absl::string_view();
    char* copy = static_cast<char*>(Allocate(text.size(), 1));
    std::memcpy(copy, text.data(), text.size());
    return absl::string_view(copy, text.size());
  }

 private:
  static constexpr size_t kFirstBlock = 1 << 10;
  static constexpr size_t kLargestBlock = 1 << 18;

  // A new block begins at an address that suits every type.
  void* AllocateInNewBlock(size_t size) {
    const size_t block = std::max(size, block_size_);
    block_size_ = std::min(2 * block_size_, kLargestBlock);
    blocks_.emplace_back(new Block[block / sizeof(Block) + 1]);
    char* begin = reinterpret_cast<char*>(blocks_.back().get());
    if (block - size >= left_) {
      next_ = begin + size;
      left_ = block - size;
    }
    return begin;
  }

  struct alignas(std::max_align_t) Block {
    char bytes[alignof(std::max_align_t)];
  };
  std::vector<std::unique_ptr<Block[]>> blocks_;
  size_t block_size_ = kFirstBlock;
  char* next_ = nullptr;
  size_t left_ = 0;
};

}  // namespace kashi::base

#endif  // KASHI_BASE_ARENA_H_
