#include "kashi/cpu/codegen/inline_math.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kashi/base/sanitizers_testing.h"
#include "kashi/cpu/cpu_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi::internal {
namespace {

struct Function {
  const char* opcode;
  double (*exact)(double);
  double most_ulp;
};

// Distance from the exact value in units of the last place of the nearest f32. Both too large for f32, or both NaN: 0.
double UlpError(float actual, double exact) {
  const float nearest = static_cast<float>(exact);
  if (std::isnan(exact) || std::isinf(nearest))
    return std::isnan(exact) ? !std::isnan(actual) * 1e9 : (actual != nearest) * 1e9;
  if (std::isnan(actual) || std::isinf(actual)) return 1e9;
  const float above = std::nextafter(std::fabs(nearest), std::numeric_limits<float>::infinity());
  return std::fabs(actual - exact) / (double{above} - std::fabs(nearest));
}

// Every kStep-th f32 of all bit patterns, and the special ones.
TEST(InlineMathTest, IsCloseToTheExactValue) {
  constexpr uint32_t kStep = 4093;
  std::vector<float> arguments = {0.0f,
                                  -0.0f,
                                  1,
                                  -1,
                                  104,
                                  -104,
                                  88.8f,
                                  std::numeric_limits<float>::infinity(),
                                  -std::numeric_limits<float>::infinity(),
                                  std::numeric_limits<float>::quiet_NaN()};
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += kStep) {
    const uint32_t pattern = static_cast<uint32_t>(bits);
    float x;
    std::memcpy(&x, &pattern, sizeof(x));
    arguments.push_back(x);
  }
  std::vector<Literal> literals;
  literals.push_back(LiteralUtil::CreateR1<float>(arguments));
  CompileOptions options;
  options.numbers.flush_denormals = false;
  const auto log = [](double x) { return std::log(x); };
  for (const Function& function : std::vector<Function>{{"exponential", [](double x) { return std::exp(x); }, 1.5},
                                                        {"log", log, 1.5},
                                                        {"tanh", [](double x) { return std::tanh(x); }, 2},
                                                        {"erf", [](double x) { return std::erf(x); }, 1.5}}) {
    const std::string array = absl::StrCat("f32[", arguments.size(), "]");
    const auto module = ReadVerified(absl::StrCat("ENTRY e { x = ", array, " parameter(0) ROOT r = ", array, " ",
                                                  function.opcode, "(x) }"))
                            .value();
    const Literal result = RunCompiled(*module, literals, options).value();
    double worst = 0;
    float worst_at = 0;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const double error = UlpError(result.data<float>()[i], function.exact(arguments[i]));
      if (error > worst) worst_at = arguments[i];
      worst = std::max(worst, error);
    }
    EXPECT_LE(worst, function.most_ulp) << function.opcode << " of " << worst_at;
    RecordProperty(function.opcode, absl::StrCat(worst));
  }
}

}  // namespace
}  // namespace kashi::internal
