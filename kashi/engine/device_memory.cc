#include "kashi/engine/device_memory.h"

#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "kashi/base/status.h"
#include "kashi/engine/dense_placement.h"

namespace kashi::engine {
namespace {

// The value with each array replaced by what `convert` makes of it.
absl::StatusOr<Value> ConvertArrays(Value value, absl::FunctionRef<absl::StatusOr<Value>(Value array)> convert) {
  if (value.is_array()) return convert(std::move(value));
  if (!value.is_tuple()) return value;
  std::vector<Value> elements;
  for (const Value& element : value.elements()) {
    KASHI_ASSIGN_OR_RETURN(Value converted, ConvertArrays(element, convert));
    elements.push_back(std::move(converted));
  }
  return Value::MakeTuple(std::move(elements));
}

}  // namespace

absl::StatusOr<Value> ToDevice(const DeviceMemory& memory, Value value, const std::shared_ptr<MemoryBudget>& budget) {
  if (&memory == &HostMemory()) return value;
  return ConvertArrays(std::move(value), [&](const Value& array) -> absl::StatusOr<Value> {
    KASHI_ASSIGN_OR_RETURN(const Placement placement, DensePlacement(array.shape()));
    return memory.CopyIn(array.untyped_data(), placement, array.dense_shape(), budget);
  });
}

absl::StatusOr<Value> ToHost(const DeviceMemory& memory, Value value, const std::shared_ptr<MemoryBudget>& budget) {
  if (&memory == &HostMemory()) return value;
  return ConvertArrays(std::move(value), [&](const Value& array) -> absl::StatusOr<Value> {
    KASHI_ASSIGN_OR_RETURN(const Placement placement, DensePlacement(array.shape()));
    KASHI_ASSIGN_OR_RETURN(Value copy, Value::MakeArray(array.dense_shape(), budget));
    KASHI_RETURN_IF_ERROR(memory.CopyOut(array, copy.mutable_data(), placement));
    return copy;
  });
}

}  // namespace kashi::engine
