#include "kashi/stablehlo/bytecode/plain_properties.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/types/span.h"

namespace kashi::stablehlo {
namespace {

// Operations whose properties are not the attributes of the table.
struct OtherRow {
  absl::string_view operation;
  PlainProperty properties[6];
};

constexpr OtherRow kOthers[] = {
    {"chlo.constant", {{"value"}}},
    {"chlo.constant_like", {{"value"}}},
    {"chlo.broadcast_compare", {{"broadcast_dimensions", true}, {"compare_type", true}, {"comparison_direction"}}},
    {"chlo.top_k", {{"is_stable", true, 2}, {"k"}}},
    {"func.call", {{"arg_attrs", true, 3}, {"callee"}, {"no_inline", true, 2}, {"res_attrs", true, 3}}},
    {"func.func",
     {{"arg_attrs", true},
      {"function_type"},
      {"no_inline", true, 2},
      {"res_attrs", true},
      {"sym_name"},
      {"sym_visibility", true}}},
};

bool IsIn(absl::string_view name, absl::Span<const absl::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

constexpr absl::string_view kOfAlgorithm[] = {
    "accumulation_type",        "allow_imprecise_accumulation", "lhs_component_count", "lhs_precision_type",
    "num_primitive_operations", "rhs_component_count",          "rhs_precision_type"};
constexpr absl::string_view kOfDot[] = {"lhs_batching_dimensions", "lhs_contracting_dimensions",
                                        "rhs_batching_dimensions", "rhs_contracting_dimensions"};
constexpr absl::string_view kOfConvolution[] = {
    "input_batch_dimension",          "input_feature_dimension",         "input_spatial_dimensions",
    "kernel_input_feature_dimension", "kernel_output_feature_dimension", "kernel_spatial_dimensions",
    "output_batch_dimension",         "output_feature_dimension",        "output_spatial_dimensions"};
constexpr absl::string_view kOfGather[] = {"collapsed_slice_dims",  "index_vector_dim", "offset_dims",
                                           "operand_batching_dims", "start_index_map",  "start_indices_batching_dims"};
constexpr absl::string_view kOfScatter[] = {"index_vector_dim",
                                            "input_batching_dims",
                                            "inserted_window_dims",
                                            "scatter_dims_to_operand_dims",
                                            "scatter_indices_batching_dims",
                                            "update_window_dims"};
constexpr absl::string_view kOfChannel[] = {"channel_id", "channel_type"};

// The record that has an attribute of the table as a field.
struct RecordOfAttributes {
  absl::string_view operation;  // "": of any
  absl::string_view record;
  absl::Span<const absl::string_view> fields;
  bool is_optional;
};

constexpr RecordOfAttributes kRecordsOfAttributes[] = {
    {"stablehlo.dot_general", "algorithm", kOfAlgorithm, true},
    {"stablehlo.dot_general", "dot_dimension_numbers", kOfDot, false},
    {"stablehlo.convolution", "dimension_numbers", kOfConvolution, false},
    {"stablehlo.dynamic_conv", "dimension_numbers", kOfConvolution, false},
    {"stablehlo.gather", "dimension_numbers", kOfGather, false},
    {"stablehlo.dynamic_gather", "dimension_numbers", kOfGather, false},
    {"stablehlo.scatter", "scatter_dimension_numbers", kOfScatter, false},
    {"stablehlo.send", "channel_handle", kOfChannel, false},
    {"stablehlo.recv", "channel_handle", kOfChannel, false},
    {"", "channel_handle", kOfChannel, true},
};

PlainProperty PropertyOf(absl::string_view operation, const AttributeRow& row) {
  for (const RecordOfAttributes& record : kRecordsOfAttributes) {
    if (!record.operation.empty() && record.operation != operation) continue;
    if (IsIn(row.name, record.fields)) return {record.record, record.is_optional};
  }
  return {row.name, row.fallback != AttributeDefault::kRequired, row.since};
}

}  // namespace

std::vector<PlainProperty> PlainPropertiesOf(absl::string_view operation, const OperationRow* row) {
  std::vector<PlainProperty> properties;
  for (const OtherRow& other : kOthers) {
    if (other.operation != operation) continue;
    for (const PlainProperty& property : other.properties) {
      if (!property.name.empty()) properties.push_back(property);
    }
    return properties;
  }
  if (absl::StartsWith(operation, "chlo.broadcast_")) properties.push_back({"broadcast_dimensions", true});
  if (row == nullptr) return properties;
  for (const AttributeRow& attribute : row->attributes) {
    if (row->IsCurrent(attribute)) properties.push_back(PropertyOf(operation, attribute));
  }
  const auto by_name = [](const PlainProperty& a, const PlainProperty& b) { return a.name < b.name; };
  std::stable_sort(properties.begin(), properties.end(), by_name);
  const auto is_same = [](const PlainProperty& a, const PlainProperty& b) { return a.name == b.name; };
  properties.erase(std::unique(properties.begin(), properties.end(), is_same), properties.end());
  return properties;
}

}  // namespace kashi::stablehlo
