// The shape rules of elementwise operations: how operands of different sizes and ranks are combined.
// (array-model.md, 7; the layout of select is that of real XLA)
//
//   f32[2,1] with f32[1,3]                      -> f32[2,3]       degenerate: a size of 1 is expanded
//   f32[]    with f32[2,3]                      -> f32[2,3]       scalar
//   f32[3]   with f32[2,3], dimensions={1}      -> f32[2,3]       in-dim: dimension i of the smaller is dimension d[i]
//   f32[4]   with f32[1,2], dimensions={0}      -> f32[4,2]       in-dim, then degenerate
//   f32[?]   with f32[<=3]                      -> f32[<=3]       an unbounded size takes the other size
//
// These functions return the shape of the result or INVALID_ARGUMENT. The checks and their texts have XLA's order.
// Checks of single opcodes (arithmetic rejects PRED, …) are in the shape rules of these opcodes.
#ifndef KASHI_ARRAY_BROADCAST_H_
#define KASHI_ARRAY_BROADCAST_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/shape.h"

namespace kashi {

// OK for arrays, buffers excluded. `what` names the argument: "lhs of binary operation add".
absl::Status ExpectArray(const Shape& shape, absl::string_view what);

// Equal ranks: each pair of sizes must be equal, or one of them 1, or unbounded. The result has the default layout and
// lhs' element type.
absl::StatusOr<Shape> InferDegenerateDimensionBroadcastShape(const Shape& lhs, const Shape& rhs);

// `larger` with dimension broadcast_dimensions[i] replaced by smaller's dimension i (a 1 stays 1: the degenerate rule
// follows). The list must be strictly increasing, and may be empty for a scalar only.
absl::StatusOr<Shape> InferInDimBroadcastShape(const Shape& smaller, const Shape& larger,
                                               absl::Span<const int64_t> broadcast_dimensions);

// The result of a binary element-wise operation (`operation` is its text name). Element types must agree, floating ones
// up to precision: the higher wins. Where the sizes agree already, the result keeps lhs' layout.
absl::StatusOr<Shape> InferElementwiseBinaryShape(absl::string_view operation, const Shape& lhs, const Shape& rhs,
                                                  absl::Span<const int64_t> broadcast_dimensions);

// No broadcasting but of a scalar `pred`. The layout is that of `pred`, or of `on_true` if `pred` is a scalar; the
// number of bits per element is always that of `on_true`.
absl::StatusOr<Shape> InferSelectShape(const Shape& pred, const Shape& on_true, const Shape& on_false);

// The result is `operand`; each bound is a scalar or has its sizes.
absl::StatusOr<Shape> InferClampShape(const Shape& min, const Shape& operand, const Shape& max);

}  // namespace kashi

#endif  // KASHI_ARRAY_BROADCAST_H_
