// Conversions by vectors. Arithmetic on floats narrower than f32 is done with integers on the codes, so that every
// NaN is the one that ConvertElement makes, on every processor.
#include "kashi/relayout/simd/highway_targets.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kashi/relayout/simd/row_functions_vector.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kashi/array/primitive_util.h"
#include "kashi/relayout/simd/highway_export-inl.h"
#include "kashi/relayout/simd/row_functions_internal.h"

HWY_BEFORE_NAMESPACE();
namespace kashi::relayout {
namespace HWY_NAMESPACE {

namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Each conversion is a struct: the lanes that it takes and makes, and Of(d, v), where `d` is the tag of the wider of
// them.
template <class C>
using WiderLane =
    std::conditional_t<(sizeof(typename C::From) > sizeof(typename C::To)), typename C::From, typename C::To>;
template <class C>
using TagOf = hn::ScalableTag<WiderLane<C>>;

template <class C>
HWY_INLINE void ConvertVector(TagOf<C> d, const typename C::From* from, typename C::To* to) {
  const hn::Rebind<typename C::From, TagOf<C>> d_from;
  const hn::Rebind<typename C::To, TagOf<C>> d_to;
#if HWY_TARGET == HWY_SCALAR  // wants aligned addresses
  typename C::From source;
  typename C::To target;
  std::memcpy(&source, from, sizeof(source));
  hn::StoreU(C::Of(d, hn::LoadU(d_from, &source)), d_to, &target);
  std::memcpy(to, &target, sizeof(target));
#else
  hn::StoreU(C::Of(d, hn::LoadU(d_from, from)), d_to, to);
#endif
}

template <class C>
void ConvertRow(const char* from, char* to, int64_t count) {
  const TagOf<C> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto* source = reinterpret_cast<const typename C::From*>(from);
  auto* target = reinterpret_cast<typename C::To*>(to);
  if (count >= lanes) {
    for (int64_t i = 0; i + lanes < count; i += lanes) ConvertVector<C>(d, source + i, target + i);
    ConvertVector<C>(d, source + count - lanes, target + count - lanes);  // over some that are done
    return;
  }
  typename C::From few[hn::MaxLanes(TagOf<C>())] = {};
  typename C::To converted[hn::MaxLanes(TagOf<C>())];
  std::memcpy(few, from, count * sizeof(few[0]));
  ConvertVector<C>(d, few, converted);
  std::memcpy(to, converted, count * sizeof(converted[0]));
}

// Converts complex numbers part by part.
template <class C>
void ConvertParts(const char* from, char* to, int64_t count) {
  ConvertRow<C>(from, to, 2 * count);
}

// ---- Integers. Of the target only the width matters.

template <typename F, typename T>
struct Widen {
  using From = F;
  using To = T;
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> Of(D d, V v) {
    if constexpr (sizeof(T) / sizeof(F) <= (sizeof(T) == 8 ? 2 : 4)) {
      return hn::PromoteTo(d, v);
    } else {
      const hn::Rebind<std::conditional_t<std::is_signed_v<F>, int32_t, uint32_t>, D> d_between;
      return hn::PromoteTo(d, hn::PromoteTo(d_between, v));
    }
  }
};

template <typename F, typename T>
struct Truncate {
  using From = F;
  using To = T;
  template <class D, class V>
  static HWY_INLINE hn::Vec<hn::Rebind<T, D>> Of(D, V v) {
    return hn::TruncateTo(hn::Rebind<T, D>(), v);
  }
};

// Whether an integer is not 0; or a float, whose sign is removed first (a NaN is not 0).
template <typename F, bool kIsFloat>
struct ToPred {
  using From = F;
  using To = uint8_t;
  template <class D, class V>
  static HWY_INLINE hn::Vec<hn::Rebind<To, D>> Of(D d, V v) {
    if constexpr (kIsFloat) v = hn::Add(v, v);
    const V one_if_not_zero = hn::IfThenZeroElse(hn::Eq(v, hn::Zero(d)), hn::Set(d, 1));
    if constexpr (sizeof(F) == 1) {
      return one_if_not_zero;
    } else {
      return hn::TruncateTo(hn::Rebind<To, D>(), one_if_not_zero);
    }
  }
};

// ---- Integers and f32

template <typename F>
struct IntegerToFloat {
  using From = F;
  using To = float;
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> Of(D d, V v) {
    if constexpr (sizeof(F) == 4) {
      return hn::ConvertTo(d, v);
    } else {
      return hn::ConvertTo(d, hn::PromoteTo(hn::Rebind<int32_t, D>(), v));
    }
  }
};

struct IntegerToDouble {
  using From = int32_t;
  using To = double;
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> Of(D d, V v) {
    return hn::PromoteTo(d, v);
  }
};

// v, with 0 for NaN, and within limits.
template <class D, class V, typename Lane = hn::TFromD<D>>
HWY_INLINE V Clamp(D d, V v, Lane lowest, Lane highest) {
  const V number = hn::IfThenElseZero(hn::Eq(v, v), v);
  return hn::Min(hn::Max(number, hn::Set(d, lowest)), hn::Set(d, highest));
}

// Converts to integers of kBits, which are all floats, in lanes of type T.
template <typename T, int kBits = 8 * sizeof(T)>
struct FloatToInteger {
  using From = float;
  using To = T;
  template <class D, class V>
  static HWY_INLINE hn::Vec<hn::Rebind<T, D>> Of(D d, V v) {
    constexpr bool kSigned = std::is_signed_v<T>;
    constexpr float kLowest = kSigned ? -(1 << (kBits - 1)) : 0, kHighest = (1 << (kBits - kSigned)) - 1;
    const hn::Rebind<T, D> d_to;
    const auto result = hn::DemoteTo(d_to, hn::ConvertTo(hn::Rebind<int32_t, D>(), Clamp(d, v, kLowest, kHighest)));
    if constexpr (kBits == 8 * sizeof(T)) {
      return result;
    } else {
      return hn::And(result, hn::Set(d_to, static_cast<T>((1 << kBits) - 1)));  // as a NarrowInt lies in its byte
    }
  }
};

// The largest s32 is no float.
template <>
struct FloatToInteger<int32_t, 32> {
  using From = float;
  using To = int32_t;
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> Of(D d, V v) {
    const hn::Rebind<float, D> df;
    const auto result = hn::ConvertTo(d, Clamp(df, v, -0x1p31f, 0x1.fffffep30f));
    const auto is_too_large = hn::RebindMask(d, hn::Ge(v, hn::Set(df, 0x1p31f)));
    return hn::IfThenElse(is_too_large, hn::Set(d, std::numeric_limits<int32_t>::max()), result);
  }
};

struct DoubleToInteger {
  using From = double;
  using To = int32_t;
  template <class D, class V>
  static HWY_INLINE hn::Vec<hn::Rebind<int32_t, D>> Of(D d, V v) {
    return hn::DemoteTo(hn::Rebind<int32_t, D>(), Clamp(d, v, -0x1p31, 0x1p31 - 1));
  }
};

// ---- f64 and f32

struct FloatToDouble {
  using From = float;
  using To = double;
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> Of(D d, V v) {
    return hn::PromoteTo(d, v);
  }
};

struct DoubleToFloat {
  using From = double;
  using To = float;
  template <class D, class V>
  static HWY_INLINE hn::Vec<hn::Rebind<float, D>> Of(D, V v) {
    return hn::DemoteTo(hn::Rebind<float, D>(), v);
  }
};

// The nearest f32, or the one before it if that is further from 0 (before infinity: the largest number), odd if not
// exact.
struct RoundToOdd {
  using From = double;
  using To = float;
  template <class D, class V>
  static HWY_INLINE hn::Vec<hn::Rebind<float, D>> Of(D d, V v) {
    const hn::Rebind<float, D> d_to;
    const hn::Rebind<uint64_t, D> d64;
    const hn::Rebind<uint32_t, D> d32;
    const auto nearest = hn::DemoteTo(d_to, v);
    const auto magnitude = hn::Abs(v), rounded = hn::Abs(hn::PromoteTo(d, nearest));
    const auto is_more = hn::BitCast(d64, hn::VecFromMask(d, hn::Gt(rounded, magnitude)));
    const auto is_less = hn::BitCast(d64, hn::VecFromMask(d, hn::Lt(rounded, magnitude)));
    const auto down = hn::TruncateTo(d32, is_more);
    const auto odd = hn::And(hn::TruncateTo(d32, hn::Or(is_more, is_less)), hn::Set(d32, 1));
    return hn::BitCast(d_to, hn::Or(hn::Add(hn::BitCast(d32, nearest), down), odd));
  }
};

// ---- f32 and the narrow floats

constexpr uint32_t kFloatInfinity = 0x7f800000;
constexpr uint32_t kFloatNan = 0x7fc00000;

// The image of 2^exponent, for normal numbers.
constexpr uint32_t PowerOfTwo(int exponent) { return static_cast<uint32_t>(exponent + 127) << 23; }

template <PrimitiveType kType>
struct NarrowFormat {
  using Native = primitive_util::NativeTypeOf<kType>;
  using Limits = std::numeric_limits<Native>;
  using Rep = decltype(Native().rep());
  static constexpr FloatFormat kFormat = GetPrimitiveTypeInfo(kType).format;
  static constexpr FloatSpecials kSpecials = kFormat.specials;
  static constexpr int kShift = 23 - kFormat.mantissa_bits;
  static constexpr int kSignPosition = kFormat.exponent_bits + kFormat.mantissa_bits;
  static constexpr uint32_t kMagnitudeMask = (1u << kSignPosition) - 1;
  static constexpr uint32_t kMaxCode = static_cast<uint32_t>(kFormat.max_code());
  static constexpr int kSmallestNormal = 1 - kFormat.bias;  // exponent
};

template <PrimitiveType kType>
struct DecodeNarrow : NarrowFormat<kType> {
  using N = NarrowFormat<kType>;
  using From = typename N::Rep;
  using To = uint32_t;

