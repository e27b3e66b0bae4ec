// Helpers for values that several operations share.
#ifndef KASHI_EVALUATOR_VALUE_UTIL_H_
#define KASHI_EVALUATOR_VALUE_UTIL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/value.h"

namespace kashi::internal {

// Returns `array` if it is unique, otherwise a copy, so that the caller can write to it.
absl::StatusOr<Value> MakeWritable(EvaluationRun& run, Value array);

// The owner of memory that a value borrows (Value::FromLiteral), if the caller keeps that memory longer than the value.
inline std::shared_ptr<const void> LentBy(const void* lender) {
  return std::shared_ptr<const void>(std::shared_ptr<void>(), lender);
}

}  // namespace kashi::internal

#endif  // KASHI_EVALUATOR_VALUE_UTIL_H_
