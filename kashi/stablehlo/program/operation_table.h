// The operations that a Program can hold, by name: operands, results, regions, attributes and their defaults.
//
// operations.def is the list. Operations that are not in it (chlo.*, check.*) are not described here.
//
// Normal forms: an attribute that the table names has the form given in the table, whatever the source of the program.
// attribute_access.h reads them.
//
//   form             Attribute::Kind   in text                                     in VHLO
//   kBool            kBool             true                                        bool
//   kInteger         kInteger          1 : i64                                     integer (api_version: an enum;
//                                                                                  here and in text 1 : i32)
//   kFloat           kFloat            1.0e-3 : f32                                float
//   kString          kString           "text"                                      string
//   kSymbol          kSymbol           @callee                                     string
//   kSymbols         kArray            [@a, @b]                                    array of strings
//   kType            kType             a type; none where absent                   type
//   kCount           kInteger, kType   an integer, or the type none where absent   integer or type
//   kFlag            kBool, kType      a bool, or the type none where absent       bool or type
//   kIntegers        kTensor           array<i64: 0, 1>                            tensor<2xi64>
//   kPairs           kTensor           dense<[[0, 1]]> : tensor<1x2xi64>           the same; empty: 0 elements
//   kBools           kTensor           array<i1: true>                             tensor<1x!bool>
//   kElements        kTensor           dense<…>                                    tensor
//   kReplicaGroups   kTensor, kRecord  dense<[[0, 1]]> : tensor<1x2xi64>, or       tensor, or mesh axes
//                                      #stablehlo.replica_group_mesh_axes<…>
//   kLayouts         kArray            [dense<[0, 1]> : tensor<2xindex>]           array of tensors; an array for each
//                                                                                  result where infeed has tuples
//   kPrecisions      kArray            [DEFAULT, HIGHEST]: kEnum each              array of precisions
//   kAccuracy        kRecord           #stablehlo.result_accuracy<…>               result accuracy
//   kAliases         kArray            [#stablehlo.output_operand_alias<…>]        array of output operand aliases
//   kConfig          kString,          "text" or {key = value}                     string or dictionary
//                    kDictionary
//   kArray           kArray            […]                                         array
//   kDictionary      kDictionary       {…}                                         dictionary
//   kDictionaries    kArray            [{…}, {}]                                   array of dictionaries
//   kComparisonDirection … kTranspose  kEnum                                       an enumeration; FindEnumeration
//   kSharding …      kRecord           #sdy.sharding<…>                            an attribute of sdy
//
// Records (kRecord) and their fields. All fields are there, in this order. "integers" are kTensor of i64 (kIntegers);
// "axes" are kArray.
//
//   stablehlo.result_accuracy          atol (kFloat f64), rtol (kFloat f64), ulps (kInteger i64), mode (kEnum DEFAULT,
//                                      HIGHEST, TOLERANCE)
//   stablehlo.output_operand_alias     output_tuple_indices (integers), operand_index (kInteger i64),
//                                      operand_tuple_indices (integers)
//   stablehlo.bounds                   bounds (integers, kDynamic where none)
//   stablehlo.sub_axis_info            pre_size, size (kInteger i64)
//   stablehlo.axis_ref                 name (kString), sub_axis (stablehlo.sub_axis_info, or kUnit: the whole axis)
//   stablehlo.mesh_axis                name (kString), size (kInteger i64)
//   stablehlo.mesh                     axes (of stablehlo.mesh_axis), device_ids (kTensor of i64; kUnit: 0 to n - 1)
//   stablehlo.replica_group_mesh_axes  mesh (stablehlo.mesh, or kSymbol: an sdy.mesh), axes (of stablehlo.axis_ref)
//
//   sdy.mesh_axis                      name (kString), size (kInteger i64)
//   sdy.mesh                           axes (of sdy.mesh_axis), device_ids (integers; none: 0 to n - 1)
//   sdy.sub_axis_info                  pre_size, size (kInteger i64)
//   sdy.axis_ref                       name (kString), sub_axis (sdy.sub_axis_info, or kUnit: the whole axis)
//   sdy.dimension_sharding             axes (of sdy.axis_ref), is_closed (kBool), priority (kInteger i64, -1: none)
//   sdy.sharding                       mesh (sdy.mesh or kSymbol), dimensions (kArray of sdy.dimension_sharding),
//                                      replicated_axes, unreduced_axes (of sdy.axis_ref), reduction (kEnum SUM, MAX,
//                                      MIN)
//   sdy.sharding_per_value             shardings (kArray of sdy.sharding)
//   sdy.manual_axes                    axes (of kString)
//   sdy.dimension_mapping              factors (integers)
//   sdy.tensor_mapping                 dimensions (kArray of sdy.dimension_mapping)
//   sdy.sharding_rule                  factor_sizes (integers), operands, results (kArray of sdy.tensor_mapping),
//                                      reduction_factors, need_replication_factors, permutation_factors,
//                                      blocked_propagation_factors (integers), is_custom (kBool)
//   sdy.axis_list                      axes (of sdy.axis_ref)
//   sdy.list_of_axis_lists             lists (kArray of sdy.axis_list)
//   sdy.all_to_all_param               axes (of sdy.axis_ref), source, target (kInteger i64)
//   sdy.all_to_all_param_list          parameters (kArray of sdy.all_to_all_param)
#ifndef KASHI_STABLEHLO_PROGRAM_OPERATION_TABLE_H_
#define KASHI_STABLEHLO_PROGRAM_OPERATION_TABLE_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

