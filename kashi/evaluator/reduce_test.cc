#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(ReduceTest, FoldsFromInitInRowMajorOrder) {
  constexpr absl::string_view kText = R"(
    f { a = s32[] parameter(0)
        b = s32[] parameter(1)
        ten = s32[] constant(10)
        m = s32[] multiply(a, ten)
        ROOT r = s32[] add(m, b) }
    ENTRY e { x = s32[2,2] constant({{1,2},{3,4}})
              one = s32[] constant(1)
              ROOT r = s32[%s] reduce(x, one), dimensions={%s}, to_apply=f })";
  EXPECT_EQ(EvaluateText(absl::StrFormat(kText, "", "1,0")), LiteralUtil::CreateR0<int32_t>(11234));
  EXPECT_EQ(EvaluateText(absl::StrFormat(kText, "2", "0")), LiteralUtil::CreateR1<int32_t>({113, 124}));
  EXPECT_EQ(EvaluateText(absl::StrFormat(kText, "2", "1")), LiteralUtil::CreateR1<int32_t>({112, 134}));
}

TEST(ReduceTest, SumsInDoublePrecision) {
  const Literal sum = EvaluateText(R"(
    add { a = f32[] parameter(0)
          b = f32[] parameter(1)
          ROOT r = f32[] add(a, b) }
    ENTRY e { x = f32[3] constant({16777216, 1, 1})
              zero = f32[] constant(0)
              ROOT r = f32[] reduce(x, zero), dimensions={0}, to_apply=add })");
  EXPECT_EQ(sum, LiteralUtil::CreateR0<float>(16777218));
}

TEST(ReduceTest, MaximumKeepsNan) {
  const Literal max = EvaluateText(R"(
    max { a = f32[] parameter(0)
          b = f32[] parameter(1)
          ROOT r = f32[] maximum(a, b) }
    ENTRY e { x = f32[3] constant({1, nan, 2})
              zero = f32[] constant(-inf)
              ROOT r = f32[] reduce(x, zero), dimensions={0}, to_apply=max })");
  EXPECT_TRUE(std::isnan(max.Get<float>({})));
}

TEST(ReduceTest, NothingToReduceGivesInit) {
  const Literal sum = EvaluateText(R"(
    add { a = f32[] parameter(0)
          b = f32[] parameter(1)
          ROOT r = f32[] add(a, b) }
    ENTRY e { x = f32[2,0] constant({{},{}})
              three = f32[] constant(3)
              ROOT r = f32[2] reduce(x, three), dimensions={1}, to_apply=add })");
  EXPECT_EQ(sum, LiteralUtil::CreateR1<float>({3, 3}));
}

TEST(ReduceTest, NoDimensionsApplyTheFunctionOnce) {
  const Literal sum = EvaluateText(R"(
    add { a = f32[] parameter(0)
          b = f32[] parameter(1)
          ROOT r = f32[] add(a, b) }
    ENTRY e { x = f32[2] constant({1, 2})
              three = f32[] constant(3)
              ROOT r = f32[2] reduce(x, three), dimensions={}, to_apply=add })");
  EXPECT_EQ(sum, LiteralUtil::CreateR1<float>({4, 5}));
}

TEST(ReduceTest, NegativeZerosStay) {
  const Literal sum = EvaluateText(R"(
    add { a = f32[] parameter(0)
          b = f32[] parameter(1)
          ROOT r = f32[] add(a, b) }
    ENTRY e { x = f32[3] constant({-0.0, -0.0, -0.0})
              zero = f32[] constant(-0.0)
              ROOT r = f32[] reduce(x, zero), dimensions={0}, to_apply=add })");
  EXPECT_TRUE(std::signbit(sum.Get<float>({})));
}

