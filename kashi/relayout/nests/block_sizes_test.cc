#include "kashi/relayout/nests/block_sizes.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace kashi::relayout {
namespace {

// A row for each processor. The first was tuned by measuring; the others follow.
TEST(BlockSizesTest, FollowFromTheCaches) {
  const struct {
    const char* caches;
    double scale;
    int64_t streamed_row_run, streamed_scratch, streamed_column_run, long_row_run;
    int64_t cached_run, narrow_row_run, narrow_column_run, convert_block, task;
  } kCases[] = {
      {"32K/8,512K/8,32M", 1, 512, 16384, 256, 2048, 256, 192, 128, 256, 32768},      // AMD Zen 3
      {"48K/12,2M/16,260M", 1, 512, 16384, 256, 4096, 256, 192, 128, 512, 32768},     // Intel Sapphire Rapids
      {"128K/8,16M/16,16M", 1, 2048, 65536, 256, 4096, 512, 384, 256, 1024, 131072},  // Apple M2
      {"64/1,128/2,128", 1, 128, 4096, 256, 512, 64, 64, 64, 64, 4096},               // as small as can be said
      {"32K/8,512K/8,32M", 0.5, 256, 16384, 128, 1024, 128, 96, 64, 256, 32768},
      {"32K/8,512K/8,32M", 2, 1024, 16384, 512, 4096, 512, 384, 256, 256, 32768},
  };
  for (const auto& c : kCases) {
    const BlockSizes sizes(ParseCacheModel(c.caches).value(), c.scale);
    SCOPED_TRACE(c.caches);
    EXPECT_EQ(sizes.streamed_row_run, c.streamed_row_run);
    EXPECT_EQ(sizes.streamed_scratch, c.streamed_scratch);
    EXPECT_EQ(sizes.streamed_column_run, c.streamed_column_run);
    EXPECT_EQ(sizes.long_row_run, c.long_row_run);
    EXPECT_EQ(sizes.cached_row_run, c.cached_run);
    EXPECT_EQ(sizes.cached_column_run, c.cached_run);
    EXPECT_EQ(sizes.narrow_row_run, c.narrow_row_run);
    EXPECT_EQ(sizes.narrow_column_run, c.narrow_column_run);
    EXPECT_EQ(sizes.convert_block, c.convert_block);
    EXPECT_EQ(sizes.task, c.task);
    EXPECT_EQ(sizes.long_task, 2 * c.task);
  }
}

TEST(LinesCollideTest, MoreLinesOfASetThanItHasWays) {
  const CacheModel::Level l1 = {32 << 10, 8};
  EXPECT_FALSE(LinesCollide(l1, 4096, 8));
  EXPECT_TRUE(LinesCollide(l1, 4096, 9));
  EXPECT_FALSE(LinesCollide({48 << 10, 12}, 4096, 12));
  EXPECT_TRUE(LinesCollide({48 << 10, 12}, 4096, 13));
  EXPECT_TRUE(LinesCollide(l1, 1 << 20, 9));
  EXPECT_FALSE(LinesCollide(l1, 2048, 16));
  EXPECT_TRUE(LinesCollide(l1, 2048, 17));
  EXPECT_FALSE(LinesCollide(l1, 4096 + 64, 64));
  EXPECT_FALSE(LinesCollide(l1, 1001, 1000));
  EXPECT_FALSE(LinesCollide(l1, 0, 1000));
  const int64_t pairs[] = {0, 64, 4096, 4160, 8192, 8256, 12288, 12352};
  EXPECT_FALSE(LinesCollide(pairs, 8, 4096, 8));
  EXPECT_FALSE(LinesCollide(pairs, 8, 4096, /*ways=*/4));
  EXPECT_TRUE(LinesCollide(pairs, 8, 4096, /*ways=*/3));
  EXPECT_FALSE(LinesCollide(pairs, 8, 8192, /*ways=*/3));
  const int64_t down[] = {0, -4096, -8192, -12288};
  EXPECT_TRUE(LinesCollide(down, 4, 4096, /*ways=*/3));
}

TEST(CollidesTest, LooksAtWindowsOfNeighbours) {
  const CacheModel::Level l1 = {32 << 10, 8};
  std::vector<int64_t> far(64);
  for (size_t i = 0; i < far.size(); ++i) far[i] = static_cast<int64_t>(i) * 4096;
  EXPECT_TRUE(Collides(far, l1, 8));
  EXPECT_FALSE(Collides(far, l1, 8, /*window=*/8));
  EXPECT_TRUE(Collides(far, l1, 4, /*window=*/8));
}

}  // namespace
}  // namespace kashi::relayout
