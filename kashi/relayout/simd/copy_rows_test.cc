#include "kashi/relayout/simd/highway_targets.h"  // before Highway

#include "kashi/relayout/simd/copy_rows.h"

#include <cstring>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "hwy/highway.h"

namespace kashi::relayout {
namespace {

struct Case {
  int64_t bytes;
  int64_t rows;
  int64_t count;
  int64_t gap;  // between rows of the target
};

// Rows of the source in reverse order; buffers of the exact size: sanitizers see any access beyond them.
::testing::AssertionResult Moves(const Case& c, bool past_caches, std::mt19937_64& random) {
  const int64_t from_misalignment = random() % 70, to_misalignment = random() % 70;
  std::vector<char> from(from_misalignment + c.bytes * c.rows * c.count);
  for (char& byte : from) byte = static_cast<char>(random());
  const int64_t pitch = c.bytes + c.gap;
  std::vector<char> to(to_misalignment + pitch * (c.rows * c.count - 1) + c.bytes, '\x5a');
  std::vector<char> expected = to;
  for (int64_t i = 0; i < c.count; ++i) {
    for (int64_t r = 0; r < c.rows; ++r) {
      std::memcpy(&expected[to_misalignment + (i * c.rows + r) * pitch],
                  &from[from_misalignment + (r * c.count + i) * c.bytes], c.bytes);
    }
  }
  const RowNest nest = {
      {from.data() + from_misalignment, c.count * c.bytes, to.data() + to_misalignment, pitch, c.rows, c.bytes},
      c.count,
      c.bytes,
      c.rows * pitch};
  past_caches ? StreamRowNest(nest) : CopyRowNest(nest);
  StreamFence();
  if (to == expected) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << c.count << " x " << c.rows << " rows of " << c.bytes << " bytes, gap "
                                       << c.gap;
}

TEST(CopyRows, NestsOfAllSizesOnEachTarget) {
  std::mt19937_64 random(1);
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (int64_t bytes :
         {1, 3, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 96, 127, 128, 129, 192, 256, 300, 512, 1000, 4096}) {
      for (int64_t rows : {1, 2, 3, 8}) {
        for (int64_t count : {1, 2, 5}) {
          for (int64_t gap : {0, 1, 64}) {
            for (const bool past_caches : {false, true}) {
              ASSERT_TRUE(Moves({bytes, rows, count, gap}, past_caches, random)) << hwy::TargetName(target);
            }
          }
        }
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(CopyRows, NoRowsAndNoBytesWriteNothing) {
  char to[64] = {};
  const char from[64] = {1};
  CopyRowNest({{from, 1, to, 1, 0, 16}, 3, 1, 1});
  CopyRowNest({{from, 1, to, 1, 3, 16}, 0, 1, 1});
  CopyRowNest({{from, 1, to, 1, 3, 0}, 3, 1, 1});
  for (char byte : to) EXPECT_EQ(byte, 0);
}

}  // namespace
}  // namespace kashi::relayout
