#include "kashi/values/value.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kashi/array/layout_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/guard_pages.h"
#include "kashi/base/sole_owner.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"

namespace kashi {

using base::CopyBetweenGuards;
using base::HasGuardPages;
using base::IsGuarded;
namespace {

// INT64_MAX if there are more: a product of sizes that no memory could hold must not wrap before it is checked.
int64_t BytesOrMost(int64_t element_bytes, absl::Span<const int64_t> dimensions) {
  int64_t bytes = element_bytes;
  bool is_too_much = false;
  for (int64_t size : dimensions) {
    if (size == 0) return 0;
    is_too_much = __builtin_mul_overflow(bytes, size, &bytes) || is_too_much;
  }
  return is_too_much ? INT64_MAX : bytes;
}

}  // namespace

DenseShape MakeDenseShape(PrimitiveType type, absl::Span<const int64_t> dimensions) {
  auto shape = std::make_shared<Shape>(type, dimensions);
  *shape->mutable_layout() = LayoutUtil::GetDefaultLayoutForShape(*shape);
  return shape;
}
absl::StatusOr<DenseShape> MakeCheckedDenseShape(PrimitiveType type, absl::Span<const int64_t> dimensions) {
  KASHI_ASSIGN_OR_RETURN(Shape shape, ShapeUtil::MakeValidatedShape(type, dimensions));
  return std::make_shared<const Shape>(std::move(shape));
}
DenseShape MakeDenseShape(const Shape& array) { return MakeDenseShape(array.element_type(), array.dimensions()); }

Value::Node::~Node() {
  if (budget == nullptr) return;
  budget->Free(data, element_count * element_bytes);
}

std::shared_ptr<Value::Node> Value::MakeArrayNode(DenseShape shape, int64_t element_count) {
  auto node = std::make_shared<Node>();
  node->element_count = element_count;
  node->element_bytes = static_cast<int>(ShapeUtil::ByteSizeOfPrimitiveType(shape->element_type()));
  node->shape = std::move(shape);
  return node;
}

absl::StatusOr<Value> Value::MakeArray(DenseShape shape, const std::shared_ptr<MemoryBudget>& budget) {
  const int64_t element_bytes = ShapeUtil::ByteSizeOfPrimitiveType(shape->element_type());
  const int64_t bytes = BytesOrMost(element_bytes, shape->dimensions());
  if (bytes <= kSmallBytes && !HasGuardPages()) {
    std::shared_ptr<Node> node = MakeArrayNode(std::move(shape), bytes / element_bytes);
    node->data = node->small;
    return Value(std::move(node));
  }
  return MakeAlignedArray(std::move(shape), budget);
}

absl::StatusOr<Value> Value::MakeAlignedArray(DenseShape shape, const std::shared_ptr<MemoryBudget>& budget) {
  const int64_t element_bytes = ShapeUtil::ByteSizeOfPrimitiveType(shape->element_type());
  const int64_t bytes = BytesOrMost(element_bytes, shape->dimensions());
  void* data = bytes == INT64_MAX ? nullptr : budget->Allocate(bytes);
  if (data == nullptr) {
    return WithLimitKind(
        ResourceExhausted("Out of memory allocating %s%d bytes for %s; %d of the limit of %d are in use",
                          bytes == INT64_MAX ? "more than " : "", bytes, ShapeUtil::HumanString(*shape), budget->used(),
                          budget->limit()),
        LimitKind::kMemory);
  }
  std::shared_ptr<Node> node = MakeArrayNode(std::move(shape), bytes / element_bytes);
  node->data = data;
  node->budget = budget;
  return Value(std::move(node));
}

Value Value::Borrow(DenseShape shape, const void* data, std::shared_ptr<const void> owner) {
  KASHI_CHECK(owner != nullptr);
  const int64_t element_count = ShapeUtil::ElementsIn(*shape);
  std::shared_ptr<Node> node = MakeArrayNode(std::move(shape), element_count);
  if (const int64_t bytes = element_count * node->element_bytes; HasGuardPages() && !IsGuarded(data, bytes)) {
    owner = CopyBetweenGuards(data, bytes);
    data = owner.get();
  }
  node->data = const_cast<void*>(data);  // is_unique() is false for borrowed memory, so it is never written
  node->owner = std::move(owner);
  node->is_borrowed = true;
  return Value(std::move(node));
}

Value Value::Owning(DenseShape shape, std::shared_ptr<void> memory) {
  const int64_t element_count = ShapeUtil::ElementsIn(*shape);
  std::shared_ptr<Node> node = MakeArrayNode(std::move(shape), element_count);
  node->data = memory.get();
  node->owner = std::move(memory);
  return Value(std::move(node));
}

Value Value::OnMemory(DenseShape shape, void* data) {
  const int64_t element_count = ShapeUtil::ElementsIn(*shape);
  std::shared_ptr<Node> node = MakeArrayNode(std::move(shape), element_count);
  node->data = data;
  return Value(std::move(node));
}

Value Value::MakeTuple(std::vector<Value> elements) {
  auto node = std::make_shared<Node>();
  node->is_tuple = true;
  node->elements = std::move(elements);
  return Value(std::move(node));
}

Value Value::MakeToken() { return Value(std::make_shared<Node>()); }

Value Value::MakePending(std::shared_ptr<values::PendingValue> pending) {
  auto node = std::make_shared<Node>();
  node->pending = std::move(pending);
  return Value(std::move(node));
}

Value Value::WithShape(Value value, DenseShape shape) {
  KASHI_CHECK(value.is_array());
  if (shape == value.dense_shape()) return value;
  KASHI_CHECK(ShapeUtil::ElementsIn(*shape) == value.element_count());
  KASHI_CHECK(ShapeUtil::ByteSizeOfPrimitiveType(shape->element_type()) == value.element_bytes());
  if (value.is_unique()) {
    value.node_->shape = std::move(shape);
    return value;
  }
  if (*shape == value.shape()) return value;
  const void* data = value.untyped_data();
  return Borrow(std::move(shape), data, std::move(value.node_));
}

Value Value::KeepingAlive(Value value, const std::shared_ptr<const void>& keeper) {
  if (value.is_array() && value.node_->is_borrowed) {
    auto node = MakeArrayNode(value.node_->shape, value.node_->element_count);
    node->data = value.node_->data;
    node->owner = std::make_shared<const std::pair<Value, std::shared_ptr<const void>>>(std::move(value), keeper);
    node->is_borrowed = true;
    return Value(std::move(node));
  }
  if (!value.is_tuple()) return value;
  std::vector<Value> elements;
  while (elements.size() < value.elements().size()) {
    elements.push_back(KeepingAlive(value.element(static_cast<int64_t>(elements.size())), keeper));
  }
  return MakeTuple(std::move(elements));
}

Value Value::TakeElement(Value tuple, int64_t i) {
  KASHI_CHECK(tuple.is_tuple());
  if (base::IsSoleOwner(tuple.node_)) return std::move(tuple.node_->elements[i]);
  return tuple.node_->elements[i];
}

}  // namespace kashi
