#include "kashi/analysis/hlo_cost_analysis.h"

#include <limits>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kashi/analysis/analysis_testing.h"
#include "kashi/array/shape_util.h"

namespace kashi::analysis {
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
  EXPECT_EQ(analysis.flop_count(fused), 10);  // called by a visited instruction
  EXPECT_EQ(analysis.bytes_accessed(fused), 120);
}

TEST(HloCostAnalysisTest, AcceptIsVisit) {
  const auto module = ReadModule(kModule);
  HloCostAnalysis analysis;
  ASSERT_TRUE(module->entry_computation()->Accept(&analysis).ok());
  EXPECT_EQ(analysis.bytes_accessed(), 80 + 120 - 1);
  ASSERT_TRUE(module->entry_computation()->root_instruction()->Accept(&analysis).ok());
  EXPECT_EQ(analysis.bytes_accessed(), 80 + 120 - 1);  // nothing counts twice
}

TEST(HloCostAnalysisTest, WhatAnInstructionNeeds) {
  const auto module = ReadModule(kModule);
  HloCostAnalysis analysis;
  ASSERT_TRUE(analysis.Visit(*module->entry_computation()->root_instruction()).ok());
  EXPECT_EQ(analysis.flop_count(), 10 + 10);  // without the custom call, which the root does not need
  EXPECT_EQ(analysis.bytes_accessed(), 80 + 120);
}

TEST(HloCostAnalysisTest, ControlPredecessorsAreNeeded) {
  const auto module = ReadModule(R"(
HloModule m
ENTRY main {
  x = f32[10] parameter(0)
  y = f32[10] negate(x)
  ROOT r = f32[10] multiply(x, x), control-predecessors={y}
}
)");
  HloCostAnalysis analysis;
  ASSERT_TRUE(module->entry_computation()->root_instruction()->Accept(&analysis).ok());
  EXPECT_EQ(analysis.flop_count(), 10 + 10);
}

std::map<std::string, float> All(const HloCostAnalysis::Properties& properties) {
  std::map<std::string, float> all;
  properties.ForEach([&](absl::string_view key, float value) { all.emplace(std::string(key), value); });
  return all;
}

// The numbers are those of jaxlib 0.10.2.
TEST(HloCostAnalysisTest, AllThatXlaSums) {
  const auto module = ReadModule(R"(
HloModule m
add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = f32[] add(x, y) }
f { x = f32[100] parameter(0)  i = s32[] parameter(1)  t = f32[100] negate(x)
  d = f32[10] dynamic-slice(t, i), dynamic_slice_sizes={10}  y = f32[10] slice(x), slice={[0:10]}
  ROOT z = f32[10] add(d, y) }
ENTRY e {
  a = f32[10,5] parameter(0)
  b = f32[5,7] parameter(1)
  c = f32[10,7] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  x = f32[100] parameter(2)
  i = s32[] parameter(3)
  f = f32[10] fusion(x, i), kind=kLoop, calls=f
  g = f32[] constant(0)
  r = f32[] reduce(f, g), dimensions={0}, to_apply=add
  s = f32[5] slice(f), slice={[0:5]}
  ROOT t = (f32[10,7], f32[], f32[5]) tuple(c, r, s)
}
)");
  HloCostAnalysis analysis;
  ASSERT_TRUE(module->entry_computation()->Accept(&analysis).ok());
  EXPECT_EQ(All(analysis.properties()), (std::map<std::string, float>{{"flops", 819},
                                                                      {"bytes accessed", 1216},
                                                                      {"utilization0{}", 4.5},
                                                                      {"utilization1{}", 4},
                                                                      {"utilization2{}", 1},
                                                                      {"bytes accessed0{}", 700},
                                                                      {"bytes accessed1{}", 148},
                                                                      {"bytes accessedout{}", 368}}));
}

