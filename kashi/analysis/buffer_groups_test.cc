// Tests which values share a buffer, seen through AnalyzeMemory's buffers.
#include "kashi/analysis/buffer_groups.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kashi/analysis/analysis_testing.h"

namespace kashi::analysis {
namespace {

// Whether all these values lie in one buffer.
void ExpectTogether(const MemoryAnalysis& memory, const std::vector<std::string>& values) {
  for (const std::string& value : values) {
    EXPECT_NE(BufferOf(memory, value), -1) << value;
    EXPECT_EQ(BufferOf(memory, value), BufferOf(memory, values[0])) << value << " and " << values[0];
  }
}
void ExpectApart(const MemoryAnalysis& memory, const std::string& a, const std::string& b) {
  EXPECT_NE(BufferOf(memory, a), -1) << a;
  EXPECT_NE(BufferOf(memory, b), -1) << b;
  EXPECT_NE(BufferOf(memory, a), BufferOf(memory, b)) << a << " and " << b;
}

TEST(BufferGroupsTest, WhatIsHandedOnIsNoValue) {
  const auto module = ReadModule(R"(
HloModule m, is_scheduled=true
ENTRY e {
  a = f32[4] parameter(0)
  n = f32[4] negate(a)
  b = f32[2,2] bitcast(n)
  t = (f32[2,2], f32[4]) tuple(b, a)
  o = (f32[2,2], f32[4]) opt-barrier(t)
  g = f32[2,2] get-tuple-element(o), index=0
  ROOT r = f32[2,2] negate(g)
}
)");
  const MemoryAnalysis memory = Analyze(*module);
  for (const char* name : {"b", "t{0}", "o{}", "o{0}", "g"}) EXPECT_EQ(BufferOf(memory, name), -1) << name;
  ASSERT_EQ(memory.buffers.size(), 4);  // a, n, the table of t, r
  EXPECT_EQ(memory.buffers[BufferOf(memory, "n")].last_step, 6);
}

TEST(BufferGroupsTest, AsynchronousPairs) {
  const auto module = ReadModule(R"(
HloModule m, is_scheduled=true
ENTRY e {
  a = f32[256]{0:T(256)} parameter(0)
  s = (f32[256]{0:T(256)S(1)}, f32[256]{0:T(256)}, u32[]{:S(2)}) copy-start(a)
  d = f32[256]{0:T(256)S(1)} copy-done(s)
  p = (f32[256]{0:T(256)S(1)}, f32[256]{0:T(256)S(1)}, u32[]{:S(2)}, u32[]{:S(2)}) collective-permute-start(d), source_target_pairs={{0,1}}
  q = f32[256]{0:T(256)S(1)} collective-permute-done(p)
  h = ((f32[256]{0:T(256)S(1)}), f32[128]{0:T(128)S(1)}, s32[]{:S(2)}) slice-start(q), slice={[0:128]}
  i = f32[128]{0:T(128)S(1)} slice-done(h)
  ROOT r = f32[128]{0:T(128)} negate(i)
}
)");
  const MemoryAnalysis memory = Analyze(*module, "v5e");
  for (const char* name : {"s{}", "s{0}", "s{2}", "p{}", "p{1}", "p{2}", "p{3}", "h{}", "h{0}", "h{2}"}) {
    EXPECT_NE(BufferOf(memory, name), -1) << name;
  }
  for (const char* name : {"s{1}", "d", "p{0}", "q", "h{0,0}", "h{1}", "i"})
    EXPECT_EQ(BufferOf(memory, name), -1) << name;
  EXPECT_EQ(memory.buffers[BufferOf(memory, "s{0}")].memory_space, 1);
  EXPECT_EQ(memory.buffers[BufferOf(memory, "s{2}")].bytes, 4);
}

constexpr char kLoop[] = R"(
body {
  p = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[4] get-tuple-element(p), index=1
  j = s32[] negate(i)
  y = f32[4] negate(x)
  ROOT q = (s32[], f32[4]) tuple(j, y)
}
condition {
  p.1 = (s32[], f32[4]) parameter(0)
  ROOT c = pred[] constant(false)
}
)";

TEST(BufferGroupsTest, LoopsStateHasOnePlace) {
  const auto module = ReadModule(std::string("HloModule m, is_scheduled=true\n") + kLoop + R"(
ENTRY e {
  i0 = s32[] parameter(0)
  x0 = f32[4] parameter(1)
  i1 = s32[] copy(i0)
  x1 = f32[4] copy(x0)
  t = (s32[], f32[4]) tuple(i1, x1)
  w = (s32[], f32[4]) while(t), condition=condition, body=body
  z = f32[4] get-tuple-element(w), index=1
  ROOT r = f32[4] negate(z)
}
)");
  const MemoryAnalysis memory = Analyze(*module);
  ExpectTogether(memory, {"x1", "p{1}", "p.1{1}", "y", "w{1}"});
  ExpectTogether(memory, {"i1", "p{0}", "j", "w{0}"});
  ExpectTogether(memory, {"t{}", "p{}", "q{}", "w{}"});
  ExpectApart(memory, "x0", "x1");
  const MemoryBuffer& state = memory.buffers[BufferOf(memory, "x1")];
  EXPECT_EQ(state.first_step, 3);
  EXPECT_EQ(memory.entry_sequence()[state.last_step]->name(), "r");
}

TEST(BufferGroupsTest, WithoutScheduleParametersAreNotOverwritten) {
  const auto module = ReadModule(std::string("HloModule m\n") + kLoop + R"(
ENTRY e {
  i0 = s32[] parameter(0)
  x0 = f32[4] parameter(1)
  t = (s32[], f32[4]) tuple(i0, x0)
  w = (s32[], f32[4]) while(t), condition=condition, body=body
  z = f32[4] get-tuple-element(w), index=1
  ROOT r = f32[4] add(z, x0)
}
)");
  const MemoryAnalysis memory = Analyze(*module);
  ExpectApart(memory, "x0", "w{1}");
  ExpectTogether(memory, {"p{1}", "w{1}"});
}

// Parts that a loop's body does not change need no copy, even if others hold them too.
constexpr char kLoopWithWeights[] = R"(
body {
  p = (f32[4], f32[64]) parameter(0)
  x = f32[4] get-tuple-element(p), index=0
  w = f32[64] get-tuple-element(p), index=1
  y = f32[4] custom-call(x, w), custom_call_target="x"
  ROOT q = (f32[4], f32[64]) tuple(y, w)
}
condition {
  p.1 = (f32[4], f32[64]) parameter(0)
  ROOT c = pred[] constant(false)
}
ENTRY e {
  x0 = f32[4] parameter(0)
  w0 = f32[64] parameter(1)
  x1 = f32[4] copy(x0)
  t = (f32[4], f32[64]) tuple(x1, w0)
  l = (f32[4], f32[64]) while(t), condition=condition, body=body
  x2 = f32[4] get-tuple-element(l), index=0
  ROOT r = f32[64] custom-call(x2, w0), custom_call_target="x"
}
)";