  template <class D, class V>
  static HWY_INLINE hn::Vec<D> Of(D d, V v) {
    const auto code = hn::PromoteTo(d, v);
    const auto magnitude = hn::And(code, hn::Set(d, N::kMagnitudeMask));
    const auto sign = hn::ShiftLeft<31>(hn::ShiftRight<N::kSignPosition>(code));
    return hn::Or(sign, SpecialsOf(d, magnitude, code, FiniteOf(d, magnitude)));
  }

 private:
  // Subnormals: as the last bits of a number, less that number.
  template <class D>
  static HWY_INLINE hn::Vec<D> FiniteOf(D d, hn::Vec<D> magnitude) {
    const hn::Rebind<float, D> df;
    const auto shifted = hn::ShiftLeft<N::kShift>(magnitude);
    const auto normal = hn::Add(shifted, hn::Set(d, static_cast<uint32_t>(127 - N::kFormat.bias) << 23));
    const auto unit = hn::Set(d, PowerOfTwo(N::kSmallestNormal));
    const auto subnormal = hn::Sub(hn::BitCast(df, hn::Add(shifted, unit)), hn::BitCast(df, unit));
    return hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, 1u << N::kFormat.mantissa_bits)), hn::BitCast(d, subnormal),
                          normal);
  }

  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V SpecialsOf(D d, V magnitude, V code, V finite) {
    const V nan = hn::Set(d, kFloatNan), infinity = hn::Set(d, kFloatInfinity);
    if constexpr (kType == F16) {  // with its payload
      const V special = hn::Or(hn::ShiftLeft<N::kShift>(magnitude), infinity);
      return hn::IfThenElse(hn::Gt(magnitude, hn::Set(d, N::kMaxCode)), special, finite);
    } else if constexpr (N::kSpecials == FloatSpecials::kIeee) {
      const auto is_infinite = hn::Eq(magnitude, hn::Set(d, N::kMaxCode + 1));
      return hn::IfThenElse(hn::Gt(magnitude, hn::Set(d, N::kMaxCode)), hn::IfThenElse(is_infinite, infinity, nan),
                            finite);
    } else if constexpr (N::kSpecials == FloatSpecials::kFn) {
      return hn::IfThenElse(hn::Eq(magnitude, hn::Set(d, N::kMagnitudeMask)), nan, finite);
    } else if constexpr (N::kSpecials == FloatSpecials::kFnuz) {
      return hn::IfThenElse(hn::Eq(code, hn::Set(d, N::kMagnitudeMask + 1)), nan, finite);
    } else {
      return finite;
    }
  }
};

