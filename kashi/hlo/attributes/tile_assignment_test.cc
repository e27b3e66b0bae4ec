#include "kashi/hlo/attributes/tile_assignment.h"

#include <numeric>
#include <random>
#include <vector>

#include "absl/hash/hash.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kashi::hlo {
namespace {

using ::testing::ElementsAre;

std::vector<int64_t> Devices(const TileAssignment& tile) {
  std::vector<int64_t> devices;
  tile.Each([&](absl::Span<const int64_t>, int64_t device) { devices.push_back(device); });
  return devices;
}

TileAssignment Listed(const TileAssignment& tile) { return TileAssignment(tile.shared_array()); }

TEST(TileAssignmentTest, Forms) {
  EXPECT_EQ(TileAssignment({2, 2}).ToString(), "devices=[2,2]<=[4]");
  EXPECT_EQ(TileAssignment(5).ToString(), "devices=[1]5");
  EXPECT_EQ(TileAssignment().num_elements(), 0);
  const TileAssignment transposed({2, 4}, {4, 2}, {1, 0});
  EXPECT_THAT(Devices(transposed), ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
  EXPECT_EQ(transposed({1, 2}), 5);
  EXPECT_EQ(Listed(transposed).ToString(), "devices=[2,4]0,2,4,6,1,3,5,7");
  EXPECT_EQ(Listed(transposed), transposed);
  EXPECT_EQ(absl::HashOf(Listed(transposed)), absl::HashOf(transposed));
  EXPECT_TRUE(transposed.UsesDevice(7));
  EXPECT_FALSE(transposed.UsesDevice(8));
}

TEST(TileAssignmentTest, IotaIsCanonical) {
  EXPECT_EQ(TileAssignment({2, 2, 2}, {2, 1, 2, 1, 2}, {4, 3, 1, 2, 0}).ToString(), "devices=[2,2,2]<=[2,2,2]T(2,1,0)");
  EXPECT_EQ(TileAssignment({2, 4}, {2, 2, 2}, {1, 2, 0}).ToString(), "devices=[2,4]<=[2,4]T(1,0)");
  EXPECT_EQ(TileAssignment({1, 1}, {1, 1}, {1, 0}).ToString(), "devices=[1,1]<=[1]");
}

TEST(TileAssignmentTest, WhatIotaCannotBe) {
  EXPECT_FALSE(IotaTileAssignment::TryCreate({4}, {2, 2}, {0}).has_value());
  EXPECT_FALSE(IotaTileAssignment::TryCreate({4}, {2, 2}, {0, 2}).has_value());
  EXPECT_FALSE(IotaTileAssignment::TryCreate({4}, {int64_t{1} << 32, int64_t{1} << 32}, {0, 1}).has_value());
}

// Post: iota form or list, a transposition, a reshape and a sort of rows give the same devices.
TEST(TileAssignmentTest, IotaDoesWhatListsDo) {
  std::mt19937 random(7);
  const auto split = [&](int64_t total) {
    std::vector<int64_t> sizes;
    while (total > 1) {
      std::vector<int64_t> divisors;
      for (int64_t d = 1; d <= total; ++d) {
        if (total % d == 0) divisors.push_back(d);
      }
      sizes.push_back(divisors[random() % divisors.size()]);
      total /= sizes.back();
    }
    if (sizes.empty()) sizes.push_back(1);
    std::shuffle(sizes.begin(), sizes.end(), random);
    return sizes;
  };
  const auto permutation = [&](size_t rank) {
    std::vector<int> perm(rank);
    std::iota(perm.begin(), perm.end(), 0);
    std::shuffle(perm.begin(), perm.end(), random);
    return perm;
  };
  int still_iota = 0;
  for (int i = 0; i < 2000; ++i) {
    const int64_t totals[] = {1, 2, 6, 8, 12, 16, 24, 36, 64};
    const int64_t total = totals[random() % 9];
    const std::vector<int64_t> dims = split(total), reshape = split(total);
    const TileAssignment iota(dims, reshape, permutation(reshape.size()));
    ASSERT_TRUE(iota.iota()->IsConsistent());
    const std::vector<int> perm = permutation(dims.size());
    const TileAssignment transposed = iota.Transpose(perm);
    still_iota += transposed.iota().has_value();
    EXPECT_EQ(Devices(transposed), Devices(Listed(iota).Transpose(perm))) << iota.ToString();
    EXPECT_EQ(transposed.dimensions(), Listed(iota).Transpose(perm).dimensions());
    EXPECT_EQ(Devices(iota.TrySortRows(1000).value()), Devices(Listed(iota).TrySortRows(1000).value()))
        << iota.ToString();
    const std::vector<int64_t> other = split(total);
    EXPECT_EQ(Devices(iota.Reshape(other)), Devices(Listed(iota).Reshape(other)));
  }
  EXPECT_GT(still_iota, 1500);
}

TEST(TileAssignmentTest, HugeFormsStayForms) {
  const int64_t million = 1000000;
  const TileAssignment huge({million, million}, {million, million}, {1, 0});
  EXPECT_EQ(huge({1, 0}), 1);
  EXPECT_EQ(huge.Transpose({1, 0}).ToString(), "devices=[1000000,1000000]<=[1000000000000]");
  EXPECT_EQ(huge.ToExplicit(1000).status().code(), absl::StatusCode::kResourceExhausted);
  (void)absl::HashOf(huge);
}

}  // namespace
}  // namespace kashi::hlo
