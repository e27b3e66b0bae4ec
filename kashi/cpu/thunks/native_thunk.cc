#include "kashi/cpu/thunks/native_thunk.h"

#include "kashi/evaluator/evaluation_run.h"

namespace kashi::cpu {
namespace {

struct Progress {
  const evaluator::EvaluationRun& run;
  absl::Status status;
};

bool GoOn(void* context, int64_t work) {
  Progress& progress = *static_cast<Progress*>(context);
  progress.status = progress.run.Spend(work);
  return progress.status.ok();
}

}  // namespace

absl::Status NativeThunk::Run(const ThunkFrame& frame) const {
  Progress progress = {frame.run, absl::OkStatus()};
  const int32_t result = code_(frame.pointers + first_, frame.run.options().max_loop_iterations, &GoOn, &progress);
  if (result == codegen::kFunctionIsDone) return absl::OkStatus();
  if (result == codegen::kFunctionIsStopped) return progress.status;
  return frame.run.LoopIsTooLong(*function_.loops[result - codegen::kLoopIsTooLong]);
}

}  // namespace kashi::cpu
