#include "kashi/cpu/native_loop_step.h"

#include <vector>

#include "kashi/base/status.h"
#include "kashi/cpu/flush_denormals.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/values/value_util.h"

namespace kashi::cpu {
namespace {

// The elements of the state, each in memory that nobody else reads if it is written.
absl::StatusOr<std::vector<Value>> TakeState(Value state, const std::vector<bool>& is_written,
                                             evaluator::EvaluationRun& run) {
  std::vector<Value> elements;
  if (state.is_tuple()) {
    for (size_t i = 0; i < is_written.size(); ++i) elements.push_back(state.elements()[i]);
    state = Value();  // else no element would be unique
  } else {
    elements.push_back(std::move(state));
  }
  for (size_t i = 0; i < elements.size(); ++i) {
    if (!is_written[i]) continue;
    KASHI_ASSIGN_OR_RETURN(elements[i], values::MakeWritable(run.budget(), std::move(elements[i])));
  }
  return elements;
}

struct Progress {
  const evaluator::EvaluationRun& run;
  int64_t work;  // of the iterations between two calls
  absl::Status status;
};

bool GoOn(void* context) {
  Progress& progress = *static_cast<Progress*>(context);
  progress.status = progress.run.Spend(progress.work);
  return progress.status.ok();
}

}  // namespace

absl::StatusOr<Value> NativeLoopStep::Run(evaluator::Operation& op) const {
  const bool is_tuple = op.operands[0].is_tuple();
  KASHI_ASSIGN_OR_RETURN(std::vector<Value> state, TakeState(std::move(op.operands[0]), loop_.is_written, op.run));
  std::vector<void*> pointers;
  for (size_t i = 0; i < state.size(); ++i) {
    // An array that is not written is only read.
    pointers.push_back(loop_.is_written[i] ? state[i].mutable_data() : const_cast<void*>(state[i].untyped_data()));
  }
  KASHI_RETURN_IF_ERROR(RunOnMemory(op.run, pointers.data(), pointers.data()));
  return is_tuple ? Value::MakeTuple(std::move(state)) : std::move(state[0]);
}

absl::Status NativeLoopStep::RunOnMemory(const evaluator::EvaluationRun& run, const void* const* /*operands*/,
                                         void* const* results) const {
  Progress progress = {run, codegen::kIterationsBetweenCalls * loop_.work_of_iteration, absl::OkStatus()};
  const FlushDenormals flush(flush_denormals_);
  const int32_t result = function_(results, run.options().max_loop_iterations, &GoOn, &progress);
  if (result == codegen::kLoopIsStopped) return progress.status;
  if (result >= codegen::kLoopIsTooLong) return run.LoopIsTooLong(*loop_.loops[result - codegen::kLoopIsTooLong]);
  return absl::OkStatus();
}

}  // namespace kashi::cpu
