#include "kashi/stablehlo/program/default_attributes.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_type.h"
#include "kashi/base/status.h"
#include "kashi/stablehlo/program/operation_table.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {
namespace {

// Eight bytes of 0, and of 1 in little-endian order: the one element of a splat, of either type.
constexpr char kZeroBytes[] = "\0\0\0\0\0\0\0";
constexpr char kOneBytes[] = "\1\0\0\0\0\0\0";

constexpr bool DependsOnRank(AttributeDefault fallback) { return fallback >= AttributeDefault::kOnes; }
constexpr bool IsSpatial(AttributeDefault fallback) { return fallback >= AttributeDefault::kSpatialOnes; }

}  // namespace

absl::StatusOr<const Attribute*> DefaultAttributes::Make(const AttributeRow& row, const Operation& operation) {
  if (row.fallback == AttributeDefault::kRequired) {
    return InvalidArgument("%s needs the attribute %s", operation.name, row.name);
  }
  if (DependsOnRank(row.fallback)) return MakeForRank(row, operation);
  if (row.fallback == AttributeDefault::kFirstValue) {
    const Attribute*& value = first_values_[static_cast<size_t>(row.form)];
    if (value == nullptr) value = NewEnum(FindEnumeration(row.form)->values[0]);
    return value;
  }
  const Attribute*& made = made_[static_cast<size_t>(row.fallback)];
  if (made == nullptr) made = MakeOnce(row);
  return made;
}

const Attribute* DefaultAttributes::MakeOnce(const AttributeRow& row) {
  switch (row.fallback) {
    case AttributeDefault::kFalse:
      return NewNumber(Attribute::Kind::kBool, PRIMITIVE_TYPE_INVALID, 0);
    case AttributeDefault::kZero:
      return NewNumber(Attribute::Kind::kInteger, S64, 0);
    case AttributeDefault::kZero32:
      return NewNumber(Attribute::Kind::kInteger, S32, 0);
    case AttributeDefault::kOne32:
      return NewNumber(Attribute::Kind::kInteger, S32, 1);
    case AttributeDefault::kMinusOne:
      return NewNumber(Attribute::Kind::kInteger, S64, -1);
    case AttributeDefault::kEmptyText:
      return New(Attribute::Kind::kString);
    case AttributeDefault::kEmptyArray:
      return New(Attribute::Kind::kArray);
    case AttributeDefault::kEmptyDictionary:
      return New(Attribute::Kind::kDictionary);
    case AttributeDefault::kNoIntegers:
      return NewTensor(S64, {0}, 0);
    case AttributeDefault::kNoPairs:
      return NewTensor(S64, {0, 2}, 0);
    case AttributeDefault::kAccuracy:
      return NewAccuracy();
    case AttributeDefault::kNone: {
      Attribute* none = New(Attribute::Kind::kType);
      none->type = NoneType();
      return none;
    }
    case AttributeDefault::kPrecisions: {
      Attribute* precisions = New(Attribute::Kind::kArray);
      const Attribute* precision = NewEnum("DEFAULT");
      precisions->elements = program_->CopyArray<const Attribute*>({precision, precision});
      return precisions;
    }
    default:  // kOptional; Make has dealt with the others
      return nullptr;
  }
}

absl::StatusOr<const Attribute*> DefaultAttributes::MakeForRank(const AttributeRow& row, const Operation& operation) {
  const Type* type = operation.operands.empty() ? nullptr : operation.operands[0]->type;
  const size_t kept = IsSpatial(row.fallback) ? 2 : 0;
  if (type == nullptr || type->kind != Type::Kind::kTensor || type->dimensions.size() < kept) {
    return InvalidArgument("%s needs the attribute %s: its default follows from the rank of the first operand",
                           operation.name, row.name);
  }
  const int64_t count = static_cast<int64_t>(type->dimensions.size() - kept);
  switch (row.fallback) {
    case AttributeDefault::kOnes:
    case AttributeDefault::kSpatialOnes:
      return NewTensor(S64, {count}, 1);
    case AttributeDefault::kZeroPairs:
    case AttributeDefault::kSpatialZeroPairs:
      return NewTensor(S64, {count, 2}, 0);
    default:
      return NewTensor(PRED, {count}, 0);
  }
}

const Type* DefaultAttributes::ElementType(PrimitiveType element) {
  const Type*& made = element_types_[static_cast<size_t>(element)];
  if (made == nullptr) {
    Type* type = program_->New<Type>();
    type->kind = Type::Kind::kElement;
    type->element = element;
    made = type;
  }
  return made;
}

const Type* DefaultAttributes::NoneType() {
  if (none_ == nullptr) none_ = program_->New<Type>();
  return none_;
}

Attribute* DefaultAttributes::New(Attribute::Kind kind) {
  Attribute* attribute = program_->New<Attribute>();
  attribute->kind = kind;
  return attribute;
}

Attribute* DefaultAttributes::NewNumber(Attribute::Kind kind, PrimitiveType element, int64_t value) {
  Attribute* attribute = New(kind);
  attribute->integer = value;
  if (element != PRIMITIVE_TYPE_INVALID) attribute->type = ElementType(element);
  return attribute;
}

Attribute* DefaultAttributes::NewEnum(absl::string_view text) {
  Attribute* attribute = New(Attribute::Kind::kEnum);
  attribute->text = text;
  return attribute;
}

Attribute* DefaultAttributes::NewAccuracy() {
  const Attribute* zero = NewNumber(Attribute::Kind::kFloat, F64, 0);
  const NamedAttribute fields[] = {{"atol", zero},
                                   {"rtol", zero},
                                   {"ulps", NewNumber(Attribute::Kind::kInteger, S64, 0)},
                                   {"mode", NewEnum("DEFAULT")}};
  Attribute* accuracy = New(Attribute::Kind::kRecord);
  accuracy->text = "stablehlo.result_accuracy";
  accuracy->fields = program_->CopyArray<NamedAttribute>(fields);
  return accuracy;
}

// A splat of 0 or 1, or no elements.
Attribute* DefaultAttributes::NewTensor(PrimitiveType element, absl::Span<const int64_t> dimensions, int64_t value) {
  Type* type = program_->New<Type>();
  type->kind = Type::Kind::kTensor;
  type->dimensions = program_->CopyArray<int64_t>(dimensions);
  type->types = program_->CopyArray<const Type*>({ElementType(element)});
  Attribute* tensor = New(Attribute::Kind::kTensor);
  tensor->type = type;
  if (dimensions[0] == 0) return tensor;
  tensor->is_splat = dimensions.size() > 1 || dimensions[0] != 1;
  tensor->text = absl::string_view(value == 0 ? kZeroBytes : kOneBytes, element == PRED ? 1 : sizeof(int64_t));
  return tensor;
}

}  // namespace kashi::stablehlo
