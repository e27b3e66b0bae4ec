#include "kashi/custom_calls/custom_call_functions.h"

#include <algorithm>

#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::custom_calls {

absl::Status MisusedCustomCall(const values::BasicOperation& op) {
  return Unimplemented("%s: custom-call to \"%s\" of these shapes: %s", op.instruction.name(),
                       op.instruction.custom_call_target(), op.instruction.ToString());
}

bool HasArrayOperands(const values::BasicOperation& op, size_t count) {
  return op.operands.size() == count &&
         std::all_of(op.operands.begin(), op.operands.end(), [](const Value& operand) { return operand.is_array(); });
}

bool HasArrayResult(const values::BasicOperation& op, PrimitiveType type, absl::Span<const int64_t> dimensions) {
  return op.instruction.shape().IsArray() && op.result()->element_type() == type &&
         op.result()->dimensions() == dimensions;
}

absl::StatusOr<Value> MakeTupleResult(const values::BasicOperation& op, std::vector<Value> values) {
  const Shape& shape = op.instruction.shape();
  if (!shape.IsTuple() || shape.tuple_shapes_size() != static_cast<int>(values.size())) return MisusedCustomCall(op);
  for (size_t i = 0; i < values.size(); ++i) {
    if (!op.result(i) || *op.result(i) != values[i].shape()) return MisusedCustomCall(op);
  }
  return Value::MakeTuple(std::move(values));
}

}  // namespace kashi::custom_calls
