#include "kashi/hlo/ir/combiner.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::hlo {
namespace {

// CombinerOf the entry with parameters a and b of these types and the root `root`.
std::optional<HloOpcode> Of(const std::string& root, const std::string& a = "f32[]", const std::string& b = "f32[]") {
  const auto module = ParseAndReturnUnverifiedModule(
      absl::StrCat("ENTRY e { a = ", a, " parameter(0) b = ", b, " parameter(1) ROOT r = ", root, " }"));
  EXPECT_TRUE(module.ok()) << module.status();
  return CombinerOf(*(*module)->entry_computation());
}

TEST(CombinerTest, OneOperationOnBothParameters) {
  EXPECT_EQ(Of("f32[] add(a, b)"), HloOpcode::kAdd);
  EXPECT_EQ(Of("f32[] add(b, a)"), HloOpcode::kAdd);
  EXPECT_EQ(Of("f32[] subtract(a, b)"), HloOpcode::kSubtract);
  EXPECT_EQ(Of("f32[] subtract(b, a)"), std::nullopt);
  EXPECT_EQ(Of("f32[] multiply(a, a)"), std::nullopt);  // the square of one of them
  EXPECT_EQ(Of("f32[] negate(a)"), std::nullopt);
  EXPECT_EQ(Of("pred[] compare(a, b), direction=LT"), std::nullopt);
  EXPECT_EQ(Of("(f32[], f32[]) tuple(a, b)"), std::nullopt);
  EXPECT_EQ(Of("f32[2] add(a, b)", "f32[2]", "f32[2]"), std::nullopt);
  EXPECT_EQ(Of("f32[] add(a, b)", "bf16[]"), std::nullopt);
  EXPECT_EQ(Of("bf16[] add(a, b)", "f32[]", "f32[]"), std::nullopt);
}

TEST(CombinerTest, ThroughAnotherInstruction) {
  const auto module = ParseAndReturnUnverifiedModule(
      "ENTRY e { a = f32[] parameter(0) b = f32[] parameter(1) n = f32[] negate(b) ROOT r = f32[] add(a, n) }");
  EXPECT_EQ(CombinerOf(*(*module)->entry_computation()), std::nullopt);
}

TEST(CombinerTest, Reorderable) {
  const auto reorderable = [](const std::string& opcode) {
    const auto module = ParseAndReturnUnverifiedModule(
        absl::StrCat("ENTRY e { a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = s32[] ", opcode, "(b, a) }"));
    return ReorderableCombiner(*(*module)->entry_computation()).has_value();
  };
  for (const char* opcode : {"add", "multiply", "maximum", "minimum", "and", "or", "xor"}) {
    EXPECT_TRUE(reorderable(opcode)) << opcode;
  }
  for (const char* opcode : {"subtract", "divide", "shift-left"}) EXPECT_FALSE(reorderable(opcode)) << opcode;
}

}  // namespace
}  // namespace kashi::hlo
