#include "kashi/draw/layered_layout.h"

#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace kashi::draw {
namespace {

using Boxes = std::vector<LayeredBox>;
using Lines = std::vector<LayeredLine>;

Boxes Equal(size_t count) { return Boxes(count, LayeredBox{100, 40}); }

TEST(LayeredLayoutTest, NothingIsEmpty) {
  const LayeredLayout layout = LayOutInLayers({}, {});
  EXPECT_EQ(layout.width, 0);
  EXPECT_EQ(layout.height, 0);
}

TEST(LayeredLayoutTest, UsersStandBelowOperands) {
  const LayeredLayout layout = LayOutInLayers(Equal(4), Lines{{0, 1}, {1, 3}, {0, 2}, {2, 3}});
  EXPECT_LT(layout.corners[0].y, layout.corners[1].y);
  EXPECT_EQ(layout.corners[1].y, layout.corners[2].y);
  EXPECT_LT(layout.corners[1].y, layout.corners[3].y);
  EXPECT_EQ(layout.corners[0].x, layout.corners[3].x) << "between the two";
}

TEST(LayeredLayoutTest, ASourceStandsJustBeforeItsUser) {
  // 0 -> 1 -> 2 -> 4, and 3 is needed by 4 only.
  const LayeredLayout layout = LayOutInLayers(Equal(5), Lines{{0, 1}, {1, 2}, {2, 4}, {3, 4}});
  EXPECT_EQ(layout.corners[3].y, layout.corners[2].y);
}

TEST(LayeredLayoutTest, ALongLineGoesAroundBoxes) {
  const LayeredLayout layout = LayOutInLayers(Equal(4), Lines{{0, 1}, {1, 2}, {2, 3}, {0, 3}});
  ASSERT_EQ(layout.routes[3].size(), 6);
  for (size_t box = 1; box < 3; ++box) {
    for (const size_t point : {2 * box - 1, 2 * box}) {
      const double x = layout.routes[3][point].x, left = layout.corners[box].x;
      EXPECT_TRUE(x < left || x > left + 100) << box;
    }
  }
}

TEST(LayeredLayoutTest, ALineThatLeadsBackIsStraight) {
  const LayeredLayout layout = LayOutInLayers(Equal(3), Lines{{0, 1}, {1, 2}, {2, 0}, {1, 1}});
  EXPECT_EQ(layout.routes[2].size(), 2);
  EXPECT_EQ(layout.routes[3].size(), 2);
  EXPECT_LT(layout.corners[0].y, layout.corners[2].y);
}

TEST(LayeredLayoutTest, AWideLayerBecomesSeveral) {
  Lines lines;
  for (int64_t i = 0; i < 100; ++i) lines.push_back({i, 100});
  const LayeredLayout layout = LayOutInLayers(Equal(101), lines);
  EXPECT_LT(layout.width, 50 * 118);
  EXPECT_GT(layout.height, 6 * 40);
}

// Post: no two boxes touch, and all are within the drawing.
TEST(LayeredLayoutTest, BoxesNeverOverlap) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 60; ++round) {
    const size_t count = 1 + random() % 60;
    Boxes boxes;
    for (size_t i = 0; i < count; ++i) {
      boxes.push_back({20 + static_cast<double>(random() % 200), 10 + static_cast<double>(random() % 90)});
    }
    Lines lines;
    for (size_t i = 0; i < count * 2; ++i) {
      lines.push_back({static_cast<int64_t>(random() % count), static_cast<int64_t>(random() % count)});
    }
    const LayeredLayout layout = LayOutInLayers(boxes, lines);
    for (size_t a = 0; a < count; ++a) {
      EXPECT_GE(layout.corners[a].x, -1e-6);
      EXPECT_LE(layout.corners[a].x + boxes[a].width, layout.width + 1e-6);
      EXPECT_LE(layout.corners[a].y + boxes[a].height, layout.height + 1e-6);
      for (size_t b = 0; b < a; ++b) {
        const bool are_apart = layout.corners[a].x + boxes[a].width <= layout.corners[b].x + 1e-6 ||
                               layout.corners[b].x + boxes[b].width <= layout.corners[a].x + 1e-6 ||
                               layout.corners[a].y + boxes[a].height <= layout.corners[b].y + 1e-6 ||
                               layout.corners[b].y + boxes[b].height <= layout.corners[a].y + 1e-6;
        ASSERT_TRUE(are_apart) << "round " << round << ": " << a << " and " << b;
      }
    }
  }
}

}  // namespace
}  // namespace kashi::draw
