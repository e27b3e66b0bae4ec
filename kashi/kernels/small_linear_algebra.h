// Factorizations and triangular systems of small dense matrices, without LAPACK, whose calls take microseconds.
//
//   kCholesky          a[n,n] -> l[n,n], info            LAPACK's potrf: the other triangle keeps the elements of a
//   kLu                a[m,n] -> lu[m,n], pivots, info   getrf: pivots count from 1
//   kTriangularSolve   a[n,n], b[m,n] -> x[m,n]          trsm: op(a) x = b, or x op(a) = b
//   kQr                a[m,n] -> qr[m,n], tau            geqrf: Householder vectors below the diagonal of R
//   kMakeQ             qr[m,n], tau[p] -> q[m,n]         orgqr: the first n columns of Q = H1 H2 … Hp
//   kMultiplyQ         qr[m,n], tau[p], b -> op(Q) b     ormqr: or b op(Q)
//   kEigen             a[n,n] -> v[n,n], w[n], info      syevd, heevd (kashi/kernels/small_eigen.h)
//
// Matrices are row-major and lie one after the other. info: 0, or the number of the first pivot, from 1, that is not
// positive (Cholesky) or is 0 (LU).
#ifndef KASHI_KERNELS_SMALL_LINEAR_ALGEBRA_H_
#define KASHI_KERNELS_SMALL_LINEAR_ALGEBRA_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "kashi/array/primitive_type.h"

namespace kashi::kernels {

enum class LinearAlgebraKind { kCholesky, kLu, kTriangularSolve, kQr, kMakeQ, kMultiplyQ, kEigen };

struct LinearAlgebraCall {
  // Of `flags`, for kTriangularSolve and kMultiplyQ; kLower also for kCholesky and kEigen. kLeft: op(a) is on the left
  // side. kTransposed: op(a) is the transpose of a. kUnit: the diagonal of a counts as 1.
  static constexpr int64_t kLeft = 1, kLower = 2, kTransposed = 4, kUnit = 8;
  // The largest m and n for which these functions are faster than LAPACK; of kEigen, kMostEigenRows.
  static constexpr int64_t kMostRows = 32;

  LinearAlgebraKind kind;
  PrimitiveType type;  // F32 or F64; of kEigen also C64 or C128
  int64_t batch, m, n;
  int64_t p = 0;       // the number of Householder vectors
  int64_t others = 0;  // of kMultiplyQ: the columns of b, or the rows if b is on the left side
  int64_t flags = 0;

  // Element operations of one matrix.
  int64_t WorkOfMatrix() const;
};

// Computes the matrices [begin, end) of the batch.
using LinearAlgebraFunction = void(const void* const* operands, void* const* results, int64_t begin, int64_t end,
                                   int64_t m, int64_t n, int64_t p, int64_t others, int64_t flags);
LinearAlgebraFunction* FindLinearAlgebra(LinearAlgebraKind kind, PrimitiveType type);
// A name of the function for code that calls it: a word.
const char* NameOfLinearAlgebra(LinearAlgebraKind kind, PrimitiveType type);
// All names and functions.
std::vector<std::pair<const char*, LinearAlgebraFunction*>> AllLinearAlgebra();

}  // namespace kashi::kernels

#endif  // KASHI_KERNELS_SMALL_LINEAR_ALGEBRA_H_
