#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

using ::testing::HasSubstr;

constexpr absl::string_view kCountdown = R"(
HloModule countdown
condition (state: (s32[], s32[4])) -> pred[] {
  state = (s32[], s32[4]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  limit = s32[] constant(4)
  ROOT more = pred[] compare(i, limit), direction=LT
}
body (state: (s32[], s32[4])) -> (s32[], s32[4]) {
  state = (s32[], s32[4]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  x = s32[4] get-tuple-element(state), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  square = s32[] multiply(next, next)
  update = s32[1] reshape(square)
  y = s32[4] dynamic-update-slice(x, update, i)
  ROOT out = (s32[], s32[4]) tuple(next, y)
}
ENTRY main (i: s32[], x: s32[4]) -> (s32[], s32[4]) {
  i = s32[] parameter(0)
  x = s32[4] parameter(1)
  state = (s32[], s32[4]) tuple(i, x)
  ROOT loop = (s32[], s32[4]) while(state), condition=condition, body=body
})";

std::vector<Literal> CountdownArguments() {
  std::vector<Literal> arguments;
  arguments.push_back(LiteralUtil::CreateR0<int32_t>(1));
  arguments.push_back(LiteralUtil::CreateR1<int32_t>({7, 7, 7, 7}));
  return arguments;
}

TEST(WhileTest, UpdatesItsStateAndLeavesArgumentsAlone) {
  const std::vector<Literal> arguments = CountdownArguments();
  const Literal result = EvaluateText(kCountdown, arguments);
  EXPECT_EQ(LiteralSlice(result, {0}), LiteralUtil::CreateR0<int32_t>(4));
  EXPECT_EQ(LiteralSlice(result, {1}), LiteralUtil::CreateR1<int32_t>({7, 4, 9, 16}));
  EXPECT_EQ(arguments[1], LiteralUtil::CreateR1<int32_t>({7, 7, 7, 7}));
}

TEST(WhileTest, StopsAtTheLimitOfIterations) {
  EvaluationOptions options;
  options.max_loop_iterations = 2;
  const std::vector<Literal> arguments = CountdownArguments();
  EXPECT_THAT(TryEvaluateText(kCountdown, {&arguments[0], &arguments[1]}, options).status().ToString(),
              HasSubstr("Loop loop exceeded loop iteration limit (2)."));
}

TEST(ConditionalTest, PicksBranches) {
  const auto run = [](int32_t index) {
    std::vector<Literal> arguments;
    arguments.push_back(LiteralUtil::CreateR0<int32_t>(index));
    return EvaluateText(R"(
HloModule branches
a (x: s32[]) -> s32[] { ROOT x = s32[] parameter(0) }
b (x: s32[]) -> s32[] {
  x = s32[] parameter(0)
  ROOT n = s32[] negate(x)
}
ENTRY main (i: s32[]) -> s32[] {
  i = s32[] parameter(0)
  five = s32[] constant(5)
  ROOT c = s32[] conditional(i, five, five), branch_computations={a, b}
})",
                        arguments)
        .Get<int32_t>({});
  };
  EXPECT_EQ(run(0), 5);
  EXPECT_EQ(run(1), -5);
  EXPECT_EQ(run(2), -5);
  EXPECT_EQ(run(-1), -5);
}

TEST(AsyncTest, StartUpdateDone) {
  const Literal result = EvaluateText(R"(
HloModule async
work (x: s32[2]) -> s32[2] {
  x = s32[2] parameter(0)
  ROOT n = s32[2] negate(x)
}
ENTRY main () -> s32[2] {
  x = s32[2] constant({1, -2})
  start = ((s32[2]), s32[2], u32[]) async-start(x), calls=work
  update = ((s32[2]), s32[2], u32[]) async-update(start), calls=work
  ROOT done = s32[2] async-done(update), calls=work
})");
  EXPECT_EQ(result, LiteralUtil::CreateR1<int32_t>({-1, 2}));
}

TEST(CopyTest, StartAndDone) {
  const Literal result = EvaluateText(R"(
HloModule copies
ENTRY main () -> f32[2,2] {
  x = f32[2,2]{1,0} constant({{1, 2}, {3, 4}})
  start = (f32[2,2]{1,0:S(1)}, f32[2,2]{1,0}, u32[]) copy-start(x)
  done = f32[2,2]{1,0:S(1)} copy-done(start)
  ROOT turned = f32[2,2]{0,1} copy(done)
})");
  EXPECT_EQ(result, LiteralUtil::CreateR2<float>({{1, 2}, {3, 4}}));
  EXPECT_EQ(result.shape().layout().minor_to_major(), LayoutUtil::MakeLayout({0, 1}).minor_to_major());
}

TEST(EvaluationRunTest, RefusesAbsurdMemoryByName) {
  EXPECT_THAT(TryEvaluateText(R"(
HloModule absurd
ENTRY main () -> f32[1000000,1000000] {
  x = f32[] constant(1)
  ROOT b = f32[1000000,1000000] broadcast(x), dimensions={}
})")
                  .status()
                  .ToString(),
              HasSubstr("Out of memory allocating 4000000000000 bytes for f32[1000000,1000000]"));
}

TEST(EvaluationRunTest, ConvertsWhereMovedElementsChangeType) {
  const Literal result = EvaluateText(R"(
HloModule mixed
ENTRY main () -> (bf16[4], f32[2,2]) {
  x = f32[2,2] constant({{1, 2.003}, {3, 4}})
  y = bf16[] constant(5)
  a = bf16[4] reshape(x)
  b = f32[2,2] broadcast(y), dimensions={}
  ROOT r = (bf16[4], f32[2,2]) tuple(a, b)
})");
  EXPECT_EQ(LiteralSlice(result, {0}),
            LiteralUtil::CreateR1<bfloat16>({bfloat16(1), bfloat16(2), bfloat16(3), bfloat16(4)}));
  EXPECT_EQ(LiteralSlice(result, {1}), LiteralUtil::CreateR2<float>({{5, 5}, {5, 5}}));
}

TEST(EvaluationRunTest, RefusesArgumentsOfOtherShapes) {
  const Literal wrong = LiteralUtil::CreateR1<float>({1, 2});
  EXPECT_THAT(
      TryEvaluateText("HloModule m\nENTRY main (x: f32[3]) -> f32[3] { ROOT x = f32[3] parameter(0) }", {&wrong})
          .status()
          .ToString(),
      HasSubstr("Shape mismatch at parameter 0"));
}

TEST(EvaluationRunTest, NamesOperationsThatNeedAHost) {
  EXPECT_THAT(TryEvaluateText(R"(
HloModule host
ENTRY main () -> (f32[3], token[]) {
  t = token[] after-all()
  ROOT i = (f32[3], token[]) infeed(t)
})")
                  .status()
                  .ToString(),
              HasSubstr("i: infeed needs a host"));
}

}  // namespace
}  // namespace kashi::evaluator
