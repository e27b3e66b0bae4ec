// Laws of eigenvalues and vectors. kashi/cpu/eigen_calls_test.cc compares them with LAPACK's.
#include "kashi/kernels/small_eigen.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kashi/array/types.h"
#include "kashi/kernels/matrix_kernels.h"

namespace kashi::kernels {
namespace {

template <typename T>
class SmallEigenTest : public testing::Test {
 protected:
  using R = RealOf<T>;

  struct Result {
    std::vector<T> vectors;
    std::vector<R> values;
    int32_t info = -1;
  };

  static Result Factor(const std::vector<T>& a, int64_t n, bool is_lower) {
    Result result = {std::vector<T>(a.size()), std::vector<R>(static_cast<size_t>(n))};
    result.info = FactorSmallEigen(a.data(), is_lower, n, result.vectors.data(), result.values.data());
    return result;
  }

  R Uniform() { return std::uniform_real_distribution<R>(-1, 1)(engine_); }
  T Number() {
    if constexpr (is_complex_v<T>)
      return T(Uniform(), Uniform());
    else
      return Uniform();
  }
  // element(i, j) for i >= j; the diagonal becomes real.
  template <typename Element>
  static std::vector<T> Hermitian(int64_t n, Element&& element) {
    std::vector<T> a(static_cast<size_t>(n * n));
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        const T x = element(i, j);
        a[i * n + j] = i == j ? T(std::real(x)) : x;
        a[j * n + i] = Conjugate(a[i * n + j]);
      }
    }
    return a;
  }
  std::vector<T> Random(int64_t n) {
    return Hermitian(n, [this](int64_t, int64_t) { return Number(); });
  }

  // a v = v w, v^H v = 1, w ascends, for each triangle. Of `scale` times a, which may overflow in these sums.
  static void Check(const std::vector<T>& a, int64_t n, R scale = R(1)) {
    std::vector<T> scaled = a;
    for (T& x : scaled) x *= scale;
    for (bool is_lower : {false, true}) {
      SCOPED_TRACE(absl::StrCat(n, " rows, ", is_lower ? "lower" : "upper"));
      const Result result = Factor(scaled, n, is_lower);
      EXPECT_EQ(result.info, 0);
      EXPECT_TRUE(std::is_sorted(result.values.begin(), result.values.end()));
      double norm = 0;
      for (const T& x : a) norm = std::max(norm, static_cast<double>(std::abs(x)));
      const double tolerance = 8 * static_cast<double>(n) * std::numeric_limits<R>::epsilon();
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          complex128 product = 0, overlap = 0;
          for (int64_t k = 0; k < n; ++k) {
            product += complex128(a[i * n + k]) * complex128(result.vectors[k * n + j]);
            overlap += std::conj(complex128(result.vectors[k * n + i])) * complex128(result.vectors[k * n + j]);
          }
          product -= complex128(result.vectors[i * n + j]) * (double{result.values[j]} / double{scale});
          EXPECT_LE(std::abs(product), tolerance * norm);
          EXPECT_LE(std::abs(overlap - (i == j ? 1.0 : 0.0)), tolerance);
        }
      }
    }
  }

 private:
  std::minstd_rand0 engine_{5};
};

using Types = testing::Types<float, double, complex64, complex128>;
TYPED_TEST_SUITE(SmallEigenTest, Types);

TYPED_TEST(SmallEigenTest, RandomMatrices) {
  for (int64_t n = 1; n <= kMostEigenRows; ++n) {
    for (int repeat = 0; repeat < 8; ++repeat) this->Check(this->Random(n), n);
  }
}

TYPED_TEST(SmallEigenTest, Scales) {
  using R = RealOf<TypeParam>;
  for (const R scale : {std::numeric_limits<R>::max() / 64, std::numeric_limits<R>::min() * 64,
                        std::sqrt(std::numeric_limits<R>::min()), std::sqrt(std::numeric_limits<R>::max())}) {
    for (int64_t n : {1, 2, 3, 7, 16}) this->Check(this->Random(n), n, scale);
  }
}

// Elements of which some count as 0 beside others, up the diagonal and down.
TYPED_TEST(SmallEigenTest, GradedMatrices) {
  using R = RealOf<TypeParam>;
  for (int64_t n : {2, 3, 5, 9}) {
    for (const double step : {-4.0, 4.0}) {
      this->Check(this->Hermitian(n,
                                  [&](int64_t i, int64_t j) {
                                    return this->Number() *
                                           static_cast<R>(std::exp2(step * static_cast<double>(i + j)));
                                  }),
                  n);
    }
  }
}