// The index of the first largest element of each row, as JAX has it.
TEST(ReduceTest, ArgMax) {
  constexpr absl::string_view kText = R"(
    f { v0 = f32[] parameter(0)
        i0 = s32[] parameter(1)
        v1 = f32[] parameter(2)
        i1 = s32[] parameter(3)
        ge = pred[] compare(v0, v1), direction=GE
        v = f32[] select(ge, v0, v1)
        i = s32[] select(ge, i0, i1)
        ROOT t = (f32[], s32[]) tuple(v, i) }
    ENTRY e { x = f32[3,700] parameter(0)
              i = s32[3,700] parameter(1)
              v0 = f32[] constant(-inf)
              i0 = s32[] constant(-1)
              ROOT r = (f32[3], s32[3]) reduce(x, i, v0, i0), dimensions={1}, to_apply=f })";
  Literal x(ShapeUtil::MakeShape(F32, {3, 700}));
  for (int i = 0; i < 2100; ++i) x.data<float>()[i] = static_cast<float>(i * 37 % 611);
  Literal places(ShapeUtil::MakeShape(S32, {3, 700}));
  for (int i = 0; i < 2100; ++i) places.data<int32_t>()[i] = i % 700;
  const Literal result = EvaluateText(kText, std::vector<const Literal*>{&x, &places});
  for (int row = 0; row < 3; ++row) {
    const float* begin = x.data<float>().data() + 700 * row;
    const float* max = std::max_element(begin, begin + 700);
    EXPECT_EQ(result.Get<float>({row}, {0}), *max);
    EXPECT_EQ(result.Get<int32_t>({row}, {1}), max - begin);
  }
}

TEST(ReduceTest, ATupleOfOne) {
  const Literal sum = EvaluateText(R"(
    f { a = f32[] parameter(0)
        b = f32[] parameter(1)
        s = f32[] add(a, b)
        ROOT r = (f32[]) tuple(s) }
    ENTRY e { x = f32[2] constant({1, 2})
              zero = f32[] constant(0)
              ROOT r = (f32[]) reduce(x, zero), dimensions={0}, to_apply=f })");
  const Literal three = LiteralUtil::CreateR0<float>(3);
  EXPECT_EQ(sum, LiteralUtil::MakeTuple({&three}));
}

TEST(ReduceTest, AComputationWithALoopInIt) {
  const Literal result = EvaluateText(R"(
    more { s = (s32[], s32[]) parameter(0)
           n = s32[] get-tuple-element(s), index=0
           zero = s32[] constant(0)
           ROOT r = pred[] compare(n, zero), direction=GT }
    step { s = (s32[], s32[]) parameter(0)
           n = s32[] get-tuple-element(s), index=0
           v = s32[] get-tuple-element(s), index=1
           one = s32[] constant(1)
           n1 = s32[] subtract(n, one)
           v2 = s32[] add(v, v)
           ROOT t = (s32[], s32[]) tuple(n1, v2) }
    f { a = s32[] parameter(0)
        b = s32[] parameter(1)
        s = (s32[], s32[]) tuple(b, a)
        w = (s32[], s32[]) while(s), condition=more, body=step
        ROOT r = s32[] get-tuple-element(w), index=1 }
    ENTRY e { x = s32[2,3] constant({{1,2,3},{0,1,0}})
              one = s32[] constant(1)
              ROOT r = s32[2] reduce(x, one), dimensions={1}, to_apply=f })");
  EXPECT_EQ(result, LiteralUtil::CreateR1<int32_t>({64, 2}));
}

// ---- Against the definition, element by element, in shapes that go every way through reduce.cc.

struct ReduceCase {
  std::vector<int64_t> sizes, dimensions;
};

template <typename T, typename Accumulator, typename F>
std::vector<T> ReduceSlowly(const ReduceCase& c, absl::Span<const T> x, T init, F&& f) {
  int64_t outputs = 1;
  for (size_t i = 0; i < c.sizes.size(); ++i) {
    if (std::find(c.dimensions.begin(), c.dimensions.end(), i) == c.dimensions.end()) outputs *= c.sizes[i];
  }
  std::vector<Accumulator> accumulators(outputs, init);
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
    int64_t rest = i, output = 0, stride = 1;
    for (size_t d = c.sizes.size(); d-- > 0; rest /= c.sizes[d]) {
      if (std::find(c.dimensions.begin(), c.dimensions.end(), d) != c.dimensions.end()) continue;
      output += rest % c.sizes[d] * stride;
      stride *= c.sizes[d];
    }
    accumulators[output] = f(accumulators[output], x[i]);
  }
  return std::vector<T>(accumulators.begin(), accumulators.end());
}

