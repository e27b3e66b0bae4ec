// EvaluationRun: what the evaluation of a module shares: memory, called computations made ready, random numbers, the
// device that it plays, and its observers. One thread at a time.
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
#include "kashi/evaluator/value.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::internal {

class Device;
class ManualRegions;
class ShardingBorder;
class LaneFunction;
struct ComputationPlan;
struct ComputationPlanStep;

// What the runs of several devices share.
struct RunLimits {
  explicit RunLimits(const EvaluationOptions& options);

  std::shared_ptr<MemoryBudget> memory;
  std::shared_ptr<WorkMeter> work;
};

class EvaluationRun {
 public:
  explicit EvaluationRun(EvaluationOptions options = {});
  EvaluationRun(EvaluationOptions options, RunLimits limits);
  ~EvaluationRun();
  EvaluationRun(const EvaluationRun&) = delete;
  EvaluationRun& operator=(const EvaluationRun&) = delete;

  const EvaluationOptions& options() const { return options_; }
  Device* device() const { return options_.device; }
  const std::shared_ptr<MemoryBudget>& budget() const { return limits_.memory; }

  absl::StatusOr<Value> MakeArray(const DenseShape& shape) { return Value::MakeArray(shape, budget()); }
  absl::StatusOr<ScratchMemory> ReserveScratch(int64_t bytes, const HloInstruction& instruction);

  absl::StatusOr<Value> MakeArray(PrimitiveType type, absl::Span<const int64_t> dimensions);
  // Elements of `value` as another type; `value` itself if it is of that type.
  absl::StatusOr<Value> Convert(Value value, PrimitiveType type);

  // The root of a computation on these arguments, which it takes. RESOURCE_EXHAUSTED where calls nest too deep.
  absl::StatusOr<Value> Call(const HloComputation& computation, std::vector<Value> arguments);
  // The same for a computation on scalars. Valid as long as the run.
  absl::StatusOr<const LaneFunction*> Lanes(const HloComputation& computation);

  // One instruction alone, its operands given.
  absl::StatusOr<Value> EvaluateInstruction(const HloInstruction& instruction, absl::Span<Value> operands);

  // RESOURCE_EXHAUSTED if running the computation surely takes more work than is left.
  absl::Status CheckAffordable(const HloComputation& computation) const;
  // Why the run must end: it was cancelled, or its time is over. Loops ask every few thousand operations, from any
  // thread; what they have made when they end early nobody reads, for the step ends with this error.
  absl::Status CheckStopped() const { return limits_.work->Check(); }
  bool IsStopped() const { return limits_.work->IsOver(); }
  // kashi::internal::ParallelFor in steps of `grain`, that ends early when the run is stopped.
  void ParallelFor(int64_t n, int64_t grain,
                   absl::FunctionRef<void(int64_t begin, int64_t end, int thread)> body) const;
  // For runs of devices, which go on as others (manual_region.h).
  void set_device(Device* device) { options_.device = device; }
  absl::StatusOr<Value> EvaluateStep(const ComputationPlanStep& step, absl::Span<Value> operands);
  // What a border of a manual region does to each operand of the custom call. Valid as long as the run.
  absl::StatusOr<const std::vector<ShardingBorder>*> BordersOf(const HloInstruction& custom_call, int64_t devices);

  std::mt19937_64& random() { return random_; }
  // The state of rng-get-and-update-state, 128 bits.
  unsigned __int128& rng_state() { return rng_state_; }

 private:
  absl::StatusOr<ComputationPlan*> PlanOf(const HloComputation& computation);
  // Evaluates the steps of a plan in order; takes the arguments, and leaves in `values`, which has one a step, what
  // is still of use: the root.
  absl::Status PlaceSteps(const HloComputation& computation, ComputationPlan* plan);
  absl::Status RunPlan(ComputationPlan& plan, absl::Span<Value> arguments, absl::Span<Value> values);
  absl::StatusOr<Value> RunStep(const ComputationPlanStep& step, absl::Span<Value> operands);
  absl::StatusOr<Value> RunOperation(const ComputationPlanStep& step, absl::Span<Value> operands,
                                     absl::Span<const DenseShape> results, int64_t work);
  absl::StatusOr<Value> RunInPlace(const ComputationPlanStep& step, absl::Span<Value> operands);

  EvaluationOptions options_;
  RunLimits limits_;
  absl::flat_hash_map<const HloComputation*, std::unique_ptr<ComputationPlan>> plans_;
  absl::flat_hash_map<const HloComputation*, std::unique_ptr<LaneFunction>> lane_functions_;
  absl::flat_hash_map<const HloInstruction*, std::unique_ptr<std::vector<ShardingBorder>>> borders_;
  std::unique_ptr<ManualRegions> regions_;  // of a global program
  int call_depth_ = 0;
  std::mt19937_64 random_;
  unsigned __int128 rng_state_;
};

}  // namespace kashi::internal

#endif  // KASHI_EVALUATOR_EVALUATION_RUN_H_
