// Runs a kernel on a number of threads that suits its work.
#ifndef KASHI_CPU_KERNEL_STEP_H_
#define KASHI_CPU_KERNEL_STEP_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/codegen/kernel.h"
#include "kashi/engine/compile_options.h"
#include "kashi/evaluator/compiled_step.h"

namespace kashi::cpu {

class KernelStep : public evaluator::MemoryStep {
 public:
  KernelStep(codegen::Kernel kernel, const NumberOptions& numbers)
      : kernel_(std::move(kernel)), flush_denormals_(numbers.flush_denormals) {}
  // To be called once, when the code has its place in memory.
  void SetFunction(codegen::KernelFunction* function) { function_ = function; }
  absl::StatusOr<Value> Run(evaluator::Operation& op) const override;
  buffers::MemoryUse UseOfMemory() const override;
  int64_t work() const override;
  [[nodiscard]] absl::Status RunOnMemory(const evaluator::EvaluationRun& run, const void* const* operands,
                                         void* const* results) const override;
  const codegen::Kernel& kernel() const { return kernel_; }

 private:
  // Memory for result i: new memory, or that of an operand.
  absl::StatusOr<Value> MemoryForResult(evaluator::Operation& op, int64_t i) const;
  // Columns [begin, end), on this thread.
  absl::Status RunInOrder(const evaluator::EvaluationRun& run, const void* const* operands, void* const* results,
                          int64_t begin, int64_t end) const;
  // Of a scatter.
  absl::Status RunUpdates(const evaluator::EvaluationRun& run, const void* const* operands, void* const* results) const;
  absl::Status RunOnThreads(const evaluator::EvaluationRun& run, const void* const* operands,
                            void* const* results) const;

  codegen::Kernel kernel_;
  codegen::KernelFunction* function_ = nullptr;
  bool flush_denormals_;
};

}  // namespace kashi::cpu

#endif  // KASHI_CPU_KERNEL_STEP_H_
