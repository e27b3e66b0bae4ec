// Integers and PRED (docs/spec/hlo-ops.md 1.1, 1.2, 1.4). All arithmetic wraps; nothing is undefined.
//
// A formula's domain is the signedness that it computes with, which may differ from the arrays'. Sums are the same for
// both, so s32 and u32 share the loop; shift-right-arithmetic treats even u32 as signed.
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kashi/kernels/element_loops.h"

namespace kashi::kernels {
namespace {

enum class Domain { kUnsigned, kSigned, kOwn, kOwnIfSigned };

// Formulas are made for the types of their domain only.
template <typename T>
constexpr bool IsIn(Domain domain) {
  return domain == Domain::kOwn || (domain == Domain::kUnsigned ? std::is_unsigned_v<T> : std::is_signed_v<T>);
}

// T's bits without the promotion to int that would make u16 * u16 overflow.
template <typename T>
using Unsigned = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;
template <typename T>
constexpr Unsigned<T> Bits(T x) {
  return static_cast<Unsigned<T>>(x);
}
template <typename T>
constexpr T Wrap(Unsigned<T> x) {
  return static_cast<T>(x);
}
template <typename T>
constexpr int kWidth = sizeof(T) * 8;

template <typename T>
T Divide(T x, T y) {
  if (y == 0) return static_cast<T>(-1);
  if (std::is_signed_v<T> && y == static_cast<T>(-1)) return Wrap<T>(0 - Bits(x));  // the smallest number stays
  return static_cast<T>(x / y);
}
template <typename T>
T Remainder(T x, T y) {
  if (y == 0) return x;
  if (std::is_signed_v<T> && y == static_cast<T>(-1)) return 0;
  return static_cast<T>(x % y);
}
// Negative exponents: 1 for the base 1, else 0 (XLA:CPU's code would give -1^-1 as -1; docs/fidelity.md).
template <typename T>
T Power(T base, T exponent) {
  if (exponent < 0) return base == 1 ? 1 : 0;
  Unsigned<T> result = 1, square = Bits(base);
  for (std::make_unsigned_t<T> rest = exponent; rest != 0; rest >>= 1, square *= square) {
    if ((rest & 1) != 0) result *= square;
  }
  return Wrap<T>(result);
}
// Amounts are unsigned, and may be larger than the type is wide.
template <typename T>
bool IsWithin(T amount) {
  return static_cast<std::make_unsigned_t<T>>(amount) < kWidth<T>;
}
template <typename T>
T ShiftLeft(T x, T amount) {
  return IsWithin(amount) ? Wrap<T>(Bits(x) << (amount & (kWidth<T> - 1))) : 0;
}
template <typename T>
T ShiftRight(T x, T amount) {
  const T beyond = x < 0 ? static_cast<T>(-1) : static_cast<T>(0);
  return IsWithin(amount) ? static_cast<T>(x >> (amount & (kWidth<T> - 1))) : beyond;
}
template <typename T>
T PopulationCount(T x) {
  return static_cast<T>(__builtin_popcountll(static_cast<std::make_unsigned_t<T>>(x)));
}

template <HloOpcode>
struct IntegerUnary {
  static constexpr Domain kDomain = Domain::kOwn;
};
template <HloOpcode>
struct IntegerBinary {
  static constexpr Domain kDomain = Domain::kOwn;
};

#define KASHI_INTEGER_FORMULA(Formula, opcode, domain, parameters, expression) \
  template <>                                                                  \
  struct Formula<HloOpcode::opcode> {                                          \
    static constexpr Domain kDomain = Domain::domain;                          \
    template <typename T, typename = std::enable_if_t<IsIn<T>(kDomain)>>       \
    static T Of parameters {                                                   \
      return static_cast<T>(expression);                                       \
    }                                                                          \
  };
KASHI_INTEGER_FORMULA(IntegerUnary, kAbs, kOwnIfSigned, (T x), x < 0 ? Wrap<T>(0 - Bits(x)) : x)
KASHI_INTEGER_FORMULA(IntegerUnary, kSign, kOwnIfSigned, (T x), (x > 0) - (x < 0))
KASHI_INTEGER_FORMULA(IntegerUnary, kNegate, kUnsigned, (T x), 0 - Bits(x))
KASHI_INTEGER_FORMULA(IntegerUnary, kNot, kUnsigned, (T x), ~Bits(x))
KASHI_INTEGER_FORMULA(IntegerUnary, kPopulationCount, kUnsigned, (T x), PopulationCount(x))

KASHI_INTEGER_FORMULA(IntegerBinary, kAdd, kUnsigned, (T x, T y), Bits(x) + Bits(y))
KASHI_INTEGER_FORMULA(IntegerBinary, kSubtract, kUnsigned, (T x, T y), Bits(x) - Bits(y))
KASHI_INTEGER_FORMULA(IntegerBinary, kMultiply, kUnsigned, (T x, T y), Bits(x) * Bits(y))
KASHI_INTEGER_FORMULA(IntegerBinary, kAnd, kUnsigned, (T x, T y), x& y)
KASHI_INTEGER_FORMULA(IntegerBinary, kOr, kUnsigned, (T x, T y), x | y)
KASHI_INTEGER_FORMULA(IntegerBinary, kXor, kUnsigned, (T x, T y), x ^ y)
KASHI_INTEGER_FORMULA(IntegerBinary, kShiftLeft, kUnsigned, (T x, T y), ShiftLeft(x, y))
KASHI_INTEGER_FORMULA(IntegerBinary, kShiftRightLogical, kUnsigned, (T x, T y), ShiftRight(x, y))
KASHI_INTEGER_FORMULA(IntegerBinary, kShiftRightArithmetic, kSigned, (T x, T y), ShiftRight(x, y))
KASHI_INTEGER_FORMULA(IntegerBinary, kDivide, kOwn, (T x, T y), Divide(x, y))
KASHI_INTEGER_FORMULA(IntegerBinary, kRemainder, kOwn, (T x, T y), Remainder(x, y))
KASHI_INTEGER_FORMULA(IntegerBinary, kPower, kOwn, (T x, T y), Power(x, y))
KASHI_INTEGER_FORMULA(IntegerBinary, kMaximum, kOwn, (T x, T y), x > y ? x : y)
KASHI_INTEGER_FORMULA(IntegerBinary, kMinimum, kOwn, (T x, T y), x < y ? x : y)
#undef KASHI_INTEGER_FORMULA

// The high bound wins where the bounds cross.
struct IntegerClamp {
  template <typename T>
  static T Of(T low, T x, T high) {
    const T raised = x > low ? x : low;
    return raised < high ? raised : high;
  }
};

struct PredNot {
  static uint8_t Of(uint8_t x) { return x == 0; }
};

// Counts the zeros in the type of the array, which may be narrower than T: s4's 0001 has three.
template <typename T>
void CountLeadingZeros(const ElementKernel& kernel, const void* const* inputs, void* output, int64_t n) {
  const T* a = InputOf<T>(inputs, 0);
  T* out = static_cast<T*>(output);
  const int width = primitive_util::BitWidth(kernel.input_types[0]);
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t x = static_cast<std::make_unsigned_t<T>>(a[i]);
    out[i] = static_cast<T>(x == 0 ? width : __builtin_clzll(x) - (64 - width));
  }
}

// The high half of the double-width product: u8 200 * 200 = 40000 = 0x9c40, so 0x9c.
template <typename T>
void MultiplyHigh(const ElementKernel& kernel, const void* const* inputs, void* output, int64_t n) {
  using Product =
      std::conditional_t<sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>,
                         std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;
  const T *a = InputOf<T>(inputs, 0), *b = InputOf<T>(inputs, 1);
  T* out = static_cast<T*>(output);
  const int width = primitive_util::BitWidth(kernel.input_types[0]);
  for (int64_t i = 0; i < n; ++i)
    out[i] = static_cast<T>((static_cast<Product>(a[i]) * static_cast<Product>(b[i])) >> width);
}

// The type of as many bytes that the domain computes in.
PrimitiveType InDomain(Domain domain, PrimitiveType type) {
  const int bits = primitive_util::ByteWidth(type) * 8;
  const bool is_signed =
      domain == Domain::kSigned || (domain != Domain::kUnsigned && primitive_util::IsSignedIntegralType(type));
  return is_signed ? primitive_util::SignedIntegralTypeForBitWidth(bits)
                   : primitive_util::UnsignedIntegralTypeForBitWidth(bits);
}

// find(T()) for the native type T of one of the eight types that we compute in.
template <typename Find>
ElementLoop LoopOn(PrimitiveType type, Find find) {
  switch (type) {
    case S8:
      return {find(int8_t()), type, type};
    case S16:
      return {find(int16_t()), type, type};
    case S32:
      return {find(int32_t()), type, type};
    case S64:
      return {find(int64_t()), type, type};
    case U8:
      return {find(uint8_t()), type, type};
    case U16:
      return {find(uint16_t()), type, type};
    case U32:
      return {find(uint32_t()), type, type};
    case U64:
      return {find(uint64_t()), type, type};
    default:
      return {};
  }
}

template <template <HloOpcode> class Formula>
Domain DomainOf(HloOpcode opcode) {
  static constexpr std::array<Domain, HloOpcodeCount()> kDomains = {
#define KASHI_OP(op, ...) Formula<HloOpcode::k##op>::kDomain,
#include "kashi/hlo/ir/ops.def"
  };
  return kDomains[static_cast<size_t>(opcode)];
}

// PRED adds as or, multiplies as and; numbers of one bit have no other arithmetic.
HloOpcode LogicalOpcode(HloOpcode opcode) {
  return opcode == HloOpcode::kAdd ? HloOpcode::kOr : opcode == HloOpcode::kMultiply ? HloOpcode::kAnd : opcode;
}
bool IsLogical(HloOpcode opcode) {
  return opcode == HloOpcode::kAnd || opcode == HloOpcode::kOr || opcode == HloOpcode::kXor ||
         opcode == HloOpcode::kMaximum || opcode == HloOpcode::kMinimum;
}

}  // namespace

