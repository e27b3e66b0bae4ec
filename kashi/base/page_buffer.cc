#include "kashi/base/page_buffer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <new>

#include "kashi/base/guard_pages.h"
#include "kashi/base/machine.h"
#include "kashi/base/math.h"
#include "kashi/base/sanitizers.h"
#include "kashi/base/status.h"

// Large blocks come from the system where it has pages to map, and no sanitizer is to watch them.
#if __has_include(<sys/mman.h>) && !KASHI_SANITIZED
#define KASHI_MAPS_PAGES 1
#include <sys/mman.h>
#endif

namespace kashi::base {
namespace {

// Rounding sizes up must not wrap.
constexpr int64_t kMostBytes = PTRDIFF_MAX / 2;

void* AllocatePlain(int64_t bytes, BlockContent content) {
  const size_t size = static_cast<size_t>(bytes);
  void* block = ::operator new(size, std::align_val_t(kBlockAlignment), std::nothrow);
  if (block != nullptr && content == BlockContent::kZeros) std::memset(block, 0, size);
  return block;
}

void* AllocateBetweenGuards(int64_t bytes, BlockContent content) {
  void* const block = AllocateGuarded(bytes, kBlockAlignment);
  if (block != nullptr && content == BlockContent::kZeros) std::memset(block, 0, static_cast<size_t>(bytes));
  return block;
}

void FreePlain(void* block) { ::operator delete(block, std::align_val_t(kBlockAlignment)); }

#ifdef KASHI_MAPS_PAGES

constexpr int64_t kHugePageBytes = int64_t{2} << 20;
constexpr int64_t kMostPooledBytes = int64_t{1} << 30;
constexpr size_t kMostPooledBlocks = 64;

// ---------------------------------------------------------------------------------------------------------------------
// Pages of the system
// ---------------------------------------------------------------------------------------------------------------------

// The capacity of a large block: whole huge pages, and at most 8 sizes between a power of two and the next, so
// that arrays of about one size find each other's blocks. Huge pages wholly behind the array are never touched: no
// memory.
int64_t CapacityFor(int64_t bytes) {
  int64_t step = kHugePageBytes;
  while (step * 16 <= bytes) step *= 2;
  return RoundUpTo(bytes, step);
}

void UnmapPages(char* begin, int64_t bytes) {
  if (bytes > 0) munmap(begin, static_cast<size_t>(bytes));
}

// Zeros, from the beginning of a huge page on. Null if the system gives no more.
char* MapPages(int64_t capacity) {
  const int64_t mapped = capacity + kHugePageBytes;
  void* const pages =
      mmap(nullptr, static_cast<size_t>(mapped), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(pages);
  const int64_t before = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(begin) % kHugePageBytes);
  UnmapPages(begin, before);
  UnmapPages(begin + before + capacity, mapped - before - capacity);
#ifdef MADV_HUGEPAGE
  madvise(begin + before, static_cast<size_t>(capacity), MADV_HUGEPAGE);  // refused: small pages do, too
#endif
  return begin + before;
}

#ifdef MREMAP_DONTUNMAP
constexpr bool kMovesPages = true;

// Moves the pages at `from` to `to`, where others may be: those are unmapped. keeps_from: fresh zeros are at `from`
// afterwards; otherwise it is unmapped. All begin at a huge page, so whole tables move.
bool MovePages(char* from, char* to, int64_t capacity, bool keeps_from) {
  const size_t size = static_cast<size_t>(capacity);
  const int flags = MREMAP_MAYMOVE | MREMAP_FIXED | (keeps_from ? MREMAP_DONTUNMAP : 0);
  return mremap(from, size, size, flags, to) != MAP_FAILED;
}
#else
constexpr bool kMovesPages = false;
bool MovePages(char*, char*, int64_t, bool) { return false; }
#endif

// The pages of `to` go to `from`, over an address of their own, so that its next user need not fault them in.
bool ExchangePages(char* from, char* to, int64_t capacity) {
  char* const between = kMovesPages ? MapPages(capacity) : nullptr;
  if (between == nullptr) return false;
  const bool is_free = MovePages(to, between, capacity, /*keeps_from=*/true);
  const bool is_moved = is_free && MovePages(from, to, capacity, /*keeps_from=*/true);
  // If a step fails, there are fresh pages where others were moved away.
  if (!is_moved || !MovePages(between, from, capacity, /*keeps_from=*/false)) UnmapPages(between, capacity);
  return is_moved;
}

// Tells the system that the contents are not needed: under memory pressure it takes such pages first.
void OfferPages(char* begin, int64_t capacity) {
#ifdef MADV_FREE
  madvise(begin, static_cast<size_t>(capacity), MADV_FREE);  // if refused, the pool is bounded nevertheless
#else
  static_cast<void>(begin), static_cast<void>(capacity);
#endif
}

// ---------------------------------------------------------------------------------------------------------------------
// The pool
// ---------------------------------------------------------------------------------------------------------------------

// Freed blocks, in the order in which they came.
class BlockPool {
 public:
  // Never destroyed: objects that are destroyed later may free blocks.
  static BlockPool& Get() {
    static BlockPool* const pool = new BlockPool;
    return *pool;
  }

