// Loops over dense row-major matrices for cholesky and triangular-solve, for float, double, complex64 and complex128.
// The operations of an element and their order do not depend on the number of threads.
#ifndef KASHI_KERNELS_MATRIX_KERNELS_H_
#define KASHI_KERNELS_MATRIX_KERNELS_H_

#include <algorithm>
#include <complex>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "kashi/array/primitive_type.h"
#include "kashi/array/types.h"
#include "kashi/base/parallel.h"
#include "kashi/base/status.h"
#include "kashi/base/try_parallel.h"
#include "kashi/base/work_meter.h"
#include "kashi/kernels/matrix_product.h"

namespace kashi::kernels {

// Rows and columns that are eliminated together.
constexpr int64_t kMatrixBlock = 64;

template <typename T>
struct Matrix {
  T* data;
  int64_t rows;
  int64_t columns;
  int64_t stride;  // from row to row

  T* row(int64_t i) const { return data + i * stride; }
  T& at(int64_t i, int64_t j) const { return data[i * stride + j]; }
  Matrix Block(int64_t i, int64_t j, int64_t height, int64_t width) const {
    return {data + i * stride + j, height, width, stride};
  }
};

template <typename T>
inline T Conjugate(T x) {
  if constexpr (is_complex_v<T>) x.imag(-x.imag());
  return x;
}

// target -= a * b. For complex numbers with the plain formula, which compilers can vectorise.
template <typename T>
inline void SubtractProduct(T& target, const T& a, const T& b) {
  if constexpr (is_complex_v<T>) {
    target = T(target.real() - (a.real() * b.real() - a.imag() * b.imag()),
               target.imag() - (a.real() * b.imag() + a.imag() * b.real()));
  } else {
    target -= a * b;
  }
}

// x = l^-1 x for a small l. Reads only the lower triangle of l, without the diagonal if that is all 1s.
//
//   for i:   x[i, :] = (x[i, :] - sum over k < i of l[i, k] x[k, :]) / l[i, i]
template <typename T>
void SolveLowerBlock(Matrix<const T> l, bool unit_diagonal, Matrix<T> x) {
  constexpr int64_t kColumns = 256;
  const int64_t work = std::max<int64_t>(1, l.rows * l.rows * kColumns / 2);
  base::ParallelFor((x.columns + kColumns - 1) / kColumns, std::max<int64_t>(1, (1 << 18) / work),
                    [&](int64_t begin, int64_t end, int) {
                      const int64_t first = begin * kColumns, last = std::min(end * kColumns, x.columns);
                      for (int64_t column = first; column < last; column += kColumns) {
                        const int64_t width = std::min(kColumns, last - column);
                        for (int64_t i = 0; i < l.rows; ++i) {
                          T* const x_i = x.row(i) + column;
                          for (int64_t k = 0; k < i; ++k) {
                            const T factor = l.at(i, k);
                            const T* const x_k = x.row(k) + column;
                            for (int64_t j = 0; j < width; ++j) SubtractProduct(x_i[j], factor, x_k[j]);
                          }
                          if (unit_diagonal) continue;
                          const T pivot = l.at(i, i);
                          for (int64_t j = 0; j < width; ++j) x_i[j] /= pivot;
                        }
                      }
                    });
}

// For any l, one block of rows after the other:
//
//   x1 = l11^-1 x1        x2 -= l21 x1        and so on with l22, x2
//
// Ends early with the error of check_stopped(); x is then unspecified.
template <typename T>
[[nodiscard]] absl::Status SolveLower(Matrix<const T> l, bool unit_diagonal, Matrix<T> x, StopFunction check_stopped) {
  std::vector<T> minus_x1(kMatrixBlock * x.columns);
  for (int64_t row = 0; row < l.rows; row += kMatrixBlock) {
    KASHI_RETURN_IF_ERROR(check_stopped());
    const int64_t height = std::min(kMatrixBlock, l.rows - row), next = row + height, rest = l.rows - next;
    const Matrix<T> x1 = x.Block(row, 0, height, x.columns);
    SolveLowerBlock(l.Block(row, row, height, height), unit_diagonal, x1);
    for (int64_t i = 0; i < height; ++i) {
      std::transform(x1.row(i), x1.row(i) + x.columns, minus_x1.data() + i * x.columns, std::negate<T>());
    }
    KASHI_RETURN_IF_ERROR(MatrixProduct<T>({1, rest, height, x.columns}, {l.row(next) + row, 0, l.stride, 1},
                                           {minus_x1.data(), 0, x.columns, 1}, {x.row(next), 0, x.stride},
                                           MatrixProductMode::kAdd, check_stopped));
  }
  return absl::OkStatus();
}

// Calls body(i) for i in [0, count): in parallel if there are enough calls to keep all threads busy, otherwise one
// after the other, so that the inner loops can use the threads. Ends early with the error of a body. `work`: element
// operations of one call.
[[nodiscard]] inline absl::Status ForEachMatrix(int64_t count, double work,
                                                absl::FunctionRef<absl::Status(int64_t)> body) {
  if (count < base::ParallelThreadCount()) {
    for (int64_t i = 0; i < count; ++i) KASHI_RETURN_IF_ERROR(body(i));
    return absl::OkStatus();
  }
  const int64_t grain = 1 + static_cast<int64_t>((1 << 16) / std::max(work, 1.0));
  return base::TryParallelFor(count, grain, [&](int64_t begin, int64_t end, int) -> absl::Status {
    for (int64_t i = begin; i < end; ++i) KASHI_RETURN_IF_ERROR(body(i));
    return absl::OkStatus();
  });
}

// The type to compute in: f32 for narrower floating-point types. UNIMPLEMENTED for types that are neither
// floating-point nor complex.
absl::StatusOr<PrimitiveType> LinearAlgebraType(PrimitiveType type);

}  // namespace kashi::kernels

#endif  // KASHI_KERNELS_MATRIX_KERNELS_H_
