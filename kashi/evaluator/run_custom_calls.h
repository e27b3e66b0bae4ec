// Custom calls that run computations. The comment of each function lists its operands and results; UNIMPLEMENTED for
// others.
#ifndef KASHI_EVALUATOR_RUN_CUSTOM_CALLS_H_
#define KASHI_EVALUATOR_RUN_CUSTOM_CALLS_H_

#include "absl/status/statusor.h"
#include "kashi/evaluator/operation.h"
#include "kashi/values/value.h"

namespace kashi::evaluator {

// ---- top_k_custom_calls.cc -----------------------------------------------------------------------------------------

// TopK: (x[..., n]) -> ([..., k], s32[..., k])
absl::StatusOr<Value> EvaluateTopKCall(Operation& op);
// PartialReduce, ApproxTopK: (x[..., n], indices[..., n], x's initial value, an index) -> ([..., k], indices[..., k])
absl::StatusOr<Value> EvaluateApproximateTopK(Operation& op);

// ---- interpreter_custom_calls.cc ------------------------------------------------------------------------------------

// interpreter.run_parallel: (arguments of all processes...) -> (results of all processes...)
absl::StatusOr<Value> EvaluateRunParallel(Operation& op);

// ---- gpu_custom_calls.cc --------------------------------------------------------------------------------------------

// Calls of cuBLAS and cuDNN: operands and results are those of kashi/gpu_calls/lower_call.h, and scratch memory, zeros.
// The errors of LowerGpuCall. Pre: gpu_calls::FindGpuCall(op.instruction).
absl::StatusOr<Value> EvaluateGpuCall(Operation& op);

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_RUN_CUSTOM_CALLS_H_
