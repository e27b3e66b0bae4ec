#include <cmath>
#include <complex>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/primitive_util.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/literal/literal_comparison.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

using ::testing::HasSubstr;
using C = complex64;
using Z = complex128;

absl::StatusOr<Literal> TryFft(absl::string_view type, const std::vector<int64_t>& lengths, const Literal& x,
                               absl::string_view result) {
  return TryEvaluateText(
      absl::Substitute("ENTRY e { x = $0 parameter(0) ROOT y = $1 fft(x), fft_type=$2, fft_length={$3} }",
                       ShapeUtil::HumanString(x.shape()), result, type, absl::StrJoin(lengths, ",")),
      {&x});
}

Literal Fft(absl::string_view type, const std::vector<int64_t>& lengths, const Literal& x, absl::string_view result) {
  absl::StatusOr<Literal> y = TryFft(type, lengths, x, result);
  EXPECT_TRUE(y.ok()) << y.status();
  return y.ok() ? *std::move(y) : Literal();
}

void ExpectNear(const Literal& expected, const Literal& actual, double tolerance) {
  EXPECT_TRUE(literal_comparison::Near(expected, actual, ErrorSpec(tolerance, tolerance)).ok())
      << literal_comparison::Near(expected, actual, ErrorSpec(tolerance, tolerance));
}

TEST(FftTest, OneAxis) {  // docs/spec/hlo-ops.md 15
  const Literal x = LiteralUtil::CreateR1<C>({1, 2, 3, 4});
  EXPECT_EQ(Fft("FFT", {4}, x, "c64[4]"), LiteralUtil::CreateR1<C>({10, C(-2, 2), -2, C(-2, -2)}));
  EXPECT_EQ(Fft("IFFT", {4}, x, "c64[4]"), LiteralUtil::CreateR1<C>({2.5, C(-0.5, -0.5), -0.5, C(-0.5, 0.5)}));
  ExpectNear(LiteralUtil::CreateR1<C>({15, C(-2.5f, 3.440955f), C(-2.5f, 0.8122992f)}),
             Fft("RFFT", {5}, LiteralUtil::CreateR1<float>({1, 2, 3, 4, 5}), "c64[3]"), 1e-6);
  const Literal half = LiteralUtil::CreateR1<C>({C(1, 5), C(2, 1), C(3, 7)});
  ExpectNear(LiteralUtil::CreateR1<float>({2.2f, -2.5498283f, 2.3514512f, -2.5042374f, 1.5026144f}),
             Fft("IRFFT", {5}, half, "f32[5]"), 1e-6);
  EXPECT_EQ(Fft("IRFFT", {4}, half, "f32[4]"), LiteralUtil::CreateR1<float>({2, -1, 0, 0}));
}

// The verifier lets real results be of any precision in the modules of compilers.
TEST(FftTest, MixedPrecision) {
  const Literal half = LiteralUtil::CreateR1<C>({C(1, 5), C(2, 1), C(3, 7)});
  const Literal expected = LiteralUtil::CreateR1<float>({2, -1, 0, 0});
  for (PrimitiveType type : {BF16, F16, F8E5M2, F8E4M3FN, F4E2M1FN, F64}) {
    const std::string shape = absl::StrCat(primitive_util::LowercasePrimitiveTypeName(type), "[4]");
    EXPECT_EQ(Fft("IRFFT", {4}, half, shape), expected.Convert(type).value()) << shape;
  }
}

