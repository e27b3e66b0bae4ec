#include "kashi/kernels/small_linear_algebra.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kashi::kernels {
namespace {

// ---- Cholesky ------------------------------------------------------------------------------------------------------

// One triangle of l, by rows if lower, by columns if not: at(i, j) is the element of the lower one, i >= j.
template <typename T, typename At>
int32_t FactorCholesky(int64_t n, At at) {
  for (int64_t j = 0; j < n; ++j) {
    T pivot = at(j, j);
    for (int64_t k = 0; k < j; ++k) pivot -= at(j, k) * at(j, k);
    if (!(pivot > 0)) {
      at(j, j) = pivot;
      return static_cast<int32_t>(j + 1);
    }
    const T root = std::sqrt(pivot), inverse = T(1) / root;
    at(j, j) = root;
    for (int64_t i = j + 1; i < n; ++i) {
      T sum = at(i, j);
      for (int64_t k = 0; k < j; ++k) sum -= at(i, k) * at(j, k);
      at(i, j) = sum * inverse;
    }
  }
  return 0;
}

template <typename T>
void Cholesky(const void* const* operands, void* const* results, int64_t begin, int64_t end, int64_t /*m*/, int64_t n,
              int64_t flags) {
  for (int64_t b = begin; b < end; ++b) {
    T* const l = static_cast<T*>(results[0]) + b * n * n;
    std::copy_n(static_cast<const T*>(operands[0]) + b * n * n, n * n, l);
    const bool is_lower = (flags & LinearAlgebraCall::kLower) != 0;
    static_cast<int32_t*>(results[1])[b] =
        is_lower ? FactorCholesky<T>(n, [=](int64_t i, int64_t j) -> T& { return l[i * n + j]; })
                 : FactorCholesky<T>(n, [=](int64_t i, int64_t j) -> T& { return l[j * n + i]; });
  }
}

// ---- LU ------------------------------------------------------------------------------------------------------------

template <typename T>
int32_t FactorLu(T* a, int32_t* pivots, int64_t m, int64_t n) {
  int32_t info = 0;
  for (int64_t k = 0; k < std::min(m, n); ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < m; ++i) {
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
    }
    pivots[k] = static_cast<int32_t>(pivot + 1);
    if (pivot != k) std::swap_ranges(a + k * n, a + (k + 1) * n, a + pivot * n);
    if (a[k * n + k] == T(0)) {
      if (info == 0) info = static_cast<int32_t>(k + 1);
      continue;
    }
    const T inverse = T(1) / a[k * n + k];
    for (int64_t i = k + 1; i < m; ++i) {
      const T factor = a[i * n + k] *= inverse;
      for (int64_t j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return info;
}

template <typename T>
void Lu(const void* const* operands, void* const* results, int64_t begin, int64_t end, int64_t m, int64_t n,
        int64_t /*flags*/) {
  for (int64_t b = begin; b < end; ++b) {
    T* const a = static_cast<T*>(results[0]) + b * m * n;
    std::copy_n(static_cast<const T*>(operands[0]) + b * m * n, m * n, a);
    int32_t* const pivots = static_cast<int32_t*>(results[1]) + b * std::min(m, n);
    static_cast<int32_t*>(results[2])[b] = FactorLu(a, pivots, m, n);
  }
}

// ---- Triangular systems --------------------------------------------------------------------------------------------

// a x = b with `columns` columns; element (i, j) of a is at i * row + j * column. Rows of x are solved from the first
// to the last if a is a lower triangle, and from the last to the first if not.
template <typename T>
void SolveLeft(const T* a, int64_t row, int64_t column, bool is_lower, bool is_unit, T* x, int64_t n, int64_t columns) {
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = is_lower ? step : n - 1 - step;
    T* const out = x + i * columns;
    for (int64_t s = 0; s < step; ++s) {
      const int64_t k = is_lower ? s : n - 1 - s;
      const T factor = a[i * row + k * column];
      for (int64_t c = 0; c < columns; ++c) out[c] -= factor * x[k * columns + c];
    }
    if (is_unit) continue;
    const T inverse = T(1) / a[i * row + i * column];
    for (int64_t c = 0; c < columns; ++c) out[c] *= inverse;
  }
}

template <typename T>
void TriangularSolve(const void* const* operands, void* const* results, int64_t begin, int64_t end, int64_t m,
                     int64_t n, int64_t flags) {
  const bool is_left = (flags & LinearAlgebraCall::kLeft) != 0, is_unit = (flags & LinearAlgebraCall::kUnit) != 0;
  const bool is_transposed = (flags & LinearAlgebraCall::kTransposed) != 0;
  const bool is_lower = ((flags & LinearAlgebraCall::kLower) != 0) != is_transposed;
  const int64_t size = is_left ? m : n;
  const int64_t row = is_transposed ? 1 : size, column = is_transposed ? size : 1;
  for (int64_t b = begin; b < end; ++b) {
    const T* const a = static_cast<const T*>(operands[0]) + b * size * size;
    T* const x = static_cast<T*>(results[0]) + b * m * n;
    std::copy_n(static_cast<const T*>(operands[1]) + b * m * n, m * n, x);
    if (is_left) {
      SolveLeft(a, row, column, is_lower, is_unit, x, m, n);
      continue;
    }
    // Each row of x a = b is the system a^T x^T = b^T, whose triangle is the other one.
    for (int64_t i = 0; i < m; ++i) SolveLeft(a, column, row, !is_lower, is_unit, x + i * n, n, 1);
  }
}

struct Row {
  LinearAlgebraKind kind;
  PrimitiveType type;
  LinearAlgebraFunction* function;
  const char* name;
};
constexpr Row kRows[] = {
    {LinearAlgebraKind::kCholesky, F32, &Cholesky<float>, "KashiCholeskyF32"},
    {LinearAlgebraKind::kCholesky, F64, &Cholesky<double>, "KashiCholeskyF64"},
    {LinearAlgebraKind::kLu, F32, &Lu<float>, "KashiLuF32"},
    {LinearAlgebraKind::kLu, F64, &Lu<double>, "KashiLuF64"},
    {LinearAlgebraKind::kTriangularSolve, F32, &TriangularSolve<float>, "KashiTriangularSolveF32"},
    {LinearAlgebraKind::kTriangularSolve, F64, &TriangularSolve<double>, "KashiTriangularSolveF64"},
};

const Row& Find(LinearAlgebraKind kind, PrimitiveType type) {
  return *std::find_if(std::begin(kRows), std::end(kRows) - 1,
                       [&](const Row& row) { return row.kind == kind && row.type == type; });
}

}  // namespace

int64_t LinearAlgebraCall::WorkOfMatrix() const {
  switch (kind) {
    case LinearAlgebraKind::kCholesky:
      return 16 + n * n * n / 3;
    case LinearAlgebraKind::kLu:
      return 16 + std::min(m, n) * m * n;
    case LinearAlgebraKind::kTriangularSolve:
      return 16 + m * n * ((flags & kLeft) != 0 ? m : n);
  }
  return 0;
}

LinearAlgebraFunction* FindLinearAlgebra(LinearAlgebraKind kind, PrimitiveType type) {
  return Find(kind, type).function;
}
const char* NameOfLinearAlgebra(LinearAlgebraKind kind, PrimitiveType type) { return Find(kind, type).name; }

}  // namespace kashi::kernels
