// Whether nobody else refers to an object.
#ifndef KASHI_BASE_SOLE_OWNER_H_
#define KASHI_BASE_SOLE_OWNER_H_

#include <atomic>
#include <memory>

#include "kashi/base/sanitizers.h"

namespace kashi::base {

// Whether the pointer is the only one to its object. All that other owners, of any thread, did with the object then
// happened before, so that it may be changed: use_count() alone does not promise this.
template <typename T>
bool IsSoleOwner(const std::shared_ptr<T>& pointer) {
  if (pointer.use_count() != 1) return false;
#if KASHI_SANITIZED
  const std::shared_ptr<T> copy = pointer;  // ThreadSanitizer knows no fences; counting acquires, too
#else
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
  return true;
}

}  // namespace kashi::base

#endif  // KASHI_BASE_SOLE_OWNER_H_
