// What elementwise operations do to elements: for each opcode and element type a function over n elements that lie one
// behind the other. All that works element by element goes through these: the operations themselves, and the scalar
// computations of reduce, map, scatter, sort and so on (lane_function.h).
//
// Meaning: docs/spec/hlo-ops.md 1, the evaluator's where it differs from XLA:CPU's compiled code (docs/fidelity.md).
// bf16, f16, f8…, f4 compute in f32 and round once; integers wrap.
#ifndef KASHI_EVALUATOR_ELEMENT_KERNEL_H_
#define KASHI_EVALUATOR_ELEMENT_KERNEL_H_

#include <array>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "kashi/array/primitive_type.h"
#include "kashi/hlo/attributes/comparison_util.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_opcode.h"

namespace kashi::internal {

struct ElementKernel {
  // inputs[i][0, n) -> output[0, n). The output may be the memory of an input of as many bytes an element.
  using Function = void (*)(const ElementKernel& kernel, const void* const* inputs, void* output, int64_t n);

  Function function = nullptr;
  // The types that the function reads: those of the operands, which may be a mixture of floating-point types.
  absl::InlinedVector<PrimitiveType, 3> input_types;
  PrimitiveType output_type = PRIMITIVE_TYPE_INVALID;
  int32_t exponent_bits = 0;  // of reduce-precision
  int32_t mantissa_bits = 0;

  // Of kernels that compute in other types than those of their arrays: `function` is then RunInPortions, which widens
  // each input, computes, and narrows the result. Null: nothing to do.
  std::array<Function, 3> widen = {};
  Function compute = nullptr;
  Function narrow = nullptr;

  void operator()(const void* const* inputs, void* output, int64_t n) const { function(*this, inputs, output, n); }
};

// Whether operations of this kind go through kernels: kElementwise of ops.def, but for copy and bitcast-convert,
// which are about bytes, and map, which is a call.
bool HasElementKernel(HloOpcode opcode);

// For an instruction for which HasElementKernel. UNIMPLEMENTED for types that the operation has no meaning for.
absl::StatusOr<ElementKernel> FindElementKernel(const HloInstruction& instruction);

// By its parts, for callers without an instruction. `direction` and `total_order` are for compare only.
absl::StatusOr<ElementKernel> FindUnaryKernel(HloOpcode opcode, PrimitiveType operand, PrimitiveType result);
absl::StatusOr<ElementKernel> FindBinaryKernel(HloOpcode opcode, PrimitiveType lhs, PrimitiveType rhs,
                                               PrimitiveType result);
absl::StatusOr<ElementKernel> FindTernaryKernel(HloOpcode opcode, PrimitiveType a, PrimitiveType b, PrimitiveType c,
                                                PrimitiveType result);
absl::StatusOr<ElementKernel> FindCompareKernel(ComparisonDirection direction, Comparison::Order order,
                                                PrimitiveType lhs, PrimitiveType rhs);
// The rules of convert (element_convert.h); identity if the types are equal.
absl::StatusOr<ElementKernel> FindConvertKernel(PrimitiveType from, PrimitiveType to);

}  // namespace kashi::internal

#endif  // KASHI_EVALUATOR_ELEMENT_KERNEL_H_
