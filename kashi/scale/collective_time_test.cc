#include "kashi/scale/collective_time.h"

#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace kashi::scale {
namespace {

constexpr Network::Kind kTorus = Network::Kind::kTorus;
constexpr Network::Kind kSwitch = Network::Kind::kSwitch;

GroupGeometry Sides(std::vector<GroupSide> sides) {
  GroupGeometry geometry;
  for (const GroupSide& side : sides) geometry.members *= side.members;
  geometry.sides = std::move(sides);
  return geometry;
}
// A latency of 1, and a second a byte.
GroupGeometry Ring(int64_t members) { return Sides({{members, /*is_ring=*/true, 1, 1}}); }
GroupGeometry Row(int64_t members) { return Sides({{members, /*is_ring=*/false, 1, 1}}); }

double Time(HloOpcode opcode, double bytes, const GroupGeometry& geometry, Network::Kind kind) {
  return TimeOf(opcode, bytes, geometry, kind).seconds;
}

TEST(CollectiveTimeTest, GroupsOfOneTakeNoTime) {
  EXPECT_EQ(Time(HloOpcode::kAllReduce, 1e9, GroupGeometry(), kTorus), 0);
  EXPECT_EQ(Time(HloOpcode::kAllReduce, 1e9, GroupGeometry(), kSwitch), 0);
}

TEST(CollectiveTimeTest, TheFormulasOfTheHeader) {
  // k / 2 steps and b (k - 1) / 2k bytes in a ring; k - 1 and b (k - 1) / k in a row.
  EXPECT_DOUBLE_EQ(Time(HloOpcode::kAllGather, 800, Ring(8), kTorus), 4 + 350);
  EXPECT_DOUBLE_EQ(Time(HloOpcode::kReduceScatter, 800, Row(8), kTorus), 7 + 700);
  EXPECT_DOUBLE_EQ(Time(HloOpcode::kAllReduce, 800, Ring(8), kTorus), 2 * (4 + 350));
  EXPECT_DOUBLE_EQ(Time(HloOpcode::kAllToAll, 800, Ring(8), kTorus), 4 + 800);
  EXPECT_DOUBLE_EQ(Time(HloOpcode::kAllToAll, 800, Row(8), kTorus), 7 + 1600);
  EXPECT_DOUBLE_EQ(Time(HloOpcode::kCollectiveBroadcast, 800, Ring(8), kTorus), 4 + 800);
  // Short operands: gathered, and reduced by each device.
  EXPECT_EQ(TimeOf(HloOpcode::kAllReduce, 0.125, Ring(8), kTorus).algorithm, "all-gather of operands");
  EXPECT_DOUBLE_EQ(Time(HloOpcode::kAllReduce, 800, Row(8), kSwitch), 2 * 3 + 2 * 700);
  EXPECT_DOUBLE_EQ(Time(HloOpcode::kAllReduce, 0.5, Row(8), kSwitch), 3 + 0.5 * 3);
  EXPECT_DOUBLE_EQ(Time(HloOpcode::kAllGather, 800, Row(8), kSwitch), 3 + 700);
  EXPECT_DOUBLE_EQ(Time(HloOpcode::kAllToAll, 800, Row(8), kSwitch), 7 + 700);
  EXPECT_DOUBLE_EQ(Time(HloOpcode::kAllToAll, 1, Row(8), kSwitch), 3 + 1.5);
  EXPECT_DOUBLE_EQ(Time(HloOpcode::kCollectiveBroadcast, 1, Row(8), kSwitch), 3 + 3);
  EXPECT_DOUBLE_EQ(Time(HloOpcode::kCollectiveBroadcast, 8000, Row(8), kSwitch), 10 + 14000);
}

TEST(CollectiveTimeTest, TwoSidesWorkAtOnce) {
  const GroupGeometry square = Sides({{8, true, 0, 1}, {8, true, 0, 1}});
  // Each half takes one side and then the other: (1/2) (7/16) (1 + 1/8).
  EXPECT_DOUBLE_EQ(Time(HloOpcode::kAllGather, 6400, square, kTorus), 6400 * 0.5 * 7 / 16 * 1.125);
  // Nearly half of the time of one ring of 64.
  EXPECT_NEAR(Time(HloOpcode::kAllGather, 6400, square, kTorus) / Time(HloOpcode::kAllGather, 6400, Ring(64), kTorus),
              0.5, 0.01);
}

// A device must receive all that it does not have, over the links of all its sides: no algorithm is faster.
TEST(CollectiveTimeTest, NoTimeIsBelowTheLimitOfTheLinks) {
  for (const int64_t a : {2, 3, 4, 8, 16}) {
    for (const int64_t b : {1, 2, 3, 8}) {
      std::vector<GroupSide> sides = {{a, a > 2, 0, 1}};
      double links = a > 2 ? 2 : 1;
      if (b > 1) {
        sides.push_back({b, b > 2, 0, 1});
        links += b > 2 ? 2 : 1;
      }
      const GroupGeometry geometry = Sides(sides);
      const auto n = static_cast<double>(geometry.members);
      const double least = 1000 * (n - 1) / n / links * (1 - 1e-12);
      EXPECT_GE(Time(HloOpcode::kAllGather, 1000, geometry, kTorus), least);
      EXPECT_GE(Time(HloOpcode::kReduceScatter, 1000, geometry, kTorus), least);
      EXPECT_GE(Time(HloOpcode::kAllReduce, 1000, geometry, kTorus), 2 * least);
      EXPECT_GE(Time(HloOpcode::kAllToAll, 1000, geometry, kTorus), least);
    }
  }
}

}  // namespace
}  // namespace kashi::scale
