// EvaluationRun: the state of the evaluation of a module: memory, plans of called computations, random numbers, the
// device, and the observers. Not thread-safe.
#ifndef KASHI_EVALUATOR_EVALUATION_RUN_H_
#define KASHI_EVALUATOR_EVALUATION_RUN_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/base/work_meter.h"
#include "kashi/evaluator/evaluation_options.h"
#include "kashi/evaluator/run_hooks.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/values/run_limits.h"
#include "kashi/values/value.h"

namespace kashi::devices {
class ShardingBorder;
}  // namespace kashi::devices

namespace kashi::evaluator {

class CompiledStep;
class ManualRegions;
class LaneFunction;
class StepClock;
class UnroundedResults;
struct ComputationPlan;
struct ComputationPlanStep;
struct Operation;
struct UnroundedStep;

values::RunLimits LimitsOf(const EvaluationOptions& options);

class EvaluationRun {
 public:
  explicit EvaluationRun(EvaluationOptions options = {}, RunHooks hooks = {});
  EvaluationRun(EvaluationOptions options, RunHooks hooks, values::RunLimits limits);
  ~EvaluationRun();
  EvaluationRun(const EvaluationRun&) = delete;
  EvaluationRun& operator=(const EvaluationRun&) = delete;

  const EvaluationOptions& options() const { return options_; }
  const RunHooks& hooks() const { return hooks_; }
  devices::Device* device() const { return hooks_.device; }
  const std::shared_ptr<MemoryBudget>& budget() const { return limits_.memory; }
  const values::RunLimits& limits() const { return limits_; }
  // The clock of RunHooks::profile; null: nothing is measured.
  StepClock* step_clock() const { return step_clock_; }

  absl::StatusOr<Value> MakeArray(const DenseShape& shape) { return Value::MakeArray(shape, budget()); }
  absl::StatusOr<ScratchMemory> ReserveScratch(int64_t bytes, const HloInstruction& instruction);

  absl::StatusOr<Value> MakeArray(PrimitiveType type, absl::Span<const int64_t> dimensions);
  // Converts the elements of `value`. Returns `value` itself if it has this type.
  absl::StatusOr<Value> Convert(Value value, PrimitiveType type);

  // Evaluates the root of a computation; takes the arguments. RESOURCE_EXHAUSTED if calls are nested too deep.
  absl::StatusOr<Value> Call(const HloComputation& computation, std::vector<Value> arguments);
  // Call with arguments and a result that may have unrounded numbers beside them (Value::unrounded).
  absl::StatusOr<Value> CallUnrounded(const HloComputation& computation, std::vector<Value> arguments);
  // Call for an engine that runs the computation in its own way: checks the arguments, calls the observers of
  // calls, and lets `body`, which takes the arguments, compute the result. Pre: not sees_instructions.
  absl::StatusOr<Value> CallBy(const HloComputation& computation, std::vector<Value> arguments,
                               absl::FunctionRef<absl::StatusOr<Value>(absl::Span<Value> arguments)> body);
  // Whether each instruction must run by itself: an observer sees it, or the devices of a global program run
  // it in their own ways.
  bool sees_instructions() const { return options_.global_devices > 1 || options_.observer; }
  // Call for a computation that is one collective operation, which `start` starts (collective_exchange.h): the
  // value may be pending.
  absl::StatusOr<Value> BeginCall(const HloComputation& computation, std::vector<Value> arguments,
                                  const HloInstruction& start);
  // The results of its program that are not rounded for converts; null: all are rounded. Valid as long as the run.
  const UnroundedResults* UnroundedResultsOf(const HloComputation& computation);
  // The lane function of a computation on scalars. Valid as long as the run.
  absl::StatusOr<const LaneFunction*> Lanes(const HloComputation& computation);

  // Evaluates one instruction with these operands.
  absl::StatusOr<Value> EvaluateInstruction(const HloInstruction& instruction, absl::Span<Value> operands);