TEST(HloCostAnalysisTest, TuplesInFusions) {
  const auto module = ReadModule(R"(
HloModule m
f { x = (f32[30], (f32[7], f32[9]), f32[2]) parameter(0)  a = f32[30] get-tuple-element(x), index=0
  b = (f32[7], f32[9]) get-tuple-element(x), index=1  c = f32[9] get-tuple-element(b), index=1
  d = f32[3] slice(a), slice={[0:3]}  ROOT t = (f32[3], (f32[7], f32[9])) tuple(d, b) }
ENTRY e {
  x = (f32[30], (f32[7], f32[9]), f32[2]{0:S(1)}) parameter(0)
  ROOT r = (f32[3], (f32[7]{0:S(1)}, f32[9])) fusion(x), kind=kLoop, calls=f
}
)");
  HloCostAnalysis analysis;
  ASSERT_TRUE(module->entry_computation()->Accept(&analysis).ok());
  const HloInstruction& fusion = *module->entry_computation()->root_instruction();
  EXPECT_EQ(analysis.operand_bytes_accessed(fusion, 0), 12 + 16 + 0 + 24);
  EXPECT_EQ(analysis.operand_bytes_accessed(fusion, 0, {0}), 12);     // the slice
  EXPECT_EQ(analysis.operand_bytes_accessed(fusion, 0, {1, 0}), 16);  // the table that contains it
  EXPECT_EQ(analysis.operand_bytes_accessed(fusion, 0, {1, 1}), 0);   // taken out, and not used
  EXPECT_EQ(analysis.operand_bytes_accessed(fusion, 0, {2}), 24);
  EXPECT_EQ(analysis.output_bytes_accessed(fusion), 12 + 64);
  EXPECT_EQ(analysis.output_bytes_accessed(fusion, {0}), 12);
  EXPECT_EQ(analysis.output_bytes_accessed(fusion, {1}), 64);
  EXPECT_EQ(analysis.output_bytes_accessed(fusion, {1, 1}), 36);
  EXPECT_EQ(analysis.GetBytesRead(fusion), 52);
  EXPECT_EQ(analysis.GetBytesRead(fusion, 1), 24);
  EXPECT_EQ(analysis.GetBytesWritten(fusion), 76);
  EXPECT_EQ(analysis.GetBytesWritten(fusion, 1), 28);
  EXPECT_EQ(analysis.GetBytesWritten(fusion, 5), 0);
}

constexpr char kCostedLoop[] = R"(
HloModule m
body { p = f32[10] parameter(0)  e = f32[10] exponential(p)  ROOT n = f32[10] negate(e) }
condition { p = f32[10] parameter(0)  ROOT c = pred[] constant(true) }
ENTRY e {
  x = f32[10] parameter(0)
  a = f32[10] add(x, x)
  ROOT w = f32[10] while(a), condition=condition, body=body
}
)";

TEST(HloCostAnalysisTest, Seconds) {
  const auto module = ReadModule(kCostedLoop);
  HloCostAnalysis::Options options;
  options.set_flops_per_second(5);
  options.set_transcendentals_per_second(1);
  options.set_bytes_per_second(100);
  options.set_flops_min_latency_second(3);
  HloCostAnalysis analysis(options);
  EXPECT_EQ(analysis.per_second_rate(HloCostAnalysis::kBytesAccessedKey), 100);
  EXPECT_EQ(analysis.min_latency_seconds("flops"), 3);
  const HloComputation& entry = *module->entry_computation();
  ASSERT_TRUE(entry.Accept(&analysis).ok());
  EXPECT_EQ(analysis.optimal_seconds(*entry.GetInstructionWithName("x")), 0);
  EXPECT_EQ(analysis.optimal_seconds(*entry.GetInstructionWithName("a")), 3);  // 2 s, but for the latency
  const HloInstruction& loop = *entry.root_instruction();
  EXPECT_EQ(analysis.optimal_seconds(loop), 10 + 3);
  EXPECT_EQ(analysis.optimal_seconds(*loop.while_body()->root_instruction()), 3);
  EXPECT_EQ(analysis.optimal_seconds(), 16);
  EXPECT_EQ(analysis.property("optimal_seconds"), 16);
  // The properties of a loop are the sums over its instructions, key by key.
  EXPECT_EQ(analysis.operand_bytes_accessed(loop, 0), 80);
  EXPECT_EQ(analysis.operand_utilization(loop, 0), 2);
}

