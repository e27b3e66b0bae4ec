// Dots of short elements by the processor's instructions for them.
#ifndef KASHI_EVALUATOR_DOT_H_
#define KASHI_EVALUATOR_DOT_H_

#include "absl/status/statusor.h"
#include "kashi/evaluator/operation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/values/value.h"

namespace kashi::evaluator {

// Whether this processor multiplies bf16 and both operands of the dot are bf16 arrays.
bool IsBf16Dot(const HloInstruction& dot);

// Evaluate<HloOpcode::kDot> for such a dot, but denormal elements, products and sums may count as 0, and a sum of
// two products is rounded as the instruction does (round to nearest even after each).
absl::StatusOr<Value> EvaluateBf16Dot(Operation& op);

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_DOT_H_
