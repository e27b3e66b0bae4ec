#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/hlo/attributes/window_util.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

// f(a, b) = 10 a + b tells the order of the elements.
constexpr absl::string_view kDigits = R"(
    f { a = s32[] parameter(0)
        b = s32[] parameter(1)
        ten = s32[] constant(10)
        m = s32[] multiply(a, ten)
        ROOT r = s32[] add(m, b) })";

Literal Digits(absl::string_view operand, absl::string_view result, absl::string_view window) {
  return EvaluateText(absl::StrFormat(R"(%s
    ENTRY e { x = %s
              one = s32[] constant(1)
              ROOT r = %s reduce-window(x, one), window={%s}, to_apply=f })",
                                      kDigits, operand, result, window));
}

TEST(ReduceWindowTest, PaddingNeverCallsTheComputation) {
  EXPECT_EQ(Digits("s32[4] constant({1,2,3,4})", "s32[5]", "size=2 pad=1_1"),
            LiteralUtil::CreateR1<int32_t>({11, 112, 123, 134, 14}));
  EXPECT_EQ(Digits("s32[4] constant({1,2,3,4})", "s32[1]", "size=2 pad=-1_-1"), LiteralUtil::CreateR1<int32_t>({123}));
  EXPECT_EQ(Digits("s32[2] constant({1,2})", "s32[4]", "size=1 pad=1_1"),
            LiteralUtil::CreateR1<int32_t>({1, 11, 12, 1}));
}

TEST(ReduceWindowTest, Dilations) {
  EXPECT_EQ(Digits("s32[3] constant({1,2,3})", "s32[3]", "size=3 lhs_dilate=2"),
            LiteralUtil::CreateR1<int32_t>({112, 12, 123}));
  EXPECT_EQ(Digits("s32[5] constant({1,2,3,4,5})", "s32[3]", "size=2 rhs_dilate=2"),
            LiteralUtil::CreateR1<int32_t>({113, 124, 135}));
  EXPECT_EQ(Digits("s32[2,2] constant({{1,2},{3,4}})", "s32[1,1]", "size=2x2"),
            LiteralUtil::CreateR2<int32_t>({{11234}}));
}

TEST(ReduceWindowTest, ArgMax) {
  const Literal out = EvaluateText(R"(
    f { v0 = f32[] parameter(0)
        i0 = s32[] parameter(1)
        v1 = f32[] parameter(2)
        i1 = s32[] parameter(3)
        ge = pred[] compare(v0, v1), direction=GE
        v = f32[] select(ge, v0, v1)
        i = s32[] select(ge, i0, i1)
        ROOT t = (f32[], s32[]) tuple(v, i) }
    ENTRY e { x = f32[4] constant({1,2,2,0})
              i = s32[4] constant({0,1,2,3})
              v0 = f32[] constant(-inf)
              i0 = s32[] constant(-1)
              ROOT r = (f32[4], s32[4]) reduce-window(x, i, v0, i0), window={size=2 pad=0_1}, to_apply=f })");
  const Literal values = LiteralUtil::CreateR1<float>({2, 2, 2, 0});
  const Literal indices = LiteralUtil::CreateR1<int32_t>({1, 1, 2, 3});
  EXPECT_EQ(out, LiteralUtil::MakeTuple({&values, &indices}));
}

TEST(ReduceWindowTest, OfAScalar) {
  EXPECT_EQ(Digits("s32[] constant(7)", "s32[]", ""), LiteralUtil::CreateR0<int32_t>(17));
}

// ---- Against the definition.

struct WindowCase {
  std::vector<int64_t> sizes;
  std::string window;
};

