// Compares the compiled steps of a run with the evaluator, which computes each step once more from the
// same operands.
//
//   StepChecker checker(error_of);
//   hooks.compiled = …, hooks.checker = &checker;
//   … EvaluationRun(options).Call(entry, arguments) …
//   if (checker.first().has_value()) … first()->instruction computed first()->actual …
//
// A step is a kernel, a thunk, or an operation that the compiled engine computes in its own way. Loops
// and conditionals of thunks are not compared, but their steps are. A step may get operands that another one has
// overwritten, so a program on planned memory also runs once without the plan (ComparePlanned). The passes that
// made the instructions are the only part that is not checked.
#ifndef KASHI_EVALUATOR_STEP_CHECKER_H_
#define KASHI_EVALUATOR_STEP_CHECKER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_type.h"
#include "kashi/array/shape_index.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/literal/literal_comparison.h"
#include "kashi/values/value.h"

namespace kashi::evaluator {

class CompiledStep;
class EvaluationRun;
struct Operation;

// A step whose result differs from the evaluator's; or a root whose value on planned memory differs from the value that
// the same steps give with memory of their own.
struct StepDifference {
  const HloInstruction* instruction;
  bool is_of_plan;
  std::optional<int64_t> device;  // of a program of several devices
  // The array of the result, and its first wrong element.
  ShapeIndex leaf = {};
  std::string index = "";     // "[0,3]"
  std::string expected = "";  // the evaluator's element; of a plan: that of the steps without it
  std::string actual = "";
  double tolerance = 0;
  literal_comparison::CompareStatistics statistics = {};  // of the array
};

// Several runs may use it at once: those of the devices of a program.
class StepChecker {
 public:
  // The largest error of a floating-point number of this type, absolute and relative. Other numbers must be equal, and
  // so must all elements that a step only moves.
  using ToleranceOf = std::function<double(PrimitiveType type)>;
  explicit StepChecker(ToleranceOf tolerance_of) : tolerance_of_(std::move(tolerance_of)) {}

  // Runs the step of this operation, and compares. Ends the run with CANCELLED at the first difference.
  absl::StatusOr<Value> Run(const CompiledStep& step, Operation& op);

  // The check of steps that work on memory: CopyOf copies the operands before the step writes there; Compare then gets
  // the result of the step.
  static absl::StatusOr<std::vector<Value>> CopyOf(absl::Span<const Value> operands, EvaluationRun& run);
  absl::Status Compare(const HloInstruction& instruction, std::vector<Value> operands, const Value& result,
                       const EvaluationRun& run);

  // The value of the root of a program on planned memory. Expected: what the steps gave without the plan.
  absl::Status ComparePlanned(const HloInstruction& root, const Value& expected, const Value& actual,
                              const EvaluationRun& run);

  // After the run.
  const std::optional<StepDifference>& first() const { return first_; }
  int64_t compared_steps() const { return compared_steps_.load(); }

 private:
  absl::Status CompareArrays(const Value& expected, const Value& actual, StepDifference* difference);
  absl::Status CompareArray(const Value& expected, const Value& actual, StepDifference* difference);

  const ToleranceOf tolerance_of_;
  std::atomic<int64_t> compared_steps_{0};
  std::mutex mutex_;
  std::optional<StepDifference> first_;
};

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_STEP_CHECKER_H_
