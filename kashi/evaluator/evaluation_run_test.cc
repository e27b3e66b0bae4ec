// What the verifier lets through, and operations could not stand: values of other types or sizes than their instructions
// declare, sizes that no array may have, and computations that take for ever.
#include "kashi/evaluator/evaluation_run.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi {
namespace {

const Literal& FiveNumbers() {
  static const auto* const numbers = new Literal(LiteralUtil::CreateR1<float>({1, 2, 3, 4, 5}));
  return *numbers;
}

// `lines` have p, five numbers, and d, the first three of them.
std::string CutToThree(absl::string_view lines) {
  return absl::StrCat("HloModule m\n\nENTRY main {\n  p = f32[5] parameter(0)\n  n = s32[] constant(3)\n",
                      "  d = f32[<=5] set-dimension-size(p, n), dimensions={0}\n", lines, "}\n");
}

TEST(EvaluationRunTest, ComputedSizesAreNoStaticOnes) {
  for (const char* lines : {
           "  ROOT t = (f32[5]) tuple(d)\n",
           "  t = (f32[5]) tuple(d)\n  g = f32[5] get-tuple-element(t), index=0\n  ROOT a = f32[5] add(g, p)\n",
           "  ROOT o = f32[5] opt-barrier(d)\n",
       }) {
    const absl::Status status = TryEvaluateText(CutToThree(lines), {&FiveNumbers()}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status << lines;
  }
}

TEST(EvaluationRunTest, ParameterDeclaresStaticSize) {
  const absl::Status status = TryEvaluateText(R"(
    HloModule m

    f {
      x = f32[5] parameter(0)
      ROOT r = f32[5] negate(x)
    }

    ENTRY main {
      p = f32[5] parameter(0)
      n = s32[] constant(3)
      d = f32[<=5] set-dimension-size(p, n), dimensions={0}
      ROOT c = f32[5] call(d), to_apply=f
    })",
                                              {&FiveNumbers()})
                                  .status();
  EXPECT_EQ(status, absl::InvalidArgumentError("x: a value of f32[3] where f32[5] is declared"));
}

// Shape inference would have bf16, in which f64 elements do not fit.
TEST(EvaluationRunTest, DynamicResultHasDeclaredType) {
  const Literal ones = LiteralUtil::CreateFullWithDescendingLayout<bfloat16>({4096}, bfloat16(1));
  const Literal result = EvaluateText(R"(
    HloModule m

    ENTRY main {
      p = bf16[4096] parameter(0)
      n = s32[] constant(4095)
      d = bf16[<=4096] set-dimension-size(p, n), dimensions={0}
      ROOT a = f64[<=4096] add(d, d)
    })",
                                      std::vector<const Literal*>{&ones});
  ASSERT_EQ(result.GetDynamicSize(0), 4095);
  EXPECT_EQ(result.Get<double>({4094}), 2);
}

TEST(EvaluationRunTest, SetDimensionSizeConverts) {
  const Literal result = EvaluateText(R"(
    HloModule m

    ENTRY main {
      p = f32[5] parameter(0)
      n = s32[] constant(3)
      ROOT d = bf16[<=5] set-dimension-size(p, n), dimensions={0}
    })",
                                      std::vector<const Literal*>{&FiveNumbers()});
  ASSERT_EQ(result.GetDynamicSize(0), 3);
  EXPECT_EQ(result.Get<bfloat16>({2}), bfloat16(3));
}

TEST(EvaluationRunTest, MakeArrayRefusesSizes) {
  EvaluationRun run;
  EXPECT_EQ(run.MakeArray(S64, {int64_t{1} << 61, 0}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(run.MakeArray(S8, {int64_t{1} << 61}).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(run.MakeArray(S8, {int64_t{1} << 61, 0}).ok());
}

// Sizes of dynamic dimensions are 32 bits; static ones may be more.
TEST(EvaluationRunTest, SizesBeyond32Bits) {
  const Literal empty(ShapeUtil::MakeShape(S8, {int64_t{1} << 40, 0}));
  EvaluationRun run;
  const absl::StatusOr<Value> value = Value::FromLiteral(empty, run.budget());
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(value->dimension(0), int64_t{1} << 40);
}

// Each computation calls the one before it twice: 2^40 instructions, inlined into one or not.
TEST(EvaluationRunTest, ScalarComputationsOfManyCallsCanBeCancelled) {
  std::string text = "HloModule m\n\ng0 {\n  x = f32[] parameter(0)\n  ROOT r = f32[] negate(x)\n}\n";
  for (int i = 1; i <= 40; ++i) {
    absl::StrAppend(&text, "\ng", i, " {\n  x = f32[] parameter(0)\n  a = f32[] call(x), to_apply=g", i - 1,
                    "\n  ROOT b = f32[] call(a), to_apply=g", i - 1, "\n}\n");
  }
  absl::StrAppend(&text, "\nENTRY main {\n  p = f32[5] parameter(0)\n",
                  "  ROOT m = f32[5] map(p), dimensions={0}, to_apply=g40\n}\n");
  std::atomic<bool> cancelled{false};
  EvaluationOptions options;
  options.cancelled = &cancelled;
  int calls = 0;
  options.observer = [&](const HloInstruction&, const Value&) {
    if (++calls == 1000) cancelled = true;
    return absl::OkStatus();
  };
  EXPECT_TRUE(absl::IsCancelled(TryEvaluateText(text, {&FiveNumbers()}, options).status()));
}

TEST(EvaluationRunTest, CallsNestOnlySoDeep) {
  std::string text = "HloModule m\n\ng0 {\n  x = f32[] parameter(0)\n  ROOT r = f32[] negate(x)\n}\n";
  for (int i = 1; i <= 1000; ++i) {
    absl::StrAppend(&text, "\ng", i, " {\n  x = f32[] parameter(0)\n  ROOT r = f32[] call(x), to_apply=g", i - 1,
                    "\n}\n");
  }
  absl::StrAppend(&text, "\nENTRY main {\n  p = f32[] parameter(0)\n  ROOT r = f32[] call(p), to_apply=g1000\n}\n");
  const Literal one = LiteralUtil::CreateR0<float>(1);
  EXPECT_TRUE(absl::IsResourceExhausted(TryEvaluateText(text, {&one}).status()));
}

}  // namespace
}  // namespace kashi
