#include "kashi/analysis/hlo_cost_analysis.h"

#include "gtest/gtest.h"
#include "kashi/analysis/analysis_testing.h"
#include "kashi/array/shape_util.h"

namespace kashi {
namespace {

constexpr char kModule[] = R"(
HloModule m
fused { p = f32[10] parameter(0)  e = f32[10] exponential(p)  ROOT s = f32[10] add(e, p) }
ENTRY main {
  x = f32[10] parameter(0)
  y = f32[10] fusion(x), kind=kLoop, calls=fused
  z = f32[10] custom-call(x), custom_call_target="f"
  ROOT r = f32[10] multiply(y, x)
}
)";

TEST(HloCostAnalysisTest, Computation) {
  const auto module = ReadModule(kModule);
  const HloComputation& entry = *module->entry_computation();
  HloCostAnalysis analysis;
  ASSERT_TRUE(analysis.Visit(entry).ok());
  EXPECT_EQ(analysis.flop_count(), 10 + 10 - 1);
  EXPECT_EQ(analysis.transcendental_count(), 10);
  EXPECT_EQ(analysis.bytes_accessed(), 80 + 120 - 1);
  EXPECT_EQ(analysis.property("bytes accessed"), analysis.bytes_accessed());
  EXPECT_EQ(analysis.property("utilization"), 0);
  EXPECT_EQ(analysis.flop_count(*entry.root_instruction()), 10);
  EXPECT_EQ(analysis.bytes_accessed(*entry.root_instruction()), 120);
  EXPECT_EQ(analysis.transcendental_count(*entry.GetInstructionWithName("y")), 10);
  EXPECT_EQ(analysis.flop_count(*entry.GetInstructionWithName("z")), -1);
  const HloInstruction& fused = *entry.GetInstructionWithName("y")->called_computations()[0]->root_instruction();
  EXPECT_EQ(analysis.flop_count(fused), 0);  // not visited by itself
}

TEST(HloCostAnalysisTest, WhatAnInstructionNeeds) {
  const auto module = ReadModule(kModule);
  HloCostAnalysis analysis;
  ASSERT_TRUE(analysis.Visit(*module->entry_computation()->root_instruction()).ok());
  EXPECT_EQ(analysis.flop_count(), 10 + 10);  // without the custom call, which nobody needs
  EXPECT_EQ(analysis.bytes_accessed(), 80 + 120);
}

TEST(HloCostAnalysisTest, OutsideOfModules) {
  HloComputation::Builder builder("c");
  builder.AddInstruction(HloInstruction::CreateParameter(0, ShapeUtil::MakeShape(F32, {2}), "p"));
  const auto computation = builder.Build();
  HloCostAnalysis analysis;
  EXPECT_EQ(analysis.Visit(*computation).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(analysis.flop_count(*computation->root_instruction()), 0);
}

}  // namespace
}  // namespace kashi
