// The native C++ type of an element of each primitive type, and traits of these types.
//
//   half bfloat16   float8_e5m2 float8_e4m3 float8_e4m3fn float8_e4m3b11fnuz float8_e5m2fnuz float8_e4m3fnuz
//   float8_e3m4 float8_e8m0fnu   float6_e2m3fn float6_e3m2fn float4_e2m1fn     see narrow_float.h
//   s1 s2 s4 u1 u2 u4                                                          see narrow_int.h
//   complex64 complex128
//
// bool, int8_t ... uint64_t, float and double are as they are. Narrow types take a whole byte in memory, float4 too.
// primitive_util::NativeTypeOf<F8E4M3FN> and NativeToPrimitiveType<float8_e4m3fn>() convert between the two.

#ifndef KASHI_ARRAY_TYPES_H_
#define KASHI_ARRAY_TYPES_H_

#include <complex>
#include <limits>
#include <type_traits>

#include "kashi/array/narrow_float.h"
#include "kashi/array/narrow_int.h"
#include "kashi/array/primitive_type.h"

namespace kashi {

using complex64 = std::complex<float>;
using complex128 = std::complex<double>;

// The rows that primitive_types.def marks OWN: using half = NarrowFloat<F16>; using s4 = NarrowInt<4, true>; ...
#define KASHI_MAKE_STD(...)
#define KASHI_MAKE_OWN(type, bits, type_class, native) using native = KASHI_MAKE_OWN_##type_class(type, bits);
#define KASHI_MAKE_OWN_Signed(type, bits) NarrowInt<bits, true>
#define KASHI_MAKE_OWN_Unsigned(type, bits) NarrowInt<bits, false>
#define KASHI_MAKE_OWN_Float(type, bits) NarrowFloat<type>
#define KASHI_TYPE(type, number, text, bits, bytes, type_class, native, made, ...) \
  KASHI_MAKE_##made(type, bits, type_class, native)
#include "kashi/array/primitive_types.def"
#undef KASHI_MAKE_STD
#undef KASHI_MAKE_OWN
#undef KASHI_MAKE_OWN_Signed
#undef KASHI_MAKE_OWN_Unsigned
#undef KASHI_MAKE_OWN_Float

template <typename T>
inline constexpr bool is_complex_v = false;
template <typename T>
inline constexpr bool is_complex_v<std::complex<T>> = true;

// std::is_floating_point and std::is_integral, for the narrow types too. bool is integral, as in std.
template <typename T>
inline constexpr bool is_specialized_floating_point_v =
    std::numeric_limits<T>::is_specialized && !std::numeric_limits<T>::is_integer;
template <typename T>
inline constexpr bool is_specialized_integral_v =
    std::numeric_limits<T>::is_specialized&& std::numeric_limits<T>::is_integer;

template <typename T>
inline constexpr bool is_intN_v = false;
template <int kNumBits, bool kIsSigned>
inline constexpr bool is_intN_v<NarrowInt<kNumBits, kIsSigned>> = true;

template <typename T>
struct make_specialized_unsigned : std::make_unsigned<T> {};
template <int kNumBits, bool kIsSigned>
struct make_specialized_unsigned<NarrowInt<kNumBits, kIsSigned>> {
  using type = NarrowInt<kNumBits, false>;
};
template <typename T>
using make_specialized_unsigned_t = typename make_specialized_unsigned<T>::type;

template <typename T>
struct make_specialized_signed : std::make_signed<T> {};
template <int kNumBits, bool kIsSigned>
struct make_specialized_signed<NarrowInt<kNumBits, kIsSigned>> {
  using type = NarrowInt<kNumBits, true>;
};
template <typename T>
using make_specialized_signed_t = typename make_specialized_signed<T>::type;

// Only float8_e8m0fnu has no zero. Integers have no -0; the fnuz formats use its code for NaN.
template <typename T>
inline constexpr bool has_negative_zero_v = std::is_floating_point_v<T>;
template <PrimitiveType kType>
inline constexpr bool has_negative_zero_v<NarrowFloat<kType>> = NarrowFloat<kType>::kFormat.has_negative_zero();
template <typename T>
inline constexpr bool has_zero_v = true;
template <PrimitiveType kType>
inline constexpr bool has_zero_v<NarrowFloat<kType>> = NarrowFloat<kType>::kFormat.has_zero();

}  // namespace kashi

#endif  // KASHI_ARRAY_TYPES_H_
