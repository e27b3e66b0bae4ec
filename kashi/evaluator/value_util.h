// What several operations do with values.
#ifndef KASHI_EVALUATOR_VALUE_UTIL_H_
#define KASHI_EVALUATOR_VALUE_UTIL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/value.h"

namespace kashi::internal {

// `array`, or a copy of it if others hold it too: to be written into.
absl::StatusOr<Value> MakeWritable(EvaluationRun& run, Value array);

// As the owner of memory that a value borrows (Value::FromLiteral), for memory that somebody keeps longer than the
// value.
inline std::shared_ptr<const void> LentBy(const void* lender) {
  return std::shared_ptr<const void>(std::shared_ptr<void>(), lender);
}

}  // namespace kashi::internal

#endif  // KASHI_EVALUATOR_VALUE_UTIL_H_
