// For the element_kernel_*.cc files: formulas, the loops that run them, and the tables from opcode and type to loop.
//
// Loops exist for the types that we compute in:
//
//   array of          computed in        widen                       narrow
//   s8 … u64          itself, or the other signedness of its width: the same bytes
//   s1 s2 s4 u1 …     s8 or u8           sign or zero extension      the low bits
//   pred              u8                 -                           -
//   f32 f64 c64 c128  itself             -                           -
//   f16 bf16 f8… f4…  f32                exact                       nearest, even; once
//
// RunInPortions (element_kernel.cc) widens and narrows, so there are few loops, and no kernel rounds twice.
#ifndef KASHI_KERNELS_ELEMENT_LOOPS_H_
#define KASHI_KERNELS_ELEMENT_LOOPS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_util.h"
#include "kashi/kernels/element_kernel.h"

namespace kashi::kernels {

// The iterations of the loop below are independent, although output and input may be the same memory. Without this
// pragma, the compiler adds an overlap check, and uses a slow loop if they overlap.
#if defined(__GNUC__) && !defined(__clang__)
#define KASHI_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#else
#define KASHI_INDEPENDENT_ITERATIONS
#endif

using ElementFunction = ElementKernel::Function;

// For unsigned integers: a if `is_a`, otherwise b. Never a branch, so that compilers can vectorise the loop. They
// vectorise ?: only if they can prove that both sides may be computed.
template <typename Bits>
Bits Pick(bool is_a, Bits a, Bits b) {
  return b ^ ((a ^ b) & (Bits{0} - Bits{is_a}));
}

template <typename T>
const T* InputOf(const void* const* inputs, int i) {
  return static_cast<const T*>(inputs[i]);
}

// output[i] = F::Of(input[i]), and so on.
template <typename F, typename T>
void UnaryLoop(const ElementKernel&, const void* const* inputs, void* output, int64_t n) {
  using R = decltype(F::Of(T()));
  const T* a = InputOf<T>(inputs, 0);
  R* out = static_cast<R*>(output);
  KASHI_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) out[i] = F::Of(a[i]);
}

template <typename F, typename T>
void BinaryLoop(const ElementKernel&, const void* const* inputs, void* output, int64_t n) {
  using R = decltype(F::Of(T(), T()));
  const T *a = InputOf<T>(inputs, 0), *b = InputOf<T>(inputs, 1);
  R* out = static_cast<R*>(output);
  KASHI_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) out[i] = F::Of(a[i], b[i]);
}

template <typename F, typename T>
void TernaryLoop(const ElementKernel&, const void* const* inputs, void* output, int64_t n) {
  using R = decltype(F::Of(T(), T(), T()));
  const T *a = InputOf<T>(inputs, 0), *b = InputOf<T>(inputs, 1), *c = InputOf<T>(inputs, 2);
  R* out = static_cast<R*>(output);
  KASHI_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) out[i] = F::Of(a[i], b[i], c[i]);
}

// A formula is a class template over opcodes; it is empty for opcodes without a formula:
//
//   template <HloOpcode> struct RealUnary {};
//   KASHI_FORMULA(RealUnary, kExp, (T x), std::exp(x))
#define KASHI_FORMULA(Formula, opcode, parameters, expression) \
  template <>                                                  \
  struct Formula<HloOpcode::opcode> {                          \
    template <typename T>                                      \
    static auto Of parameters {                                \
      return expression;                                       \
    }                                                          \
  };

template <typename F, typename T, typename = void>
struct HasUnary : std::false_type {};
template <typename F, typename T>
struct HasUnary<F, T, std::void_t<decltype(&F::template Of<T>)>> : std::true_type {};

template <typename F, typename T>
constexpr ElementFunction UnaryLoopOf() {
  if constexpr (HasUnary<F, T>::value) return &UnaryLoop<F, T>;
  return nullptr;
}
template <typename F, typename T>
constexpr ElementFunction BinaryLoopOf() {
  if constexpr (HasUnary<F, T>::value) return &BinaryLoop<F, T>;
  return nullptr;
}

