#include "kashi/kernels/element_kernel.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_util.h"
#include "kashi/base/status.h"
#include "kashi/kernels/element_loops.h"

namespace kashi::kernels {
namespace {

constexpr int64_t kPortion = 256;  // elements: the widened elements stay in the first cache
constexpr int64_t kMaxElementBytes = 16;
struct alignas(64) Portion {
  char bytes[kPortion * kMaxElementBytes];
};

const char* Advance(const void* data, PrimitiveType type, int64_t elements) {
  return static_cast<const char*>(data) + elements * primitive_util::ByteWidth(type);
}
char* Advance(void* data, PrimitiveType type, int64_t elements) {
  return static_cast<char*>(data) + elements * primitive_util::ByteWidth(type);
}

void CopyBytes(const ElementKernel& kernel, const void* const* inputs, void* output, int64_t n) {
  // Input and output may be the same memory.
  std::memmove(output, inputs[0], static_cast<size_t>(n * primitive_util::ByteWidth(kernel.output_type)));
}

// The conversion of elements from the type of an array to the type in which they are computed, or back; null if the
// types are the same. The numbers that are computed for a PRED are 0 or 1 already.
ElementFunction Way(PrimitiveType from, PrimitiveType to) {
  return from == to || (from == U8 && to == PRED) ? nullptr : ConvertLoop(from, to);
}

}  // namespace

//            widen               compute              narrow
//   input i --------> widened[i] --------> computed --------> output
//
// 256 elements at a time; a step whose function is null is left out.
void RunInPortions(const ElementKernel& kernel, const void* const* inputs, void* output, int64_t n) {
  Portion widened[3], computed;
  const int input_count = static_cast<int>(kernel.input_types.size());
  for (int64_t begin = 0; begin < n; begin += kPortion) {
    const int64_t count = std::min(kPortion, n - begin);
    char* out = Advance(output, kernel.output_type, begin);
    const void* current[3];
    for (int i = 0; i < input_count; ++i) {
      current[i] = Advance(inputs[i], kernel.input_types[i], begin);
      if (kernel.widen[i] == nullptr) continue;
      const bool is_all = kernel.compute == nullptr && kernel.narrow == nullptr;
      void* to = is_all ? out : widened[i].bytes;
      kernel.widen[i](kernel, &current[i], to, count);
      current[i] = to;
    }
    if (kernel.compute != nullptr) {
      void* to = kernel.narrow == nullptr ? out : computed.bytes;
      kernel.compute(kernel, current, to, count);
      current[0] = to;
    }
    if (kernel.narrow != nullptr) kernel.narrow(kernel, current, out, count);
  }
}

ElementKernel MakeElementKernel(ElementFunction compute, absl::Span<const PrimitiveType> inputs,
                                absl::Span<const PrimitiveType> computed_inputs, PrimitiveType computed_output,
                                PrimitiveType output) {
  ElementKernel kernel;
  kernel.input_types.assign(inputs.begin(), inputs.end());
  kernel.output_type = output;
  bool is_direct = true;
  for (size_t i = 0; i < inputs.size(); ++i) {
    kernel.widen[i] = Way(inputs[i], computed_inputs[i]);
    is_direct = is_direct && kernel.widen[i] == nullptr;
  }
  kernel.compute = compute;
  kernel.narrow = Way(computed_output, output);
  is_direct = is_direct && kernel.narrow == nullptr;
  // A single step needs no portions.
  if (is_direct) {
    kernel.function = compute != nullptr ? compute : &CopyBytes;
  } else if (compute == nullptr && (kernel.widen[0] == nullptr || kernel.narrow == nullptr)) {
    kernel.function = kernel.widen[0] != nullptr ? kernel.widen[0] : kernel.narrow;
  } else {
    kernel.function = &RunInPortions;
  }
  return kernel;
}

absl::StatusOr<PrimitiveType> CommonType(HloOpcode opcode, absl::Span<const PrimitiveType> operands) {
  PrimitiveType common = operands[0];
  for (PrimitiveType type : operands) {
    const bool are_floating = primitive_util::IsFloatingPointType(common) && primitive_util::IsFloatingPointType(type);
    if (!primitive_util::IsArrayType(type) || (type != common && !are_floating)) {
      return Unimplemented("%s of %s and %s", HloOpcodeString(opcode), PrimitiveType_Name(common),
                           PrimitiveType_Name(type));
    }
    if (type != common) common = primitive_util::HigherPrecisionType(common, type);
  }
  return common;
}

namespace {

template <typename... Loops>
ElementLoop FirstOf(const Loops&... loops) {
  ElementLoop found;
  ((found = found.function == nullptr ? loops : found), ...);
  return found;
}

// A kernel that computes on operands of `type` (or of floating-point types below it), with the result that follows.
// Another floating-point type than that will do.
absl::StatusOr<ElementKernel> KernelOf(HloOpcode opcode, const ElementLoop& loop, PrimitiveType type,
                                       absl::Span<const PrimitiveType> operands, PrimitiveType result) {
  if (loop.function == nullptr) return Unimplemented("%s of %s", HloOpcodeString(opcode), PrimitiveType_Name(type));
  const PrimitiveType natural = loop.output == loop.input ? type : loop.output;
  const bool are_floating = primitive_util::IsFloatingPointType(natural) && primitive_util::IsFloatingPointType(result);
  if (result != natural && !are_floating) {
    return Unimplemented("%s of %s with a result of type %s", HloOpcodeString(opcode), PrimitiveType_Name(type),
                         PrimitiveType_Name(result));
  }
  const absl::InlinedVector<PrimitiveType, 3> computed(operands.size(), loop.input);
  return MakeElementKernel(loop.function, operands, computed, loop.output, result);
}

absl::StatusOr<ElementKernel> FindSelectKernel(PrimitiveType predicate, PrimitiveType on_true, PrimitiveType on_false,
                                               PrimitiveType result) {
  KASHI_ASSIGN_OR_RETURN(const PrimitiveType type, CommonType(HloOpcode::kSelect, {on_true, on_false, result}));
  if (predicate != PRED) return Unimplemented("select by %s", PrimitiveType_Name(predicate));
  const bool is_mixed = on_true != on_false || on_true != result;
  const PrimitiveType computed = is_mixed ? ComputationType(type) : type;
  return MakeElementKernel(SelectLoop(computed), {PRED, on_true, on_false}, {PRED, computed, computed}, computed,
                           result);
}

// The random bits may have another width than the type of the computation; the kernel knows it from its input types.
absl::StatusOr<ElementKernel> FindStochasticConvertKernel(PrimitiveType operand, PrimitiveType random,
                                                          PrimitiveType result) {
  const ElementLoop loop = StochasticConvertLoop(operand, result);
  const bool is_random = primitive_util::IsUnsignedIntegralType(random) && !IsNarrowInteger(random) &&
                         primitive_util::BitWidth(random) <= primitive_util::BitWidth(loop.input == F64 ? U64 : U32);
  if (loop.function == nullptr || !is_random) {
    return Unimplemented("stochastic-convert of %s by %s to %s", PrimitiveType_Name(operand),
                         PrimitiveType_Name(random), PrimitiveType_Name(result));
  }
  return MakeElementKernel(loop.function, {operand, random}, {loop.input, loop.input == F64 ? U64 : U32}, loop.output,
                           result);
}

}  // namespace

absl::StatusOr<ElementKernel> FindUnaryKernel(HloOpcode opcode, PrimitiveType operand, PrimitiveType result) {
  if (opcode == HloOpcode::kConvert) return FindConvertKernel(operand, result);
  const ElementLoop loop = opcode == HloOpcode::kReducePrecision
                               ? ReducePrecisionLoop(operand)
                               : FirstOf(RealUnaryLoop(opcode, operand), IntegerUnaryLoop(opcode, operand),
                                         ComplexUnaryLoop(opcode, operand));
  return KernelOf(opcode, loop, operand, {operand}, result);
}

absl::StatusOr<ElementKernel> FindBinaryKernel(HloOpcode opcode, PrimitiveType lhs, PrimitiveType rhs,
                                               PrimitiveType result) {
  if (opcode == HloOpcode::kStochasticConvert) return FindStochasticConvertKernel(lhs, rhs, result);
  KASHI_ASSIGN_OR_RETURN(const PrimitiveType type, CommonType(opcode, {lhs, rhs}));
  const ElementLoop loop =
      FirstOf(RealBinaryLoop(opcode, type), IntegerBinaryLoop(opcode, type), ComplexBinaryLoop(opcode, type));
  return KernelOf(opcode, loop, type, {lhs, rhs}, result);
}

absl::StatusOr<ElementKernel> FindTernaryKernel(HloOpcode opcode, PrimitiveType a, PrimitiveType b, PrimitiveType c,
                                                PrimitiveType result) {
  if (opcode == HloOpcode::kSelect) return FindSelectKernel(a, b, c, result);
  KASHI_ASSIGN_OR_RETURN(const PrimitiveType type, CommonType(opcode, {a, b, c}));
  const ElementLoop loop =
      opcode == HloOpcode::kClamp ? FirstOf(RealClampLoop(type), IntegerClampLoop(type)) : ElementLoop();
  return KernelOf(opcode, loop, type, {a, b, c}, result);
}

}  // namespace kashi::kernels