ElementLoop IntegerUnaryLoop(HloOpcode opcode, PrimitiveType type) {
  if (type == PRED && opcode == HloOpcode::kNot) return {&UnaryLoop<PredNot, uint8_t>, U8, U8};
  if (!primitive_util::IsIntegralType(type)) return {};
  if (opcode == HloOpcode::kClz) {
    return LoopOn(InDomain(Domain::kUnsigned, type),
                  [](auto t) -> ElementFunction { return &CountLeadingZeros<decltype(t)>; });
  }
  return LoopOn(InDomain(DomainOf<IntegerUnary>(opcode), type),
                [opcode](auto t) { return FindUnaryLoop<IntegerUnary, decltype(t)>(opcode); });
}

ElementLoop IntegerBinaryLoop(HloOpcode opcode, PrimitiveType type) {
  if (type == PRED) {
    const HloOpcode logical = LogicalOpcode(opcode);
    return IsLogical(logical) ? IntegerBinaryLoop(logical, U8) : ElementLoop();
  }
  if (!primitive_util::IsIntegralType(type)) return {};
  if (opcode == HloOpcode::kMulhi) {
    return LoopOn(InDomain(Domain::kOwn, type), [](auto t) -> ElementFunction { return &MultiplyHigh<decltype(t)>; });
  }
  return LoopOn(InDomain(DomainOf<IntegerBinary>(opcode), type),
                [opcode](auto t) { return FindBinaryLoop<IntegerBinary, decltype(t)>(opcode); });
}

ElementLoop IntegerClampLoop(PrimitiveType type) {
  if (type != PRED && !primitive_util::IsIntegralType(type)) return {};
  return LoopOn(InDomain(Domain::kOwn, type),
                [](auto t) -> ElementFunction { return &TernaryLoop<IntegerClamp, decltype(t)>; });
}

}  // namespace kashi::kernels
