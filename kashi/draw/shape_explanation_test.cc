#include "kashi/draw/shape_explanation.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_parser.h"

namespace kashi::draw {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Explain(absl::string_view text) { return ExplainShape(ParseShape(text).value()); }

// The command's golden files hold whole explanations; here are the laws and the corners.
TEST(ShapeExplanationTest, PaddingAboveAQuarterBringsAdvice) {
  EXPECT_THAT(Explain("f32[128,2]{1,0:T(8,128)}"),
              HasSubstr("cheaper     another order  f32[128,2]{0,1:T(2,128)}  1 KiB, 64 times less\n"));
  EXPECT_THAT(Explain("f32[128,120]{1,0:T(8,128)}"), Not(HasSubstr("cheaper")));
}

TEST(ShapeExplanationTest, TellsWhatTilesDoToEachDimension) {
  const std::string text = Explain("s8[100,129]{1,0:T(32,128)(4,1)}");
  EXPECT_THAT(text, HasSubstr("T(32,128)  y 100 -> 4 x 32 (28 of padding),  x 129 -> 2 x 128 (127 of padding)"));
  EXPECT_THAT(text, HasSubstr("(4,1)     y%32 32 -> 8 x 4: packs 4 rows into each 32-bit word"));
}

TEST(ShapeExplanationTest, InvalidLayoutsAreExplainedAsFarAsTheyGo) {
  EXPECT_THAT(Explain("s32[2,3]{0,4}"),
              HasSubstr("layout      invalid: layout minor_to_major field has out-of-bounds"));
  EXPECT_THAT(Explain("s32[2]{0:T(0)}"), HasSubstr("invalid: layout has invalid tiles"));
  EXPECT_THAT(Explain("s32[2,3]{1,0:T(2,*)}"), HasSubstr("no positions in memory"));
  EXPECT_THAT(Explain("f32[9223372036854775807,9]"), HasSubstr("no positions in memory"));
}

TEST(ShapeExplanationTest, NumbersThatDoNotFitAreNotMultiplied) {
  EXPECT_THAT(Explain("s8[16,256]{1,0:T(83126)(*,1)}"), HasSubstr("on device"));
  EXPECT_THAT(Explain("f32[0,9223372036854775807]{1,0:T(8,5223372036854775807)}"),
              HasSubstr("x 9223372036854775807 -> 2 x 5223372036854775807 (1223372036854775807 of padding)"));
}

TEST(ShapeExplanationTest, HugeShapesAreCounted) {
  std::string tiles;
  for (int i = 0; i < 1000; ++i) tiles += "(2)";
  EXPECT_LT(Explain("f32[8]{0:T" + tiles + "}").size(), 10000);
  std::string stars;
  for (int i = 0; i < 100000; ++i) stars += "*,";
  EXPECT_THAT(Explain("f32[4]{0:T(" + stars + "2)}"), HasSubstr("1 level over 1 dimension\n"));
  std::string leaves;
  for (int i = 0; i < 1000; ++i) leaves += i == 0 ? "f32[]" : ",f32[]";
  EXPECT_THAT(Explain("(" + leaves + ")"), HasSubstr("... and 960 more"));
}

}  // namespace
}  // namespace kashi::draw
