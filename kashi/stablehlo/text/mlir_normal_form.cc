// Brings attributes to the form of operation_table.h: records flattened, defaults added, discardable ones last, sorted.
#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "kashi/stablehlo/text/mlir_numbers.h"
#include "kashi/stablehlo/text/mlir_reader.h"

namespace kashi::stablehlo {
namespace {

// Attributes of text whose fields are attributes of the operation.
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

// A value in the form that the table wants, where text has others for it too. nullptr: it has none of them.
const Attribute* MlirReader::NormaliseAttribute(const AttributeRow& row, const Attribute* value) {
  if (row.form == AttributeForm::kBool && value->kind == Attribute::Kind::kUnit) return NewBool(true);
  if (row.form == AttributeForm::kSymbol && value->kind == Attribute::Kind::kString) {
    return NewText(Attribute::Kind::kSymbol, value->text);
  }
  const bool pairs = row.form == AttributeForm::kPairs;
  const bool bools = row.form == AttributeForm::kBools;
  if (value->kind != Attribute::Kind::kArray || !(pairs || bools || row.form == AttributeForm::kIntegers)) return value;
  absl::InlinedVector<int64_t, 8> numbers;
  if (!CollectIntegers(*value, pairs, &numbers)) return nullptr;
  Attribute* list = NewAttribute(Attribute::Kind::kTensor);
  *list = *NewIntegers(numbers);
  if (pairs) list->type = TensorType(defaults_.ElementType(S64), {static_cast<int64_t>(numbers.size() / 2), 2});
  if (bools) {
    std::string bytes;
    for (const int64_t number : numbers) bytes.push_back(number != 0 ? '\1' : '\0');
    list->type = IntegerListType(PRED, static_cast<int64_t>(numbers.size()));
    list->is_splat = bytes.size() > 1 && bytes.find_first_not_of(bytes[0]) == std::string::npos;
    list->text = program_.CopyText(list->is_splat ? bytes.substr(0, 1) : bytes);
  }
  return list;
}

bool MlirReader::NormaliseAttributes(OperationDraft* draft, Operation* operation) {
  absl::InlinedVector<NamedAttribute, 16> given;
  for (const NamedAttribute& attribute : draft->attributes) {
    if (attribute.name == "operandSegmentSizes" || attribute.name == "resultSegmentSizes") continue;
    if (IsFlattened(attribute.name) && attribute.value->kind == Attribute::Kind::kRecord) {
      for (const NamedAttribute& field : attribute.value->fields) {
        // Only send and recv have the type of a channel.
        if (field.name != "channel_type" || HasRow(draft->row, field.name)) given.push_back(field);
      }
    } else {
      given.push_back(attribute);
    }
  }
  absl::InlinedVector<NamedAttribute, 16> normal;
  const absl::Span<const AttributeRow> rows =
      draft->row == nullptr ? absl::Span<const AttributeRow>() : draft->row->attributes;
  for (const AttributeRow& row : rows) {
    if (!draft->row->IsCurrent(row)) continue;
    NamedAttribute attribute;
    attribute.name = row.name;
    const auto found = std::find_if(given.begin(), given.end(), [&](const auto& a) { return a.name == row.name; });
    if (found == given.end()) {
      absl::StatusOr<const Attribute*> value = defaults_.Make(row, *operation);
      if (!value.ok()) return Error(draft->begin, draft->end, std::string(value.status().message()));
      attribute.value = *value;
      if (attribute.value == nullptr) continue;
    } else {
      attribute.value = found->value;
      given.erase(found);
      attribute.value = NormaliseAttribute(row, attribute.value);
      if (attribute.value == nullptr || !HasForm(*attribute.value, row.form)) {
        return Error(draft->begin, draft->end,
                     absl::StrCat("the attribute ", row.name, " of ", draft->name, " has another form"));
      }
    }
    normal.push_back(attribute);
  }
  std::sort(given.begin(), given.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  normal.insert(normal.end(), given.begin(), given.end());
  operation->attributes = program_.CopyArray<NamedAttribute>(normal);
  return true;
}

}  // namespace kashi::stablehlo
