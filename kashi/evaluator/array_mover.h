// How the evaluator moves elements that it does not look at: MoveBox between any strides, MoveBetween between any
// layouts.
//
// MoveBox copies a box. Boxes that a relayout plan (kashi/relayout) moves
// faster than a walk go through one; the others are walked (kashi/literal/strided_copy.h).
//
//   transposes, short rows      relayout: blocks that fit the caches, SIMD kernels
//   long rows, fills            walk: memcpy
//   small boxes                 walk: a plan takes microseconds to make; a plan that is asked for again is kept
#ifndef KASHI_EVALUATOR_ARRAY_MOVER_H_
#define KASHI_EVALUATOR_ARRAY_MOVER_H_

#include <cstdint>

#include "absl/types/span.h"
#include "kashi/array/primitive_type.h"
#include "kashi/base/work_meter.h"
#include "kashi/literal/strided_walk.h"
#include "kashi/relayout/placement.h"

namespace kashi::internal {

// Copies a box of elements of 1, 2, 4, 8 or 16 bytes (dies for others); strides count elements. Strides of the source
// may be 0 or negative; those of the target are positive, and no two elements of the target are at one place. The two
// sides must not overlap. Uses the threads of ParallelFor. Ends early, with some of the box copied, when
// is_stopped(), which is asked every few tens of megabytes.
void MoveBox(absl::Span<const int64_t> bounds, int element_bytes, StridedSource source, StridedTarget target,
             StopFunction is_stopped = NeverStopped);

// How MoveBox moves such a box. For tests and benchmarks.
enum class BoxRoute {
  kWalk,         // by CopyStridedUntil
  kPlanIfAgain,  // by a plan, if this thread has moved such a box before
  kPlan,         // by a plan
};
BoxRoute RouteOf(absl::Span<const int64_t> bounds, int element_bytes, absl::Span<const int64_t> source_strides,
                 absl::Span<const int64_t> target_strides);

// Moves the elements of `from` to their places in `to`; bytes of the target that hold no element stay as they are.
// The dimensions are cut into pieces, the first of `cut_order` first, between which is_stopped() is asked; then it
// ends early. Pre: the same dimensions and element type; no byte is both source and target; the placements go through
// no index loop (relayout_plan.h) if the arrays are large.
void MoveBetween(const Placement& from, const void* source, const Placement& to, void* target,
                 absl::Span<const int64_t> cut_order, StopFunction is_stopped);

// The type that stands for any elements of this many bytes: 1, 2, 4, 8 or 16 (dies for others).
PrimitiveType WordTypeOfBytes(int element_bytes);

}  // namespace kashi::internal

#endif  // KASHI_EVALUATOR_ARRAY_MOVER_H_
