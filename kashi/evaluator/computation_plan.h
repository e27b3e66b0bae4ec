// A computation made ready to run: its instructions in order, each with its function, where its operands stand, and
// which of them it is the last to use.
#ifndef KASHI_EVALUATOR_COMPUTATION_PLAN_H_
#define KASHI_EVALUATOR_COMPUTATION_PLAN_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/evaluator/element_kernel.h"
#include "kashi/evaluator/operation_table.h"
#include "kashi/evaluator/value.h"
#include "kashi/hlo/ir/hlo_computation.h"

namespace kashi::internal {

// Where a step runs in a program that is one for all devices (manual_region.h): as all others, on each device, or at
// the border that joins what the devices have.
enum class StepPlace : char { kHere, kOnDevices, kOutOfRegion };

struct ComputationPlanStep {
  struct Operand {
    int32_t step;
    bool is_last_use;  // the value moves to the operation, which may then write into it
  };
  const HloInstruction* instruction;
  EvaluationFunction function;  // null: cannot be evaluated
  // Why it cannot run, whatever the values: there is no function, the operation reads arrays and an operand is none,
  // or its result is an array that no memory could hold. Functions may rely on it.
  absl::Status refusal;
  absl::InlinedVector<Operand, 2> operands;
  std::vector<DenseShape> results;  // as Operation has them; empty if sizes are only known when it runs
  bool has_dynamic_sizes;
  int64_t work = 1;  // WorkOf (work.h), unless sizes are dynamic
  // The operation moves elements, and text gives it floating-point operands of another type than its result, as
  // compilers for TPUs write it: `bf16[4] reshape(f32[2,2] x)`. They are converted first.
  bool converts_operands;
  // Text lets the step's value have other floating-point types than the instruction's shape, or computed sizes where
  // that has static ones. It is converted, or refused.
  bool may_differ_from_shape;
  StepPlace place = StepPlace::kHere;
  std::unique_ptr<const ElementKernel> kernel;  // null: not that kind of operation, or not for these types
  Value constant;                               // made when the step runs for the first time; nothing: no constant
};

struct ComputationPlan {
  using Step = ComputationPlanStep;

  // In the order of the schedule, or else the post-order, with two differences. Only what the root needs is here. And
  // every get-tuple-element stands right behind its operand, so that the tuple is gone, and its elements are nobody
  // else's, before anybody uses them: updates in loops then happen in place.
  std::vector<Step> steps;
  int32_t root = 0;
};

absl::StatusOr<ComputationPlan> MakeComputationPlan(const HloComputation& computation);

// The step of an instruction, but for where its operands stand.
ComputationPlanStep MakeComputationPlanStep(const HloInstruction& instruction);

// The arrays of a result that has this shape (see Operation::results).
std::vector<DenseShape> ResultShapes(const Shape& shape);

// The same with the sizes that the result really has, given operands with theirs. INVALID_ARGUMENT or UNIMPLEMENTED
// where they cannot be told.
absl::StatusOr<std::vector<DenseShape>> DynamicResultShapes(const HloInstruction& instruction,
                                                            absl::Span<const Value> operands);

}  // namespace kashi::internal

#endif  // KASHI_EVALUATOR_COMPUTATION_PLAN_H_
