// The parallel loop (parallel.h) with bodies that may fail.
#ifndef KASHI_BASE_TRY_PARALLEL_H_
#define KASHI_BASE_TRY_PARALLEL_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace kashi::base {

// ParallelFor with bodies that may fail, or end early: after an error no other range begins, and one of the errors is
// returned. Then not all bodies were called.
[[nodiscard]] absl::Status TryParallelFor(int64_t n, int64_t grain,
                                          absl::FunctionRef<absl::Status(int64_t begin, int64_t end, int thread)> body);

}  // namespace kashi::base

#endif  // KASHI_BASE_TRY_PARALLEL_H_
