// bitcast: the bytes of an array in memory, as the operand's layout has them, read under another shape and layout. The
// one operation that asks for layouts. And bitcast-convert, which does not (docs/spec/hlo-ops.md 1.5).
#ifndef KASHI_EVALUATOR_BITCAST_H_
#define KASHI_EVALUATOR_BITCAST_H_

#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/shape.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/value.h"

namespace kashi::internal {

// The memory of `parts`, one behind the other, each under its shape's layout (tiles, packing, prefix; the default
// layout if it has none), as an array of shape `to` under that one's. Padding is zeros, and so is what `to` needs
// beyond the parts. UNIMPLEMENTED where a dynamic dimension has not the size of its bound, or elements take no whole
// bytes and no part of one; INVALID_ARGUMENT for layouts that IndexMap refuses. No copy for one part if logical
// neighbours stay neighbours.
absl::StatusOr<Value> ReinterpretPhysicalBytes(EvaluationRun& run,
                                               absl::Span<const std::pair<Value, const Shape*>> parts, const Shape& to);

}  // namespace kashi::internal

#endif  // KASHI_EVALUATOR_BITCAST_H_
