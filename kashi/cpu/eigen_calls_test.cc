// JAX's calls of LAPACK for the eigenvalues of small matrices: the compiled engine computes them itself
// (kashi/kernels/small_eigen.h), the evaluator by LAPACK.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/array/types.h"
#include "kashi/codegen/linear_algebra.h"
#include "kashi/cpu/compiled_program.h"
#include "kashi/cpu/cpu_testing.h"
#include "kashi/custom_calls/lapack_call.h"
#include "kashi/kernels/matrix_kernels.h"
#include "kashi/kernels/small_eigen.h"

namespace kashi::cpu {
namespace {

// What a matrix of a batch is, by its number modulo kCount.
enum Kind { kDense, kLarge, kTiny, kDenormal, kDiagonal, kOnes, kZero, kIntegers, kBand, kGraded, kSparse, kCount };

template <typename T>
class EigenCallsTest : public testing::Test {
 protected:
  using R = kernels::RealOf<T>;
  static constexpr int64_t kBatch = 6 * kCount;

  void SetUp() override {
    if (!custom_calls::HasLapack()) GTEST_SKIP() << "built without LAPACK";
  }

  static std::string Program(int64_t n, char uplo, int64_t batch = kBatch) {
    constexpr PrimitiveType kType = primitive_util::NativeToPrimitiveType<T>();
    const absl::string_view type = primitive_util::LowercasePrimitiveTypeName(kType);
    const absl::string_view real =
        primitive_util::LowercasePrimitiveTypeName(primitive_util::NativeToPrimitiveType<R>());
    constexpr absl::string_view kRoutine = kType == F32   ? "ssyevd"
                                           : kType == F64 ? "dsyevd"
                                           : kType == C64 ? "cheevd"
                                                          : "zheevd";
    return absl::Substitute(R"(HloModule m
ENTRY e {
  a = $0[$2,$3,$3] parameter(0)
  ROOT r = ($0[$2,$3,$3]{1,2,0}, $1[$2,$3], s32[$2]) custom-call(a), custom_call_target="lapack_$4_ffi",
    operand_layout_constraints={$0[$2,$3,$3]{1,2,0}}, api_version=API_VERSION_TYPED_FFI,
    backend_config={mode = 86 : ui8, uplo = $5 : ui8}
})",
                            type, real, batch, n, kRoutine, static_cast<int>(uplo));
  }

  T Element(Kind kind, int64_t i, int64_t j) {
    constexpr R kMin = std::numeric_limits<R>::min();
    switch (kind) {
      case kLarge:
        return Number() * (std::numeric_limits<R>::max() / 64);
      case kTiny:
        return Number() * std::sqrt(kMin);
      case kDenormal:
        return Number() * (kMin / 4);
      case kDiagonal:
        return i == j ? Number() : T(0);
      case kOnes:
        return T(1);
      case kZero:
        return T(0);
      case kIntegers:
        return T(std::round(2 * std::real(Number())));
      case kBand:
        return T(i == j ? 2 : std::abs(i - j) == 1 ? -1 : 0);
      case kGraded:
        return Number() * static_cast<R>(std::exp2(-2 * static_cast<double>(i + j)));
      case kSparse:
        return engine_() % 2 == 0 ? Number() : T(0);
      default:
        return Number();
    }
  }
  T Number() {
    std::uniform_real_distribution<R> uniform(-1, 1);
    const R real = uniform(engine_);
    if constexpr (is_complex_v<T>) {
      return T(real, uniform(engine_));
    } else {
      return real;
    }
  }

  Literal Matrices(int64_t n) {
    Literal all(ShapeUtil::MakeShape(primitive_util::NativeToPrimitiveType<T>(), {kBatch, n, n}));
    T* a = all.data<T>().data();
    for (int64_t b = 0; b < kBatch; ++b, a += n * n) {
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j <= i; ++j) {
          const T x = Element(static_cast<Kind>(b % kCount), i, j);
          a[i * n + j] = i == j ? T(std::real(x)) : x;
          a[j * n + i] = kernels::Conjugate(a[i * n + j]);
        }
      }
    }
    return all;
  }

  // Of matrix b: values, and those vectors that are unique, which literals have by columns, as the program says. Signs
  // of vectors are a matter of rounding in matrices with many equal elements.
  static void ExpectClose(const Literal& expected, const Literal& actual, int64_t n, int64_t b) {
    const auto kind = static_cast<Kind>(b % kCount);
    SCOPED_TRACE(absl::StrCat("kind ", static_cast<int>(kind), ", n = ", n, ", matrix ", b));
    const R* const w = LiteralSlice(expected, {1}).data<R>().data() + b * n;
    const R* const got = LiteralSlice(actual, {1}).data<R>().data() + b * n;
    const T* const v = LiteralSlice(expected, {0}).data<T>().data() + b * n * n;
    const T* const vectors = LiteralSlice(actual, {0}).data<T>().data() + b * n * n;
    EXPECT_EQ(LiteralSlice(expected, {2}).data<int32_t>()[b], LiteralSlice(actual, {2}).data<int32_t>()[b]);
    const double norm = std::max(std::abs(double{w[0]}), std::abs(double{w[n - 1]}));
    const double rounding = 16 * static_cast<double>(n) * std::numeric_limits<R>::epsilon();
    const double lost = kind == kDenormal ? static_cast<double>(n) * std::numeric_limits<R>::denorm_min() : 0;
    for (int64_t j = 0; j < n; ++j) {
      EXPECT_NEAR(got[j], w[j], rounding * norm + lost);
      double gap = norm;
      if (j > 0) gap = std::min(gap, double{w[j]} - double{w[j - 1]});
      if (j + 1 < n) gap = std::min(gap, double{w[j + 1]} - double{w[j]});
      if (gap == 0 || gap < norm / 64 || lost > rounding * norm) continue;
      complex128 overlap = 0;
      for (int64_t i = 0; i < n; ++i) {
        overlap += std::conj(complex128(v[j * n + i])) * complex128(vectors[j * n + i]);
      }
      const bool has_sign = kind == kDense || kind == kLarge || kind == kTiny;
      EXPECT_LE(std::abs((has_sign ? overlap : std::abs(overlap)) - 1.0), 64 * rounding);
    }
  }

  std::minstd_rand0 engine_{11};
};