  int64_t limit() const { return limit_; }
  int64_t bytes() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return bytes_;
  }

  // Takes the block of this capacity that came last, whose lines may still be in a cache; null if there is none.
  char* Take(int64_t capacity) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (size_t i = count_; i > 0; --i) {
      if (blocks_[i - 1].capacity == capacity) return Remove(i - 1);
    }
    return nullptr;
  }

  // Takes the block over.
  void Add(char* begin, int64_t capacity) {
    if (capacity > limit_) return UnmapPages(begin, capacity);
    OfferPages(begin, capacity);
    const std::lock_guard<std::mutex> lock(mutex_);
    while (bytes_ + capacity > limit_ || count_ == kMostPooledBlocks) UnmapFirst();
    blocks_[count_++] = {begin, capacity};
    bytes_ += capacity;
  }

  void Clear() {
    const std::lock_guard<std::mutex> lock(mutex_);
    while (count_ > 0) UnmapFirst();
  }

 private:
  struct Block {
    char* begin;
    int64_t capacity;
  };

  BlockPool() : limit_(std::min(kMostPooledBytes, MachineMemoryBytes() / 8)) {}

  char* Remove(size_t i) {
    const Block block = blocks_[i];
    std::copy(blocks_.begin() + i + 1, blocks_.begin() + count_, blocks_.begin() + i);
    --count_;
    bytes_ -= block.capacity;
    return block.begin;
  }

  void UnmapFirst() {
    const int64_t capacity = blocks_[0].capacity;
    UnmapPages(Remove(0), capacity);
  }

  const int64_t limit_;
  std::mutex mutex_;
  std::array<Block, kMostPooledBlocks> blocks_;  // the first count_; no memory of its own, for it must not fail
  size_t count_ = 0;
  int64_t bytes_ = 0;
};

void* AllocateLarge(int64_t bytes, BlockContent content) {
  BlockPool& pool = BlockPool::Get();
  const int64_t capacity = CapacityFor(bytes);
  if (char* const block = pool.Take(capacity); block != nullptr) {
    if (content == BlockContent::kZeros) std::memset(block, 0, static_cast<size_t>(bytes));
    return block;
  }
  char* block = MapPages(capacity);
  if (block == nullptr && pool.bytes() > 0) {
    pool.Clear();
    block = MapPages(capacity);
  }
  return block;
}

void FreeLarge(void* block, int64_t bytes) { BlockPool::Get().Add(static_cast<char*>(block), CapacityFor(bytes)); }
bool MoveLarge(void* from, void* to, int64_t bytes) {
  return ExchangePages(static_cast<char*>(from), static_cast<char*>(to), CapacityFor(bytes));
}

#else

void* AllocateLarge(int64_t bytes, BlockContent content) { return AllocatePlain(bytes, content); }
void FreeLarge(void* block, int64_t) { FreePlain(block); }
bool MoveLarge(void*, void*, int64_t) { return false; }

#endif  // KASHI_MAPS_PAGES

}  // namespace

void* AllocateBlock(int64_t bytes, BlockContent content) {
  if (bytes < 0 || bytes > kMostBytes) return nullptr;
  if (HasGuardPages()) return AllocateBetweenGuards(bytes, content);
  return bytes < kLargeBlockBytes ? AllocatePlain(bytes, content) : AllocateLarge(bytes, content);
}

void FreeBlock(void* block, int64_t bytes) {
  if (block == nullptr || FreeGuarded(block)) return;
  if (bytes < kLargeBlockBytes) return FreePlain(block);
  FreeLarge(block, bytes);
}

bool MoveBlock(void* from, void* to, int64_t bytes) {
  const bool is_large = bytes >= kLargeBlockBytes && !IsGuarded(from, bytes) && !IsGuarded(to, bytes);
  return is_large && MoveLarge(from, to, bytes);
}

#ifdef KASHI_MAPS_PAGES
int64_t PooledBlockBytes() { return BlockPool::Get().bytes(); }
int64_t PooledBlockLimit() { return BlockPool::Get().limit(); }
void ReleasePooledBlocks() { BlockPool::Get().Clear(); }
#else
int64_t PooledBlockBytes() { return 0; }
int64_t PooledBlockLimit() { return 0; }
void ReleasePooledBlocks() {}
#endif

absl::StatusOr<PageBuffer> PageBuffer::Make(int64_t bytes, BlockContent content) {
  if (bytes < 0) return InvalidArgument("the size of a buffer is negative: %d bytes", bytes);
  void* const block = AllocateBlock(bytes, content);
  if (block == nullptr) return ResourceExhausted("Out of memory allocating %d bytes", bytes);
  return PageBuffer(static_cast<char*>(block), bytes);
}

}  // namespace kashi::base