template <>
struct DecodeNarrow<BF16> {
  using From = uint16_t;
  using To = uint32_t;
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> Of(D d, V v) {
    return hn::ShiftLeft<16>(hn::PromoteTo(d, v));
  }
};

// 2^-127 is a subnormal f32.
template <>
struct DecodeNarrow<F8E8M0FNU> {
  using From = uint8_t;
  using To = uint32_t;
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> Of(D d, V v) {
    const auto code = hn::PromoteTo(d, v);
    const auto number = hn::Max(hn::ShiftLeft<23>(code), hn::Set(d, 1u << 22));
    return hn::IfThenElse(hn::Eq(code, hn::Set(d, 255)), hn::Set(d, kFloatNan), number);
  }
};

// Half a unit of the last place that stays, less one unless that place is odd; then the rest is cut off.
template <int kShift, class D, class V = hn::Vec<D>>
HWY_INLINE V RoundOff(D d, V magnitude, uint32_t rebias) {
  const V odd = hn::And(hn::ShiftRight<kShift>(magnitude), hn::Set(d, 1));
  const V addend = hn::Add(odd, hn::Set(d, (1u << (kShift - 1)) - 1 - rebias));
  return hn::ShiftRight<kShift>(hn::Add(magnitude, addend));
}

template <PrimitiveType kType>
struct EncodeNarrow : NarrowFormat<kType> {
  using N = NarrowFormat<kType>;
  using From = uint32_t;
  using To = typename N::Rep;