const WindowCase kWindowCases[] = {
    {{9}, "size=3"},
    {{9}, "size=3 stride=2"},
    {{9}, "size=9 pad=8_0"},
    {{5000}, "size=5000 pad=4999_0"},
    // Cumulative: from the front, from the back; more and fewer outputs than inputs.
    {{9}, "size=9 pad=0_8"},
    {{600}, "size=600 pad=0_599"},
    {{9}, "size=20 pad=19_3"},
    {{9}, "size=20 pad=3_18"},
    {{9}, "size=9 stride=2 pad=8_0"},
    {{9}, "size=30 stride=3 pad=20_8 lhs_dilate=2"},
    {{9}, "size=30 stride=3 pad=3_29 lhs_dilate=2"},
    {{3, 40}, "size=1x40 pad=0_0x39_0"},
    {{3, 40}, "size=1x40 pad=0_0x0_39"},
    {{40, 3}, "size=40x1 pad=0_39x0_0"},
    {{3, 40, 20}, "size=1x40x1 pad=0_0x39_0x0_0"},
    {{2, 9, 700}, "size=1x9x1 pad=0_0x0_8x0_0"},
    {{6, 7}, "size=6x7 pad=5_0x6_0"},
    {{6, 7}, "size=6x7 pad=0_5x6_0"},
    // More offsets than elements.
    {{3}, "size=2000 stride=1 pad=5_700 lhs_dilate=700"},
    {{3, 5}, "size=2000x3 stride=7x1 pad=5_700x1_0 lhs_dilate=700x1"},
    {{5}, "size=1200 stride=6 pad=20_7000 lhs_dilate=300 rhs_dilate=4"},
    {{9000}, "size=4 stride=3 pad=2_5"},
    {{9}, "size=3 stride=2 pad=-1_3 lhs_dilate=3"},
    {{9}, "size=4 stride=3 pad=2_3 lhs_dilate=2 rhs_dilate=2"},
    {{30}, "size=4 pad=7_3 lhs_dilate=3 rhs_dilate=5"},
    {{30}, "size=4 stride=4 pad=7_3 lhs_dilate=6 rhs_dilate=9"},
    {{6, 7}, "size=3x2 pad=1_1x0_1"},
    {{3, 6, 7, 5}, "size=1x3x2x1 stride=1x2x2x1 pad=0_0x1_1x0_1x0_0"},
    {{3, 6, 7, 50}, "size=1x3x2x1 stride=1x2x2x1 pad=0_0x1_1x0_1x0_0"},
    {{2, 3, 28, 28}, "size=1x1x2x2 stride=1x1x2x2"},
    {{8, 9, 7, 7}, "size=1x1x7x7"},
    {{8, 9, 7, 7}, "size=1x1x3x3 stride=1x1x2x2 pad=0_0x0_0x1_1x1_1"},
    {{80, 4, 3}, "size=1x2x1 stride=1x2x1"},
    {{40, 3}, "size=40x1 pad=39_0x0_0"},
    {{4, 3000}, "size=3x1 pad=1_1x0_0"},
    {{5, 4, 3000}, "size=1x3x1 stride=1x2x1 pad=0_0x1_1x0_0"},
    {{2, 20, 3, 4}, "size=1x4x2x3 stride=1x3x1x2 pad=0_0x2_-1x1_0x-1_2 lhs_dilate=1x2x3x1 rhs_dilate=1x1x2x2"},
    {{3, 1, 4}, "size=1x5x1 pad=0_0x2_2x0_0"},
    {{7, 6}, "size=1x1"},
    {{3}, "size=40 stride=3 pad=30_31"},
    {{3}, "size=30 stride=2 pad=20_60 lhs_dilate=5 rhs_dilate=3"},
    {{4}, "size=30 stride=4 pad=60_9 lhs_dilate=3 rhs_dilate=2"},
    {{2, 3, 50}, "size=2x30x1 stride=1x3x1 pad=1_0x20_21x0_0 rhs_dilate=1x2x1"},
};

int64_t OutputSize(int64_t n, const WindowDimension& d) {
  const int64_t padded = d.padding_low() + window_util::DilatedBound(n, d.base_dilation()) + d.padding_high();
  return window_util::StridedBound(padded, window_util::DilatedBound(d.size(), d.window_dilation()), d.stride());
}

// The next index in row-major order; false behind the last.
bool Next(std::vector<int64_t>& index, absl::Span<const int64_t> bounds) {
  for (size_t d = index.size(); d-- > 0;) {
    if (++index[d] < bounds[d]) return true;
    index[d] = 0;
  }
  return false;
}

TEST(ReduceWindowTest, AgreesWithItsDefinition) {
  std::mt19937 random(4);
  for (const WindowCase& c : kWindowCases) {
    SCOPED_TRACE(absl::StrCat(absl::StrJoin(c.sizes, ","), " ", c.window));
    absl::StatusOr<Window> window = ParseWindow(c.window);
    ASSERT_TRUE(window.ok());
    std::vector<int64_t> outputs, sizes;
    for (size_t d = 0; d < c.sizes.size(); ++d) {
      outputs.push_back(OutputSize(c.sizes[d], window->dimensions(d)));
      sizes.push_back(window->dimensions(d).size());
    }
    Literal x(ShapeUtil::MakeShape(S32, c.sizes));
    for (int32_t& v : x.data<int32_t>()) v = random() % 1000;
    const auto evaluate = [&](absl::string_view body) {
      return EvaluateText(absl::StrFormat(R"(
        f { a = s32[] parameter(0)
            b = s32[] parameter(1)
            three = s32[] constant(3)
            %s }
        ENTRY e { x = s32[%s] parameter(0)
                  one = s32[] constant(1)
                  ROOT r = s32[%s] reduce-window(x, one), window={%s}, to_apply=f })",
                                          body, absl::StrJoin(c.sizes, ","), absl::StrJoin(outputs, ","), c.window),
                          std::vector<const Literal*>{&x});
    };
    const Literal ordered = evaluate("m = s32[] multiply(a, three)\n ROOT r = s32[] add(m, b)");
    const Literal sum = evaluate("ROOT r = s32[] add(a, b)");
    if (ordered.element_count() == 0) continue;  // no window fits
    std::vector<int64_t> o(outputs.size());
    do {
      uint32_t expected = 1, expected_sum = 1;
      std::vector<int64_t> w(o.size()), i(o.size());
      do {
        bool is_in = true;
        for (size_t d = 0; d < o.size(); ++d) {
          const WindowDimension& dimension = window->dimensions(d);
          i[d] = o[d] * dimension.stride() + w[d] * dimension.window_dilation() - dimension.padding_low();
          is_in &= i[d] % dimension.base_dilation() == 0;
          i[d] /= dimension.base_dilation();
          is_in &= i[d] >= 0 && i[d] < c.sizes[d];
        }
        if (!is_in) continue;
        expected = expected * 3 + x.Get<int32_t>(i);
        expected_sum += x.Get<int32_t>(i);
      } while (Next(w, sizes));
      ASSERT_EQ(static_cast<uint32_t>(ordered.Get<int32_t>(o)), expected) << absl::StrJoin(o, ",");
      ASSERT_EQ(static_cast<uint32_t>(sum.Get<int32_t>(o)), expected_sum) << absl::StrJoin(o, ",");
    } while (Next(o, outputs));
  }
}

