// Factorizations of one dense matrix in memory, for double and complex128. kashi/evaluator/factorizations.h defines the
// results.
#ifndef KASHI_KERNELS_DENSE_FACTORIZATIONS_H_
#define KASHI_KERNELS_DENSE_FACTORIZATIONS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/kernels/matrix_kernels.h"

namespace kashi::kernels {

// a[m,n] becomes the factors of QR; taus[min(m, n)].
template <typename T>
void FactorQr(Matrix<T> a, T* taus);
// q[m,n] from factors and taus[count].
template <typename T>
void MultiplyReflectors(Matrix<const T> factors, const T* taus, int64_t count, Matrix<T> q);
// u[n,n] becomes T of Q = I + V T V^H.
template <typename T>
void MakeCompact(Matrix<T> u);
// a[m,n] becomes the factors of LU; pivots[min(m, n)], permutation[m].
template <typename T>
void FactorLu(Matrix<T> a, int32_t* pivots, int32_t* permutation);
// The eigenvalues of the Hermitian matrix with one triangle of a[n,n], which is overwritten, and the eigenvectors:
// v[n,n]. Ends early with the error of check_stopped(); v and values are then unspecified.
template <typename T>
absl::Status FactorEigen(Matrix<T> a, bool lower, bool sort, Matrix<T> v, double* values, StopFunction check_stopped);

}  // namespace kashi::kernels

#endif  // KASHI_KERNELS_DENSE_FACTORIZATIONS_H_
