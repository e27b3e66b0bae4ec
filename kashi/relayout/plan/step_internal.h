// How kernels take loops from a box for their axes, and what they refuse. Internal to step*.cc.
//
//   step.cc              the ordered list of kernels; rows, and elements one by one
//   step_axes.cc         loops become axes and a grid: what the kernels share
//   step_blocks.cc       blocks, and blocks of padded groups
//   step_convert.cc      runs and blocks whose elements change their form
//   step_exchange.cc     words of a few elements, and tails
//   step_interleave.cc   few rows that are one run on the other side
#ifndef KASHI_RELAYOUT_PLAN_STEP_INTERNAL_H_
#define KASHI_RELAYOUT_PLAN_STEP_INTERNAL_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "kashi/relayout/plan/boxes.h"
#include "kashi/relayout/plan/step.h"

namespace kashi::internal {

constexpr int64_t kRowChunk = 64 << 10;  // a task of a long row

// A box while a kernel is sought. The loops are the box's; those that a kernel takes for its axes go.
struct Candidate {
  Loops loops;
  Step step;
};

// ---- The kernels
//
// Each makes the candidate's step one of its kernel and returns nullptr, or says why it cannot.

// Words of a few elements that change partners.
const char* TryExchange(Candidate* candidate);

// 2 to 8 rows that are one run on the other side, and back.
const char* TryInterleave(Candidate* candidate);

// A run of the source by a run of the target.
const char* TryBlocks(Candidate* candidate);

// Runs on both sides, element by element in another form.
const char* TryConvert(Candidate* candidate, const StepContext& context);

// The same as TryBlocks for elements that change their form, or are no whole bytes.
const char* TryConvertBlocks(Candidate* candidate, const StepContext& context);

// ---- Loops and axes

// Whether bits are whole bytes.
inline bool IsWhole(int64_t bits) { return bits % 8 == 0; }

// The first loop that has this stride on a side; loops.size() if none has.
size_t FindLoop(const Loops& loops, int64_t Loop::*side, int64_t stride);

// The loop that has the shortest stride on this side. Pre: there are loops.
size_t Innermost(const Loops& loops, int64_t Loop::*side);

// The loop that is contiguous on both sides becomes a part of the element, so that what is left is bytes. Returns bits of the
// element, or 0 where bytes do not do.
int64_t WidenElement(Box* box, int64_t slot_bits);

// Chunks of about the same size, of `wanted` or less than twice that, for no chunk is better than a short one: 200 in chunks of
// 128 are one, 300 are two of 150; rounded up to a multiple unless that would make them far too large. Where just a multiple is
// wanted, all chunks are that, but for the last.
int64_t ChunkOf(int64_t extent, int64_t wanted, int64_t multiple);

constexpr int64_t kCollisionWindow = 64;  // rows that most kernels work on at a time

// Whether there are windows of so many neighbours that have more lines than `ways` of a set of the first cache.
bool Collides(const std::vector<int64_t>& offsets, int64_t ways, int64_t window = kCollisionWindow);

// Blocks in the order of one side's memory. Past the caches that is the source: reading profits from neighbours more than
// writing does. Within them it is the target: the blocks of a thread follow one another there, and no line that one core
// writes, or asks for ahead of its writes, is in the cache of another (which costs half the speed, and more).
void MakeGrid(const Loops& loops, std::initializer_list<GridLoop> chunks, Step* step);

// Columns that follow one another in the target when every block has all rows.
int64_t DenseColumns(const Axis& rows, const Axis& columns, int64_t element);

// Takes the source's innermost loop as the rows that a task has; each is so many bytes. Returns the loop over such chunks.
GridLoop TakeTaskRows(int64_t bytes, Candidate* candidate);

// How long a block is along either axis.
struct BlockSize {
  int64_t rows;
  int64_t columns;
};

// Such that memory, or the caches, are used well. Elements are so many bits apart in the source, and in the target.
BlockSize WantedBlock(const Loops& loops, int64_t element_bits_from, int64_t element_bits_to,
                      const StepContext& context);

// Takes both axes out of the loops, and makes the grid. The first loop of either axis is its own. A row's elements are
// `to_bits` apart in the target, a column's `from_bits` in the source; blocks have multiples of so many, unless there are
// fewer; `unit` is the bits in which an axis' offsets are counted.
void TakeAxes(Candidate* candidate, BlockSize wanted, int64_t from_bits, int64_t to_bits, int64_t unit,
              int64_t row_multiple, int64_t column_multiple);

}  // namespace kashi::internal

#endif  // KASHI_RELAYOUT_PLAN_STEP_INTERNAL_H_
