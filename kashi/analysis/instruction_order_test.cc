#include "kashi/analysis/instruction_order.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/analysis/analysis_testing.h"

namespace kashi::analysis {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> OrderOf(const MemoryAnalysis& memory) {
  std::vector<std::string> names;
  for (const HloInstruction* instruction : memory.entry_sequence()) names.emplace_back(instruction->name());
  return names;
}

TEST(InstructionOrderTest, AScheduleIsFollowed) {
  const auto module = ReadModule(R"(
HloModule m, is_scheduled=true
ENTRY e {
  a = f32[8] parameter(0)
  c = f32[8] abs(a)
  b = f32[8] negate(a)
  ROOT r = f32[8] add(b, c)
}
)");
  EXPECT_THAT(OrderOf(Analyze(*module)), ElementsAre("a", "c", "b", "r"));
}

// In post-order all large values would be alive before the first is reduced.
TEST(InstructionOrderTest, WithoutOneLargeValuesGoSoon) {
  std::string text = R"(
HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[] parameter(0)
  zero = f32[] constant(0)
)";
  std::string names;
  for (int i = 0; i < 8; ++i) absl::StrAppend(&text, "  b", i, " = f32[1000] broadcast(x), dimensions={}\n");
  for (int i = 0; i < 8; ++i) {
    absl::StrAppend(&text, "  r", i, " = f32[] reduce(b", i, ", zero), dimensions={0}, to_apply=add\n");
    absl::StrAppend(&names, i == 0 ? "" : ", ", "b", i);
  }
  // Needing all of them for their last bytes only makes post-order fetch them first.
  for (int i = 0; i < 8; ++i) absl::StrAppend(&text, "  v", i, " = f32[1] slice(b", i, "), slice={[0:1]}\n");
  absl::StrAppend(&text,
                  "  t = (f32[1], f32[1], f32[1], f32[1], f32[1], f32[1], f32[1], f32[1], f32[], f32[], f32[], f32[], ",
                  "f32[], f32[], f32[], f32[]) tuple(v0, v1, v2, v3, v4, v5, v6, v7, r0, r1, r2, r3, r4, r5, r6, r7)\n",
                  "  ROOT o = f32[1] get-tuple-element(t), index=0\n}\n");
  const auto module = ReadModule(text);
  const MemoryAnalysis memory = Analyze(*module);
  EXPECT_FALSE(memory.is_scheduled);
  EXPECT_LT(memory.default_space().temp_bytes, 2 * 4000 + 1000);
}

TEST(InstructionOrderTest, ControlDependenciesHold) {
  const auto module = ReadModule(R"(
HloModule m
ENTRY e {
  a = f32[8] parameter(0)
  b = f32[8] negate(a)
  c = f32[8] abs(a), control-predecessors={b}
  ROOT r = f32[8] add(c, b)
}
)");
  EXPECT_THAT(OrderOf(Analyze(*module)), ElementsAre("a", "b", "c", "r"));
}

}  // namespace
}  // namespace kashi::analysis