TEST(BufferGroupsTest, WhatALoopKeepsIsHandedOn) {
  for (const char* header : {"HloModule m, is_scheduled=true\n", "HloModule m\n"}) {
    const auto module = ReadModule(std::string(header) + kLoopWithWeights);
    const MemoryAnalysis memory = Analyze(*module);
    for (const char* name : {"p{1}", "p.1{1}", "l{1}"}) EXPECT_EQ(BufferOf(memory, name), -1) << header << name;
    ExpectTogether(memory, {"x1", "p{0}", "p.1{0}", "y", "l{0}"});
    // x1 and a table; where there is a schedule they are placed, the second at a multiple of 64 bytes.
    EXPECT_EQ(memory.default_space().temp_bytes, (module->has_schedule() ? 64 : 16) + 16) << header;
  }
}

// An inner loop whose body changes the buffer: the outer loop cannot keep the value there.
TEST(BufferGroupsTest, WhatAnInnerLoopChangesIsNotKept) {
  const auto module = ReadModule(R"(
HloModule m
inner { i = (f32[4]) parameter(0)  j = f32[4] get-tuple-element(i), index=0  k = f32[4] negate(j)  ROOT o = (f32[4]) tuple(k) }
never { n = (f32[4]) parameter(0)  ROOT no = pred[] constant(false) }
outer {
  p = (f32[4]) parameter(0)
  x = f32[4] get-tuple-element(p), index=0
  t = (f32[4]) tuple(x)
  w = (f32[4]) while(t), condition=never, body=inner
  y = f32[4] get-tuple-element(w), index=0
  z = f32[4] custom-call(y), custom_call_target="x", custom_call_has_side_effect=true
  ROOT q = (f32[4]) tuple(x)
}
stop { m = (f32[4]) parameter(0)  ROOT yes = pred[] constant(false) }
ENTRY e {
  a = f32[4] parameter(0)
  t = (f32[4]) tuple(a)
  l = (f32[4]) while(t), condition=stop, body=outer
  ROOT r = f32[4] get-tuple-element(l), index=0
}
)");
  const MemoryAnalysis memory = Analyze(*module);
  ExpectApart(memory, "a", "k");
}

