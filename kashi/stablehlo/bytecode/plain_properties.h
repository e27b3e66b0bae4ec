// The properties of operations of other dialects than VHLO, in the order of their values (docs/spec/vhlo.md 5.4).
//
//   vhlo.dot_general_v2        lhs_batching_dimensions, …: the attributes of operation_table.h
//   stablehlo.dot_general      algorithm?, dot_dimension_numbers, precision_config?: some of them are fields of records
#ifndef KASHI_STABLEHLO_BYTECODE_PLAIN_PROPERTIES_H_
#define KASHI_STABLEHLO_BYTECODE_PLAIN_PROPERTIES_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "kashi/stablehlo/program/operation_table.h"

namespace kashi::stablehlo {

struct PlainProperty {
  absl::string_view name;
  bool is_optional = false;  // a flag says whether it is there
  int8_t since = 1;          // writers of an older form of the operation do not know it
};

// In alphabetical order. `row`: null for an operation that is not in the table, such as those of chlo.
std::vector<PlainProperty> PlainPropertiesOf(absl::string_view operation, const OperationRow* row);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_BYTECODE_PLAIN_PROPERTIES_H_
