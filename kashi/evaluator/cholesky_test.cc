#include "kashi/evaluator/cholesky.h"

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Literal Cholesky(const Literal& a, bool lower) {
  const std::string shape = ShapeUtil::HumanString(a.shape());
  return EvaluateText(absl::StrFormat("ENTRY e { a = %s parameter(0) ROOT l = %s cholesky(a), lower=%s }", shape, shape,
                                      lower ? "true" : "false"),
                      {&a});
}

TEST(CholeskyTest, ReadsOneTriangle) {  // docs/spec/hlo-ops.md 15
  EXPECT_EQ(Cholesky(LiteralUtil::CreateR2<float>({{4, 9}, {2, 5}}), true),
            LiteralUtil::CreateR2<float>({{2, 0}, {1, 2}}));
  EXPECT_EQ(Cholesky(LiteralUtil::CreateR2<float>({{4, 2}, {9, 5}}), false),
            LiteralUtil::CreateR2<float>({{2, 1}, {0, 2}}));
}

TEST(CholeskyTest, ImaginaryPartsOfTheDiagonalComeThrough) {
  using C = complex64;
  EXPECT_EQ(Cholesky(LiteralUtil::CreateR2<C>({{C(4, 9), 1}, {C(2, 2), 18}}), true),
            LiteralUtil::CreateR2<C>({{C(2, 4.5f), 0}, {C(1, 1), 4}}));
  EXPECT_EQ(Cholesky(LiteralUtil::CreateR2<C>({{C(4, 9), C(2, 2)}, {7, 18}}), false),
            LiteralUtil::CreateR2<C>({{C(2, 4.5f), C(1, 1)}, {0, 4}}));
}

TEST(CholeskyTest, APivotThatFailsMakesItsMatrixNan) {
  EXPECT_EQ(Cholesky(LiteralUtil::CreateR3<float>({{{4, 0}, {2, 5}}, {{1, 0}, {2, 1}}, {{9, kNan}, {3, 2}}}), true),
            LiteralUtil::CreateR3<float>({{{2, 0}, {1, 2}}, {{kNan, kNan}, {kNan, kNan}}, {{3, 0}, {1, 1}}}));
  EXPECT_EQ(Cholesky(LiteralUtil::CreateR2<float>({{kNan}}), true), LiteralUtil::CreateR2<float>({{kNan}}));
  EXPECT_EQ(Cholesky(LiteralUtil::CreateR2<float>({{0}}), true), LiteralUtil::CreateR2<float>({{0}}));
}

TEST(CholeskyTest, NothingToDo) {
  const Literal empty = LiteralUtil::CreateFromDimensions(F32, {3, 0, 0});
  EXPECT_EQ(Cholesky(empty, true), empty);
}

TEST(CholeskyTest, NarrowTypesRoundOnce) {
  EXPECT_EQ(Cholesky(LiteralUtil::CreateR2<bfloat16>({{bfloat16(2.0f)}}), true),
            LiteralUtil::CreateR2<bfloat16>({{bfloat16(std::sqrt(2.0f))}}));
}

// A = B B^H + n I is factored, and the factors are multiplied again. Sizes around the blocks' edges.
template <typename T>
void ExpectFactors(int64_t n, bool lower, double tolerance) {
  std::mt19937 random(static_cast<uint32_t>(n));
  std::normal_distribution<double> normal;
  std::vector<T> b(n * n);
  for (T& x : b) {
    if constexpr (is_complex_v<T>) {
      x = T(normal(random), normal(random));
    } else {
      x = static_cast<T>(normal(random));
    }
  }
  const auto conjugate = [](T x) {
    if constexpr (is_complex_v<T>) return std::conj(x);
    return x;
  };
  Literal a = LiteralUtil::CreateFromDimensions(primitive_util::NativeToPrimitiveType<T>(), {n, n});
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      T sum = i == j ? static_cast<T>(n) : T(0);
      for (int64_t k = 0; k < n; ++k) sum += b[i * n + k] * conjugate(b[j * n + k]);
      const bool is_read = i == j || (i > j) == lower;
      a.data<T>()[i * n + j] = is_read ? (i == j ? T(std::real(sum)) : sum) : T(kNan);
    }
  }
  const Literal factor = Cholesky(a, lower);
  const absl::Span<const T> f = factor.data<T>();
  const auto l = [&](int64_t i, int64_t j) { return lower ? f[i * n + j] : conjugate(f[j * n + i]); };
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i + 1; j < n; ++j) ASSERT_EQ(l(i, j), T(0));
    for (int64_t j = 0; j <= i; ++j) {
      T sum(0);
      for (int64_t k = 0; k <= j; ++k) sum += l(i, k) * conjugate(l(j, k));
      const T expected = lower ? a.data<T>()[i * n + j] : conjugate(a.data<T>()[j * n + i]);
      ASSERT_LE(std::abs(sum - expected), tolerance * n) << n << ": " << i << ", " << j;
    }
  }
}

TEST(CholeskyTest, FactorsMultiplyToTheMatrix) {
  for (int64_t n : {1, 2, 63, 64, 65, 130, 331}) {
    for (bool lower : {true, false}) {
      ExpectFactors<float>(n, lower, 4e-5);
      ExpectFactors<double>(n, lower, 1e-13);
    }
  }
  for (bool lower : {true, false}) {
    ExpectFactors<complex64>(100, lower, 4e-5);
    ExpectFactors<complex128>(70, lower, 1e-13);
  }
}

}  // namespace
}  // namespace kashi::evaluator
