#include "kashi/array/primitive_util.h"

#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kashi {
namespace primitive_util {
namespace {

using testing::HasSubstr;

std::vector<PrimitiveType> AllTypes() {
  std::vector<PrimitiveType> result;
  for (int i = PrimitiveType_MIN; i <= PrimitiveType_MAX; ++i) result.push_back(static_cast<PrimitiveType>(i));
  return result;
}

std::set<PrimitiveType> TypesThat(bool (*is)(PrimitiveType)) {
  std::set<PrimitiveType> result;
  for (PrimitiveType type : AllTypes()) {
    if (is(type)) result.insert(type);
  }
  return result;
}

TEST(PrimitiveUtilTest, Classes) {
  using Types = std::set<PrimitiveType>;
  EXPECT_EQ(TypesThat(IsSignedIntegralType), (Types{S1, S2, S4, S8, S16, S32, S64}));
  EXPECT_EQ(TypesThat(IsUnsignedIntegralType), (Types{U1, U2, U4, U8, U16, U32, U64}));
  EXPECT_EQ(TypesThat(IsIntegralType).size(), 14);
  EXPECT_EQ(TypesThat(Is8BitIntegralType), (Types{S8, U8}));
  EXPECT_EQ(TypesThat(IsComplexType), (Types{C64, C128}));
  EXPECT_EQ(TypesThat(IsMXType), (Types{F4E2M1FN, F6E2M3FN, F6E3M2FN, F8E8M0FNU}));
  EXPECT_EQ(TypesThat(IsF8Type), (Types{F8E5M2, F8E4M3, F8E4M3FN, F8E4M3B11FNUZ, F8E5M2FNUZ, F8E4M3FNUZ, F8E3M4}));
  EXPECT_EQ(TypesThat(IsFloatingPointType).size(), 4 + 7 + 4);
  EXPECT_EQ(TypesThat(IsSubByteNonPredType), (Types{S1, S2, S4, U1, U2, U4, F4E2M1FN, F6E2M3FN, F6E3M2FN}));
  EXPECT_EQ(TypesThat([](PrimitiveType type) { return !IsArrayType(type); }),
            (Types{PRIMITIVE_TYPE_INVALID, TUPLE, OPAQUE_TYPE, TOKEN, BUFFER}));
  EXPECT_FALSE(IsArrayType(static_cast<PrimitiveType>(99)));
}

TEST(PrimitiveUtilTest, Widths) {
  static_assert(BitWidth(PRED) == 1 && BitWidth(S4) == 4 && BitWidth(F6E2M3FN) == 6 && BitWidth(C128) == 128);
  static_assert(ByteWidth(PRED) == 1 && ByteWidth(S4) == 1 && ByteWidth(BF16) == 2 && ByteWidth(C128) == 16);
  EXPECT_EQ(BitWidth(TOKEN), 0);
  EXPECT_EQ(ByteWidth(TOKEN), 0);
  EXPECT_DEATH(BitWidth(TUPLE), "BitWidth does not take TUPLE");
  EXPECT_DEATH(ByteWidth(OPAQUE_TYPE), "ByteWidth does not take OPAQUE_TYPE");
  EXPECT_DEATH(ByteWidth(static_cast<PrimitiveType>(99)), "not a primitive type: 99");
  for (PrimitiveType type : AllTypes()) {
    if (!IsArrayType(type)) continue;
    ArrayTypeSwitch([](auto t) { EXPECT_EQ(sizeof(NativeTypeOf<t>), ByteWidth(t)); }, type);
  }
}

TEST(PrimitiveUtilTest, TypesByWidth) {
  EXPECT_EQ(UnsignedIntegralTypeForBitWidth(1), U1);
  EXPECT_EQ(UnsignedIntegralTypeForBitWidth(64), U64);
  EXPECT_EQ(UnsignedIntegralTypeForBitWidth(3), PRIMITIVE_TYPE_INVALID);
  EXPECT_EQ(UnsignedIntegralTypeForBitWidth(0), PRIMITIVE_TYPE_INVALID);
  EXPECT_EQ(SignedIntegralTypeForBitWidth(1), PRIMITIVE_TYPE_INVALID);
  EXPECT_EQ(SignedIntegralTypeForBitWidth(2), S2);
  EXPECT_EQ(SignedIntegralTypeForBitWidth(int64_t{1} << 32 | 8), PRIMITIVE_TYPE_INVALID);
  EXPECT_EQ(ComplexComponentType(C64), F32);
  EXPECT_EQ(ComplexComponentType(C128), F64);
  EXPECT_DEATH(ComplexComponentType(F32), "ComplexComponentType does not take F32");
  EXPECT_EQ(ComplexType(F32), C64);
  EXPECT_EQ(ComplexType(F64), C128);
  EXPECT_EQ(ComplexType(BF16), PRIMITIVE_TYPE_INVALID);
  EXPECT_EQ(ComplexType(S32), PRIMITIVE_TYPE_INVALID);
}

TEST(PrimitiveUtilTest, FormatsAreThoseOfNumericLimits) {
  FloatingPointTypeForEach([](auto type) {
    using Limits = std::numeric_limits<NativeTypeOf<type>>;
    EXPECT_EQ(SignificandWidth(type), Limits::digits);
    EXPECT_EQ(UnderflowExponent(type), Limits::min_exponent);
    EXPECT_EQ(OverflowExponent(type), Limits::max_exponent);
    EXPECT_EQ(ExponentBias(type), 2 - Limits::min_exponent);
    EXPECT_EQ(HasInfinity(type), Limits::has_infinity);
    EXPECT_EQ(HasNaN(type), Limits::has_quiet_NaN);
    EXPECT_EQ(HasNegativeZero(type), has_negative_zero_v<NativeTypeOf<type>>);
  });
  EXPECT_EQ(ExponentWidth(F64), 11);
  EXPECT_EQ(ExponentWidth(F8E8M0FNU), 8);
  EXPECT_EQ(OverflowExponent(F8E4M3FN), 9);
  EXPECT_DEATH(SignificandWidth(C64), "SignificandWidth does not take C64");
  EXPECT_FALSE(HasInfinity(C64));
  EXPECT_FALSE(HasNaN(S32));
  EXPECT_FALSE(HasNegativeZero(TOKEN));
}

TEST(PrimitiveUtilTest, HigherPrecisionType) {
  EXPECT_EQ(HigherPrecisionType(F16, BF16), BF16);
  EXPECT_EQ(HigherPrecisionType(F8E4M3FN, F8E5M2), F8E5M2);
  EXPECT_EQ(HigherPrecisionType(F8E4M3, F8E4M3FN), F8E4M3FN);
  EXPECT_EQ(HigherPrecisionType(F4E2M1FN, F8E8M0FNU), F8E8M0FNU);
  EXPECT_EQ(HigherPrecisionType(S32, F4E2M1FN), F4E2M1FN);
  EXPECT_EQ(HigherPrecisionType(C64, F64), C64);
  EXPECT_EQ(HigherPrecisionType(S8, U8), S8);
  EXPECT_EQ(HigherPrecisionType(S8, U16), U16);
  EXPECT_EQ(HigherPrecisionType(PRED, S1), S1);
  EXPECT_DEATH(HigherPrecisionType(F8E5M2, F8E5M2FNUZ), "neither F8E5M2 nor F8E5M2FNUZ");
  EXPECT_DEATH(HigherPrecisionType(TUPLE, TUPLE), "HigherPrecisionType does not take TUPLE");
  // The ties are those that the header names.
  for (PrimitiveType a : AllTypes()) {
    for (PrimitiveType b : AllTypes()) {
      if (!IsArrayType(a) || !IsArrayType(b) || a > b) continue;
      const bool tie = (a == PRED && b == U1) || (a == F8E4M3FNUZ && b == F8E4M3) || (a == F8E5M2 && b == F8E5M2FNUZ);
      EXPECT_EQ(TryHigherPrecisionType(a, b) == PRIMITIVE_TYPE_INVALID, tie) << PrimitiveType_Name(a) << " " << b;
      EXPECT_EQ(TryHigherPrecisionType(a, b), TryHigherPrecisionType(b, a));
    }
  }
}

// Values of a type by trying: of types up to 16 bits all, of others their corners.
template <PrimitiveType kType>
std::vector<NativeTypeOf<kType>> SomeValues() {
  using T = NativeTypeOf<kType>;
  std::vector<T> result;
  if constexpr (kType == PRED) {
    return {false, true};
  } else if constexpr (IsFloatingPointType(kType) && BitWidth(kType) <= 16) {
    for (int code = 0; code < (1 << BitWidth(kType)); ++code) result.push_back(T::FromRep(code));
  } else if constexpr (IsIntegralType(kType) && BitWidth(kType) <= 16) {
    for (int i = 0; i < (1 << BitWidth(kType)); ++i) result.push_back(static_cast<T>(i));
  } else {
    using Limits = std::numeric_limits<T>;
    const T third = static_cast<T>(Limits::max() / 3);
    result = {T(0), T(-1), T(1), Limits::max(), Limits::lowest(), Limits::min(), third};
    if (Limits::has_infinity) {
      for (T x : {Limits::infinity(), Limits::quiet_NaN(), Limits::denorm_min(), Limits::epsilon(), T(-0.0)}) {
        result.push_back(x);
      }
    }
  }
  return result;
}

// Long double holds every value of all types but complex.
template <PrimitiveType kType>
long double Wide(NativeTypeOf<kType> x) {
  if constexpr (IsFloatingPointType(kType) && BitWidth(kType) <= 16) {
    return static_cast<float>(x);
  } else {
    return static_cast<long double>(x);
  }
}

// Whether `x` is a value of the type, decided by its limits and by converting there and back.
template <PrimitiveType kTo>
bool Holds(long double x) {
  using T = NativeTypeOf<kTo>;
  using Limits = std::numeric_limits<T>;
  if (std::isnan(x)) return Limits::has_quiet_NaN;
  if (std::isinf(x)) return Limits::has_infinity;
  if (x < Wide<kTo>(Limits::lowest()) || x > Wide<kTo>(Limits::max())) return false;
  if constexpr (IsIntegralType(kTo)) {
    return std::trunc(x) == x && !(x == 0 && std::signbit(x));
  } else {
    const long double back = Wide<kTo>(static_cast<T>(static_cast<double>(x)));
    return back == x && std::signbit(back) == std::signbit(x);
  }
}

// A function of its own: in the loops over types, the compiler would repeat the code 900 times.
void ExpectCastPreservesValues(PrimitiveType from, PrimitiveType to, bool expected) {
  EXPECT_EQ(CastPreservesValues(from, to), expected) << PrimitiveType_Name(from) << PrimitiveType_Name(to);
}

TEST(PrimitiveUtilTest, CastPreservesValuesAgainstTrying) {
  ArrayTypeForEach([](auto from) {
    if constexpr (!IsComplexType(from)) {
      const auto values = SomeValues<from>();
      ArrayTypeForEach([&](auto to) {
        if constexpr (!IsComplexType(to) && to != PRED) {
          bool all = true;
          for (auto x : values) all = all && Holds<to>(Wide<from>(x));
          if (from == PRED && to == S1) all = true;  // XLA's exception
          ExpectCastPreservesValues(from, to, all);
        }
      });
    }
  });
}

TEST(PrimitiveUtilTest, CastPreservesValues) {
  static_assert(CastPreservesValues(S8, BF16) && !CastPreservesValues(S16, BF16));
  EXPECT_TRUE(CastPreservesValues(PRED, PRED));
  EXPECT_FALSE(CastPreservesValues(U1, PRED));
  EXPECT_FALSE(CastPreservesValues(PRED, F8E8M0FNU));
  EXPECT_TRUE(CastPreservesValues(PRED, C128));
  EXPECT_TRUE(CastPreservesValues(C64, C128));
  EXPECT_FALSE(CastPreservesValues(C128, C64));
  EXPECT_TRUE(CastPreservesValues(F32, C64));
  EXPECT_FALSE(CastPreservesValues(F64, C64));
  EXPECT_FALSE(CastPreservesValues(C64, F64));
  EXPECT_FALSE(CastPreservesValues(TUPLE, F32));
  EXPECT_FALSE(CastPreservesValues(F32, static_cast<PrimitiveType>(99)));
  static_assert(CanRepresent<double>(S32) && !CanRepresent<double>(S64) && CanRepresent<complex64>(F32));
}

TEST(PrimitiveUtilTest, FitsInIntegralType) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();
  EXPECT_TRUE(FitsInIntegralType(kMin, S64));
  EXPECT_TRUE(FitsInIntegralType(kMax, U64));
  EXPECT_FALSE(FitsInIntegralType(-1, U64));
  EXPECT_TRUE(FitsInIntegralType(-1, S1));
  EXPECT_FALSE(FitsInIntegralType(1, S1));
  EXPECT_DEATH(FitsInIntegralType(0, PRED), "does not take PRED");
  IntegralTypeForEach([&](auto type) {
    if constexpr (BitWidth(type) < 64) {
      using Limits = std::numeric_limits<NativeTypeOf<type>>;
      const int64_t min = static_cast<int64_t>(Limits::min()), max = static_cast<int64_t>(Limits::max());
      for (int64_t x : {min, max}) EXPECT_TRUE(FitsInIntegralType(x, type)) << PrimitiveType_Name(type()) << " " << x;
      for (int64_t x : {min - 1, max + 1, kMin, kMax}) {
        EXPECT_FALSE(FitsInIntegralType(x, type)) << PrimitiveType_Name(type()) << " " << x;
      }
    }
  });
}

TEST(PrimitiveUtilTest, Names) {
  EXPECT_EQ(LowercasePrimitiveTypeName(F8E4M3B11FNUZ), "f8e4m3b11fnuz");
  EXPECT_EQ(LowercasePrimitiveTypeName(OPAQUE_TYPE), "opaque");
  EXPECT_EQ(LowercasePrimitiveTypeName(PRIMITIVE_TYPE_INVALID), "primitive_type_invalid");
  EXPECT_DEATH(LowercasePrimitiveTypeName(static_cast<PrimitiveType>(99)), "not a primitive type: 99");
  for (PrimitiveType type : AllTypes()) {
    if (type == PRIMITIVE_TYPE_INVALID) continue;
    EXPECT_EQ(*StringToPrimitiveType(LowercasePrimitiveTypeName(type)), type);
  }
  for (const char* bad : {"F32", "opaque_type", "primitive_type_invalid", "f8e4m3b11", "", "f32 "}) {
    EXPECT_FALSE(IsPrimitiveTypeName(bad)) << bad;
    EXPECT_EQ(StringToPrimitiveType(bad).status().code(), absl::StatusCode::kInvalidArgument) << bad;
  }
  EXPECT_THAT(std::string(StringToPrimitiveType("f33").status().message()), HasSubstr("\"f33\""));
}

TEST(PrimitiveUtilTest, NativeTypes) {
  static_assert(std::is_same_v<NativeTypeOf<F32>, float> && std::is_same_v<NativeTypeOf<PRED>, bool>);
  static_assert(std::is_same_v<PrimitiveTypeToNative<C64>::type, std::complex<float>>);
  static_assert(NativeToPrimitiveType<uint16_t>() == U16 && NativeToPrimitiveType<float6_e3m2fn>() == F6E3M2FN);
  ArrayTypeForEach([](auto type) { static_assert(NativeToPrimitiveType<NativeTypeOf<type>>() == type); });
}

TEST(PrimitiveUtilTest, Switches) {
  const auto bits = [](auto type) -> int { return GetPrimitiveTypeInfo(type).bits; };
  static_assert(IntegralTypeSwitch(bits, S4) == 4 && FloatingPointTypeSwitch(bits, BF16) == 16);
  static_assert(ComplexTypeSwitch(bits, C64) == 64 && ArrayTypeSwitch(bits, PRED) == 1);
  static_assert(PrimitiveTypeSwitch<int>(bits, TUPLE) == 0 && ArrayTypeSwitch<int64_t>(bits, F64) == 64);
  for (PrimitiveType type : AllTypes()) {
    if (type == PRIMITIVE_TYPE_INVALID) continue;
    EXPECT_EQ(PrimitiveTypeSwitch<PrimitiveType>([](auto t) -> PrimitiveType { return t; }, type), type);
  }
  int calls = 0;
  PrimitiveTypeSwitch<void>([&](auto) { ++calls; }, TOKEN);
  EXPECT_EQ(calls, 1);
  EXPECT_DEATH(IntegralTypeSwitch(bits, PRED), "IntegralTypeSwitch does not take PRED");
  EXPECT_DEATH(FloatingPointTypeSwitch(bits, C64), "FloatingPointTypeSwitch does not take C64");
  EXPECT_DEATH(ComplexTypeSwitch(bits, F32), "ComplexTypeSwitch does not take F32");
  EXPECT_DEATH(ArrayTypeSwitch(bits, TOKEN), "ArrayTypeSwitch does not take TOKEN");
  EXPECT_DEATH(PrimitiveTypeSwitch<int>(bits, PRIMITIVE_TYPE_INVALID), "does not take PRIMITIVE_TYPE_INVALID");
}

std::vector<char> Bytes(std::vector<int> values) { return std::vector<char>(values.begin(), values.end()); }

TEST(PackTest, FirstElementIsInTheLowestBits) {
  std::vector<char> packed(2);
  PackIntN(S4, Bytes({0x01, 0xf2, 0x03, 0x0f}), absl::MakeSpan(packed));
  EXPECT_EQ(packed, Bytes({0x21, 0xf3}));
  std::vector<char> elements(4);
  UnpackIntN(S4, packed, absl::MakeSpan(elements));
  EXPECT_EQ(elements, Bytes({0x01, 0x02, 0x03, 0x0f}));

  packed.assign(1, 0x7f);
  PackIntN(1, Bytes({1, 1, 0, 1, 0}), absl::MakeSpan(packed));
  EXPECT_EQ(packed, Bytes({0x0b}));

  packed.resize(3);
  PackIntN(F6E2M3FN, Bytes({0x3f, 0x00, 0x15}), absl::MakeSpan(packed));
  EXPECT_EQ(packed, Bytes({0x3f, 0x50, 0x01}));
}

TEST(PackTest, RoundTripOfAllWidthsAndLengths) {
  std::mt19937 random(20251121);
  for (int bits = 1; bits <= 8; ++bits) {
    for (int length = 0; length < 40; ++length) {
      std::vector<char> elements(length), packed(PackedByteSize(length, bits)), back(length, 'x');
      for (char& x : elements) x = random() & ((1 << bits) - 1);
      PackIntN(bits, elements, absl::MakeSpan(packed));
      for (int i = 0; i < length * bits; ++i) {
        EXPECT_EQ((packed[i / 8] >> (i % 8)) & 1, (elements[i / bits] >> (i % bits)) & 1) << bits << " " << i;
      }
      UnpackIntN(bits, packed, absl::MakeSpan(back));
      EXPECT_EQ(back, elements);
    }
  }
}

TEST(PackTest, BadSizesDie) {
  std::vector<char> packed(2), elements(3);
  EXPECT_DEATH(PackIntN(4, {}, absl::MakeSpan(packed)), "packed");
  EXPECT_DEATH(UnpackIntN(2, packed, absl::MakeSpan(elements)), "3 packed elements of 2 bits");
  EXPECT_DEATH(PackIntN(9, {}, absl::MakeSpan(packed)), "9 bits");
  EXPECT_DEATH(PackIntN(F32, {}, absl::MakeSpan(packed)), "PackIntN does not take F32");
}

}  // namespace
}  // namespace primitive_util
}  // namespace kashi
