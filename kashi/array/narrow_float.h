// Number formats of 4 to 16 bits, as one class: half, bfloat16, float8_e4m3fn, ... (their names are in types.h).
//
// The format is a row of primitive_types.def. A value is one code in the low bits of a byte or of two bytes:
//
//   float8_e4m3fn(1.75f)   0 0111 110   = 2^(7 - 7) * (1 + 6/8)          rep() == 0x3e
//   float8_e4m3fn(0.01f)   0 0000 101   = 2^(1 - 7) * 5/8 = 0.009765625  rep() == 0x05
//
// A conversion from float rounds to nearest, ties to even; a conversion to float is exact. A conversion from double
// rounds once for types of at most 8 bits; for half and bfloat16 it rounds to float first: half(1 + 0x1p-11 + 0x1p-40)
// is 1, not the next number. Integers are converted to float first. Arithmetic is that of float, rounded (for + - * /
// that is the correctly rounded result, float having more than twice the bits). All this agrees, code for code, with
// Eigen and ml_dtypes, and so with XLA's constants and conversions:
//
//   format   too large, infinity      NaN                                                          example
//   Ieee     infinity                 quiet NaN of the same sign, payload dropped                  half, float8_e5m2
//   Fn       NaN of the same sign     NaN of the same sign                                         float8_e4m3fn
//   Fnuz     NaN                      NaN                                                          float8_e4m3fnuz
//   Finite   largest, same sign       zero of the *other* sign (there is no NaN; odd, but theirs)  float4_e2m1fn
//   E8m0     NaN                      NaN; so do zero and negative numbers                         float8_e8m0fnu
//
// E8m0 has no mantissa bit: 1.5 * 2^n is a tie and is rounded up. Positive numbers below 2^-127, the smallest number,
// become 2^-127. All numbers between 2^-127 and 2^-126 become 2^-126 (observed in ml_dtypes and in XLA).
//
// There are no mixed operators: bfloat16 + float is a float, by the implicit conversion, which also gives comparisons.

#ifndef KASHI_ARRAY_NARROW_FLOAT_H_
#define KASHI_ARRAY_NARROW_FLOAT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <ostream>
#include <type_traits>
#include <utility>

#include "kashi/array/primitive_type.h"

namespace kashi {

template <int kNumBits, bool kIsSigned>
class NarrowInt;

template <PrimitiveType kType>
class NarrowFloat {
 public:
  static constexpr FloatFormat kFormat = GetPrimitiveTypeInfo(kType).format;
  static constexpr int kBits = GetPrimitiveTypeInfo(kType).bits;
  using Rep = std::conditional_t<(kBits > 8), uint16_t, uint8_t>;

  constexpr NarrowFloat() : rep_(0) {}
  explicit constexpr NarrowFloat(float value) : rep_(Encode<uint32_t, 23, 127>(value)) {}
  explicit constexpr NarrowFloat(double value) : rep_(EncodeDouble(value)) {}
  explicit constexpr NarrowFloat(long double value) : NarrowFloat(static_cast<double>(value)) {}
  template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  explicit constexpr NarrowFloat(T value) : NarrowFloat(static_cast<float>(value)) {}
  template <PrimitiveType kOther, std::enable_if_t<kOther != kType, int> = 0>
  explicit constexpr NarrowFloat(NarrowFloat<kOther> value) : NarrowFloat(static_cast<float>(value)) {}
  template <int kNumBits, bool kIsSigned>
  explicit constexpr NarrowFloat(NarrowInt<kNumBits, kIsSigned> value) : NarrowFloat(static_cast<float>(value)) {}

  // The number with this code; bits above the lowest kBits are ignored.
  static constexpr NarrowFloat FromRep(Rep rep) {
    NarrowFloat result;
    result.rep_ = rep & kMask;
    return result;
  }
  constexpr Rep rep() const { return rep_ & kMask; }

