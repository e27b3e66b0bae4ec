#include "kashi/kernels/small_linear_algebra.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace kashi::kernels {
namespace {

template <typename T>
constexpr PrimitiveType kType = sizeof(T) == 8 ? F64 : F32;
template <typename T>
constexpr double kTolerance = sizeof(T) == 8 ? 1e-12 : 1e-4;

template <typename T>
std::vector<T> Random(int64_t count, int seed) {
  std::minstd_rand0 engine(static_cast<unsigned>(seed));
  std::uniform_real_distribution<T> uniform(-1, 1);
  std::vector<T> numbers(static_cast<size_t>(count));
  for (T& number : numbers) number = uniform(engine);
  return numbers;
}

// Symmetric positive definite matrices.
template <typename T>
std::vector<T> RandomDefinite(int64_t batch, int64_t n, int seed) {
  const std::vector<T> x = Random<T>(batch * n * n, seed);
  std::vector<T> a(x.size());
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        T sum = i == j ? T(1) : T(0);
        for (int64_t k = 0; k < n; ++k) sum += x[(b * n + i) * n + k] * x[(b * n + j) * n + k];
        a[(b * n + i) * n + j] = sum;
      }
    }
  }
  return a;
}

template <typename T>
void CheckCholesky(int64_t batch, int64_t n, bool is_lower) {
  SCOPED_TRACE(absl::StrCat(batch, " of ", n, is_lower ? ", lower" : ", upper"));
  const std::vector<T> a = RandomDefinite<T>(batch, n, static_cast<int>(n));
  std::vector<T> l(a.size());
  std::vector<int32_t> info(static_cast<size_t>(batch), -1);
  const void* operands[] = {a.data()};
  void* results[] = {l.data(), info.data()};
  FindLinearAlgebra(LinearAlgebraKind::kCholesky, kType<T>)(operands, results, 0, batch, n, n, 0, 0,
                                                            is_lower ? LinearAlgebraCall::kLower : 0);
  for (int64_t b = 0; b < batch; ++b) {
    EXPECT_EQ(info[b], 0);
    const auto factor = [&](int64_t i, int64_t j) { return l[b * n * n + (is_lower ? i * n + j : j * n + i)]; };
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t k = 0; k <= std::min(i, j); ++k) sum += double{factor(i, k)} * double{factor(j, k)};
        EXPECT_NEAR(sum, a[b * n * n + i * n + j], kTolerance<T>);
        if (is_lower ? i < j : i > j) {
          EXPECT_EQ(l[b * n * n + i * n + j], a[b * n * n + i * n + j]);
        }
      }
    }
  }
}

TEST(SmallLinearAlgebraTest, Cholesky) {
  for (int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 13, 32}) {
    for (bool is_lower : {false, true}) {
      CheckCholesky<float>(3, n, is_lower);
      CheckCholesky<double>(3, n, is_lower);
    }
  }
}

TEST(SmallLinearAlgebraTest, CholeskyTellsThePivotThatIsNotPositive) {
  const std::vector<double> a = {4, 2, 2, 1};
  std::vector<double> l(4);
  int32_t info = -1;
  const void* operands[] = {a.data()};
  void* results[] = {l.data(), &info};
  FindLinearAlgebra(LinearAlgebraKind::kCholesky, F64)(operands, results, 0, 1, 2, 2, 0, 0, LinearAlgebraCall::kLower);
  EXPECT_EQ(info, 2);
}

