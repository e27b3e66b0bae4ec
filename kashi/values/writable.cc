#include "kashi/values/writable.h"

#include <cstring>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "kashi/base/check.h"
#include "kashi/base/status.h"
#include "kashi/values/value_util.h"

namespace kashi::values {

absl::StatusOr<Value> MakeWritable(const std::shared_ptr<MemoryBudget>& memory, Value array) {
  if (array.is_unique()) return array;
  KASHI_ASSIGN_OR_RETURN(Value copy, Value::MakeArray(array.dense_shape(), memory));
  std::memcpy(copy.mutable_bytes(), array.bytes(), array.byte_count());
  return copy;
}

absl::StatusOr<Value> MakeZeros(const Shape& shape, const std::shared_ptr<MemoryBudget>& memory) {
  if (shape.IsTuple()) {
    std::vector<Value> elements;
    for (const Shape& element : shape.tuple_shapes()) {
      KASHI_ASSIGN_OR_RETURN(Value zeros, MakeZeros(element, memory));
      elements.push_back(std::move(zeros));
    }
    return Value::MakeTuple(std::move(elements));
  }
  if (!shape.IsArray()) return Value::MakeToken();
  KASHI_ASSIGN_OR_RETURN(Value zeros, Value::MakeArray(MakeDenseShape(shape), memory));
  std::memset(zeros.mutable_data(), 0, static_cast<size_t>(zeros.byte_count()));
  return zeros;
}

void CopyLeavesTo(const Value& value, absl::Span<void* const> addresses) {
  void* const* to = addresses.data();
  const absl::Status status = VisitLeaves(value, [&to](const Value& leaf) {
    std::memcpy(*to++, leaf.untyped_data(), static_cast<size_t>(leaf.byte_count()));
    return absl::OkStatus();
  });
  KASHI_CHECK(status.ok());
}

}  // namespace kashi::values
