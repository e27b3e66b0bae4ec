#include "kashi/relayout/simd/highway_targets.h"  // before Highway

#include "kashi/relayout/simd/group_kernel.h"

#include <cstring>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "hwy/highway.h"

namespace kashi::relayout {
namespace {

std::vector<char> Noise(int64_t count, std::mt19937_64& random) {
  std::vector<char> bytes(count);
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// Rows end with the buffer; the bytes behind a group are the fill.
void ExpectExpands(const Groups& sizes, int64_t groups, std::mt19937_64& random) {
  const std::vector<char> fill = Noise(sizes.padded - sizes.packed, random);
  const int64_t row = groups * sizes.packed, padded = groups * sizes.padded, pitch = (padded + 15) / 16 * 16;
  const std::vector<char> from = Noise(3 * row + 1, random);
  const int64_t offsets[] = {row + 1, 0, 2 * row + 1};
  std::vector<char> to(3 * pitch);
  GroupLanes(sizes, fill).Expand(from.data(), offsets, 3, groups, to.data(), pitch);
  for (int64_t r = 0; r < 3; ++r) {
    for (int64_t i = 0; i < padded; ++i) {
      const int64_t group = i / sizes.padded, at = i % sizes.padded;
      const char expected = at < sizes.packed ? from[offsets[r] + group * sizes.packed + at] : fill[at - sizes.packed];
      ASSERT_EQ(to[r * pitch + i], expected)
          << groups << " of " << sizes.packed << " as " << sizes.padded << ", row " << r << ", byte " << i;
    }
  }
}

void ExpectPacks(const Groups& sizes, int64_t groups, std::mt19937_64& random) {
  const int64_t padded = groups * sizes.padded;
  std::vector<char> data = Noise((padded + 15) / 16 * 16, random);
  const std::vector<char> before = data;
  GroupLanes(sizes, std::vector<char>(sizes.padded - sizes.packed)).Pack(data.data(), groups);
  for (int64_t g = 0; g < groups; ++g) {
    ASSERT_EQ(std::memcmp(&data[g * sizes.packed], &before[g * sizes.padded], sizes.packed), 0)
        << groups << " of " << sizes.packed << " as " << sizes.padded << ", group " << g;
  }
}

TEST(GroupKernel, ExpandsAndPacksOnEachTarget) {
  std::mt19937_64 random(1);
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (int64_t padded = 2; padded <= 64; ++padded) {
      for (int64_t packed : {int64_t{1}, int64_t{2}, padded / 2, padded * 3 / 4, padded - 1}) {
        if (packed == 0) continue;
        for (int64_t groups : {1, 2, 3, 5, 8, 16, 33}) {
          ExpectExpands({packed, padded}, groups, random);
          ExpectPacks({packed, padded}, groups, random);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace
}  // namespace kashi::relayout
