// Shared by the operations that fold elements into accumulators (reduce, reduce-window).
//
//   acc_0[j], …, acc_N-1[j]  =  to_apply(acc_0[j], …, acc_N-1[j], x_0[j], …, x_N-1[j])      for each lane j
#ifndef KASHI_EVALUATOR_FOLD_H_
#define KASHI_EVALUATOR_FOLD_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/evaluator/lane_function.h"
#include "kashi/evaluator/operation.h"
#include "kashi/kernels/element_kernel.h"
#include "kashi/kernels/loops.h"
#include "kashi/values/value.h"

namespace kashi::evaluator {

// One source for each reduced operand. Most reductions have one; argmax has two.
using Sources = absl::InlinedVector<const char*, 2>;
using Targets = absl::InlinedVector<char*, 2>;

// StoppableParallelFor (kashi/kernels/loops.h) until the run is stopped.
absl::Status CheckedParallelFor(const EvaluationRun& run, bool parallel, int64_t n, int64_t grain,
                                absl::FunctionRef<absl::Status(int64_t begin, int64_t end, int thread)> body);

// The function of a fold, for one thread: LaneFunction::Run, or the element kernel itself if it is the only one.
class LaneFold {
 public:
  LaneFold(const LaneFunction& function, int64_t lanes);
  absl::Status Run(const Targets& accumulators, const Sources& x, int64_t n);

 private:
  const LaneFunction& function_;
  std::optional<kernels::ElementKernel> kernel_;
  LaneFunction::Scratch scratch_;
};

// Operands, initial values and accumulators of a fold over N arrays, in the types that to_apply takes.
struct Reduction {
  const LaneFunction* function;
  std::vector<Value> inputs;
  std::vector<Value> inits;
  std::vector<Value> accumulators;  // uninitialised, with the sizes of the results

  int64_t size() const { return static_cast<int64_t>(inputs.size()); }
  Sources input_data() const;
  Targets accumulator_data();
  void FillWithInits(int64_t begin, int64_t end);
};
// Takes the operands of x_0 … x_N-1, init_0 … init_N-1.
absl::StatusOr<Reduction> MakeReduction(Operation& op);

// The value of an instruction from these results, converted to the types of op.results; a tuple if the instruction has
// a tuple shape.
absl::StatusOr<Value> MakeResults(Operation& op, std::vector<Value> results);

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_FOLD_H_
