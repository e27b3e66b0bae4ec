#include "kashi/kernels/dense_factorizations.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "kashi/base/status.h"

namespace kashi::kernels {
namespace {

template <typename T>
double SquareOf(T x) {
  if constexpr (is_complex_v<T>) {
    return x.real() * x.real() + x.imag() * x.imag();
  } else {
    return x * x;
  }
}

// ---- QR ------------------------------------------------------------------------------------------------------------

// Makes v from the elements at and below a(j, j), leaves the element of R at a(j, j), and returns tau.
template <typename T>
T MakeReflector(Matrix<T> a, int64_t j) {
  double norm = 0;  // of the elements below; hypot neither overflows nor loses small ones
  for (int64_t i = j + 1; i < a.rows; ++i) norm = std::hypot(norm, std::abs(a.at(i, j)));
  const T alpha = a.at(j, j);
  if (norm == 0 && std::imag(alpha) == 0) return T(0);
  const double beta = -std::copysign(std::hypot(std::abs(alpha), norm), std::real(alpha));
  const T scale = alpha - T(beta);
  for (int64_t i = j + 1; i < a.rows; ++i) a.at(i, j) /= scale;
  a.at(j, j) = T(beta);
  return -scale / T(beta);
}

// The block at (row, first) -= tau v (v^H block), where v is 1 and then column `v_column` below `row` of `from`.
template <typename T>
void ApplyReflector(Matrix<const T> from, int64_t row, int64_t v_column, T tau, Matrix<T> a, int64_t first,
                    std::vector<T>& products) {
  products.assign(a.columns, T(0));
  const auto v = [&](int64_t i) { return i == row ? T(1) : from.at(i, v_column); };
  for (int64_t i = row; i < a.rows; ++i) {
    const T minus = -Conjugate(v(i));
    for (int64_t c = first; c < a.columns; ++c) SubtractProduct(products[c], minus, a.at(i, c));
  }
  for (int64_t i = row; i < a.rows; ++i) {
    const T factor = tau * v(i);
    for (int64_t c = first; c < a.columns; ++c) SubtractProduct(a.at(i, c), factor, products[c]);
  }
}

}  // namespace

template <typename T>
void FactorQr(Matrix<T> a, T* taus) {
  std::vector<T> products;
  for (int64_t j = 0; j < std::min(a.rows, a.columns); ++j) {
    taus[j] = MakeReflector(a, j);
    ApplyReflector<T>({a.data, a.rows, a.columns, a.stride}, j, j, Conjugate(taus[j]), a, j + 1, products);
  }
}

template <typename T>
void MultiplyReflectors(Matrix<const T> factors, const T* taus, int64_t count, Matrix<T> q) {
  std::vector<T> products;
  std::fill_n(q.data, q.rows * q.columns, T(0));
  for (int64_t i = 0; i < q.columns; ++i) q.at(i, i) = T(1);
  for (int64_t j = count; j-- > 0;) ApplyReflector<T>(factors, j, j, taus[j], q, j, products);
}

template <typename T>
void MakeCompact(Matrix<T> u) {
  std::vector<T> column(u.rows);
  for (int64_t j = 0; j < u.columns; ++j) {
    std::fill(column.begin(), column.end(), T(0));
    column[j] = u.at(j, j);
    for (int64_t r = 0; r < j; ++r) {
      for (int64_t i = r; i < j; ++i) column[r] += u.at(i, j) * u.at(r, i);  // columns left of j are of T by now
    }
    for (int64_t r = 0; r < u.rows; ++r) u.at(r, j) = column[r];
  }
}

// ---- LU ------------------------------------------------------------------------------------------------------------

template <typename T>
void FactorLu(Matrix<T> a, int32_t* pivots, int32_t* permutation) {
  std::iota(permutation, permutation + a.rows, 0);
  for (int64_t j = 0; j < std::min(a.rows, a.columns); ++j) {
    int64_t pivot = j;
    for (int64_t i = j + 1; i < a.rows; ++i) {
      if (std::abs(a.at(i, j)) > std::abs(a.at(pivot, j))) pivot = i;
    }
    pivots[j] = static_cast<int32_t>(pivot);
    std::swap(permutation[j], permutation[pivot]);
    if (pivot != j) std::swap_ranges(a.row(j), a.row(j) + a.columns, a.row(pivot));
    if (a.at(j, j) == T(0)) continue;
    for (int64_t i = j + 1; i < a.rows; ++i) {
      const T factor = a.at(i, j) /= a.at(j, j);
      for (int64_t c = j + 1; c < a.columns; ++c) SubtractProduct(a.at(i, c), factor, a.at(j, c));
    }
  }
}

// ---- Eigenvalues ---------------------------------------------------------------------------------------------------

namespace {

// x' = c x - conj(s) y,  y' = s x + c y: rotates two vectors.
template <typename T>
void Rotate(double c, T s, T* x, int64_t x_stride, T* y, int64_t y_stride, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    T& a = x[i * x_stride];
    T& b = y[i * y_stride];
    const T old_a = a;
    a = c * a - Conjugate(s) * b;
    b = s * old_a + c * b;
  }
}

// Makes a(p, q) zero: A becomes J^H A J, and the rows of `vectors`, which are V^T, become those of (V J)^T.
template <typename T>
void Annihilate(Matrix<T> a, int64_t p, int64_t q, Matrix<T> vectors) {
  const double size = std::abs(a.at(p, q));
  if (size == 0) return;
  const double tau = (std::real(a.at(q, q)) - std::real(a.at(p, p))) / (2 * size);
  const double t = std::copysign(1 / (std::abs(tau) + std::hypot(1.0, tau)), tau);
  const double c = 1 / std::hypot(1.0, t);
  const T s = t * c * (a.at(p, q) / size);
  Rotate(c, Conjugate(s), a.row(p), 1, a.row(q), 1, a.columns);
  Rotate(c, s, a.data + p, a.stride, a.data + q, a.stride, a.rows);
  a.at(p, q) = a.at(q, p) = T(0);
  Rotate(c, s, vectors.row(p), 1, vectors.row(q), 1, vectors.columns);
}

// The sum of |a(i, j)|^2 over i < j.
template <typename T>
double OffDiagonal(Matrix<T> a) {
  double sum = 0;
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = i + 1; j < a.columns; ++j) sum += SquareOf(a.at(i, j));
  }
  return sum;
}

