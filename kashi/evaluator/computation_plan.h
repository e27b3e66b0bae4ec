// A computation that is ready to run: its instructions in order. Each has its function, the positions of its operands,
// and marks for operands whose last use it is.
#ifndef KASHI_EVALUATOR_COMPUTATION_PLAN_H_
#define KASHI_EVALUATOR_COMPUTATION_PLAN_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/buffers/linear_schedule.h"
#include "kashi/custom_calls/lapack_call.h"
#include "kashi/evaluator/excess_precision.h"
#include "kashi/evaluator/operation_table.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/kernels/element_kernel.h"
#include "kashi/values/value.h"

namespace kashi::evaluator {

class CompiledStep;

// Where a step of a global program (manual_region.h) runs: once for all devices, on each device, or at the border that
// joins the values of the devices.
enum class StepPlace : char { kHere, kOnDevices, kOutOfRegion };

struct UnroundedStep;

struct ComputationPlanStep {
  // The last use of a value moves it to the operation, which may write to its memory.
  struct Operand : buffers::ScheduledInstruction::Operand {
    bool is_last_unrounded_use = false;
  };
  const HloInstruction* instruction;
  EvaluationFunction function;  // null: cannot be evaluated
  // The error if it can never run: there is no function, an operand is not an array but the operation needs arrays, or
  // no memory could hold the result. The functions rely on this check.
  absl::Status refusal;
  absl::InlinedVector<Operand, 2> operands;
  std::vector<DenseShape> results;  // as in Operation; empty if sizes are only known at run time
  // Despite the refusal, `function` can run on a device with such transfers (transfers.h).
  bool is_transfer = false;
  bool has_dynamic_sizes;
  int64_t work = 1;  // WorkOf (work.h), unless sizes are dynamic
  // The operation moves elements, but its operands have a different floating-point type than its result. TPU compilers
  // write such text: `bf16[4] reshape(f32[2,2] x)`. The operands are converted first.
  bool converts_operands;
  // The value may differ from the instruction's shape: in floating-point types, or with computed sizes instead of
  // static ones. It is converted, or it is an error.
  bool may_differ_from_shape;
  // Used instead of `function` if converts take the result before it is rounded (excess_precision.h). Null: none.
  std::unique_ptr<const UnroundedStep> unrounded;
  bool takes_unrounded = false;  // a convert, or a call that hands such values on
  bool keeps_unrounded = false;  // a later step takes the value of this one unrounded, or the caller
  StepPlace place = StepPlace::kHere;
  const CompiledStep* compiled = nullptr;                // instead of `function`
  std::unique_ptr<const kernels::ElementKernel> kernel;  // null: not elementwise, or not for these types
  // Of a custom call of LAPACK, whose runs share it; null: none, or it has an error, which each run gives.
  std::unique_ptr<const custom_calls::LapackBinding> lapack;
  // Of a call of cuBLAS or cuDNN: likewise, the operations it stands for (kashi/gpu_calls).
  std::shared_ptr<const HloModule> gpu_call;
  Value constant;  // made when the step first runs; nothing: not a constant
};

// Computes such a result in f32.
struct UnroundedStep {
  WideInstruction wide;
  bool has_wide_operands;
  ComputationPlanStep step;  // of the wide instruction
};

struct ComputationPlan {
  using Step = ComputationPlanStep;

  // In the order of LinearSchedule.
  std::vector<Step> steps;
  int32_t root = 0;
};

// `unrounded`: the results that are not rounded for converts; null: all are rounded.
absl::StatusOr<ComputationPlan> MakeComputationPlan(const HloComputation& computation,
                                                    const UnroundedResults* unrounded = nullptr);

// The step of an instruction, without the positions of its operands.
ComputationPlanStep MakeComputationPlanStep(const HloInstruction& instruction);

// The arrays of a result with this shape (see Operation::results).
std::vector<DenseShape> ResultShapes(const Shape& shape);

// ResultShapes with the real sizes of the result, from those of the operands. INVALID_ARGUMENT or UNIMPLEMENTED if
// they cannot be determined.
absl::StatusOr<std::vector<DenseShape>> DynamicResultShapes(const HloInstruction& instruction,
                                                            absl::Span<const Value> operands);

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_COMPUTATION_PLAN_H_
