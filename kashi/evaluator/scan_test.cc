#include <vector>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

TEST(ScanTest, RunsEitherWay) {
  constexpr absl::string_view kText = R"(
    f { x = f32[] parameter(0)
        c = f32[] parameter(1)
        s = f32[] add(x, c)
        ROOT t = (f32[], f32[]) tuple(s, s) }
    ENTRY e { x = f32[4] constant({1,2,3,4})
              c = f32[] constant(10)
              ROOT r = (f32[4], f32[]) scan(x, c), dimensions={0}, num_carries=1, is_reverse=%s, to_apply=f })";
  const Literal last = LiteralUtil::CreateR0<float>(20);
  const Literal forward = LiteralUtil::CreateR1<float>({11, 13, 16, 20});
  EXPECT_EQ(EvaluateText(absl::StrFormat(kText, "false")), LiteralUtil::MakeTuple({&forward, &last}));
  const Literal backward = LiteralUtil::CreateR1<float>({20, 19, 17, 14});
  EXPECT_EQ(EvaluateText(absl::StrFormat(kText, "true")), LiteralUtil::MakeTuple({&backward, &last}));
}

TEST(ScanTest, WithoutCarries) {
  const Literal out = EvaluateText(R"(
    f { x = f32[] parameter(0)
        ROOT r = f32[] negate(x) }
    ENTRY e { x = f32[3] constant({1,2,3})
              ROOT r = f32[3] scan(x), dimensions={0}, num_carries=0, to_apply=f })");
  EXPECT_EQ(out, LiteralUtil::CreateR1<float>({-1, -2, -3}));
}

// Along the inner dimension; the carry is as wide as a slice.
TEST(ScanTest, SlicesThatAreArrays) {
  const Literal out = EvaluateText(R"(
    f { x = f32[2] parameter(0)
        c = f32[2] parameter(1)
        s = f32[2] add(x, c)
        ROOT t = (f32[2], f32[2]) tuple(s, s) }
    ENTRY e { x = f32[2,3] constant({{1,2,3},{4,5,6}})
              c = f32[2] constant({10, 20})
              ROOT r = (f32[2,3], f32[2]) scan(x, c), dimensions={1}, num_carries=1, to_apply=f })");
  const Literal sums = LiteralUtil::CreateR2<float>({{11, 13, 16}, {24, 29, 35}});
  const Literal last = LiteralUtil::CreateR1<float>({16, 35});
  EXPECT_EQ(out, LiteralUtil::MakeTuple({&sums, &last}));
}

TEST(ScanTest, OfNothingKeepsTheCarry) {
  const Literal out = EvaluateText(R"(
    f { x = f32[] parameter(0)
        c = f32[] parameter(1)
        ROOT t = (f32[], f32[]) tuple(x, c) }
    ENTRY e { x = f32[0] constant({})
              c = f32[] constant(10)
              ROOT r = (f32[0], f32[]) scan(x, c), dimensions={0}, num_carries=1, to_apply=f })");
  EXPECT_EQ(out.Get<float>({}, {1}), 10);
}

}  // namespace
}  // namespace kashi::evaluator