  // RESOURCE_EXHAUSTED if the least work of the computation exceeds the remaining work.
  absl::Status CheckAffordable(const HloComputation& computation) const;
  // The error with which the run must end: it was cancelled, or its deadline has passed. Loops call this every few
  // thousand operations, from any thread. A loop that ends early returns this error. After the first error, every later
  // call returns one, and Call checks once more before it returns a result.
  [[nodiscard]] absl::Status CheckStopped() const { return limits_.work->Check(); }
  // CheckStopped, and counts element operations of a compiled loop: RESOURCE_EXHAUSTED beyond the limit.
  [[nodiscard]] absl::Status Spend(int64_t work) const { return limits_.work->Spend(work); }
  // The error of a loop with more than EvaluationOptions::max_loop_iterations.
  absl::Status LoopIsTooLong(const HloInstruction& loop) const;
  // For manual regions, which continue as runs of each device (manual_region.h).
  void set_device(devices::Device* device) { hooks_.device = device; }
  // `start`: Operation::start.
  absl::StatusOr<Value> EvaluateStep(const ComputationPlanStep& step, absl::Span<Value> operands,
                                     const HloInstruction* start = nullptr);
  // EvaluateStep with memory of the caller for results: result_memory[i], if it is an array, may become result i. The
  // result may still be in other memory.
  absl::StatusOr<Value> EvaluateStep(const ComputationPlanStep& step, absl::Span<Value> operands,
                                     absl::Span<Value> result_memory);
  // The conversion of each operand at the border of a manual region. Valid as long as the run.
  absl::StatusOr<const std::vector<devices::ShardingBorder>*> BordersOf(const HloInstruction& custom_call,
                                                                        int64_t devices);

  std::mt19937_64& random() { return random_; }
  // The state of rng-get-and-update-state, 128 bits.
  unsigned __int128& rng_state() { return rng_state_; }

 private:
  absl::StatusOr<ComputationPlan*> PlanOf(const HloComputation& computation);
  // Evaluates the steps of a plan in order. Takes the arguments. `values` has one value per step; after the call only
  // the root is left in it.
  absl::Status PlaceSteps(const HloComputation& computation, ComputationPlan* plan);
  absl::Status BeginCallOf(const HloComputation& computation, size_t arguments) const;
  absl::Status RunPlan(ComputationPlan& plan, absl::Span<Value> arguments, absl::Span<Value> values);
  absl::StatusOr<Value> RunStep(const ComputationPlanStep& step, absl::Span<Value> operands,
                                const HloInstruction* start);
  absl::StatusOr<Value> RunOperation(const ComputationPlanStep& step, absl::Span<Value> operands,
                                     absl::Span<const DenseShape> results, int64_t work, const HloInstruction* start);
  absl::StatusOr<Value> RunUnrounded(const UnroundedStep& unrounded, absl::Span<Value> operands);
  absl::StatusOr<Value> RunCompiledStep(const CompiledStep& step, Operation& operation);
  absl::StatusOr<Value> RunInPlace(const ComputationPlanStep& step, absl::Span<Value> operands);

  EvaluationOptions options_;
  RunHooks hooks_;
  values::RunLimits limits_;
  absl::flat_hash_map<const HloComputation*, std::unique_ptr<ComputationPlan>> plans_;
  absl::flat_hash_map<const HloComputation*, std::unique_ptr<LaneFunction>> lane_functions_;
  // By module, or by computation outside of a module.
  absl::flat_hash_map<const void*, std::unique_ptr<UnroundedResults>> unrounded_results_;
  absl::flat_hash_map<const HloInstruction*, std::unique_ptr<std::vector<devices::ShardingBorder>>> borders_;
  std::unique_ptr<ManualRegions> regions_;  // only in a global program
  StepClock* step_clock_ = nullptr;
  absl::Span<Value> result_memory_;  // of the operation that comes next
  int call_depth_ = 0;
  std::mt19937_64 random_;
  unsigned __int128 rng_state_;
};

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_EVALUATION_RUN_H_
