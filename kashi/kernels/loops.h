// Loops over elements that several operations share: in parallel and until somebody stops them, and the gathering of
// elements.
#ifndef KASHI_KERNELS_LOOPS_H_
#define KASHI_KERNELS_LOOPS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "kashi/base/parallel.h"
#include "kashi/base/work_meter.h"
#include "kashi/kernels/element_size.h"

namespace kashi::kernels {

// A ParallelFor in steps of `grain`, or a loop on this thread if not `parallel`. Ends early with the error if a body
// fails, or with that of check_stopped.
absl::Status StoppableParallelFor(StopFunction check_stopped, bool parallel, int64_t n, int64_t grain,
                                  absl::FunctionRef<absl::Status(int64_t begin, int64_t end, int thread)> body);
// Runs in parallel, with bodies that do not fail.
absl::Status StoppableParallelFor(StopFunction check_stopped, int64_t n, int64_t grain,
                                  absl::FunctionRef<void(int64_t begin, int64_t end, int thread)> body);

// One T for each thread of a loop, made at its first use.
template <typename T>
class PerThread {
 public:
  PerThread() : items_(base::ParallelThreadCount()) {}
  template <typename... Args>
  T& Get(int thread, const Args&... args) {
    if (items_[thread] == nullptr) items_[thread] = std::make_unique<T>(args...);
    return *items_[thread];
  }

 private:
  std::vector<std::unique_ptr<T>> items_;
};

// The number of steps, each with this number of operations on elements, that is enough work for a thread.
int64_t ParallelGrain(int64_t operations_per_step);

// target[0, n) = the one element. 1, 2, 4, 8 or 16 bytes.
void FillElements(int element_bytes, const void* element, char* target, int64_t n);

// target[j] = source[j * stride], strides counting elements.
void GatherStrided(int element_bytes, const char* source, int64_t stride, char* target, int64_t n);
// target[j] = source[positions[j]].
template <typename Position>
void GatherElements(int element_bytes, const char* source, const Position* positions, char* target, int64_t n) {
  SwitchBytes(element_bytes, [&](auto type) {
    using T = decltype(type);
    const T* from = reinterpret_cast<const T*>(source);
    T* to = reinterpret_cast<T*>(target);
    for (int64_t j = 0; j < n; ++j) to[j] = from[positions[j]];
  });
}

// target[d][j] = source[positions[j] + d], for d in [0, depth), j in [0, n).
void GatherRuns(int element_bytes, const char* source, const int64_t* positions, int64_t n, int64_t depth,
                char* target);

}  // namespace kashi::kernels

#endif  // KASHI_KERNELS_LOOPS_H_
