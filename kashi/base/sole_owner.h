// Whether nobody else refers to an object.
#ifndef KASHI_BASE_SOLE_OWNER_H_
#define KASHI_BASE_SOLE_OWNER_H_

#include <atomic>
#include <memory>
#include <mutex>

#include "kashi/base/sanitizers.h"

namespace kashi::base {

#if KASHI_THREAD_SANITIZED
inline std::mutex sole_owner_mutex;
#endif

// Whether the pointer is the only one to its object. All that other owners, of any thread, did with the object then
// happened before, so that it may be changed: use_count() alone does not promise this.
template <typename T>
bool IsSoleOwner(const std::shared_ptr<T>& pointer) {
#if KASHI_THREAD_SANITIZED
  // ThreadSanitizer knows no fences. A copy acquires, too; one thread at a time, so that none sees another's copy.
  const std::lock_guard<std::mutex> lock(sole_owner_mutex);
  if (pointer.use_count() != 1) return false;
  const std::shared_ptr<T> copy = pointer;
#else
  if (pointer.use_count() != 1) return false;
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
  return true;
}

}  // namespace kashi::base

#endif  // KASHI_BASE_SOLE_OWNER_H_
