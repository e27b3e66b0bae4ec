#include "kashi/values/value_util.h"

#include <utility>

#include "kashi/base/status.h"

namespace kashi::values {

bool HasSizesOf(const Value& array, const Shape& shape) {
  if (array.rank() != shape.dimensions().size()) return false;
  for (int i = 0; i < array.rank(); ++i) {
    if (!shape.is_dynamic_dimension(i) && array.dimension(i) != shape.dimensions(i)) return false;
  }
  return true;
}

bool HasShape(const Value& value, const Shape& shape) {
  if (value.is_array()) {
    return shape.IsArray() && value.element_type() == shape.element_type() && HasSizesOf(value, shape);
  }
  if (value.pending() != nullptr) return true;
  if (!value.is_tuple()) return shape.IsToken();
  if (!shape.IsTuple() || value.elements().size() != shape.tuple_shapes().size()) return false;
  for (size_t i = 0; i < value.elements().size(); ++i) {
    if (!HasShape(value.element(static_cast<int64_t>(i)), shape.tuple_shapes(static_cast<int>(i)))) return false;
  }
  return true;
}

Value BorrowLeaves(const Shape& shape, const void* const** next) {
  if (!shape.IsTuple()) {
    const void* const data = *(*next)++;
    return Value::Borrow(MakeDenseShape(shape), data, LentBy(data));
  }
  std::vector<Value> elements;
  for (const Shape& element : shape.tuple_shapes()) elements.push_back(BorrowLeaves(element, next));
  return Value::MakeTuple(std::move(elements));
}

Value ValueOfLeaves(const Shape& shape, Value** next) {
  if (!shape.IsTuple()) return std::move(*(*next)++);
  std::vector<Value> elements;
  for (const Shape& element : shape.tuple_shapes()) elements.push_back(ValueOfLeaves(element, next));
  return Value::MakeTuple(std::move(elements));
}

absl::Status VisitLeaves(const Value& value, absl::FunctionRef<absl::Status(const Value& leaf)> visit) {
  if (!value.is_tuple()) return visit(value);
  for (const Value& element : value.elements()) KASHI_RETURN_IF_ERROR(VisitLeaves(element, visit));
  return absl::OkStatus();
}

}  // namespace kashi::values
