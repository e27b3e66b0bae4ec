#include "kashi/cpu/vector_math.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "kashi/base/check.h"
#include "kashi/cpu/cpu_testing.h"
#include "kashi/cpu/vector_math_testing.h"

namespace kashi::cpu {
namespace {

// Whether denormal numbers count as 0, and CompileOptions::target.
class VectorMathTest : public testing::TestWithParam<std::tuple<bool, std::string>> {
 protected:
  void SetUp() override { KASHI_SKIP_UNLESS_THIS_RUNS(target); }
  const bool flush_denormals = std::get<0>(GetParam());
  const std::string target = std::get<1>(GetParam());
};

// Every step-th f32 of all bit patterns, and the special ones.
TEST_P(VectorMathTest, IsCloseToTheExactValue) {
  const uint32_t step = target.empty() ? 4093 : 32749;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> arguments = {0.0f, -0.0f, 1,         -1,         104,
                                  -104, 88.8f, kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()};
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += step) {
    arguments.push_back(FloatOfBits(static_cast<uint32_t>(bits)));
  }
  std::vector<float> results(arguments.size());
  for (const FunctionOfF32& function : FunctionsOfF32()) {
    const auto program = CompileFunction(function, arguments.size(), flush_denormals, target);
    ASSERT_TRUE(program->ExecuteOnMemory({arguments.data()}, {results.data()}).ok());
    WorstError worst;
    worst.Add(arguments, results, function, flush_denormals);
    EXPECT_LE(worst.ulp, function.most_ulp) << function.opcode << " of " << worst.at;
    RecordProperty(function.opcode, absl::StrCat(worst.ulp));
  }
}

// Pairs of bases and exponents: special ones, whole ones, of all bit patterns, and with results that are neither 0 nor
// infinite.
std::vector<std::pair<float, float>> BasesAndExponents() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> special = {1e-40f, 0,    0.5f, 1,    1.0000001f, 0.99999994f, 2,         3,         10, 1e38f,
                                1e9f,   3e7f, 1e-9, 1.5f, 16777215,   0x1p-126f,   kInfinity, 0.333333f, 127};
  for (size_t i = special.size(); i-- > 0;) special.push_back(-special[i]);
  special.push_back(std::numeric_limits<float>::quiet_NaN());
  std::vector<std::pair<float, float>> pairs;
  for (const float x : special) {
    for (const float y : special) pairs.emplace_back(x, y);
  }
  std::mt19937 random(7);
  for (int i = 0; i < 100000; ++i) {
    const float any = FloatOfBits(random()), other = FloatOfBits(random());
    pairs.emplace_back(any, other);
    const float y = static_cast<float>(static_cast<int>(random() % 4001) - 2000) / 64;
    pairs.emplace_back(any, i % 2 == 0 ? std::trunc(y) : y);
    const double log = (static_cast<double>(random()) / 0x1p32 - 0.5) * 250;
    pairs.emplace_back(static_cast<float>(std::exp2(log / y)), y);
  }
  return pairs;
}

TEST_P(VectorMathTest, PowersAreCloseToTheExactValue) {
  const std::vector<std::pair<float, float>> pairs = BasesAndExponents();
  std::vector<float> x, y, results(pairs.size());
  for (const auto& [base, exponent] : pairs) {
    x.push_back(flush_denormals ? static_cast<float>(Flushed(base)) : base);
    y.push_back(exponent);  // one that is denormal is none that counts as 0
  }
  const std::string array = absl::StrCat("f32[", pairs.size(), "]");
  const auto module =
      ParseAndReturnUnverifiedModule(absl::StrCat("HloModule m\nENTRY e { x = ", array, " parameter(0) y = ", array,
                                                  " parameter(1) ROOT r = ", array, " power(x, y) }"))
          .value();
  CompileOptions options;
  options.engine = "cpu";
  options.numbers.flush_denormals = flush_denormals;
  options.target = target;
  const auto program = Program::Compile(*module, options).value();
  ASSERT_TRUE(program->ExecuteOnMemory({x.data(), y.data()}, {results.data()}).ok());
  double worst = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    double exact = std::pow(double{x[i]}, double{y[i]});
    if (flush_denormals) exact = Flushed(exact);
    const float result = flush_denormals ? static_cast<float>(Flushed(results[i])) : results[i];
    const double error = UlpError(result, exact);
    EXPECT_LE(error, 1.5) << x[i] << " to the power of " << y[i] << " is " << exact << ", not " << results[i];
    worst = std::max(worst, error);
  }
  RecordProperty("power", absl::StrCat(worst));
}

// ---- f64 of all magnitudes, where the rest of a product or a reciprocal may be denormal.

double RelativeError(double actual, double exact, bool flush_denormals) {
  if (flush_denormals && std::fabs(exact) < 0x1p-1022) return 0;
  if (actual == exact || (std::isnan(actual) && std::isnan(exact))) return 0;
  return std::fabs(actual - exact) / std::fabs(exact);
}

struct Operands {
  std::vector<double> x, y;
};

