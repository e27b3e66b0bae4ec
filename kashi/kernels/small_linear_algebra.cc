#include "kashi/kernels/small_linear_algebra.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "kashi/array/types.h"
#include "kashi/kernels/small_eigen.h"

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
              int64_t /*p*/, int64_t /*others*/, int64_t flags) {
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
    const T top = a[k * n + k], inverse = T(1) / top;
    const bool has_inverse = std::abs(top) >= std::numeric_limits<T>::min();  // else it may be infinite
    for (int64_t i = k + 1; i < m; ++i) {
      T& factor = a[i * n + k];
      factor = has_inverse ? factor * inverse : factor / top;
      for (int64_t j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return info;
}

template <typename T>
void Lu(const void* const* operands, void* const* results, int64_t begin, int64_t end, int64_t m, int64_t n,
        int64_t /*p*/, int64_t /*others*/, int64_t /*flags*/) {
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
                     int64_t n, int64_t /*p*/, int64_t /*others*/, int64_t flags) {
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

// ---- QR ------------------------------------------------------------------------------------------------------------

// H = 1 - tau v v^T with v = (1, x[0], x[stride], …).
template <typename T>
struct Reflector {
  T tau;
  const T* x;
  int64_t stride, count;  // of x
};

// Rows [0, count] of c become H c, `columns` of them.
template <typename T>
void ReflectRows(const Reflector<T>& h, T* c, int64_t row, int64_t columns) {
  if (h.tau == T(0)) return;  // as LAPACK: a NaN in c stays where it is
  T sums[LinearAlgebraCall::kMostRows];
  std::copy_n(c, columns, sums);
  for (int64_t i = 0; i < h.count; ++i) {
    const T factor = h.x[i * h.stride];
    for (int64_t j = 0; j < columns; ++j) sums[j] += factor * c[(i + 1) * row + j];
  }
  for (int64_t j = 0; j < columns; ++j) c[j] -= sums[j] *= h.tau;
  for (int64_t i = 0; i < h.count; ++i) {
    const T factor = h.x[i * h.stride];
    for (int64_t j = 0; j < columns; ++j) c[(i + 1) * row + j] -= factor * sums[j];
  }
}

// Columns [0, count] of c become c H.
template <typename T>
void ReflectColumns(const Reflector<T>& h, T* c, int64_t row, int64_t rows) {
  if (h.tau == T(0)) return;
  for (int64_t r = 0; r < rows; ++r, c += row) {
    T sum = c[0];
    for (int64_t i = 0; i < h.count; ++i) sum += c[i + 1] * h.x[i * h.stride];
    sum *= h.tau;
    c[0] -= sum;
    for (int64_t i = 0; i < h.count; ++i) c[i + 1] -= sum * h.x[i * h.stride];
  }
}

// The length of (alpha, x), without overflow; 0 if x is 0, whatever alpha is, as in LAPACK. NaN if a number is, else
// infinite if a number is.
template <typename T>
T LengthWith(T alpha, const T* x, int64_t stride, int64_t count) {
  T largest = 0;
  bool has_nan = false;
  for (int64_t i = 0; i < count; ++i) {
    largest = std::max(largest, std::abs(x[i * stride]));
    has_nan = has_nan || std::isnan(x[i * stride]);
  }
  if (largest == T(0) && !has_nan) return T(0);
  if (has_nan || std::isnan(alpha)) return std::numeric_limits<T>::quiet_NaN();
  largest = std::max(largest, std::abs(alpha));
  if (std::isinf(largest)) return largest;
  T sum = (alpha / largest) * (alpha / largest);
  for (int64_t i = 0; i < count; ++i) sum += (x[i * stride] / largest) * (x[i * stride] / largest);
  return largest * std::sqrt(sum);
}

template <typename T>
void FactorQr(T* a, T* tau, int64_t m, int64_t n) {
  for (int64_t k = 0; k < std::min(m, n); ++k) {
    T* const top = a + k * n + k;
    T* const x = top + n;
    const int64_t count = m - k - 1;
    const T alpha = *top, length = LengthWith(alpha, x, n, count);
    tau[k] = 0;
    if (length == T(0)) continue;
    const T beta = -std::copysign(length, alpha);
    tau[k] = (beta - alpha) / beta;
    const T scale = T(1) / (alpha - beta);
    for (int64_t i = 0; i < count; ++i) x[i * n] *= scale;
    *top = beta;
    if (k + 1 < n) ReflectRows<T>({tau[k], x, n, count}, top + 1, n, n - k - 1);
  }
}

template <typename T>
void Qr(const void* const* operands, void* const* results, int64_t begin, int64_t end, int64_t m, int64_t n,
        int64_t /*p*/, int64_t /*others*/, int64_t /*flags*/) {
  for (int64_t b = begin; b < end; ++b) {
    T* const a = static_cast<T*>(results[0]) + b * m * n;
    std::copy_n(static_cast<const T*>(operands[0]) + b * m * n, m * n, a);
    FactorQr(a, static_cast<T*>(results[1]) + b * std::min(m, n), m, n);
  }
}

// From the last vector to the first, each of which is in the column that it makes.
template <typename T>
void MakeQ(const void* const* operands, void* const* results, int64_t begin, int64_t end, int64_t m, int64_t n,
           int64_t p, int64_t /*others*/, int64_t /*flags*/) {
  for (int64_t b = begin; b < end; ++b) {
    T* const q = static_cast<T*>(results[0]) + b * m * n;
    std::copy_n(static_cast<const T*>(operands[0]) + b * m * n, m * n, q);
    const T* const tau = static_cast<const T*>(operands[1]) + b * p;
    for (int64_t k = p; k < n; ++k) {
      for (int64_t i = 0; i < m; ++i) q[i * n + k] = i == k ? T(1) : T(0);
    }
    for (int64_t k = p - 1; k >= 0; --k) {
      T* const top = q + k * n + k;
      if (k + 1 < n) ReflectRows<T>({tau[k], top + n, n, m - k - 1}, top + 1, n, n - k - 1);
      for (int64_t i = 0; i < m; ++i) {
        T& element = q[i * n + k];
        element = i < k ? T(0) : i == k ? T(1) - tau[k] : -tau[k] * element;
      }
    }
  }
}

template <typename T>
void MultiplyQ(const void* const* operands, void* const* results, int64_t begin, int64_t end, int64_t m, int64_t n,
               int64_t p, int64_t others, int64_t flags) {
  const bool is_left = (flags & LinearAlgebraCall::kLeft) != 0;
  const bool is_transposed = (flags & LinearAlgebraCall::kTransposed) != 0;
  for (int64_t b = begin; b < end; ++b) {
    const T* const qr = static_cast<const T*>(operands[0]) + b * m * n;
    const T* const tau = static_cast<const T*>(operands[1]) + b * p;
    T* const c = static_cast<T*>(results[0]) + b * m * others;
    std::copy_n(static_cast<const T*>(operands[2]) + b * m * others, m * others, c);
    for (int64_t step = 0; step < p; ++step) {
      // Q c is H1 (H2 (… c)), and c Q is ((c H1) H2) ….
      const int64_t k = is_left == is_transposed ? step : p - 1 - step;
      const Reflector<T> h = {tau[k], qr + (k + 1) * n + k, n, m - k - 1};
      is_left ? ReflectRows(h, c + k * others, others, others) : ReflectColumns(h, c + k, m, others);
    }
  }
}

// ---- Eigenvalues ---------------------------------------------------------------------------------------------------

template <typename T>
void Eigen(const void* const* operands, void* const* results, int64_t begin, int64_t end, int64_t /*m*/, int64_t n,
           int64_t /*p*/, int64_t /*others*/, int64_t flags) {
  for (int64_t b = begin; b < end; ++b) {
    static_cast<int32_t*>(results[2])[b] =
        FactorSmallEigen(static_cast<const T*>(operands[0]) + b * n * n, (flags & LinearAlgebraCall::kLower) != 0, n,
                         static_cast<T*>(results[0]) + b * n * n, static_cast<RealOf<T>*>(results[1]) + b * n);
  }
}

// --------------------------------------------------------------------------------------------------------------------

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
    {LinearAlgebraKind::kQr, F32, &Qr<float>, "KashiQrF32"},
    {LinearAlgebraKind::kQr, F64, &Qr<double>, "KashiQrF64"},
    {LinearAlgebraKind::kMakeQ, F32, &MakeQ<float>, "KashiMakeQF32"},
    {LinearAlgebraKind::kMakeQ, F64, &MakeQ<double>, "KashiMakeQF64"},
    {LinearAlgebraKind::kMultiplyQ, F32, &MultiplyQ<float>, "KashiMultiplyQF32"},
    {LinearAlgebraKind::kMultiplyQ, F64, &MultiplyQ<double>, "KashiMultiplyQF64"},
    {LinearAlgebraKind::kEigen, F32, &Eigen<float>, "KashiEigenF32"},
    {LinearAlgebraKind::kEigen, F64, &Eigen<double>, "KashiEigenF64"},
    {LinearAlgebraKind::kEigen, C64, &Eigen<complex64>, "KashiEigenC64"},
    {LinearAlgebraKind::kEigen, C128, &Eigen<complex128>, "KashiEigenC128"},
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
    case LinearAlgebraKind::kQr:
    case LinearAlgebraKind::kMakeQ:
      return 16 + 2 * m * n * std::min(m, n);
    case LinearAlgebraKind::kMultiplyQ:
      return 16 + 2 * m * p * others;
    case LinearAlgebraKind::
        kEigen:  // divisions and roots of n^2 rotations take more than the elements that they rotate
      return 16 + (110 + 3 * n) * n * n;
  }
  return 0;
}

std::vector<std::pair<const char*, LinearAlgebraFunction*>> AllLinearAlgebra() {
  std::vector<std::pair<const char*, LinearAlgebraFunction*>> all;
  for (const Row& row : kRows) all.emplace_back(row.name, row.function);
  return all;
}

LinearAlgebraFunction* FindLinearAlgebra(LinearAlgebraKind kind, PrimitiveType type) {
  return Find(kind, type).function;
}
const char* NameOfLinearAlgebra(LinearAlgebraKind kind, PrimitiveType type) { return Find(kind, type).name; }

}  // namespace kashi::kernels
