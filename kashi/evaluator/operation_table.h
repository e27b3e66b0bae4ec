// The functions that evaluate operations, by opcode.
#ifndef KASHI_EVALUATOR_OPERATION_TABLE_H_
#define KASHI_EVALUATOR_OPERATION_TABLE_H_

#include "kashi/evaluator/operation.h"

namespace kashi::internal {

using EvaluationFunction = absl::StatusOr<Value> (*)(Operation& op);

// Null for operations that cannot be evaluated: they need a host or another program to talk to.
EvaluationFunction FindEvaluation(HloOpcode opcode);

// All operations that HasElementKernel.
absl::StatusOr<Value> EvaluateElementwise(Operation& op);

}  // namespace kashi::internal

#endif  // KASHI_EVALUATOR_OPERATION_TABLE_H_
