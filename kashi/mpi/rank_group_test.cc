#include "kashi/mpi/rank_group.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kashi::mpi {
namespace {

using ::testing::ElementsAre;

TEST(RankGroupTest, EachDeviceIsOnOneRank) {
  for (int64_t devices = 0; devices <= 40; ++devices) {
    for (int64_t ranks = 1; ranks <= 12; ++ranks) {
      int64_t next = 0;
      for (int64_t rank = 0; rank < ranks; ++rank) {
        const devices::DeviceRange range = DevicesOfRank(devices, ranks, rank);
        EXPECT_EQ(range.first, next);
        EXPECT_GE(range.count, devices / ranks);
        EXPECT_LE(range.count, devices / ranks + 1);
        for (int64_t device = next; device < next + range.count; ++device) {
          EXPECT_EQ(RankOfDevice(devices, ranks, device), rank) << devices << " devices on " << ranks;
          EXPECT_TRUE(range.Has(device));
        }
        next += range.count;
      }
      EXPECT_EQ(next, devices);
    }
  }
}

// 8 devices on 3 ranks: 0 1 2, 3 4 5, 6 7.
TEST(RankGroupTest, MembersByRank) {
  const RankGroup group = MakeRankGroup({6, 1, 4, 0}, /*devices=*/8, /*ranks=*/3, /*rank=*/0);
  EXPECT_THAT(group.ranks, ElementsAre(2, 0, 1));
  EXPECT_THAT(group.positions, ElementsAre(ElementsAre(0), ElementsAre(1, 3), ElementsAre(2)));
  EXPECT_THAT(group.rank_of, ElementsAre(0, 1, 2, 1));
  EXPECT_EQ(group.own, 1);
  EXPECT_THAT(group.here, ElementsAre(1, 0));
  EXPECT_FALSE(group.is_in_order);
  EXPECT_FALSE(group.has_one_each);
  const RankGroup other = MakeRankGroup({7, 0}, 8, 3, 1);
  EXPECT_EQ(other.own, -1);
  EXPECT_TRUE(other.here.empty());
  EXPECT_TRUE(other.is_in_order);
  EXPECT_TRUE(other.has_one_each);
}

}  // namespace
}  // namespace kashi::mpi
