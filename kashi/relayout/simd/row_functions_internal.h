// The stages of which RowFunctionFor makes its functions. Internal to row_functions*.cc.
//
//   row_functions.cc          which stages lead from one form to another
//   row_functions_packed.cc   between slots of 1, 2, 4 bits and bytes                       Highway
//   row_functions_vector.cc   conversions that are worth vector code                        Highway
//   row_functions_scalar.cc   all other conversions, by ConvertElement
#ifndef KASHI_RELAYOUT_SIMD_ROW_FUNCTIONS_INTERNAL_H_
#define KASHI_RELAYOUT_SIMD_ROW_FUNCTIONS_INTERNAL_H_

#include <cstdint>

#include "kashi/array/primitive_type.h"
#include "kashi/relayout/simd/row_functions.h"

namespace kashi::relayout {

// Elements of whole native bytes (a NarrowInt: one byte); the addresses need no alignment.
using ConvertLoop = void (*)(const char* from, char* to, int64_t count);

// Convert slots of 1, 2 or 4 bits to bytes, sign- or zero-extended from the slot; and the low bits of bytes to slots.
RowFunction::Stage::Function UnpackFunction(int slot_bits, bool is_signed);
RowFunction::Stage::Function PackFunction(int slot_bits);
// Between equal slots of stage.from_slot bits, less than 8.
RowFunction::Stage::Function CopyPackedFunction();

// nullptr where there is no such loop; of each pair that is a stage of RowFunctionFor's ways, one of the two has one.
ConvertLoop VectorLoop(PrimitiveType from, PrimitiveType to);
ConvertLoop ScalarLoop(PrimitiveType from, PrimitiveType to);

// Converts f64 to f32 so that a later rounding to few bits, or a cut to an integer of at most 16 bits, gives the same
// result as from the f64: a result that is not exact has an odd last bit (Boldo and Melquiond, "When double rounding is
// odd").
ConvertLoop RoundToOddLoop();

// Bytes whose low `bits` are a number become bytes that are that number; unsigned: the other bits become 0.
ConvertLoop ExtendLoop(int bits, bool is_signed);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_SIMD_ROW_FUNCTIONS_INTERNAL_H_
