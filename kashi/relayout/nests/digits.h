// A placement as a mixed-radix number system: each dimension of the array is cut into digits, and each digit has a
// stride.
//
//   bf16[R,C]{1,0:T(8,128)(2,1)}        row r:    r/8    r/2%4   r%2        column c:  c/128   c%128
//                                       stride:  8*C'    256      1                    1024     2          (elements)
//
//   offset = base + sum over digits of (index[dimension] / step % (next step / step)) * stride
//
// Not every layout is such a system: a tile that does not divide the tile around it, and `*`, are not (see IndexMap).
#ifndef KASHI_RELAYOUT_NESTS_DIGITS_H_
#define KASHI_RELAYOUT_NESTS_DIGITS_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "kashi/relayout/placement.h"

namespace kashi::relayout {

// A digit changes every `step` indices of its dimension, by `stride` bits in memory.
struct Digit {
  int64_t step;
  int64_t stride;
};

// One dimension. Digits are in ascending order of steps; each step divides the next; the first is 1.
struct DigitDimension {
  int64_t size = 1;    // of the part of the array that is meant
  int64_t start = 0;   // of that part in the whole: digits count from the whole's 0
  int64_t whole = 1;   // size of the whole array
  int64_t padded = 1;  // indices that memory has room for: whole .. padded - 1 are padding
  absl::InlinedVector<Digit, 4> digits;

  int64_t OffsetOf(int64_t index) const;  // bits, of an index of the whole
  int64_t StrideOf(int64_t step) const;   // bits between indices `step` apart, if no more major digit changes
};

struct Digits {
  int64_t base = 0;       // bits before element (0, 0, …) of the whole
  int64_t slot_bits = 0;  // an element
  // The array's dimensions, then one of size 1 for each dimension that a tile has beyond the array's (there only
  // because it may be padded).
  absl::InlinedVector<DigitDimension, 6> dimensions;
};

// UNIMPLEMENTED, and why, for layouts that are no such system. Pre: the array has elements; the sizes of one without
// may be beyond int64_t. Cost: below a microsecond.
absl::StatusOr<Digits> DigitsOf(const Placement& placement);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_NESTS_DIGITS_H_
