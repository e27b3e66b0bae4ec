// Numbers in MLIR's text as the bytes that an Attribute holds.
#ifndef KASHI_STABLEHLO_TEXT_MLIR_NUMBERS_H_
#define KASHI_STABLEHLO_TEXT_MLIR_NUMBERS_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "kashi/array/primitive_type.h"

namespace kashi::stablehlo {

// An integer, decimal or `0x…`, with an optional `-`, as a value of `bits` bits: sign-extended if `is_signed`. Also
// accepts numbers of the unsigned range for signed types; MLIR does so only for hexadecimal ones. False: none, or too
// large.
bool ParseInteger(absl::string_view token, int bits, bool is_signed, int64_t* value);

// A number of the float type: a decimal with a point, or the bit pattern in hexadecimal. Rounds by way of double, as
// MLIR does. False: no such number.
bool ParseFloatBits(absl::string_view token, PrimitiveType element, uint64_t* bits);

// An element (integer, also true and false; pred; float), as its bits in the low bytes of *bits.
bool ParseElementBits(absl::string_view token, PrimitiveType element, uint64_t* bits);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_TEXT_MLIR_NUMBERS_H_
