// Entries of the dialect vhlo (docs/spec/vhlo.md 3.1, 3.2).
#include <cstddef>
#include <cstdint>

#include "absl/base/casts.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_type.h"
#include "kashi/stablehlo/bytecode/entry_decoder.h"
#include "kashi/stablehlo/bytecode/record_entries.h"
#include "kashi/stablehlo/program/default_attributes.h"
#include "kashi/stablehlo/program/operation_table.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {
namespace {

const Type* VhloShaped(EntryDecoder* decoder, Type::Kind kind) {
  const absl::Span<const int64_t> dimensions = decoder->NumberList();
  return decoder->NewShaped(kind, dimensions, decoder->TypeReference());
}
const Type* VhloTensor(EntryDecoder* decoder) { return VhloShaped(decoder, Type::Kind::kTensor); }
const Type* VhloBuffer(EntryDecoder* decoder) { return VhloShaped(decoder, Type::Kind::kBuffer); }

const Type* VhloTensorWithEncoding(EntryDecoder* decoder) {
  const Attribute* encoding = decoder->AttributeReference();
  const absl::Span<const int64_t> dimensions = decoder->NumberList();
  Type* type = decoder->NewShaped(Type::Kind::kTensor, dimensions, decoder->TypeReference());
  decoder->SetBounds(type, encoding);
  return type;
}

template <Type::Kind kKind>
const Type* VhloList(EntryDecoder* decoder) {
  Type* type = decoder->NewType(kKind);
  type->types = decoder->TypeList();
  return type;
}

template <Type::Kind kKind>
const Type* VhloPlain(EntryDecoder* decoder) {
  return decoder->NewType(kKind);
}

const Type* VhloUnrankedTensor(EntryDecoder* decoder) {
  Type* type = decoder->NewType(Type::Kind::kUnrankedTensor);
  type->types = decoder->One(decoder->TypeReference());
  return type;
}

double Number(EntryDecoder* decoder) {
  const uint64_t bits = decoder->Bits(64);
  return absl::bit_cast<double>(bits);
}

const Type* MakeQuantized(EntryDecoder* decoder, Quantization* quantization, uint64_t flags) {
  quantization->is_signed = (flags & 1) != 0;
  Type* type = decoder->NewType(Type::Kind::kQuantized);
  type->quantization = quantization;
  const bool fits = quantization->storage->kind == Type::Kind::kElement &&
                    quantization->expressed->kind == Type::Kind::kElement &&
                    quantization->scales.size() == quantization->zero_points.size();
  if (decoder->is_usable() && !fits) {
    decoder->Fail("a quantized type needs element types, and as many scales as zero points");
  }
  return type;
}

const Type* VhloQuantized(EntryDecoder* decoder) {
  auto* quantization = decoder->program().New<Quantization>();
  const uint64_t flags = decoder->bytes().Varint();
  quantization->storage = decoder->TypeReference();
  quantization->expressed = decoder->TypeReference();
  quantization->scales = decoder->program().CopyArray<double>({Number(decoder)});
  quantization->zero_points = decoder->program().CopyArray<int64_t>({decoder->bytes().SignedVarint()});
  quantization->storage_min = decoder->bytes().SignedVarint();
  quantization->storage_max = decoder->bytes().SignedVarint();
  return MakeQuantized(decoder, quantization, flags);
}

const Type* VhloQuantizedPerAxis(EntryDecoder* decoder) {
  auto* quantization = decoder->program().New<Quantization>();
  const uint64_t flags = decoder->bytes().Varint();
  quantization->storage = decoder->TypeReference();
  quantization->expressed = decoder->TypeReference();
  quantization->dimension = static_cast<int64_t>(decoder->bytes().Varint());
  quantization->storage_min = decoder->bytes().SignedVarint();
  quantization->storage_max = decoder->bytes().SignedVarint();
  const absl::Span<double> scales = decoder->program().NewArray<double>(decoder->bytes().Count(1));
  for (double& scale : scales) scale = Number(decoder);
  quantization->scales = scales;
  quantization->zero_points = decoder->NumberList();
  return MakeQuantized(decoder, quantization, flags);
}

const Type* VhloFunction(EntryDecoder* decoder) { return decoder->ReadFunctionType(); }
const Type* VhloComplex(EntryDecoder* decoder) { return decoder->ReadComplexType(); }
const Type* VhloNone(EntryDecoder* decoder) { return decoder->defaults().NoneType(); }

// By code: an element type, one that only has a name, or a function.
struct VhloTypeRow {
  PrimitiveType element = PRIMITIVE_TYPE_INVALID;
  absl::string_view name;
  const Type* (*decode)(EntryDecoder*) = nullptr;
};
constexpr VhloTypeRow Element(PrimitiveType element) { return {element, "", nullptr}; }
constexpr VhloTypeRow Named(absl::string_view name) { return {PRIMITIVE_TYPE_INVALID, name, nullptr}; }
constexpr VhloTypeRow Coded(const Type* (*decode)(EntryDecoder*)) { return {PRIMITIVE_TYPE_INVALID, "", decode}; }

constexpr VhloTypeRow kVhloTypes[] = {
    Element(PRED),                         // 0
    Coded(VhloComplex),                    // 1
    Element(BF16),                         // 2
    Element(F16),                          // 3
    Element(F32),                          // 4
    Element(F64),                          // 5
    Element(F8E4M3FN),                     // 6
    Element(F8E5M2),                       // 7
    Coded(VhloFunction),                   // 8
    Coded(VhloPlain<Type::Kind::kIndex>),  // 9
    Element(S4),                           // 10
    Element(S8),                           // 11
    Element(S16),                          // 12
    Element(S32),                          // 13
    Element(S64),                          // 14
    Element(U4),                           // 15
    Element(U8),                           // 16
    Element(U16),                          // 17
    Element(U32),                          // 18
    Element(U64),                          // 19
    Coded(VhloTensor),                     // 20
    Coded(VhloTensorWithEncoding),         // 21
    Coded(VhloPlain<Type::Kind::kToken>),  // 22
    Coded(VhloList<Type::Kind::kTuple>),   // 23
    Coded(VhloQuantized),                  // 24
    Coded(VhloUnrankedTensor),             // 25
    Named("!shape.witness"),               // 26
    Element(F8E4M3FNUZ),                   // 27
    Element(F8E5M2FNUZ),                   // 28
    Element(F8E4M3B11FNUZ),                // 29
    Coded(VhloQuantizedPerAxis),           // 30
    Element(S2),                           // 31
    Element(U2),                           // 32
    Coded(VhloNone),                       // 33
    Named("tf32"),                         // 34
    Element(F8E4M3),                       // 35
    Element(F8E3M4),                       // 36
    Element(F4E2M1FN),                     // 37
    Named("f6E2M3FN"),                     // 38
    Named("f6E3M2FN"),                     // 39
    Element(F8E8M0FNU),                    // 40
    Coded(VhloBuffer),                     // 41
    Coded(VhloList<Type::Kind::kFuture>),  // 42
};

const Attribute* VhloArray(EntryDecoder* decoder) {
  Attribute* attribute = decoder->NewAttribute(Attribute::Kind::kArray);
  attribute->elements = decoder->AttributeList();
  return attribute;
}

const Attribute* VhloBool(EntryDecoder* decoder) {
  Attribute* attribute = decoder->NewAttribute(Attribute::Kind::kBool);
  attribute->integer = static_cast<int64_t>(decoder->bytes().Index(2, "truth values"));
  return attribute;
}

template <AttributeForm kForm>
const Attribute* VhloEnum(EntryDecoder* decoder) {
  return decoder->ReadEnum(kForm);
}

// StableHLO's text has it as a number.
const Attribute* VhloApiVersion(EntryDecoder* decoder) {
  Attribute* attribute = decoder->NewAttribute(Attribute::Kind::kInteger);
  attribute->type = decoder->defaults().ElementType(S32);
  attribute->integer = static_cast<int64_t>(decoder->bytes().Index(5, "versions of the interface of custom calls"));
  return attribute;
}

const Attribute* VhloDictionary(EntryDecoder* decoder) {
  Attribute* attribute = decoder->NewAttribute(Attribute::Kind::kDictionary);
  attribute->fields = decoder->NamedAttributeList();
  return attribute;
}

const Attribute* VhloFloat(EntryDecoder* decoder) { return decoder->ReadFloat(decoder->TypeReference()); }
const Attribute* VhloInteger(EntryDecoder* decoder) { return decoder->ReadInteger(decoder->TypeReference()); }

const Attribute* VhloString(EntryDecoder* decoder) {
  return decoder->NewText(Attribute::Kind::kString, decoder->Text());
}

const Attribute* VhloTensorAttribute(EntryDecoder* decoder) {
  const Type* type = decoder->TypeReference();
  return decoder->NewTensor(type, decoder->bytes().Blob());
}

const Attribute* VhloTypeAttribute(EntryDecoder* decoder) {
  Attribute* attribute = decoder->NewAttribute(Attribute::Kind::kType);
  attribute->type = decoder->TypeReference();
  return attribute;
}

// A record, whose row is of record_entries.h.
template <RecordId kRecord>
const Attribute* VhloRecord(EntryDecoder* decoder) {
  return DecodeRecord(kRecord, decoder);
}

using AttributeDecoder = const Attribute* (*)(EntryDecoder*);
constexpr AttributeDecoder kVhloAttributes[] = {
    nullptr,                                        // 0: dead
    VhloArray,                                      // 1
    VhloBool,                                       // 2
    VhloEnum<AttributeForm::kComparisonDirection>,  // 3
    VhloEnum<AttributeForm::kComparisonType>,       // 4
    VhloApiVersion,                                 // 5
    VhloDictionary,                                 // 6
    VhloEnum<AttributeForm::kFftType>,              // 7
    VhloFloat,                                      // 8
    VhloInteger,                                    // 9
    VhloRecord<RecordId::kOutputOperandAlias>,      // 10
    VhloEnum<AttributeForm::kPrecision>,            // 11
    VhloEnum<AttributeForm::kRngAlgorithm>,         // 12
    VhloEnum<AttributeForm::kRngDistribution>,      // 13
    VhloString,                                     // 14
    VhloTensorAttribute,                            // 15
    VhloEnum<AttributeForm::kTranspose>,            // 16
    VhloTypeAttribute,                              // 17
    VhloRecord<RecordId::kBounds>,                  // 18
    VhloEnum<AttributeForm::kAccuracyMode>,         // 19
    VhloRecord<RecordId::kResultAccuracy>,          // 20
    VhloRecord<RecordId::kSubAxisInfo>,             // 21
    VhloRecord<RecordId::kAxisRef>,                 // 22
    VhloRecord<RecordId::kReplicaGroupMeshAxes>,    // 23
    VhloRecord<RecordId::kMeshAxis>,                // 24
    VhloRecord<RecordId::kMesh>,                    // 25
};

}  // namespace

const Type* DecodeVhloType(EntryDecoder* decoder) {
  const uint64_t code = decoder->bytes().Varint();
  if (code >= sizeof(kVhloTypes) / sizeof(kVhloTypes[0])) {
    decoder->Fail(absl::StrCat("type ", code, " of the dialect vhlo needs a newer Kashi"));
    return nullptr;
  }
  const VhloTypeRow& row = kVhloTypes[code];
  if (row.decode != nullptr) return row.decode(decoder);
  return row.name.empty() ? decoder->defaults().ElementType(row.element) : decoder->NewNamedType(row.name);
}

const Attribute* DecodeVhloAttribute(EntryDecoder* decoder) {
  const uint64_t code = decoder->bytes().Varint();
  if (code == 0 || code >= sizeof(kVhloAttributes) / sizeof(kVhloAttributes[0])) {
    decoder->Fail(absl::StrCat("attribute ", code, " of the dialect vhlo needs a newer Kashi"));
    return nullptr;
  }
  return kVhloAttributes[code](decoder);
}

}  // namespace kashi::stablehlo
