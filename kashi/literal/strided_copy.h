// CopyStrided (strided_walk.h) with cancellation, and the loops of a copy between any strides.
#ifndef KASHI_LITERAL_STRIDED_COPY_H_
#define KASHI_LITERAL_STRIDED_COPY_H_

#include <cstdint>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/base/work_meter.h"
#include "kashi/literal/strided_walk.h"

namespace kashi::literal {

// One loop of a copy: the number of iterations, and the stride of either side in elements.
struct StridedLoop {
  int64_t bound;
  int64_t source;
  int64_t target;

  bool operator==(const StridedLoop& other) const {
    return bound == other.bound && source == other.source && target == other.target;
  }
  template <typename H>
  friend H AbslHashValue(H hash, const StridedLoop& loop) {
    return H::combine(std::move(hash), loop.bound, loop.source, loop.target);
  }
};
using StridedLoops = absl::InlinedVector<StridedLoop, InlineRank()>;

// The loops of a copy, the slowest loop of the target first. Loops of one iteration are left out; loops that continue
// each other on both sides are one.
//
//   bounds {2,3,4}, source strides {12,4,1}, target strides {12,4,1}   ->   24:1:1
//   bounds {2,3,4}, source strides {12,1,3}, target strides {12,4,1}   ->   2:12:12, 3:1:4, 4:3:1
StridedLoops MakeStridedLoops(absl::Span<const int64_t> bounds, absl::Span<const int64_t> source,
                              absl::Span<const int64_t> target);

// Calls check_stopped() every few megabytes; if that is an error, ends early with it, with a part of the box copied.
[[nodiscard]] absl::Status CopyStridedUntil(absl::Span<const int64_t> bounds, int element_bytes, StridedSource source,
                                            StridedTarget target, StopFunction check_stopped);

}  // namespace kashi::literal

#endif  // KASHI_LITERAL_STRIDED_COPY_H_
