// Offsets for buffers with live ranges, as XLA's heap simulator (GlobalDecreasingSizeBestFitHeap) computes them.
//
// All buffers are known in advance. They are placed one by one, sorted by size and then by length of life, or by length
// of life and then by size. Both orders are tried, and the smaller heap wins. A buffer goes into the smallest
// sufficient gap between the buffers that are alive during its life, the lowest of equal gaps. If there is none, it
// goes above them.
//
//   time ->   aaaaaaaa            a  offset 0        c lives while a and b do,
//             bbbb  ddd           b  offset 64       d takes the gap that b leaves
//               cccccccc          c  offset 128
#ifndef KASHI_BUFFERS_BEST_FIT_HEAP_H_
#define KASHI_BUFFERS_BEST_FIT_HEAP_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace kashi::buffers {

struct HeapInterval {
  int64_t bytes = 0;
  // Times, both included. No two intervals begin at the same time.
  int32_t first = 0;
  int32_t last = 0;
  // The number of an earlier interval that lies at the same offset; -1: this one has an offset of its own.
  int32_t shares_with = -1;
  int32_t rank = 0;  // of intervals that are equally hard to place the one of the lowest rank is placed first
};

struct HeapLayout {
  int64_t bytes = 0;
  std::vector<int64_t> offsets;  // by interval
};

// Offsets are multiples of `alignment`. Intervals of 0 bytes get offset 0 and conflict with nothing. RESOURCE_EXHAUSTED
// for more than 2^20 intervals, and if it needs more than 2^25 conflict checks. Pre: times are not negative; the sum of
// the bytes, each rounded up, is below 2^62.
absl::StatusOr<HeapLayout> PlaceByBestFit(absl::Span<const HeapInterval> intervals, int64_t alignment);

}  // namespace kashi::buffers

#endif  // KASHI_BUFFERS_BEST_FIT_HEAP_H_