  // Exact. A NaN keeps its sign; its payload survives in the 16-bit types only.
  constexpr operator float() const {  // NOLINT: implicit, as Eigen's
    if constexpr (kBits > 8) {
      return Decode16(rep_);
    } else {
      return kDecoded[rep()];
    }
  }

  constexpr NarrowFloat operator+() const { return *this; }
  constexpr NarrowFloat operator-() const {
    if constexpr (kFormat.specials == FloatSpecials::kE8m0) return FromRep(kNanCode);
    if constexpr (kFormat.specials == FloatSpecials::kFnuz) {
      if (Magnitude() == 0) return *this;  // zero and NaN have no other sign
    }
    return FromRep(rep_ ^ kSignBit);
  }
  friend constexpr NarrowFloat operator+(NarrowFloat a, NarrowFloat b) { return NarrowFloat(float{a} + float{b}); }
  friend constexpr NarrowFloat operator-(NarrowFloat a, NarrowFloat b) { return NarrowFloat(float{a} - float{b}); }
  friend constexpr NarrowFloat operator*(NarrowFloat a, NarrowFloat b) { return NarrowFloat(float{a} * float{b}); }
  friend constexpr NarrowFloat operator/(NarrowFloat a, NarrowFloat b) { return NarrowFloat(float{a} / float{b}); }
  constexpr NarrowFloat& operator+=(NarrowFloat b) { return *this = *this + b; }
  constexpr NarrowFloat& operator-=(NarrowFloat b) { return *this = *this - b; }
  constexpr NarrowFloat& operator*=(NarrowFloat b) { return *this = *this * b; }
  constexpr NarrowFloat& operator/=(NarrowFloat b) { return *this = *this / b; }

  friend constexpr bool isnan(NarrowFloat x) {
    switch (kFormat.specials) {
      case FloatSpecials::kIeee:
        return x.Magnitude() > kOverflowCode;
      case FloatSpecials::kFn:
        return x.Magnitude() == kNanCode;
      case FloatSpecials::kFnuz:
      case FloatSpecials::kE8m0:
        return x.rep() == kNanCode;
      case FloatSpecials::kFinite:
      case FloatSpecials::kNone:
        return false;
    }
    return false;
  }
  friend constexpr bool isinf(NarrowFloat x) { return kFormat.has_infinity() && x.Magnitude() == kOverflowCode; }
  friend constexpr bool isfinite(NarrowFloat x) { return !isnan(x) && !isinf(x); }
  friend constexpr bool signbit(NarrowFloat x) { return (x.rep_ & kSignBit) != 0; }
  // The only NaN of Fnuz has its sign bit set; it is its own absolute value.
  friend constexpr NarrowFloat abs(NarrowFloat x) {
    return kFormat.specials == FloatSpecials::kFnuz && isnan(x) ? x : FromRep(x.Magnitude());
  }
  friend constexpr NarrowFloat fabs(NarrowFloat x) { return abs(x); }

  // Equal numbers have equal hashes: 0 and -0 too.
  template <typename H>
  friend H AbslHashValue(H h, NarrowFloat x) {
    return H::combine(std::move(h), static_cast<float>(x));
  }
  friend std::ostream& operator<<(std::ostream& out, NarrowFloat x) { return out << static_cast<float>(x); }

 private:
  friend class std::numeric_limits<NarrowFloat>;

  // Codes of positive numbers, in the order of the numbers:
  //
  //   0 | subnormal | normal ... kMaxCode | kOverflowCode (infinity, or the code in its place)
  //
  // All fits uint32_t, so that a carry out of the largest exponent is seen.
  static constexpr int kExponentBits = kFormat.exponent_bits;
  static constexpr int kMantissaBits = kFormat.mantissa_bits;
  static constexpr Rep kSignBit = kFormat.sign_bits << (kExponentBits + kMantissaBits);
  static constexpr Rep kMagnitudeMask = (1u << (kExponentBits + kMantissaBits)) - 1;
  static constexpr Rep kMask = kSignBit | kMagnitudeMask;
  static constexpr Rep kMaxCode = static_cast<Rep>(kFormat.max_code());

