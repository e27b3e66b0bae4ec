// Runs a kernel on the values of a run, on as many threads as its work is worth.
#ifndef KASHI_CPU_KERNEL_STEP_H_
#define KASHI_CPU_KERNEL_STEP_H_

#include <utility>

#include "absl/status/statusor.h"
#include "kashi/cpu/codegen/kernel.h"
#include "kashi/cpu/compile_options.h"
#include "kashi/evaluator/compiled_step.h"

namespace kashi::internal {

class KernelStep : public CompiledStep {
 public:
  KernelStep(Kernel kernel, KernelFunction* function, const NumberOptions& numbers)
      : kernel_(std::move(kernel)), function_(function), flush_denormals_(numbers.flush_denormals) {}
  absl::StatusOr<Value> Run(Operation& op) const override;

 private:
  // Memory for result i: new, or an operand's.
  absl::StatusOr<Value> MemoryForResult(Operation& op, int64_t i) const;
  void RunInOrder(Operation& op, const void* const* operands, void* const* results) const;
  void RunOnThreads(Operation& op, const void* const* operands, void* const* results) const;

  Kernel kernel_;
  KernelFunction* function_;
  bool flush_denormals_;
};

}  // namespace kashi::internal

#endif  // KASHI_CPU_KERNEL_STEP_H_
