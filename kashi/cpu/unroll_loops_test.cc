// Loops that become straight code, and constants that are computed when the program is compiled.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kashi/cpu/compiled_program.h"
#include "kashi/cpu/cpu_testing.h"

namespace kashi::cpu {
namespace {

// x and y change places in each iteration, and are rotated by a number out of a table.
std::string CountingLoop(absl::string_view iterations, absl::string_view size) {
  return absl::StrReplaceAll(
      R"(HloModule m
body {
  s = (s32[], u32[N], u32[N], u32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = u32[N] get-tuple-element(s), index=1
  y = u32[N] get-tuple-element(s), index=2
  table = u32[4] get-tuple-element(s), index=3
  one = s32[] constant(1)
  next = s32[] add(i, one)
  r = u32[1] dynamic-slice(table, i), dynamic_slice_sizes={1}
  r0 = u32[] reshape(r)
  rs = u32[N] broadcast(r0), dimensions={}
  z = u32[N] shift-left(x, rs)
  w = u32[N] xor(z, y)
  ROOT t = (s32[], u32[N], u32[N], u32[4]) tuple(next, y, w, table)
}
condition {
  s = (s32[], u32[N], u32[N], u32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(K)
  ROOT r = pred[] compare(i, n), direction=LT
}
ENTRY e {
  x = u32[N] parameter(0)
  y = u32[N] parameter(1)
  zero = s32[] constant(0)
  table = u32[4] constant({3, 31, 40, 7})
  s = (s32[], u32[N], u32[N], u32[4]) tuple(zero, x, y, table)
  w = (s32[], u32[N], u32[N], u32[4]) while(s), condition=condition, body=body
  a = u32[N] get-tuple-element(w), index=1
  b = u32[N] get-tuple-element(w), index=2
  ROOT r = u32[N] xor(a, b)
})",
      {{"N]", absl::StrCat(size, "]")}, {"constant(K)", absl::StrCat("constant(", iterations, ")")}});
}

int64_t Whiles(absl::string_view text) {
  const auto program = CompiledProgram::Compile(*ReadVerified(text).value()).value();
  int64_t count = 0;
  for (const HloComputation* computation : program->module().computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      count += instruction->opcode() == HloOpcode::kWhile ? 1 : 0;
    }
  }
  return count;
}

TEST(UnrollLoopsTest, FewIterationsOnLargeArraysAreOneKernel) {
  for (const char* iterations : {"1", "2", "5", "8"}) {
    const std::string text = CountingLoop(iterations, "5000");
    EXPECT_EQ(Whiles(text), 0);
    ExpectAsEvaluator(text, ErrorSpec(0, 0), 1);
  }
  EXPECT_EQ(Whiles(CountingLoop("0", "5000")), 0);
  ExpectAsEvaluator(CountingLoop("0", "5000"), ErrorSpec(0, 0));
}

TEST(UnrollLoopsTest, OthersStay) {
  for (const std::string& text : std::vector<std::string>{CountingLoop("9", "5000"), CountingLoop("5", "50")}) {
    EXPECT_EQ(Whiles(text), 1);
    ExpectAsEvaluator(text, ErrorSpec(0, 0));
  }
}

TEST(FoldConstantsTest, SmallResultsOfConstants) {
  const std::string text = R"(ENTRY e {
    x = f32[100] parameter(0)
    table = s32[4] constant({5, 6, 7, 8})
    two = s32[] constant(2)
    s = s32[1] dynamic-slice(table, two), dynamic_slice_sizes={1}
    r = s32[] reshape(s)
    f = f32[] convert(r)
    h = f32[] exponential(f)
    pair = (f32[], f32[100]) tuple(h, x)
    h0 = f32[] get-tuple-element(pair), index=0
    b = f32[100] broadcast(h0), dimensions={}
    ROOT y = f32[100] multiply(x, b) })";
  const auto program = CompiledProgram::Compile(*ReadVerified(text).value()).value();
  const HloInstruction& root = *program->module().entry_computation()->root_instruction();
  ASSERT_EQ(root.opcode(), HloOpcode::kFusion);
  EXPECT_EQ(root.operand_count(), 1);  // x; the rest is a constant
  ExpectAsEvaluator(text, ErrorSpec(1e-6, 1e-6));
}

}  // namespace
}  // namespace kashi::cpu
