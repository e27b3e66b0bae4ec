// A block whose rows become columns, written past the caches in whole lines: see transpose_kernels.h for the picture.
//
// Tiles of 16 bytes of each row go down the rows, a line of the target at a time. A line that leaves the registers as
// one needs no other memory; where the target's runs begin within lines, the tiles meet in scratch memory:
//
//   target     |    line    |    line    |    line    |
//   run             [block ......       ][overhang]        written: from the first line
//                                                          (or the head, if the block has it) to
//   tiles           |    tile    |    tile    |            the line in which the block ends
//
// Writing a line after each tile keeps the memory busy while the next tile is made. With all tiles first, and then all
// lines, a block takes up to twice the time.
#ifndef KASHI_RELAYOUT_SIMD_STREAMED_TRANSPOSE_H_
#define KASHI_RELAYOUT_SIMD_STREAMED_TRANSPOSE_H_

#include <cstdint>

#include "kashi/relayout/simd/prefetcher.h"

namespace kashi::relayout {

// All offsets are bytes. Addresses may be misaligned.
struct StreamedBlock {
  const char* from;
  const int64_t* from_offsets;  // rows + overhang of them
  int64_t rows;
  int64_t overhang;  // rows that follow in each run of the target, and complete the line in which the block ends
  char* to;
  const int64_t* to_offsets;  // `columns` of them
  int64_t columns;
  bool skips_head;  // the part of a line with which a run begins is another block's overhang
};

// Pre: rows * W >= 64, columns * W >= 16, where W is the bytes of an element. StreamFence() of copy_rows.h must follow
// before another thread reads. Scratch memory: StreamedScratchBytes, 64-byte aligned.
using StreamedTransposeFunction = void (*)(const StreamedBlock& block, char* scratch, Prefetcher* prefetcher);

int64_t StreamedScratchBytes(int64_t element_bytes);

// The number of times that the function calls Portion.
int64_t StreamedPortions(const StreamedBlock& block, int64_t element_bytes);

// The function for elements of 1, 2, 4 or 8 bytes; nullptr for other sizes (16 bytes need no tiles), and where there
// are no vectors.
StreamedTransposeFunction StreamedTransposeFunctionFor(int64_t element_bytes);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_SIMD_STREAMED_TRANSPOSE_H_
