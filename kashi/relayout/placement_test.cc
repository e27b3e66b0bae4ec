#include "kashi/relayout/placement.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/index_map_oracle_testing.h"
#include "kashi/array/shape_parser.h"
#include "kashi/array/shape_util.h"

namespace kashi::relayout {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

absl::StatusOr<Placement> OfText(absl::string_view text) { return Placement::OfLayout(ParseShape(text).value()); }
Placement MustOfText(absl::string_view text) { return OfText(text).value(); }
std::string ErrorOf(const absl::StatusOr<Placement>& placement) {
  if (placement.ok()) return "no error";
  EXPECT_EQ(placement.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(placement.status().message());
}

// --------------------------------------------------------------------------------------------------------------
// layouts

TEST(PlacementTest, OfLayout) {
  const Placement placement = MustOfText("bf16[20,300]{1,0:T(8,128)(2,1)}");
  EXPECT_EQ(placement.element_type(), BF16);
  EXPECT_THAT(placement.dimensions(), ElementsAre(20, 300));
  EXPECT_THAT(placement.starts(), ElementsAre(0, 0));
  EXPECT_TRUE(placement.has_layout());
  EXPECT_TRUE(placement.is_whole_buffer());
  EXPECT_EQ(placement.slot_bits(), 16);
  EXPECT_EQ(placement.BitOffset({0, 0}), 0);
  EXPECT_EQ(placement.BitOffset({1, 0}), 16);        // (2,1): two rows are interleaved
  EXPECT_EQ(placement.BitOffset({0, 1}), 32);        //
  EXPECT_EQ(placement.BitOffset({2, 0}), 256 * 16);  //
  EXPECT_EQ(placement.BitOffset({0, 128}), 1024 * 16);
  EXPECT_EQ(placement.BitOffset({8, 0}), 3 * 1024 * 16);
  EXPECT_EQ(placement.ToString(), "bf16[20,300]{1,0:T(8,128)(2,1)}");
}

TEST(PlacementTest, SlotsArePackedWhereTheLayoutSaysSo) {
  EXPECT_EQ(MustOfText("s4[8]").slot_bits(), 8);
  EXPECT_EQ(MustOfText("s4[8]{0:E(4)}").slot_bits(), 4);
  EXPECT_EQ(MustOfText("s4[8]{0:E(4)}").BitOffset({3}), 12);
  EXPECT_EQ(MustOfText("u1[8]{0:E(1)}").BitOffset({7}), 7);
  EXPECT_EQ(MustOfText("pred[8]").slot_bits(), 8);
  EXPECT_EQ(MustOfText("f32[8]{0:E(64)}").BitOffset({2}), 128);
  EXPECT_THAT(ErrorOf(OfText("s4[8]{0:E(2)}")), HasSubstr("an element of 4 bits has no room in 2"));
  EXPECT_THAT(ErrorOf(OfText("f32[8]{0:E(16)}")), HasSubstr("has no room in 16"));
}

TEST(PlacementTest, ThePrefixIsInFront) {
  EXPECT_EQ(MustOfText("f32[4]{0:M(8)}").BitOffset({1}), 8 * (8 + 4));
  EXPECT_EQ(MustOfText("s4[4]{0:E(4)M(3)}").BitOffset({1}), 8 * 3 + 4);
}

TEST(PlacementTest, EveryOffsetIsThatOfTheFormula) {
  for (const char* text :
       {"f32[]", "f32[5,7]", "u8[5,7]{0,1}", "f32[3,5,9]{1,2,0:T(2,4)}", "s4[9,9]{0,1:T(4,4)(2,1)E(4)}",
        "f64[7,5]{1,0:T(3)(2)}", "c128[3,5,2]{2,1,0:T(*,4)}", "u2[7,3]{1,0:T(2,2,2,2)L(100)E(2)}"}) {
    const Shape shape = ParseShape(text).value();
    const Placement placement = Placement::OfLayout(shape).value();
    const std::vector<int64_t> sizes(shape.dimensions().begin(), shape.dimensions().end());
    std::vector<int64_t> index(sizes.size(), 0);
    for (int64_t i = ShapeUtil::ElementsIn(shape); i > 0; --i) {
      EXPECT_EQ(placement.BitOffset(index), array::index_map_oracle::MapIndex(shape, index) * placement.slot_bits())
          << text;
      array::index_map_oracle::Bump(sizes, &index);
    }
  }
}

TEST(PlacementTest, RefusesWhatHasNoPositions) {
  EXPECT_THAT(ErrorOf(OfText("(f32[2])")), HasSubstr("only an array"));
  EXPECT_THAT(ErrorOf(OfText("token[]")), HasSubstr("only an array"));
  EXPECT_THAT(ErrorOf(OfText("f32[?]")), HasSubstr("unbounded"));
  EXPECT_THAT(ErrorOf(OfText("f32[2,3]{1,1}")), HasSubstr("duplicate"));
  EXPECT_THAT(ErrorOf(OfText("f32[4294967296,4294967296]")), HasSubstr("63 bits"));
  EXPECT_THAT(ErrorOf(OfText("s8[1152921504606846975]")), HasSubstr("2^57 bytes"));
  EXPECT_THAT(ErrorOf(OfText("f32[3]{0:M(1152921504606846975)}")), HasSubstr("2^57 bytes"));
  Shape no_layout = ShapeUtil::MakeShape(F32, {2});
  no_layout.clear_layout();
  EXPECT_THAT(ErrorOf(Placement::OfLayout(no_layout)), HasSubstr("does not have a layout"));
}

// A buffer lies in memory as its array does.
TEST(PlacementTest, OfABuffer) {
  const absl::StatusOr<Shape> buffer = ParseShape("b(f32[2,3]{0,1})");
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  const absl::StatusOr<Placement> placement = Placement::OfLayout(*buffer);
  if (!placement.ok()) {  // may be refused, but must not end the process
    EXPECT_EQ(placement.status().code(), absl::StatusCode::kInvalidArgument);
    return;
  }
  EXPECT_EQ(placement->element_type(), F32);
  EXPECT_THAT(placement->dimensions(), ElementsAre(2, 3));
  EXPECT_EQ(placement->BitOffset({1, 1}), 3 * 32);
}

TEST(PlacementTest, BoundedDimensionsCountWithTheirBound) {
  EXPECT_THAT(MustOfText("f32[<=5,3]").dimensions(), ElementsAre(5, 3));
}

// --------------------------------------------------------------------------------------------------------------
// strides

TEST(PlacementTest, OfStrides) {
  const Placement placement = Placement::OfStrides(F32, {3, 4}, {4, -13}).value();
  EXPECT_FALSE(placement.has_layout());
  EXPECT_FALSE(placement.is_whole_buffer());
  EXPECT_EQ(placement.slot_bits(), 32);
  EXPECT_THAT(placement.byte_strides(), ElementsAre(4, -13));
  EXPECT_EQ(placement.BitOffset({0, 0}), 0);
  EXPECT_EQ(placement.BitOffset({2, 3}), 8 * (2 * 4 - 3 * 13));
  EXPECT_EQ(placement.ToString(), "f32[3,4] by strides 4,-13");
  EXPECT_EQ(Placement::OfStrides(S4, {2}, {0})->slot_bits(), 8);
  EXPECT_THAT(Placement::OfStrides(C128, {}, {})->dimensions(), IsEmpty());
}

TEST(PlacementTest, StridesMayBeLargeButNotWithoutBound) {
  constexpr int64_t kLargest = int64_t{1} << 57;
  EXPECT_EQ(Placement::OfStrides(U8, {3}, {kLargest / 2})->BitOffset({2}), 8 * kLargest);
  EXPECT_EQ(Placement::OfStrides(U8, {3}, {-kLargest / 2})->BitOffset({2}), -8 * kLargest);
  EXPECT_THAT(ErrorOf(Placement::OfStrides(U8, {3}, {kLargest})), HasSubstr("2^57 bytes"));
  EXPECT_THAT(ErrorOf(Placement::OfStrides(U8, {3, 2}, {kLargest / 2, 1})), HasSubstr("2^57 bytes"));
  for (int64_t stride : {kMin, -kLargest - 1, kLargest + 1, kMax}) {
    EXPECT_THAT(ErrorOf(Placement::OfStrides(U8, {2}, {stride})), HasSubstr("too large")) << stride;
  }
  EXPECT_THAT(ErrorOf(Placement::OfStrides(U8, {kMax}, {kMax})), HasSubstr("too large"));
  EXPECT_THAT(ErrorOf(Placement::OfStrides(U8, {kMax}, {2})), HasSubstr("2^57 bytes"));
}

TEST(PlacementTest, RefusesStridesThatMeanNothing) {
  EXPECT_THAT(ErrorOf(Placement::OfStrides(F32, {3, 4}, {4})), HasSubstr("1 strides for 2 dimensions"));
  EXPECT_THAT(ErrorOf(Placement::OfStrides(F32, {-1}, {4})), HasSubstr("negative"));
  EXPECT_NE(ErrorOf(Placement::OfStrides(F32, {0, -1}, {4, 4})), "no error");
  EXPECT_NE(ErrorOf(Placement::OfStrides(F32, {Shape::kUnboundedSize}, {4})), "no error");
  EXPECT_THAT(ErrorOf(Placement::OfStrides(TOKEN, {}, {})), HasSubstr("has no elements"));
  EXPECT_THAT(ErrorOf(Placement::OfStrides(TUPLE, {}, {})), HasSubstr("has no elements"));
  EXPECT_THAT(ErrorOf(Placement::OfStrides(BUFFER, {}, {})), HasSubstr("has no elements"));
  EXPECT_NE(ErrorOf(Placement::OfStrides(PRIMITIVE_TYPE_INVALID, {}, {})), "no error");
}

// ---------------------------------------------------------------------------------------------------------------
// slices

TEST(PlacementTest, SlicesKeepTheAddress) {
  const Placement whole = MustOfText("f32[16,256]{1,0:T(8,128)}");
  const Placement slice = whole.Slice({8, 100}, {4, 100}).value();
  EXPECT_THAT(slice.dimensions(), ElementsAre(4, 100));
  EXPECT_THAT(slice.starts(), ElementsAre(8, 100));
  EXPECT_FALSE(slice.is_whole_buffer());
  for (int64_t i : {0, 3}) {
    for (int64_t j : {0, 27, 28, 99}) EXPECT_EQ(slice.BitOffset({i, j}), whole.BitOffset({8 + i, 100 + j}));
  }
  EXPECT_EQ(slice.ToString(), "[8:12, 100:200] of f32[16,256]{1,0:T(8,128)}");
}

TEST(PlacementTest, SlicesOfSlicesAndOfStrides) {
  const Placement whole = Placement::OfStrides(S16, {10, 10}, {-3, 50}).value();
  const Placement slice = whole.Slice({2, 3}, {7, 7})->Slice({1, 2}, {2, 5}).value();
  EXPECT_THAT(slice.starts(), ElementsAre(3, 5));
  EXPECT_THAT(slice.dimensions(), ElementsAre(2, 5));
  EXPECT_EQ(slice.BitOffset({1, 1}), 8 * (4 * -3 + 6 * 50));
}

TEST(PlacementTest, TheSliceOfAllIsTheWholeBuffer) {
  EXPECT_TRUE(MustOfText("f32[3,5]{1,0:T(2,4)}").Slice({0, 0}, {3, 5})->is_whole_buffer());
  EXPECT_FALSE(MustOfText("f32[3,5]{1,0:T(2,4)}").Slice({0, 0}, {3, 4})->is_whole_buffer());
  EXPECT_TRUE(MustOfText("f32[]").Slice({}, {})->is_whole_buffer());
}

TEST(PlacementTest, SlicesMayBeEmptyButNotOutside) {
  const Placement whole = MustOfText("f32[3,5]");
  EXPECT_THAT(whole.Slice({3, 0}, {0, 5})->dimensions(), ElementsAre(0, 5));
  EXPECT_THAT(ErrorOf(whole.Slice({0}, {3})), HasSubstr("rank 2"));
  EXPECT_THAT(ErrorOf(whole.Slice({0, 0}, {3})), HasSubstr("rank 2"));
  EXPECT_THAT(ErrorOf(whole.Slice({0, 2}, {3, 4})), HasSubstr("not within its size 5"));
  EXPECT_THAT(ErrorOf(whole.Slice({-1, 0}, {3, 4})), HasSubstr("not within its size 3"));
  EXPECT_THAT(ErrorOf(whole.Slice({0, 0}, {3, -1})), HasSubstr("not within its size 5"));
  for (int64_t start : {int64_t{0}, int64_t{4}, kMax, kMin}) {
    for (int64_t size : {kMax, kMin, int64_t{6}}) {
      EXPECT_THAT(ErrorOf(whole.Slice({0, start}, {3, size})), HasSubstr("not within its size 5"))
          << start << " " << size;
    }
  }
}

}  // namespace
}  // namespace kashi::relayout
