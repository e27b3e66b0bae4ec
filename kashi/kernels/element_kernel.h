// Kernels of elementwise operations: for each opcode and element type, a function over n consecutive elements. All
// elementwise work uses them: the operations themselves, and the scalar computations of reduce, map, scatter, sort and
// others (kashi/evaluator/lane_function.h).
//
// Semantics: docs/spec/hlo-ops.md 1. Where XLA's evaluator differs from code compiled by XLA:CPU, the evaluator's
// (docs/fidelity.md). bf16, f16, f8…, f4 compute in f32 and round once; integers wrap.
#ifndef KASHI_KERNELS_ELEMENT_KERNEL_H_
#define KASHI_KERNELS_ELEMENT_KERNEL_H_

#include <array>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "kashi/array/primitive_type.h"
#include "kashi/hlo/attributes/comparison_util.h"
#include "kashi/hlo/ir/hlo_opcode.h"

namespace kashi::kernels {

struct ElementKernel {
  // inputs[i][0, n) -> output[0, n). The output may be the memory of an input with the same element size.
  using Function = void (*)(const ElementKernel& kernel, const void* const* inputs, void* output, int64_t n);

  Function function = nullptr;
  // The types that the function reads: those of the operands, which may be different floating-point types.
  absl::InlinedVector<PrimitiveType, 3> input_types;
  PrimitiveType output_type = PRIMITIVE_TYPE_INVALID;
  int32_t exponent_bits = 0;  // for reduce-precision
  int32_t mantissa_bits = 0;

  // For kernels that compute in a type that is not the type of their arrays. `function` is then RunInPortions, which
  // widens each input, computes, and narrows the result. Null: no conversion.
  std::array<Function, 3> widen = {};
  Function compute = nullptr;
  Function narrow = nullptr;

  void operator()(const void* const* inputs, void* output, int64_t n) const { function(*this, inputs, output, n); }
};

// The kernel of an elementwise operation. UNIMPLEMENTED for types that the operation does not support. Of
// reduce-precision, the caller sets exponent_bits and mantissa_bits.
absl::StatusOr<ElementKernel> FindUnaryKernel(HloOpcode opcode, PrimitiveType operand, PrimitiveType result);
absl::StatusOr<ElementKernel> FindBinaryKernel(HloOpcode opcode, PrimitiveType lhs, PrimitiveType rhs,
                                               PrimitiveType result);
absl::StatusOr<ElementKernel> FindTernaryKernel(HloOpcode opcode, PrimitiveType a, PrimitiveType b, PrimitiveType c,
                                                PrimitiveType result);
absl::StatusOr<ElementKernel> FindCompareKernel(ComparisonDirection direction, Comparison::Order order,
                                                PrimitiveType lhs, PrimitiveType rhs);
// The kernel of convert (element_convert.h); the identity if the types are equal.
absl::StatusOr<ElementKernel> FindConvertKernel(PrimitiveType from, PrimitiveType to);

}  // namespace kashi::kernels

#endif  // KASHI_KERNELS_ELEMENT_KERNEL_H_
