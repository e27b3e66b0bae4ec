// The vector lengths that the tests of this folder cover: those of the processor and the build. Others are skipped,
// with a message.
#include "kashi/relayout/simd/highway_targets.h"  // before Highway

#include <hwy/highway.h>

#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "kashi/array/shape_parser.h"
#include "kashi/relayout/relayout_trial_testing.h"

namespace kashi::relayout {
namespace {

using relayout_testing::Runner;
using relayout_testing::Trial;

struct Target {
  int64_t bit;
  const char* name;
  const char* instructions;
};

#if HWY_ARCH_X86
constexpr Target kTargets[] = {
    {HWY_SSSE3, "SSSE3", "SSSE3"}, {HWY_AVX2, "AVX2", "AVX2"}, {HWY_AVX3, "AVX3", "AVX-512"}};
#else
constexpr Target kTargets[] = {{HWY_STATIC_TARGET, "Static", "the compiler's own vectors"}};
#endif

class HighwayTargets : public testing::TestWithParam<Target> {
 protected:
  ~HighwayTargets() override { hwy::SetSupportedTargetsForTest(0); }
};

TEST_P(HighwayTargets, MovesArraysAsTheIndexLoopDoes) {
  const Target& target = GetParam();
  if ((hwy::SupportedTargets() & target.bit) == 0) GTEST_SKIP() << "skipped: no " << target.instructions << " here";
  if ((HWY_TARGETS & target.bit) == 0) {
    GTEST_SKIP() << "skipped: compiled without " << target.instructions << "; see KASHI_SIMD_TARGET";
  }
  hwy::SetSupportedTargetsForTest(target.bit);
  Runner runner(1 << 20);
  for (const char* tiled : {"u8[100,300]{1,0:T(8,128)(4,1)}", "bf16[100,300]{0,1:T(8,128)(2,1)}",
                            "f32[100,300]{1,0:T(8,128)}", "f64[100,300]{0,1:T(8,128)}", "c128[50,60]{0,1}"}) {
    Trial trial;
    trial.to.shape = ParseShape(tiled).value();
    trial.from.shape = Shape(trial.to.shape.element_type(), trial.to.shape.dimensions());
    *trial.from.shape.mutable_layout() = Layout({1, 0});
    trial.options.threads = 1;
    EXPECT_EQ(runner.Run(trial), "") << ToString(trial);
    std::swap(trial.from, trial.to);
    EXPECT_EQ(runner.Run(trial), "") << ToString(trial);
  }
}

INSTANTIATE_TEST_SUITE_P(Processor, HighwayTargets, testing::ValuesIn(kTargets),
                         [](const testing::TestParamInfo<Target>& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace kashi::relayout
