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

namespace kashi::base {

// Threads that may take part in a loop, the caller included: the processors that the process may use (processors.h).
// Constant.
int ParallelThreadCount();

// Calls body(begin, end, thread) for disjoint ranges that cover [0, n), and returns when all calls are done. Each range
// except the last has at least `grain` numbers; a loop that fits one range runs inline. A thread may get several
// ranges, neighbours if possible, and about the same ones in each loop over n, so that its caches hold their data.
// `thread` is in [0, ParallelThreadCount()): calls that run at the same time in one loop have different numbers, and
// the caller has 0. A loop inside a body runs inline, in one range, under that body's thread number. Memory that the
// bodies write is visible to the caller afterwards. If bodies throw exceptions, one of them is thrown when all calls
// are done, on the caller's thread.
void ParallelFor(int64_t n, int64_t grain, absl::FunctionRef<void(int64_t begin, int64_t end, int thread)> body);

}  // namespace kashi::base

#endif  // KASHI_BASE_PARALLEL_H_
