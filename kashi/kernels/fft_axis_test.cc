#include "kashi/kernels/fft_axis.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kashi/base/parallel.h"
#include "kashi/base/work_meter.h"
#include "kashi/kernels/fft_blocks.h"

namespace kashi::kernels {
namespace {

using Z = std::complex<double>;

// One element of the transform of a line, by the definition. sign 1: the inverse, not divided by the length.
Z SlowFftElement(const std::vector<Z>& line, const std::vector<Z>& roots, int64_t k, int sign) {
  long double re = 0, im = 0;
  const int64_t n = line.size();
  for (int64_t j = 0, turn = 0; j < n; ++j, turn = (turn + k) % n) {
    const long double w_re = roots[turn].real(), w_im = roots[turn].imag() * -sign;
    re += line[j].real() * w_re - line[j].imag() * w_im;
    im += line[j].real() * w_im + line[j].imag() * w_re;
  }
  return Z(static_cast<double>(re), static_cast<double>(im));
}

template <typename S>
std::vector<S> NormalNumbers(int64_t count) {
  std::mt19937 random(static_cast<uint32_t>(count));
  std::normal_distribution<double> normal;
  std::vector<S> x(count);
  for (S& number : x) number = static_cast<S>(normal(random));
  return x;
}

struct FftCase {
  FftNumbers numbers;
  int64_t n;
  int64_t outer, inner;
  bool is_inverse;

