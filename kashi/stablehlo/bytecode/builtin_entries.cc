// Entries of the dialect builtin (docs/spec/vhlo.md 2).
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_type.h"
#include "kashi/array/primitive_util.h"
#include "kashi/stablehlo/bytecode/entry_decoder.h"
#include "kashi/stablehlo/program/default_attributes.h"
#include "kashi/stablehlo/program/program.h"
#include "kashi/stablehlo/program/type_text.h"

namespace kashi::stablehlo {
namespace {

const Attribute* BuiltinArray(EntryDecoder* decoder) {
  Attribute* attribute = decoder->NewAttribute(Attribute::Kind::kArray);
  attribute->elements = decoder->AttributeList();
  return attribute;
}

const Attribute* BuiltinDictionary(EntryDecoder* decoder) {
  Attribute* attribute = decoder->NewAttribute(Attribute::Kind::kDictionary);
  attribute->fields = decoder->NamedAttributeList();
  return attribute;
}

const Attribute* BuiltinString(EntryDecoder* decoder) {
  return decoder->NewText(Attribute::Kind::kString, decoder->Text());
}

const Attribute* BuiltinTypedString(EntryDecoder* decoder) {
  Attribute* attribute = decoder->NewText(Attribute::Kind::kString, decoder->Text());
  attribute->type = decoder->TypeReference();
  return attribute;
}

const Attribute* BuiltinFlatSymbol(EntryDecoder* decoder) {
  return decoder->NewText(Attribute::Kind::kSymbol, decoder->TextReference());
}

const Attribute* BuiltinSymbol(EntryDecoder* decoder) {
  std::string path(decoder->TextReference());
  for (const Attribute* nested : decoder->AttributeList()) {
    if (!decoder->is_usable()) break;
    if (nested->kind != Attribute::Kind::kSymbol) {
      decoder->Fail("a part of a nested symbol reference is not a symbol reference");
      break;
    }
    absl::StrAppend(&path, "::@", nested->text);
  }
  return decoder->NewText(Attribute::Kind::kSymbol, decoder->program().CopyText(path));
}

const Attribute* BuiltinTypeAttribute(EntryDecoder* decoder) {
  Attribute* attribute = decoder->NewAttribute(Attribute::Kind::kType);
  attribute->type = decoder->TypeReference();
  return attribute;
}

const Attribute* BuiltinUnit(EntryDecoder* decoder) { return decoder->NewAttribute(Attribute::Kind::kUnit); }

const Attribute* BuiltinInteger(EntryDecoder* decoder) { return decoder->ReadInteger(decoder->TypeReference()); }

const Attribute* BuiltinFloat(EntryDecoder* decoder) { return decoder->ReadFloat(decoder->TypeReference()); }

// Refuses elements narrower than a byte: they would be copied for every attribute that names the resource.
const Attribute* BuiltinResource(EntryDecoder* decoder) {
  const Type* type = decoder->TypeReference();
  const size_t handle = decoder->bytes().Index(decoder->file().resources.size(), "resources");
  if (!decoder->is_usable()) return decoder->NewAttribute(Attribute::Kind::kTensor);
  const bool is_narrow = type->kind == Type::Kind::kTensor && type->types[0]->kind == Type::Kind::kElement &&
                         type->types[0]->element != PRED && primitive_util::BitWidth(type->types[0]->element) < 8;
  if (is_narrow) {
    decoder->Fail(absl::StrCat("a resource cannot have the type ", TypeText(*type)));
    return decoder->NewAttribute(Attribute::Kind::kTensor);
  }
  return decoder->NewUnpackedTensor(type, decoder->file().resources[handle]);
}

const Attribute* BuiltinDenseArray(EntryDecoder* decoder) {
  const Type* element = decoder->TypeReference();
  const uint64_t count = decoder->bytes().Varint();
  const absl::string_view blob = decoder->bytes().Blob();
  if (count > blob.size()) decoder->Fail("a dense array has fewer bytes than elements");
  const absl::Span<int64_t> dimensions = decoder->program().NewArray<int64_t>(1);
  dimensions[0] = static_cast<int64_t>(count);
  Attribute* array = decoder->NewUnpackedTensor(decoder->NewShaped(Type::Kind::kTensor, dimensions, element), blob);
  // Equal elements are one element, as in tensors.
  const size_t size = count == 0 ? 0 : array->text.size() / count;
  if (count > 1 && array->text.substr(size) == array->text.substr(0, array->text.size() - size)) {
    array->is_splat = true;
    array->text = array->text.substr(0, size);
  }
  return array;
}

const Attribute* BuiltinDense(EntryDecoder* decoder) {
  const Type* type = decoder->TypeReference();
  return decoder->NewTensor(type, decoder->bytes().Blob());
}

const Attribute* BuiltinDenseStrings(EntryDecoder* decoder) {
  decoder->TypeReference();
  decoder->bytes().Varint();  // whether it is a splat
  Attribute* attribute = decoder->NewText(Attribute::Kind::kOther, "dense strings");
  while (decoder->bytes().ok() && !decoder->bytes().AtEnd()) decoder->Text();
  return attribute;
}

const Attribute* BuiltinSparse(EntryDecoder* decoder) {
  decoder->TypeReference();
  decoder->AttributeReference();
  decoder->AttributeReference();
  return decoder->NewText(Attribute::Kind::kOther, "sparse elements");
}

const Attribute* BuiltinDistinct(EntryDecoder* decoder) { return decoder->AttributeReference(); }

absl::Span<const Location* const> Pair(EntryDecoder* decoder, const Location* first, const Location* second) {
  return decoder->program().CopyArray<const Location*>({first, second});
}

const Location* CallSiteLocation(EntryDecoder* decoder) {
  Location* location = decoder->NewLocation(Location::Kind::kCallSite);
  const Location* callee = decoder->LocationReference();
  location->children = Pair(decoder, callee, decoder->LocationReference());
  return location;
}

const Location* FileLocation(EntryDecoder* decoder) {
  Location* location = decoder->NewLocation(Location::Kind::kFile);
  location->name = decoder->TextReference();
  location->line = static_cast<int64_t>(decoder->bytes().Varint());
  location->column = static_cast<int64_t>(decoder->bytes().Varint());
  return location;
}

const Location* FusedLocation(EntryDecoder* decoder) {
  Location* location = decoder->NewLocation(Location::Kind::kFused);
  location->children = decoder->LocationList();
  return location;
}

const Location* FusedLocationWithMetadata(EntryDecoder* decoder) {
  const Location* location = FusedLocation(decoder);
  decoder->AttributeReference();
  return location;
}

const Location* NameLocation(EntryDecoder* decoder) {
  Location* location = decoder->NewLocation(Location::Kind::kName);
  location->name = decoder->TextReference();
  const Location* child = decoder->LocationReference();
  if (child->kind != Location::Kind::kUnknown)
    location->children = decoder->program().CopyArray<const Location*>({child});
  return location;
}

const Location* UnknownLocation(EntryDecoder* decoder) { return decoder->NewLocation(Location::Kind::kUnknown); }

// For each count of numbers, the index of the number for {line, column, end line, end column}; -1: not present.
constexpr std::array<int, 4> kPositions[] = {
    {-1, -1, -1, -1}, {0, -1, -1, -1}, {0, 1, -1, -1}, {0, 1, 0, 2}, {0, 1, 2, 3}};

const Location* FileRangeLocation(EntryDecoder* decoder) {
  Location* location = decoder->NewLocation(Location::Kind::kFile);
  location->name = decoder->TextReference();
  const size_t count = decoder->bytes().Count(1);
  if (count > 4) {
    decoder->Fail("a position in a file has more than four numbers");
    return location;
  }
  std::array<int64_t, 4> numbers = {};
  for (size_t i = 0; i < count; ++i) numbers[i] = static_cast<int64_t>(decoder->bytes().Varint());
  const std::array<int, 4>& positions = kPositions[count];
  const auto at = [&](size_t i) { return positions[i] < 0 ? 0 : numbers[static_cast<size_t>(positions[i])]; };
  location->line = at(0);
  location->column = at(1);
  location->end_line = at(2);
  location->end_column = at(3);
  return location;
}

// By code: an attribute or a location.
struct BuiltinAttributeRow {
  const Attribute* (*attribute)(EntryDecoder*);
  const Location* (*location)(EntryDecoder*);
};
constexpr BuiltinAttributeRow kBuiltinAttributes[] = {
    {BuiltinArray, nullptr},         {BuiltinDictionary, nullptr},
    {BuiltinString, nullptr},        {BuiltinTypedString, nullptr},
    {BuiltinFlatSymbol, nullptr},    {BuiltinSymbol, nullptr},
    {BuiltinTypeAttribute, nullptr}, {BuiltinUnit, nullptr},
    {BuiltinInteger, nullptr},       {BuiltinFloat, nullptr},
    {nullptr, CallSiteLocation},     {nullptr, FileLocation},
    {nullptr, FusedLocation},        {nullptr, FusedLocationWithMetadata},
    {nullptr, NameLocation},         {nullptr, UnknownLocation},
    {BuiltinResource, nullptr},      {BuiltinDenseArray, nullptr},
    {BuiltinDense, nullptr},         {BuiltinDenseStrings, nullptr},
    {BuiltinSparse, nullptr},        {BuiltinDistinct, nullptr},
    {nullptr, FileRangeLocation},
};

const Type* BuiltinIntegerType(EntryDecoder* decoder) {
  const uint64_t number = decoder->bytes().Varint();
  const uint64_t width = number >> 2;
  const uint64_t sign = number & 3;
  if (width == 1 && sign != 2) return decoder->defaults().ElementType(PRED);
  if (width <= 64 && sign < 3) {
    const auto bits = static_cast<int64_t>(width);
    const PrimitiveType element = sign == 2 ? primitive_util::UnsignedIntegralTypeForBitWidth(bits)
                                            : primitive_util::SignedIntegralTypeForBitWidth(bits);
    if (element != PRIMITIVE_TYPE_INVALID && width > 1) return decoder->defaults().ElementType(element);
  }
  if (sign == 3 || width > (1 << 24)) decoder->Fail("an integer type of an unknown kind");
  constexpr absl::string_view kPrefixes[] = {"i", "si", "ui", ""};
  return decoder->NewNamedType(decoder->program().CopyText(absl::StrCat(kPrefixes[sign], width)));
}

template <PrimitiveType kType>
const Type* BuiltinElement(EntryDecoder* decoder) {
  return decoder->defaults().ElementType(kType);
}

const Type* BuiltinIndex(EntryDecoder* decoder) { return decoder->NewType(Type::Kind::kIndex); }

const Type* BuiltinFunction(EntryDecoder* decoder) { return decoder->ReadFunctionType(); }

const Type* BuiltinF80(EntryDecoder* decoder) { return decoder->NewNamedType("f80"); }
const Type* BuiltinF128(EntryDecoder* decoder) { return decoder->NewNamedType("f128"); }

const Type* BuiltinTf32(EntryDecoder* decoder) { return decoder->NewNamedType("tf32"); }
const Type* BuiltinF6E2M3(EntryDecoder* decoder) { return decoder->NewNamedType("f6E2M3FN"); }
const Type* BuiltinF6E3M2(EntryDecoder* decoder) { return decoder->NewNamedType("f6E3M2FN"); }

const Type* BuiltinComplex(EntryDecoder* decoder) { return decoder->ReadComplexType(); }

const Type* BuiltinNone(EntryDecoder* decoder) { return decoder->defaults().NoneType(); }

const Type* BuiltinTensor(EntryDecoder* decoder) {
  const absl::Span<const int64_t> dimensions = decoder->NumberList();
  return decoder->NewShaped(Type::Kind::kTensor, dimensions, decoder->TypeReference());
}

const Type* BuiltinTensorWithEncoding(EntryDecoder* decoder) {
  const Attribute* encoding = decoder->AttributeReference();
  const absl::Span<const int64_t> dimensions = decoder->NumberList();
  Type* type = decoder->NewShaped(Type::Kind::kTensor, dimensions, decoder->TypeReference());
  decoder->SetBounds(type, encoding);
  return type;
}

const Type* BuiltinTuple(EntryDecoder* decoder) {
  Type* type = decoder->NewType(Type::Kind::kTuple);
  type->types = decoder->TypeList();
  return type;
}

const Type* BuiltinUnrankedTensor(EntryDecoder* decoder) {
  Type* type = decoder->NewType(Type::Kind::kUnrankedTensor);
  type->types = decoder->One(decoder->TypeReference());
  return type;
}

// By code; nullptr: memref and vector, which have no place in a portable artifact.
using TypeDecoder = const Type* (*)(EntryDecoder*);
constexpr TypeDecoder kBuiltinTypes[] = {
    BuiltinIntegerType,
    BuiltinIndex,
    BuiltinFunction,
    BuiltinElement<BF16>,
    BuiltinElement<F16>,
    BuiltinElement<F32>,
    BuiltinElement<F64>,
    BuiltinF80,
    BuiltinF128,
    BuiltinComplex,
    nullptr,
    nullptr,
    BuiltinNone,
    BuiltinTensor,
    BuiltinTensorWithEncoding,
    BuiltinTuple,
    nullptr,
    nullptr,
    BuiltinUnrankedTensor,
    nullptr,
    nullptr,
    BuiltinTf32,
    BuiltinElement<F8E5M2>,  // 22
    BuiltinElement<F8E4M3>,
    BuiltinElement<F8E4M3FN>,
    BuiltinElement<F8E5M2FNUZ>,
    BuiltinElement<F8E4M3FNUZ>,
    BuiltinElement<F8E4M3B11FNUZ>,
    BuiltinElement<F8E3M4>,
    BuiltinElement<F4E2M1FN>,
    BuiltinF6E2M3,
    BuiltinF6E3M2,
    BuiltinElement<F8E8M0FNU>,  // 32
};

}  // namespace

BuiltinAttribute DecodeBuiltinAttribute(EntryDecoder* decoder) {
  const uint64_t code = decoder->bytes().Varint();
  if (code >= sizeof(kBuiltinAttributes) / sizeof(kBuiltinAttributes[0])) {
    decoder->Fail(absl::StrCat("attribute ", code, " of the dialect builtin needs a newer Kashi"));
    return {};
  }
  const BuiltinAttributeRow& row = kBuiltinAttributes[code];
  if (row.location != nullptr) return {nullptr, row.location(decoder)};
  return {row.attribute(decoder), nullptr};
}

const Type* DecodeBuiltinType(EntryDecoder* decoder) {
  const uint64_t code = decoder->bytes().Varint();
  if (code >= sizeof(kBuiltinTypes) / sizeof(kBuiltinTypes[0]) || kBuiltinTypes[code] == nullptr) {
    decoder->Fail(absl::StrCat("type ", code, " of the dialect builtin needs a newer Kashi"));
    return nullptr;
  }
  return kBuiltinTypes[code](decoder);
}

}  // namespace kashi::stablehlo
