#include "kashi/hlo/text/hlo_dot.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::hlo {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::unique_ptr<HloModule> Parse(absl::string_view text) {
  absl::StatusOr<std::unique_ptr<HloModule>> module = ParseAndReturnUnverifiedModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

constexpr char kChain[] = R"(HloModule chain
square {
  x = f32[4] parameter(0)
  ROOT y = f32[4] multiply(x, x)
}

ENTRY main {
  a = f32[4] parameter(0)
  b = f32[4] fusion(a), kind=kLoop, calls=square
  c = f32[4] negate(b)
  d = f32[4] add(c, a)
  ROOT e = f32[4] sine(d)
})";

TEST(HloDotTest, TheWholeModuleIsShownWhereItFits) {
  const auto module = Parse(kChain);
  const HloDot dot = HloModuleToDot(*module);
  EXPECT_EQ(dot.shown, 7);
  EXPECT_EQ(dot.wanted, 7);
  EXPECT_THAT(dot.text, HasSubstr("cluster_square"));
  EXPECT_THAT(dot.text, HasSubstr("ltail=\"cluster_square\""));
  EXPECT_THAT(dot.text, Not(HasSubstr("not shown")));
  EXPECT_THAT(dot.text, Not(HasSubstr("labelloc")));
}

TEST(HloDotTest, ALimitKeepsWhatIsNearestToTheRoot) {
  const auto module = Parse(kChain);
  HloDotOptions options;
  options.max_nodes = 3;
  const HloDot dot = HloModuleToDot(*module, options);
  EXPECT_EQ(dot.shown, 3);
  EXPECT_EQ(dot.wanted, 7);
  EXPECT_THAT(dot.text, HasSubstr("label=\"3 of 7 instructions\""));
  EXPECT_THAT(dot.text, HasSubstr("sine\\ne\\n"));
  EXPECT_THAT(dot.text, HasSubstr("add\\nd\\nf32[4]{0}\\n1 operand not shown\", "));
  EXPECT_THAT(dot.text, Not(HasSubstr("parameter\\na")));
  EXPECT_THAT(dot.text, HasSubstr("negate\\nc\\nf32[4]{0}\\n1 operand not shown\""));
  options.max_nodes = 0;
  EXPECT_EQ(HloModuleToDot(*module, options).shown, 7);
}

TEST(HloDotTest, AroundAnInstruction) {
  const auto module = Parse(kChain);
  HloDotOptions options;
  options.around = module->entry_computation()->GetInstructionWithName("b");
  options.depth = 1;
  const HloDot dot = HloModuleToDot(*module, options);
  EXPECT_EQ(dot.shown, 3);
  EXPECT_EQ(dot.wanted, 3);
  EXPECT_THAT(dot.text, HasSubstr("parameter\\na\\nf32[4]{0}\\n1 user not shown\""));
  EXPECT_THAT(dot.text, HasSubstr("calls square (2 instructions)"));
  EXPECT_THAT(dot.text, Not(HasSubstr("cluster_square")));
  options.depth = 0;
  EXPECT_EQ(HloModuleToDot(*module, options).shown, 1);
}

TEST(HloDotTest, OneComputation) {
  const auto module = Parse(kChain);
  HloDotOptions options;
  options.computation = module->GetComputationWithName("square");
  EXPECT_EQ(HloModuleToDot(*module, options).shown, 2);
  options.computation = module->entry_computation();
  EXPECT_EQ(HloModuleToDot(*module, options).shown, 7);
  options.with_called = false;
  EXPECT_EQ(HloModuleToDot(*module, options).shown, 5);
}

TEST(HloDotTest, ConstantsShowTheirFirstValues) {
  const auto module = Parse(R"(HloModule m
ENTRY e {
  s = s32[] constant(42)
  v = pred[3] constant({true, false, true})
  m = f32[2,3] constant({{1, 2, 3}, {4, 5, 6.5}})
  l = s32[9] constant({1, 2, 3, 4, 5, 6, 7, 8, 9})
  z = f32[0] constant({})
  ROOT t = (s32[], pred[3], f32[2,3], s32[9], f32[0]) tuple(s, v, m, l, z)
})");
  const std::string dot = HloModuleToDot(*module).text;
  EXPECT_THAT(dot, HasSubstr("s32[]\\n42\""));
  EXPECT_THAT(dot, HasSubstr("{true, false, true}\""));
  EXPECT_THAT(dot, HasSubstr("{1, 2, 3, 4, 5, 6.5}\""));
  EXPECT_THAT(dot, HasSubstr("{1, 2, 3, 4, 5, 6, 7, 8, ...}\""));
  EXPECT_THAT(dot, HasSubstr("f32[0]{0}\\n{}\""));
}

// Chains of calls must cost no stack, and a limit must hold whatever the form of the graph.
TEST(HloDotTest, LongAndWideGraphs) {
  std::string text = "HloModule m\nENTRY e {\n  x0 = f32[] parameter(0)\n";
  constexpr int kLength = 20000;
  for (int i = 1; i < kLength; ++i) {
    absl::StrAppend(&text, i + 1 == kLength ? "  ROOT x" : "  x", i, " = f32[] add(x", i - 1, ", x", i / 2, ")\n");
  }
  const auto module = Parse(text + "}\n");
  const HloDot dot = HloModuleToDot(*module);
  EXPECT_EQ(dot.shown, kDefaultDotNodes);
  EXPECT_EQ(dot.wanted, kLength);
  EXPECT_LT(dot.text.size(), 200000);
}

}  // namespace
}  // namespace kashi::hlo
