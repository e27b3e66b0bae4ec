// Numbers of MLIR's text as the bytes that an Attribute holds.
#ifndef KASHI_STABLEHLO_TEXT_MLIR_NUMBERS_H_
#define KASHI_STABLEHLO_TEXT_MLIR_NUMBERS_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "kashi/array/primitive_type.h"

namespace kashi::stablehlo {

// An integer, decimal or `0x…`, with an optional `-`, as a value of `bits` bits: sign-extended if `is_signed`. A number
// of the unsigned range is accepted for signed types as MLIR does for hexadecimal ones only. False: no integer, or too
// large.
bool ParseInteger(absl::string_view token, int bits, bool is_signed, int64_t* value);

// A number for the float type: a decimal with a point, or the bit pattern in hexadecimal. Rounds by way of double, as
// MLIR. False: no such number.
bool ParseFloatBits(absl::string_view token, PrimitiveType element, uint64_t* bits);

// The element, integer (true and false too), pred or float, as its bits in the low bytes of *bits.
bool ParseElementBits(absl::string_view token, PrimitiveType element, uint64_t* bits);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_TEXT_MLIR_NUMBERS_H_