std::string ReduceText(const ReduceCase& c, absl::string_view type, absl::string_view opcode) {
  std::vector<int64_t> kept;
  for (size_t i = 0; i < c.sizes.size(); ++i) {
    if (std::find(c.dimensions.begin(), c.dimensions.end(), i) == c.dimensions.end()) kept.push_back(c.sizes[i]);
  }
  return absl::StrFormat(R"(
    f { a = %1$s[] parameter(0)
        b = %1$s[] parameter(1)
        ROOT r = %1$s[] %2$s(a, b) }
    ENTRY e { x = %1$s[%3$s] parameter(0)
              i = %1$s[] parameter(1)
              ROOT r = %1$s[%4$s] reduce(x, i), dimensions={%5$s}, to_apply=f })",
                         type, opcode, absl::StrJoin(c.sizes, ","), absl::StrJoin(kept, ","),
                         absl::StrJoin(c.dimensions, ","));
}

const ReduceCase kReduceCases[] = {
    {{7}, {0}},
    {{200000}, {0}},
    {{300, 700}, {0}},
    {{300, 700}, {1}},
    {{300, 700}, {0, 1}},
    {{70000, 3}, {0}},
    {{70000, 3}, {1}},
    {{3, 70000}, {0}},
    {{5000, 40}, {1}},
    {{2, 9, 5000}, {1}},
    {{2, 70000, 2}, {1}},
    {{40, 1, 30, 20}, {1, 3}},
    {{40, 1, 30, 20}, {0, 2}},
    {{40, 30, 2, 20}, {1}},
    {{6, 5, 4, 3, 2, 3}, {0, 2, 4}},
    {{6, 5, 4, 3, 2, 3}, {1, 3, 5}},
    {{30, 2, 600, 3}, {0, 2}},
    {{3000, 2, 40}, {0, 2}},
    {{2, 3, 4}, {}},
};

TEST(ReduceTest, IsTheLeftFold) {
  std::mt19937 random(1);
  for (const ReduceCase& c : kReduceCases) {
    Literal x(ShapeUtil::MakeShape(F32, c.sizes));
    for (float& v : x.data<float>()) v = std::uniform_real_distribution<float>(-1, 1)(random);
    const Literal init = LiteralUtil::CreateR0<float>(0.5);
    const Literal out = EvaluateText(ReduceText(c, "f32", "subtract"), std::vector<const Literal*>{&x, &init});
    const auto expected = ReduceSlowly<float, float>(c, x.data<float>(), 0.5, [](float a, float b) { return a - b; });
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.data<float>().begin())) << absl::StrJoin(c.sizes, ",");
  }
}

TEST(ReduceTest, IntegersInAnyOrder) {
  std::mt19937 random(2);
  for (const ReduceCase& c : kReduceCases) {
    Literal x(ShapeUtil::MakeShape(S32, c.sizes));
    for (int32_t& v : x.data<int32_t>()) v = random();
    const Literal init = LiteralUtil::CreateR0<int32_t>(5);
    const std::vector<const Literal*> arguments = {&x, &init};
    const auto check = [&](absl::string_view opcode, auto f) {
      const Literal out = EvaluateText(ReduceText(c, "s32", opcode), arguments);
      const auto expected = ReduceSlowly<int32_t, int32_t>(c, x.data<int32_t>(), 5, f);
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.data<int32_t>().begin()))
          << opcode << " " << absl::StrJoin(c.sizes, ",");
    };
    check("add", [](uint32_t a, uint32_t b) { return a + b; });
    check("multiply", [](uint32_t a, uint32_t b) { return a * b; });
    check("minimum", [](int32_t a, int32_t b) { return std::min(a, b); });
    check("xor", [](int32_t a, int32_t b) { return a ^ b; });
  }
}

