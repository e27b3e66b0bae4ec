#include "kashi/evaluator/value_util.h"

#include <cstring>
#include <utility>

#include "kashi/base/status.h"

namespace kashi::internal {

absl::StatusOr<Value> MakeWritable(EvaluationRun& run, Value array) {
  if (array.is_unique()) return array;
  KASHI_ASSIGN_OR_RETURN(Value copy, run.MakeArray(array.dense_shape()));
  std::memcpy(copy.mutable_bytes(), array.bytes(), array.byte_count());
  return copy;
}

}  // namespace kashi::internal