// Real XLA gives empty arrays for empty ones; of elements it gives zeros, or what memory holds.
TEST(FftTest, LengthsOfZero) {
  const auto zeros = [](absl::string_view shape) { return Literal::CreateFromShape(ParseShape(shape).value()); };
  EXPECT_EQ(Fft("FFT", {0}, zeros("c64[0]"), "c64[0]"), zeros("c64[0]"));
  EXPECT_EQ(Fft("IFFT", {4, 0}, zeros("c64[3,4,0]"), "c64[3,4,0]"), zeros("c64[3,4,0]"));
  EXPECT_EQ(Fft("FFT", {4}, zeros("c64[0,4]"), "c64[0,4]"), zeros("c64[0,4]"));
  EXPECT_EQ(Fft("RFFT", {0}, zeros("f32[3,0]"), "c64[3,0]"), zeros("c64[3,0]"));
  EXPECT_EQ(Fft("RFFT", {0, 4}, zeros("f32[0,4]"), "c64[0,3]"), zeros("c64[0,3]"));
  EXPECT_EQ(Fft("IRFFT", {0}, zeros("c64[3,0]"), "f32[3,0]"), zeros("f32[3,0]"));
  EXPECT_EQ(Fft("IRFFT", {0}, LiteralUtil::CreateR1<C>({7}), "f32[0]"), zeros("f32[0]"));
  EXPECT_EQ(Fft("FFT", {0}, LiteralUtil::CreateR2<C>({{C(42, 24)}}), "c64[1,1]"), zeros("c64[1,1]"));
  EXPECT_EQ(Fft("IFFT", {2, 0}, LiteralUtil::CreateR2<C>({{1, 2}, {3, 4}}), "c64[2,2]"), zeros("c64[2,2]"));
}

TEST(FftTest, ShortLengths) {
  EXPECT_EQ(Fft("RFFT", {1}, LiteralUtil::CreateR1<float>({3}), "c64[1]"), LiteralUtil::CreateR1<C>({3}));
  EXPECT_EQ(Fft("IRFFT", {1}, LiteralUtil::CreateR1<C>({C(3, 4)}), "f32[1]"), LiteralUtil::CreateR1<float>({3}));
  EXPECT_EQ(Fft("IRFFT", {2}, LiteralUtil::CreateR1<C>({C(3, 4), C(1, 7)}), "f32[2]"),
            LiteralUtil::CreateR1<float>({2, 1}));
  EXPECT_EQ(Fft("FFT", {0}, LiteralUtil::CreateFromDimensions(C64, {2, 0}), "c64[2,0]"),
            LiteralUtil::CreateFromDimensions(C64, {2, 0}));
  EXPECT_EQ(Fft("FFT", {4}, LiteralUtil::CreateFromDimensions(C64, {0, 4}), "c64[0,4]"),
            LiteralUtil::CreateFromDimensions(C64, {0, 4}));
}

TEST(FftTest, LengthsMustFit) {
  const Literal x = LiteralUtil::CreateR1<C>({1, 2, 3, 4});
  for (int64_t length : {3, 5}) {
    const absl::Status status = TryFft("FFT", {length}, x, "c64[4]").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.ToString(), HasSubstr("y: FFT of lengths {"));
  }
}

// By the definition, along one axis of an array seen as [outer][n][inner]; sign -1 is the transform.
std::vector<Z> SlowTransform(const std::vector<Z>& x, int64_t n, int64_t inner, int sign) {
  std::vector<Z> y(x.size());
  for (int64_t o = 0; o < x.size() / (n * inner); ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      for (int64_t k = 0; k < n; ++k) {
        Z sum = 0;
        for (int64_t j = 0; j < n; ++j) {
          const double angle = sign * 2 * M_PI * static_cast<double>(j * k % n) / static_cast<double>(n);
          sum += x[(o * n + j) * inner + i] * Z(std::cos(angle), std::sin(angle));
        }
        y[(o * n + k) * inner + i] = sign < 0 ? sum : sum / static_cast<double>(n);
      }
    }
  }
  return y;
}

std::vector<Z> RandomNumbers(int64_t count) {
  std::mt19937 random(static_cast<uint32_t>(count));
  std::normal_distribution<double> normal;
  std::vector<Z> x(count);
  for (Z& number : x) number = Z(normal(random), normal(random));
  return x;
}

Literal ArrayOf(const std::vector<Z>& x, const std::vector<int64_t>& dimensions) {
  Literal literal = LiteralUtil::CreateFromDimensions(C128, dimensions);
  std::copy(x.begin(), x.end(), literal.data<Z>().begin());
  return literal;
}

