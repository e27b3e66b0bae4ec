// Attributes in MLIR's text, as XLA keeps them in backend configs and composites:
// {n = 4 : i64, s = "x", arr = dense<[0, 1]> : tensor<2xi32>}
#ifndef KASHI_STABLEHLO_CONVERSION_ATTRIBUTE_TEXT_H_
#define KASHI_STABLEHLO_CONVERSION_ATTRIBUTE_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

// Dictionaries have their keys in alphabetical order. UNIMPLEMENTED for records of dialects and nesting deeper than 64.
absl::StatusOr<std::string> ConfigurationText(const Attribute& attribute);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_CONVERSION_ATTRIBUTE_TEXT_H_
