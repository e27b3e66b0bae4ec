#include "kashi/cpu/thunks/packed_operands.h"

#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "kashi/cpu/cpu_testing.h"

namespace kashi::cpu {
namespace {

// m rows times a rhs of k rows and n columns.
codegen::DotMatrices Dot(int64_t m, int64_t k, int64_t n) { return {F32, {1, m, k, n}, {m * k, k, 1}, {k * n, n, 1}}; }
constexpr int kWeights = 5, kOther = 6;  // slots

TEST(PackedOperandsTest, OnlyWhatStaysTheSame) {
  PackedOperands operands;
  EXPECT_EQ(operands.NumberOf(Dot(16, 64, 64), kWeights, /*is_constant=*/false), DotThunk::kNone);
  EXPECT_EQ(operands.NumberOf(Dot(16, 64, 64), kOther, /*is_constant=*/true), 0);
  operands.EnterLoop({kWeights});
  EXPECT_EQ(operands.NumberOf(Dot(16, 64, 64), 7, false), DotThunk::kNone);
  EXPECT_EQ(operands.NumberOf(Dot(1, 64, 64), kWeights, false), DotThunk::kNone);  // read once
  EXPECT_EQ(operands.NumberOf(Dot(16, 64, 64), kWeights, false), 1);
  EXPECT_EQ(operands.NumberOf(Dot(20, 64, 64), kWeights, false), 1);  // packed in the same way
  EXPECT_EQ(operands.NumberOf(Dot(16, 32, 128), kWeights, false), 2);
  EXPECT_EQ(operands.NumberOf(Dot(16, 64, 64), kOther, true), 0);
  EXPECT_EQ(operands.LeaveLoop(), (std::vector<int>{1, 2}));
  EXPECT_EQ(operands.count(), 3);
}

TEST(PackedOperandsTest, TheOutermostLoopThatKeepsIt) {
  PackedOperands operands;
  operands.EnterLoop({kWeights});
  operands.EnterLoop({kWeights, kOther});
  EXPECT_EQ(operands.NumberOf(Dot(16, 64, 64), kWeights, false), 0);
  EXPECT_EQ(operands.NumberOf(Dot(16, 64, 64), kOther, false), 1);
  EXPECT_EQ(operands.LeaveLoop(), std::vector<int>{1});
  // The outer loop may write `kOther`; another inner one keeps it anew.
  operands.EnterLoop({kOther});
  EXPECT_EQ(operands.NumberOf(Dot(16, 64, 64), kWeights, false), DotThunk::kNone);
  EXPECT_EQ(operands.NumberOf(Dot(16, 64, 64), kOther, false), 2);
  EXPECT_EQ(operands.LeaveLoop(), std::vector<int>{2});
  EXPECT_EQ(operands.LeaveLoop(), std::vector<int>{0});
}

TEST(PackedOperandsTest, UpToSomeMemory) {
  PackedOperands operands;
  EXPECT_EQ(operands.NumberOf(Dot(16, 4096, 4096), 0, true), DotThunk::kNone);
  EXPECT_EQ(operands.NumberOf(Dot(16, 4096, 1536), 1, true), 0);
  EXPECT_EQ(operands.NumberOf(Dot(16, 4096, 1024), 2, true), DotThunk::kNone);
  EXPECT_EQ(operands.NumberOf(Dot(16, 4096, 512), 3, true), 1);
}

// Two loops. The inner one keeps $INNER, the outer one halves it; both keep v; c is a constant.
std::string Loops(const char* dot) {
  return absl::StrReplaceAll(R"(HloModule m
inner_body {
  s = (s32[], f32[16,32], f32[32,32], f32[32,32]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[16,32] get-tuple-element(s), index=1
  w = f32[32,32] get-tuple-element(s), index=2
  v = f32[32,32] get-tuple-element(s), index=3
  one = s32[] constant(1)
  n = s32[] add(i, one)
  k = f32[32] constant({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
    17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32})
  b = f32[32,32] broadcast(k), dimensions={0}
  d = f32[16,32] $DOT
  y = f32[16,32] tanh(d)
  ROOT r = (s32[], f32[16,32], f32[32,32], f32[32,32]) tuple(n, y, w, v)
}
inner_condition {
  s = (s32[], f32[16,32], f32[32,32], f32[32,32]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  three = s32[] constant(3)
  ROOT r = pred[] compare(i, three), direction=LT
}
outer_body {
  s = (s32[], f32[16,32], f32[32,32], f32[32,32]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[16,32] get-tuple-element(s), index=1
  w = f32[32,32] get-tuple-element(s), index=2
  v = f32[32,32] get-tuple-element(s), index=3
  zero = s32[] constant(0)
  t = (s32[], f32[16,32], f32[32,32], f32[32,32]) tuple(zero, x, w, v)
  l = (s32[], f32[16,32], f32[32,32], f32[32,32]) while(t), condition=inner_condition, body=inner_body
  y = f32[16,32] get-tuple-element(l), index=1
  one = s32[] constant(1)
  n = s32[] add(i, one)
  half = f32[] constant(0.5)
  h = f32[32,32] broadcast(half), dimensions={}
  u = f32[32,32] multiply(w, h)
  ROOT r = (s32[], f32[16,32], f32[32,32], f32[32,32]) tuple(n, y, u, v)
}
ENTRY e {
  x = f32[16,32] parameter(0)
  w = f32[32,32] parameter(1)
  v = f32[32,32] parameter(2)
  zero = s32[] constant(0)
  t = (s32[], f32[16,32], f32[32,32], f32[32,32]) tuple(zero, x, w, v)
  l = (s32[], f32[16,32], f32[32,32], f32[32,32]) while(t), condition=inner_condition, body=outer_body
  ROOT y = f32[16,32] get-tuple-element(l), index=1
})",
                             {{"$DOT", dot}});
}

// A program runs with two sets of arguments: its memory for packed operands is used again.
TEST(PackedOperandsTest, ProgramsGiveWhatTheEvaluatorGives) {
  for (const char* dot : {"dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
                          "dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
                          "dot(x, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
                          "dot(x, b), lhs_contracting_dims={1}, rhs_contracting_dims={1}"}) {
    SCOPED_TRACE(dot);
    const auto module = ReadVerified(Loops(dot));
    ASSERT_TRUE(module.ok()) << module.status();
    const auto program = CompiledProgram::Compile(**module);
    ASSERT_TRUE(program.ok()) << program.status();
    EXPECT_GE((*program)->thunk_program_count(), 1);
    std::vector<Literal> arguments = RandomArguments(**module);
    for (int run = 0; run < 2; ++run) {
      const auto expected = HloEvaluator().Evaluate(**module, arguments);
      const auto actual = RunProgram(**program, arguments);
      ASSERT_TRUE(expected.ok() && actual.ok()) << expected.status() << actual.status();
      const absl::Status same = literal_comparison::Near(*expected, *actual, ErrorSpec(1e-4, 1e-4));
      EXPECT_TRUE(same.ok()) << same;
      std::swap(arguments[1], arguments[2]);
    }
  }
}

}  // namespace
}  // namespace kashi::cpu
