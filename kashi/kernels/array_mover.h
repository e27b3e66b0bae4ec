// Moves elements: MoveBox between any strides, MoveBetween between any layouts.
//
// MoveBox copies a box. It uses a relayout plan (kashi/relayout) if that is faster, otherwise a strided copy
// (kashi/literal/strided_copy.h), the walk.
//
//   transposes, short rows      relayout: blocks that fit the caches, SIMD kernels
//   long rows, fills            walk: memcpy
//   small boxes                 walk: a plan takes microseconds to make; repeated moves reuse their plan
#ifndef KASHI_KERNELS_ARRAY_MOVER_H_
#define KASHI_KERNELS_ARRAY_MOVER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_type.h"
#include "kashi/base/work_meter.h"
#include "kashi/literal/strided_walk.h"
#include "kashi/relayout/placement.h"

namespace kashi::kernels {

// Copies a box of elements of 1, 2, 4, 8 or 16 bytes (dies for other sizes). Strides are in elements. Strides of the
// source may be 0 or negative. Strides of the target are positive, and its elements do not overlap. Source and target
// must not overlap. Uses the threads of ParallelFor. Calls check_stopped() every few tens of megabytes; if that is an
// error, ends early with it, with a part of the box copied.
[[nodiscard]] absl::Status MoveBox(absl::Span<const int64_t> bounds, int element_bytes, literal::StridedSource source,
                                   literal::StridedTarget target, StopFunction check_stopped = NeverStopped);

// The method by which MoveBox moves a box. For tests and benchmarks.
enum class BoxRoute {
  kWalk,         // with CopyStridedUntil
  kPlanIfAgain,  // with a plan, if this thread has moved such a box before
  kPlan,         // with a plan
};
BoxRoute RouteOf(absl::Span<const int64_t> bounds, int element_bytes, absl::Span<const int64_t> source_strides,
                 absl::Span<const int64_t> target_strides);

// Moves the elements of `from` to their places in `to`. Padding bytes of the target do not change. Cuts the dimensions
// into pieces, in the order of `cut_order`, and calls check_stopped() between pieces; if that is an error, ends early
// with it. Pre: the same dimensions and element type; source and target do not overlap; for large arrays the plan must
// not use the index loop (relayout_plan.h).
[[nodiscard]] absl::Status MoveBetween(const Placement& from, const void* source, const Placement& to, void* target,
                                       absl::Span<const int64_t> cut_order, StopFunction check_stopped);

// A type with elements of this number of bytes: 1, 2, 4, 8 or 16 (dies for other sizes).
PrimitiveType WordTypeOfBytes(int element_bytes);

}  // namespace kashi::kernels

#endif  // KASHI_KERNELS_ARRAY_MOVER_H_
