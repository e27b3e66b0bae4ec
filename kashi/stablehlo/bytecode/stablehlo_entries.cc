// Entries of the dialects stablehlo and chlo, which bytecode has that is not a portable artifact (docs/spec/vhlo.md
// 5.4). In an artifact only the type of tokens appears, for values in manual computations of sdy.
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/stablehlo/bytecode/entry_decoder.h"
#include "kashi/stablehlo/bytecode/record_entries.h"
#include "kashi/stablehlo/program/operation_table.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {
namespace {

template <AttributeForm kForm>
const Attribute* Enum(EntryDecoder* decoder) {
  return decoder->ReadEnum(kForm);
}

template <RecordId kRecord>
const Attribute* Record(EntryDecoder* decoder) {
  return DecodeRecord(kRecord, decoder);
}

using AttributeDecoder = const Attribute* (*)(EntryDecoder*);
constexpr AttributeDecoder kStablehloAttributes[] = {
    nullptr,                                       // 0: dead
    Record<RecordId::kChannelHandle>,              // 1
    Enum<AttributeForm::kComparisonDirection>,     // 2
    Enum<AttributeForm::kComparisonType>,          // 3
    Record<RecordId::kConvDimensionNumbers>,       // 4
    Record<RecordId::kDotDimensionNumbers>,        // 5
    Enum<AttributeForm::kFftType>,                 // 6
    Record<RecordId::kGatherDimensionNumbers>,     // 7
    Enum<AttributeForm::kPrecision>,               // 8
    Enum<AttributeForm::kRngAlgorithm>,            // 9
    Enum<AttributeForm::kRngDistribution>,         // 10
    Record<RecordId::kScatterDimensionNumbers>,    // 11
    Enum<AttributeForm::kTranspose>,               // 12
    Record<RecordId::kBounds>,                     // 13
    Record<RecordId::kOutputOperandAlias>,         // 14
    Record<RecordId::kDotAlgorithm>,               // 15
    Enum<AttributeForm::kAccuracyMode>,            // 16
    Record<RecordId::kResultAccuracy>,             // 17
    Record<RecordId::kPlainReplicaGroupMeshAxes>,  // 18
    Record<RecordId::kSubAxisInfo>,                // 19
    Record<RecordId::kPlainAxisRef>,               // 20
    Record<RecordId::kPlainMeshAxis>,              // 21
    Record<RecordId::kPlainMesh>,                  // 22
};

// Other attributes of this dialect are written as text.
constexpr AttributeDecoder kChloAttributes[] = {
    Enum<AttributeForm::kComparisonDirection>,  // 0
    Enum<AttributeForm::kComparisonType>,       // 1
};

const Attribute* DecodeByCode(absl::Span<const AttributeDecoder> table, absl::string_view dialect,
                              EntryDecoder* decoder) {
  const uint64_t code = decoder->bytes().Varint();
  if (code >= table.size() || table[code] == nullptr) {
    decoder->Fail(absl::StrCat("attribute ", code, " of the dialect ", dialect, " needs a newer Kashi"));
    return nullptr;
  }
  return table[code](decoder);
}

}  // namespace

const Attribute* DecodeStablehloAttribute(EntryDecoder* decoder) {
  return DecodeByCode(kStablehloAttributes, "stablehlo", decoder);
}

const Attribute* DecodeChloAttribute(EntryDecoder* decoder) { return DecodeByCode(kChloAttributes, "chlo", decoder); }

const Type* DecodeStablehloType(EntryDecoder* decoder) {
  const uint64_t code = decoder->bytes().Varint();
  if (code == 0) return decoder->NewType(Type::Kind::kToken);
  if (code == 1) {
    Type* type = decoder->NewType(Type::Kind::kFuture);
    type->types = decoder->TypeList();
    return type;
  }
  decoder->Fail(absl::StrCat("type ", code, " of the dialect stablehlo needs a newer Kashi"));
  return nullptr;
}

}  // namespace kashi::stablehlo
