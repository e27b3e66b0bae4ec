#include "kashi/stablehlo/program/type_text.h"

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/array/primitive_type.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {
namespace {

struct ElementName {
  PrimitiveType element;
  absl::string_view text;
};

constexpr ElementName kElementNames[] = {
    {PRED, "i1"},
    {S2, "i2"},
    {S4, "i4"},
    {S8, "i8"},
    {S16, "i16"},
    {S32, "i32"},
    {S64, "i64"},
    {U2, "ui2"},
    {U4, "ui4"},
    {U8, "ui8"},
    {U16, "ui16"},
    {U32, "ui32"},
    {U64, "ui64"},
    {BF16, "bf16"},
    {F16, "f16"},
    {F32, "f32"},
    {F64, "f64"},
    {F8E5M2, "f8E5M2"},
    {F8E4M3, "f8E4M3"},
    {F8E4M3FN, "f8E4M3FN"},
    {F8E4M3B11FNUZ, "f8E4M3B11FNUZ"},
    {F8E5M2FNUZ, "f8E5M2FNUZ"},
    {F8E4M3FNUZ, "f8E4M3FNUZ"},
    {F8E3M4, "f8E3M4"},
    {F8E8M0FNU, "f8E8M0FNU"},
    {F4E2M1FN, "f4E2M1FN"},
    {C64, "complex<f32>"},
    {C128, "complex<f64>"},
};

void AppendTypes(absl::Span<const Type* const> types, std::string* text) {
  for (size_t i = 0; i < types.size(); ++i) absl::StrAppend(text, i == 0 ? "" : ", ", TypeText(*types[i]));
}

std::string ArrayOf(const Type& type) { return ArrayTypeText(type.dimensions, type.bounds, TypeText(*type.types[0])); }

std::string QuantizedText(const Quantization& quantization) {
  std::string text = absl::StrCat("!quant.uniform<", TypeText(*quantization.storage), "<", quantization.storage_min,
                                  ":", quantization.storage_max, ">:", TypeText(*quantization.expressed));
  const bool per_axis = quantization.dimension >= 0;
  absl::StrAppend(&text, per_axis ? absl::StrCat(":", quantization.dimension, ", {") : ", ");
  for (size_t i = 0; i < quantization.scales.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", quantization.scales[i]);
    if (quantization.zero_points[i] != 0) absl::StrAppend(&text, ":", quantization.zero_points[i]);
  }
  return text.append(per_axis ? "}>" : ">");
}

}  // namespace

absl::string_view ElementTypeText(PrimitiveType element) {
  for (const ElementName& name : kElementNames) {
    if (name.element == element) return name.text;
  }
  return "";
}

PrimitiveType ElementTypeOf(absl::string_view text) {
  for (const ElementName& name : kElementNames) {
    if (name.text == text) return name.element;
  }
  return PRIMITIVE_TYPE_INVALID;
}

std::string ArrayTypeText(absl::Span<const int64_t> dimensions, absl::Span<const int64_t> bounds,
                          absl::string_view element) {
  const auto append = [](int64_t size, std::string* text) {
    if (size == kDynamic) {
      text->push_back('?');
    } else {
      absl::StrAppend(text, size);
    }
  };
  std::string text;
  for (const int64_t dimension : dimensions) {
    append(dimension, &text);
    text.push_back('x');
  }
  absl::StrAppend(&text, element);
  if (bounds.empty()) return text;
  text.append(", #stablehlo.bounds<");
  for (size_t i = 0; i < bounds.size(); ++i) {
    text.append(i == 0 ? "" : ", ");
    append(bounds[i], &text);
  }
  return text.append(">");
}

std::string TypeText(const Type& type) {
  std::string text;
  switch (type.kind) {
    case Type::Kind::kElement:
      return std::string(ElementTypeText(type.element));
    case Type::Kind::kQuantized:
      return QuantizedText(*type.quantization);
    case Type::Kind::kIndex:
      return "index";
    case Type::Kind::kTensor:
      return absl::StrCat("tensor<", ArrayOf(type), ">");
    case Type::Kind::kUnrankedTensor:
      return absl::StrCat("tensor<*x", TypeText(*type.types[0]), ">");
    case Type::Kind::kBuffer:
      return absl::StrCat("memref<", ArrayOf(type), ">");
    case Type::Kind::kToken:
      return "!stablehlo.token";
    case Type::Kind::kTuple:
      text = "tuple<";
      AppendTypes(type.types, &text);
      return text.append(">");
    case Type::Kind::kFunction:
      text = "(";
      AppendTypes(type.inputs(), &text);
      text.append(") -> (");
      AppendTypes(type.results(), &text);
      return text.append(")");
    case Type::Kind::kFuture:
      text = "!stablehlo.future<";
      AppendTypes(type.types, &text);
      return text.append(">");
    case Type::Kind::kNone:
      return "none";
    case Type::Kind::kOther:
      return std::string(type.name);
  }
  return text;
}

}  // namespace kashi::stablehlo
