// Elements that stand in words of a few on both sides, and change partners: as many rows of words of the source as a
// word has elements become as many of the target.
//
//   bf16, rows in pairs on either side, but other pairs (T(8,128)(2,1), the next more major dimension exchanged with
//   rows):
//
//   source    a0 b0  a1 b1  a2 b2  …      from                 target    a0 c0  a1 c1  a2 c2  …      to
//             c0 d0  c1 d1  c2 d2  …      from + from_stride             b0 d0  b1 d1  b2 d2  …      to + to_stride
//
// Each word position is a small transpose, and all words of a vector are transposed at once: for each bit of the
// position within a word, pairs of vectors exchange the elements that have it for those that have not (log2(P) shifts
// and blends a vector, no element leaves its word). A vector at a time of whole words reads and writes every byte once,
// at the speed of a copy.
#ifndef KASHI_RELAYOUT_SIMD_EXCHANGE_KERNEL_H_
#define KASHI_RELAYOUT_SIMD_EXCHANGE_KERNEL_H_

#include <cstdint>

namespace kashi::relayout {

// P rows of words of P elements, each row `bytes` bytes, become the first `targets` of P possible rows: element
// t of word k of source row s is element s of word k of target row t. Strides are bytes, of any sign. Where targets <
// P, the elements behind those in the source's last word are not read. The sides do not overlap, nor do the target's
// rows.
struct ExchangeRows {
  const char* from;
  int64_t from_stride;
  char* to;
  int64_t to_stride;
  int64_t targets;
  int64_t bytes;  // a multiple of a word's
};

// `past_caches`: writes whole cache lines past the caches; a StreamFence() must follow (copy_rows.h).
using ExchangeFunction = void (*)(const ExchangeRows& rows, bool past_caches);

// The function for words of `word_elements` elements in the best form for this processor; nullptr for sizes that it
// does not have: it has 2 and 4 elements of 1, 2, 4 or 8 bytes, in words of up to 16 bytes.
ExchangeFunction ExchangeFunctionFor(int64_t element_bytes, int64_t word_elements);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_SIMD_EXCHANGE_KERNEL_H_
