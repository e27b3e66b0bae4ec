// EF57: a double as the sum of two floats, 57 bits of significand with the sign between them. For processors without
// doubles.
//
//   0.1  ->  hi 0.100000001490116, lo -1.49011611938477e-09
#ifndef KASHI_RELAYOUT_SIMD_EF57_H_
#define KASHI_RELAYOUT_SIMD_EF57_H_

#include <cstdint>

namespace kashi::relayout {

// Reads `count` doubles and writes the same number of pairs of floats: hi, the double rounded to nearest even, and lo,
// the rest rounded likewise; 0 where hi is infinite (a double too large for a float too) or NaN. Addresses may be
// misaligned, and may be the same; other overlaps are not allowed.
void ConvertF64ToEf57(const void* doubles, void* pairs, int64_t count);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_SIMD_EF57_H_
