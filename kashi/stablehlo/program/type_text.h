// Types in StableHLO's spelling, for messages and for the writer of text: "tensor<2x?xf32>".
#ifndef KASHI_STABLEHLO_PROGRAM_TYPE_TEXT_H_
#define KASHI_STABLEHLO_PROGRAM_TYPE_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_type.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

// "f32", "i8", "ui8", "i1", "complex<f64>", "f8E4M3FN"; "" for a type that tensors cannot have.
absl::string_view ElementTypeText(PrimitiveType element);
// The inverse; PRIMITIVE_TYPE_INVALID if no element type has this name.
PrimitiveType ElementTypeOf(absl::string_view text);

// Cost: linear in the size of the text.
std::string TypeText(const Type& type);

// The text between the brackets of tensor<…>: "2x?xf32, #stablehlo.bounds<?, 8>". Sizes and bounds as in Type.
std::string ArrayTypeText(absl::Span<const int64_t> dimensions, absl::Span<const int64_t> bounds,
                          absl::string_view element);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_PROGRAM_TYPE_TEXT_H_