  static constexpr Rep NanCode() {
    switch (kFormat.specials) {
      case FloatSpecials::kIeee:
        return (kMaxCode + 1u) | (1u << (kMantissaBits > 0 ? kMantissaBits - 1 : 0));
      case FloatSpecials::kFn:
      case FloatSpecials::kE8m0:
        return kMagnitudeMask;
      case FloatSpecials::kFnuz:
      case FloatSpecials::kFinite:
        return kSignBit;  // the code of -0; Finite has no NaN, and for a negative one the sign is turned once more
      case FloatSpecials::kNone:
        return 0;
    }
    return 0;
  }
  static constexpr Rep kNanCode = NanCode();
  static constexpr Rep kOverflowCode = kFormat.has_infinity()                       ? kMaxCode + 1
                                       : kFormat.specials == FloatSpecials::kFinite ? kMaxCode
                                                                                    : kNanCode;

  constexpr Rep Magnitude() const { return rep_ & kMagnitudeMask; }

  // Adds the sign to the code of a magnitude.
  static constexpr Rep WithSign(bool negative, uint32_t code) {
    if constexpr (kFormat.specials == FloatSpecials::kE8m0) return negative ? kNanCode : code;
    if constexpr (kFormat.specials == FloatSpecials::kFnuz) {
      if (code == 0 || code == kNanCode) return code;
    }
    return negative ? code ^ kSignBit : code;
  }

  // Half a unit of the last place that stays is added, less one unless that place is odd: then a tie goes to even.
  // A carry may run up into the exponent, which is right: the next code is the next number.
  template <typename Bits>
  static constexpr Bits ShiftRightToNearestEven(Bits value, int shift) {
    const Bits odd = kMantissaBits == 0 ? 1 : (value >> shift) & 1;  // the place is the hidden one if there is no other
    return (value + (Bits{1} << (shift - 1)) - 1 + odd) >> shift;
  }

  // `Bits` are the bits of the IEEE format `Source` (float or double) with this number of mantissa bits and this bias.
  template <typename Bits, int kSourceMantissaBits, int kSourceBias, typename Source>
  static constexpr Rep Encode(Source value) {
    constexpr int kSourceBits = sizeof(Bits) * 8;
    constexpr Bits kSourceInfinity = Bits{2 * kSourceBias + 1} << kSourceMantissaBits;
    constexpr int kShift = kSourceMantissaBits - kMantissaBits;
    const Bits bits = __builtin_bit_cast(Bits, value);
    const bool negative = (bits >> (kSourceBits - 1)) != 0;
    const Bits magnitude = bits & (static_cast<Bits>(-1) >> 1);
    if (magnitude > kSourceInfinity) return WithSign(negative, kNanCode);
    if constexpr (kExponentBits == 8 && kFormat.has_infinity() && kSourceBits == 32) {
      // bfloat16 from float: its codes are the upper halves of float's; subnormals and infinity are no special cases.
      return WithSign(negative, static_cast<uint32_t>(ShiftRightToNearestEven(magnitude, kShift)));
    }
    if (magnitude == kSourceInfinity) return WithSign(negative, kOverflowCode);

    const int source_exponent = static_cast<int>(magnitude >> kSourceMantissaBits);
    const int exponent = (source_exponent == 0 ? 1 : source_exponent) - kSourceBias + kFormat.bias;
    if (exponent > (1 << kExponentBits)) return WithSign(negative, kOverflowCode);
    if constexpr (kFormat.specials == FloatSpecials::kE8m0) {
      if (magnitude == 0) return kNanCode;
      if (magnitude <= __builtin_bit_cast(Bits, Source(0x1p-127))) return WithSign(negative, 0);
      if (magnitude < __builtin_bit_cast(Bits, Source(0x1p-126))) return WithSign(negative, 1);
    }
    uint32_t code = 0;
    if (source_exponent != 0 && exponent >= 1) {
      const Bits rebias = Bits{static_cast<unsigned>(kSourceBias - kFormat.bias)} << kSourceMantissaBits;
      code = static_cast<uint32_t>(ShiftRightToNearestEven<Bits>(magnitude - rebias, kShift));
    } else {
      // A subnormal here: the hidden bit becomes an ordinary one and moves right.
      const Bits hidden = source_exponent == 0 ? 0 : Bits{1} << kSourceMantissaBits;
      const Bits significand = (magnitude & ((Bits{1} << kSourceMantissaBits) - 1)) | hidden;
      const int shift = kShift + 1 - exponent;
      // Beyond, even the largest significand is less than half of the smallest number.
      code = shift > kSourceMantissaBits + 1 ? 0 : static_cast<uint32_t>(ShiftRightToNearestEven(significand, shift));
    }
    return WithSign(negative, code > kMaxCode ? kOverflowCode : code);
  }

