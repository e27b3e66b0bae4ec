// Functions with which kernels take loops from a box for the axes of their blocks.
#ifndef KASHI_RELAYOUT_NESTS_AXES_H_
#define KASHI_RELAYOUT_NESTS_AXES_H_

#include <cstddef>
#include <cstdint>

#include "kashi/relayout/nests/boxes.h"
#include "kashi/relayout/nests/context.h"
#include "kashi/relayout/nests/task_grid.h"

namespace kashi::relayout {

// Whether bits are whole bytes.
inline bool IsWhole(int64_t bits) { return bits % 8 == 0; }

// The number of elements of `bytes` bytes in a cache line, at least one.
inline int64_t ElementsOfLine(int64_t bytes) { return bytes < kCacheLine ? kCacheLine / bytes : 1; }

// The first loop that has this stride on a side; loops.size() if none has.
size_t FindLoop(const Loops& loops, int64_t Loop::*side, int64_t stride);

// The loop that has the shortest stride on this side. Pre: there are loops.
size_t Innermost(const Loops& loops, int64_t Loop::*side);

// Takes loop i out.
Loop TakeLoop(size_t i, Loops* loops);

// The loop that is contiguous on both sides becomes a part of the element, so that the rest is whole bytes. Returns the
// bits of the element, or 0 if whole bytes are not enough.
int64_t WidenElement(Box* box, int64_t slot_bits);

// Chunks of about the same size, between `wanted` and twice that, because no chunk is better than a short one: 200 in
// chunks of 128 are one, 300 are two of 150; rounded up to a multiple unless that would make them far too large. If
// `wanted` equals `multiple`, all chunks but the last have that size.
int64_t ChunkOf(int64_t extent, int64_t wanted, int64_t multiple);

// The loop over chunks of an axis that cuts `loop`.
GridLoop ChunksOf(const Axis& axis, const Loop& loop, GridLoop::Over over);

// The source's innermost loop, as the rows that a task has.
struct TaskRows {
  Axis axis;
  Loop stride = {1, 0, 0};  // from row to row

  GridLoop chunks() const { return ChunksOf(axis, stride, GridLoop::Over::kRows); }
};
// Takes the axis of rows out of the loops; each row has `bytes` bytes.
TaskRows TakeTaskRows(int64_t bytes, const PlanContext& context, Loops* loops);

// The length of a block along either axis, in elements.
struct BlockSize {
  int64_t rows;
  int64_t columns;
};

// A block size that uses memory, or the caches, well. `element_bits_…`: the distance of elements on each side.
BlockSize WantedBlock(const Loops& loops, int64_t element_bits_from, int64_t element_bits_to,
                      const PlanContext& context);

// The arguments of CutIntoBlocks. A row's elements are `to_bits` apart in the target, a column's `from_bits` in the
// source; blocks have multiples of elements, unless there are fewer; offsets are counted in `unit` bits.
struct BlockWish {
  BlockSize size;
  int64_t from_bits;
  int64_t to_bits;
  int64_t unit;
  int64_t row_multiple;
  int64_t column_multiple;
  int64_t most = 0;      // elements of either axis, if all of a block lies in scratch memory; 0: any number
  int64_t overhang = 0;  // elements behind each run of a block whose offsets are wanted, at least
};

struct BlockCut {
  TaskGrid grid;
  Offsets rows;     // in the source
  Offsets columns;  // in the target
};

// Takes both axes out of the box's loops, and makes the grid of blocks. The first loop of either axis is its own.
BlockCut CutIntoBlocks(const Box& box, BlockWish wish, bool streams);

// Columns that follow one another in the target when every block has all rows; `element` in the unit of the offsets.
int64_t DenseColumns(const BlockCut& cut, int64_t element);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_NESTS_AXES_H_
