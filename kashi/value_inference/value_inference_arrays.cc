// Arrays of known and dynamic elements, and the literals that they become.
#include <cstring>

#include "absl/functional/function_ref.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/literal/literal_util.h"
#include "kashi/value_inference/value_inference_pass.h"

namespace kashi::value_inference {

Known Known::AllOf(Value value) {
  if (value.is_tuple()) {
    std::vector<Known> elements;
    for (const Value& element : value.elements()) elements.push_back(AllOf(element));
    return TupleOf(std::move(elements));
  }
  Known known;
  if (value.is_array()) known.value = std::move(value);
  return known;
}

Known Known::TupleOf(std::vector<Known> elements) {
  Known known;
  known.is_tuple = true;
  known.elements = std::move(elements);
  return known;
}

Value Known::ToValue() const {
  if (!is_tuple) return value;
  std::vector<Value> values;
  for (const Known& element : elements) values.push_back(element.ToValue());
  return Value::MakeTuple(std::move(values));
}

const Known& Known::Element(int64_t i) const {
  static const Known* const nothing = new Known;
  return is_tuple ? elements[i] : *nothing;
}

absl::StatusOr<Value> Inference::Filled(PrimitiveType type, const Shape& shape, int byte) {
  KASHI_ASSIGN_OR_RETURN(Value value, run_.MakeArray(type, shape.dimensions()));
  if (value.byte_count() > 0) std::memset(value.mutable_data(), byte, static_cast<size_t>(value.byte_count()));
  return value;
}

absl::StatusOr<Value> Inference::ValueOrZeros(const Known& known, const Shape& shape) {
  if (!known.value.is_nothing()) return known.value;
  return Filled(shape.element_type(), shape, 0);
}

absl::StatusOr<Value> Inference::Dynamic(const Known& known, const Shape& shape) {
  if (!known.dynamic.is_nothing()) return known.dynamic;
  return Filled(PRED, shape, known.value.is_nothing() ? 1 : 0);
}

absl::StatusOr<std::vector<evaluator::IntegerForms::Id>> Inference::FormsOf(const Known& known) {
  std::vector<evaluator::IntegerForms::Id> ids;
  if (!known.value.is_nothing() && evaluator::IntegerForms::RangeOfType(known.value.element_type()).has_value()) {
    const bool is_large = known.value.element_type() == U64;
    KASHI_ASSIGN_OR_RETURN(const Value numbers, run_.Convert(known.value, S64));
    for (const int64_t number : numbers.data<int64_t>()) {
      ids.push_back(is_large && number < 0 ? evaluator::IntegerForms::kNone : forms_.Constant(number));
    }
  }
  if (known.IsAll()) return ids;
  if (known.forms.is_nothing()) {
    for (size_t i = 0; i < ids.size(); ++i) {
      if (known.dynamic.data<bool>()[i]) ids[i] = evaluator::IntegerForms::kNone;
    }
    return ids;
  }
  ids.resize(static_cast<size_t>(known.forms.element_count()));
  for (size_t i = 0; i < ids.size(); ++i) {
    if (known.value.is_nothing() || known.dynamic.data<bool>()[i])
      ids[i] = known.forms.data<evaluator::IntegerForms::Id>()[i];
  }
  return ids;
}

absl::StatusOr<Value> Inference::FormArray(const Shape& shape, absl::Span<const evaluator::IntegerForms::Id> forms) {
  KASHI_ASSIGN_OR_RETURN(Value value, run_.MakeArray(S32, shape.dimensions()));
  std::copy(forms.begin(), forms.end(), value.mutable_data<evaluator::IntegerForms::Id>().begin());
  return value;
}

Known Inference::Tidy(Known known) {
  const auto all_are = [](const Value& preds, bool wanted) {
    const auto data = preds.data<bool>();
    return std::all_of(data.begin(), data.end(), [&](bool dynamic) { return dynamic == wanted; });
  };
  if (!known.dynamic.is_nothing() && all_are(known.dynamic, false)) known.dynamic = Value();
  if (!known.dynamic.is_nothing() && all_are(known.dynamic, true)) known.value = known.dynamic = Value();
  if (!known.forms.is_nothing()) {
    const auto ids = known.forms.data<evaluator::IntegerForms::Id>();
    const bool says_something = std::any_of(
        ids.begin(), ids.end(), [](evaluator::IntegerForms::Id id) { return id != evaluator::IntegerForms::kNone; });
    if (!says_something || known.IsAll()) known.forms = Value();
  }
  return known;
}

absl::StatusOr<Known> Inference::OfForms(const Shape& shape, absl::Span<const evaluator::IntegerForms::Id> forms) {
  Known known;
  KASHI_ASSIGN_OR_RETURN(known.forms, FormArray(shape, forms));
  return known;
}

namespace {

// The tuple of the literals that `literal_of` makes of the elements. Pre: `shape` is a tuple.
absl::StatusOr<Literal> TupleLiteral(
    const Known& known, const Shape& shape,
    absl::FunctionRef<absl::StatusOr<Literal>(const Known&, const Shape&)> literal_of) {
  std::vector<Literal> elements;
  for (int i = 0; i < ShapeUtil::TupleElementCount(shape); ++i) {
    KASHI_ASSIGN_OR_RETURN(Literal element, literal_of(known.Element(i), shape.tuple_shapes(i)));
    elements.push_back(std::move(element));
  }
  return LiteralUtil::MakeTupleOwned(std::move(elements));
}

}  // namespace

absl::StatusOr<Literal> Inference::ValueLiteral(const Known& known, const Shape& shape, ValueInferenceMode mode) {
  if (shape.IsTuple()) {
    return TupleLiteral(known, shape,
                        [&](const Known& element, const Shape& part) { return ValueLiteral(element, part, mode); });
  }
  if (!shape.IsArray()) return LiteralUtil::CreateToken();
  KASHI_ASSIGN_OR_RETURN(const Value value, ValueOrZeros(known, shape));
  KASHI_ASSIGN_OR_RETURN(Literal literal, value.ToLiteral(ShapeUtil::MakeStaticShape(shape)));
  if (mode == kValue || known.forms.is_nothing()) return literal;
  KASHI_ASSIGN_OR_RETURN(const std::vector<evaluator::IntegerForms::Id> ids, FormsOf(known));
  KASHI_ASSIGN_OR_RETURN(Value bounds, Filled(S64, shape, 0));
  const auto numbers = bounds.mutable_data<int64_t>();
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == evaluator::IntegerForms::kNone) continue;
    numbers[i] = mode == kUpperBound ? forms_.RangeOf(ids[i]).high : forms_.RangeOf(ids[i]).low;
  }
  KASHI_ASSIGN_OR_RETURN(const Value result, run_.Convert(std::move(bounds), shape.element_type()));
  return result.ToLiteral(ShapeUtil::MakeStaticShape(shape));
}

absl::StatusOr<Literal> Inference::DynamicLiteral(const Known& known, const Shape& shape, bool bounds_count) {
  if (shape.IsTuple()) {
    return TupleLiteral(known, shape, [&](const Known& element, const Shape& part) {
      return DynamicLiteral(element, part, bounds_count);
    });
  }
  if (!shape.IsArray()) return LiteralUtil::CreateR0<bool>(true);
  KASHI_ASSIGN_OR_RETURN(Value dynamic, Dynamic(known, shape));
  if (bounds_count && !known.forms.is_nothing()) {
    KASHI_ASSIGN_OR_RETURN(const std::vector<evaluator::IntegerForms::Id> ids, FormsOf(known));
    KASHI_ASSIGN_OR_RETURN(dynamic, Filled(PRED, shape, 0));
    const auto preds = dynamic.mutable_data<bool>();
    for (size_t i = 0; i < ids.size(); ++i) preds[i] = ids[i] == evaluator::IntegerForms::kNone;
  }
  return dynamic.ToLiteral(ShapeUtil::ChangeElementType(ShapeUtil::MakeStaticShape(shape), PRED));
}

}  // namespace kashi::value_inference
