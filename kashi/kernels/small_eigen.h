// Eigenvalues and eigenvectors of one small symmetric or Hermitian matrix, without LAPACK, whose calls take
// microseconds.
#ifndef KASHI_KERNELS_SMALL_EIGEN_H_
#define KASHI_KERNELS_SMALL_EIGEN_H_

#include <complex>
#include <cstdint>

namespace kashi::kernels {

// The largest matrix for which LAPACK's syevd iterates as here: it divides larger ones.
constexpr int64_t kMostEigenRows = 25;

template <typename T>
using RealOf = decltype(std::real(T()));

// values[n], in ascending order, and the columns of vectors[n,n] are those of the matrix of which a[n,n] has the lower
// triangle, or the upper one. Matrices are row-major; imaginary parts of the diagonal count as 0. T: float, double,
// complex64, complex128. Pre: 0 < n <= kMostEigenRows.
//
// Takes LAPACK's steps in LAPACK's order (syevd and heevd with jobz = 'V': sytd2, steqr, orm2l or orm2r), so that signs
// of vectors, and vectors of equal eigenvalues, are LAPACK's. Real ones are those of the reference LAPACK 3.11 to the
// last bit, if that was compiled without FMA.
//
// Gives LAPACK's info: 0, or how many elements beside the diagonal did not become 0 in 30 n iterations. If a number in
// one of the triangles is not finite: kNotFiniteInfo, and all values and vectors are NaN, as with JAX.
constexpr int32_t kNotFiniteInfo = -4;
template <typename T>
int32_t FactorSmallEigen(const T* a, bool is_lower, int64_t n, T* vectors, RealOf<T>* values);

}  // namespace kashi::kernels

#endif  // KASHI_KERNELS_SMALL_EIGEN_H_