  static constexpr Rep EncodeDouble(double value) {
    if constexpr (kBits > 8) {
      return NarrowFloat(static_cast<float>(value)).rep_;
    } else {
      return Encode<uint64_t, 52, 1023>(value);
    }
  }

  static constexpr float PowerOfTwo(int exponent) {
    return static_cast<float>(__builtin_bit_cast(double, static_cast<uint64_t>(exponent + 1023) << 52));
  }

  // float8 and smaller, and E8m0: by the definition.
  static constexpr float Decode8(int code) {
    const NarrowFloat x = FromRep(static_cast<Rep>(code));
    const float sign = signbit(x) ? -1.0f : 1.0f;
    if (isnan(x)) return __builtin_copysignf(std::numeric_limits<float>::quiet_NaN(), sign);
    if (isinf(x)) return sign * std::numeric_limits<float>::infinity();
    const int exponent = x.Magnitude() >> kMantissaBits;
    const int mantissa = x.Magnitude() & ((1 << kMantissaBits) - 1);
    const int hidden = 1 << kMantissaBits;
    if (exponent == 0 && kFormat.has_zero()) {
      return sign * static_cast<float>(mantissa) * PowerOfTwo(1 - kFormat.bias - kMantissaBits);
    }
    return sign * static_cast<float>(hidden + mantissa) * PowerOfTwo(exponent - kFormat.bias - kMantissaBits);
  }

  // half and bfloat16, which have all that float has: move the fields to their places there. bfloat16's are there
  // already; its subnormals must not meet floating-point arithmetic, which may be set to flush them.
  static constexpr float Decode16(uint32_t rep) {
    constexpr int kShift = 23 - kMantissaBits;
    const uint32_t sign = (rep & kSignBit) == 0 ? 0 : uint32_t{1} << 31;
    const uint32_t magnitude = rep & kMagnitudeMask;
    if constexpr (kExponentBits == 8) return __builtin_bit_cast(float, sign | (magnitude << kShift));
    const uint32_t exponent = magnitude >> kMantissaBits;
    if (exponent == 0) {
      const float value = static_cast<float>(magnitude) * PowerOfTwo(1 - kFormat.bias - kMantissaBits);
      return sign == 0 ? value : -value;
    }
    const uint32_t rebias = magnitude > kMaxCode ? 255 - ((1 << kExponentBits) - 1) : 127 - kFormat.bias;
    return __builtin_bit_cast(float, sign | ((magnitude << kShift) + (rebias << 23)));
  }

  static constexpr int kTableSize = kBits > 8 ? 0 : 1 << kBits;
  static constexpr std::array<float, kTableSize> MakeTable() {
    std::array<float, kTableSize> table{};
    for (int code = 0; code < kTableSize; ++code) table[code] = Decode8(code);
    return table;
  }
  static const std::array<float, kTableSize> kDecoded;