TEST(HloCostAnalysisTest, CustomCallsTakeOffOne) {
  const auto module = ReadModule(kModule);
  HloCostAnalysis::Options options;
  options.set_flops_per_second(1);
  HloCostAnalysis analysis(options);
  ASSERT_TRUE(module->entry_computation()->Accept(&analysis).ok());
  const HloInstruction& custom = *module->entry_computation()->GetInstructionWithName("z");
  EXPECT_EQ(analysis.optimal_seconds(custom), -1);
  EXPECT_EQ(analysis.operand_bytes_accessed(custom, 0), -1);
  EXPECT_EQ(analysis.output_bytes_accessed(custom), -1);
  EXPECT_EQ(analysis.optimal_seconds(), 10 + 10 - 1);
}

// A conditional takes the maximum of its branches, key by key; a custom call (-1) is less than a branch without a key.
TEST(HloCostAnalysisTest, BranchesWithCustomCalls) {
  constexpr char kBranches[] = R"(
HloModule m
known { p = f32[10] parameter(0)  ROOT n = f32[10] negate(p) }
foreign { p = f32[10] parameter(0)  c = f32[10] custom-call(p), custom_call_target="x"  ROOT n = f32[10] negate(c) }
ENTRY e {
  p = pred[] parameter(0)
  x = f32[10] parameter(1)
  ROOT c = f32[10] conditional(p, x, x), true_computation=foreign, false_computation=known
}
)";
  const auto module = ReadModule(kBranches);
  HloCostAnalysis analysis;
  ASSERT_TRUE(module->entry_computation()->Accept(&analysis).ok());
  EXPECT_EQ(analysis.flop_count(), 10);
  EXPECT_EQ(analysis.bytes_accessed(), 80);
}

TEST(HloCostAnalysisTest, ShapeSizes) {
  const auto module = ReadModule(kCostedLoop);
  HloCostAnalysis analysis([](const Shape& shape) { return int64_t{shape.IsArray() ? 512 : 0}; });
  const HloInstruction& add = *module->entry_computation()->GetInstructionWithName("a");
  ASSERT_TRUE(add.Accept(&analysis).ok());
  EXPECT_EQ(analysis.bytes_accessed(), 3 * 512);
  EXPECT_EQ(analysis.GetShapeSize(add.shape()), 512);
  Shape shape = add.shape();
  shape.clear_layout();
  EXPECT_EQ(analysis.GetShapeSize(shape), 0);

  EXPECT_EQ(HloCostAnalysis::DefaultShapeSize(ShapeUtil::MakeShape(F32, {3, 5})), 60);
  EXPECT_EQ(HloCostAnalysis::DefaultShapeSize(ShapeUtil::MakeShape(F32, {3, 5}, {true, false})), 60);
  EXPECT_EQ(HloCostAnalysis::DefaultShapeSize(
                ShapeUtil::MakeTupleShape({ShapeUtil::MakeShape(F32, {3}), ShapeUtil::MakeTokenShape()})),
            16);
  EXPECT_EQ(HloCostAnalysis::DefaultShapeSize(ShapeUtil::MakeTokenShape()), 0);
}

TEST(HloCostAnalysisTest, RemoveAndRevisit) {
  const auto module = ReadModule(kCostedLoop);
  HloComputation& entry = *module->entry_computation();
  HloInstruction* add = entry.GetInstructionWithName("a");
  HloCostAnalysis analysis;
  EXPECT_TRUE(analysis.RemoveInstruction(add).ok());  // of which nothing is known
  ASSERT_TRUE(entry.Accept(&analysis).ok());
  const std::map<std::string, float> before = All(analysis.properties());
  ASSERT_TRUE(analysis.RemoveInstruction(add).ok());
  EXPECT_EQ(analysis.flop_count(), 10);
  EXPECT_EQ(analysis.properties()["flops"], 10);
  EXPECT_EQ(analysis.bytes_accessed(), 160);
  EXPECT_EQ(analysis.flop_count(*add), 0);
  ASSERT_TRUE(analysis.RevisitInstruction(add).ok());
  EXPECT_EQ(All(analysis.properties()), before);
  ASSERT_TRUE(analysis.RevisitInstruction(add).ok());  // takes it out first
  EXPECT_EQ(All(analysis.properties()), before);
}

