// Arrays that leave a manual region as the sum of what its devices have (kashi/devices/sharding_border.h).
#ifndef KASHI_EVALUATOR_BORDER_SUM_H_
#define KASHI_EVALUATOR_BORDER_SUM_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "kashi/devices/sharding_border.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/values/value.h"

namespace kashi::evaluator {

// The result of `device` at a border out of a region: ShardingBorder::Assemble, and the sum of its terms.
absl::StatusOr<Value> AssembleOutOfRegion(EvaluationRun& run, const devices::ShardingBorder& border, int64_t device,
                                          absl::FunctionRef<const Value&(int64_t device)> operand_of);

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_BORDER_SUM_H_
