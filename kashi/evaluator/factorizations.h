// Factorizations of matrices for XLA's custom calls on TPUs, where there is no LAPACK: Qr, Eigh, LuDecomposition and
// their parts. All work on each of the matrices in the last two dimensions, compute in f64 and round once.
// UNIMPLEMENTED for types that are neither floating-point nor complex; CANCELLED between steps. NaN and infinities give
// NaN.
#ifndef KASHI_EVALUATOR_FACTORIZATIONS_H_
#define KASHI_EVALUATOR_FACTORIZATIONS_H_

#include "absl/status/statusor.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/values/value.h"

namespace kashi::evaluator {

// A[m,n] = Q R by Householder reflectors H_i = I - tau_i v_i v_i^H, Q = H_1 … H_k, k = min(m, n), in the form of
// LAPACK's geqrf:
//
//   r r r       factors: R on and above the diagonal, below it v_i in column i, whose 1 on the diagonal is not written.
//   v r r       The diagonal of R is real; its sign is opposite to that of the element that it replaces.
//   v v r       taus[k]
//   v v v
//
// Cost: 2 m n k.
struct QrResult {
  Value factors;
  Value taus;
};
absl::StatusOr<QrResult> QrFactors(EvaluationRun& run, Value a);

// The first n columns of Q, from factors[m,n] and taus[p], p <= n <= m. Reads below the diagonal only.
absl::StatusOr<Value> ProductOfReflectors(EvaluationRun& run, Value factors, const Value& taus);

// T of Q = I + V T V^H, from a triangle u[n,n] that has -tau_j on its diagonal and -tau_j v_i^H v_j above it: column
// by column T_j = u_jj e_j + sum over i < j of u_ij T_i. Elements below the diagonal are not read, and are 0 in the
// result.
absl::StatusOr<Value> CompactReflectors(EvaluationRun& run, Value u);

// Row p_i of A[m,n] is row i of L U, with partial pivoting: the first of the largest elements of a column.
struct LuResult {
  Value factors;      // U on and above the diagonal, L without its ones below
  Value pivots;       // s32[k], from 0: row i was swapped with row pivots[i] >= i
  Value permutation;  // s32[m]: p
};
absl::StatusOr<LuResult> LuFactors(EvaluationRun& run, Value a);

// A V = V diag(w) of the Hermitian matrix with A's lower (or upper) triangle, by Jacobi's rotations: orthonormal
// columns, whose sign (or phase) results from rotations of the identity. `values` are real. Cost: some 40 n^3.
struct EigenResult {
  Value vectors;
  Value values;
};
absl::StatusOr<EigenResult> HermitianEigen(EvaluationRun& run, Value a, bool lower, bool sort);

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_FACTORIZATIONS_H_
