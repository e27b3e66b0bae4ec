#include "kashi/cpu/codegen/vector_math.h"

#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "kashi/cpu/codegen/vector_math_testing.h"
#include "kashi/cpu/cpu_testing.h"

namespace kashi::internal {
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

std::string NameOfMathTest(const testing::TestParamInfo<VectorMathTest::ParamType>& info) {
  const auto& [flush_denormals, target] = info.param;
  return absl::StrCat(flush_denormals ? "Flushed_" : "Kept_", NameOfTarget(target));
}
INSTANTIATE_TEST_SUITE_P(Denormals, VectorMathTest, testing::Combine(testing::Bool(), testing::Values("")),
                         NameOfMathTest);
INSTANTIATE_TEST_SUITE_P(Levels, VectorMathTest, testing::Combine(testing::Bool(), testing::ValuesIn(Target::Levels())),
                         NameOfMathTest);

}  // namespace
}  // namespace kashi::internal
