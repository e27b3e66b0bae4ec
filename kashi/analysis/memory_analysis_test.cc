#include "kashi/analysis/memory_analysis.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/analysis/analysis_testing.h"

namespace kashi::analysis {
namespace {

using ::testing::ElementsAre;

const MemorySpaceUsage& Space(const MemoryAnalysis& memory, int64_t number) {
  for (const MemorySpaceUsage& space : memory.spaces) {
    if (space.memory_space == number) return space;
  }
  ADD_FAILURE() << "no space " << number;
  return memory.default_space();
}

TEST(MemoryAnalysisTest, PeakIsWhatIsAliveAtOnce) {
  const auto module = ReadModule(R"(
HloModule m
ENTRY e {
  a = f32[100] parameter(0)
  k = f32[] constant(3)
  b = f32[100] negate(a)
  c = f32[100] abs(b)
  d = f32[50] slice(c), slice={[0:50]}
  ROOT r = f32[50] negate(d)
}
)");
  const MemoryAnalysis memory = Analyze(*module);
  EXPECT_EQ(memory.target.name(), "host");
  const MemorySpaceUsage& space = memory.default_space();
  EXPECT_EQ(space.argument_bytes, 400);
  EXPECT_EQ(space.output_bytes, 200);
  EXPECT_EQ(space.constant_bytes, 4);
  EXPECT_EQ(space.temp_bytes, 800);  // b and c, while abs runs
  EXPECT_EQ(space.peak_bytes, 400 + 200 + 4 + 800);
  EXPECT_EQ(memory.entry_sequence()[space.peak_step]->name(), "c");
  ASSERT_EQ(space.temporaries.size(), 2);
  EXPECT_EQ(memory.buffers[space.temporaries[0]].main_value().name, "b");
  // One level for each step at which something comes or goes.
  ASSERT_EQ(space.levels.size(), 5);
  EXPECT_EQ(space.levels.front().step, 2);
  EXPECT_EQ(space.levels.back().bytes, 0);
  EXPECT_EQ(memory.XlaPeakBytes(), 604);  // XLA's host compiler counts no temporaries
}

TEST(MemoryAnalysisTest, ArraysWithoutTilesHaveTheLayoutsOfTheTarget) {
  const auto module = ReadModule(R"(
HloModule m
ENTRY e {
  x = f32[256,512,128,2] parameter(0)
  y = f32[256,512,128,2] negate(x)
  ROOT r = (f32[256,512,128,2], s8[3]) tuple(y, s8[3] constant({1, 2, 3}))
}
)");
  constexpr int64_t kPadded = int64_t{8} << 30;  // 64 times its data: two columns take a row of 128
  const MemoryAnalysis memory = Analyze(*module, "v5e");
  EXPECT_TRUE(memory.has_chosen_layouts);
  const MemorySpaceUsage& space = memory.default_space();
  EXPECT_EQ(space.argument_bytes, kPadded);
  EXPECT_EQ(space.output_bytes, kPadded + 512);
  EXPECT_EQ(space.padding_bytes, 2 * (kPadded - kPadded / 64) + 509);
  EXPECT_EQ(memory.buffers[BufferOf(memory, "x")].main_value().shape->ToString(true),
            "f32[256,512,128,2]{3,2,1,0:T(8,128)}");
  // Nothing is chosen for a host, nor for a program that a TPU's compiler has made.
  EXPECT_FALSE(Analyze(*module, "host").has_chosen_layouts);
  EXPECT_EQ(Analyze(*module, "host").default_space().argument_bytes, kPadded / 64);
  const auto compiled = ReadModule(R"(
HloModule m, is_scheduled=true
ENTRY e {
  x = f32[8,2]{1,0:T(8,128)} parameter(0)
  s = s32[2]{0:S(2)} parameter(1)
  ROOT y = f32[8,2]{1,0:T(8,128)} negate(x)
}
)");
  EXPECT_FALSE(Analyze(*compiled, "v5e").has_chosen_layouts);
  EXPECT_EQ(Space(Analyze(*compiled, "v5e"), 2).argument_bytes, 8);
}

TEST(MemoryAnalysisTest, ArraysOfUnknownSizeTakeNothingForATpuToo) {
  const auto module = ReadModule(R"(
HloModule m
ENTRY e {
  x = (f32[?,2], f32[3,2]) parameter(0)
  ROOT y = f32[3,2] get-tuple-element(x), index=1
}
)");
  EXPECT_EQ(Analyze(*module, "v5e").default_space().argument_bytes, 4 * 128 * 4);
}

TEST(MemoryAnalysisTest, FactsOfAnotherTargetSayWhichTarget) {
  const auto module = ReadModule(R"(
HloModule m, is_scheduled=true
ENTRY e {
  x = f32[3] parameter(0)
  ROOT y = f32[3] negate(x)
}
)");
  XlaMemoryFacts facts;
  facts.usage = std::vector<XlaMemoryUsage>{{/*memory_space=*/0, /*bytes=*/24}};
  EXPECT_TRUE(AnalyzeMemory(*module, std::nullopt, facts).ok());
  EXPECT_TRUE(AnalyzeMemory(*module, ParseMemoryTarget("host"), facts).ok());
  const absl::Status status = AnalyzeMemory(*module, ParseMemoryTarget("v5e"), facts).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(), "XLA wrote it for the target host, but the target is v5e");
  const auto tiled = ReadModule(R"(
HloModule m, is_scheduled=true
ENTRY e {
  x = f32[3]{0:T(128)} parameter(0)
  ROOT y = (f32[3]{0:T(128)}, f32[3]{0:T(128)}) tuple(x, x)
}
)");
  facts.usage = std::vector<XlaMemoryUsage>{{/*memory_space=*/0, /*bytes=*/3 * 512 + 32}};
  EXPECT_TRUE(AnalyzeMemory(*tiled, ParseMemoryTarget("v5p"), facts).ok());
  EXPECT_EQ(AnalyzeMemory(*tiled, ParseMemoryTarget("v2"), facts).status().message(),
            "XLA wrote it for the target v5p, but the target is v2");
}

TEST(MemoryAnalysisTest, SpacesAndPadding) {
  const auto module = ReadModule(R"(
HloModule m, is_scheduled=true
ENTRY e {
  a = f32[8,2]{1,0:T(8,128)} parameter(0)
  h = f32[8,128]{1,0:T(8,128)S(5)} parameter(1)
  b = f32[8,2]{1,0:T(8,128)S(1)} copy(a)
  s = f32[]{:T(128)S(6)} constant(1)
  ROOT r = f32[8,2]{1,0:T(8,128)} negate(b), backend_config={"used_scoped_memory_configs":[{"memory_space":"1","offset":"0","size":"1024"}]}
}
)");
  const MemoryAnalysis memory = Analyze(*module, "v5e");
  EXPECT_EQ(memory.default_space().argument_bytes, 4096);
  EXPECT_EQ(memory.default_space().output_bytes, 4096);
  EXPECT_EQ(memory.default_space().padding_bytes, 2 * (4096 - 64));
  EXPECT_EQ(Space(memory, 1).peak_bytes, 4096);
  EXPECT_EQ(Space(memory, 1).scratch_bytes, 1024);
  EXPECT_EQ(Space(memory, 5).argument_bytes, 4096);
  EXPECT_EQ(Space(memory, 6).constant_bytes, 512);
  EXPECT_EQ(memory.XlaPeakBytes(), 3 * 4096 + 512 + 4096);
}

// As the TPU compiler counts it: in an index of a search it has a place of its own.
TEST(MemoryAnalysisTest, UntiledScalarConstants) {
  const auto module = ReadModule(R"(
HloModule m, is_scheduled=true
ENTRY e {
  a = f32[] parameter(0)
  b = f32[] constant(1)
  c = pred[] constant(true)
  d = f32[]{:T(128)} constant(2)
  ROOT r = f32[] custom-call(a, b, c, d), custom_call_target="x"
}
)");
  EXPECT_EQ(Analyze(*module, "v5e").default_space().constant_bytes, 4096 + 1024 + 512);
  EXPECT_EQ(Analyze(*module, "v5e").default_space().argument_bytes, 4);
  EXPECT_EQ(Analyze(*module, "host").default_space().constant_bytes, 4 + 1 + 512);
}

TEST(MemoryAnalysisTest, AResultThatIsATupleHasATable) {
  const auto module = ReadModule(R"(
HloModule m, is_scheduled=true
ENTRY e {
  a = f32[]{:T(128)} parameter(0)
  b = f32[]{:T(128)} negate(a)
  c = f32[]{:T(128)} abs(a)
  ROOT r = (f32[]{:T(128)}, f32[]{:T(128)}) tuple(b, c)
}
)");
  EXPECT_EQ(Analyze(*module, "v5e").output_table_bytes, 512);
  EXPECT_EQ(Analyze(*module, "v6e").output_table_bytes, 32);
  EXPECT_EQ(Analyze(*module, "v6e").default_space().peak_bytes, 512 + 2 * 512 + 32);
}

// The memory of a computation with two callers is counted at each call, once.
TEST(MemoryAnalysisTest, SharedComputations) {
  const auto module = ReadModule(R"(
HloModule m, is_scheduled=true
f {
  x = f32[100] parameter(0)
  y = f32[100] negate(x)
  z = f32[100] abs(y)
  ROOT w = f32[100] negate(z)
}
ENTRY e {
  a = f32[100] parameter(0)
  b = f32[100] call(a), to_apply=f
  ROOT c = f32[100] call(b), to_apply=f
}
)");
  const MemoryAnalysis memory = Analyze(*module);
  ASSERT_EQ(memory.sequences.size(), 2);
  EXPECT_EQ(memory.default_space().temp_bytes, 400 + 800);  // b, and y and z within f
  EXPECT_EQ(memory.default_space().temporaries.size(), 3);
  EXPECT_EQ(BufferOf(memory, "x"), -1);  // the callers' own
}

// Each calls the one before twice: 2^40 runs of the first.
TEST(MemoryAnalysisTest, ManyCallsOfCallsAreNotUnrolled) {
  std::string text = "HloModule m\ng0 { x = f32[8] parameter(0)  y = f32[8] negate(x)  ROOT z = f32[8] abs(y) }\n";
  for (int i = 1; i <= 40; ++i) {
    absl::StrAppend(&text, "g", i, " { x = f32[8] parameter(0)  y = f32[8] call(x), to_apply=g", i - 1,
                    "  ROOT z = f32[8] call(y), to_apply=g", i - 1, " }\n");
  }
  absl::StrAppend(&text, "ENTRY e { x = f32[8] parameter(0)  ROOT y = f32[8] call(x), to_apply=g40 }\n");
  const MemoryAnalysis memory = Analyze(*ReadModule(text));
  EXPECT_EQ(memory.default_space().temp_bytes, 32 * 41);
}

TEST(MemoryAnalysisTest, TuplesWithManyElementsAndManyUsersAreCheap) {
  constexpr int kCount = 2000;
  std::string text = "HloModule m, is_scheduled=true\nENTRY e {\n  a = f32[8] parameter(0)\n  t = (";
  for (int i = 0; i < kCount; ++i) absl::StrAppend(&text, i == 0 ? "" : ", ", "f32[8]");
  absl::StrAppend(&text, ") custom-call(a), custom_call_target=\"x\"\n");
  for (int i = 0; i < kCount; ++i)
    absl::StrAppend(&text, "  g", i, " = f32[8] custom-call(t), custom_call_target=\"y\"\n");
  absl::StrAppend(&text, "  ROOT r = f32[8] negate(a)\n}\n");
  const MemoryAnalysis memory = Analyze(*ReadModule(text));
  EXPECT_EQ(memory.default_space().temp_bytes, 8 * kCount + 64 * kCount - 32);  // the last is not rounded up
}

TEST(MemoryAnalysisTest, ErrorsNotCrashes) {
  HloModule empty("empty", HloModuleConfig());
  EXPECT_EQ(AnalyzeMemory(empty).status().code(), absl::StatusCode::kInvalidArgument);
  const auto huge =
      ReadModule(absl::StrCat("HloModule m\nENTRY e { a = f32[", int64_t{1} << 60, "] parameter(0)  b = f32[",
                              int64_t{1} << 60, "] negate(a)  ROOT c = f32[1] slice(b), slice={[0:1]} }\n"));
  EXPECT_EQ(AnalyzeMemory(*huge).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(MemoryAnalysisTest, DonorsThatNoResultTakes) {
  const auto module = ReadModule(R"(
HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }, buffer_donor={ (1, {}), (2, {1}) }
ENTRY e {
  a = f32[64]{0} parameter(0)
  b = f32[64]{0} parameter(1)
  c = (f32[8]{0}, f32[16]{0}) parameter(2)
  ROOT r = f32[64]{0} add(a, b)
}
)");
  const MemorySpaceUsage space = Analyze(*module, "host").default_space();
  EXPECT_EQ(space.unused_donor_bytes, 4 * (64 + 16));
  EXPECT_EQ(space.argument_bytes, 4 * (64 + 64 + 8 + 16));
  EXPECT_EQ(space.alias_bytes, 4 * 64);
  // The donors save nothing: XLA:CPU's peak_memory_in_bytes is that of the same program without donors.
  EXPECT_EQ(space.peak_bytes, space.argument_bytes);
}

TEST(MemoryAnalysisTest, SumsDoNotOverflow) {
  // A region that needs nearly 2^60 bytes, called in steps that follow each other; aliases within aliases.
  const auto calls = ReadModule(absl::StrCat(R"(
HloModule m, is_scheduled=true
c { p = f32[] parameter(0)
  h = s8[)",
                                             (int64_t{1} << 60) - 4096, R"(] broadcast(p), dimensions={}
  ROOT r = f32[] custom-call(h), custom_call_target="x" }
ENTRY e { p = f32[] parameter(0)
  a = f32[] call(p), to_apply=c
  b = f32[] call(a), to_apply=c
  ROOT r = f32[] call(b), to_apply=c }
)"));
  const MemorySpaceUsage space = Analyze(*calls, "host").default_space();
  EXPECT_GE(space.temp_bytes, (int64_t{1} << 60) - 4096);
  EXPECT_LT(space.peak_bytes, (int64_t{1} << 60) + 4096);
  const auto aliases = ReadModule(R"(
HloModule m, input_output_alias={ {}: (0, {}, may-alias), {0}: (0, {0}, may-alias) }
ENTRY e { ROOT p = (f32[8], f32[8]) parameter(0) }
)");
  EXPECT_EQ(Analyze(*aliases, "host").default_space().alias_bytes, 64);
}

TEST(MemoryAnalysisTest, TooManyMemorySpaces) {
  std::string text = "HloModule m\nENTRY e { x = f32[8] parameter(0)\n";
  for (int i = 0; i < 65; ++i) absl::StrAppend(&text, " a", i, "_ = f32[8]{0:S(", i + 1, ")} negate(x)\n");
  absl::StrAppend(&text, " ROOT r = f32[8] negate(x) }\n");
  EXPECT_EQ(AnalyzeMemory(*ReadModule(text)).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(MemoryAnalysisTest, BuffersAreNamedAfterTheirLargestValue) {
  const auto module = ReadModule(R"(
HloModule m, is_scheduled=true
ENTRY e {
  a = f32[128]{0:T(128)S(1)} parameter(0)
  b = f32[128]{0:T(128)S(1)} negate(a)
  c = f32[128]{0:T(128)S(1)} abs(a)
  d = f32[256]{0:T(256)S(1)} custom-call(b, c), custom_call_target="ConcatBitcast"
  ROOT r = f32[256]{0:T(256)} negate(d)
}
)");
  const MemoryAnalysis memory = Analyze(*module, "v5e");
  const MemoryBuffer& buffer = memory.buffers[BufferOf(memory, "b")];
  EXPECT_EQ(buffer.main_value().name, "d");
  EXPECT_EQ(buffer.bytes, 1024);
  EXPECT_EQ(buffer.first_step, 1);
  ASSERT_EQ(buffer.values.size(), 3);
}

// Nobody has verified the module.
TEST(MemoryAnalysisTest, SetDimensionSizeOfATuple) {
  const auto module = ReadModule(R"(
HloModule m
ENTRY e {
  a = (f32[2], s32[]) parameter(0)
  i = s32[] constant(0)
  ROOT r = (f32[2], s32[]) set-dimension-size(a, i), dimensions={0}
}
)");
  EXPECT_TRUE(AnalyzeMemory(*module).ok());
}

}  // namespace
}  // namespace kashi::analysis
