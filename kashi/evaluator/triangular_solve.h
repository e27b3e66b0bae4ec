// Triangular systems, for the operation and for custom calls that solve them.
#ifndef KASHI_EVALUATOR_TRIANGULAR_SOLVE_H_
#define KASHI_EVALUATOR_TRIANGULAR_SOLVE_H_

#include "absl/status/statusor.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/hlo/attributes/xla_data.h"
#include "kashi/values/value.h"

namespace kashi::evaluator {

// x with op(a) x = b, or x op(a) = b, for each of the matrices in the last two dimensions, by substitution: a zero on
// the diagonal divides by zero. Reads only the triangle of `a` that `options` names. Types as for CholeskyFactors.
absl::StatusOr<Value> SolveTriangular(EvaluationRun& run, Value a, Value b, const TriangularSolveOptions& options);

// The inverse of each lower triangle in the last two dimensions. Does not read the upper triangle; it is 0 in the
// result.
absl::StatusOr<Value> InvertLowerTriangles(EvaluationRun& run, Value a);

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_TRIANGULAR_SOLVE_H_
