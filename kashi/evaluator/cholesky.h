// The Cholesky factor of matrices, for the operation and for custom calls of that name.
#ifndef KASHI_EVALUATOR_CHOLESKY_H_
#define KASHI_EVALUATOR_CHOLESKY_H_

#include "absl/status/statusor.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/values/value.h"

namespace kashi::evaluator {

// For each square matrix A in the last two dimensions: the lower L with L L^H = A, from A's lower triangle; or the
// upper U with U^H U = A, from the upper triangle. The other triangle becomes 0. Works in place if the value is unique.
//
// A pivot that is negative or NaN makes its whole matrix NaN, but no other matrix. f16, bf16 and the like compute in
// f32 and round once. UNIMPLEMENTED for types that are neither floating-point nor complex.
absl::StatusOr<Value> CholeskyFactors(EvaluationRun& run, Value a, bool lower);

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_CHOLESKY_H_
