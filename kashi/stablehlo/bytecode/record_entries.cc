#include "kashi/stablehlo/bytecode/record_entries.h"

#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_type.h"
#include "kashi/stablehlo/bytecode/entry_decoder.h"
#include "kashi/stablehlo/program/default_attributes.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {
namespace {

using FieldDecoder = const Attribute* (*)(EntryDecoder*);

const Attribute* FieldAttribute(EntryDecoder* decoder) { return decoder->AttributeReference(); }

// The name of an sdy.mesh is a string in vhlo.
const Attribute* FieldSymbol(EntryDecoder* decoder) { return decoder->AsSymbol(decoder->AttributeReference()); }

// A?: unit where absent.
const Attribute* FieldOptional(EntryDecoder* decoder) {
  const size_t begin = decoder->bytes().offset();
  bool is_there = false;
  const uint64_t number = decoder->bytes().FlaggedVarint(&is_there);
  if (!is_there) return decoder->NewAttribute(Attribute::Kind::kUnit);
  return decoder->AttributeOfNumber(number, begin);
}

// varint 0, or varint 1 and an attribute.
const Attribute* FieldGuarded(EntryDecoder* decoder) {
  if (decoder->bytes().Index(2, "cases") == 0) return decoder->NewAttribute(Attribute::Kind::kUnit);
  return decoder->AttributeReference();
}

// A byte 0, or a byte 1 and an attribute.
const Attribute* FieldChosen(EntryDecoder* decoder) {
  if (decoder->bytes().Byte() == 0) return decoder->NewAttribute(Attribute::Kind::kUnit);
  return decoder->AttributeReference();
}

const Attribute* FieldAttributes(EntryDecoder* decoder) {
  Attribute* attribute = decoder->NewAttribute(Attribute::Kind::kArray);
  attribute->elements = decoder->AttributeList();
  return attribute;
}

// A field that older records lack.
const Attribute* FieldNoAttributes(EntryDecoder* decoder) { return decoder->NewAttribute(Attribute::Kind::kArray); }

const Attribute* FieldText(EntryDecoder* decoder) {
  return decoder->NewText(Attribute::Kind::kString, decoder->Text());
}

const Attribute* FieldInteger(EntryDecoder* decoder) { return decoder->NewInteger(decoder->bytes().SignedVarint()); }

const Attribute* FieldIntegers(EntryDecoder* decoder) { return decoder->NewIntegers(decoder->NumberList()); }

// Flagged varint, -1 where the flag is off.
const Attribute* FieldPriority(EntryDecoder* decoder) {
  bool is_there = false;
  const uint64_t priority = decoder->bytes().FlaggedVarint(&is_there);
  return decoder->NewInteger(is_there ? static_cast<int64_t>(priority) : -1);
}

const Attribute* FieldBool(EntryDecoder* decoder) {
  Attribute* attribute = decoder->NewAttribute(Attribute::Kind::kBool);
  attribute->integer = decoder->bytes().Byte() != 0 ? 1 : 0;
  return attribute;
}

const Attribute* FieldType(EntryDecoder* decoder) {
  Attribute* attribute = decoder->NewAttribute(Attribute::Kind::kType);
  attribute->type = decoder->TypeReference();
  return attribute;
}

const Attribute* FieldDouble(EntryDecoder* decoder) { return decoder->ReadFloat(decoder->defaults().ElementType(F64)); }

const Attribute* FieldSum(EntryDecoder* decoder) { return decoder->NewText(Attribute::Kind::kEnum, "SUM"); }

const Attribute* FieldReduction(EntryDecoder* decoder) {
  constexpr absl::string_view kReductions[] = {"SUM", "MAX", "MIN"};
  const int64_t code = decoder->bytes().SignedVarint();
  if (code < 0 || code > 2) {
    decoder->Fail(absl::StrCat("reduction ", code, " of the dialect sdy needs a newer Kashi"));
    return nullptr;
  }
  return decoder->NewText(Attribute::Kind::kEnum, kReductions[code]);
}

struct RecordField {
  absl::string_view name;
  FieldDecoder decode;
};

constexpr size_t kMostFields = 9;

struct RecordRow {
  absl::string_view name;
  RecordField fields[kMostFields];
};

constexpr RecordRow kRecords[] = {
    {"sdy.manual_axes", {{"axes", FieldAttributes}}},
    {"sdy.mesh_axis", {{"name", FieldText}, {"size", FieldInteger}}},
    {"sdy.mesh", {{"axes", FieldAttributes}, {"device_ids", FieldIntegers}}},
    {"sdy.sub_axis_info", {{"pre_size", FieldInteger}, {"size", FieldInteger}}},
    {"sdy.axis_ref", {{"name", FieldText}, {"sub_axis", FieldOptional}}},
    {"sdy.dimension_sharding", {{"axes", FieldAttributes}, {"is_closed", FieldBool}, {"priority", FieldPriority}}},
    {"sdy.sharding",
     {{"mesh", FieldSymbol},
      {"dimensions", FieldAttributes},
      {"replicated_axes", FieldAttributes},
      {"unreduced_axes", FieldNoAttributes},
      {"reduction", FieldSum}}},
    {"sdy.sharding_per_value", {{"shardings", FieldAttributes}}},
    {"sdy.dimension_mapping", {{"factors", FieldIntegers}}},
    {"sdy.tensor_mapping", {{"dimensions", FieldAttributes}}},
    {"sdy.sharding_rule",
     {{"factor_sizes", FieldIntegers},
      {"operands", FieldAttributes},
      {"results", FieldAttributes},
      {"reduction_factors", FieldIntegers},
      {"need_replication_factors", FieldIntegers},
      {"permutation_factors", FieldIntegers},
      {"blocked_propagation_factors", FieldIntegers},
      {"is_custom", FieldBool}}},
    {"sdy.axis_list", {{"axes", FieldAttributes}}},
    {"sdy.list_of_axis_lists", {{"lists", FieldAttributes}}},
    {"sdy.all_to_all_param", {{"axes", FieldAttributes}, {"source", FieldInteger}, {"target", FieldInteger}}},
    {"sdy.all_to_all_param_list", {{"parameters", FieldAttributes}}},
    {"sdy.sharding",
     {{"mesh", FieldSymbol},
      {"dimensions", FieldAttributes},
      {"replicated_axes", FieldAttributes},
      {"unreduced_axes", FieldAttributes},
      {"reduction", FieldSum}}},
    {"sdy.sharding_per_value", {{"shardings", FieldAttributes}}},
    {"sdy.sharding",
     {{"mesh", FieldSymbol},
      {"dimensions", FieldAttributes},
      {"replicated_axes", FieldAttributes},
      {"unreduced_axes", FieldAttributes},
      {"reduction", FieldReduction}}},
    {"stablehlo.output_operand_alias",
     {{"output_tuple_indices", FieldIntegers},
      {"operand_index", FieldInteger},
      {"operand_tuple_indices", FieldIntegers}}},
    {"stablehlo.bounds", {{"bounds", FieldIntegers}}},
    {"stablehlo.result_accuracy",
     {{"atol", FieldDouble}, {"rtol", FieldDouble}, {"ulps", FieldInteger}, {"mode", FieldAttribute}}},
    {"stablehlo.sub_axis_info", {{"pre_size", FieldInteger}, {"size", FieldInteger}}},
    {"stablehlo.axis_ref", {{"name", FieldAttribute}, {"sub_axis", FieldGuarded}}},
    {"stablehlo.replica_group_mesh_axes", {{"mesh", FieldSymbol}, {"axes", FieldAttribute}}},
    {"stablehlo.mesh_axis", {{"name", FieldAttribute}, {"size", FieldInteger}}},
    {"stablehlo.mesh", {{"axes", FieldAttribute}, {"device_ids", FieldOptional}}},
    {"stablehlo.channel_handle", {{"channel_id", FieldInteger}, {"channel_type", FieldInteger}}},
    {"stablehlo.conv",
     {{"input_batch_dimension", FieldInteger},
      {"input_feature_dimension", FieldInteger},
      {"input_spatial_dimensions", FieldIntegers},
      {"kernel_input_feature_dimension", FieldInteger},
      {"kernel_output_feature_dimension", FieldInteger},
      {"kernel_spatial_dimensions", FieldIntegers},
      {"output_batch_dimension", FieldInteger},
      {"output_feature_dimension", FieldInteger},
      {"output_spatial_dimensions", FieldIntegers}}},
    {"stablehlo.dot",
     {{"lhs_batching_dimensions", FieldIntegers},
      {"rhs_batching_dimensions", FieldIntegers},
      {"lhs_contracting_dimensions", FieldIntegers},
      {"rhs_contracting_dimensions", FieldIntegers}}},
    {"stablehlo.gather",
     {{"offset_dims", FieldIntegers},
      {"collapsed_slice_dims", FieldIntegers},
      {"operand_batching_dims", FieldIntegers},
      {"start_indices_batching_dims", FieldIntegers},
      {"start_index_map", FieldIntegers},
      {"index_vector_dim", FieldInteger}}},
    {"stablehlo.scatter",
     {{"update_window_dims", FieldIntegers},
      {"inserted_window_dims", FieldIntegers},
      {"input_batching_dims", FieldIntegers},
      {"scatter_indices_batching_dims", FieldIntegers},
      {"scatter_dims_to_operand_dims", FieldIntegers},
      {"index_vector_dim", FieldInteger}}},
    {"stablehlo.dot_algorithm",
     {{"lhs_precision_type", FieldType},
      {"rhs_precision_type", FieldType},
      {"accumulation_type", FieldType},
      {"lhs_component_count", FieldInteger},
      {"rhs_component_count", FieldInteger},
      {"num_primitive_operations", FieldInteger},
      {"allow_imprecise_accumulation", FieldBool}}},
    {"stablehlo.replica_group_mesh_axes", {{"mesh", FieldSymbol}, {"axes", FieldAttributes}}},
    {"stablehlo.axis_ref", {{"name", FieldText}, {"sub_axis", FieldChosen}}},
    {"stablehlo.mesh_axis", {{"name", FieldText}, {"size", FieldInteger}}},
    {"stablehlo.mesh", {{"axes", FieldAttribute}, {"device_ids", FieldChosen}}},
};
constexpr size_t kRecordCount = sizeof(kRecords) / sizeof(kRecords[0]);
static_assert(kRecordCount == static_cast<size_t>(RecordId::kPlainMesh) + 1, "a row for each RecordId");

}  // namespace

const Attribute* DecodeRecord(RecordId record, EntryDecoder* decoder) {
  const RecordRow& row = kRecords[static_cast<size_t>(record)];
  size_t count = 0;
  while (count < kMostFields && row.fields[count].decode != nullptr) ++count;
  const absl::Span<NamedAttribute> fields = decoder->program().NewArray<NamedAttribute>(count);
  for (size_t i = 0; i < count; ++i) fields[i] = {row.fields[i].name, row.fields[i].decode(decoder)};
  Attribute* attribute = decoder->NewText(Attribute::Kind::kRecord, row.name);
  attribute->fields = fields;
  return attribute;
}

const Attribute* DecodeSdyAttribute(EntryDecoder* decoder) {
  const uint64_t code = decoder->bytes().Varint();
  if (code > static_cast<uint64_t>(RecordId::kSdyShardingWithReduction)) {
    decoder->Fail(absl::StrCat("attribute ", code, " of the dialect sdy needs a newer Kashi"));
    return nullptr;
  }
  return DecodeRecord(static_cast<RecordId>(code), decoder);
}

}  // namespace kashi::stablehlo
