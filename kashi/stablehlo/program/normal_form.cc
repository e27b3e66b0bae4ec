#include "kashi/stablehlo/program/normal_form.h"

#include <algorithm>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/base/status.h"

namespace kashi::stablehlo {
namespace {

// Attributes whose fields are attributes of the operation.
bool IsFlattened(absl::string_view name) {
  return name == "dot_dimension_numbers" || name == "algorithm" || name == "dimension_numbers" ||
         name == "scatter_dimension_numbers" || name == "channel_handle";
}

bool HasRow(const OperationRow* operation, absl::string_view name) {
  if (operation == nullptr) return false;
  return std::any_of(operation->attributes.begin(), operation->attributes.end(),
                     [&](const AttributeRow& row) { return row.name == name; });
}

bool AppendInteger(const Attribute& number, absl::InlinedVector<int64_t, 8>* values) {
  values->push_back(number.integer);
  return number.kind == Attribute::Kind::kInteger || number.kind == Attribute::Kind::kBool;
}

// [1, 2], and of pairs [[1, 2], [3, 4]], one after the other. False: it has another form.
bool CollectIntegers(const Attribute& list, bool pairs, absl::InlinedVector<int64_t, 8>* values) {
  for (const Attribute* element : list.elements) {
    if (!pairs) {
      if (!AppendInteger(*element, values)) return false;
      continue;
    }
    if (element->kind != Attribute::Kind::kArray || element->elements.size() != 2) return false;
    for (const Attribute* number : element->elements) {
      if (!AppendInteger(*number, values)) return false;
    }
  }
  return true;
}

}  // namespace

const Attribute* NormalForm::NewList(PrimitiveType element, absl::Span<const int64_t> dimensions,
                                     const Numbers& numbers) {
  Type* type = program_.New<Type>();
  type->kind = Type::Kind::kTensor;
  type->dimensions = program_.CopyArray<int64_t>(dimensions);
  type->types = program_.CopyArray<const Type*>({defaults_.ElementType(element)});
  Attribute* list = program_.New<Attribute>();
  list->kind = Attribute::Kind::kTensor;
  list->type = type;
  list->is_splat = numbers.size() > 1 &&
                   std::count(numbers.begin(), numbers.end(), numbers[0]) == static_cast<int64_t>(numbers.size());
  std::string bytes;
  for (size_t i = 0; i < (list->is_splat ? 1 : numbers.size()); ++i) {
    if (element == PRED) {
      bytes.push_back(numbers[i] != 0 ? '\1' : '\0');
    } else {
      bytes.append(reinterpret_cast<const char*>(&numbers[i]), sizeof(int64_t));
    }
  }
  list->text = program_.CopyText(bytes);
  return list;
}

// A value in the form that the table wants, where StableHLO has others for it too. nullptr: it has none of them.
const Attribute* NormalForm::Normalise(const AttributeRow& row, const Attribute* value) {
  Attribute* other = nullptr;
  if (row.form == AttributeForm::kBool && value->kind == Attribute::Kind::kUnit) {
    other = program_.New<Attribute>();
    other->kind = Attribute::Kind::kBool;
    other->integer = 1;
  } else if (row.form == AttributeForm::kSymbol && value->kind == Attribute::Kind::kString) {
    other = program_.New<Attribute>();
    other->kind = Attribute::Kind::kSymbol;
    other->text = value->text;
  }
  if (other != nullptr) return other;
  const bool pairs = row.form == AttributeForm::kPairs;
  const bool bools = row.form == AttributeForm::kBools;
  if (value->kind != Attribute::Kind::kArray || !(pairs || bools || row.form == AttributeForm::kIntegers)) return value;
  Numbers numbers;
  if (!CollectIntegers(*value, pairs, &numbers)) return nullptr;
  const auto count = static_cast<int64_t>(numbers.size());
  if (pairs) return NewList(S64, {count / 2, 2}, numbers);
  return NewList(bools ? PRED : S64, {count}, numbers);
}

absl::Status NormalForm::SetAttributes(absl::Span<const NamedAttribute> given, const OperationRow* row,
                                       Operation* operation) {
  absl::InlinedVector<NamedAttribute, 16> left;
  for (const NamedAttribute& attribute : given) {
    if (attribute.name == "operandSegmentSizes" || attribute.name == "resultSegmentSizes") continue;
    if (IsFlattened(attribute.name) && attribute.value->kind == Attribute::Kind::kRecord) {
      for (const NamedAttribute& field : attribute.value->fields) {
        // Only send and recv have the type of a channel.
        if (field.name != "channel_type" || HasRow(row, field.name)) left.push_back(field);
      }
    } else {
      left.push_back(attribute);
    }
  }
  absl::InlinedVector<NamedAttribute, 16> normal;
  for (const AttributeRow& wanted : row == nullptr ? absl::Span<const AttributeRow>() : row->attributes) {
    if (!row->IsCurrent(wanted)) continue;
    NamedAttribute attribute;
    attribute.name = wanted.name;
    const auto found = std::find_if(left.begin(), left.end(), [&](const auto& a) { return a.name == wanted.name; });
    if (found == left.end()) {
      KASHI_ASSIGN_OR_RETURN(attribute.value, defaults_.Make(wanted, *operation));
      if (attribute.value == nullptr) continue;
    } else {
      attribute.value = Normalise(wanted, found->value);
      left.erase(found);
      if (attribute.value == nullptr || !HasForm(*attribute.value, wanted.form)) {
        return InvalidArgument("the attribute %s of %s has another form", wanted.name, operation->name);
      }
    }
    normal.push_back(attribute);
  }
  std::sort(left.begin(), left.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  normal.insert(normal.end(), left.begin(), left.end());
  operation->attributes = program_.CopyArray<NamedAttribute>(normal);
  return absl::OkStatus();
}

}  // namespace kashi::stablehlo
