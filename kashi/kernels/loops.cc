#include "kashi/kernels/loops.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "kashi/base/status.h"
#include "kashi/base/try_parallel.h"

namespace kashi::kernels {

absl::Status StoppableParallelFor(StopFunction check_stopped, bool parallel, int64_t n, int64_t grain,
                                  absl::FunctionRef<absl::Status(int64_t begin, int64_t end, int thread)> body) {
  std::atomic<bool> stop{false};
  const auto steps = [&](int64_t begin, int64_t end, int thread) -> absl::Status {
    for (int64_t at = begin; at < end && !stop.load(std::memory_order_relaxed); at += std::min(grain, end - at)) {
      absl::Status status = check_stopped();
      if (status.ok()) status = body(at, at + std::min(grain, end - at), thread);
      if (status.ok()) continue;
      stop.store(true, std::memory_order_relaxed);
      return status;
    }
    return absl::OkStatus();
  };
  return parallel ? base::TryParallelFor(n, grain, steps) : steps(0, n, 0);
}

absl::Status StoppableParallelFor(StopFunction check_stopped, int64_t n, int64_t grain,
                                  absl::FunctionRef<void(int64_t begin, int64_t end, int thread)> body) {
  return base::TryParallelFor(n, grain, [&](int64_t begin, int64_t end, int thread) -> absl::Status {
    for (int64_t at = begin; at < end; at += std::min(grain, end - at)) {
      KASHI_RETURN_IF_ERROR(check_stopped());
      body(at, at + std::min(grain, end - at), thread);
    }
    return absl::OkStatus();
  });
}

int64_t ParallelGrain(int64_t operations_per_step) {
  constexpr int64_t kOperationsPerPiece = 16384;
  return std::max<int64_t>(1, kOperationsPerPiece / std::max<int64_t>(1, operations_per_step));
}

void FillElements(int element_bytes, const void* element, char* target, int64_t n) {
  SwitchBytes(element_bytes, [&](auto type) {
    decltype(type) value;
    std::memcpy(&value, element, sizeof(value));
    std::fill_n(reinterpret_cast<decltype(type)*>(target), n, value);
  });
}

void GatherStrided(int element_bytes, const char* source, int64_t stride, char* target, int64_t n) {
  SwitchBytes(element_bytes, [&](auto type) {
    using T = decltype(type);
    const T* from = reinterpret_cast<const T*>(source);
    T* to = reinterpret_cast<T*>(target);
    for (int64_t j = 0; j < n; ++j) to[j] = from[j * stride];
  });
}

void GatherRuns(int element_bytes, const char* source, const int64_t* positions, int64_t n, int64_t depth,
                char* target) {
  SwitchBytes(element_bytes, [&](auto type) {
    using T = decltype(type);
    T* to = reinterpret_cast<T*>(target);
    for (int64_t j = 0; j < n; ++j) {
      const T* from = reinterpret_cast<const T*>(source) + positions[j];
      for (int64_t d = 0; d < depth; ++d) to[d * n + j] = from[d];
    }
  });
}

}  // namespace kashi::kernels