template <typename T>
void CheckLu(int64_t batch, int64_t m, int64_t n) {
  SCOPED_TRACE(absl::StrCat(batch, " of ", m, " x ", n));
  const int64_t k = std::min(m, n);
  std::vector<T> a = Random<T>(batch * m * n, static_cast<int>(m * 40 + n)), lu(a.size());
  std::vector<int32_t> pivots(static_cast<size_t>(batch * k)), info(static_cast<size_t>(batch), -1);
  const void* operands[] = {a.data()};
  void* results[] = {lu.data(), pivots.data(), info.data()};
  FindLinearAlgebra(LinearAlgebraKind::kLu, kType<T>)(operands, results, 0, batch, m, n, 0, 0, 0);
  for (int64_t b = 0; b < batch; ++b) {
    T* const matrix = a.data() + b * m * n;
    for (int64_t i = 0; i < k; ++i) {
      std::swap_ranges(matrix + i * n, matrix + (i + 1) * n, matrix + (pivots[b * k + i] - 1) * n);
    }
    EXPECT_EQ(info[b], 0);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t s = 0; s <= std::min({i, j, k - 1}); ++s) {
          const double left = s == i ? 1 : double{lu[(b * m + i) * n + s]};
          sum += left * double{lu[(b * m + s) * n + j]};
        }
        EXPECT_NEAR(sum, matrix[i * n + j], kTolerance<T>);
        if (i > j && j < k) {
          EXPECT_LE(std::abs(lu[(b * m + i) * n + j]), 1 + kTolerance<T>);
        }
      }
    }
  }
}

TEST(SmallLinearAlgebraTest, Lu) {
  for (int64_t m : {1, 2, 3, 5, 8, 13}) {
    for (int64_t n : {1, 2, 4, 8, 11}) {
      CheckLu<float>(2, m, n);
      CheckLu<double>(2, m, n);
    }
  }
}

TEST(SmallLinearAlgebraTest, LuTellsTheFirstPivotThatIsZero) {
  const std::vector<float> a = {1, 2, 3, 2, 4, 6, 1, 1, 1};
  std::vector<float> lu(9);
  std::vector<int32_t> pivots(3);
  int32_t info = -1;
  const void* operands[] = {a.data()};
  void* results[] = {lu.data(), pivots.data(), &info};
  FindLinearAlgebra(LinearAlgebraKind::kLu, F32)(operands, results, 0, 1, 3, 3, 0, 0, 0);
  EXPECT_EQ(pivots, (std::vector<int32_t>{2, 3, 3}));
  EXPECT_EQ(info, 3);
}

template <typename T>
void CheckTriangularSolve(int64_t m, int64_t n, int64_t flags) {
  SCOPED_TRACE(absl::StrCat(m, " x ", n, ", flags ", flags));
  const bool is_left = (flags & LinearAlgebraCall::kLeft) != 0, is_lower = (flags & LinearAlgebraCall::kLower) != 0;
  const bool is_transposed = (flags & LinearAlgebraCall::kTransposed) != 0;
  const bool is_unit = (flags & LinearAlgebraCall::kUnit) != 0;
  const int64_t batch = 2, size = is_left ? m : n;
  std::vector<T> a = Random<T>(batch * size * size, 5), x(static_cast<size_t>(batch * m * n));
  for (int64_t i = 0; i < batch * size; ++i) a[i * size + i % size] += T(3);
  const std::vector<T> b = Random<T>(batch * m * n, 6);
  const void* operands[] = {a.data(), b.data()};
  void* results[] = {x.data()};
  FindLinearAlgebra(LinearAlgebraKind::kTriangularSolve, kType<T>)(operands, results, 0, batch, m, n, 0, 0, flags);
  for (int64_t matrix = 0; matrix < batch; ++matrix) {
    // Element (i, j) of op(a); the other triangle counts as 0.
    const auto element = [&](int64_t i, int64_t j) -> double {
      if (is_transposed) std::swap(i, j);
      if (i == j && is_unit) return 1;
      return (is_lower ? i >= j : i <= j) ? double{a[(matrix * size + i) * size + j]} : 0;
    };
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < size; ++k) {
          sum += is_left ? element(i, k) * double{x[(matrix * m + k) * n + j]}
                         : double{x[(matrix * m + i) * n + k]} * element(k, j);
        }
        EXPECT_NEAR(sum, b[(matrix * m + i) * n + j], 50 * kTolerance<T>);
      }
    }
  }
}