// The loop of the opcode's formula on T; null if there is no formula.
template <template <HloOpcode> class Formula, typename T>
ElementFunction FindUnaryLoop(HloOpcode opcode) {
  static constexpr std::array<ElementFunction, HloOpcodeCount()> kLoops = {
#define KASHI_OP(op, ...) UnaryLoopOf<Formula<HloOpcode::k##op>, T>(),
#include "kashi/hlo/ir/ops.def"
  };
  return kLoops[static_cast<size_t>(opcode)];
}
template <template <HloOpcode> class Formula, typename T>
ElementFunction FindBinaryLoop(HloOpcode opcode) {
  static constexpr std::array<ElementFunction, HloOpcodeCount()> kLoops = {
#define KASHI_OP(op, ...) BinaryLoopOf<Formula<HloOpcode::k##op>, T>(),
#include "kashi/hlo/ir/ops.def"
  };
  return kLoops[static_cast<size_t>(opcode)];
}

// A loop, and the types that it reads and writes. No function: the operation does not support the types.
struct ElementLoop {
  ElementFunction function = nullptr;
  PrimitiveType input = PRIMITIVE_TYPE_INVALID;  // of all inputs that are not named otherwise
  PrimitiveType output = PRIMITIVE_TYPE_INVALID;
};

// Loops by the class of the computation type, in element_kernel_{integer,real,complex}.cc. `type` is the type of the
// arrays; types outside of the class have no loops.
ElementLoop IntegerUnaryLoop(HloOpcode opcode, PrimitiveType type);
ElementLoop IntegerBinaryLoop(HloOpcode opcode, PrimitiveType type);
ElementLoop IntegerClampLoop(PrimitiveType type);
ElementLoop RealUnaryLoop(HloOpcode opcode, PrimitiveType type);
ElementLoop RealBinaryLoop(HloOpcode opcode, PrimitiveType type);
ElementLoop RealClampLoop(PrimitiveType type);
ElementLoop ComplexUnaryLoop(HloOpcode opcode, PrimitiveType type);
ElementLoop ComplexBinaryLoop(HloOpcode opcode, PrimitiveType type);
ElementLoop ReducePrecisionLoop(PrimitiveType type);
// Its second input is the random bits, as u32 (u64 if the first input is f64). Reads the kernel's own input types.
ElementLoop StochasticConvertLoop(PrimitiveType operand, PrimitiveType result);

// A loop from `from` to `to` (element_kernel_convert.cc); null if there is none, or nothing to do. Loops exist
//   between f32 f64, and from them to and from f16 bf16 f8… f4… :
//     nearest, even (f64 to f16 and bf16 through f32, as in XLA)
//   from s8 … u64 to each other, to f32 and f64, and from f32 and f64 to them and to s1 … u4: the rules of convert
//   between s1 … u4 and s8 or u8: extension of the source's signedness, the low bits
//   from all of these but the narrow ones to pred, from complex numbers to their real part, and back
ElementFunction ConvertLoop(PrimitiveType from, PrimitiveType to);
// The second and third input by the first, which is PRED; of any type of as many bytes.
ElementFunction SelectLoop(PrimitiveType type);

constexpr bool IsNarrowInteger(PrimitiveType type) {
  return primitive_util::IsIntegralType(type) && primitive_util::BitWidth(type) < 8;
}
constexpr bool IsNarrowFloat(PrimitiveType type) {
  return primitive_util::IsFloatingPointType(type) && primitive_util::BitWidth(type) < 32;
}
// Narrow types as in the table above, all other types unchanged.
constexpr PrimitiveType ComputationType(PrimitiveType type) {
  if (type == PRED) return U8;
  if (IsNarrowFloat(type)) return F32;
  if (IsNarrowInteger(type)) return primitive_util::IsSignedIntegralType(type) ? S8 : U8;
  return type;
}

// The type of all operands. If they have different floating-point types, which text allows, the highest of these.
// UNIMPLEMENTED for other mixtures.
absl::StatusOr<PrimitiveType> CommonType(HloOpcode opcode, absl::Span<const PrimitiveType> operands);

// ElementKernel::function of kernels that widen or narrow.
void RunInPortions(const ElementKernel& kernel, const void* const* inputs, void* output, int64_t n);

// A kernel from a loop that computes on `computed` types (null: it copies the bytes of one input), with conversions
// before and after it. ConvertLoop must be able to convert between the types, unless they are the same.
ElementKernel MakeElementKernel(ElementFunction compute, absl::Span<const PrimitiveType> inputs,
                                absl::Span<const PrimitiveType> computed_inputs, PrimitiveType computed_output,
                                PrimitiveType output);

}  // namespace kashi::kernels

#endif  // KASHI_KERNELS_ELEMENT_LOOPS_H_
