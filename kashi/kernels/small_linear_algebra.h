// Factorizations and triangular systems of small dense matrices, without LAPACK, whose calls take microseconds.
//
//   kCholesky          a[n,n] -> l[n,n], info            LAPACK's potrf: the other triangle keeps the elements of a
//   kLu                a[m,n] -> lu[m,n], pivots, info   getrf: pivots count from 1
//   kTriangularSolve   a[n,n], b[m,n] -> x[m,n]          trsm: op(a) x = b, or x op(a) = b
//
// Matrices are row-major and lie one after the other. info: 0, or the number of the first pivot, from 1, that is not
// positive (Cholesky) or is 0 (LU).
#ifndef KASHI_KERNELS_SMALL_LINEAR_ALGEBRA_H_
#define KASHI_KERNELS_SMALL_LINEAR_ALGEBRA_H_

#include <cstdint>

#include "kashi/array/primitive_type.h"

namespace kashi::kernels {

enum class LinearAlgebraKind { kCholesky, kLu, kTriangularSolve };

struct LinearAlgebraCall {
  // Of `flags`, for kTriangularSolve; kLower also for kCholesky. kTransposed: op(a) is the transpose of a. kUnit: the
  // diagonal of a counts as 1.
  static constexpr int64_t kLeft = 1, kLower = 2, kTransposed = 4, kUnit = 8;
  // The largest m and n for which these functions are faster than LAPACK.
  static constexpr int64_t kMostRows = 32;

  LinearAlgebraKind kind;
  PrimitiveType type;  // F32 or F64
  int64_t batch, m, n;
  int64_t flags = 0;

  // Element operations of one matrix.
  int64_t WorkOfMatrix() const;
};

// Computes the matrices [begin, end) of the batch.
using LinearAlgebraFunction = void(const void* const* operands, void* const* results, int64_t begin, int64_t end,
                                   int64_t m, int64_t n, int64_t flags);
LinearAlgebraFunction* FindLinearAlgebra(LinearAlgebraKind kind, PrimitiveType type);
// A name of the function for code that calls it: a word.
const char* NameOfLinearAlgebra(LinearAlgebraKind kind, PrimitiveType type);

}  // namespace kashi::kernels

#endif  // KASHI_KERNELS_SMALL_LINEAR_ALGEBRA_H_