  template <class D, class V>
  static HWY_INLINE hn::Vec<hn::Rebind<To, D>> Of(D d, V v) {
    const V magnitude = hn::And(v, hn::Set(d, 0x7fffffff));
    const V sign = hn::ShiftLeft<N::kSignPosition>(hn::ShiftRight<31>(v));
    const V finite = FiniteOf(d, magnitude);
    const V limited = hn::IfThenElse(hn::Gt(finite, hn::Set(d, N::kMaxCode)),
                                     hn::Set(d, uint32_t{N::Limits::infinity().rep()}), finite);
    const V nan = hn::Set(d, uint32_t{N::Limits::quiet_NaN().rep()});
    const V code = hn::IfThenElse(hn::Gt(magnitude, hn::Set(d, kFloatInfinity)), nan, limited);
    return hn::TruncateTo(hn::Rebind<To, D>(), WithSign(d, code, sign));
  }

 private:
  // Subnormals: adding a number whose last bit is the smallest of them rounds.
  template <class D, class V>
  static HWY_INLINE V FiniteOf(D d, V magnitude) {
    const hn::Rebind<float, D> df;
    const V normal = RoundOff<N::kShift>(d, magnitude, static_cast<uint32_t>(127 - N::kFormat.bias) << 23);
    const V unit = hn::Set(d, PowerOfTwo(N::kSmallestNormal + N::kShift));
    const V subnormal = hn::Sub(hn::BitCast(d, hn::Add(hn::BitCast(df, magnitude), hn::BitCast(df, unit))), unit);
    return hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, PowerOfTwo(N::kSmallestNormal))), subnormal, normal);
  }

  // Zero and NaN of an fnuz format have no other sign: their magnitude's code is 0, but for the sign bit.
  template <class D, class V>
  static HWY_INLINE V WithSign(D d, V code, V sign) {
    if constexpr (N::kSpecials == FloatSpecials::kFnuz) {
      const V magnitude = hn::And(code, hn::Set(d, N::kMagnitudeMask));
      return hn::Xor(code, hn::IfThenZeroElse(hn::Eq(magnitude, hn::Zero(d)), sign));
    } else {
      return hn::Xor(code, sign);
    }
  }
};

template <>
struct EncodeNarrow<BF16> {
  using From = uint32_t;
  using To = uint16_t;
  template <class D, class V>
  static HWY_INLINE hn::Vec<hn::Rebind<To, D>> Of(D d, V v) {
    const V nan = hn::Or(hn::And(hn::ShiftRight<16>(v), hn::Set(d, 0x8000)), hn::Set(d, 0x7fc0));
    const hn::Rebind<float, D> df;
    const auto is_nan =
        hn::RebindMask(d, hn::IsNaN(hn::BitCast(df, v)));  // Ne is none: Highway's depends on the target
    return hn::TruncateTo(hn::Rebind<To, D>(), hn::IfThenElse(is_nan, nan, RoundOff<16>(d, v, 0)));
  }
};

// There is no mantissa, and a tie goes up; 2^-127 is the only number that goes down to it (narrow_float.h).
template <>
struct EncodeNarrow<F8E8M0FNU> {
  using From = uint32_t;
  using To = uint8_t;
  template <class D, class V>
  static HWY_INLINE hn::Vec<hn::Rebind<To, D>> Of(D d, V v) {
    const V half = hn::Set(d, 1u << 22), least = hn::Set(d, 1);
    const V rounded = hn::ShiftRight<23>(hn::Add(v, half));
    const V code = hn::IfThenZeroElse(hn::Eq(v, half), rounded);
    // Neither zero, nor negative, nor infinity, nor NaN: all others are a range, of signed integers.
    const auto is_number = hn::Lt(hn::Sub(v, least), hn::Set(d, kFloatInfinity - 1));
    return hn::TruncateTo(hn::Rebind<To, D>(), hn::IfThenElse(is_number, code, hn::Set(d, 255)));
  }
};