TEST(ReduceWindowTest, MixedPrecisionAccumulatesInTheTypeOfTheComputation) {
  const Literal out = EvaluateText(R"(
    add { a = f32[] parameter(0)
          b = f32[] parameter(1)
          ROOT r = f32[] add(a, b) }
    ENTRY e { x = bf16[3] constant({256, 1, 1})
              zero = f32[] constant(0)
              ROOT r = f32[1] reduce-window(x, zero), window={size=3}, to_apply=add })");
  EXPECT_EQ(out, LiteralUtil::CreateR1<float>({258}));
}

TEST(ReduceWindowTest, CumulativeWindowsContinueInOrderForAnyComputation) {
  EXPECT_EQ(Digits("s32[4] constant({1,2,3,4})", "s32[4]", "size=4 pad=3_0"),
            LiteralUtil::CreateR1<int32_t>({11, 112, 1123, 11234}));
  EXPECT_EQ(Digits("s32[4] constant({1,2,3,4})", "s32[4]", "size=4 pad=0_3"),
            LiteralUtil::CreateR1<int32_t>({11234, 1234, 134, 14}));
}

// A quadratic one would take hours.
TEST(ReduceWindowTest, CumulativeWindowsAreLinear) {
  constexpr int64_t kSize = 1 << 20;
  Literal x(ShapeUtil::MakeShape(S32, {kSize}));
  for (int32_t& v : x.data<int32_t>()) v = 3;
  for (const bool is_reverse : {false, true}) {
    const Literal sums = EvaluateText(absl::StrFormat(R"(
      add { a = s32[] parameter(0)
            b = s32[] parameter(1)
            ROOT r = s32[] add(a, b) }
      ENTRY e { x = s32[1048576] parameter(0)
                zero = s32[] constant(0)
                ROOT r = s32[1048576] reduce-window(x, zero), window={size=1048576 pad=%s}, to_apply=add })",
                                                      is_reverse ? "0_1048575" : "1048575_0"),
                                      std::vector<const Literal*>{&x});
    ASSERT_EQ(sums.element_count(), kSize);
    for (int64_t i = 0; i < kSize; ++i) {
      ASSERT_EQ(sums.data<int32_t>()[i], 3 * (is_reverse ? kSize - i : i + 1)) << i;
    }
  }
}

// The windows have 2^39 and more offsets, of which a handful meet an element.
TEST(ReduceWindowTest, OffsetsThatMeetNothingCostNothing) {
  EXPECT_EQ(Digits("s32[3] constant({1,2,3})", "s32[1]", "size=600000000003 pad=0_2 lhs_dilate=300000000000"),
            LiteralUtil::CreateR1<int32_t>({1123}));
  EXPECT_EQ(Digits("s32[3] constant({1,2,3})", "s32[2]", "size=1099511627776 pad=1099511627773_1"),
            LiteralUtil::CreateR1<int32_t>({1123, 1123}));
  EXPECT_EQ(Digits("s32[3] constant({1,2,3})", "s32[2]",
                   "size=400000000000 stride=100000000000 pad=-2_0 lhs_dilate=300000000000"),
            LiteralUtil::CreateR1<int32_t>({12, 12}));
  EXPECT_EQ(
      Digits("s32[3] constant({1,2,3})", "s32[3]", "size=3 pad=300000000000_300000000000 rhs_dilate=300000000000"),
      LiteralUtil::CreateR1<int32_t>({11, 12, 13}));
}

TEST(ReduceWindowTest, CanBeCancelledBetweenElements) {
  std::atomic<bool> cancelled{false};
  EvaluationOptions options;
  options.cancelled = &cancelled;
  std::thread impatience([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    cancelled = true;
  });
  const Literal x(ShapeUtil::MakeShape(F32, {1 << 22}));
  const absl::StatusOr<Literal> out = TryEvaluateText(R"(
    add { a = f32[] parameter(0)
          b = f32[] parameter(1)
          ROOT r = f32[] add(a, b) }
    ENTRY e { x = f32[4194304] parameter(0)
              zero = f32[] constant(0)
              ROOT r = f32[2097153] reduce-window(x, zero), window={size=2097152}, to_apply=add })",
                                                      {&x}, options);
  impatience.join();
  EXPECT_TRUE(absl::IsCancelled(out.status())) << out.status();
}

}  // namespace
}  // namespace kashi::evaluator
