#include "kashi/stablehlo/program/operation_table.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {
namespace {

// The rest of a row of operations.def, after the names.
template <size_t kCount>
struct Tail {
  int8_t regions;
  std::array<AttributeRow, kCount> attributes;
};

template <typename... Rows>
constexpr Tail<sizeof...(Rows)> MakeTail(int8_t regions, Rows... attributes) {
  return {regions, {attributes...}};
}

#define R(name, form) \
  AttributeRow { name, AttributeForm::form }
#define D(name, form, fallback) \
  AttributeRow { name, AttributeForm::form, AttributeDefault::fallback }
#define O(name, form) \
  AttributeRow { name, AttributeForm::form, AttributeDefault::kOptional }
#define S(since, name, form, fallback) \
  AttributeRow { name, AttributeForm::form, AttributeDefault::fallback, since }
#define U(until, name, form) \
  AttributeRow { name, AttributeForm::form, AttributeDefault::kOptional, 1, until }
#define KASHI_STABLEHLO_OP(Name, name, version, operands, results, ...) \
  constexpr auto kTailOf##Name = MakeTail(__VA_ARGS__);
#include "kashi/stablehlo/program/operations.def"
#undef KASHI_STABLEHLO_OP
#undef R
#undef D
#undef O
#undef S
#undef U

constexpr ValueCount Count(absl::string_view names) {
  ValueCount count = {names, 0, 0};
  bool begins = true;
  for (const char c : names) {
    if (begins && c != ' ') {
      ++(c == '*' ? count.variadics : count.singles);
      begins = false;
    }
    if (c == ',') begins = true;
  }
  return count;
}

constexpr OperationRow kOperations[] = {
#define KASHI_STABLEHLO_OP(Name, name, version, operands, results, ...) \
  {name, version, Count(operands), Count(results), kTailOf##Name.regions, kTailOf##Name.attributes},
#include "kashi/stablehlo/program/operations.def"
#undef KASHI_STABLEHLO_OP
};

constexpr absl::string_view kDirections[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
constexpr absl::string_view kComparisonTypes[] = {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};
constexpr absl::string_view kFftTypes[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
constexpr absl::string_view kRngAlgorithms[] = {"DEFAULT", "THREE_FRY", "PHILOX"};
constexpr absl::string_view kRngDistributions[] = {"UNIFORM", "NORMAL"};
constexpr absl::string_view kTransposes[] = {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
constexpr absl::string_view kPrecisions[] = {"DEFAULT", "HIGH", "HIGHEST"};
constexpr absl::string_view kAccuracyModes[] = {"DEFAULT", "HIGHEST", "TOLERANCE"};

constexpr Enumeration kEnumerations[] = {
    {AttributeForm::kComparisonDirection, 0, kDirections},
    {AttributeForm::kComparisonType, 0, kComparisonTypes},
    {AttributeForm::kFftType, 0, kFftTypes},
    {AttributeForm::kRngAlgorithm, 0, kRngAlgorithms},
    {AttributeForm::kRngDistribution, 1, kRngDistributions},
    {AttributeForm::kTranspose, 1, kTransposes},
    {AttributeForm::kPrecision, 0, kPrecisions},
    {AttributeForm::kAccuracyMode, 0, kAccuracyModes},
};

// The kinds that a form allows, and the name of its record.
struct FormRow {
  AttributeForm form;
  Attribute::Kind kind;
  Attribute::Kind other;  // the same as `kind` where there is only one
  absl::string_view record;
};

constexpr FormRow Form(AttributeForm form, Attribute::Kind kind, absl::string_view record = "") {
  return {form, kind, kind, record};
}
constexpr FormRow Form(AttributeForm form, Attribute::Kind kind, Attribute::Kind other, absl::string_view record = "") {
  return {form, kind, other, record};
}

constexpr FormRow kForms[] = {
    Form(AttributeForm::kBool, Attribute::Kind::kBool),
    Form(AttributeForm::kInteger, Attribute::Kind::kInteger),
    Form(AttributeForm::kFloat, Attribute::Kind::kFloat),
    Form(AttributeForm::kString, Attribute::Kind::kString),
    Form(AttributeForm::kSymbol, Attribute::Kind::kSymbol),
    Form(AttributeForm::kSymbols, Attribute::Kind::kArray),
    Form(AttributeForm::kType, Attribute::Kind::kType),
    Form(AttributeForm::kCount, Attribute::Kind::kInteger, Attribute::Kind::kType),
    Form(AttributeForm::kFlag, Attribute::Kind::kBool, Attribute::Kind::kType),
    Form(AttributeForm::kIntegers, Attribute::Kind::kTensor),
    Form(AttributeForm::kPairs, Attribute::Kind::kTensor),
    Form(AttributeForm::kBools, Attribute::Kind::kTensor),
    Form(AttributeForm::kElements, Attribute::Kind::kTensor),
    Form(AttributeForm::kReplicaGroups, Attribute::Kind::kTensor, Attribute::Kind::kRecord,
         "stablehlo.replica_group_mesh_axes"),
    Form(AttributeForm::kLayouts, Attribute::Kind::kArray),
    Form(AttributeForm::kPrecisions, Attribute::Kind::kArray),
    Form(AttributeForm::kAccuracy, Attribute::Kind::kRecord, "stablehlo.result_accuracy"),
    Form(AttributeForm::kAliases, Attribute::Kind::kArray),
    Form(AttributeForm::kConfig, Attribute::Kind::kString, Attribute::Kind::kDictionary),
    Form(AttributeForm::kArray, Attribute::Kind::kArray),
    Form(AttributeForm::kDictionary, Attribute::Kind::kDictionary),
    Form(AttributeForm::kDictionaries, Attribute::Kind::kArray),
    Form(AttributeForm::kComparisonDirection, Attribute::Kind::kEnum),
    Form(AttributeForm::kComparisonType, Attribute::Kind::kEnum),
    Form(AttributeForm::kFftType, Attribute::Kind::kEnum),
    Form(AttributeForm::kRngAlgorithm, Attribute::Kind::kEnum),
    Form(AttributeForm::kRngDistribution, Attribute::Kind::kEnum),
    Form(AttributeForm::kTranspose, Attribute::Kind::kEnum),
    Form(AttributeForm::kPrecision, Attribute::Kind::kEnum),
    Form(AttributeForm::kAccuracyMode, Attribute::Kind::kEnum),
    Form(AttributeForm::kSharding, Attribute::Kind::kRecord, "sdy.sharding"),
    Form(AttributeForm::kShardings, Attribute::Kind::kRecord, "sdy.sharding_per_value"),
    Form(AttributeForm::kManualAxes, Attribute::Kind::kRecord, "sdy.manual_axes"),
    Form(AttributeForm::kMesh, Attribute::Kind::kRecord, "sdy.mesh"),
};

constexpr bool FormsAreInOrder() {
  size_t next = 0;
  for (const FormRow& row : kForms) {
    if (static_cast<size_t>(row.form) != next++) return false;
  }
  return true;
}
static_assert(FormsAreInOrder(), "HasForm looks a form up by its number");

}  // namespace

absl::Span<const OperationRow> OperationTable() { return kOperations; }

const OperationRow* FindOperation(absl::string_view name) {
  static const auto* const rows = [] {
    auto* map = new absl::flat_hash_map<absl::string_view, const OperationRow*>();
    for (const OperationRow& row : kOperations) map->emplace(row.name, &row);
    return map;
  }();
  const auto row = rows->find(name);
  return row == rows->end() ? nullptr : row->second;
}

const Enumeration* FindEnumeration(AttributeForm form) {
  for (const Enumeration& enumeration : kEnumerations) {
    if (enumeration.form == form) return &enumeration;
  }
  return nullptr;
}

bool HasForm(const Attribute& attribute, AttributeForm form) {
  const FormRow& row = kForms[static_cast<size_t>(form)];
  if (attribute.kind != row.kind && attribute.kind != row.other) return false;
  if (attribute.kind == Attribute::Kind::kRecord) return attribute.text == row.record;
  if (attribute.kind != Attribute::Kind::kEnum) return true;
  for (const absl::string_view value : FindEnumeration(form)->values) {
    if (value == attribute.text) return true;
  }
  return false;
}

}  // namespace kashi::stablehlo
