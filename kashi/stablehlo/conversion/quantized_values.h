// Quantized tensors: an integer q of a quantized type represents the number (q - zero_point) * scale.
//
//   tensor<4x!quant.uniform<i8:f32, 0.5:3>>     s8[4] in HLO
//
// In HLO, values of quantized types are their integers, so operations that only move elements need no change.
// All other operations compute with numbers: operands are dequantized, and the result is quantized, as in
// StableHLO's specification (its pass stablehlo-legalize-quantized-op-to-qdq, and then
// stablehlo-legalize-quant-to-math for the rest). Alone, the latter has sums of integers for add, dot_general and
// convolution, which may differ from these results by one step of the storage.
#ifndef KASHI_STABLEHLO_CONVERSION_QUANTIZED_VALUES_H_
#define KASHI_STABLEHLO_CONVERSION_QUANTIZED_VALUES_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/array/primitive_type.h"
#include "kashi/stablehlo/conversion/converter.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

// The quantization of a tensor's elements; nullptr if they are not quantized.
const Quantization* QuantizationOf(const Type& type);

// The type of the integers. An error if HLO has no type for the storage.
absl::StatusOr<PrimitiveType> StorageType(const Quantization& quantization);

// Whether the operation has quantized operands or results and does more than move their elements.
bool ComputesQuantized(const Operation& operation);

// Converts such an operation: dequantizes the operands, calls `convert` for them, quantizes the results.
absl::Status ConvertQuantized(ModuleConverter* module, Scope* scope, const Operation& operation,
                              const Instructions& operands, ConversionFunction convert);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_CONVERSION_QUANTIZED_VALUES_H_