TYPED_TEST(SmallEigenTest, RepeatedValues) {
  using T = TypeParam;
  for (int64_t n : {2, 3, 4, 8, 25}) {
    this->Check(this->Hermitian(n, [](int64_t, int64_t) { return T(1); }), n);
    this->Check(this->Hermitian(n, [](int64_t i, int64_t j) { return T(i == j ? 2 : i == j + 1 ? -1 : 0); }), n);
    this->Check(this->Hermitian(n, [n](int64_t i, int64_t j) { return T(i + j == n - 1 ? 1 : 0); }), n);
  }
}

// A diagonal matrix is only sorted, and equal values stay in order but for the exchanges of a selection.
TYPED_TEST(SmallEigenTest, Diagonal) {
  using T = TypeParam;
  const std::vector<T> a = {3, 0, 0, 0, 0, 1, 0, 0, 0, 0, 3, 0, 0, 0, 0, -2};
  const auto result = this->Factor(a, 4, true);
  EXPECT_EQ(result.values, (std::vector<RealOf<T>>{-2, 1, 3, 3}));
  EXPECT_EQ(result.vectors, (std::vector<T>{0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0}));
  for (int64_t n : {1, 5}) {
    const auto zero = this->Factor(std::vector<T>(static_cast<size_t>(n * n)), n, false);
    EXPECT_EQ(zero.values, std::vector<RealOf<T>>(static_cast<size_t>(n)));
    for (int64_t i = 0; i < n * n; ++i) EXPECT_EQ(zero.vectors[i], T(i % (n + 1) == 0 ? 1 : 0));
  }
}

TYPED_TEST(SmallEigenTest, ReadsOneTriangle) {
  using T = TypeParam;
  for (int64_t n : {2, 3, 8}) {
    const std::vector<T> a = this->Random(n);
    for (bool is_lower : {false, true}) {
      std::vector<T> other = a;
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < i; ++j) other[is_lower ? j * n + i : i * n + j] = this->Number();
        if constexpr (is_complex_v<T>) other[i * n + i].imag(1);
      }
      const auto expected = this->Factor(a, n, is_lower), result = this->Factor(other, n, is_lower);
      EXPECT_EQ(result.values, expected.values);
      EXPECT_EQ(result.vectors, expected.vectors);
    }
  }
}

// Also in the triangle that is not read, as with JAX.
TYPED_TEST(SmallEigenTest, WhatIsNotFiniteGivesNaN) {
  using T = TypeParam;
  using R = RealOf<T>;
  for (const R x : {std::numeric_limits<R>::infinity(), std::numeric_limits<R>::quiet_NaN()}) {
    for (int64_t n : {1, 2, 5}) {
      for (int64_t place = 0; place < n * n; ++place) {
        std::vector<T> a = this->Random(n);
        a[place] = T(x);
        if constexpr (is_complex_v<T>) a[place] = place % 2 == 0 ? T(x, R(1)) : T(R(1), x);
        const auto result = this->Factor(a, n, place % 3 == 0);
        EXPECT_EQ(result.info, kNotFiniteInfo);
        for (const R value : result.values) EXPECT_TRUE(std::isnan(value));
        for (const T vector : result.vectors)
          EXPECT_TRUE(std::isnan(std::real(vector)) && (!is_complex_v<T> || std::isnan(std::imag(vector))));
      }
    }
  }
}

// Signs that LAPACK 3.11 gives, of the lower and of the upper triangle.
TEST(SmallEigenSignsTest, AreThoseOfLapack) {
  const std::vector<double> a = {4, 1, -2, 1, 2, 0.5, -2, 0.5, 3};
  const double w[] = {0.65392376846138411, 2.7163484656182608, 5.6297277659203537};
  const double lower[] = {-0.53232434479805624, 0.27463393193367164, -0.80075401676543045,
                          0.61251698689552214,  0.77788933749941624, -0.1403962940007677,
                          -0.58434042535131048, 0.5652118028096822,  0.58230738039705354};
  const double upper[] = {-0.53232434479805679, 0.27463393193367169, -0.80075401676543034,
                          0.61251698689552236,  0.77788933749941636, -0.14039629400076747,
                          -0.5843404253513107,  0.56521180280968186, 0.58230738039705354};
  for (bool is_lower : {false, true}) {
    std::vector<double> vectors(9), values(3);
    EXPECT_EQ(FactorSmallEigen(a.data(), is_lower, 3, vectors.data(), values.data()), 0);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(values[i], w[i], 1e-14);
    for (int i = 0; i < 9; ++i) EXPECT_NEAR(vectors[i], (is_lower ? lower : upper)[i], 1e-14);
  }
}

}  // namespace
}  // namespace kashi::kernels
