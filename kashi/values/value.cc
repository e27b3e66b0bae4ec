#include "kashi/values/value.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "kashi/array/layout_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/guard_pages.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/literal/strided_walk.h"

namespace kashi {

using base::AllocateGuarded;
using base::FreeGuarded;
using base::HasGuardPages;
using base::IsGuarded;
using base::ProtectGuarded;
using literal::CopyStrided;
using literal::ElementStrides;
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

// Whether the elements of the literal at the index lie as those of a value do: dense, row-major, no dynamic dimension.
bool LiesAsValue(const Shape& shape) { return shape.is_static() && literal::IsStoredRowMajor(shape); }

// A copy of lent memory between guard pages, which nobody may write to.
std::shared_ptr<const void> CopyBetweenGuards(const void* data, int64_t bytes) {
  void* const copy = AllocateGuarded(bytes, /*alignment=*/1);
  KASHI_CHECK(copy != nullptr) << "no memory for " << bytes << " bytes between guard pages";
  if (bytes > 0) std::memcpy(copy, data, static_cast<size_t>(bytes));
  ProtectGuarded(copy);
  return std::shared_ptr<const void>(copy, [](const void* block) { FreeGuarded(const_cast<void*>(block)); });
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
  void* data = bytes == INT64_MAX ? nullptr : budget->Allocate(bytes);
  if (data == nullptr) {
    return WithLimitKind(
        ResourceExhausted("%s takes %s%d bytes; %d of the limit of %d are in use", ShapeUtil::HumanString(*shape),
                          bytes == INT64_MAX ? "more than " : "", bytes, budget->used(), budget->limit()),
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
  if (value.is_array() && value.node_->owner != nullptr) {
    auto node = MakeArrayNode(value.node_->shape, value.node_->element_count);
    node->data = value.node_->data;
    node->owner = std::make_shared<const std::pair<Value, std::shared_ptr<const void>>>(std::move(value), keeper);
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
  if (tuple.node_.use_count() == 1) return std::move(tuple.node_->elements[i]);
  return tuple.node_->elements[i];
}

namespace {

absl::StatusOr<Value> ArrayFromLiteral(const LiteralSlice& literal, const std::shared_ptr<MemoryBudget>& budget,
                                       const std::shared_ptr<const void>& owner) {
  const Shape& shape = literal.shape();
  if (!literal.IsKnown()) return InvalidArgument("The value of %s is not known", ShapeUtil::HumanString(shape));
  std::vector<int64_t> sizes(shape.dimensions().begin(), shape.dimensions().end());
  for (int i = 0; i < static_cast<int>(sizes.size()); ++i) {
    if (shape.is_dynamic_dimension(i)) sizes[i] = literal.GetDynamicSize(i);  // 32 bits, which a static size may exceed
  }
  DenseShape dense = MakeDenseShape(shape.element_type(), sizes);
  if (owner != nullptr && LiesAsValue(shape)) return Value::Borrow(std::move(dense), literal.untyped_data(), owner);
  KASHI_ASSIGN_OR_RETURN(Value value, Value::MakeArray(dense, budget));
  CopyStrided(sizes, value.element_bytes(), {static_cast<const char*>(literal.untyped_data()), ElementStrides(shape)},
              {value.mutable_bytes(), ElementStrides(*dense)});
  return value;
}

absl::StatusOr<Value> FromLiteralAt(const LiteralBase& literal, const Shape& shape, ShapeIndex* index,
                                    const std::shared_ptr<MemoryBudget>& budget,
                                    const std::shared_ptr<const void>& owner) {
  if (shape.IsArray()) return ArrayFromLiteral(LiteralSlice(literal, *index), budget, owner);
  if (shape.IsToken()) return Value::MakeToken();
  if (!shape.IsTuple()) return Unimplemented("Values of type %s", ShapeUtil::HumanString(shape));
  std::vector<Value> elements;
  elements.reserve(shape.tuple_shapes().size());
  for (size_t i = 0; i < shape.tuple_shapes().size(); ++i) {
    index->push_back(static_cast<int64_t>(i));
    KASHI_ASSIGN_OR_RETURN(Value element, FromLiteralAt(literal, shape.tuple_shapes(i), index, budget, owner));
    elements.push_back(std::move(element));
    index->pop_back();
  }
  return Value::MakeTuple(std::move(elements));
}

// The elements of `value` into the literal at the index, and its sizes where the literal is dynamic.
void CopyArrayToLiteral(const Value& value, const ShapeIndex& index, Literal* literal) {
  const Shape& shape = ShapeUtil::GetSubshape(literal->shape(), index);
  KASHI_CHECK(shape.element_type() == value.element_type() && shape.dimensions().size() == value.dimensions().size())
      << ShapeUtil::HumanString(shape) << " and " << ShapeUtil::HumanString(value.shape());
  std::vector<int64_t> sizes(value.dimensions().begin(), value.dimensions().end());
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t dimension = static_cast<int64_t>(i);
    if (shape.is_dynamic_dimension(dimension)) {
      sizes[i] = std::min(sizes[i], shape.dimensions(dimension));
    } else {
      KASHI_CHECK(sizes[i] == shape.dimensions(dimension))
          << ShapeUtil::HumanString(shape) << " and " << ShapeUtil::HumanString(value.shape());
    }
  }
  if (!shape.is_static()) std::memset(literal->untyped_data(index), 0, static_cast<size_t>(literal->size_bytes(index)));
  CopyStrided(sizes, value.element_bytes(), {value.bytes(), ElementStrides(value.shape())},
              {static_cast<char*>(literal->untyped_data(index)), ElementStrides(shape)});
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t dimension = static_cast<int64_t>(i);
    if (shape.is_dynamic_dimension(dimension))
      literal->SetDynamicSize(dimension, index, static_cast<int32_t>(sizes[i]));
  }
}

void CopyToLiteralAt(const Value& value, ShapeIndex* index, Literal* literal) {
  if (value.is_array()) return CopyArrayToLiteral(value, *index, literal);
  if (!value.is_tuple()) return;
  for (size_t i = 0; i < value.elements().size(); ++i) {
    index->push_back(static_cast<int64_t>(i));
    CopyToLiteralAt(value.element(static_cast<int64_t>(i)), index, literal);
    index->pop_back();
  }
}

}  // namespace

absl::StatusOr<Value> Value::FromLiteral(const LiteralBase& literal, const std::shared_ptr<MemoryBudget>& budget,
                                         std::shared_ptr<const void> owner) {
  ShapeIndex index;
  return FromLiteralAt(literal, literal.shape(), &index, budget, owner);
}

absl::StatusOr<Literal> Value::ToLiteral(const Shape& shape) const {
  KASHI_ASSIGN_OR_RETURN(Literal literal, Literal::Make(shape));
  ShapeIndex index;
  CopyToLiteralAt(*this, &index, &literal);
  return literal;
}

}  // namespace kashi
