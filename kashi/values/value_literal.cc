#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/literal/strided_walk.h"
#include "kashi/values/value.h"

namespace kashi {

using literal::CopyStrided;
using literal::ElementStrides;
namespace {

// Whether the elements of the literal at the index lie as those of a value do: dense, row-major, no dynamic dimension.
bool LiesAsValue(const Shape& shape) { return shape.is_static() && literal::IsStoredRowMajor(shape); }

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
