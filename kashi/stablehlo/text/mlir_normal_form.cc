// Attributes as operation_table.h says: records flattened, defaults added, discardable ones last and in order.
#include <algorithm>

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

void CollectIntegers(const Attribute& attribute, absl::InlinedVector<int64_t, 8>* values, bool* ok) {
  for (const Attribute* element : attribute.elements) {
    const bool is_number = element->kind == Attribute::Kind::kInteger || element->kind == Attribute::Kind::kBool;
    if (element->kind == Attribute::Kind::kArray) {
      for (const Attribute* inner : element->elements) values->push_back(inner->integer);
    } else if (is_number) {
      values->push_back(element->integer);
    } else {
      *ok = false;
    }
  }
}

}  // namespace

bool MlirReader::NormaliseAttributes(OperationDraft* draft, Operation* operation) {
  absl::InlinedVector<NamedAttribute, 16> given;
  for (const NamedAttribute& attribute : draft->attributes) {
    if (attribute.name == "operandSegmentSizes" || attribute.name == "resultSegmentSizes") continue;
    if (IsFlattened(attribute.name) && attribute.value->kind == Attribute::Kind::kRecord) {
      given.insert(given.end(), attribute.value->fields.begin(), attribute.value->fields.end());
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
      const Attribute& value = *attribute.value;
      absl::InlinedVector<int64_t, 8> numbers;
      bool ok = true;
      if (row.form == AttributeForm::kBool && value.kind == Attribute::Kind::kUnit) attribute.value = NewBool(true);
      if (row.form == AttributeForm::kSymbol && value.kind == Attribute::Kind::kString) {
        attribute.value = NewText(Attribute::Kind::kSymbol, value.text);
      }
      const bool wants_numbers = row.form == AttributeForm::kIntegers || row.form == AttributeForm::kBools ||
                                 row.form == AttributeForm::kPairs;
      if (wants_numbers && value.kind == Attribute::Kind::kArray) {
        CollectIntegers(value, &numbers, &ok);
        Attribute* list = NewAttribute(Attribute::Kind::kTensor);
        *list = *NewIntegers(numbers);
        if (row.form == AttributeForm::kPairs) {
          list->type = TensorType(defaults_.ElementType(S64), {static_cast<int64_t>(numbers.size() / 2), 2});
        }
        if (row.form == AttributeForm::kBools) {
          std::string bytes;
          for (const int64_t number : numbers) bytes.push_back(number != 0 ? '\1' : '\0');
          list->type = IntegerListType(PRED, static_cast<int64_t>(numbers.size()));
          list->text = program_.CopyText(list->is_splat ? bytes.substr(0, 1) : bytes);
        }
        attribute.value = list;
      }
      if (!ok || !HasForm(*attribute.value, row.form)) {
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
