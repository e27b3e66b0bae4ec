// Operations that the evaluator computes for compiled programs, with less precision, as XLA:CPU does.
#ifndef KASHI_CPU_EVALUATOR_STEPS_H_
#define KASHI_CPU_EVALUATOR_STEPS_H_

#include "absl/status/statusor.h"
#include "kashi/evaluator/compiled_step.h"
#include "kashi/evaluator/dot.h"
#include "kashi/evaluator/fft.h"

namespace kashi::internal {

// A dot of bf16 arrays by the processor's instructions, which count denormal numbers as 0.
class Bf16DotStep : public CompiledStep {
 public:
  absl::StatusOr<Value> Run(Operation& op) const override { return EvaluateBf16Dot(op); }
};

// An FFT in the type of its operand. The first run makes its roots of unity, which are kept.
class FftStep : public CompiledStep {
 public:
  absl::StatusOr<Value> Run(Operation& op) const override { return fft_.Evaluate(op); }

 private:
  mutable FftOfOnePrecision fft_;  // thread-safe
};

}  // namespace kashi::internal

#endif  // KASHI_CPU_EVALUATOR_STEPS_H_
