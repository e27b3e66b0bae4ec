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

// A list of integers in brackets, [1, 2] or [[0, 1], [2, 3]], as the tensor that the table wants; or nullptr.
const Attribute* MlirReader::ListAsTensor(const Attribute& list, AttributeForm form) {
  absl::InlinedVector<int64_t, 8> numbers;
  bool ok = true;
  CollectIntegers(list, &numbers, &ok);
  if (!ok || (form == AttributeForm::kPairs && numbers.size() % 2 != 0)) return nullptr;
  Attribute* tensor = NewAttribute(Attribute::Kind::kTensor);
  *tensor = *NewIntegers(numbers);
  if (form == AttributeForm::kPairs) {
    tensor->type = TensorType(defaults_.ElementType(S64), {static_cast<int64_t>(numbers.size() / 2), 2});
  } else if (form == AttributeForm::kBools) {
    std::string bytes;
    for (const int64_t number : numbers) bytes.push_back(number != 0 ? '\1' : '\0');
    tensor->type = IntegerListType(PRED, static_cast<int64_t>(numbers.size()));
    tensor->text = program_.CopyText(tensor->is_splat ? bytes.substr(0, 1) : bytes);
  }
  return tensor;
}

// The value in the form that the table wants; nullptr if it has another.
const Attribute* MlirReader::InForm(const Attribute* value, AttributeForm form) {
  const bool wants_numbers =
      form == AttributeForm::kIntegers || form == AttributeForm::kBools || form == AttributeForm::kPairs;
  if (form == AttributeForm::kBool && value->kind == Attribute::Kind::kUnit) {
    value = NewBool(true);
  } else if (form == AttributeForm::kSymbol && value->kind == Attribute::Kind::kString) {
    value = NewText(Attribute::Kind::kSymbol, value->text);
  } else if (wants_numbers && value->kind == Attribute::Kind::kArray) {
    value = ListAsTensor(*value, form);
  }
  return value != nullptr && HasForm(*value, form) ? value : nullptr;
}

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
    const auto found = std::find_if(given.begin(), given.end(), [&](const auto& a) { return a.name == row.name; });
    const Attribute* value = nullptr;
    if (found == given.end()) {
      const absl::StatusOr<const Attribute*> made = defaults_.Make(row, *operation);
      if (!made.ok()) return Error(draft->begin, draft->end, std::string(made.status().message()));
      if (*made == nullptr) continue;
      value = *made;
    } else {
      value = InForm(found->value, row.form);
      if (value == nullptr) {
        return Error(draft->begin, draft->end,
                     absl::StrCat("the attribute ", row.name, " of ", draft->name, " has another form"));
      }
      given.erase(found);
    }
    normal.push_back({row.name, value});
  }
  std::sort(given.begin(), given.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  normal.insert(normal.end(), given.begin(), given.end());
  operation->attributes = program_.CopyArray<NamedAttribute>(normal);
  return true;
}

}  // namespace kashi::stablehlo
