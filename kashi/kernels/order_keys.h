// Maps elements to unsigned integers with the same order, which sort and topk compare.
#ifndef KASHI_KERNELS_ORDER_KEYS_H_
#define KASHI_KERNELS_ORDER_KEYS_H_

#include <cstdint>

#include "kashi/array/primitive_type.h"
#include "kashi/hlo/attributes/comparison_util.h"

namespace kashi::kernels {

// True for all but complex types.
bool HasOrderKeys(PrimitiveType type);

// The number of low bits of a key that are used: 32 for types of up to 4 bytes, otherwise 64.
int OrderKeyBits(PrimitiveType type);

// keys[i] < keys[j] iff x[i] comes before x[j]. Equal elements have equal keys: in the partial order that is -0 and 0.
// Returns false if the order is partial and there is a NaN, which has no place in it; the keys are then unspecified.
bool MakeOrderKeys(PrimitiveType type, Comparison::Order order, const void* x, int64_t n, uint64_t* keys);

}  // namespace kashi::kernels

#endif  // KASHI_KERNELS_ORDER_KEYS_H_
