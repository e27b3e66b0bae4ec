// MemoryBudget: the memory of a run. ScratchMemory: memory that an operation takes from it besides its results.
#ifndef KASHI_VALUES_MEMORY_BUDGET_H_
#define KASHI_VALUES_MEMORY_BUDGET_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kashi {

// The memory of a run: a limit on the bytes of its arrays, and an allocator. The allocator keeps freed blocks for the
// next arrays, because fresh memory costs a page fault every 4 KiB, which takes longer than most operations. The run
// keeps blocks of medium size. Large blocks come from the pool of the process (kashi/base/page_buffer.h), which keeps
// them after the run. Kept blocks do not count against the limit. Thread-safe.
class MemoryBudget {
 public:
  // 0: seven eighths of the memory that the machine and its control groups have available at the first allocation. The
  // rest is for memory that no budget counts: modules, arguments, the system.
  explicit MemoryBudget(int64_t limit_bytes) : limit_(limit_bytes) {}
  ~MemoryBudget();
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // Uninitialised, aligned to 64 bytes; with guard pages (kashi/base/guard_pages.h), between them, and aligned to the
  // elements. Null if the limit is reached or the machine has no more memory.
  void* Allocate(int64_t bytes);
  void Free(void* data, int64_t bytes);

  // Counts memory that the caller allocates: scratch. RESOURCE_EXHAUSTED if the limit is reached; the error names the
  // purpose.
  absl::Status Reserve(int64_t bytes, absl::string_view what);
  void Release(int64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

  int64_t used() const { return used_.load(std::memory_order_relaxed); }
  int64_t limit();

 private:
  static int64_t CapacityFor(int64_t bytes);
  static bool IsKept(int64_t capacity);
  // Returns false and counts nothing if the limit is reached.
  bool Take(int64_t bytes);
  void* TakeKept(int64_t capacity);
  void* AllocateCapacity(int64_t capacity);
  void DropKept();

  std::atomic<int64_t> used_{0};
  std::atomic<int64_t> limit_;  // 0: not determined yet
  std::mutex mutex_;
  std::multimap<int64_t, void*> kept_;  // by capacity
  int64_t kept_bytes_ = 0;
};

// Memory of an operation besides its results. It is counted during the lifetime of this object.
class ScratchMemory {
 public:
  static absl::StatusOr<ScratchMemory> Reserve(std::shared_ptr<MemoryBudget> budget, int64_t bytes,
                                               absl::string_view what);
  ScratchMemory(ScratchMemory&&) = default;
  ~ScratchMemory() {
    if (budget_ != nullptr) budget_->Release(bytes_);
  }

 private:
  ScratchMemory(std::shared_ptr<MemoryBudget> budget, int64_t bytes) : budget_(std::move(budget)), bytes_(bytes) {}
  std::shared_ptr<MemoryBudget> budget_;
  int64_t bytes_;
};

}  // namespace kashi

#endif  // KASHI_VALUES_MEMORY_BUDGET_H_
