#include "kashi/analysis/memory_target.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kashi/analysis/analysis_testing.h"

namespace kashi::analysis {
namespace {

std::string GuessFor(absl::string_view shape) {
  const auto module = ReadModule(
      absl::StrCat("HloModule m\nENTRY e { a = ", shape, " parameter(0)  ROOT b = ", shape, " negate(a) }\n"));
  const MemoryTarget target = GuessMemoryTarget(*module);
  EXPECT_TRUE(target.is_guess);
  return target.name();
}

TEST(MemoryTargetTest, LayoutsTellTheTarget) {
  EXPECT_EQ(GuessFor("f32[8,128]{1,0}"), "host");
  EXPECT_EQ(GuessFor("f32[8,128]{1,0:T(8,128)}"), "v5e");
  EXPECT_EQ(GuessFor("f32[]{:T(256)}"), "v3");
  EXPECT_EQ(GuessFor("f32[]{:T(128)}"), "v5e");
  EXPECT_EQ(GuessFor("bf16[]{:T(256)}"), "v5e");
  EXPECT_EQ(GuessFor("f32[8,128]{1,0:T(8,128)S(3)}"), "v4");
}

TEST(MemoryTargetTest, GpuCodeTellsTheTarget) {
  const auto name_for = [](absl::string_view attributes) {
    const auto module = ReadModule(
        absl::StrCat("HloModule m\nENTRY e { a = f32[8] parameter(0)  ROOT b = f32[8] ", attributes, " }\n"));
    return GuessMemoryTarget(*module).name();
  };
  EXPECT_EQ(name_for("negate(a), backend_config={\"operation_queue_id\":\"0\"}"), "gpu");
  EXPECT_EQ(name_for("custom-call(a), custom_call_target=\"__cublas$gemm\""), "gpu");
  EXPECT_EQ(name_for("custom-call(a), custom_call_target=\"custom\""), "host");
  const auto scheduled = ReadModule(
      "HloModule m, frontend_attributes={fingerprint_before_lhs=\"37\"}\nENTRY e { ROOT a = f32[8] parameter(0) }\n");
  EXPECT_EQ(GuessMemoryTarget(*scheduled).name(), "gpu");
}

TEST(MemoryTargetTest, Names) {
  for (const char* name : {"v2", "v3", "v4", "v5e", "v5p", "v6e", "tpu7x", "host", "gpu"}) {
    ASSERT_TRUE(ParseMemoryTarget(name).has_value()) << name;
    EXPECT_EQ(ParseMemoryTarget(name)->name(), name);
    EXPECT_FALSE(ParseMemoryTarget(name)->is_guess);
  }
  EXPECT_EQ(ParseMemoryTarget("cpu")->name(), "host");
  EXPECT_FALSE(ParseMemoryTarget("v1").has_value());
}

}  // namespace
}  // namespace kashi::analysis
