#include "xla/primitive_util.h"

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "absl/status/statusor.h"
#include "xla/hlo/testlib/test.h"
#include "xla/hlo/testlib/test_helpers.h"
#include "xla/types.h"
#include "xla/xla_data.pb.h"

namespace xla {
namespace {

TEST(PrimitiveUtilTest, StringToPrimitiveType) {
  auto expect_ok_and_equal = [](const std::string& text, PrimitiveType expected) {
    absl::StatusOr<PrimitiveType> actual = primitive_util::StringToPrimitiveType(text);
    EXPECT_IS_OK(actual.status());
    EXPECT_EQ(expected, actual.value());
  };
  expect_ok_and_equal("f32", F32);
  expect_ok_and_equal("tuple", TUPLE);
  expect_ok_and_equal("pred", PRED);
  expect_ok_and_equal("opaque", OPAQUE_TYPE);
  expect_ok_and_equal("f8e4m3b11fnuz", F8E4M3B11FNUZ);
  EXPECT_IS_NOT_OK(primitive_util::StringToPrimitiveType("preD").status());
  EXPECT_IS_NOT_OK(primitive_util::StringToPrimitiveType("PRED").status());
  EXPECT_TRUE(primitive_util::IsPrimitiveTypeName("s4"));
  EXPECT_FALSE(primitive_util::IsPrimitiveTypeName("s3"));
}

TEST(PrimitiveUtilTest, FloatTypes) {
  EXPECT_EQ(primitive_util::SignificandWidth(F32), 24);
  EXPECT_EQ(primitive_util::SignificandWidth(BF16), 8);
  EXPECT_EQ(primitive_util::ExponentWidth(F32), 8);
  EXPECT_EQ(primitive_util::ExponentWidth(BF16), 8);
  EXPECT_EQ(primitive_util::UnderflowExponent(F16), -13);
  EXPECT_EQ(primitive_util::OverflowExponent(F16), 16);
  EXPECT_EQ(primitive_util::ExponentBias(F64), 1023);
  EXPECT_TRUE(primitive_util::HasInfinity(F8E5M2));
  EXPECT_FALSE(primitive_util::HasNaN(F4E2M1FN));
  EXPECT_FALSE(primitive_util::HasNegativeZero(F8E4M3FNUZ));
}

TEST(PrimitiveUtilTest, CastPreservesValues) {
  EXPECT_TRUE(primitive_util::CastPreservesValues(PRED, S8));
  EXPECT_FALSE(primitive_util::CastPreservesValues(S8, PRED));
  EXPECT_TRUE(primitive_util::CastPreservesValues(BF16, F32));
  EXPECT_FALSE(primitive_util::CastPreservesValues(F16, BF16));
  EXPECT_FALSE(primitive_util::CastPreservesValues(S32, F32));
  EXPECT_TRUE(primitive_util::CastPreservesValues(F32, C64));
}

TEST(PrimitiveUtilTest, Names) {
  EXPECT_EQ(primitive_util::LowercasePrimitiveTypeName(F8E4M3FN), "f8e4m3fn");
  for (int i = PrimitiveType_MIN + 1; i < PrimitiveType_ARRAYSIZE; ++i) {
    if (!PrimitiveType_IsValid(i)) continue;
    const PrimitiveType type = static_cast<PrimitiveType>(i);
    EXPECT_EQ(primitive_util::StringToPrimitiveType(primitive_util::LowercasePrimitiveTypeName(type)).value(), type);
  }
  EXPECT_EQ(PrimitiveType_Name(PrimitiveType_MAX), "F6E2M3FN");
  PrimitiveType parsed;
  EXPECT_TRUE(PrimitiveType_Parse("S32", &parsed));
  EXPECT_EQ(parsed, S32);
  EXPECT_EQ(PrimitiveType_descriptor()->FindValueByNumber(11)->name(), "F32");
}

TEST(PrimitiveUtilTest, Classes) {
  static_assert(primitive_util::IsArrayType(F32) && !primitive_util::IsArrayType(TUPLE));
  static_assert(primitive_util::IsFloatingPointType(BF16) && !primitive_util::IsFloatingPointType(C64));
  static_assert(primitive_util::IsF8Type(F8E3M4) && primitive_util::IsMXType(F4E2M1FN));
  static_assert(primitive_util::IsComplexType(C128) && primitive_util::IsSignedIntegralType(S1));
  static_assert(primitive_util::IsUnsignedIntegralType(U4) && !primitive_util::IsIntegralType(PRED));
  static_assert(primitive_util::Is8BitIntegralType(U8) && primitive_util::IsSubByteNonPredType(S2));
  static_assert(primitive_util::BitWidth(S4) == 4 && primitive_util::ByteWidth(S4) == 1);
  EXPECT_EQ(primitive_util::UnsignedIntegralTypeForBitWidth(16), U16);
  EXPECT_EQ(primitive_util::SignedIntegralTypeForBitWidth(64), S64);
  EXPECT_EQ(primitive_util::SignedIntegralTypeForBitWidth(63), PRIMITIVE_TYPE_INVALID);
  EXPECT_EQ(primitive_util::ComplexComponentType(C64), F32);
  EXPECT_EQ(primitive_util::ComplexType(F64), C128);
  EXPECT_EQ(primitive_util::HigherPrecisionType(F16, BF16), BF16);
  EXPECT_TRUE(primitive_util::FitsInIntegralType(-8, S4));
  EXPECT_TRUE(primitive_util::CanRepresent<double>(F32));
}

TEST(PrimitiveUtilTest, NativeTypes) {
  static_assert(std::is_same_v<primitive_util::PrimitiveTypeToNative<F32>::type, float>);
  static_assert(std::is_same_v<primitive_util::NativeTypeOf<BF16>, bfloat16>);
  static_assert(primitive_util::NativeToPrimitiveType<tsl::float8_e4m3fn>() == F8E4M3FN);
  static_assert(primitive_util::NativeToPrimitiveType<s4>() == S4);
  static_assert(primitive_util::NativeToPrimitiveType<tsl::uint4>() == U4);
  static_assert(primitive_util::NativeToPrimitiveType<complex64>() == C64);
  static_assert(primitive_util::NativeToPrimitiveType<Eigen::half>() == F16 || !std::is_same_v<Eigen::half, half>);
  static_assert(is_complex_v<complex128> && is_specialized_floating_point_v<half> && is_specialized_integral_v<u2>);
  static_assert(is_intN_v<s1> && !is_intN_v<int8_t> && has_negative_zero_v<tsl::float4_e2m1fn>);
  static_assert(!has_zero_v<tsl::float8_e8m0fnu> && std::is_same_v<make_specialized_unsigned_t<s4>, u4>);
  EXPECT_EQ(static_cast<float>(std::numeric_limits<tsl::float8_e5m2>::max()), 57344.0f);
  EXPECT_EQ(static_cast<float>(ml_dtypes::float8_e4m3fn(1.5f)), 1.5f);
}

template <typename T>
class NativeTypeTest : public ::testing::Test {};
using NativeTypes = ::testing::Types<bool, u1, s1, u2, s2, u4, s4, uint8_t, int16_t, uint64_t, half, bfloat16, float,
                                     double, complex64, complex128, tsl::float4_e2m1fn, tsl::float8_e3m4,
                                     tsl::float8_e4m3, tsl::float8_e4m3b11fnuz, tsl::float8_e4m3fn,
                                     tsl::float8_e4m3fnuz, tsl::float8_e5m2, tsl::float8_e5m2fnuz, tsl::float8_e8m0fnu>;
TYPED_TEST_SUITE(NativeTypeTest, NativeTypes);

TYPED_TEST(NativeTypeTest, GoesThereAndBack) {
  constexpr PrimitiveType kType = primitive_util::NativeToPrimitiveType<TypeParam>();
  static_assert(std::is_same_v<primitive_util::NativeTypeOf<kType>, TypeParam>);
  static_assert(primitive_util::PrimitiveTypeConstant<kType>() == kType);
  EXPECT_EQ(static_cast<int>(sizeof(TypeParam)), primitive_util::ByteWidth(kType));
  EXPECT_TRUE(primitive_util::IsArrayType(kType));
}

TEST(PrimitiveUtilTest, Switches) {
  const int width = primitive_util::ArrayTypeSwitch(
      [](auto primitive_type_constant) -> int {
        using NativeT = primitive_util::NativeTypeOf<primitive_type_constant>;
        return sizeof(NativeT);
      },
      C128);
  EXPECT_EQ(width, 16);
  EXPECT_TRUE(primitive_util::PrimitiveTypeSwitch<bool>(
      [](auto primitive_type) -> bool {
        if constexpr (primitive_util::IsArrayType(primitive_type)) return false;
        return primitive_type == TOKEN;
      },
      TOKEN));
  EXPECT_EQ(primitive_util::IntegralTypeSwitch([](auto type) -> PrimitiveType { return type; }, U2), U2);
  EXPECT_EQ(primitive_util::FloatingPointTypeSwitch([](auto type) -> PrimitiveType { return type; }, F16), F16);
  EXPECT_EQ(primitive_util::ComplexTypeSwitch([](auto type) -> PrimitiveType { return type; }, C64), C64);
  int count = 0;
  primitive_util::FloatingPointTypeForEach([&](auto) { ++count; });
  primitive_util::IntegralTypeForEach([&](auto) { ++count; });
  EXPECT_GT(count, 20);
}

TEST(PrimitiveUtilTest, PackIntN) {
  const char unpacked[] = {1, 2, 3};
  char packed[2];
  PackIntN(4, unpacked, absl::MakeSpan(packed));
  EXPECT_EQ(packed[0], 0x21);
  char again[3];
  primitive_util::UnpackIntN(U4, packed, absl::MakeSpan(again));
  EXPECT_EQ(again[2], 3);
}

}  // namespace
}  // namespace xla
