// The parallel loop of Kashi. The first call with enough work creates a pool of threads. The pool exists until the
// process ends; any number of threads may use it at the same time.
//
//   std::vector<double> sums(ParallelThreadCount());
//   ParallelFor(n, /*grain=*/1024, [&](int64_t begin, int64_t end, int thread) {
//     for (int64_t i = begin; i < end; ++i) sums[thread] += f(i);
//   });
#ifndef KASHI_BASE_PARALLEL_H_
#define KASHI_BASE_PARALLEL_H_

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace kashi::internal {

// Threads that may take part in a loop, the caller included: the machine's hardware threads, at least 1. Constant.
int ParallelThreadCount();

// Calls body(begin, end, thread) for ranges that together are [0, n), each number once, and returns when all are done.
// Ranges are at least `grain` long but for the last one; a loop that fits one range runs inline. A thread may get
// several, neighbours if it can, and about the same in each loop over n: its caches know what they are about. `thread`
// is in [0, ParallelThreadCount()), no two calls that run at the same time in one loop have the same, and the caller's
// is 0. A loop inside a body runs inline, in one range, under that body's thread number. What the bodies wrote is
// visible to the caller afterwards.
void ParallelFor(int64_t n, int64_t grain, absl::FunctionRef<void(int64_t begin, int64_t end, int thread)> body);

}  // namespace kashi::internal

#endif  // KASHI_BASE_PARALLEL_H_