TEST(HloCostAnalysisTest, FlopsOfShapes) {
  DotDimensionNumbers numbers;
  numbers.add_lhs_contracting_dimensions(1);
  EXPECT_EQ(
      HloCostAnalysis::GetDotFlops(ShapeUtil::MakeShape(F32, {10, 5}), ShapeUtil::MakeShape(F32, {10, 30}), numbers),
      2 * 10 * 30 * 5);
  numbers.add_lhs_contracting_dimensions(7);  // no such dimension
  EXPECT_EQ(
      HloCostAnalysis::GetDotFlops(ShapeUtil::MakeShape(F32, {10, 5}), ShapeUtil::MakeShape(F32, {10, 30}), numbers),
      2 * 10 * 30 * 5);
  const auto module = ReadModule(
      "HloModule m\nENTRY e { x = f32[2,9,3] parameter(0)  k = f32[3,3,4] parameter(1)  ROOT y = f32[2,9,4] "
      "convolution(x, k), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f }");
  const HloInstruction* convolution = module->entry_computation()->root_instruction();
  EXPECT_EQ(HloCostAnalysis::GetConvolutionFlops(convolution), 2 * 2 * 3 * 4 * (9 + 8 + 8));
  const Shape input = ShapeUtil::MakeShape(F32, {4, 9, 3}), result = ShapeUtil::MakeShape(F32, {4, 9, 4});
  EXPECT_EQ(HloCostAnalysis::GetConvolutionFlops(convolution, input, convolution->operand(1)->shape(), result),
            2 * 4 * 3 * 4 * (9 + 8 + 8));
}

TEST(HloCostAnalysisTest, HugeSizes) {
  const auto module = ReadModule(
      "HloModule m\nENTRY e { a = f32[4294967296,4294967296,4294967296] parameter(0)  ROOT r = "
      "f32[4294967296,4294967296,4294967296] negate(a) }");
  ASSERT_NE(module, nullptr);
  HloCostAnalysis analysis;
  const HloInstruction& root = *module->entry_computation()->root_instruction();
  ASSERT_TRUE(root.Accept(&analysis).ok());
  EXPECT_EQ(analysis.flop_count(root), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(analysis.operand_bytes_accessed(root, 0), std::numeric_limits<int64_t>::max());
}

// 8^400 exponentials are beyond floats, but no infinity.
TEST(HloCostAnalysisTest, HugeCounts) {
  std::string text = "HloModule m\nc0_ { p = f32[8] parameter(0)  ROOT r = f32[8] exponential(p) }\n";
  for (int i = 1; i <= 400; ++i) {
    absl::StrAppend(&text, "c", i, "_ { p = f32[8] parameter(0)  ROOT r = f32[8] map(p), to_apply=c", i - 1, "_ }\n");
  }
  const auto module =
      ReadModule(absl::StrCat(text, "ENTRY e { p = f32[8] parameter(0)  ROOT r = f32[8] map(p), to_apply=c400_ }\n"));
  HloCostAnalysis::Options options;
  options.set_transcendentals_per_second(1);
  HloCostAnalysis analysis(options);
  ASSERT_TRUE(module->entry_computation()->Accept(&analysis).ok());
  EXPECT_EQ(analysis.transcendental_count(), std::numeric_limits<float>::max());
  EXPECT_EQ(analysis.optimal_seconds(), std::numeric_limits<float>::max());
  EXPECT_EQ(analysis.transcendental_count(*module->entry_computation()->root_instruction()),
            std::numeric_limits<int64_t>::max());
}

// Each call has the sums of all that its computation reads, by operand: that must not grow with callers times operands.
TEST(HloCostAnalysisTest, TooManySumsAreRefused) {
  std::string text = "HloModule m\nc { p = f32[] parameter(0)  t = (f32[]";
  for (int i = 1; i < 5000; ++i) absl::StrAppend(&text, ",f32[]");
  absl::StrAppend(&text, ") tuple(p");
  for (int i = 1; i < 5000; ++i) absl::StrAppend(&text, ",p");
  absl::StrAppend(&text, ")  ROOT r = f32[] negate(p) }\nENTRY e { p = f32[] parameter(0)\n");
  for (int i = 0; i < 5000; ++i) absl::StrAppend(&text, " a", i, " = f32[] call(p), to_apply=c\n");
  absl::StrAppend(&text, " ROOT r = f32[] negate(p) }\n");
  const auto module = ReadModule(text);
  HloCostAnalysis analysis;
  EXPECT_EQ(module->entry_computation()->Accept(&analysis).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(analysis.properties().empty());
  EXPECT_EQ(CostAnalysis::Run(*module)->total().flops, 5001);
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
}  // namespace kashi::analysis
