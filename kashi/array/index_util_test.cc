#include "kashi/array/index_util.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_testing.h"
#include "kashi/array/shape_util.h"

namespace kashi::array {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(IndexUtilTest, MultidimensionalIndexToLinearIndex) {
  const auto linear = [](absl::string_view text, std::vector<int64_t> index) {
    return IndexUtil::MultidimensionalIndexToLinearIndex(S(text), index);
  };
  EXPECT_EQ(linear("f32[]", {}), 0);
  EXPECT_EQ(linear("u8[21]", {20}), 20);
  EXPECT_EQ(linear("f32[2,3]{0,1}", {1, 2}), 5);
  EXPECT_EQ(linear("f32[2,3]{0,1}", {1, 1}), 3);
  EXPECT_EQ(linear("f32[2,3]{1,0}", {1, 1}), 4);
  EXPECT_EQ(linear("f32[2,3]{1,0:T(2,2)}", {1, 1}), 4) << "tiles are not looked at";
  EXPECT_EQ(linear("b(f32[2,3]{0,1})", {1, 1}), 3);
  EXPECT_EQ(IndexUtil::MultidimensionalIndexToLinearIndex(Shape(F32, {2, 3}), {0, 1}, {1, 1}), 3);
}

// Post: LinearIndexToMultidimensionalIndex inverts, and BumpIndices goes through all indices in logical order.
TEST(IndexUtilTest, InverseOverAllLayouts) {
  const int64_t rank = 4;
  std::vector<int64_t> minor_to_major = {0, 1, 2, 3};
  do {
    const Shape shape = ShapeUtil::MakeShapeWithDenseLayout(F32, {2, 1, 3, 4}, minor_to_major);
    std::vector<bool> seen(24, false);
    std::vector<int64_t> index(rank, 0), previous;
    int64_t visits = 0;
    do {
      const int64_t linear = IndexUtil::MultidimensionalIndexToLinearIndex(shape, index);
      ASSERT_GE(linear, 0);
      ASSERT_LT(linear, 24);
      EXPECT_FALSE(seen[linear]);
      seen[linear] = true;
      EXPECT_EQ(IndexUtil::LinearIndexToMultidimensionalIndex(shape, linear),
                DimensionVector(index.begin(), index.end()));
      int64_t by_strides = 0;
      for (int64_t d = 0; d < rank; ++d) by_strides += index[d] * IndexUtil::GetDimensionStride(shape, d);
      EXPECT_EQ(by_strides, linear);
      if (visits++ > 0) {
        EXPECT_EQ(IndexUtil::CompareIndices(previous, index), -1);
      }
      previous = index;
    } while (IndexUtil::BumpIndices(shape, absl::MakeSpan(index)));
    EXPECT_EQ(visits, 24);
    EXPECT_EQ(index, previous) << "unchanged at the end";
  } while (std::next_permutation(minor_to_major.begin(), minor_to_major.end()));
}

TEST(IndexUtilTest, LinearIndexToMultidimensionalIndex) {
  EXPECT_THAT(IndexUtil::LinearIndexToMultidimensionalIndex(S("f32[2,3]{0,1}"), 3), ElementsAre(1, 1));
  EXPECT_THAT(IndexUtil::LinearIndexToMultidimensionalIndex(S("f32[2,3]{1,0}"), 3), ElementsAre(1, 0));
  EXPECT_THAT(IndexUtil::LinearIndexToMultidimensionalIndex(S("f32[]"), 0), IsEmpty());
}

TEST(IndexUtilTest, BumpIndices) {
  const Shape shape = S("f32[10,10]{0,1}");
  std::vector<int64_t> index(2, 0);
  EXPECT_TRUE(IndexUtil::BumpIndices(shape, absl::MakeSpan(index)));
  EXPECT_THAT(index, ElementsAre(0, 1)) << "logical order, whatever the layout";
  index[1] = 9;
  EXPECT_TRUE(IndexUtil::BumpIndices(shape, absl::MakeSpan(index)));
  EXPECT_THAT(index, ElementsAre(1, 0));
  index = {9, 9};
  EXPECT_FALSE(IndexUtil::BumpIndices(shape, absl::MakeSpan(index)));
  EXPECT_THAT(index, ElementsAre(9, 9));
  EXPECT_FALSE(IndexUtil::BumpIndices(S("f32[]"), {}));
}

TEST(IndexUtilTest, GetDimensionStride) {
  const Shape shape = S("f32[2,3,4]{1,2,0:T(8,128)}");
  EXPECT_EQ(IndexUtil::GetDimensionStride(shape, 1), 1);
  EXPECT_EQ(IndexUtil::GetDimensionStride(shape, 2), 3);
  EXPECT_EQ(IndexUtil::GetDimensionStride(shape, 0), 12);
}

TEST(IndexUtilTest, IndexInBounds) {
  const Shape shape = S("f32[2,<=3]");
  EXPECT_TRUE(IndexUtil::IndexInBounds(shape, {1, 2}));
  EXPECT_FALSE(IndexUtil::IndexInBounds(shape, {1, 3}));
  EXPECT_FALSE(IndexUtil::IndexInBounds(shape, {2, 0}));
  EXPECT_FALSE(IndexUtil::IndexInBounds(shape, {1}));
  EXPECT_FALSE(IndexUtil::IndexInBounds(shape, {1, 2, 0}));
  EXPECT_TRUE(IndexUtil::IndexInBounds(shape, {-1, 0})) << "not looked for, as in XLA";
  EXPECT_TRUE(IndexUtil::IndexInBounds(S("f32[]"), {}));
}

TEST(IndexUtilTest, CompareIndices) {
  EXPECT_EQ(IndexUtil::CompareIndices({1, 2}, {1, 3}), -1);
  EXPECT_EQ(IndexUtil::CompareIndices({2, 0}, {1, 3}), 1);
  EXPECT_EQ(IndexUtil::CompareIndices({1, 2}, {1, 2}), 0);
  EXPECT_EQ(IndexUtil::CompareIndices({}, {}), 0);
  EXPECT_DEATH(IndexUtil::CompareIndices({1}, {1, 2}), "Check failed");
}

}  // namespace
}  // namespace kashi::array
