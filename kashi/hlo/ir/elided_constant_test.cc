#include "kashi/hlo/ir/elided_constant.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/literal/literal_util.h"

namespace kashi::hlo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::unique_ptr<HloModule> ModuleWith(absl::string_view constant) {
  return ParseAndReturnUnverifiedModule(absl::StrCat("HloModule m\nENTRY e {\n  ROOT c = ", constant, "\n}\n")).value();
}

bool IsElidedIn(absl::string_view constant) { return !ElidedConstants(*ModuleWith(constant)).empty(); }

TEST(ElidedConstantTest, DotsElide) {
  EXPECT_TRUE(IsElidedIn("f32[20] constant({...})"));
  EXPECT_TRUE(IsElidedIn("f32[2] constant({...})"));
  EXPECT_TRUE(IsElidedIn("f32[3] constant({1, 2, ...})"));
  EXPECT_TRUE(IsElidedIn("(s32[], f32[20]) constant((1, {...}))"));
}

TEST(ElidedConstantTest, WhatIsWrittenDownIsNotElided) {
  EXPECT_FALSE(IsElidedIn("f32[2] constant({0, 0})"));
  EXPECT_FALSE(IsElidedIn("f32[] constant(0)"));
  EXPECT_FALSE(IsElidedIn("f32[0] constant({...})"));  // there is nothing to leave out
  EXPECT_FALSE(IsElidedIn("f32[20] constant(7)"));     // XLA reads 7, 0, 0 ...
}

TEST(ElidedConstantTest, TextShowsDotsAgain) {
  HloPrintOptions all = HloPrintOptions().set_print_large_constants(true);
  EXPECT_THAT(ModuleWith("f32[20] constant({...})")->ToString(all), HasSubstr("constant({...})"));
  EXPECT_THAT(ModuleWith("f32[2] constant({...})")->ToString(), HasSubstr("constant({...})"));
  EXPECT_THAT(ModuleWith("f32[2] constant({0,0})")->ToString(), HasSubstr("constant({0, 0})"));
}

TEST(ElidedConstantTest, ClonesRememberIt) {
  const std::unique_ptr<HloModule> clone = ModuleWith("f32[20] constant({...})")->Clone();
  EXPECT_EQ(ElidedConstants(*clone).size(), 1);
}

TEST(ElidedConstantTest, IsNoConstantOfZeros) {
  const auto elided = ModuleWith("f32[2] constant({...})");
  const auto zeros = ModuleWith("f32[2] constant({0, 0})");
  const auto same = ModuleWith("f32[2] constant({...})");
  const auto root = [](const std::unique_ptr<HloModule>& module) {
    return module->entry_computation()->root_instruction();
  };
  EXPECT_FALSE(root(elided)->Identical(*root(zeros)));
  EXPECT_TRUE(root(elided)->Identical(*root(same)));
}

TEST(ElidedConstantTest, SetConstantEndsIt) {
  const std::unique_ptr<HloModule> module = ModuleWith("f32[2] constant({...})");
  const std::vector<HloInstruction*> elided = ElidedConstants(*module);
  ASSERT_EQ(elided.size(), 1);
  SetConstant(elided[0], LiteralUtil::CreateR1<float>({1, 2}));
  EXPECT_THAT(ElidedConstants(*module), IsEmpty());
  EXPECT_THAT(module->ToString(), HasSubstr("constant({1, 2})"));
}

}  // namespace
}  // namespace kashi::hlo