#if HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)

// The processor's conversions, but for NaNs: it makes them all quiet, and keeps payloads where we do not.
template <>
struct DecodeNarrow<F16> {
  using From = uint16_t;
  using To = uint32_t;
  template <class D, class V>
  static HWY_INLINE hn::Vec<D> Of(D d, V v) {
    const auto number = hn::PromoteTo(hn::Rebind<float, D>(), hn::BitCast(hn::Rebind<hwy::float16_t, D>(), v));
    const auto payload = hn::ShiftLeft<13>(hn::PromoteTo(d, v));
    const auto made_quiet = hn::AndNot(payload, hn::Set(d, 1u << 22));
    const auto is_nan = hn::RebindMask(d, hn::IsNaN(number));
    return hn::Xor(hn::BitCast(d, number), hn::IfThenElseZero(is_nan, made_quiet));
  }
};

template <>
struct EncodeNarrow<F16> {
  using From = uint32_t;
  using To = uint16_t;
  template <class D, class V>
  static HWY_INLINE hn::Vec<hn::Rebind<To, D>> Of(D d, V v) {
    const hn::Rebind<float, D> df;
    const V nan = hn::Or(hn::And(v, hn::Set(d, 1u << 31)), hn::Set(d, kFloatNan));
    const V plain = hn::IfThenElse(hn::RebindMask(d, hn::IsNaN(hn::BitCast(df, v))), nan, v);
    return hn::BitCast(hn::Rebind<To, D>(), hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), hn::BitCast(df, plain)));
  }
};

#endif  // F16C

struct Entry {
  PrimitiveType from;
  PrimitiveType to;
  ConvertLoop loop;
};

#define KASHI_NARROW_FLOAT(type) \
  {type, F32, &ConvertRow<DecodeNarrow<type>>}, { F32, type, &ConvertRow<EncodeNarrow<type>> }

