#include "kashi/array/padding_advice.h"

#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/device_size.h"
#include "kashi/array/shape_parser.h"

namespace kashi::array {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "order SHAPE BYTES" and "tile SHAPE BYTES", cheapest first.
std::vector<std::string> Advice(absl::string_view text, std::optional<TpuGeneration> target = std::nullopt) {
  std::vector<std::string> lines;
  const std::vector<PaddingAdvice> all = AdviseOnPadding(ParseShape(text).value(), target).value();
  for (const PaddingAdvice& advice : all) {
    lines.push_back(absl::StrCat(advice.kind == PaddingAdvice::Kind::kTile ? "tile " : "order ",
                                 advice.shape.ToString(/*print_layout=*/true), " ", advice.bytes));
  }
  return lines;
}

// The famous one: 128 MB became 8 GB.
TEST(PaddingAdviceTest, MovesASmallDimensionOutOfTheTile) {
  EXPECT_THAT(Advice("f32[256,512,128,2]{3,2,1,0:T(8,128)}"),
              ElementsAre("order f32[256,512,128,2]{2,3,1,0:T(2,128)} 134217728"));
}

TEST(PaddingAdviceTest, ProposesOnlyTilesThatATpuWouldChoose) {
  EXPECT_THAT(Advice("f32[1000,3]{1,0:T(8,128)}"), ElementsAre("order f32[1000,3]{0,1:T(4,128)} 16384"));
  EXPECT_THAT(Advice("bf16[1000,3]{1,0:T(8,128)(2,1)}", TpuGeneration::kV2),
              ElementsAre("order bf16[1000,3]{0,1:T(4,128)(2,1)} 8192"));
  EXPECT_THAT(Advice("f32[1,1000]{0,1:T(8,128)}", TpuGeneration::kV5e),
              ElementsAre("order f32[1,1000]{1,0:T(1,128)} 4096"));
}

TEST(PaddingAdviceTest, ATileNobodyWouldChooseBringsAnother) {
  EXPECT_THAT(Advice("f32[2,128]{1,0:T(64,128)}"), ElementsAre("tile f32[2,128]{1,0:T(2,128)} 1024"));
}

TEST(PaddingAdviceTest, SaysNothingWhereNothingCostsLess) {
  EXPECT_THAT(Advice("f32[1024,1024]{1,0:T(8,128)}"), IsEmpty());
  EXPECT_THAT(Advice("f32[3,5]"), IsEmpty());
  EXPECT_FALSE(AdviseOnPadding(ParseShape("f32[?]").value()).ok());
}

// Law: a suggested shape has exactly the promised bytes, and fewer than before.
TEST(PaddingAdviceTest, PromisesAreKept) {
  for (const char* text :
       {"f32[7,1,3,5,2]{4,3,2,1,0:T(8,128)}", "s8[33,2,2]{2,1,0:T(32,128)(4,1)}", "f32[5]{0:T(1024)}",
        "s4[9,9,9]{0,1,2:T(64,128)(8,1)E(4)}", "bf16[2,3]{0,1:T(16,128)(2,1)S(1)}"}) {
    const Shape shape = ParseShape(text).value();
    const std::vector<PaddingAdvice> all = AdviseOnPadding(shape).value();
    EXPECT_FALSE(all.empty()) << text;
    for (const PaddingAdvice& advice : all) {
      EXPECT_EQ(GetDeviceSize(advice.shape)->bytes, advice.bytes);
      EXPECT_LT(advice.bytes, GetDeviceSize(shape)->bytes);
      EXPECT_EQ(advice.shape.layout().memory_space(), shape.layout().memory_space());
    }
  }
}

}  // namespace
}  // namespace kashi::array
