// BasicOperation: an instruction and its operands, for operations that call no computation.
#ifndef KASHI_VALUES_BASIC_OPERATION_H_
#define KASHI_VALUES_BASIC_OPERATION_H_

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/values/run_limits.h"
#include "kashi/values/value.h"

namespace kashi {

class HloInstruction;

}  // namespace kashi

namespace kashi::values {

struct BasicOperation {
  const HloInstruction& instruction;
  // The function may move from these. The last user of a value has the only reference, and may write to its memory.
  absl::Span<Value> operands;
  // The shape of the result, or of each element of a tuple result (null if the element is not an array). These have the
  // real sizes. Take sizes from here and from the operands' shapes, never from the instruction.
  absl::Span<const DenseShape> results;
  const RunLimits& limits;
  // Memory of the caller's for the results, by number; nothing: new memory. MakeResult takes from it.
  absl::Span<Value> result_memory = {};

  const DenseShape& result(int64_t i = 0) const { return results[i]; }
  // An uninitialised array of result i.
  absl::StatusOr<Value> MakeResult(int64_t i = 0) const {
    if (i < static_cast<int64_t>(result_memory.size()) && !result_memory[i].is_nothing()) {
      return std::exchange(result_memory[i], Value());
    }
    return Value::MakeArray(results[i], limits.memory);
  }
  // Why the run must end: it was cancelled, or its deadline has passed. Loops call this every few thousand operations.
  [[nodiscard]] absl::Status CheckStopped() const { return limits.work->Check(); }
};

}  // namespace kashi::values

#endif  // KASHI_VALUES_BASIC_OPERATION_H_
