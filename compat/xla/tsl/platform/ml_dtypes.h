// The narrow number types under the names that tsl and ml_dtypes give them. (Nothing of ml_dtypes itself is needed;
// where its headers are installed, its namespace is left to it.)
#ifndef KASHI_COMPAT_XLA_TSL_PLATFORM_ML_DTYPES_H_
#define KASHI_COMPAT_XLA_TSL_PLATFORM_ML_DTYPES_H_

#include "kashi/array/types.h"

#define KASHI_COMPAT_NARROW_TYPES                         \
  using float4_e2m1fn = ::kashi::float4_e2m1fn;           \
  using float6_e2m3fn = ::kashi::float6_e2m3fn;           \
  using float6_e3m2fn = ::kashi::float6_e3m2fn;           \
  using float8_e3m4 = ::kashi::float8_e3m4;               \
  using float8_e4m3 = ::kashi::float8_e4m3;               \
  using float8_e4m3b11fnuz = ::kashi::float8_e4m3b11fnuz; \
  using float8_e4m3fn = ::kashi::float8_e4m3fn;           \
  using float8_e4m3fnuz = ::kashi::float8_e4m3fnuz;       \
  using float8_e5m2 = ::kashi::float8_e5m2;               \
  using float8_e5m2fnuz = ::kashi::float8_e5m2fnuz;       \
  using float8_e8m0fnu = ::kashi::float8_e8m0fnu;         \
  using int1 = ::kashi::s1;                               \
  using int2 = ::kashi::s2;                               \
  using int4 = ::kashi::s4;                               \
  using uint1 = ::kashi::u1;                              \
  using uint2 = ::kashi::u2;                              \
  using uint4 = ::kashi::u4;

namespace tsl {
KASHI_COMPAT_NARROW_TYPES
}  // namespace tsl

#if !__has_include("ml_dtypes/include/float8.h")
namespace ml_dtypes {
KASHI_COMPAT_NARROW_TYPES
}  // namespace ml_dtypes
#endif

#undef KASHI_COMPAT_NARROW_TYPES

#endif  // KASHI_COMPAT_XLA_TSL_PLATFORM_ML_DTYPES_H_
