#include <string>

#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/ir/random_graph_testing.h"

namespace kashi::hlo {
namespace {

// (x: f32[4], y: (f32[4], s32[])) -> (f32[4], s32[])
class AliasTest : public testing::Test {
 protected:
  AliasTest() : module_("m", HloModuleConfig()) {
    const Shape number = ShapeUtil::MakeShape(S32, {});
    const Shape pair = ShapeUtil::MakeTupleShape({TestVector(), number});
    HloComputation::Builder builder("main");
    HloInstruction* x = builder.AddInstruction(HloInstruction::CreateParameter(0, TestVector(), "x"));
    HloInstruction* y = builder.AddInstruction(HloInstruction::CreateParameter(1, pair, "y"));
    HloInstruction* second = builder.AddInstruction(HloInstruction::CreateGetTupleElement(y, 1));
    builder.AddInstruction(HloInstruction::CreateTuple({x, second}));
    module_.AddEntryComputation(builder.Build());
  }
  HloModule module_;
};

TEST_F(AliasTest, WhichOutputHasWhichParameter) {
  HloInputOutputAliasConfig& config = module_.input_output_alias_config();
  EXPECT_EQ(config.ToShortString(), "");
  ASSERT_TRUE(config.SetUpAlias({1}, 1, {1}, HloInputOutputAliasConfig::kMustAlias).ok());
  ASSERT_TRUE(config.SetUpAlias({0}, 0, {}).ok());
  EXPECT_EQ(config.ToShortString(), "{0}: (0, {}, may-alias), {1}: (1, {1}, must-alias)");
  EXPECT_TRUE(config.OutputHasAlias({1}));
  EXPECT_FALSE(config.OutputHasAlias({}));
  EXPECT_EQ(config.GetAliasedOutput(0, {}), ShapeIndex({0}));
  EXPECT_EQ(config.GetAliasedOutput(1, {0}), std::nullopt);
  EXPECT_EQ(config.GetAliasedParameter({1})->parameter_number, 1);
  EXPECT_EQ(config.GetAliasedParameter({}), std::nullopt);
  EXPECT_TRUE(config.ParameterHasAlias(0, {}));
  EXPECT_TRUE(config.ParameterMustAlias(1, {1}));
  EXPECT_FALSE(config.ParameterMustAlias(0, {}));
  EXPECT_TRUE(config.Verify(module_).ok());
}

TEST_F(AliasTest, OutputsAreCheckedAtOnce) {
  HloInputOutputAliasConfig& config = module_.input_output_alias_config();
  EXPECT_EQ(config.SetUpAlias({2}, 0, {}).message(),
            "Trying to set up alias at {2} which is an invalid index for shape (f32[4], s32[])");
  ASSERT_TRUE(config.SetUpAlias({0}, 0, {}).ok());
  EXPECT_FALSE(config.SetUpAlias({0}, 1, {0}).ok());
  EXPECT_FALSE(config.SetUpAlias({1}, -1, {}).ok());
}

TEST_F(AliasTest, ParametersAreCheckedByVerify) {
  const auto error_of = [this](ShapeIndex output, int64_t parameter, ShapeIndex index) {
    HloInputOutputAliasConfig config = module_.input_output_alias_config();
    KASHI_CHECK_OK(config.SetUpAlias(output, parameter, index));
    return std::string(config.Verify(module_).message());
  };
  EXPECT_EQ(error_of({0}, 1, {0}), "");
  EXPECT_EQ(error_of({0}, 2, {}), "there is no parameter 2: computation main has 2");
  EXPECT_EQ(error_of({0}, 0, {0}), "parameter 0 of shape f32[4] has no index {0}");
  EXPECT_EQ(error_of({0}, 1, {1}),
            "parameter (1, {1}) of shape s32[] cannot share its buffer with output {0} of shape f32[4]");
  HloInputOutputAliasConfig twice(ShapeUtil::MakeTupleShape({TestVector(), TestVector()}));
  ASSERT_TRUE(twice.SetUpAlias({0}, 0, {}).ok());
  ASSERT_TRUE(twice.SetUpAlias({1}, 0, {}).ok());
  EXPECT_FALSE(twice.Verify(module_).ok());
}

TEST_F(AliasTest, Donors) {
  HloBufferDonorConfig& donors = module_.buffer_donor_config();
  donors.AddBufferDonor(1, {1});
  donors.AddBufferDonor(0, {});
  donors.AddBufferDonor(1, {1});
  EXPECT_EQ(donors.ToShortString(), "(0, {}), (1, {1})");
  EXPECT_TRUE(donors.ParameterIsBufferDonor(1, {1}));
  EXPECT_FALSE(donors.ParameterIsBufferDonor(1, {}));
  EXPECT_TRUE(donors.Verify(module_).ok());
  ASSERT_TRUE(module_.input_output_alias_config().SetUpAlias({0}, 0, {}).ok());
  EXPECT_FALSE(donors.Verify(module_).ok());
  HloBufferDonorConfig wrong;
  wrong.AddBufferDonor(5, {});
  EXPECT_FALSE(wrong.Verify(module_).ok());
}

}  // namespace
}  // namespace kashi::hlo