using Types = testing::Types<float, double, complex64, complex128>;
TYPED_TEST_SUITE(EigenCallsTest, Types);

TYPED_TEST(EigenCallsTest, GiveTheResultsOfLapack) {
  for (int64_t n = 1; n <= kernels::kMostEigenRows; ++n) {
    for (const char uplo : {'L', 'U'}) {
      const auto module = ReadVerified(this->Program(n, uplo));
      ASSERT_TRUE(module.ok()) << module.status();
      std::vector<Literal> arguments;
      arguments.push_back(this->Matrices(n));
      const absl::StatusOr<Literal> expected = HloEvaluator(EvaluationOptions()).Evaluate(**module, arguments);
      ASSERT_TRUE(expected.ok()) << expected.status();
      CompileOptions options;
      options.numbers.flush_denormals = false;  // as the evaluator
      const auto program = CompiledProgram::Compile(**module, options);
      ASSERT_TRUE(program.ok()) << program.status();
      const absl::StatusOr<Literal> actual = RunProgram(**program, arguments);
      ASSERT_TRUE(actual.ok()) << actual.status();
      for (int64_t b = 0; b < this->kBatch; ++b) this->ExpectClose(*expected, *actual, n, b);
    }
  }
}

// One thread, several, and guard pages; with NaN in one matrix, which no other one sees.
TYPED_TEST(EigenCallsTest, AreAloneInABatch) {
  for (int64_t n : {1, 2, 4}) {
    std::vector<Literal> arguments;
    arguments.push_back(this->Matrices(n));
    arguments[0].template data<TypeParam>()[n * n] = std::numeric_limits<kernels::RealOf<TypeParam>>::quiet_NaN();
    const auto module = ReadVerified(this->Program(n, 'L'));
    ASSERT_TRUE(module.ok()) << module.status();
    const absl::StatusOr<Literal> all = RunCompiled(**module, arguments);
    ASSERT_TRUE(all.ok()) << all.status();
    EXPECT_EQ(LiteralSlice(*all, {2}).template data<int32_t>()[0], 0);
    EXPECT_EQ(LiteralSlice(*all, {2}).template data<int32_t>()[1], kernels::kNotFiniteInfo);
    EXPECT_EQ(LiteralSlice(*all, {2}).template data<int32_t>()[2], 0);
    const absl::StatusOr<Literal> evaluated = HloEvaluator(EvaluationOptions()).Evaluate(**module, arguments);
    ASSERT_TRUE(evaluated.ok()) << evaluated.status();
    EXPECT_EQ(LiteralSlice(*all, {2}), LiteralSlice(*evaluated, {2}));
  }
}

// Whether the compiled engine computes the call of this program itself.
bool IsOwn(const std::string& text) {
  const auto module = ReadVerified(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() && codegen::LinearAlgebraCallOf(*(*module)->entry_computation()->root_instruction()).has_value();
}

TYPED_TEST(EigenCallsTest, OthersAreLeftToLapack) {
  EXPECT_TRUE(IsOwn(this->Program(kernels::kMostEigenRows, 'L')));
  EXPECT_FALSE(IsOwn(this->Program(kernels::kMostEigenRows + 1, 'L')));
  const std::string call = this->Program(4, 'U');
  EXPECT_TRUE(IsOwn(call));
  EXPECT_FALSE(IsOwn(absl::StrReplaceAll(call, {{"mode = 86", "mode = 78"}})));  // no vectors
  EXPECT_FALSE(IsOwn(absl::StrReplaceAll(call, {{"mode = 86 : ui8, ", ""}})));
  EXPECT_FALSE(IsOwn(absl::StrReplaceAll(call, {{"uplo = 85", "uplo = 86"}})));
  EXPECT_FALSE(IsOwn(absl::StrReplaceAll(call, {{"4,4]{1,2,0}", "4,4]{2,1,0}"}})));  // LAPACK sees the transpose
  EXPECT_FALSE(IsOwn(absl::StrReplaceAll(call, {{"s32[", "s64["}})));
  EXPECT_FALSE(IsOwn(absl::StrReplaceAll(call, {{"_ffi", ""}})));
}

}  // namespace
}  // namespace kashi::cpu
