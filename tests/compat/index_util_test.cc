#include "xla/index_util.h"

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "xla/hlo/testlib/test.h"
#include "xla/shape.h"
#include "xla/shape_util.h"
#include "xla/xla_data.pb.h"

namespace xla {
namespace {

using ::testing::ElementsAre;

void SetMinorToMajorLayout(Shape* shape, std::vector<int64_t> dimensions) {
  shape->mutable_layout()->clear_minor_to_major();
  for (auto dimension : dimensions) shape->mutable_layout()->add_minor_to_major(dimension);
}

TEST(IndexUtilTest, RankZeroIndexing) {
  Shape scalar = ShapeUtil::MakeShape(F32, {});
  EXPECT_EQ(0, IndexUtil::MultidimensionalIndexToLinearIndex(scalar, {}));
}

TEST(IndexUtilTest, MatrixIndexing) {
  Shape matrix = ShapeUtil::MakeShape(F32, {10, 20});
  SetMinorToMajorLayout(&matrix, {0, 1});
  EXPECT_EQ(0, IndexUtil::MultidimensionalIndexToLinearIndex(matrix, {0, 0}));
  EXPECT_EQ(3, IndexUtil::MultidimensionalIndexToLinearIndex(matrix, {3, 0}));
  EXPECT_EQ(71, IndexUtil::MultidimensionalIndexToLinearIndex(matrix, {1, 7}));
  SetMinorToMajorLayout(&matrix, {1, 0});
  EXPECT_EQ(27, IndexUtil::MultidimensionalIndexToLinearIndex(matrix, {1, 7}));
  EXPECT_EQ(71, IndexUtil::MultidimensionalIndexToLinearIndex(matrix, /*minor_to_major=*/{0, 1}, {1, 7}));
}

TEST(IndexUtilTest, IndexingAndBack) {
  Shape shape = ShapeUtil::MakeShapeWithDenseLayout(F32, {10, 20, 30, 40, 3}, {1, 3, 2, 0, 4});
  const std::vector<int64_t> index = {7, 13, 22, 3, 2};
  const int64_t linear = IndexUtil::MultidimensionalIndexToLinearIndex(shape, index);
  EXPECT_EQ(linear, 13 + 20 * (3 + 40 * (22 + 30 * (7 + 10 * 2))));
  EXPECT_THAT(IndexUtil::LinearIndexToMultidimensionalIndex(shape, linear), ElementsAre(7, 13, 22, 3, 2));
  DimensionVector back = IndexUtil::LinearIndexToMultidimensionalIndex(shape, linear);
  EXPECT_EQ(linear, IndexUtil::MultidimensionalIndexToLinearIndex(shape, back));
}

TEST(IndexUtilTest, BumpIndices2x2) {
  Shape shape = ShapeUtil::MakeShape(S32, {2, 2});
  std::vector<int64_t> indices = {0, 0};
  EXPECT_TRUE(IndexUtil::BumpIndices(shape, absl::MakeSpan(indices)));
  EXPECT_THAT(indices, ElementsAre(0, 1));
  EXPECT_TRUE(IndexUtil::BumpIndices(shape, absl::MakeSpan(indices)));
  EXPECT_THAT(indices, ElementsAre(1, 0));
  EXPECT_TRUE(IndexUtil::BumpIndices(shape, absl::MakeSpan(indices)));
  EXPECT_FALSE(IndexUtil::BumpIndices(shape, absl::MakeSpan(indices)));
  EXPECT_THAT(indices, ElementsAre(1, 1));
}

TEST(IndexUtilTest, Rest) {
  Shape shape = ShapeUtil::MakeShapeWithDenseLayout(F32, {2, 3, 5}, {0, 2, 1});
  EXPECT_EQ(IndexUtil::GetDimensionStride(shape, 1), 10);
  EXPECT_TRUE(IndexUtil::IndexInBounds(shape, {1, 2, 4}));
  EXPECT_FALSE(IndexUtil::IndexInBounds(shape, {1, 3, 4}));
  EXPECT_FALSE(IndexUtil::IndexInBounds(shape, {1, 2}));
  EXPECT_LT(IndexUtil::CompareIndices({1, 2}, {1, 3}), 0);
  EXPECT_EQ(IndexUtil::CompareIndices({1, 3}, {1, 3}), 0);
  EXPECT_GT(IndexUtil::CompareIndices({2, 0}, {1, 3}), 0);
}

}  // namespace
}  // namespace xla
