#include "kashi/relayout/simd/nibble_kernel.h"

#include <algorithm>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kashi/relayout/simd/highway_targets.h"

#include "hwy/highway.h"

namespace kashi::relayout {
namespace {

int NibbleAt(const std::vector<char>& bytes, int64_t i) {
  return (static_cast<uint8_t>(bytes[i / 2]) >> (i % 2 * 4)) & 15;
}

TEST(NibbleKernel, SplitsGroupsOnEachTarget) {
  std::mt19937 random(1);
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (int64_t group : {8, 32, 34, 62, 64, 66, 100, 896, 1024}) {
      ASSERT_TRUE(CanSplitNibbles(group));
      for (int64_t groups : {1, 2, 3, 5, 8}) {
        std::vector<char> from(group * groups), to(group * groups);
        std::generate(from.begin(), from.end(), [&] { return static_cast<char>(random()); });
        SplitNibbles(from.data(), group, groups, to.data());  // long groups by SplitNibbleGroup
        for (int64_t g = 0; g < groups; ++g) {
          for (int64_t i = 0; i < group; ++i) {
            for (int64_t half : {0, 1}) {
              ASSERT_EQ(NibbleAt(to, (2 * g + half) * group + i), NibbleAt(from, 2 * (g * group + i) + half))
                  << group << " bytes, group " << g << " of " << groups << ", element " << i << ", half " << half;
            }
          }
        }
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(NibbleKernel, TakesGroupsOfEightAndLongEvenOnes) {
  for (int64_t group : {0, 1, 2, 7, 9, 16, 30, 31, 33, 63}) EXPECT_FALSE(CanSplitNibbles(group)) << group;
}

}  // namespace
}  // namespace kashi::relayout
