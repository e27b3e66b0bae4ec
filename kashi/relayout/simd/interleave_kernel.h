// 2 to 8 rows that become one run, or one run that becomes 2 to 8 rows: straight from registers, with nothing in
// between.
//
//   rows   a0 a1 a2 a3 …         run   a0 b0 c0 a1 b1 c1 a2 b2 c2 a3 b3 c3 …
//          b0 b1 b2 b3 …   <->
//          c0 c1 c2 c3 …
//
// A vector of each row is read, and as many of the run are written, or the other way round. Within the caches that
// takes about as long as a copy; bytes of 5 to 7 rows take up to twice as long.
#ifndef KASHI_RELAYOUT_SIMD_INTERLEAVE_KERNEL_H_
#define KASHI_RELAYOUT_SIMD_INTERLEAVE_KERNEL_H_

#include <cstdint>

namespace kashi::relayout {

// Interleavings of the same size, one after the other:
//
//   for o in outer: for i in inner: the rows at from + o*outer.from + i*inner.from -> the run at to + o*outer.to +
//   i*inner.to
//
// All strides are bytes. Addresses may be misaligned; the sides do not overlap.
struct InterleaveJob {
  struct Repeat {
    int64_t count;
    int64_t from;
    int64_t to;
  };

  const char* from;
  char* to;
  int64_t row_stride;  // from row to row, on the side that has rows
  int64_t columns;     // elements of a row. Pre: columns * element bytes >= kLeastInterleavedRow
  Repeat inner = {1, 0, 0};
  Repeat outer = {1, 0, 0};
};

constexpr int64_t kMostInterleavedRows = 8;
constexpr int64_t kLeastInterleavedRow = 32;  // bytes

// Reads and writes no byte but those of the elements.
using InterleaveFunction = void (*)(const InterleaveJob& job);

// The functions for elements of 1, 2, 4, 8 or 16 bytes and 2 to 8 rows, else nullptr; in the best form for this
// processor (or the target that hwy::SetSupportedTargetsForTest allows).
struct InterleaveFunctions {
  InterleaveFunction interleave = nullptr;
  InterleaveFunction deinterleave = nullptr;
  // Like those above, but whole cache lines of the target are written past the caches, if rows are whole elements away
  // from the beginning of one, and those of a run that is taken apart all equally far. A StreamFence() must follow
  // (copy_rows.h).
  InterleaveFunction stream_interleaved = nullptr;
  InterleaveFunction stream_deinterleaved = nullptr;
};
InterleaveFunctions InterleaveFunctionsFor(int64_t element_bytes, int64_t rows);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_SIMD_INTERLEAVE_KERNEL_H_
