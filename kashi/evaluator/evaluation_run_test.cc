// Programs that the verifier accepts and operations cannot run: values of other types or sizes than their instructions
// declare, sizes that no array may have, and computations that never end.
#include "kashi/evaluator/evaluation_run.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/work_meter.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
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
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "x: the value is f32[3], but f32[5] is declared");
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

// ---- Limits --------------------------------------------------------------------------------------------------------

constexpr char kEndless[] = R"(
  HloModule m

  body { s = s32[] parameter(0)
         one = s32[] constant(1)
         ROOT r = s32[] xor(s, one) }
  more { s = s32[] parameter(0)
         ROOT r = pred[] constant(true) }
  ENTRY main { zero = s32[] constant(0)
               ROOT w = s32[] while(zero), condition=more, body=body })";

TEST(EvaluationLimitsTest, ALoopWithoutEndEndsAtTheDeadline) {
  EvaluationOptions options;
  options.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  const absl::Status error = TryEvaluateText(kEndless, {}, options).status();
  EXPECT_EQ(error.code(), absl::StatusCode::kDeadlineExceeded) << error;
  EXPECT_EQ(LimitKindOf(error), LimitKind::kTime);
}

TEST(EvaluationLimitsTest, ALoopWithoutEndEndsWhenItsWorkIsDone) {
  EvaluationOptions options;
  options.max_work = 10000;
  const absl::Status error = TryEvaluateText(kEndless, {}, options).status();
  EXPECT_TRUE(absl::IsResourceExhausted(error)) << error;
  EXPECT_EQ(LimitKindOf(error), LimitKind::kWork);
}

TEST(EvaluationLimitsTest, IterationsSayThatTheyAreALimit) {
  EvaluationOptions options;
  options.max_loop_iterations = 5;
  EXPECT_EQ(LimitKindOf(TryEvaluateText(kEndless, {}, options).status()), LimitKind::kIterations);
}

// 2^60 calls are refused before the first.
TEST(EvaluationLimitsTest, WhatIsSurelyTooMuchDoesNotBegin) {
  std::string text = "HloModule m\n\ng0 {\n  x = f32[5] parameter(0)\n  ROOT r = f32[5] negate(x)\n}\n";
  for (int i = 1; i <= 60; ++i) {
    absl::StrAppend(&text, "\ng", i, " {\n  x = f32[5] parameter(0)\n  a = f32[5] call(x), to_apply=g", i - 1,
                    "\n  ROOT b = f32[5] call(a), to_apply=g", i - 1, "\n}\n");
  }
  absl::StrAppend(&text, "\nENTRY main {\n  p = f32[5] parameter(0)\n  ROOT m = f32[5] call(p), to_apply=g60\n}\n");
  EvaluationOptions options;
  options.max_work = int64_t{1} << 50;
  bool began = false;
  options.observer = [&](const HloInstruction&, const Value&) {
    began = true;
    return absl::OkStatus();
  };
  const absl::Status error = TryEvaluateText(text, {&FiveNumbers()}, options).status();
  EXPECT_EQ(LimitKindOf(error), LimitKind::kWork) << error;
  EXPECT_FALSE(began);
}

