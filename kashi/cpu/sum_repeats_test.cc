// Sums of repeated elements, which become products.
#include <string>

#include "absl/strings/str_cat.h"
#include "kashi/codegen/kernel_support.h"
#include "kashi/cpu/cpu_testing.h"
#include "kashi/literal/literal_util.h"
#include "kashi/passes/sum_repeats.h"

namespace kashi::cpu {
namespace {

// A sum of x, with `broadcast` in the type of x; `reduce` are the dimensions that are reduced.
std::string SumOfBroadcast(const std::string& type, const std::string& x, const std::string& broadcast,
                           const std::string& dimensions, const std::string& reduce, const std::string& result,
                           const std::string& op = "add") {
  return absl::StrCat("combine { a = ", type, "[] parameter(0) b = ", type, "[] parameter(1) ROOT r = ", type, "[] ",
                      op, "(a, b) } ENTRY e { x = ", type, x, " parameter(0) init = ", type,
                      "[] parameter(1) b = ", type, broadcast, " broadcast(x), dimensions={", dimensions,
                      "} ROOT r = ", type, result, " reduce(b, init), dimensions={", reduce, "}, to_apply=combine }");
}

bool IsChanged(const std::string& text) {
  const auto module = ReadVerified(text).value();
  EXPECT_EQ(passes::SumRepeats(module.get(), {codegen::KernelSupport()}), absl::OkStatus());
  HloVerifier verifier(/*layout_sensitive=*/false, /*allow_mixed_precision=*/true);
  EXPECT_EQ(verifier.Run(module.get()).status(), absl::OkStatus());
  const bool changed = module->entry_computation()->root_instruction()->opcode() != HloOpcode::kReduce;
  EXPECT_EQ(passes::SumRepeats(module.get(), {codegen::KernelSupport()}), absl::OkStatus());
  return changed;
}

TEST(SumRepeatsTest, OnlyWholeSumsOfRepeats) {
  EXPECT_TRUE(IsChanged(SumOfBroadcast("f32", "[4]", "[17,4]", "1", "0", "[4]")));
  EXPECT_TRUE(IsChanged(SumOfBroadcast("s8", "[]", "[3,2]", "", "0,1", "[]")));
  EXPECT_TRUE(IsChanged(SumOfBroadcast("bf16", "[4]", "[128,4]", "1", "0", "[4]")));
  EXPECT_TRUE(IsChanged(SumOfBroadcast("f64", "[5,2]", "[5,3,2,4]", "0,2", "1,3", "[5,2]")));
  EXPECT_TRUE(IsChanged(SumOfBroadcast("f32", "[2]", "[3,2,5]", "1", "2", "[3,2]")));
  EXPECT_FALSE(IsChanged(SumOfBroadcast("f32", "[4]", "[17,4]", "1", "0,1", "[]")));   // x is reduced too
  EXPECT_FALSE(IsChanged(SumOfBroadcast("f32", "[4]", "[0,4]", "1", "0", "[4]")));     // nothing is added
  EXPECT_FALSE(IsChanged(SumOfBroadcast("bf16", "[4]", "[257,4]", "1", "0", "[4]")));  // no bf16 is 257
  EXPECT_FALSE(IsChanged(SumOfBroadcast("s8", "[]", "[200]", "", "0", "[]")));         // no s8 is 200
  EXPECT_FALSE(IsChanged(SumOfBroadcast("f32", "[4]", "[17,4]", "1", "0", "[4]", "multiply")));
  EXPECT_FALSE(IsChanged(SumOfBroadcast("pred", "[4]", "[17,4]", "1", "0", "[4]", "or")));
}

TEST(SumRepeatsTest, GivesTheSum) {
  for (const std::string type : {"f32", "f64", "s32", "u8", "bf16", "c64"}) {
    const ErrorSpec error(1e-5, type == "bf16" ? 1e-2 : 1e-5);  // rounded before the initial value is added, too
    ExpectAsEvaluator(SumOfBroadcast(type, "[4]", "[17,4]", "1", "0", "[4]"), error);
    ExpectAsEvaluator(SumOfBroadcast(type, "[5,2]", "[5,3,2,4]", "0,2", "1,3", "[5,2]"), error);
    ExpectAsEvaluator(SumOfBroadcast(type, "[2]", "[3,2,5]", "1", "2", "[3,2]"), error);
    ExpectAsEvaluator(SumOfBroadcast(type, "[]", "[3,2]", "", "0,1", "[]"), error);
  }
}

// The sum is rounded once: 17 additions of a third are not.
TEST(SumRepeatsTest, RoundsOnce) {
  const auto module = ReadVerified(SumOfBroadcast("f32", "[]", "[17]", "", "0", "[]")).value();
  std::vector<Literal> arguments;
  arguments.push_back(LiteralUtil::CreateR0<float>(1.0f / 3));
  arguments.push_back(LiteralUtil::CreateR0<float>(0));
  EXPECT_EQ(RunCompiled(*module, arguments).value(), LiteralUtil::CreateR0<float>(17 * (1.0f / 3)));
}

}  // namespace
}  // namespace kashi::cpu
