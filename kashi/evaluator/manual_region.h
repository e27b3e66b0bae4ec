// Runs a global program: its values are whole arrays, and it has one thread and no devices, except in its manual
// regions, which run on each device.
//
//   x      f32[8,16]  here            the whole array
//   f2s    f32[4,4]   on devices      SPMDFullToShardShape: each device's part of x
//   call   f32[4,8]   on devices      the body of shard_map: collectives, partition-id …
//   s2f    f32[8,8]   out of region   SPMDShardToFullShape: the parts put together
//   y      f32[8,8]   here
//
// ManualFlow finds the place of each instruction from the flow of data only, because dumps differ: a region may be a
// call or inlined, with shardings on all instructions or on none. A value differs on each device if it comes from a
// border into a region, from partition-id or from a collective across partitions. So does every value computed from it,
// up to a border out of the region.
//
// A step on devices runs on one device after the other, or, if devices exchange data in it, with one thread per device
// (device_group.h). A region within a region (manual over more axes of the mesh) runs on each device separately: values
// that are equal on several devices are computed on each of them.
#ifndef KASHI_EVALUATOR_MANUAL_REGION_H_
#define KASHI_EVALUATOR_MANUAL_REGION_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/evaluator/computation_plan.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/values/value.h"

namespace kashi::evaluator {

// The places where the instructions of a global program run. O(instructions).
class ManualFlow {
 public:
  explicit ManualFlow(const HloModule& module);

  StepPlace PlaceOf(const HloInstruction& instruction) const;
  // Whether devices exchange values in it, or in a computation that it calls.
  bool Meets(const HloInstruction& instruction) const { return meets_.contains(&instruction); }
  // INVALID_ARGUMENT, with the instruction that causes it, if the result is different on each device. XLA's partitioner
  // rejects such programs too.
  absl::Status CheckResult() const;

 private:
  void FindRegionComputations();
  void Visit(const HloInstruction& instruction);
  bool IsSource(const HloInstruction& instruction) const;
  // Whether it goes from a region into an enclosing region, so that its result is still different on each device.
  bool StaysInRegion(const HloInstruction& border) const;

  const HloModule& module_;
  absl::flat_hash_set<const HloComputation*> in_shardy_region_;
  absl::flat_hash_set<const HloInstruction*> on_devices_;
  absl::flat_hash_set<const HloInstruction*> meets_;
};

// The state of the devices of such a run.
class ManualRegions {
 public:
  // Each device's run gets the options, hooks and limits of the program's run.
  ManualRegions(const HloModule& module, const EvaluationOptions& options, const RunHooks& hooks,
                values::RunLimits limits);
  ~ManualRegions();

  const ManualFlow& flow() const { return flow_; }

  // The values of a step on all devices, as a tuple with one value per device. Operands whose instructions are on
  // devices are such tuples too.
  absl::StatusOr<Value> RunOnDevices(const ComputationPlanStep& step, absl::Span<Value> operands);
  // The value of a step out of a region.
  absl::StatusOr<Value> RunOutOfRegion(EvaluationRun& run, const ComputationPlanStep& step, absl::Span<Value> operands);

 private:
  void MakeRuns();
  std::vector<std::vector<Value>> OperandsOfDevices(const HloInstruction& instruction,
                                                    absl::Span<Value> operands) const;
  bool IsOnDevices(const HloInstruction& instruction) const {
    return flow_.PlaceOf(instruction) == StepPlace::kOnDevices;
  }

  const ManualFlow flow_;
  const EvaluationOptions options_;
  const RunHooks hooks_;
  const values::RunLimits limits_;
  const int64_t devices_;
  std::vector<std::unique_ptr<EvaluationRun>> runs_;  // one per device; made for the first step
};

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_MANUAL_REGION_H_
