// Elements of four bits, two to a byte, of which two columns share each byte: one column each again.
#ifndef KASHI_RELAYOUT_SIMD_NIBBLE_KERNEL_H_
#define KASHI_RELAYOUT_SIMD_NIBBLE_KERNEL_H_

#include <cstdint>

namespace kashi::relayout {

// Whether the functions below take groups of `group` bytes: 8, or an even number from 32 on.
bool CanSplitNibbles(int64_t group);

// `groups` groups of `group` bytes, one after the other on both sides, which do not overlap. Of each, the low halves of
// its bytes come first, two to a byte, then the high halves:
//
//   b0a0 b1a1 b2a2 b3a3  ->  a1a0 a3a2 b1b0 b3b2
void SplitNibbles(const char* from, int64_t group, int64_t groups, char* to);

// Splits one long group (not 8 bytes), whose halves go to two places.
void SplitNibbleGroup(const char* from, int64_t group, char* low, char* high);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_SIMD_NIBBLE_KERNEL_H_
