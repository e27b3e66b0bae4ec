// Operations that the evaluator computes for compiled programs, with less precision, as XLA:CPU does.
#ifndef KASHI_CPU_EVALUATOR_STEPS_H_
#define KASHI_CPU_EVALUATOR_STEPS_H_

#include "absl/status/statusor.h"
#include "kashi/evaluator/compiled_step.h"
#include "kashi/evaluator/dot.h"
#include "kashi/evaluator/fft.h"

namespace kashi::cpu {

// A dot of bf16 arrays by the processor's instructions, which count denormal numbers as 0.
class Bf16DotStep : public evaluator::CompiledStep {
 public:
  absl::StatusOr<Value> Run(evaluator::Operation& op) const override { return evaluator::EvaluateBf16Dot(op); }
};

// An FFT in the type of its operand. The first run makes its roots of unity, which are kept.
class FftStep : public evaluator::CompiledStep {
 public:
  absl::StatusOr<Value> Run(evaluator::Operation& op) const override { return fft_.Evaluate(op); }

 private:
  mutable evaluator::FftOfOnePrecision fft_;  // thread-safe
};

}  // namespace kashi::cpu

#endif  // KASHI_CPU_EVALUATOR_STEPS_H_
