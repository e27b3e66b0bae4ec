// XLA's count of temporaries, seen through AnalyzeMemory. The corpus has the real numbers (tests/memory_test.py).
#include "kashi/analysis/heap_simulator_trace.h"

#include <string>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "kashi/analysis/analysis_testing.h"

namespace kashi::analysis {
namespace {

// XLA's bytes of temporaries, for a module whose temporaries are in memory space S.
int64_t XlaTempBytes(const std::string& text, const char* space, const char* target = "v5e") {
  const auto module = ReadModule(absl::StrReplaceAll(text, {{"S(s)", space}}));
  return Analyze(*module, target).xla_temp_bytes;
}

constexpr char kUpdate[] = R"(
HloModule m, is_scheduled=true
ENTRY e {
  a = f32[256]{0:T(256)} parameter(0)
  i = s32[]{:T(128)} parameter(1)
  b = f32[256]{0:T(256)S(s)} copy(a)
  c = f32[256]{0:T(256)S(s)} dynamic-update-slice(b, a, i)
  ROOT r = f32[256]{0:T(256)} negate(c)
}
)";

TEST(HeapSimulatorTraceTest, AnUpdateInVectorMemoryCountsTwice) {
  EXPECT_EQ(XlaTempBytes(kUpdate, "S(1)"), 2048);
  EXPECT_EQ(XlaTempBytes(kUpdate, "S(3)", "v4"), 2048);
  EXPECT_EQ(XlaTempBytes(kUpdate, "S(3)"), 1024);
  EXPECT_EQ(XlaTempBytes(kUpdate, ""), 1024);
  EXPECT_EQ(XlaTempBytes(kUpdate, "", "host"), 0);
  EXPECT_EQ(Analyze(*ReadModule(absl::StrReplaceAll(kUpdate, {{"S(s)", "S(1)"}})), "v5e").spaces[1].temp_bytes, 1024);
}

constexpr char kTracedLoop[] = R"(
HloModule m, is_scheduled=true
body {
  p = (f32[256]{0:T(256)S(s)}) parameter(0)
  x = f32[256]{0:T(256)S(s)} get-tuple-element(p), index=0
  y = f32[128]{0:T(128)S(s)} slice(x), slice={[0:128]}
  z = f32[256]{0:T(256)S(s)} pad(y, y), padding=0_128
  ROOT q = (f32[256]{0:T(256)S(s)}) tuple(z)
}
condition { n = (f32[256]{0:T(256)S(s)}) parameter(0)  ROOT c = pred[]{:T(512)} constant(false) }
ENTRY e {
  a = f32[256]{0:T(256)} parameter(0)
  b = f32[256]{0:T(256)S(s)} copy(a)
  t = (f32[256]{0:T(256)S(s)}) tuple(b)
  l = (f32[256]{0:T(256)S(s)}) while(t), condition=condition, body=body
  g = f32[256]{0:T(256)S(s)} get-tuple-element(l), index=0
  ROOT r = f32[256]{0:T(256)} negate(g)
}
)";

// The state is handed on, not changed in place; while only y is left of it, its buffer does not count; nor do tables.
TEST(HeapSimulatorTraceTest, StatesOfLoops) {
  EXPECT_EQ(XlaTempBytes(kTracedLoop, "S(1)"), 1024 + 512);
  EXPECT_EQ(XlaTempBytes(kTracedLoop, ""), 1024 + 512);
}

TEST(HeapSimulatorTraceTest, PartsCountUntilTheyArePutTogether) {
  const std::string text = R"(
HloModule m, is_scheduled=true
ENTRY e {
  a = f32[256]{0:T(256)} parameter(0)
  b = f32[128]{0:T(128)S(s)} slice(a), slice={[0:128]}
  c = f32[128]{0:T(128)S(s)} slice(a), slice={[128:256]}
  d = f32[256]{0:T(256)S(s)} custom-call(b, c), custom_call_target="ConcatBitcast"
  ROOT r = f32[256]{0:T(256)} negate(d)
}
)";
  EXPECT_EQ(XlaTempBytes(text, "S(1)"), 1024);
}

}  // namespace
}  // namespace kashi::analysis