enum class AttributeForm : uint8_t {
  kBool,
  kInteger,
  kFloat,
  kString,
  kSymbol,
  kSymbols,
  kType,
  kCount,
  kFlag,
  kIntegers,
  kPairs,
  kBools,
  kElements,
  kReplicaGroups,
  kLayouts,
  kPrecisions,
  kAccuracy,
  kAliases,
  kConfig,
  kArray,
  kDictionary,
  kDictionaries,
  kComparisonDirection,
  kComparisonType,
  kFftType,
  kRngAlgorithm,
  kRngDistribution,
  kTranspose,
  kPrecision,     // an element of kPrecisions
  kAccuracyMode,  // the field of a result_accuracy
  kSharding,
  kShardings,
  kManualAxes,
  kMesh,
};

// The value of an absent attribute. DefaultAttributes (default_attributes.h) makes it.
enum class AttributeDefault : uint8_t {
  kRequired,         // an error
  kOptional,         // stays absent
  kFalse,            // kBool
  kZero,             // 0 : i64
  kZero32,           // 0 : i32
  kOne32,            // 1 : i32
  kMinusOne,         // -1 : i64
  kFirstValue,       // the first value of the enumeration
  kEmptyText,        // ""
  kEmptyArray,       // []
  kEmptyDictionary,  // {}
  kNoIntegers,       // tensor<0xi64>
  kNone,             // the type none
  kPrecisions,       // [DEFAULT, DEFAULT]
  kAccuracy,         // atol 0, rtol 0, ulps 0, DEFAULT
  kOnes,             // one 1 for each dimension of the first operand
  kZeroPairs,        // tensor<kx2xi64> of zeros, k dimensions of the first operand
  kSpatialOnes,      // the same, without the batch and the feature dimension of a convolution
  kSpatialZeroPairs,
  kSpatialFalses,
};

struct AttributeRow {
  absl::string_view name;
  AttributeForm form = AttributeForm::kBool;
  AttributeDefault fallback = AttributeDefault::kRequired;
  int8_t since = 1;   // the first version of the operation that has it
  int8_t until = 99;  // the last
};

// The number of values that an operation takes or gives, in groups: "inputs" `*` and "token" one.
struct ValueCount {
  absl::string_view names;  // "lhs, rhs", "*inputs, token"
  int8_t singles = 0;       // names without `*`
  int8_t variadics = 0;     // names with `*`; several share the rest evenly

  bool Allows(size_t count) const {
    const size_t rest = count - static_cast<size_t>(singles);
    if (count < static_cast<size_t>(singles)) return false;
    return variadics == 0 ? rest == 0 : rest % static_cast<size_t>(variadics) == 0;
  }
};

struct OperationRow {
  absl::string_view name;  // "stablehlo.add"
  int8_t version = 1;      // the newest in VHLO: `vhlo.add_v1`
  ValueCount operands;
  ValueCount results;
  int8_t regions = 0;                         // -1: any number
  absl::Span<const AttributeRow> attributes;  // in alphabetical order

  bool IsCurrent(const AttributeRow& attribute) const { return attribute.until >= version; }
};

// All rows, in the order of their names.
absl::Span<const OperationRow> OperationTable();

// nullptr if the table has no such operation. Cost: one look-up in a hash table.
const OperationRow* FindOperation(absl::string_view name);

// The values of an enumeration in StableHLO's spelling.
struct Enumeration {
  AttributeForm form = AttributeForm::kComparisonDirection;
  uint8_t first_code = 0;  // VHLO's number of the first value; the others follow
  absl::Span<const absl::string_view> values;
};
// nullptr if this form is not an enumeration.
const Enumeration* FindEnumeration(AttributeForm form);

// Whether the table above allows the attribute's kind for the form. An enumeration's text must be
// one of its values, a record's name that of the form. Does not check the elements of arrays.
bool HasForm(const Attribute& attribute, AttributeForm form);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_PROGRAM_OPERATION_TABLE_H_