// Each of these runs for minutes: it must look at the deadline within itself.
TEST(EvaluationLimitsTest, LongOperationsLookAtTheDeadline) {
  constexpr absl::string_view kComputations = R"(
    HloModule m
    add { a = f32[] parameter(0)
          b = f32[] parameter(1)
          ROOT r = f32[] add(a, b) }
    less { a = f32[] parameter(0)
           b = f32[] parameter(1)
           x = f32[] multiply(a, b)
           y = f32[] sine(x)
           z = f32[] sine(b)
           ROOT r = pred[] compare(y, z), direction=LT }
    ENTRY e { zero = f32[] constant(0)
  )";
  const std::vector<std::string> operations = {
      "x = f32[6000,6000] broadcast(zero), dimensions={}\n"
      "y = f32[6000,6000] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "ROOT r = f32[6000,6000] dot(y, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
      "c = c64[] constant((1,2))\nx = c64[4000,4000] broadcast(c), dimensions={}\n"
      "ROOT r = c64[4000,4000] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
      "x = f32[1,900,900,1] broadcast(zero), dimensions={}\n"
      "k = f32[900,900,1,1] broadcast(zero), dimensions={}\n"
      "ROOT r = f32[1,900,900,1] convolution(x, k), window={size=900x900 pad=450_449x450_449}, "
      "dim_labels=b01f_01io->b01f",
      "x = f32[3000000] iota(), iota_dimension=0\n"
      "ROOT r = f32[3000000] reduce-window(x, zero), window={size=1000000 pad=500000_499999}, to_apply=add",
      "x = f32[5000000] iota(), iota_dimension=0\n"
      "ROOT r = f32[5000000] sort(x), dimensions={0}, to_apply=less",
      "x = f64[2000003] iota(), iota_dimension=0\n"
      "ROOT r = c128[1000002] fft(x), fft_type=RFFT, fft_length={2000003}",
      "x = f32[7000,7000] broadcast(zero), dimensions={}\nROOT r = f32[7000,7000] cholesky(x), lower=true",
      "x = f32[7000,7000] broadcast(zero), dimensions={}\n"
      "ROOT r = f32[7000,7000] triangular-solve(x, x), left_side=true, lower=true, transpose_a=NO_TRANSPOSE",
      "state = u64[2] constant({1,2})\n"
      "ROOT r = (u64[2], u32[100000000]) rng-bit-generator(state), algorithm=rng_three_fry",
  };
  for (const std::string& operation : operations) {
    EvaluationOptions options;
    const auto start = std::chrono::steady_clock::now();
    options.deadline = start + std::chrono::milliseconds(20);
    const absl::Status error = TryEvaluateText(absl::StrCat(kComputations, operation, " }"), {}, options).status();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    EXPECT_EQ(error.code(), absl::StatusCode::kDeadlineExceeded) << error << "\n" << operation;
    EXPECT_LT(took.count(), 10) << operation;
  }
}

// f32[1000] takes 4000 bytes, and sorting it by keys as much again several times.
TEST(EvaluationLimitsTest, ScratchCountsAsMemory) {
  constexpr absl::string_view kSort = R"(
    HloModule m
    less { a = f32[] parameter(0)
           b = f32[] parameter(1)
           ROOT r = pred[] compare(a, b), direction=LT }
    ENTRY e { x = f32[1000] iota(), iota_dimension=0
              ROOT r = f32[1000] sort(x), dimensions={0}, to_apply=less })";
  EvaluationOptions options;
  options.memory_limit_bytes = 20000;
  const absl::Status error = TryEvaluateText(kSort, {}, options).status();
  EXPECT_EQ(LimitKindOf(error), LimitKind::kMemory) << error;
  options.memory_limit_bytes = 100000;
  EXPECT_TRUE(TryEvaluateText(kSort, {}, options).ok());
}

// Shapes that the verifier takes, because one size is 0, although no checked constructor does.
TEST(EvaluationRunTest, SizesWhoseProductNoNumberHolds) {
  for (const char* operation : {"iota(), iota_dimension=0", "broadcast(zero), dimensions={}"}) {
    const absl::StatusOr<Literal> out = TryEvaluateText(
        absl::StrCat("ENTRY e { zero = f32[] constant(0)\n ROOT r = f32[9223372036854775807,0,9223372036854775807] ",
                     operation, " }"));
    if (out.ok()) {
      EXPECT_EQ(out->shape().dimensions(1), 0);
    }
  }
}

// 2^64 elements: the product of the sizes is 0 modulo 2^64.
TEST(EvaluationRunTest, ResultsThatNoMemoryHoldsAreRefused) {
  const absl::Status error = TryEvaluateText(R"(
    ENTRY e { x = f32[0] constant({})
              r = f32[4294967296,4294967296] reshape(x)
              ROOT s = f32[1,1] slice(r), slice={[7:8],[0:1]} })")
                                 .status();
  EXPECT_FALSE(error.ok());
}

// A run makes a constant once. This one takes memory of its own, for its layout is not that of values, and its only
// user would like to write there.
TEST(EvaluationRunTest, ConstantsStayWhatTheyAre) {
  const Literal result = EvaluateText(R"(
    HloModule m

    condition {
      s = (s32[], s32[2,2]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      n = s32[] constant(3)
      ROOT goes_on = pred[] compare(i, n), direction=LT
    }

    body {
      s = (s32[], s32[2,2]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      x = s32[2,2] get-tuple-element(s), index=1
      one = s32[] constant(1)
      j = s32[] add(i, one)
      c = s32[2,2]{0,1} constant({{1, 2}, {3, 4}})
      y = s32[2,2] add(c, x)
      ROOT t = (s32[], s32[2,2]) tuple(j, y)
    }

    ENTRY main {
      i = s32[] constant(0)
      x = s32[2,2] constant({{0, 0}, {0, 0}})
      s = (s32[], s32[2,2]) tuple(i, x)
      r = (s32[], s32[2,2]) while(s), condition=condition, body=body
      ROOT y = s32[2,2] get-tuple-element(r), index=1
    })",
                                      std::vector<const Literal*>());
  EXPECT_EQ(result, LiteralUtil::CreateR2<int32_t>({{3, 6}, {9, 12}}));
}

}  // namespace
}  // namespace kashi::evaluator
