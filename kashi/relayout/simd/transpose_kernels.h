// The innermost work of a relayout: a block of elements whose rows become columns. Written with Highway, and chosen for
// the processor when first called.
//
//   source: row r at from + from_offsets[r], its elements one after the other
//   target: column c becomes a row at to + to_offsets[c], its elements one after the other
//
//        a b c d          a e i
//        e f g h    ->    b f j       to[to_offsets[c] + r*bytes] = from[from_offsets[r] + c*bytes]
//        i j k l          c g k
//                         d h l
#ifndef KASHI_RELAYOUT_SIMD_TRANSPOSE_KERNELS_H_
#define KASHI_RELAYOUT_SIMD_TRANSPOSE_KERNELS_H_

#include <cstdint>

namespace kashi::relayout {

// All offsets are bytes. Addresses may be misaligned.
struct TransposeBlock {
  const char* from;
  const int64_t* from_offsets;  // `rows` of them
  int64_t rows;
  char* to;
  const int64_t* to_offsets;  // `columns` of them
  int64_t columns;
  // The rows of the source follow one another without gaps: from_offsets[r] == r * columns * bytes. Likewise the
  // target's: to_offsets[c] == c * rows * bytes. They allow faster ways for narrow blocks (interleaving a few rows).
  bool from_is_dense;
  bool to_is_dense;
  // LinesCollide (plan/block_sizes.h) of the source's rows, and of the target's. Only speed depends on them.
  bool from_collides = false;
  bool to_collides = false;
};

// Moves a block of elements of 1, 2, 4, 8 or 16 bytes. Reads and writes no byte but those of its elements. Source and
// target do not overlap, nor do the target's rows.
using TransposeFunction = void (*)(const TransposeBlock& block);

// The function for an element size in the best form for this processor (or the target that
// hwy::SetSupportedTargetsForTest allows); nullptr for other sizes.
TransposeFunction TransposeFunctionFor(int64_t element_bytes);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_SIMD_TRANSPOSE_KERNELS_H_
