// Elements of 4 bits, eight rows of them to words that have one of each, and back: the packing (8,1), as s4 has it in
// T(8,128)(8,1).
//
//   row 0   a0 a1 a2 ...
//   row 1   b0 b1 b2 ...      <->      a0 b0 ... h0   a1 b1 ... h1   a2 b2 ... h2   ...      of 4 bytes each
//   ...                                the first element is in the lowest bits
//   row 7   h0 h1 h2 ...
//
// Rows are packed, two elements a byte, or have a byte for each. Written with Highway, and chosen for the processor
// when first called. Reads and writes no byte but those that have elements of these rows. The sides do not overlap, nor
// do the target's rows.
#ifndef KASHI_RELAYOUT_SIMD_NIBBLE_WORDS_H_
#define KASHI_RELAYOUT_SIMD_NIBBLE_WORDS_H_

#include <cstdint>

namespace kashi::relayout {

inline constexpr int64_t kNibbleRows = 8;
inline constexpr int64_t kNibbleWordBytes = 4;
inline constexpr int64_t kNibbleWordBits = 32;

// The words of a block, in runs: the words of a run are contiguous. Every run but the last has an even number of words.
struct NibbleWordRuns {
  const int64_t* bits;  // of word c, from an address on; whole bytes, and only of the first word of each run
  int64_t run;          // words
  int64_t columns;      // words of all runs
};

// Row r begins `bits[r]` bits, a multiple of 4, from `from`; word c is made `words.bits[c]` bits from `to`. Fast if all
// even rows begin alike, within a byte or with one, and all odd rows do.
void InterleaveNibbles(const char* from, const int64_t (&bits)[kNibbleRows], const NibbleWordRuns& words, char* to);

// Likewise, of bytes whose high halves are ignored. Row r begins `bits[r]` bits, a multiple of 8, from `from`.
void InterleaveNibbleBytes(const char* from, const int64_t (&bits)[kNibbleRows], const NibbleWordRuns& words, char* to);

// Word c, `words.bits[c]` bits from `from`, becomes element c of each row; row r begins at to[r]. With an odd number of
// columns the last byte of a row keeps its high half.
void DeinterleaveNibbles(const char* from, const NibbleWordRuns& words, char* const (&to)[kNibbleRows]);

// Likewise; the high halves of the bytes become 0.
void DeinterleaveNibbleBytes(const char* from, const NibbleWordRuns& words, char* const (&to)[kNibbleRows]);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_SIMD_NIBBLE_WORDS_H_
