#include "kashi/engine/run_pool.h"

#include "absl/algorithm/container.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::engine {
namespace {

bool DrawsNumbers(const HloModule& module) {
  return absl::c_any_of(module.computations(), [](const HloComputation* computation) {
    return absl::c_any_of(computation->instructions(), [](const HloInstruction* instruction) {
      return instruction->opcode() == HloOpcode::kRng || instruction->opcode() == HloOpcode::kRngGetAndUpdateState;
    });
  });
}

}  // namespace

RunPool::RunPool(const HloModule& module, EvaluationOptions options, evaluator::RunHooks hooks,
                 std::shared_ptr<MemoryBudget> memory)
    : keeps_runs_(!DrawsNumbers(module)), options_(std::move(options)), hooks_(hooks), memory_(std::move(memory)) {}

void RunPool::Keep(std::unique_ptr<evaluator::EvaluationRun> run) {
  std::unique_ptr<evaluator::EvaluationRun> oldest;  // freed without the lock
  const absl::MutexLock lock(&mutex_);
  if (free_.size() == kMostKept) {
    oldest = std::move(free_.front());
    free_.erase(free_.begin());
  }
  free_.push_back(std::move(run));
}

std::unique_ptr<evaluator::EvaluationRun> RunPool::Take(const std::atomic<bool>* cancelled) {
  {
    const absl::MutexLock lock(&mutex_);
    for (auto run = free_.rbegin(); run != free_.rend(); ++run) {
      if ((*run)->options().cancelled != cancelled) continue;
      std::unique_ptr<evaluator::EvaluationRun> taken = std::move(*run);
      free_.erase(std::next(run).base());
      return taken;
    }
  }
  EvaluationOptions options = options_;
  options.cancelled = cancelled;
  values::RunLimits limits = evaluator::LimitsOf(options);
  if (memory_ != nullptr) limits.memory = memory_;
  return std::make_unique<evaluator::EvaluationRun>(std::move(options), hooks_, std::move(limits));
}

}  // namespace kashi::engine
