// Sizes of blocks and tasks, as they follow from the caches. One place, so that another processor is another row of
// block_sizes_test.cc.
#ifndef KASHI_RELAYOUT_NESTS_BLOCK_SIZES_H_
#define KASHI_RELAYOUT_NESTS_BLOCK_SIZES_H_

#include <cstdint>
#include <vector>

#include "kashi/relayout/cache_model.h"

namespace kashi::relayout {

constexpr int64_t kCacheLine = CacheModel::kLine;  // bytes

// Bytes, unless it says otherwise. A block's rows become runs of the target; its columns are runs of the source.
struct BlockSizes {
  // `scale`: 1, or a power of two by which blocks are larger or smaller than the caches suggest (the measured mode
  // tries some).
  explicit BlockSizes(const CacheModel& caches, double scale = 1);

  // Targets beyond the caches want long runs on both sides: a run of the target that begins or ends within a cache line
  // is shared by two blocks, and a run of the source of four lines costs little more than one of one.
  int64_t streamed_row_run;     // of the target; twice that, if its lines are shared
  int64_t streamed_scratch;     // a line of columns, each so long: stays in L1; likewise
  int64_t streamed_column_run;  // of the source

  // Long blocks have a line of each run of the source.
  int64_t long_row_run;  // of the target, at most

  // Within the caches short runs of both sides do. A block of 4-byte elements and its target fill L1.
  int64_t cached_row_run;
  int64_t cached_column_run;
  // Sizes for elements of 1 to 4 bytes and runs of the target that are several blocks long. Their tiles are 16 bytes
  // wide, so that a line of the source is read four times; the lines of larger blocks do not stay in L1 until then.
  int64_t narrow_row_run;  // for elements of a byte
  int64_t narrow_column_run;

  int64_t convert_block;  // elements of either axis: all of a block lies in scratch memory, twice
  int64_t task;           // of short rows and of interleavings: to find a task takes as long as to copy a KiB
  int64_t long_task;      // of long rows
};

// Whether L1 lacks room for a line of each of `count` rows at these offsets: lines of equal address modulo the period
// share a set, of which rows may take `ways`.
bool LinesCollide(const int64_t* offsets, int64_t count, int64_t period, int64_t ways);
// Rows that are `pitch` apart; they may take all ways.
bool LinesCollide(const CacheModel::Level& l1, int64_t pitch, int64_t count);

constexpr int64_t kCollisionWindow = 64;  // rows that most kernels work on at a time

// True if there are windows of neighbours whose lines collide.
bool Collides(const std::vector<int64_t>& offsets, const CacheModel::Level& l1, int64_t ways,
              int64_t window = kCollisionWindow);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_NESTS_BLOCK_SIZES_H_