TEST(BufferGroupsTest, AsTheTpuCompilerHasDecided) {
  const auto module = ReadModule(R"(
HloModule m, is_scheduled=true
ENTRY e {
  a = f32[256]{0:T(256)} parameter(0)
  b = f32[256]{0:T(256)} negate(a)
  c = f32[256]{0:T(256)} abs(b), backend_config={"aliasing_operands":{"lists":[{"indices":["0","1"]}]}}
  d = f32[256]{0:T(256)} add(c, c), backend_config={"aliasing_operands":{"lists":[{"indices":["0","1"]}]}}
  f = f32[256]{0:T(256)} add(c, d), backend_config={"aliasing_operands":{"lists":[{"indices":["0","1","2"]}]}}
  g = f32[256]{0:T(256)} add(d, f), backend_config={"aliasing_operands":{"lists":[{"indices":["7","-1","9"]},{}]}}
  ROOT r = f32[256]{0:T(256)} add(d, g), backend_config={"aliasing_operands":{"lists":[{"indices":["0","1","2"]}]}}
}
)");
  const MemoryAnalysis memory = Analyze(*module, "v5e");
  ExpectTogether(memory, {"b", "c", "f"});  // c dies in f, and d does not
  ExpectApart(memory, "c", "d");            // two operands in one place, and no result
  ExpectTogether(memory, {"d", "r"});       // the first of two that die
  ExpectApart(memory, "g", "r");
  ExpectApart(memory, "g", "f");
}

// An output has one operand. Time and memory for this were once quadratic in the number of aliases in a file.
TEST(BufferGroupsTest, ManyAliasesOfOneOutput) {
  constexpr int kCount = 4000;
  std::string aliases, results, shape;
  for (int i = 0; i < kCount; ++i) {
    aliases += i == 0 ? "{}: (0, {})" : ", {}: (0, {})";
    results += i == 0 ? "f" : ", f";
    shape += i == 0 ? "f32[8]" : ", f32[8]";
  }
  const auto module = ReadModule("HloModule m, is_scheduled=true\n" +
                                 ("inner { p = f32[8] parameter(0)  ROOT n = f32[8] negate(p) }\n"
                                  "outer { q = f32[8] parameter(0)  f = f32[8] fusion(q), kind=kLoop, calls=inner, "
                                  "output_to_operand_aliasing={" +
                                  aliases + "}  ROOT t = (" + shape + ") tuple(" + results + ") }\n") +
                                 "ENTRY e { a = f32[8] parameter(0)  b = f32[8] negate(a)  ROOT r = (" + shape +
                                 ") fusion(b), kind=kLoop, calls=outer }\n");
  ASSERT_NE(module, nullptr);
  ExpectTogether(Analyze(*module), {"b", "r{0}", "r{1}"});
}

