// The k best of each row of an array: topk, and the custom call TopK.
#ifndef KASHI_EVALUATOR_TOP_K_H_
#define KASHI_EVALUATOR_TOP_K_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/values/value.h"

namespace kashi::evaluator {

struct TopKResult {
  Value values;   // with x's type and sizes, except the last dimension, which is k
  Value indices;  // s32: their indices in the last dimension
};

// The k largest (or smallest) elements along the last dimension, best first; floating-point numbers in total order,
// of equal ones that with the lower index first (docs/spec/hlo-ops.md, 3). INVALID_ARGUMENT if there are not k;
// UNIMPLEMENTED for complex numbers and rows of more than 2^31 - 1. O(n + k log k) a row.
absl::StatusOr<TopKResult> TopK(EvaluationRun& run, const Value& x, int64_t k, bool largest);

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_TOP_K_H_
