// The loops of convert (docs/spec/hlo-ops.md 1.5; element_convert.h for single elements). They also convert narrow
// types to the types in which we compute, and back.
#include <cstdint>
#include <type_traits>

#include "kashi/array/element_convert.h"
#include "kashi/array/types.h"
#include "kashi/base/status.h"
#include "kashi/kernels/element_loops.h"

namespace kashi::kernels {
namespace {

// ---- From and to narrow floats. bf16 and f16 have formulas without branches, which become vector code.

float BitsToFloat(uint32_t bits) { return __builtin_bit_cast(float, bits); }
uint32_t FloatToBits(float x) { return __builtin_bit_cast(uint32_t, x); }

constexpr uint32_t kFloatInfinity = 0x7f800000;

struct DecodeBf16 {
  static float Of(uint16_t code) { return BitsToFloat(uint32_t{code} << 16); }
};
// Half a unit of the last place that stays, less one unless that is odd. A NaN keeps its sign only.
struct EncodeBf16 {
  static uint16_t Of(float x) {
    const uint32_t bits = FloatToBits(x);
    const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    const uint32_t nan = ((bits >> 16) & 0x8000) | 0x7fc0;
    return static_cast<uint16_t>((bits & 0x7fffffff) > kFloatInfinity ? nan : rounded);
  }
};

//   f16   S EEEEE MMMMMMMMMM            exponent bias 15
//   f32   S EEEEEEEE MMMMMMMMMM0…       exponent bias 127
struct DecodeF16 {
  static float Of(uint16_t code) {
    const uint32_t sign = uint32_t{code & 0x8000u} << 16, magnitude = code & 0x7fffu;
    const uint32_t normal = (magnitude << 13) + ((127 - 15) << 23);
    const uint32_t special = (magnitude << 13) | kFloatInfinity;  // infinity and NaN, with its payload
    // Mantissa / 2^24: as the last bits of a number between 2^-14 and 2^-13, less 2^-14.
    const uint32_t subnormal = FloatToBits(BitsToFloat((magnitude << 13) + (113u << 23)) - 0x1p-14f);
    return BitsToFloat(sign | Pick(magnitude >= 0x7c00, special, Pick(magnitude < 0x400, subnormal, normal)));
  }
};
struct EncodeF16 {
  static uint16_t Of(float x) {
    const uint32_t bits = FloatToBits(x), sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7fffffff;
    const uint32_t normal = (magnitude - ((127 - 15) << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
    // Units of 2^-24 are the last bits of numbers between 1/2 and 1: the addition rounds.
    const uint32_t subnormal = FloatToBits(BitsToFloat(magnitude) + 0.5f) - FloatToBits(0.5f);
    const uint32_t overflow = Pick<uint32_t>(magnitude > kFloatInfinity, 0x7e00, 0x7c00);
    const uint32_t finite = Pick(magnitude < FloatToBits(0x1p-14f), subnormal, normal);
    return static_cast<uint16_t>(sign | Pick(magnitude >= FloatToBits(65520.0f), overflow, finite));
  }
};

template <typename To>
struct Convert {
  template <typename From>
  static To Of(From x) {
    return array::ConvertElement<To>(x);
  }
};

template <typename To, typename From>
ElementFunction Loop() {
  constexpr bool kFromF32 = std::is_same_v<From, float>, kToF32 = std::is_same_v<To, float>;
  if constexpr (std::is_same_v<From, bfloat16> && kToF32) {
    return &UnaryLoop<DecodeBf16, uint16_t>;
  } else if constexpr (std::is_same_v<From, half> && kToF32) {
    return &UnaryLoop<DecodeF16, uint16_t>;
  } else if constexpr (kFromF32 && std::is_same_v<To, bfloat16>) {
    return &UnaryLoop<EncodeBf16, float>;
  } else if constexpr (kFromF32 && std::is_same_v<To, half>) {
    return &UnaryLoop<EncodeF16, float>;
  } else {
    return &UnaryLoop<Convert<To>, From>;
  }
}

// Pairs of different types between which there is one loop (element_loops.h).
constexpr bool IsWhole(PrimitiveType type) { return primitive_util::IsIntegralType(type) && !IsNarrowInteger(type); }
constexpr bool IsWide(PrimitiveType type) { return IsWhole(type) || type == F32 || type == F64; }
constexpr bool HasLoop(PrimitiveType from, PrimitiveType to) {
  const bool from_real = from == F32 || from == F64, to_real = to == F32 || to == F64;
  if (from == to) return false;
  if (primitive_util::IsComplexType(from)) {
    return to == PRED || primitive_util::IsComplexType(to) || to == (from == C64 ? F32 : F64);
  }
  if (primitive_util::IsComplexType(to)) return from == (to == C64 ? F32 : F64);
  if (IsNarrowFloat(from)) return to_real;
  if (IsNarrowFloat(to)) return from_real;
  if (IsNarrowInteger(from)) return to == ComputationType(from);
  if (IsNarrowInteger(to)) return from == U8 || from_real;
  if (to == PRED) return IsWide(from);
  // Integers of one width are the same bytes, and only the width of the result matters.
  if (IsWhole(from) && IsWhole(to)) {
    return primitive_util::IsUnsignedIntegralType(to) && primitive_util::BitWidth(from) != primitive_util::BitWidth(to);
  }
  return IsWide(from) && IsWide(to);
}

template <PrimitiveType from>
ElementFunction LoopFrom(PrimitiveType to) {
  return primitive_util::ArrayTypeSwitch<ElementFunction>(
      [](auto to_constant) -> ElementFunction {
        constexpr PrimitiveType kTo = decltype(to_constant)::value;
        if constexpr (HasLoop(from, kTo)) {
          return Loop<primitive_util::NativeTypeOf<kTo>, primitive_util::NativeTypeOf<from>>();
        } else {
          return nullptr;
        }
      },
      to);
}

PrimitiveType UnsignedOf(PrimitiveType type) {
  return primitive_util::UnsignedIntegralTypeForBitWidth(primitive_util::BitWidth(type));
}
PrimitiveType SignedOf(PrimitiveType type) {
  const int bits = primitive_util::BitWidth(type);
  return bits == 1 ? S1 : primitive_util::SignedIntegralTypeForBitWidth(bits);  // which has no answer for one bit
}

}  // namespace

ElementFunction ConvertLoop(PrimitiveType from, PrimitiveType to) {
  if (from == PRED) from = U8;
  if (IsNarrowInteger(to) && IsWhole(from) && primitive_util::BitWidth(from) == 8) from = U8;
  if (IsNarrowInteger(from) && primitive_util::Is8BitIntegralType(to)) {
    from = to == S8 ? SignedOf(from) : UnsignedOf(from);  // extends as the target's signedness says
  }
  if (IsWhole(from) && IsWhole(to)) to = UnsignedOf(to);  // only the width matters
  return primitive_util::ArrayTypeSwitch<ElementFunction>(
      [to](auto from_constant) { return LoopFrom<decltype(from_constant)::value>(to); }, from);
}

namespace {

// The conversions between widening and narrowing, one column each:
//
//   f16 -> s4       f16 -> f32    f32 -> s4
//   c128 -> bf16    c128 -> f64                  f64 -> bf16
//   s64 -> bf16     -             s64 -> f32    f32 -> bf16     rounds twice, as XLA does
//   s4 -> c64       s4 -> s8      s8 -> f32      f32 -> c64
struct ConvertPath {
  PrimitiveType widened;   // the type after the first column
  PrimitiveType computed;  // and after the second
};
ConvertPath PathOf(PrimitiveType from, PrimitiveType to) {
  if (primitive_util::IsComplexType(from) && (primitive_util::IsComplexType(to) || to == PRED)) return {from, to};
  const PrimitiveType widened =
      primitive_util::IsComplexType(from) ? primitive_util::ComplexComponentType(from) : ComputationType(from);
  const bool is_real = primitive_util::IsFloatingPointType(widened);
  if (primitive_util::IsComplexType(to)) return {widened, primitive_util::ComplexComponentType(to)};
  if (IsNarrowFloat(to)) return {widened, is_real ? widened : F32};
  if (IsNarrowInteger(to) && !is_real) return {widened, U8};
  return {widened, to};
}

}  // namespace

absl::StatusOr<ElementKernel> FindConvertKernel(PrimitiveType from, PrimitiveType to) {
  if (!primitive_util::IsArrayType(from) || !primitive_util::IsArrayType(to)) {
    return Unimplemented("convert from %s to %s", primitive_util::LowercasePrimitiveTypeName(from),
                         primitive_util::LowercasePrimitiveTypeName(to));
  }
  if (from == to) return MakeElementKernel(nullptr, {from}, {from}, to, to);
  const ConvertPath path = PathOf(from, to);
  return MakeElementKernel(ConvertLoop(path.widened, path.computed), {from}, {path.widened}, path.computed, to);
}

}  // namespace kashi::kernels