  Rep rep_;
};

template <PrimitiveType kType>
inline constexpr std::array<float, NarrowFloat<kType>::kTableSize> NarrowFloat<kType>::kDecoded =
    NarrowFloat<kType>::MakeTable();

}  // namespace kashi

namespace std {

template <kashi::PrimitiveType kType>
class numeric_limits<kashi::NarrowFloat<kType>> {
  using T = kashi::NarrowFloat<kType>;
  static constexpr kashi::FloatFormat kFormat = T::kFormat;

  // n * log10(2), rounded down; right for all |n| < 1000.
  static constexpr int FloorTimesLog10Of2(int n) {
    return n >= 0 ? n * 30103 / 100000 : -((-n * 30103 + 99999) / 100000);
  }
  static constexpr bool kIsE8m0 = kFormat.specials == kashi::FloatSpecials::kE8m0;

 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = kFormat.sign_bits != 0;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = kFormat.has_infinity();
  static constexpr bool has_quiet_NaN = kFormat.has_nan();
  static constexpr bool has_signaling_NaN = kFormat.specials == kashi::FloatSpecials::kIeee;
  static constexpr float_denorm_style has_denorm = kIsE8m0 ? denorm_absent : denorm_present;
  static constexpr bool has_denorm_loss = false;
  static constexpr float_round_style round_style = round_to_nearest;
  static constexpr bool is_iec559 = kFormat.specials == kashi::FloatSpecials::kIeee;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr bool traps = false;
  static constexpr bool tinyness_before = false;
  static constexpr int radix = 2;
  static constexpr int digits = kFormat.mantissa_bits + 1;
  static constexpr int digits10 = FloorTimesLog10Of2(digits - 1);
  static constexpr int max_digits10 = FloorTimesLog10Of2(digits) + 2;
  static constexpr int min_exponent = kFormat.min_exponent();
  static constexpr int min_exponent10 = FloorTimesLog10Of2(min_exponent - 1) + (min_exponent == 1 ? 0 : 1);
  static constexpr int max_exponent = kFormat.max_exponent();
  static constexpr int max_exponent10 = FloorTimesLog10Of2(max_exponent);

  static constexpr T min() noexcept { return T::FromRep(kIsE8m0 ? 0 : 1 << kFormat.mantissa_bits); }
  static constexpr T max() noexcept { return T::FromRep(T::kMaxCode); }
  static constexpr T lowest() noexcept { return is_signed ? T::FromRep(T::kMaxCode | T::kSignBit) : min(); }
  static constexpr T epsilon() noexcept { return T(T::PowerOfTwo(-kFormat.mantissa_bits)); }
  static constexpr T round_error() noexcept { return T(0.5f); }
  static constexpr T denorm_min() noexcept { return kIsE8m0 ? min() : T::FromRep(1); }
  // In formats without an infinity or a quiet NaN: the values that these become when converted from float.
  static constexpr T infinity() noexcept { return T::FromRep(T::kOverflowCode); }
  static constexpr T quiet_NaN() noexcept { return T::FromRep(T::kNanCode); }
  static constexpr T signaling_NaN() noexcept {
    return has_signaling_NaN ? T::FromRep(T::kOverflowCode + 1) : quiet_NaN();
  }
};
template <kashi::PrimitiveType kType>
class numeric_limits<const kashi::NarrowFloat<kType>> : public numeric_limits<kashi::NarrowFloat<kType>> {};

template <kashi::PrimitiveType kType>
struct hash<kashi::NarrowFloat<kType>> {
  size_t operator()(kashi::NarrowFloat<kType> x) const { return hash<float>()(static_cast<float>(x)); }
};

}  // namespace std

#endif  // KASHI_ARRAY_NARROW_FLOAT_H_