TEST(SmallLinearAlgebraTest, TriangularSolve) {
  for (int64_t flags = 0; flags < 16; ++flags) {
    for (int64_t m : {1, 2, 5, 10}) {
      for (int64_t n : {1, 3, 7}) {
        CheckTriangularSolve<float>(m, n, flags);
        CheckTriangularSolve<double>(m, n, flags);
      }
    }
  }
}

// Q is orthogonal, and Q R is a.
template <typename T>
class QrTest {
 public:
  QrTest(int64_t m, int64_t n) : m_(m), n_(n), p_(std::min(m, n)), a_(Random<T>(kBatch * m * n, 7)) {
    std::vector<T> qr(a_.size());
    tau_.resize(static_cast<size_t>(kBatch * p_));
    Run(LinearAlgebraKind::kQr, {a_.data()}, {qr.data(), tau_.data()}, m, n, 0, 0, 0);
    vectors_.resize(static_cast<size_t>(kBatch * m * m));
    triangle_.resize(a_.size());
    for (int64_t row = 0; row < kBatch * m; ++row) {
      for (int64_t j = 0; j < n; ++j) {
        if (j < m) vectors_[row * m + j] = qr[row * n + j];
        triangle_[row * n + j] = row % m <= j ? qr[row * n + j] : T(0);
      }
    }
    q_.resize(vectors_.size());
    Run(LinearAlgebraKind::kMakeQ, {vectors_.data(), tau_.data()}, {q_.data()}, m, m, p_, 0, 0);
  }

  void CheckFactors() {
    std::vector<T> product(a_.size());
    Run(LinearAlgebraKind::kMultiplyQ, {vectors_.data(), tau_.data(), triangle_.data()}, {product.data()}, m_, m_, p_,
        n_, LinearAlgebraCall::kLeft);
    for (size_t i = 0; i < a_.size(); ++i) EXPECT_NEAR(product[i], a_[i], 10 * kTolerance<T>);
    for (int64_t b = 0; b < kBatch; ++b) {
      for (int64_t i = 0; i < m_; ++i) {
        for (int64_t j = 0; j < m_; ++j) {
          double sum = 0;
          for (int64_t k = 0; k < m_; ++k) sum += Q(b, k, i) * Q(b, k, j);
          EXPECT_NEAR(sum, i == j ? 1 : 0, 10 * kTolerance<T>);
        }
      }
    }
  }

  // op(Q) x, or x op(Q), against the matrix.
  void CheckProduct(bool is_left, bool is_transposed) {
    constexpr int64_t kOthers = 3;
    const std::vector<T> x = Random<T>(kBatch * m_ * kOthers, 9);
    std::vector<T> y(x.size());
    Run(LinearAlgebraKind::kMultiplyQ, {vectors_.data(), tau_.data(), x.data()}, {y.data()}, m_, m_, p_, kOthers,
        (is_left ? LinearAlgebraCall::kLeft : 0) | (is_transposed ? LinearAlgebraCall::kTransposed : 0));
    const int64_t rows = is_left ? m_ : kOthers, columns = is_left ? kOthers : m_;
    for (int64_t b = 0; b < kBatch; ++b) {
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
          double sum = 0;
          for (int64_t k = 0; k < m_; ++k) {
            const int64_t r = is_left ? i : k, c = is_left ? k : j;
            const double element = is_transposed ? Q(b, c, r) : Q(b, r, c);
            sum += element * double{is_left ? x[(b * m_ + k) * columns + j] : x[(b * rows + i) * m_ + k]};
          }
          EXPECT_NEAR(sum, y[(b * rows + i) * columns + j], 10 * kTolerance<T>);
        }
      }
    }
  }

 private:
  static constexpr int64_t kBatch = 2;

  static void Run(LinearAlgebraKind kind, std::vector<const void*> operands, std::vector<void*> results, int64_t m,
                  int64_t n, int64_t p, int64_t others, int64_t flags) {
    FindLinearAlgebra(kind, kType<T>)(operands.data(), results.data(), 0, kBatch, m, n, p, others, flags);
  }
  double Q(int64_t b, int64_t i, int64_t j) const { return q_[(b * m_ + i) * m_ + j]; }

  int64_t m_, n_, p_;
  std::vector<T> a_, tau_, vectors_, triangle_, q_;
};

