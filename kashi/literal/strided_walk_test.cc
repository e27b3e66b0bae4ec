#include "kashi/literal/strided_walk.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_testing.h"
#include "kashi/literal/literal_oracle_testing.h"
#include "kashi/literal/strided_copy.h"

namespace kashi::literal {
namespace {

using ::testing::ElementsAre;
using testing_oracle::AllIndices;
using testing_oracle::Position;
using testing_oracle::Random;

TEST(StridedWalkTest, Strides) {
  EXPECT_THAT(ElementStrides(array::S("f32[2,3,4]{2,1,0}")), ElementsAre(12, 4, 1));
  EXPECT_THAT(ElementStrides(array::S("f32[2,3,4]{0,2,1}")), ElementsAre(1, 8, 2));
  EXPECT_THAT(ElementStrides(array::S("f32[2,3]{1,0:T(8,128)}")), ElementsAre(3, 1)) << "tiles are not applied";
  EXPECT_TRUE(ElementStrides(array::S("f32[]")).empty());
}

TEST(StridedWalkTest, RowMajor) {
  EXPECT_TRUE(IsStoredRowMajor(array::S("f32[]")));
  EXPECT_TRUE(IsStoredRowMajor(array::S("f32[2,3]{1,0}")));
  EXPECT_FALSE(IsStoredRowMajor(array::S("f32[2,3]{0,1}")));
  EXPECT_TRUE(IsStoredRowMajor(array::S("f32[2,1]{0,1}")));
  EXPECT_TRUE(IsStoredRowMajor(array::S("f32[1,2,3]{2,0,1}")));
}

TEST(StridedWalkTest, LoopsOfACopy) {
  using Loops = StridedLoops;
  EXPECT_EQ(MakeStridedLoops({2, 3, 4}, {12, 4, 1}, {12, 4, 1}), Loops({{24, 1, 1}}));
  EXPECT_EQ(MakeStridedLoops({2, 3, 4}, {12, 1, 3}, {12, 4, 1}), Loops({{2, 12, 12}, {3, 1, 4}, {4, 3, 1}}));
  EXPECT_EQ(MakeStridedLoops({4, 1, 5}, {1, 7, 4}, {1, 9, 4}), Loops({{20, 1, 1}})) << "in the target's order";
  EXPECT_EQ(MakeStridedLoops({4, 5}, {0, 0}, {5, 1}), Loops({{20, 0, 1}})) << "one element for all";
  EXPECT_EQ(MakeStridedLoops({1, 1}, {2, 3}, {4, 5}), Loops());
}

TEST(StridedWalkTest, WalksVisitEveryIndexAtItsPosition) {
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    const Shape shape = random.Array(U8, random.Dimensions(5, 200));
    const DimensionVector strides = ElementStrides(shape);
    std::vector<std::vector<int64_t>> visited;
    EXPECT_TRUE(WalkRowMajor(shape.dimensions(), strides, [&](absl::Span<const int64_t> index, int64_t position) {
      EXPECT_EQ(position, Position(shape, index));
      visited.emplace_back(index.begin(), index.end());
      return true;
    }));
    EXPECT_EQ(visited, AllIndices(shape.dimensions())) << shape;

    const int64_t count = ShapeUtil::ElementsIn(shape);
    const int64_t begin = random.Number(0, count), end = random.Number(begin, count);
    int64_t next = begin;
    WalkStorage(shape, begin, end, [&](absl::Span<const int64_t> index, int64_t position) {
      EXPECT_EQ(position, next++);
      EXPECT_EQ(position, Position(shape, index)) << shape;
    });
    EXPECT_EQ(next, end);
  }
}

TEST(StridedWalkTest, WalkRowMajorStops) {
  int visits = 0;
  const Shape shape = array::S("u8[3,4]");
  EXPECT_FALSE(WalkRowMajor(shape.dimensions(), ElementStrides(shape),
                            [&](absl::Span<const int64_t> index, int64_t) { return ++visits, index[0] < 1; }));
  EXPECT_EQ(visits, 5);
}

TEST(StridedWalkTest, WalkRows) {
  const Shape a = array::S("u8[2,3,4]{0,1,2}"), b = array::S("u8[2,3,4]{2,0,1}");
  std::vector<std::pair<int64_t, int64_t>> rows;
  EXPECT_TRUE(WalkRows(a.dimensions(), ElementStrides(a), ElementStrides(b), [&](int64_t at_a, int64_t at_b) {
    rows.push_back({at_a, at_b});
    return true;
  }));
  size_t next = 0;
  for (const std::vector<int64_t>& index : AllIndices({2, 3})) {
    ASSERT_LT(next, rows.size());
    const std::vector<int64_t> first = {index[0], index[1], 0};
    EXPECT_EQ(rows[next++], std::make_pair(Position(a, first), Position(b, first)));
  }
  EXPECT_EQ(next, rows.size());
  int visits = 0;
  const auto count = [&](int64_t, int64_t) { return ++visits, true; };
  EXPECT_TRUE(WalkRows({}, {}, {}, count));
  EXPECT_EQ(visits, 1);
  EXPECT_TRUE(WalkRows({2, 0}, {0, 1}, {0, 1}, count));
  EXPECT_EQ(visits, 1);
}

// Copies a box between two layouts and looks at every byte of the target, those between the copied ones too.
void CheckCopy(Random* random, absl::Span<const int64_t> bounds, int bytes) {
  const Shape from = random->Array(U8, bounds), to = random->Array(U8, bounds);
  const int64_t count = ShapeUtil::ElementsIn(from);
  std::vector<char> source(count * bytes), target(count * bytes, 'x');
  for (char& byte : source) byte = static_cast<char>(random->Number(0, 255));
  std::vector<int64_t> part;
  for (int64_t bound : bounds) part.push_back(random->Number(0, 3) == 0 ? random->Number(0, bound) : bound);
  DimensionVector from_strides = ElementStrides(from);
  for (int64_t& stride : from_strides) {
    if (random->Number(0, 9) == 0) stride = 0;  // a broadcast
  }
  CopyStrided(part, bytes, {source.data(), from_strides}, {target.data(), ElementStrides(to)});
  std::vector<char> expected(count * bytes, 'x');
  for (const std::vector<int64_t>& index : AllIndices(part)) {
    const int64_t at = std::inner_product(index.begin(), index.end(), from_strides.begin(), int64_t{0});
    std::copy_n(source.begin() + at * bytes, bytes, expected.begin() + Position(to, index) * bytes);
  }
  EXPECT_EQ(target, expected) << from << " to " << to << ", " << bytes << " bytes";
}

TEST(StridedWalkTest, CopiesAgreeWithTheDefinition) {
  Random random(2);
  for (int bytes : {1, 2, 4, 8, 16}) {
    for (int i = 0; i < 400; ++i) CheckCopy(&random, random.Dimensions(5, 3000), bytes);
  }
}

TEST(StridedWalkTest, CopiesLargeEnoughForThreads) {
  Random random(3);
  for (int i = 0; i < 6; ++i) CheckCopy(&random, {70, 61, 67}, 1 << (i % 5));
  CheckCopy(&random, {1100, 1030}, 4);
  CheckCopy(&random, {3, 700000}, 2);
}

TEST(StridedWalkTest, OtherElementSizesDie) {
  char byte = 0, other = 0;
  EXPECT_DEATH(CopyStrided({}, 3, {&byte, {}}, {&other, {}}), "3 bytes");
}

}  // namespace
}  // namespace kashi::literal