TEST(ReduceTest, SumsAndExtremesOfReals) {
  std::mt19937 random(3);
  for (const ReduceCase& c : kReduceCases) {
    Literal x(ShapeUtil::MakeShape(F32, c.sizes));
    // Multiples of 1/1024, so that every order gives the same in f64.
    for (float& v : x.data<float>()) v = static_cast<float>(static_cast<int32_t>(random()) >> 8) / 1024;
    const Literal init = LiteralUtil::CreateR0<float>(0.25);
    const std::vector<const Literal*> arguments = {&x, &init};
    const Literal sum = EvaluateText(ReduceText(c, "f32", "add"), arguments);
    const auto expected_sum =
        ReduceSlowly<float, double>(c, x.data<float>(), 0.25, [](double a, float b) { return a + b; });
    EXPECT_TRUE(std::equal(expected_sum.begin(), expected_sum.end(), sum.data<float>().begin()))
        << absl::StrJoin(c.sizes, ",");
    const Literal max = EvaluateText(ReduceText(c, "f32", "maximum"), arguments);
    const auto expected_max =
        ReduceSlowly<float, float>(c, x.data<float>(), 0.25, [](float a, float b) { return std::max(a, b); });
    EXPECT_TRUE(std::equal(expected_max.begin(), expected_max.end(), max.data<float>().begin()))
        << absl::StrJoin(c.sizes, ",");
  }
}

TEST(ReduceTest, NarrowSumsRoundOnce) {
  const ReduceCase c = {{70000}, {0}};
  Literal x(ShapeUtil::MakeShape(BF16, c.sizes));
  for (bfloat16& v : x.data<bfloat16>()) v = bfloat16(1.0f);
  const Literal init = LiteralUtil::CreateR0<bfloat16>(bfloat16(0.0f));
  const Literal sum = EvaluateText(ReduceText(c, "bf16", "add"), std::vector<const Literal*>{&x, &init});
  EXPECT_EQ(sum.Get<bfloat16>({}), bfloat16(70000.0f));
}

TEST(ReduceTest, PredicatesAndBits) {
  const ReduceCase c = {{3, 100}, {1}};
  Literal x(ShapeUtil::MakeShape(PRED, c.sizes));
  for (int i = 0; i < 300; ++i) x.data<bool>()[i] = i != 57;
  const Literal t = LiteralUtil::CreateR0<bool>(true), f = LiteralUtil::CreateR0<bool>(false);
  EXPECT_EQ(EvaluateText(ReduceText(c, "pred", "and"), std::vector<const Literal*>{&x, &t}),
            LiteralUtil::CreateR1<bool>({false, true, true}));
  EXPECT_EQ(EvaluateText(ReduceText(c, "pred", "or"), std::vector<const Literal*>{&x, &f}),
            LiteralUtil::CreateR1<bool>({true, true, true}));
}

TEST(ReduceTest, NanComesFromAnywhere) {
  const ReduceCase c = {{100000}, {0}};
  Literal x(ShapeUtil::MakeShape(F32, c.sizes));
  const Literal init = LiteralUtil::CreateR0<float>(0);
  for (int place : {0, 511, 65536, 99999}) {
    for (float& v : x.data<float>()) v = 1;
    x.data<float>()[place] = kNan;
    const Literal min = EvaluateText(ReduceText(c, "f32", "minimum"), std::vector<const Literal*>{&x, &init});
    EXPECT_TRUE(std::isnan(min.Get<float>({}))) << place;
  }
}

TEST(MapTest, AppliesItsComputationToEachElement) {
  const Literal out = EvaluateText(R"(
    f { a = f32[] parameter(0)
        b = f32[] parameter(1)
        c = f32[] constant(10)
        m = f32[] multiply(a, c)
        ROOT r = f32[] add(m, b) }
    ENTRY e { x = f32[2,2] constant({{1,2},{3,4}})
              y = f32[2,2] constant({{5,6},{7,8}})
              ROOT r = f32[2,2] map(x, y), dimensions={0,1}, to_apply=f })");
  EXPECT_EQ(out, LiteralUtil::CreateR2<float>({{15, 26}, {37, 48}}));
}

TEST(MapTest, ToAnotherType) {
  const Literal out = EvaluateText(R"(
    f { a = f32[] parameter(0)
        zero = f32[] constant(0)
        ROOT r = pred[] compare(a, zero), direction=GT }
    ENTRY e { x = f32[3] constant({1,-2,3})
              ROOT r = pred[3] map(x), dimensions={0}, to_apply=f })");
  EXPECT_EQ(out, LiteralUtil::CreateR1<bool>({true, false, true}));
}

}  // namespace
}  // namespace kashi::evaluator
