#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

std::string Text(absl::string_view x, absl::string_view source, absl::string_view result, absl::string_view window,
                 absl::string_view direction = "GE", absl::string_view init = "0",
                 absl::string_view scatter = "ROOT r = f32[] add(a, b)") {
  return absl::StrFormat(R"(
    sel { a = f32[] parameter(0)
          b = f32[] parameter(1)
          ROOT r = pred[] compare(a, b), direction=%s }
    sc { a = f32[] parameter(0)
         b = f32[] parameter(1)
         ten = f32[] constant(10)
         %s }
    ENTRY e { x = %s
              s = %s
              init = f32[] constant(%s)
              ROOT r = %s select-and-scatter(x, s, init), window={%s}, select=sel, scatter=sc })",
                         direction, scatter, x, source, init, result, window);
}

// docs/spec/hlo-ops.md, 15.
TEST(SelectAndScatterTest, FirstOrLastOfEquals) {
  const absl::string_view x = "f32[6] constant({1,1,2,1,nan,3})", s = "f32[3] constant({10,20,30})";
  EXPECT_EQ(EvaluateText(Text(x, s, "f32[6]", "size=2 stride=2")), LiteralUtil::CreateR1<float>({10, 0, 20, 0, 0, 30}));
  EXPECT_EQ(EvaluateText(Text(x, s, "f32[6]", "size=2 stride=2", "GT")),
            LiteralUtil::CreateR1<float>({0, 10, 20, 0, 0, 30}));
}

TEST(SelectAndScatterTest, OverlappingWindows) {
  EXPECT_EQ(EvaluateText(Text("f32[4] constant({-5,-7,-1,-2})", "f32[4] constant({1,2,3,4})", "f32[4]",
                              "size=3 pad=1_1", "GE", "0.5")),
            LiteralUtil::CreateR1<float>({1.5, 0.5, 9.5, 0.5}));
}

TEST(SelectAndScatterTest, AWindowInThePaddingSelectsNothing) {
  EXPECT_EQ(EvaluateText(Text("f32[2] constant({1,2})", "f32[4] constant({1,2,3,4})", "f32[2]", "size=1 pad=1_1")),
            LiteralUtil::CreateR1<float>({2, 3}));
}

TEST(SelectAndScatterTest, ScattersInOrderWithTheResultFirst) {
  EXPECT_EQ(EvaluateText(Text("f32[3] constant({1,9,2})", "f32[3] constant({1,2,3})", "f32[3]", "size=3 pad=1_1", "GE",
                              "7", "m = f32[] multiply(a, ten)\n ROOT r = f32[] add(m, b)")),
            LiteralUtil::CreateR1<float>({7, 7123, 7}));
}

TEST(SelectAndScatterTest, Dilations) {
  EXPECT_EQ(
      EvaluateText(Text("f32[3] constant({3,1,2})", "f32[4] constant({1,2,3,4})", "f32[3]", "size=2 lhs_dilate=2")),
      LiteralUtil::CreateR1<float>({1, 2 + 3, 4}));
  EXPECT_EQ(EvaluateText(Text("f32[4] constant({3,1,2,5})", "f32[2] constant({1,2})", "f32[4]", "size=2 rhs_dilate=2")),
            LiteralUtil::CreateR1<float>({1, 0, 0, 2}));
}

// The gradient of max pooling, in the layouts of images.
TEST(SelectAndScatterTest, AgreesWithItsDefinition) {
  std::mt19937 random(5);
  for (const bool channels_last : {false, true}) {
    const int64_t n = 3, c = 5, h = 9, w = 11, oh = 5, ow = 6;
    const std::vector<int64_t> x_sizes =
        channels_last ? std::vector<int64_t>{n, h, w, c} : std::vector<int64_t>{n, c, h, w};
    const std::vector<int64_t> s_sizes =
        channels_last ? std::vector<int64_t>{n, oh, ow, c} : std::vector<int64_t>{n, c, oh, ow};
    Literal x(ShapeUtil::MakeShape(F32, x_sizes)), s(ShapeUtil::MakeShape(F32, s_sizes));
    for (float& v : x.data<float>()) v = random() % 8;
    for (float& v : s.data<float>()) v = random() % 100;
    const auto at = [&](int64_t in, int64_t ic, int64_t iy, int64_t ix) {
      return channels_last ? std::vector<int64_t>{in, iy, ix, ic} : std::vector<int64_t>{in, ic, iy, ix};
    };
    Literal expected(ShapeUtil::MakeShape(F32, x_sizes));
    for (float& v : expected.data<float>()) v = 0;
    for (int64_t in = 0; in < n; ++in) {
      for (int64_t ic = 0; ic < c; ++ic) {
        for (int64_t oy = 0; oy < oh; ++oy) {
          for (int64_t ox = 0; ox < ow; ++ox) {
            std::vector<int64_t> best;
            for (int64_t iy = 2 * oy - 1; iy < 2 * oy + 2; ++iy) {
              for (int64_t ix = 2 * ox - 1; ix < 2 * ox + 2; ++ix) {
                if (iy < 0 || iy >= h || ix < 0 || ix >= w) continue;
                const std::vector<int64_t> i = at(in, ic, iy, ix);
                if (best.empty() || x.Get<float>(i) > x.Get<float>(best)) best = i;
              }
            }
            expected.Set<float>(best, expected.Get<float>(best) + s.Get<float>(at(in, ic, oy, ox)));
          }
        }
      }
    }
    const std::string text = channels_last ? Text("f32[3,9,11,5] parameter(0)", "f32[3,5,6,5] parameter(1)",
                                                  "f32[3,9,11,5]", "size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x1_1x0_0")
                                           : Text("f32[3,5,9,11] parameter(0)", "f32[3,5,5,6] parameter(1)",
                                                  "f32[3,5,9,11]", "size=1x1x3x3 stride=1x1x2x2 pad=0_0x0_0x1_1x1_1");
    EXPECT_EQ(EvaluateText(text, std::vector<const Literal*>{&x, &s}), expected);
  }
}

}  // namespace
}  // namespace kashi::evaluator
