// Quantized tensors: an integer q of a quantized type stands for the number (q - zero_point) * scale.
//
//   tensor<4x!quant.uniform<i8:f32, 0.5:3>>     s8[4] in HLO
//
// Values of quantized types are their integers in HLO, so that operations that only move elements are the plain ones.
// All other operations take numbers and give numbers: operands are dequantized, and the result is quantized, as
// StableHLO's specification says (its pass stablehlo-legalize-quantized-op-to-qdq, and then
// stablehlo-legalize-quant-to-math for what stays). Alone, the latter has sums of integers for add, dot_general and
// convolution, which may differ from these by one step of the storage.
#ifndef KASHI_STABLEHLO_CONVERSION_QUANTIZED_VALUES_H_
#define KASHI_STABLEHLO_CONVERSION_QUANTIZED_VALUES_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/array/primitive_type.h"
#include "kashi/stablehlo/conversion/converter.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

// How the elements of a tensor are quantized; nullptr if they are not.
const Quantization* QuantizationOf(const Type& type);

// The type of the integers. Errors: a storage that HLO has no type for.
absl::StatusOr<PrimitiveType> StorageType(const Quantization& quantization);

// Whether the operation has quantized operands or results, and does not only move their elements.
bool ComputesQuantized(const Operation& operation);

// Converts such an operation: dequantizes the operands, calls `convert` for them, quantizes the results.
absl::Status ConvertQuantized(ModuleConverter* module, Scope* scope, const Operation& operation,
                              const Instructions& operands, ConversionFunction convert);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_CONVERSION_QUANTIZED_VALUES_H_