  int64_t from_length() const { return numbers == FftNumbers::kHalfToReal ? n / 2 + 1 : n; }
  int64_t to_length() const { return numbers == FftNumbers::kRealToHalf ? n / 2 + 1 : n; }
  int from_parts() const { return numbers == FftNumbers::kRealToHalf ? 1 : 2; }
  int to_parts() const { return numbers == FftNumbers::kHalfToReal ? 1 : 2; }
};

// Line `line` of the array [outer][length][inner], all n elements of it.
template <typename S>
std::vector<Z> FftLineOf(const std::vector<S>& x, const FftCase& c, int64_t line) {
  std::vector<Z> numbers(c.n);
  const int64_t length = c.from_length(), parts = c.from_parts();
  for (int64_t j = 0; j < length; ++j) {
    const int64_t at = ((line / c.inner * length + j) * c.inner + line % c.inner) * parts;
    numbers[j] = {x[at], parts == 2 ? x[at + 1] : 0};
  }
  if (c.numbers != FftNumbers::kHalfToReal) return numbers;
  numbers[0] = numbers[0].real();
  if (c.n % 2 == 0) numbers[c.n / 2] = numbers[c.n / 2].real();
  for (int64_t j = 1; 2 * j < c.n; ++j) numbers[c.n - j] = std::conj(numbers[j]);
  return numbers;
}

template <typename T, typename S>
std::vector<S> RunFftCase(const FftCase& c, const std::vector<S>& x) {
  const FftAxis<T> axis(c.numbers, c.n, {c.outer, c.from_length(), c.inner});
  std::vector<T> scratch(axis.scratch(), std::numeric_limits<T>::quiet_NaN());
  std::vector<S> y(c.outer * c.inner * c.to_length() * c.to_parts());
  const FftStorage<T>& storage = FindFftKernels<T>().template Storage<S>();
  EXPECT_TRUE(axis.TransformAll(x.data(), storage, y.data(), storage, c.is_inverse, NeverStopped, scratch.data()).ok());
  return y;
}

// T: the type of the computation, S: the type of the array. The error is relative to the norm of the line.
template <typename T, typename S>
void ExpectByDefinition(const FftCase& c, double tolerance) {
  SCOPED_TRACE(absl::StrCat(c.outer, "x", c.n, "x", c.inner, " numbers ", static_cast<int>(c.numbers),
                            c.is_inverse ? " inverse" : "", sizeof(T) == 4 ? " f32" : " f64"));
  const auto x = NormalNumbers<S>(c.outer * c.inner * c.from_length() * c.from_parts());
  const std::vector<S> y = RunFftCase<T>(c, x);
  std::vector<Z> roots(c.n);
  for (int64_t j = 0; j < c.n; ++j) roots[j] = FftRoot(j, c.n);
  const int64_t lines = c.outer * c.inner, line_step = 1 + lines / 6,
                k_step = 1 + c.to_length() / (c.n > 10000 ? 5 : 25);
  for (int64_t line = lines - 1; line >= 0; line -= line_step) {
    const std::vector<Z> from = FftLineOf(x, c, line);
    double norm = 0, error = 0;
    for (const Z& number : from) norm += std::norm(number);
    for (int64_t k = c.to_length() - 1; k >= 0; k -= k_step) {
      const int64_t at = ((line / c.inner * c.to_length() + k) * c.inner + line % c.inner) * c.to_parts();
      const Z got(y[at], c.to_parts() == 2 ? y[at + 1] : 0);
      const Z expected = SlowFftElement(from, roots, k, c.is_inverse ? 1 : -1);
      error = std::max(error, std::abs(expected - got * (c.is_inverse ? static_cast<double>(c.n) : 1.0)));
    }
    ASSERT_LE(error, tolerance * std::sqrt(norm) + 1e-300) << "line " << line;
  }
}

void ExpectAllByDefinition(int64_t n, int64_t outer, int64_t inner) {
  std::vector<FftCase> cases = {{FftNumbers::kComplex, n, outer, inner, false},
                                {FftNumbers::kComplex, n, outer, inner, true}};
  if (inner == 1) {
    cases.push_back({FftNumbers::kRealToHalf, n, outer, 1, false});
    cases.push_back({FftNumbers::kHalfToReal, n, outer, 1, true});
  }
  for (const FftCase& c : cases) {
    ExpectByDefinition<float, float>(c, 2e-6);
    ExpectByDefinition<double, double>(c, 5e-15);
    ExpectByDefinition<double, float>(c, 2e-7);
  }
}

TEST(FftAxisTest, RowsAndColumnsOfAnyLength) {
  for (int64_t n = 1; n <= 70; ++n) {
    ExpectAllByDefinition(n, /*outer=*/1, /*inner=*/1);
    ExpectAllByDefinition(n, /*outer=*/21, /*inner=*/1);
    ExpectAllByDefinition(n, /*outer=*/2, /*inner=*/3);
    ExpectAllByDefinition(n, /*outer=*/2, /*inner=*/83);
  }
}

TEST(FftAxisTest, LongerLengths) {
  for (int64_t n : {71, 97, 127, 128, 210, 243, 256, 502, 576, 729, 1000, 1001, 1009, 1024, 1536, 2187, 4096}) {
    ExpectAllByDefinition(n, /*outer=*/1, /*inner=*/1);
    ExpectAllByDefinition(n, /*outer=*/17, /*inner=*/1);
    ExpectAllByDefinition(n, /*outer=*/1, /*inner=*/40);
  }
}

// Too long for the caches: smooth, with a large prime, powers of two and of others.
TEST(FftAxisTest, LongLengths) {
  for (int64_t n : {40000, 59049, 65537, 131072, 2 * 50021}) {
    ExpectAllByDefinition(n, /*outer=*/2, /*inner=*/1);
    ExpectAllByDefinition(n, /*outer=*/1, /*inner=*/3);
  }
}

// The relative error is about that of a rounding for each factor of two.
TEST(FftAxisTest, SmallErrorInF32) {
  for (int64_t n : {1000, 4096, 3 << 10, 1 << 16}) {
    const FftCase c{FftNumbers::kComplex, n, 1, 1, false};
    const auto x = NormalNumbers<float>(2 * n);
    const std::vector<float> y = RunFftCase<float>(c, x);
    const std::vector<double> exact = RunFftCase<double>(c, std::vector<double>(x.begin(), x.end()));
    double error = 0, norm = 0;
    for (int64_t i = 0; i < 2 * n; ++i) {
      error += (y[i] - exact[i]) * (y[i] - exact[i]);
      norm += exact[i] * exact[i];
    }
    EXPECT_LT(std::sqrt(error / norm), 3e-7) << n;
  }
}

// Within the body of a parallel loop, a loop runs on one thread.
TEST(FftAxisTest, OneThreadGivesTheSame) {
  for (const FftCase& c :
       {FftCase{FftNumbers::kComplex, 1024, 40, 1, false}, FftCase{FftNumbers::kComplex, 1 << 16, 1, 1, false},
        FftCase{FftNumbers::kComplex, 300, 1, 100, true}, FftCase{FftNumbers::kRealToHalf, 4096, 9, 1, false}}) {
    const auto x = NormalNumbers<float>(c.outer * c.inner * c.n * c.from_parts());
    const std::vector<float> expected = RunFftCase<float>(c, x);
    base::ParallelFor(2 * base::ParallelThreadCount(), 1, [&](int64_t, int64_t, int) {
      const std::vector<float> actual = RunFftCase<float>(c, x);
      EXPECT_TRUE(actual == expected) << c.n;
    });
  }
}

TEST(FftAxisTest, InPlace) {
  for (const FftCase& c :
       {FftCase{FftNumbers::kComplex, 1024, 3, 1, false}, FftCase{FftNumbers::kComplex, 101, 20, 1, false},
        FftCase{FftNumbers::kComplex, 1 << 16, 1, 1, true}, FftCase{FftNumbers::kComplex, 60, 2, 50, false},
        FftCase{FftNumbers::kComplex, 1 << 15, 1, 9, false}}) {
    std::vector<float> x = NormalNumbers<float>(c.outer * c.inner * c.n * 2);
    const std::vector<float> expected = RunFftCase<float>(c, x);
    const FftAxis<float> axis(c.numbers, c.n, {c.outer, c.n, c.inner});
    std::vector<float> scratch(axis.scratch());
    const FftStorage<float>& storage = FindFftKernels<float>().of_f32;
    ASSERT_TRUE(
        axis.TransformAll(x.data(), storage, x.data(), storage, c.is_inverse, NeverStopped, scratch.data()).ok());
    EXPECT_TRUE(x == expected) << c.n;
  }
}

// A line with NaN or a huge number has no effect on others.
TEST(FftAxisTest, LinesDoNotTouch) {
  for (int64_t n : {8, 30, 34, 67, 256}) {
    for (int64_t inner : {int64_t{1}, int64_t{3}}) {
      const FftCase c{FftNumbers::kComplex, n, 3 / inner, inner, false};
      std::vector<float> x(3 * n * 2);
      const int64_t line_step = inner == 1 ? 2 * n : 2;
      x[0] = 1;
      x[line_step] = std::nanf("");
      const std::vector<float> y = RunFftCase<float>(c, x);
      for (int64_t k = 0; k < n; ++k) {
        const int64_t at = inner == 1 ? 2 * k : 6 * k;
        EXPECT_NEAR(y[at], 1, 1e-5);
        EXPECT_TRUE(std::isnan(y[at + line_step]));
        EXPECT_EQ(y[at + 2 * line_step], 0);
      }
    }
  }
}

}  // namespace
}  // namespace kashi::kernels