template <typename T>
void CheckQr(int64_t m, int64_t n) {
  SCOPED_TRACE(absl::StrCat(m, " x ", n));
  QrTest<T> test(m, n);
  test.CheckFactors();
  for (bool is_left : {false, true}) {
    for (bool is_transposed : {false, true}) test.CheckProduct(is_left, is_transposed);
  }
}

TEST(SmallLinearAlgebraTest, Qr) {
  for (int64_t m : {1, 2, 3, 5, 8, 22}) {
    for (int64_t n : {1, 2, 4, 8}) {
      CheckQr<float>(m, n);
      CheckQr<double>(m, n);
    }
  }
}

// Each number that is not finite in each place: NaN and infinity reach what they reach in LAPACK.
TEST(SmallLinearAlgebraTest, QrOfNaNAndInfinity) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  struct Case {
    std::vector<double> a;
    double top, tau;
  };
  for (const Case& x : {Case{{1, nan}, nan, nan}, Case{{nan, 1}, nan, nan}, Case{{infinity, 1}, -infinity, nan},
                        Case{{1, infinity}, -infinity, nan}, Case{{nan, infinity}, nan, nan}, Case{{3, 4}, -5, 1.6},
                        Case{{7, 0}, 7, 0}, Case{{nan, 0}, nan, 0}, Case{{infinity, 0}, infinity, 0},
                        Case{{1e200, 1e200}, -std::sqrt(2.0) * 1e200, 1 + std::sqrt(0.5)}}) {
    std::vector<double> qr(2);
    double tau = -1;
    const void* operands[] = {x.a.data()};
    void* results[] = {qr.data(), &tau};
    FindLinearAlgebra(LinearAlgebraKind::kQr, F64)(operands, results, 0, 1, 2, 1, 0, 0, 0);
    const auto is_same = [](double got, double wanted) {
      return std::isnan(wanted) ? std::isnan(got) : got == wanted || std::abs(got / wanted - 1) < 1e-14;
    };
    EXPECT_TRUE(is_same(qr[0], x.top)) << x.a[0] << ", " << x.a[1] << ": " << qr[0];
    EXPECT_TRUE(is_same(tau, x.tau)) << x.a[0] << ", " << x.a[1] << ": " << tau;
  }
}

// A vector with tau = 0 changes nothing, also beside NaN.
TEST(SmallLinearAlgebraTest, NoReflectionKeepsNaN) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> qr = {1, 5, 0, nan}, tau = {0, nan};
  std::vector<double> q(4);
  const void* operands[] = {qr.data(), tau.data()};
  void* results[] = {q.data()};
  FindLinearAlgebra(LinearAlgebraKind::kMakeQ, F64)(operands, results, 0, 1, 2, 2, 2, 0, 0);
  EXPECT_EQ(q[0], 1);
  EXPECT_EQ(q[1], 0);
  EXPECT_TRUE(std::isnan(q[3]));
}

TEST(SmallLinearAlgebraTest, LuDividesByTheSmallestPivots) {
  const std::vector<double> a = {1e-310, 0, 0, 1e-310};
  std::vector<double> lu(4);
  std::vector<int32_t> pivots(2);
  int32_t info = -1;
  const void* operands[] = {a.data()};
  void* results[] = {lu.data(), pivots.data(), &info};
  FindLinearAlgebra(LinearAlgebraKind::kLu, F64)(operands, results, 0, 1, 2, 2, 0, 0, 0);
  EXPECT_EQ(lu, a);
}

}  // namespace
}  // namespace kashi::kernels
