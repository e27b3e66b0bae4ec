// RunPool: runs that no call uses at the moment, for later calls. They have the plans of the computations, and memory.
#ifndef KASHI_ENGINE_RUN_POOL_H_
#define KASHI_ENGINE_RUN_POOL_H_

#include <atomic>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "kashi/evaluator/evaluation_options.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/run_hooks.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/values/value.h"

namespace kashi::engine {

// Thread-safe. A run whose program draws random numbers is used once, so that each call begins with the seed. A run
// that failed is not used again.
class RunPool {
 public:
  // memory: for all runs together; null: each run has its own.
  RunPool(const HloModule& module, EvaluationOptions options, evaluator::RunHooks hooks,
          std::shared_ptr<MemoryBudget> memory = nullptr);

  // Calls `use` with a run that no other thread uses. The run ends when the flag is set (null: never).
  template <typename Use>
  auto With(const std::atomic<bool>* cancelled, const Use& use) {
    std::unique_ptr<evaluator::EvaluationRun> run = Take(cancelled);
    auto result = use(*run);
    if (keeps_runs_ && result.ok()) Keep(std::move(run));
    return result;
  }

 private:
  // A flag other than those of the last calls gets a new run, and the oldest run is freed.
  static constexpr size_t kMostKept = 16;

  void Keep(std::unique_ptr<evaluator::EvaluationRun> run);
  std::unique_ptr<evaluator::EvaluationRun> Take(const std::atomic<bool>* cancelled);

  const bool keeps_runs_;
  const EvaluationOptions options_;
  const evaluator::RunHooks hooks_;
  const std::shared_ptr<MemoryBudget> memory_;
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<evaluator::EvaluationRun>> free_;
};

}  // namespace kashi::engine

#endif  // KASHI_ENGINE_RUN_POOL_H_
