// Queries about primitive types, with XLA's names: the class of a type, its width, its range, its native C++ type, its
// name in text.
//
//   primitive_util::BitWidth(S4) == 4                    primitive_util::ByteWidth(S4) == 1   (in memory, not packed)
//   primitive_util::LowercasePrimitiveTypeName(BF16) == "bf16"
//   primitive_util::CastPreservesValues(S8, BF16)        every s8 is a bf16; false for S16
//   primitive_util::ArrayTypeSwitch([&](auto type) { using T = primitive_util::NativeTypeOf<type>; ... }, F8E4M3FN)
//
// The source of all answers is primitive_types.def. "Dies" means that the caller has broken a rule, as in XLA: check
// with IsArrayType() and similar functions before, and use StringToPrimitiveType() for names from outside.

#ifndef KASHI_ARRAY_PRIMITIVE_UTIL_H_
#define KASHI_ARRAY_PRIMITIVE_UTIL_H_

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_type.h"
#include "kashi/array/types.h"

namespace kashi {
namespace primitive_util {

namespace internal {

// "<function> does not take <type>", then abort.
[[noreturn]] void DieOfType(const char* function, PrimitiveType type);

constexpr PrimitiveClass ClassOf(PrimitiveType type) { return GetPrimitiveTypeInfo(type).type_class; }

}  // namespace internal

// ---------------------------------------------------------------------------------------------------------------------
// Classes
// ---------------------------------------------------------------------------------------------------------------------

constexpr bool IsArrayType(PrimitiveType type) { return GetPrimitiveTypeInfo(type).IsArray(); }
constexpr bool IsSignedIntegralType(PrimitiveType type) { return internal::ClassOf(type) == PrimitiveClass::kSigned; }
constexpr bool IsUnsignedIntegralType(PrimitiveType type) {
  return internal::ClassOf(type) == PrimitiveClass::kUnsigned;
}
// False for PRED.
constexpr bool IsIntegralType(PrimitiveType type) { return IsSignedIntegralType(type) || IsUnsignedIntegralType(type); }
constexpr bool Is8BitIntegralType(PrimitiveType type) {
  return IsIntegralType(type) && GetPrimitiveTypeInfo(type).bits == 8;
}
// False for complex types.
constexpr bool IsFloatingPointType(PrimitiveType type) { return internal::ClassOf(type) == PrimitiveClass::kFloat; }
constexpr bool IsComplexType(PrimitiveType type) { return internal::ClassOf(type) == PrimitiveClass::kComplex; }
// The microscaling formats, element and scale, that have neither infinity nor (except the scale) NaN.
constexpr bool IsMXType(PrimitiveType type) {
  const FloatSpecials specials = GetPrimitiveTypeInfo(type).format.specials;
  return specials == FloatSpecials::kFinite || specials == FloatSpecials::kE8m0;
}
// Without F8E8M0FNU, which is an MX type.
constexpr bool IsF8Type(PrimitiveType type) {
  return IsFloatingPointType(type) && GetPrimitiveTypeInfo(type).bits == 8 && !IsMXType(type);
}
// Types that a layout may pack: `s4[8]{0:E(4)}`. A PRED is always a byte.
constexpr bool IsSubByteNonPredType(PrimitiveType type) {
  return IsArrayType(type) && type != PRED && GetPrimitiveTypeInfo(type).bits < 8;
}

// ---------------------------------------------------------------------------------------------------------------------
// Widths
// ---------------------------------------------------------------------------------------------------------------------

// Bits of a value (PRED 1, S4 4); bytes of an element in memory (both 1). TOKEN: 0. Die for other non-array types.
constexpr int BitWidth(PrimitiveType type) {
  return IsArrayType(type) || type == TOKEN ? GetPrimitiveTypeInfo(type).bits
                                            : (internal::DieOfType("BitWidth", type), 0);
}
constexpr int ByteWidth(PrimitiveType type) {
  return IsArrayType(type) || type == TOKEN ? GetPrimitiveTypeInfo(type).bytes
                                            : (internal::DieOfType("ByteWidth", type), 0);
}

// PRIMITIVE_TYPE_INVALID if there is no integer type of that width; XLA has none for signed integers of 1 bit,
// although S1 exists.
PrimitiveType UnsignedIntegralTypeForBitWidth(int64_t bits);
PrimitiveType SignedIntegralTypeForBitWidth(int64_t bits);

// C64 -> F32; dies unless complex. F32 -> C64; PRIMITIVE_TYPE_INVALID if no complex type has such components.
PrimitiveType ComplexComponentType(PrimitiveType complex_type);
PrimitiveType ComplexType(PrimitiveType component_type);

// ---------------------------------------------------------------------------------------------------------------------
// Number formats. Die for types that are not floating-point, complex ones included.
// ---------------------------------------------------------------------------------------------------------------------

// Bits of precision, the hidden one included: 24 for F32.
int SignificandWidth(PrimitiveType type);
int ExponentWidth(PrimitiveType type);
// std::numeric_limits' min_exponent and max_exponent: for F32 -125 and 128.
int UnderflowExponent(PrimitiveType type);
int OverflowExponent(PrimitiveType type);
// 2 - UnderflowExponent. That is the bias, except for F8E8M0FNU (128, though its bias is 127), where exponent 0 stands
// for a normal number.
int ExponentBias(PrimitiveType type);

// These are false, and do not die, for types that are not floating-point.
bool HasInfinity(PrimitiveType type);
bool HasNaN(PrimitiveType type);
bool HasNegativeZero(PrimitiveType type);

// ---------------------------------------------------------------------------------------------------------------------
// Relations of types
// ---------------------------------------------------------------------------------------------------------------------

// The type that operands of both types are brought to: complex beats real, then the larger range, the higher precision,
// the larger width, signed beats unsigned. Dies for non-array types and if two different types tie, that is: PRED and
// U1, F8E4M3 and F8E4M3FNUZ, F8E5M2 and F8E5M2FNUZ. (TryHigherPrecisionType says PRIMITIVE_TYPE_INVALID instead.)
PrimitiveType HigherPrecisionType(PrimitiveType a, PrimitiveType b);
PrimitiveType TryHigherPrecisionType(PrimitiveType a, PrimitiveType b);

namespace internal {

// The finite values of an integer or real type are k * 2^lowest_bit, k having at most `precision` bits from its highest
// to its lowest set one, up to 0.largest * 2^largest_exponent, where `largest` is a binary fraction of 64 digits.
struct ValueSet {
  int precision;
  int lowest_bit;
  int largest_exponent;
  uint64_t largest;
  bool negative;  // also -k, and -2^largest_exponent if it is an integer type
  FloatSpecials specials;
};

constexpr ValueSet ValueSetOf(const PrimitiveTypeInfo& info) {
  const FloatFormat& format = info.format;
  if (format.specials == FloatSpecials::kNone) {
    const bool is_signed = info.type_class == PrimitiveClass::kSigned;
    const int digits = info.bits - (is_signed ? 1 : 0);
    const uint64_t largest = digits == 0 ? 0 : ~uint64_t{0} << (64 - digits);
    return {digits, 0, digits, largest, is_signed, format.specials};
  }
  const int precision = format.mantissa_bits + 1;
  const int lowest_bit = format.min_exponent() - precision;
  const uint64_t mantissa_of_largest = format.max_code() << (64 - precision);
  return {
      precision,      lowest_bit, format.max_exponent(), mantissa_of_largest | uint64_t{1} << 63, format.sign_bits != 0,
      format.specials};
}

constexpr bool Includes(const ValueSet& to, const ValueSet& from) {
  if (from.precision > to.precision || from.lowest_bit < to.lowest_bit || (from.negative && !to.negative)) return false;
  if (from.largest_exponent > to.largest_exponent) return false;
  if (from.largest_exponent == to.largest_exponent && from.largest > to.largest) return false;
  const FloatFormat from_format{0, 0, 0, 0, from.specials}, to_format{0, 0, 0, 0, to.specials};
  if (from.specials == FloatSpecials::kNone) {
    if (to.specials == FloatSpecials::kNone) return true;
    return to_format.has_zero() && (!from.negative || from.largest_exponent < to.largest_exponent);
  }
  return (!from_format.has_zero() || to_format.has_zero()) && (!from_format.has_nan() || to_format.has_nan()) &&
         (!from_format.has_infinity() || to_format.has_infinity()) &&
         (!from_format.has_negative_zero() || to_format.has_negative_zero());
}

}  // namespace internal

// Whether every value of `from` (each part, if complex; NaN, infinity and -0 too) is a value of `to`. PRED stands for 0
// and 1, but no other type converts to PRED without loss. False for two different types if one is not an array type.
constexpr bool CastPreservesValues(PrimitiveType from, PrimitiveType to) {
  if (from == to) return true;
  if (!IsArrayType(from) || !IsArrayType(to) || to == PRED) return false;
  if (IsComplexType(from) && !IsComplexType(to)) return false;
  // True is the set bit of S1, though that is the number -1.
  if (from == PRED && to == S1) return true;
  return internal::Includes(internal::ValueSetOf(GetPrimitiveTypeInfo(to)),
                            internal::ValueSetOf(GetPrimitiveTypeInfo(from)));
}

// Whether `x` is a value of that integral type. Dies unless integral.
bool FitsInIntegralType(int64_t x, PrimitiveType type);

// ---------------------------------------------------------------------------------------------------------------------
// Names in text
// ---------------------------------------------------------------------------------------------------------------------

// "f8e4m3fn"; "opaque" for OPAQUE_TYPE. Dies for a number that is no type.
const std::string& LowercasePrimitiveTypeName(PrimitiveType type);
// The inverse; case matters. "tuple", "opaque", "token" and "buffer" are names, "primitive_type_invalid" is not.
absl::StatusOr<PrimitiveType> StringToPrimitiveType(absl::string_view name);
bool IsPrimitiveTypeName(absl::string_view name);

// ---------------------------------------------------------------------------------------------------------------------
// Native C++ types
// ---------------------------------------------------------------------------------------------------------------------

// A type as a value of its own type, so that a generic lambda can use it in a constant expression.
template <PrimitiveType kType>
using PrimitiveTypeConstant = std::integral_constant<PrimitiveType, kType>;

template <PrimitiveType kType>
struct PrimitiveTypeToNative;
#define KASHI_TYPE(primitive, number, text, bits, bytes, type_class, native, ...) \
  template <>                                                                     \
  struct PrimitiveTypeToNative<primitive> {                                       \
    using type = native;                                                          \
  };
#include "kashi/array/primitive_types.def"

// NativeTypeOf<F32> is float; void for types that are not array types.
template <PrimitiveType kType>
using NativeTypeOf = typename PrimitiveTypeToNative<kType>::type;

// NativeToPrimitiveType<float>() == F32. Does not compile for a type that is no primitive type's.
template <typename NativeT>
constexpr PrimitiveType NativeToPrimitiveType() {
  constexpr PrimitiveType kResult = [] {
    if constexpr (!std::is_void_v<NativeT>) {
#define KASHI_TYPE(primitive, number, text, bits, bytes, type_class, native, ...) \
  if constexpr (std::is_same_v<NativeT, native>) return primitive;
#include "kashi/array/primitive_types.def"
    }
    return PRIMITIVE_TYPE_INVALID;
  }();
  static_assert(kResult != PRIMITIVE_TYPE_INVALID, "No primitive type has this native type.");
  return kResult;
}

// Whether every value of `type` is a T.
template <typename T>
constexpr bool CanRepresent(PrimitiveType type) {
  return CastPreservesValues(type, NativeToPrimitiveType<T>());
}

// ---------------------------------------------------------------------------------------------------------------------
// Switches: from a PrimitiveType at run time to one at compile time
// ---------------------------------------------------------------------------------------------------------------------

namespace internal {

struct Deduced {};  // "the result type is that of the function"

template <typename R, typename F, PrimitiveType kType>
using SwitchResult =
    std::conditional_t<std::is_same_v<R, Deduced>, std::invoke_result_t<F, PrimitiveTypeConstant<kType>>, R>;

constexpr bool IsTypeButInvalid(PrimitiveType type) { return ClassOf(type) != PrimitiveClass::kInvalid; }

// f(PrimitiveTypeConstant<type>()) for types that kAccepts; `f` is not instantiated for the others, which die.
template <bool (*kAccepts)(PrimitiveType), typename R, typename F>
constexpr R SwitchOver(const char* function, F&& f, PrimitiveType type) {
  switch (type) {
#define KASHI_TYPE(primitive, ...)                                   \
  case primitive:                                                    \
    if constexpr (kAccepts(primitive)) {                             \
      return std::forward<F>(f)(PrimitiveTypeConstant<primitive>()); \
    } else {                                                         \
      break;                                                         \
    }
#include "kashi/array/primitive_types.def"
    default:
      break;
  }
  DieOfType(function, type);
}

template <bool (*kAccepts)(PrimitiveType), PrimitiveType kType, typename F>
constexpr void CallIf(F& f) {
  if constexpr (kAccepts(kType)) f(PrimitiveTypeConstant<kType>());
}

template <bool (*kAccepts)(PrimitiveType), typename F>
constexpr void ForEach(F& f) {
#define KASHI_TYPE(primitive, ...) CallIf<kAccepts, primitive>(f);
#include "kashi/array/primitive_types.def"
}

}  // namespace internal

// Call `f` with the PrimitiveTypeConstant of `type` and return what it returns (or an R made of it). They die if `type`
// is not of their class.
template <typename R = internal::Deduced, typename F>
constexpr internal::SwitchResult<R, F, S32> IntegralTypeSwitch(F&& f, PrimitiveType type) {
  return internal::SwitchOver<IsIntegralType, internal::SwitchResult<R, F, S32>>("IntegralTypeSwitch",
                                                                                 std::forward<F>(f), type);
}
template <typename R = internal::Deduced, typename F>
constexpr internal::SwitchResult<R, F, F32> FloatingPointTypeSwitch(F&& f, PrimitiveType type) {
  return internal::SwitchOver<IsFloatingPointType, internal::SwitchResult<R, F, F32>>("FloatingPointTypeSwitch",
                                                                                      std::forward<F>(f), type);
}
template <typename R = internal::Deduced, typename F>
constexpr internal::SwitchResult<R, F, C64> ComplexTypeSwitch(F&& f, PrimitiveType type) {
  return internal::SwitchOver<IsComplexType, internal::SwitchResult<R, F, C64>>("ComplexTypeSwitch", std::forward<F>(f),
                                                                                type);
}
template <typename R = internal::Deduced, typename F>
constexpr internal::SwitchResult<R, F, F32> ArrayTypeSwitch(F&& f, PrimitiveType type) {
  return internal::SwitchOver<IsArrayType, internal::SwitchResult<R, F, F32>>("ArrayTypeSwitch", std::forward<F>(f),
                                                                              type);
}
// TUPLE, OPAQUE_TYPE, TOKEN and BUFFER too.
template <typename R = internal::Deduced, typename F>
constexpr internal::SwitchResult<R, F, F32> PrimitiveTypeSwitch(F&& f, PrimitiveType type) {
  return internal::SwitchOver<internal::IsTypeButInvalid, internal::SwitchResult<R, F, F32>>("PrimitiveTypeSwitch",
                                                                                             std::forward<F>(f), type);
}

// Call `f` with the PrimitiveTypeConstant of every type of the class, in the order of their numbers.
template <typename F>
constexpr void IntegralTypeForEach(F&& f) {
  internal::ForEach<IsIntegralType>(f);
}
template <typename F>
constexpr void FloatingPointTypeForEach(F&& f) {
  internal::ForEach<IsFloatingPointType>(f);
}
template <typename F>
constexpr void ArrayTypeForEach(F&& f) {
  internal::ForEach<IsArrayType>(f);
}

// ---------------------------------------------------------------------------------------------------------------------
// Packing. One element a byte on one side, a string of bits on the other, the first element in the lowest bits:
//
//   s4 elements   01 02 03 0f      packed   21 f3
//   u1 elements   01 01 00 01 ...  packed   ...1011
//   6 bits        3f 00 15         packed   3f 50 01      (elements may cross bytes if 8 is no multiple of the width)
// ---------------------------------------------------------------------------------------------------------------------

// ceil(elements * bits / 8), the size of the packed side.
constexpr int64_t PackedByteSize(int64_t num_elements, int bits) {
  return num_elements / 8 * bits + (num_elements % 8 * bits + 7) / 8;
}

// `bits` from 1 to 8. High bits of the input's elements are ignored; unused bits of the last packed byte become 0. Die
// unless the packed side's size is PackedByteSize(elements, bits).
void PackIntN(int bits, absl::Span<const char> elements, absl::Span<char> packed);
// High bits of the elements become 0.
void UnpackIntN(int bits, absl::Span<const char> packed, absl::Span<char> elements);

// Packs with the width of a type of at most 8 bits (dies for others). The elements are then the bytes of native values.
void PackIntN(PrimitiveType type, absl::Span<const char> elements, absl::Span<char> packed);
void UnpackIntN(PrimitiveType type, absl::Span<const char> packed, absl::Span<char> elements);

}  // namespace primitive_util
}  // namespace kashi

#endif  // KASHI_ARRAY_PRIMITIVE_UTIL_H_
