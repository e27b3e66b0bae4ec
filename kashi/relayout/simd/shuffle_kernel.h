// Changes the order of the bytes of elements, in place.
#ifndef KASHI_RELAYOUT_SIMD_SHUFFLE_KERNEL_H_
#define KASHI_RELAYOUT_SIMD_SHUFFLE_KERNEL_H_

#include <cstdint>

#include "absl/types/span.h"

namespace kashi::relayout {

// In each element of order.size() bytes (2, 4, 8 or 16), byte i becomes the old byte order[i]. `bytes` is a multiple
// of the element size.
void ShuffleElements(absl::Span<const uint8_t> order, char* data, int64_t bytes);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_SIMD_SHUFFLE_KERNEL_H_
