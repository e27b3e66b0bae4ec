// The peak of intervals with sizes, in each memory space.
//
// The peak is found by a sweep over the steps of a region (live_ranges.h). A step that calls another region adds the
// peak of that region, which is computed once, so the cost is not exponential.
#ifndef KASHI_ANALYSIS_MEMORY_PEAKS_H_
#define KASHI_ANALYSIS_MEMORY_PEAKS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/analysis/call_graph.h"
#include "kashi/analysis/live_ranges.h"

namespace kashi {

// Takes `bytes` from range.first to range.last, both included.
struct MemoryUse {
  LiveRange range;
  int64_t memory_space = 0;
  int64_t bytes = 0;
};

// The bytes in use from `step` on, up to the step of the next level.
struct MemoryLevel {
  int32_t step = 0;
  int64_t bytes = 0;
};

struct MemoryPeak {
  int64_t bytes = 0;
  int32_t step = 0;  // the first step at which the peak is reached, in the entry's sequence
  std::vector<MemoryLevel> levels;
  std::vector<int32_t> uses;  // numbers of the uses at that step, also in the regions that run in this step
};

// The peaks of the entry by memory space. RESOURCE_EXHAUSTED for more than 64 spaces: no device has that many, and a
// peak is kept for each space and region. Pre: the sum of all bytes is below 2^61. O(n log n + calls * spaces), n =
// uses.
absl::StatusOr<std::map<int64_t, MemoryPeak>> FindMemoryPeaks(absl::Span<const MemoryUse> uses, const CallGraph& graph,
                                                              const LiveRanges& ranges);

}  // namespace kashi

#endif  // KASHI_ANALYSIS_MEMORY_PEAKS_H_