TEST(BufferGroupsTest, Conditionals) {
  const auto module = ReadModule(R"(
HloModule m, is_scheduled=true
yes { a = f32[4] parameter(0)  ROOT b = f32[4] negate(a) }
no { c = f32[4] parameter(0)  ROOT d = f32[4] abs(c) }
ENTRY e {
  p = pred[] parameter(0)
  x = f32[4] parameter(1)
  u = f32[4] negate(x)
  v = f32[4] abs(x)
  ROOT r = f32[4] conditional(p, u, v), true_computation=yes, false_computation=no
}
)");
  const MemoryAnalysis memory = Analyze(*module);
  for (const char* name : {"a", "c"}) EXPECT_EQ(BufferOf(memory, name), -1) << name;  // they hold u and v
  ExpectTogether(memory, {"r", "b", "d"});
  EXPECT_EQ(memory.entry_sequence()[memory.buffers[BufferOf(memory, "u")].last_step]->name(), "r");
  EXPECT_EQ(memory.buffers[BufferOf(memory, "r")].kind, MemoryBuffer::Kind::kOutput);
}

TEST(BufferGroupsTest, UpdatesInPlaceAndInsideOfFusions) {
  const auto module = ReadModule(R"(
HloModule m, is_scheduled=true
fused {
  p0 = f32[8] parameter(0)
  p1 = f32[2] parameter(1)
  i = s32[] constant(0)
  u = f32[8] dynamic-update-slice(p0, p1, i)
  n = f32[8] negate(p0)
  ROOT t = (f32[8], f32[8]) tuple(n, u)
}
ENTRY e {
  a = f32[8] parameter(0)
  b = f32[2] parameter(1)
  i = s32[] parameter(2)
  c = f32[8] copy(a)
  d = f32[8] dynamic-update-slice(c, b, i)
  f = (f32[8], f32[8]) fusion(d, b), kind=kLoop, calls=fused
  g = f32[8] get-tuple-element(f), index=1
  h = f32[8] custom-call(g), custom_call_target="x", output_to_operand_aliasing={{}: (0, {})}
  ROOT r = f32[8] negate(h)
}
)");
  const MemoryAnalysis memory = Analyze(*module);
  ExpectTogether(memory, {"c", "d", "f{1}", "h"});
  ExpectApart(memory, "c", "f{0}");
  ExpectApart(memory, "a", "c");
}

TEST(BufferGroupsTest, WithoutScheduleAnOperandWithOtherUsersIsNotChanged) {
  const auto module = ReadModule(R"(
HloModule m
ENTRY e {
  a = f32[8] parameter(0)
  b = f32[2] parameter(1)
  i = s32[] parameter(2)
  c = f32[8] negate(a)
  d = f32[8] dynamic-update-slice(c, b, i)
  k = f32[8] abs(a)
  l = f32[8] dynamic-update-slice(k, b, i)
  ROOT r = (f32[8], f32[8], f32[8]) tuple(c, d, l)
}
)");
  const MemoryAnalysis memory = Analyze(*module);
  ExpectApart(memory, "c", "d");
  ExpectTogether(memory, {"k", "l"});
}

TEST(BufferGroupsTest, DonatedArgumentsHoldOutputs) {
  const auto module = ReadModule(R"(
HloModule m, is_scheduled=true, input_output_alias={ {1}: (0, {}, may-alias) }
ENTRY e {
  a = f32[8] parameter(0)
  n = f32[8] negate(a)
  m = f32[8] abs(a)
  ROOT r = (f32[8], f32[8]) tuple(n, m)
}
)");
  const MemoryAnalysis memory = Analyze(*module);
  ExpectTogether(memory, {"a", "m"});
  EXPECT_EQ(memory.buffers[BufferOf(memory, "a")].kind, MemoryBuffer::Kind::kAliased);
  EXPECT_EQ(memory.default_space().alias_bytes, 32);
  EXPECT_EQ(memory.default_space().peak_bytes, 32 + 32 + 16);
}

TEST(BufferGroupsTest, NonsenseIsLeftAlone) {
  const auto module = ReadModule(R"(
HloModule m, is_scheduled=true
ENTRY e {
  a = f32[8] parameter(0)
  s = f32[8] copy-start(a)
  d = f32[8] copy-done(s)
  c = f32[8] custom-call(d), custom_call_target="x", output_to_operand_aliasing={{3}: (7, {1})}
  ROOT r = f32[8] collective-permute-done(c)
}
)");
  EXPECT_GT(Analyze(*module).buffers.size(), 0);
}

}  // namespace
}  // namespace kashi::analysis