TEST(FftTest, AnyLength) {
  std::vector<int64_t> lengths = {97, 101, 128, 210, 243, 256, 1001, 1024, 17 * 19, 2 * 3 * 4 * 5 * 7};
  for (int64_t n = 1; n <= 70; ++n) lengths.push_back(n);
  for (int64_t n : lengths) {
    const std::vector<Z> x = RandomNumbers(3 * n);
    const std::string shape = absl::Substitute("c128[3,$0]", n);
    ExpectNear(ArrayOf(SlowTransform(x, n, 1, -1), {3, n}), Fft("FFT", {n}, ArrayOf(x, {3, n}), shape), 1e-12 * n);
    ExpectNear(ArrayOf(SlowTransform(x, n, 1, 1), {3, n}), Fft("IFFT", {n}, ArrayOf(x, {3, n}), shape), 1e-12);
  }
}

TEST(FftTest, ThreeAxes) {
  const std::vector<Z> x = RandomNumbers(2 * 5 * 12 * 37);
  std::vector<Z> y = SlowTransform(x, 37, 1, -1);
  y = SlowTransform(y, 12, 37, -1);
  y = SlowTransform(y, 5, 12 * 37, -1);
  const Literal result = Fft("FFT", {5, 12, 37}, ArrayOf(x, {2, 5, 12, 37}), "c128[2,5,12,37]");
  ExpectNear(ArrayOf(y, {2, 5, 12, 37}), result, 1e-10);
  ExpectNear(ArrayOf(x, {2, 5, 12, 37}), Fft("IFFT", {5, 12, 37}, result, "c128[2,5,12,37]"), 1e-12);
}

TEST(FftTest, RealAndBack) {
  for (int64_t n : {6, 7, 64, 29}) {
    const std::vector<Z> random = RandomNumbers(4 * 3 * n);
    Literal x = LiteralUtil::CreateFromDimensions(F64, {4, 3, n});
    std::vector<Z> real;
    for (int64_t i = 0; i < 12 * n; ++i) {
      x.data<double>()[i] = random[i].real();
      real.push_back(random[i].real());
    }
    const std::vector<Z> full = SlowTransform(SlowTransform(real, n, 1, -1), 3, n, -1);
    std::vector<Z> cut;
    for (int64_t i = 0; i < 12 * n; ++i) {
      if (i % n <= n / 2) cut.push_back(full[i]);
    }
    const Literal y = Fft("RFFT", {3, n}, x, absl::Substitute("c128[4,3,$0]", n / 2 + 1));
    ExpectNear(ArrayOf(cut, {4, 3, n / 2 + 1}), y, 1e-11);
    ExpectNear(x, Fft("IRFFT", {3, n}, y, absl::Substitute("f64[4,3,$0]", n)), 1e-13);
  }
}

// Rounds once: f32 results are the nearest to the f64 ones, except for the rare number halfway.
TEST(FftTest, RoundsOnce) {
  const std::vector<Z> x = RandomNumbers(60 * 50);
  Literal narrow = LiteralUtil::CreateFromDimensions(C64, {60, 50});
  std::vector<Z> wide;
  // Multiples of 1/1024, which a float holds exactly. (g++ 12 at -O3 loses the rounding in Z(C(x)).)
  const auto coarse = [](double v) { return std::round(v * 1024) / 1024; };
  for (int64_t i = 0; i < x.size(); ++i) {
    wide.push_back(Z(coarse(x[i].real()), coarse(x[i].imag())));
    narrow.data<C>()[i] = C(wide.back());
  }
  const Literal expected = Fft("FFT", {60, 50}, ArrayOf(wide, {60, 50}), "c128[60,50]");
  const Literal actual = Fft("FFT", {60, 50}, narrow, "c64[60,50]");
  // Half a unit in the last place of a float, and the rounding errors of the sums in double.
  const auto slack = [](double exact) { return std::ldexp(std::abs(exact), -24) + 1e-11; };
  for (int64_t i = 0; i < x.size(); ++i) {
    const Z exact = expected.data<Z>()[i];
    ASSERT_NEAR(actual.data<C>()[i].real(), exact.real(), slack(exact.real()));
    ASSERT_NEAR(actual.data<C>()[i].imag(), exact.imag(), slack(exact.imag()));
  }
}

}  // namespace
}  // namespace kashi::evaluator
