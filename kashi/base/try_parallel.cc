#include "kashi/base/try_parallel.h"

#include <atomic>
#include <mutex>
#include <utility>

#include "kashi/base/parallel.h"

namespace kashi::base {

absl::Status TryParallelFor(int64_t n, int64_t grain,
                            absl::FunctionRef<absl::Status(int64_t begin, int64_t end, int thread)> body) {
  std::atomic<bool> has_failed{false};
  std::mutex mutex;
  absl::Status error;
  ParallelFor(n, grain, [&](int64_t begin, int64_t end, int thread) {
    if (has_failed.load(std::memory_order_relaxed)) return;
    absl::Status status = body(begin, end, thread);
    if (status.ok()) return;
    const std::lock_guard<std::mutex> lock(mutex);
    if (error.ok()) error = std::move(status);
    has_failed.store(true, std::memory_order_relaxed);
  });
  return error;
}

}  // namespace kashi::base
