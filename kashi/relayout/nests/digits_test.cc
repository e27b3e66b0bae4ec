#include "kashi/relayout/nests/digits.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/index_map_oracle_testing.h"
#include "kashi/array/shape_parser.h"
#include "kashi/relayout/relayout_trial_testing.h"

namespace kashi::relayout {
namespace {

using testing::HasSubstr;

Placement Of(absl::string_view text) { return Placement::OfLayout(ParseShape(text).value()).value(); }
Digits MustDigitsOf(const Placement& placement) {
  const absl::StatusOr<Digits> digits = DigitsOf(placement);
  EXPECT_TRUE(digits.ok()) << digits.status() << " " << placement.ToString();
  return digits.value_or(Digits());
}

// "1*32 8*1024 in 20 to 24": step*stride of each digit, then the size of the array, and the room in memory.
std::string ToString(const DigitDimension& dimension) {
  std::string text;
  for (const Digit& digit : dimension.digits) absl::StrAppend(&text, digit.step, "*", digit.stride, " ");
  absl::StrAppend(&text, "in ", dimension.whole);
  if (dimension.padded != dimension.whole) absl::StrAppend(&text, " to ", dimension.padded);
  return text;
}
std::vector<std::string> ToStrings(const Digits& digits) {
  std::vector<std::string> texts;
  for (const DigitDimension& dimension : digits.dimensions) texts.push_back(ToString(dimension));
  return texts;
}

TEST(DigitsTest, OfLayouts) {
  const struct {
    const char* shape;
    std::vector<std::string> want;
  } kCases[] = {
      {"f32[]", {}},
      {"f32[5]", {"1*32 in 5"}},
      {"u8[3,5]", {"1*40 in 3", "1*8 in 5"}},
      {"u8[3,5]{0,1}", {"1*8 in 3", "1*24 in 5"}},
      {"s4[3,6]{1,0:E(4)}", {"1*24 in 3", "1*4 in 6"}},
      {"u8[20]{0:T(8)}", {"1*8 8*64 in 20 to 24"}},
      {"u8[20,300]{1,0:T(8,128)}", {"1*1024 8*24576 in 20 to 24", "1*8 128*8192 in 300 to 384"}},
      {"bf16[20,300]{1,0:T(8,128)(2,1)}", {"1*16 2*4096 8*49152 in 20 to 24", "1*32 128*16384 in 300 to 384"}},
      {"u8[5]{0:T(8)}", {"1*8 in 5 to 8"}},                      // one tile
      {"u8[20]{0:T(8)(4)}", {"1*8 4*32 8*64 in 20 to 24"}},      // nested
      {"u8[20]{0:T(2)(2,2)}", {"1*8 2*16 4*32 in 20"}},          // a tile over the count of tiles
      {"u8[6]{0:T(2)(2,2)}", {"1*8 2*16 4*32 in 6 to 8"}},       //
      {"u8[3]{0:T(2,4)}", {"1*8 in 3 to 4", "1*32 in 1 to 2"}},  // longer than the rank
      {"u8[]{:T(4)}", {"1*8 in 1 to 4"}},
      {"u8[1,1]", {"1*0 in 1", "1*0 in 1"}},
  };
  for (const auto& c : kCases)
    EXPECT_THAT(ToStrings(MustDigitsOf(Of(c.shape))), testing::ElementsAreArray(c.want)) << c.shape;
}

TEST(DigitsTest, OfStridesAndSlices) {
  const Placement strides = Placement::OfStrides(F32, {3, 4}, {-7, 100}).value();
  const Digits digits = MustDigitsOf(strides.Slice({1, 2}, {2, 1}).value());
  EXPECT_THAT(ToStrings(digits), testing::ElementsAre("1*-56 in 3", "1*800 in 4"));
  EXPECT_EQ(digits.dimensions[0].start, 1);
  EXPECT_EQ(digits.dimensions[0].size, 2);
  EXPECT_EQ(digits.dimensions[1].start, 2);
  EXPECT_EQ(digits.dimensions[1].size, 1);
  EXPECT_EQ(digits.slot_bits, 32);
}

TEST(DigitsTest, ThePrefixIsTheBase) { EXPECT_EQ(MustDigitsOf(Of("u8[4]{0:M(3)}")).base, 24); }

TEST(DigitsTest, RefusesWhatIsNoNumberSystem) {
  EXPECT_EQ(DigitsOf(Of("f32[9]{0:T(3)(2)}")).status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(DigitsOf(Of("f32[9]{0:T(3)(2)}")).status().message(),
              HasSubstr("a tile of 2 does not divide the tile of 3 around it"));
  EXPECT_THAT(DigitsOf(Of("f32[9,9]{1,0:T(*,4)}")).status().message(), HasSubstr("(*)"));
}

TEST(DigitsTest, StridesOfSeveralSteps) {
  const DigitDimension dimension = MustDigitsOf(Of("u8[96]{0:T(8)(4)(2)}")).dimensions[0];
  EXPECT_EQ(dimension.StrideOf(1), 8);
  EXPECT_EQ(dimension.StrideOf(2), 16);
  EXPECT_EQ(dimension.StrideOf(24), 3 * 64);
  EXPECT_EQ(dimension.OffsetOf(95), 95 * 8);
}

// If a layout is a number system, it is the right one.
TEST(DigitsTest, OffsetsAreThoseOfThePlacement) {
  std::mt19937 random(5);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  relayout_testing::TrialLimits limits;
  limits.max_elements = 300;
  int compared = 0;
  for (int i = 0; i < 3000; ++i) {
    const relayout_testing::Trial trial = relayout_testing::DrawTrial(pick, limits);
    const Placement placement = relayout_testing::PlacementOf(trial.to).value();
    const absl::StatusOr<Digits> digits = DigitsOf(placement);
    if (!digits.ok()) continue;
    ++compared;
    const std::vector<int64_t> sizes(placement.dimensions().begin(), placement.dimensions().end());
    ASSERT_GE(digits->dimensions.size(), sizes.size());
    std::vector<int64_t> index(sizes.size(), 0);
    for (int64_t left = array::index_map_oracle::Product(sizes); left > 0; --left) {
      int64_t offset = digits->base;
      for (size_t d = 0; d < sizes.size(); ++d) {
        const DigitDimension& dimension = digits->dimensions[d];
        offset += dimension.OffsetOf(dimension.start + index[d]);
      }
      ASSERT_EQ(offset, placement.BitOffset(index)) << placement.ToString();
      array::index_map_oracle::Bump(sizes, &index);
    }
  }
  EXPECT_GT(compared, 2000);
}

}  // namespace
}  // namespace kashi::relayout
