#include "kashi/evaluator/triangular_solve.h"

#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/hlo/attributes/enum_text.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

using ::testing::ElementsAre;
using Options = TriangularSolveOptions;
constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Options MakeOptions(bool left, bool lower, bool unit, Options::Transpose transpose) {
  Options options;
  options.set_left_side(left);
  options.set_lower(lower);
  options.set_unit_diagonal(unit);
  options.set_transpose_a(transpose);
  return options;
}

Literal Solve(const Literal& a, const Literal& b, const Options& options) {
  const auto text = [](bool x) { return x ? "true" : "false"; };
  return EvaluateText(
      absl::Substitute("ENTRY e { a = $0 parameter(0) b = $1 parameter(1) ROOT x = $1 triangular-solve(a, b), "
                       "left_side=$2, lower=$3, unit_diagonal=$4, transpose_a=$5 }",
                       ShapeUtil::HumanString(a.shape()), ShapeUtil::HumanString(b.shape()), text(options.left_side()),
                       text(options.lower()), text(options.unit_diagonal()), TransposeToString(options.transpose_a())),
      std::vector<const Literal*>{&a, &b});
}

TEST(TriangularSolveTest, Forms) {  // docs/spec/hlo-ops.md 15
  const Literal a = LiteralUtil::CreateR2<float>({{2, 3}, {1, 4}}), b = LiteralUtil::CreateR2<float>({{2, 4}, {6, 8}});
  const auto solve = [&](bool left, bool lower, bool unit, Options::Transpose transpose) {
    return Solve(a, b, MakeOptions(left, lower, unit, transpose));
  };
  EXPECT_EQ(solve(true, true, false, Options::NO_TRANSPOSE), LiteralUtil::CreateR2<float>({{1, 2}, {1.25, 1.5}}));
  EXPECT_EQ(solve(true, false, false, Options::NO_TRANSPOSE), LiteralUtil::CreateR2<float>({{-1.25, -1}, {1.5, 2}}));
  EXPECT_EQ(solve(true, true, false, Options::TRANSPOSE), LiteralUtil::CreateR2<float>({{0.25, 1}, {1.5, 2}}));
  EXPECT_EQ(solve(false, true, false, Options::NO_TRANSPOSE), LiteralUtil::CreateR2<float>({{0.5, 1}, {2, 2}}));
  EXPECT_EQ(solve(true, true, true, Options::NO_TRANSPOSE), LiteralUtil::CreateR2<float>({{2, 4}, {4, 4}}));
}

TEST(TriangularSolveTest, ReadsNoMoreThanItMust) {
  const Literal b = LiteralUtil::CreateR2<float>({{2}, {6}});
  EXPECT_EQ(Solve(LiteralUtil::CreateR2<float>({{2, kNotANumber}, {1, 4}}), b,
                  MakeOptions(true, true, false, Options::NO_TRANSPOSE)),
            LiteralUtil::CreateR2<float>({{1}, {1.25}}));
  EXPECT_EQ(Solve(LiteralUtil::CreateR2<float>({{kNotANumber, kNotANumber}, {1, kNotANumber}}), b,
                  MakeOptions(true, true, true, Options::NO_TRANSPOSE)),
            LiteralUtil::CreateR2<float>({{2}, {4}}));
}

TEST(TriangularSolveTest, AZeroOnTheDiagonalDividesByZero) {
  const Literal x =
      Solve(LiteralUtil::CreateR2<float>({{0, 0}, {1, 4}}), LiteralUtil::CreateR2<float>({{2, 0}, {6, 8}}),
            MakeOptions(true, true, false, Options::NO_TRANSPOSE));
  EXPECT_THAT(x.data<float>(), ElementsAre(kInfinity, ::testing::IsNan(), -kInfinity, ::testing::IsNan()));
}

TEST(TriangularSolveTest, NothingToDo) {
  const Literal none = LiteralUtil::CreateFromDimensions(F32, {2, 3, 0});
  EXPECT_EQ(Solve(LiteralUtil::CreateFromDimensions(F32, {2, 3, 3}), none,
                  MakeOptions(true, true, false, Options::NO_TRANSPOSE)),
            none);
}

template <typename T>
T RandomElement(std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  if constexpr (is_complex_v<T>) {
    return T(uniform(random), uniform(random));
  } else {
    return static_cast<T>(uniform(random));
  }
}

template <typename T>
Literal RandomArray(std::vector<int64_t> dimensions, std::mt19937& random) {
  Literal literal = LiteralUtil::CreateFromDimensions(primitive_util::NativeToPrimitiveType<T>(), dimensions);
  for (T& x : literal.data<T>()) x = RandomElement<T>(random);
  return literal;
}

// Element (i, j) of op(a), read as the options say.
template <typename T>
T OpElement(absl::Span<const T> a, int64_t n, int64_t i, int64_t j, const Options& options) {
  if (i == j && options.unit_diagonal()) return T(1);
  if (options.transpose_a() != Options::NO_TRANSPOSE) std::swap(i, j);
  if (i != j && (i > j) != options.lower()) return T(0);
  const T x = a[i * n + j];
  if constexpr (is_complex_v<T>) return options.transpose_a() == Options::ADJOINT ? std::conj(x) : x;
  return x;
}

// op(a) x or x op(a), the slow way, against b. Two matrices.
template <typename T>
void ExpectSolves(int64_t n, int64_t m, const Options& options, double tolerance) {
  std::mt19937 random(static_cast<uint32_t>(n * 1000 + m));
  Literal a = RandomArray<T>({2, n, n}, random);
  for (T& x : a.data<T>()) x /= static_cast<T>(n);  // small beside the diagonal, so that the system is a good one
  for (int64_t i = 0; i < 2 * n; ++i) a.data<T>()[i * n + i % n] += T(1.5);
  const std::vector<int64_t> sizes =
      options.left_side() ? std::vector<int64_t>{2, n, m} : std::vector<int64_t>{2, m, n};
  const Literal b = RandomArray<T>(sizes, random);
  const Literal result = Solve(a, b, options);
  for (int64_t batch = 0; batch < 2; ++batch) {
    const auto matrix = a.data<T>().subspan(batch * n * n, n * n);
    const auto x = result.data<T>().subspan(batch * n * m, n * m), y = b.data<T>().subspan(batch * n * m, n * m);
    for (int64_t i = 0; i < sizes[1]; ++i) {
      for (int64_t j = 0; j < sizes[2]; ++j) {
        T sum(0);
        for (int64_t k = 0; k < n; ++k) {
          sum += options.left_side() ? OpElement<T>(matrix, n, i, k, options) * x[k * m + j]
                                     : x[i * n + k] * OpElement<T>(matrix, n, k, j, options);
        }
        ASSERT_LE(std::abs(sum - y[i * sizes[2] + j]), tolerance) << n << ", " << m << ": " << i << ", " << j;
      }
    }
  }
}

TEST(TriangularSolveTest, SolvesWhatItWasAsked) {
  for (int form = 0; form < 24; ++form) {
    const Options options =
        MakeOptions(form & 1, form & 2, form & 4, static_cast<Options::Transpose>(Options::NO_TRANSPOSE + form / 8));
    for (const auto& [n, m] : std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {3, 5}, {64, 2}, {65, 1}, {150, 9}}) {
      ExpectSolves<float>(n, m, options, 1e-4);
      ExpectSolves<complex64>(n, m, options, 1e-4);
    }
    ExpectSolves<double>(129, 300, options, 1e-12);
    ExpectSolves<complex128>(70, 17, options, 1e-12);
  }
}

}  // namespace
}  // namespace kashi::evaluator
