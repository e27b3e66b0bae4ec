// Values in the memory of this process: their bytes copied and set.
#ifndef KASHI_VALUES_WRITABLE_H_
#define KASHI_VALUES_WRITABLE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/shape.h"
#include "kashi/values/memory_budget.h"
#include "kashi/values/value.h"

namespace kashi::values {

// Returns `array` if it is unique, otherwise a copy, so that the caller can write to it.
absl::StatusOr<Value> MakeWritable(const std::shared_ptr<MemoryBudget>& memory, Value array);

// Zeros of this shape; tokens and what is no array are tokens.
absl::StatusOr<Value> MakeZeros(const Shape& shape, const std::shared_ptr<MemoryBudget>& memory);

// Copies the elements of each leaf of a value to one address, in order. All leaves are arrays.
void CopyLeavesTo(const Value& value, absl::Span<void* const> addresses);

}  // namespace kashi::values

#endif  // KASHI_VALUES_WRITABLE_H_
