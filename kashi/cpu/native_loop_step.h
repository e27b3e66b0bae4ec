// Runs a loop that is one native function.
#ifndef KASHI_CPU_NATIVE_LOOP_STEP_H_
#define KASHI_CPU_NATIVE_LOOP_STEP_H_

#include <utility>

#include "absl/status/statusor.h"
#include "kashi/codegen/native_loop.h"
#include "kashi/engine/compile_options.h"
#include "kashi/evaluator/compiled_step.h"

namespace kashi::cpu {

class NativeLoopStep : public evaluator::MemoryStep {
 public:
  NativeLoopStep(codegen::NativeLoop loop, codegen::NativeLoopFunction* function, const NumberOptions& numbers)
      : loop_(std::move(loop)), function_(function), flush_denormals_(numbers.flush_denormals) {}
  // The loop is limited, stopped and cancelled like the loops of the evaluator.
  absl::StatusOr<Value> Run(evaluator::Operation& op) const override;
  buffers::MemoryUse UseOfMemory() const override { return buffers::MemoryUse::State(loop_.is_written); }
  int64_t work() const override { return 0; }
  // The results are the state, and already have the initial values.
  [[nodiscard]] absl::Status RunOnMemory(const evaluator::EvaluationRun& run, const void* const* operands,
                                         void* const* results) const override;
  const codegen::NativeLoop& loop() const { return loop_; }

 private:
  codegen::NativeLoop loop_;
  codegen::NativeLoopFunction* function_;
  bool flush_denormals_;
};

}  // namespace kashi::cpu

#endif  // KASHI_CPU_NATIVE_LOOP_STEP_H_
