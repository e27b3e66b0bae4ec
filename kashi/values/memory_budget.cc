#include "kashi/values/memory_budget.h"

#include "kashi/base/guard_pages.h"
#include "kashi/base/machine.h"
#include "kashi/base/page_buffer.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"

namespace kashi {

using base::AllocateBlock;
using base::AllocateGuarded;
using base::DefaultMemoryLimit;
using base::FreeBlock;
using base::FreeGuarded;
using base::HasGuardPages;
using base::kBlockAlignment;
using base::kLargeBlockBytes;
namespace {

constexpr int64_t kSmallestKept = int64_t{1} << 16;
constexpr int64_t kMostKept = int64_t{1} << 28;

}  // namespace

// Blocks of a power of two, or of three quarters of one, so that those kept fit the next array. Large ones as they are:
// AllocateBlock has a pool for them.
int64_t MemoryBudget::CapacityFor(int64_t bytes) {
  if (bytes >= kLargeBlockBytes) return bytes;
  int64_t capacity = kBlockAlignment;
  while (capacity < bytes) capacity *= 2;
  const int64_t three_quarters = capacity / 4 * 3;
  return three_quarters >= bytes && three_quarters % kBlockAlignment == 0 ? three_quarters : capacity;
}

bool MemoryBudget::IsKept(int64_t capacity) { return capacity >= kSmallestKept && capacity < kLargeBlockBytes; }

MemoryBudget::~MemoryBudget() { DropKept(); }

int64_t MemoryBudget::limit() {
  if (limit_.load(std::memory_order_relaxed) <= 0) {
    int64_t unknown = 0;
    limit_.compare_exchange_strong(unknown, DefaultMemoryLimit());
  }
  return limit_.load(std::memory_order_relaxed);
}

absl::Status MemoryBudget::Reserve(int64_t bytes, absl::string_view what) {
  if (Take(bytes)) return absl::OkStatus();
  return WithLimitKind(ResourceExhausted("Out of memory allocating %d bytes for %s; %d of the limit of %d are in use",
                                         bytes, what, used(), limit()),
                       LimitKind::kMemory);
}

bool MemoryBudget::Take(int64_t bytes) {
  const int64_t limit = this->limit();
  int64_t used = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > limit - used) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return true;
}

void* MemoryBudget::TakeKept(int64_t capacity) {
  if (!IsKept(capacity)) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = kept_.find(capacity);
  if (found == kept_.end()) return nullptr;
  void* data = found->second;
  kept_.erase(found);
  kept_bytes_ -= capacity;
  return data;
}

void MemoryBudget::DropKept() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [capacity, data] : kept_) FreeBlock(data, capacity);
  kept_.clear();
  kept_bytes_ = 0;
}

void* MemoryBudget::AllocateCapacity(int64_t capacity) {
  void* data = TakeKept(capacity);
  if (data == nullptr) data = AllocateBlock(capacity);
  if (data == nullptr) {
    DropKept();
    data = AllocateBlock(capacity);
  }
  return data;
}

void* MemoryBudget::Allocate(int64_t bytes) {
  if (!Take(bytes)) return nullptr;
  void* data = HasGuardPages() ? AllocateGuarded(bytes, /*alignment=*/1) : AllocateCapacity(CapacityFor(bytes));
  if (data == nullptr) used_.fetch_sub(bytes, std::memory_order_relaxed);
  return data;
}

void MemoryBudget::Free(void* data, int64_t bytes) {
  used_.fetch_sub(bytes, std::memory_order_relaxed);
  if (FreeGuarded(data)) return;
  const int64_t capacity = CapacityFor(bytes);
  if (IsKept(capacity)) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (kept_bytes_ + capacity <= kMostKept) {
      kept_.emplace(capacity, data);
      kept_bytes_ += capacity;
      return;
    }
  }
  FreeBlock(data, capacity);
}

absl::StatusOr<ScratchMemory> ScratchMemory::Reserve(std::shared_ptr<MemoryBudget> budget, int64_t bytes,
                                                     absl::string_view what) {
  KASHI_RETURN_IF_ERROR(budget->Reserve(bytes, what));
  return ScratchMemory(std::move(budget), bytes);
}

}  // namespace kashi
