// Memory for large arrays. The first write to a page causes a page fault, and the system clears the page: this takes
// several times as long as the write (docs/performance.md). So blocks of at least kLargeBlockBytes
//   - use huge pages if the system has them: one fault per 2 MiB instead of one per 4 KiB;
//   - go to a bounded pool of the process when they are freed. The next array of about that size reuses their pages.
// Smaller blocks are aligned allocations: the allocator of the process keeps their pages.
//
//   KASHI_ASSIGN_OR_RETURN(PageBuffer buffer, PageBuffer::Make(bytes));
//   plan.Execute(source, buffer.data());
//
// With sanitizers every block is an ordinary allocation and the pool is off, so that they detect each use after free
// and each overflow. With guard pages (guard_pages.h) every block lies between two of them, and the pool is off.
#ifndef KASHI_BASE_PAGE_BUFFER_H_
#define KASHI_BASE_PAGE_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"

namespace kashi::base {

// The minimum alignment of blocks; large blocks begin at a huge page.
constexpr int64_t kBlockAlignment = 64;
// Blocks of at least this size are large.
constexpr int64_t kLargeBlockBytes = int64_t{4} << 20;

enum class BlockContent {
  kUninitialized,
  kZeros,  // costs a pass over the memory, unless the system gives fresh pages, which are zero
};

// For owners that keep address and size themselves; other code uses PageBuffer. Returns `bytes` of memory, or null if
// `bytes` is negative or there is not enough memory; an address also for 0 bytes. Thread-safe.
void* AllocateBlock(int64_t bytes, BlockContent content = BlockContent::kUninitialized);
// Frees a block that AllocateBlock returned for this number of bytes; null is allowed. Thread-safe.
void FreeBlock(void* block, int64_t bytes);
// Moves the contents of one block to another, both of AllocateBlock(bytes), without a copy: large blocks exchange their
// pages, which takes some ten microseconds. Then those of `from` are undefined. False, and the contents are where they
// were, if the blocks are not large or the system cannot do it; those of `to` are undefined then. Nobody else may use
// the blocks meanwhile.
bool MoveBlock(void* from, void* to, int64_t bytes);

// Bytes in blocks that wait in the pool, and the most there may be: 1 GiB, or an eighth of the machine's memory if that
// is less; 0 with sanitizers and where there are no pages to keep. Beyond it those that waited longest go. Blocks wait
// until the process ends, yet the system may take their pages when it has none left (and then they are zero, and faults
// again).
int64_t PooledBlockBytes();
int64_t PooledBlockLimit();
// Gives all that wait back to the system.
void ReleasePooledBlocks();

// One block and its size. Move-only; empty after it was moved from.
class PageBuffer {
 public:
  // RESOURCE_EXHAUSTED if there is not so much memory, INVALID_ARGUMENT for negative sizes.
  static absl::StatusOr<PageBuffer> Make(int64_t bytes, BlockContent content = BlockContent::kUninitialized);

  PageBuffer() = default;  // empty, without an address
  PageBuffer(PageBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  PageBuffer& operator=(PageBuffer&& other) noexcept {
    PageBuffer taken(std::move(other));
    std::swap(data_, taken.data_);
    std::swap(size_, taken.size_);
    return *this;
  }
  ~PageBuffer() { FreeBlock(data_, size_); }

  char* data() { return data_; }
  const char* data() const { return data_; }
  int64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  PageBuffer(char* data, int64_t size) : data_(data), size_(size) {}

  char* data_ = nullptr;
  int64_t size_ = 0;
};

}  // namespace kashi::base

#endif  // KASHI_BASE_PAGE_BUFFER_H_
