// Loops of an operation on the threads of this process.
#ifndef KASHI_EVALUATOR_PARALLEL_FOR_H_
#define KASHI_EVALUATOR_PARALLEL_FOR_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/kernels/loops.h"

namespace kashi::evaluator {

// kashi::evaluator::ParallelFor in steps of `grain`. If the run is stopped, not all bodies are called, and this is the
// error of EvaluationRun::CheckStopped.
[[nodiscard]] inline absl::Status ParallelFor(const EvaluationRun& run, int64_t n, int64_t grain,
                                              absl::FunctionRef<void(int64_t begin, int64_t end, int thread)> body) {
  return kernels::StoppableParallelFor([&run] { return run.CheckStopped(); }, n, grain, body);
}

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_PARALLEL_FOR_H_