// For conversions between integers and to PRED, the table has the target's unsigned type, and if bits are only cut, the
// source's unsigned type too.
constexpr Entry kEntries[] = {
    {S8, U16, &ConvertRow<Widen<int8_t, int16_t>>},
    {S8, U32, &ConvertRow<Widen<int8_t, int32_t>>},
    {S8, U64, &ConvertRow<Widen<int8_t, int64_t>>},
    {S16, U32, &ConvertRow<Widen<int16_t, int32_t>>},
    {S16, U64, &ConvertRow<Widen<int16_t, int64_t>>},
    {S32, U64, &ConvertRow<Widen<int32_t, int64_t>>},
    {U8, U16, &ConvertRow<Widen<uint8_t, uint16_t>>},
    {U8, U32, &ConvertRow<Widen<uint8_t, uint32_t>>},
    {U8, U64, &ConvertRow<Widen<uint8_t, uint64_t>>},
    {U16, U32, &ConvertRow<Widen<uint16_t, uint32_t>>},
    {U16, U64, &ConvertRow<Widen<uint16_t, uint64_t>>},
    {U32, U64, &ConvertRow<Widen<uint32_t, uint64_t>>},
    {U16, U8, &ConvertRow<Truncate<uint16_t, uint8_t>>},
    {U32, U8, &ConvertRow<Truncate<uint32_t, uint8_t>>},
    {U32, U16, &ConvertRow<Truncate<uint32_t, uint16_t>>},
    {U64, U8, &ConvertRow<Truncate<uint64_t, uint8_t>>},
    {U64, U16, &ConvertRow<Truncate<uint64_t, uint16_t>>},
    {U64, U32, &ConvertRow<Truncate<uint64_t, uint32_t>>},
    {U8, PRED, &ConvertRow<ToPred<uint8_t, false>>},
    {U16, PRED, &ConvertRow<ToPred<uint16_t, false>>},
    {U32, PRED, &ConvertRow<ToPred<uint32_t, false>>},
    {U64, PRED, &ConvertRow<ToPred<uint64_t, false>>},
    {F32, PRED, &ConvertRow<ToPred<uint32_t, true>>},
    {S8, F32, &ConvertRow<IntegerToFloat<int8_t>>},
    {U8, F32, &ConvertRow<IntegerToFloat<uint8_t>>},
    {S16, F32, &ConvertRow<IntegerToFloat<int16_t>>},
    {U16, F32, &ConvertRow<IntegerToFloat<uint16_t>>},
    {S32, F32, &ConvertRow<IntegerToFloat<int32_t>>},
    {S32, F64, &ConvertRow<IntegerToDouble>},
    {F32, S8, &ConvertRow<FloatToInteger<int8_t>>},
    {F32, U8, &ConvertRow<FloatToInteger<uint8_t>>},
    {F32, S16, &ConvertRow<FloatToInteger<int16_t>>},
    {F32, U16, &ConvertRow<FloatToInteger<uint16_t>>},
    {F32, S32, &ConvertRow<FloatToInteger<int32_t>>},
    {F32, S1, &ConvertRow<FloatToInteger<int8_t, 1>>},
    {F32, S2, &ConvertRow<FloatToInteger<int8_t, 2>>},
    {F32, S4, &ConvertRow<FloatToInteger<int8_t, 4>>},
    {F32, U1, &ConvertRow<FloatToInteger<uint8_t, 1>>},
    {F32, U2, &ConvertRow<FloatToInteger<uint8_t, 2>>},
    {F32, U4, &ConvertRow<FloatToInteger<uint8_t, 4>>},
    {F32, F64, &ConvertRow<FloatToDouble>},
    {C64, C128, &ConvertParts<FloatToDouble>},
// The DemoteTo of the portable target makes the largest number of infinity, and the lowest of all that round to it.
#if HWY_TARGET != HWY_SCALAR
    {F64, S32, &ConvertRow<DoubleToInteger>},
    {F64, F32, &ConvertRow<DoubleToFloat>},
    {C128, C64, &ConvertParts<DoubleToFloat>},
#endif
    {F32, C64, &ConvertRow<Widen<uint32_t, uint64_t>>},     // the imaginary part is 0
    {C64, F32, &ConvertRow<Truncate<uint64_t, uint32_t>>},  // the real part is first
    KASHI_NARROW_FLOAT(BF16),
    KASHI_NARROW_FLOAT(F16),
    KASHI_NARROW_FLOAT(F8E5M2),
    KASHI_NARROW_FLOAT(F8E4M3FN),
    KASHI_NARROW_FLOAT(F8E4M3B11FNUZ),
    KASHI_NARROW_FLOAT(F8E5M2FNUZ),
    KASHI_NARROW_FLOAT(F8E4M3FNUZ),
    KASHI_NARROW_FLOAT(F8E4M3),
    KASHI_NARROW_FLOAT(F8E3M4),
    KASHI_NARROW_FLOAT(F8E8M0FNU),
    KASHI_NARROW_FLOAT(F4E2M1FN),
    KASHI_NARROW_FLOAT(F6E3M2FN),
    KASHI_NARROW_FLOAT(F6E2M3FN),
};

}  // namespace

ConvertLoop LoopHere(PrimitiveType from, PrimitiveType to) {
  for (const Entry& entry : kEntries) {
    if (entry.from == from && entry.to == to) return entry.loop;
  }
  return nullptr;
}

ConvertLoop RoundToOddLoopHere() { return &ConvertRow<RoundToOdd>; }

}  // namespace HWY_NAMESPACE
}  // namespace kashi::relayout
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kashi::relayout {
namespace {

HWY_EXPORT(LoopHere);

PrimitiveType UnsignedOf(PrimitiveType type) {
  return primitive_util::UnsignedIntegralTypeForBitWidth(primitive_util::BitWidth(type));
}

}  // namespace

ConvertLoop VectorLoop(PrimitiveType from, PrimitiveType to) {
  if (primitive_util::IsIntegralType(from) && (primitive_util::IsIntegralType(to) || to == PRED)) {
    if (primitive_util::BitWidth(to) < primitive_util::BitWidth(from)) from = UnsignedOf(from);
    if (to != PRED) to = UnsignedOf(to);
  }
  return HWY_DYNAMIC_DISPATCH(LoopHere)(from, to);
}

KASHI_EXPORT(ConvertLoop, RoundToOddLoop, (), RoundToOddLoopHere, ())

}  // namespace kashi::relayout
#endif  // HWY_ONCE