// A Hermitian matrix from one triangle, scaled by a power of two to elements of about 1. Gives the scale; NaN if an
// element is not finite.
template <typename T>
double Prepare(Matrix<T> a, bool lower) {
  double largest = 0;
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      T& kept = lower ? a.at(i, j) : a.at(j, i);
      if (i == j) kept = T(std::real(kept));
      (lower ? a.at(j, i) : a.at(i, j)) = Conjugate(kept);
      const double size = std::abs(kept);
      if (!std::isfinite(size)) return std::numeric_limits<double>::quiet_NaN();
      largest = std::max(largest, size);
    }
  }
  const int exponent = largest == 0 ? 0 : std::clamp(std::ilogb(largest), -1000, 1000);
  for (int64_t i = 0; i < a.rows * a.columns; ++i) a.data[i] *= std::ldexp(1.0, -exponent);
  return std::ldexp(1.0, exponent);
}

}  // namespace

template <typename T>
absl::Status FactorEigen(Matrix<T> a, bool lower, bool sort, Matrix<T> v, double* values, StopFunction check_stopped) {
  constexpr int kMostSweeps = 60;  // about 10 do
  const int64_t n = a.rows;
  const double scale = Prepare(a, lower);
  std::vector<T> identity(n * n);
  const Matrix<T> vectors{identity.data(), n, n, n};
  for (int64_t i = 0; i < n; ++i) vectors.at(i, i) = T(1);
  const double enough = std::isnan(scale) ? std::numeric_limits<double>::infinity() : 1e-32 * n;
  for (int sweep = 0; sweep < kMostSweeps && OffDiagonal(a) > enough; ++sweep) {
    KASHI_RETURN_IF_ERROR(check_stopped());
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) Annihilate(a, p, q, vectors);
    }
  }
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  const auto value = [&](int64_t i) { return std::real(a.at(i, i)); };
  if (sort && !std::isnan(scale)) {
    std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return value(i) < value(j); });
  }
  for (int64_t i = 0; i < n; ++i) {
    values[i] = value(order[i]) * scale;
    for (int64_t r = 0; r < n; ++r) v.at(r, i) = std::isnan(scale) ? T(scale) : vectors.at(order[i], r);
  }
  if (std::isnan(scale)) std::fill_n(values, n, scale);
  return absl::OkStatus();
}

#define KASHI_FACTORIZATIONS_OF(T)                                                                      \
  template void FactorQr(Matrix<T> a, T* taus);                                                         \
  template void MultiplyReflectors(Matrix<const T> factors, const T* taus, int64_t count, Matrix<T> q); \
  template void MakeCompact(Matrix<T> u);                                                               \
  template void FactorLu(Matrix<T> a, int32_t* pivots, int32_t* permutation);                           \
  template absl::Status FactorEigen(Matrix<T> a, bool lower, bool sort, Matrix<T> v, double* values,    \
                                    StopFunction check_stopped);
KASHI_FACTORIZATIONS_OF(double)
KASHI_FACTORIZATIONS_OF(complex128)
#undef KASHI_FACTORIZATIONS_OF

}  // namespace kashi::kernels
