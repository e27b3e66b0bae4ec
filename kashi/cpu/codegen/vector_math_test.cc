#include "kashi/cpu/codegen/vector_math.h"

#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "kashi/cpu/codegen/vector_math_testing.h"

namespace kashi::internal {
namespace {

// Whether denormal numbers count as 0.
class VectorMathTest : public testing::TestWithParam<bool> {};

// Every kStep-th f32 of all bit patterns, and the special ones.
TEST_P(VectorMathTest, IsCloseToTheExactValue) {
  constexpr uint32_t kStep = 4093;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> arguments = {0.0f, -0.0f, 1,         -1,         104,
                                  -104, 88.8f, kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()};
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += kStep) {
    arguments.push_back(FloatOfBits(static_cast<uint32_t>(bits)));
  }
  std::vector<float> results(arguments.size());
  for (const FunctionOfF32& function : FunctionsOfF32()) {
    const auto program = CompileFunction(function, arguments.size(), GetParam());
    ASSERT_TRUE(program->ExecuteOnMemory({arguments.data()}, {results.data()}).ok());
    WorstError worst;
    worst.Add(arguments, results, function, GetParam());
    EXPECT_LE(worst.ulp, function.most_ulp) << function.opcode << " of " << worst.at;
    RecordProperty(function.opcode, absl::StrCat(worst.ulp));
  }
}

INSTANTIATE_TEST_SUITE_P(Denormals, VectorMathTest, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& flush) { return flush.param ? "Flushed" : "Kept"; });

}  // namespace
}  // namespace kashi::internal
