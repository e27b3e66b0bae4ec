// Random programs, compiled and evaluated. Those of mixed types are compared by kashi_compare_engines (tests/engines).
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "kashi/base/sanitizers_testing.h"
#include "kashi/cpu/cpu_testing.h"
#include "kashi/cpu/random_program_testing.h"

namespace kashi::cpu {
namespace {

TEST(RandomProgramsTest, GiveWhatTheEvaluatorGives) {
  for (uint32_t seed = 0; seed < 400; seed += base::kShare) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    ExpectAsEvaluator(RandomProgram(seed).Write(), ErrorSpec(1e-4, 1e-4));
    if (HasFailure()) return;
  }
}

class RandomProgramsOnLevelTest : public LevelTest {};

TEST_P(RandomProgramsOnLevelTest, GiveWhatTheEvaluatorGives) {
  for (uint32_t seed = 400; seed < 420; seed += base::kShare) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    ExpectAsEvaluator(RandomProgram(seed).Write(), ErrorSpec(1e-4, 1e-4), /*kernels=*/-1, options);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, RandomProgramsOnLevelTest, testing::ValuesIn(Target::Levels()),
                         [](const auto& info) { return NameOfTarget(info.param); });

}  // namespace
}  // namespace kashi::cpu
