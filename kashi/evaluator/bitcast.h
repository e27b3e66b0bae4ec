// bitcast: the bytes of an array in the order of the operand's layout, read with a new shape and layout. It is the only
// operation that depends on layouts. Also bitcast-convert, which does not (docs/spec/hlo-ops.md 1.5).
#ifndef KASHI_EVALUATOR_BITCAST_H_
#define KASHI_EVALUATOR_BITCAST_H_

#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/shape.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/values/value.h"

namespace kashi::evaluator {

// Concatenates the memory of `parts`, each with the layout of its shape (tiles, packing, prefix; the default layout if
// it has none), and reads it as an array of shape `to` with its layout. Padding is zeros; so are bytes of `to` after
// the parts. UNIMPLEMENTED if a current size is below its bound, or for element sizes that are neither whole bytes nor
// part of one byte; INVALID_ARGUMENT for layouts that IndexMap rejects. Does not copy a single part if the order of
// elements stays the same.
absl::StatusOr<Value> ReinterpretPhysicalBytes(EvaluationRun& run,
                                               absl::Span<const std::pair<Value, const Shape*>> parts, const Shape& to);

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_BITCAST_H_
