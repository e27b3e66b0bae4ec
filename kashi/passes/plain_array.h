// The arrays that kernels compute with.
#ifndef KASHI_PASSES_PLAIN_ARRAY_H_
#define KASHI_PASSES_PLAIN_ARRAY_H_

#include <cstdint>

#include "kashi/array/primitive_type.h"
#include "kashi/array/shape.h"

namespace kashi::passes {

// Arrays of up to this many elements live in registers.
inline constexpr int64_t kMostSmallElements = 64;

// PRED, BF16, F16, F32, F64, and integers of whole bytes.
bool IsPlainType(PrimitiveType type);
// An array of such a type, static, not empty.
bool IsPlainArray(const Shape& shape);
// The types of single elements: plain ones, C64 and C128. Sums, sorts and arrays in registers have plain ones only.
bool IsElementType(PrimitiveType type);
bool IsElementArray(const Shape& shape);

}  // namespace kashi::passes

#endif  // KASHI_PASSES_PLAIN_ARRAY_H_
