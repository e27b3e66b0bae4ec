// Helpers for values that several operations share.
#ifndef KASHI_VALUES_VALUE_UTIL_H_
#define KASHI_VALUES_VALUE_UTIL_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/array/shape.h"
#include "kashi/values/memory_budget.h"
#include "kashi/values/value.h"

namespace kashi::values {

// Whether an array has the sizes of the shape: any, where a dimension is dynamic.
bool HasSizesOf(const Value& array, const Shape& shape);
// Whether a value has this shape: arrays the type and HasSizesOf. One that is pending has any.
bool HasShape(const Value& value, const Shape& shape);

// The owner of memory that a value borrows (Value::FromLiteral), if the caller keeps that memory longer than the value.
inline std::shared_ptr<const void> LentBy(const void* lender) {
  return std::shared_ptr<const void>(std::shared_ptr<void>(), lender);
}

// The value of this shape on memory of the caller's, which keeps it longer than the value. `*next` points to the
// addresses of its leaves, in order; it is moved behind them.
Value BorrowLeaves(const Shape& shape, const void* const** next);

// Adds the leaves of a value, in order. Takes the value: a leaf that only it holds is unique.
template <typename Leaves>
void TakeLeaves(Value value, Leaves* leaves) {
  if (!value.is_tuple()) {
    leaves->push_back(std::move(value));
    return;
  }
  std::vector<Value> elements(value.elements().begin(), value.elements().end());
  value = Value();
  for (Value& element : elements) TakeLeaves(std::move(element), leaves);
}

// The value of this shape with these leaves, which are taken. `*next` points to them; it is moved behind them.
Value ValueOfLeaves(const Shape& shape, Value** next);

// Calls `visit` for the leaves of a value, in order; ends with its first error.
absl::Status VisitLeaves(const Value& value, absl::FunctionRef<absl::Status(const Value& leaf)> visit);

}  // namespace kashi::values

#endif  // KASHI_VALUES_VALUE_UTIL_H_
