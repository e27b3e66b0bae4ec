// A dot of bf16 arrays by the processor's instructions, which count denormal numbers as 0.
#ifndef KASHI_CPU_DOT_STEP_H_
#define KASHI_CPU_DOT_STEP_H_

#include "absl/status/statusor.h"
#include "kashi/evaluator/compiled_step.h"
#include "kashi/evaluator/dot.h"

namespace kashi::internal {

class Bf16DotStep : public CompiledStep {
 public:
  absl::StatusOr<Value> Run(Operation& op) const override { return EvaluateBf16Dot(op); }
};

}  // namespace kashi::internal

#endif  // KASHI_CPU_DOT_STEP_H_
