#include "kashi/stablehlo/conversion/attribute_text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "kashi/base/status.h"
#include "kashi/stablehlo/conversion/shapes.h"
#include "kashi/stablehlo/conversion/stablehlo_attribute_text.h"
#include "kashi/stablehlo/program/attribute_access.h"
#include "kashi/stablehlo/program/type_text.h"

namespace kashi::stablehlo {
namespace {

constexpr int kDeepestAttribute = 64;

absl::StatusOr<std::string> TextAtDepth(const Attribute& attribute, int depth);

bool IsUnsigned(const Type* type) {
  return type != nullptr && type->kind == Type::Kind::kElement && primitive_util::IsUnsignedIntegralType(type->element);
}

std::string IntegerText(const Attribute& attribute) {
  return IsUnsigned(attribute.type) ? absl::StrCat(static_cast<uint64_t>(attribute.integer))
                                    : absl::StrCat(attribute.integer);
}

// MLIR writes six digits where they are enough to read the same number again, otherwise seventeen, nine for f32.
// Infinities and NaNs are written as bits.
std::string NumberText(double value, uint64_t bits, PrimitiveType type) {
  const int width = primitive_util::BitWidth(type);
  if (!std::isfinite(value)) return absl::StrFormat("0x%0*X", width / 4, bits);
  const auto reads_back = [&](const std::string& text) {
    return type == F64 ? std::stod(text) == value : std::stof(text) == static_cast<float>(value);
  };
  const std::string exact = absl::StrFormat("%.6e", value);
  if (reads_back(exact)) return exact;
  return absl::StrFormat("%.*g", type == F64 ? 17 : 9, value);
}

absl::StatusOr<std::string> FloatText(const Attribute& attribute) {
  KASHI_ASSIGN_OR_RETURN(const double value, ReadDouble(attribute));
  return NumberText(value, static_cast<uint64_t>(attribute.integer), attribute.type->element);
}

absl::StatusOr<std::string> ElementTextOf(const Literal& row, int64_t i) {
  const PrimitiveType type = row.shape().element_type();
  if (type == PRED || primitive_util::IsIntegralType(type)) return row.GetAsString({i});
  if (type == F32) {
    const float value = row.Get<float>({i});
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    return NumberText(value, bits, type);
  }
  if (type == F64) {
    const double value = row.Get<double>({i});
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    return NumberText(value, bits, type);
  }
  return Unimplemented("text of %s in an attribute", primitive_util::LowercasePrimitiveTypeName(type));
}

absl::StatusOr<std::string> TensorText(const Attribute& tensor) {
  KASHI_ASSIGN_OR_RETURN(const Literal literal, LiteralOfTensor(tensor));
  KASHI_ASSIGN_OR_RETURN(const Literal row, literal.Reshape({literal.element_count()}));
  std::vector<std::string> elements;
  for (int64_t i = 0; i < row.element_count(); ++i) {
    KASHI_ASSIGN_OR_RETURN(elements.emplace_back(), ElementTextOf(row, i));
  }
  const std::string type = TypeText(*tensor.type);
  if (elements.empty()) return absl::StrCat("dense<> : ", type);
  if (std::all_of(elements.begin(), elements.end(), [&](const std::string& e) { return e == elements[0]; })) {
    return absl::StrCat("dense<", elements[0], "> : ", type);
  }
  const std::string lists = NestedListsText(tensor.type->dimensions, [&](int64_t i) { return elements[i]; });
  return absl::StrCat("dense<", lists, "> : ", type);
}

absl::StatusOr<std::string> DictionaryText(const Attribute& dictionary, int depth) {
  std::vector<NamedAttribute> fields(dictionary.fields.begin(), dictionary.fields.end());
  std::sort(fields.begin(), fields.end(),
            [](const NamedAttribute& a, const NamedAttribute& b) { return a.name < b.name; });
  std::vector<std::string> texts;
  for (const NamedAttribute& field : fields) {
    const std::string name = FieldNameText(field.name);
    if (field.value->kind == Attribute::Kind::kUnit) {
      texts.push_back(name);
      continue;
    }
    KASHI_ASSIGN_OR_RETURN(const std::string value, TextAtDepth(*field.value, depth + 1));
    texts.push_back(absl::StrCat(name, " = ", value));
  }
  return absl::StrCat("{", absl::StrJoin(texts, ", "), "}");
}

absl::StatusOr<std::string> ArrayText(const Attribute& array, int depth) {
  std::vector<std::string> texts;
  for (const Attribute* element : array.elements) {
    KASHI_ASSIGN_OR_RETURN(texts.emplace_back(), TextAtDepth(*element, depth + 1));
  }
  return absl::StrCat("[", absl::StrJoin(texts, ", "), "]");
}

absl::StatusOr<std::string> TextAtDepth(const Attribute& attribute, int depth) {
  if (depth > kDeepestAttribute) return Unimplemented("attributes nested more than %d deep", kDeepestAttribute);
  switch (attribute.kind) {
    case Attribute::Kind::kUnit:
      return std::string("unit");
    case Attribute::Kind::kBool:
      return std::string(attribute.integer != 0 ? "true" : "false");
    case Attribute::Kind::kInteger:
      return absl::StrCat(IntegerText(attribute), " : ",
                          attribute.type == nullptr ? std::string("i64") : TypeText(*attribute.type));
    case Attribute::Kind::kFloat: {
      KASHI_ASSIGN_OR_RETURN(const std::string number, FloatText(attribute));
      return absl::StrCat(number, " : ", TypeText(*attribute.type));
    }
    case Attribute::Kind::kString:
      return QuotedText(attribute.text);
    case Attribute::Kind::kSymbol:
      return absl::StrCat("@", attribute.text);
    case Attribute::Kind::kType:
      return attribute.type == nullptr ? std::string("none") : TypeText(*attribute.type);
    case Attribute::Kind::kArray:
      return ArrayText(attribute, depth);
    case Attribute::Kind::kDictionary:
      return DictionaryText(attribute, depth);
    case Attribute::Kind::kTensor:
      return TensorText(attribute);
    case Attribute::Kind::kOther:
      return std::string(attribute.text);
    case Attribute::Kind::kEnum:
    case Attribute::Kind::kRecord:
      break;
  }
  return Unimplemented("the text of an attribute `%s` in a configuration", attribute.text);
}

}  // namespace

absl::StatusOr<std::string> ConfigurationText(const Attribute& attribute) { return TextAtDepth(attribute, 0); }

}  // namespace kashi::stablehlo