// Every exponent; y is of any other magnitude, or of one near that of x.
Operands OfAllMagnitudes() {
  Operands operands;
  for (int exponent = -1021; exponent < 1024; ++exponent) {
    for (const int step : {1, 2, 3, 4, 5, 6, 7, 8}) {
      const int i = 8 * (exponent + 1021) + step;
      const int near = std::clamp(exponent + i * 29 % 121 - 60, -1021, 1023), far = i * 4093 % 2045 - 1021;
      operands.x.push_back(std::ldexp((step % 2 == 0 ? 1.0 : -1.0) + step * 0.0345678, exponent));
      operands.y.push_back(std::ldexp(step % 4 < 2 ? 1.7 : -1.123456789012345, step < 5 ? near : far));
    }
  }
  return operands;
}

// The worst error of `expression`, of x and y, beside `exact`.
double WorstErrorOf(const std::string& expression, const Operands& operands, double (*exact)(double, double),
                    const CompileOptions& options) {
  const std::string array = absl::StrCat("f64[", operands.x.size(), "]");
  const auto module =
      ParseAndReturnUnverifiedModule(absl::StrCat("HloModule m\nENTRY e { x = ", array, " parameter(0) y = ", array,
                                                  " parameter(1) ROOT r = ", array, " ", expression, " }"))
          .value();
  std::vector<double> results(operands.x.size());
  const auto program = Program::Compile(*module, options).value();
  KASHI_CHECK_OK(program->ExecuteOnMemory({operands.x.data(), operands.y.data()}, {results.data()}));
  double worst = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    const double error =
        RelativeError(results[i], exact(operands.x[i], operands.y[i]), options.numbers.flush_denormals);
    worst = std::max(worst, error);
  }
  return worst;
}

TEST_P(VectorMathTest, IsCloseForNumbersOfAllMagnitudes) {
  CompileOptions options;
  options.engine = "cpu";
  options.numbers.flush_denormals = flush_denormals;
  options.target = target;
  const Operands operands = OfAllMagnitudes();
  const struct {
    const char* expression;
    double (*exact)(double, double);
  } kFunctions[] = {
      {"sine(x)", [](double x, double) { return std::sin(x); }},
      {"cosine(x)", [](double x, double) { return std::cos(x); }},
      {"tan(x)", [](double x, double) { return std::tan(x); }},
      {"atan2(x, y)", [](double x, double y) { return std::atan2(x, y); }},
      {"erf(x)", [](double x, double) { return std::erf(x); }},
      {"tanh(x)", [](double x, double) { return std::tanh(x); }},
      {"exponential-minus-one(x)", [](double x, double) { return std::expm1(x); }},
      {"log-plus-one(x)", [](double x, double) { return std::log1p(x); }},
      {"cbrt(x)", [](double x, double) { return std::cbrt(x); }},
  };
  for (const auto& function : kFunctions) {
    EXPECT_LE(WorstErrorOf(function.expression, operands, function.exact, options), 1e-15) << function.expression;
  }
}

TEST_P(VectorMathTest, Atan2OfLargeAndSmallNumbersOfF32) {
  CompileOptions options;
  options.engine = "cpu";
  options.numbers.flush_denormals = flush_denormals;
  options.target = target;
  std::vector<float> x, y, results;
  for (int a = -126; a < 128; a += 3) {
    for (int b = -126; b < 128; ++b) {
      x.push_back(std::ldexp(1.234567f, a));
      y.push_back(std::ldexp(b % 2 == 0 ? 1.7f : -1.7f, b));
    }
  }
  results.resize(x.size());
  const std::string array = absl::StrCat("f32[", x.size(), "]");
  const auto module =
      ParseAndReturnUnverifiedModule(absl::StrCat("HloModule m\nENTRY e { x = ", array, " parameter(0) y = ", array,
                                                  " parameter(1) ROOT r = ", array, " atan2(x, y) }"))
          .value();
  ASSERT_TRUE(Program::Compile(*module, options).value()->ExecuteOnMemory({x.data(), y.data()}, {results.data()}).ok());
  for (size_t i = 0; i < x.size(); ++i) {
    const double exact = std::atan2(double{x[i]}, double{y[i]});
    if (std::fabs(exact) < 0x1p-125) continue;
    ASSERT_LE(UlpError(results[i], exact), 1.5) << x[i] << " " << y[i];
  }
}

std::string NameOfMathTest(const testing::TestParamInfo<VectorMathTest::ParamType>& info) {
  const auto& [flush_denormals, target] = info.param;
  return absl::StrCat(flush_denormals ? "Flushed_" : "Kept_", NameOfTarget(target));
}
INSTANTIATE_TEST_SUITE_P(Denormals, VectorMathTest, testing::Combine(testing::Bool(), testing::Values("")),
                         NameOfMathTest);
INSTANTIATE_TEST_SUITE_P(Levels, VectorMathTest, testing::Combine(testing::Bool(), testing::ValuesIn(Target::Levels())),
                         NameOfMathTest);

}  // namespace
}  // namespace kashi::cpu
