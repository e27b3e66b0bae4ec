#include "kashi/array/element_convert.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "gtest/gtest.h"
#include "kashi/array/primitive_util.h"

namespace kashi::array {
namespace {

using primitive_util::NativeTypeOf;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Calls f with every value of a type of one byte.
template <typename T, typename F>
void ForEachByte(F f) {
  constexpr int kBits = primitive_util::BitWidth(primitive_util::NativeToPrimitiveType<T>());
  for (int code = 0; code < (1 << kBits); ++code) {
    const auto byte = static_cast<uint8_t>(code);
    T value;
    std::memcpy(&value, &byte, 1);
    f(value);
  }
}

template <typename T>
bool SameBits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// Compares two numbers. A NaN keeps its sign, but not its other bits.
template <typename T>
bool SameNumber(T a, T b) {
  return isnan(a) && isnan(b) ? signbit(a) == signbit(b) : SameBits(a, b);
}

TEST(ElementConvertTest, NarrowFloatsThereAndBack) {
  primitive_util::FloatingPointTypeForEach([](auto type) {
    using T = NativeTypeOf<type>;
    if constexpr (sizeof(T) == 1) {
      ForEachByte<T>([](T value) {
        const float single = ConvertElement<float>(value);
        EXPECT_EQ(std::isnan(single), isnan(value));
        EXPECT_TRUE(SameNumber(ConvertElement<T>(single), value)) << single;
        const auto wide = ConvertElement<double>(value);
        EXPECT_TRUE(SameNumber(ConvertElement<T>(wide), value)) << wide;
        EXPECT_EQ(ConvertElement<bool>(value), single != 0);
        EXPECT_TRUE(std::isnan(single) || ConvertElement<complex64>(value) == complex64(single, 0));
      });
    }
  });
}

TEST(ElementConvertTest, SixteenBitFloatsThereAndBack) {
  for (int code = 0; code < 65536; ++code) {
    const half h = half::FromRep(static_cast<uint16_t>(code));
    const bfloat16 b = bfloat16::FromRep(static_cast<uint16_t>(code));
    EXPECT_TRUE(SameNumber(ConvertElement<half>(ConvertElement<float>(h)), h)) << h;
    EXPECT_TRUE(SameNumber(ConvertElement<bfloat16>(ConvertElement<float>(b)), b)) << b;
  }
}

// The integer that a real number must become, computed in a type that is wide enough for all.
template <typename To, typename From>
To Saturated(From value) {
  const auto wide = static_cast<long double>(value);
  if (std::isnan(wide)) return To(0);
  const long double cut = std::trunc(wide);
  const auto max = static_cast<long double>(std::numeric_limits<To>::max());
  const auto min = static_cast<long double>(std::numeric_limits<To>::lowest());
  if (cut >= max) return std::numeric_limits<To>::max();
  if (cut <= min) return std::numeric_limits<To>::lowest();
  return To(static_cast<int64_t>(cut >= 0x1p63L ? 0 : cut)) + (cut >= 0x1p63L ? To(static_cast<uint64_t>(cut)) : To(0));
}

TEST(ElementConvertTest, RealToIntegerSaturates) {
  primitive_util::IntegralTypeForEach([](auto type) {
    using To = NativeTypeOf<type>;
    const auto check = [](auto value) { EXPECT_EQ(ConvertElement<To>(value), Saturated<To>(value)) << value; };
    for (double v : {0.0, -0.0, 0.9, -0.9, 1.0, -1.0, 1.5, -1.5, 7.9, -8.9, 1e3, -1e3, 1e30, -1e30, 1e300, -1e300}) {
      check(v);
      check(static_cast<float>(v));
    }
    for (int exponent : {0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 62, 63, 64}) {
      const double power = std::ldexp(1.0, exponent);
      for (double v :
           {power, -power, std::nextafter(power, 0), std::nextafter(-power, 0), std::nextafter(power, 1e300)}) {
        check(v);
        check(static_cast<float>(v));
      }
    }
    check(kInf);
    check(-kInf);
    check(kNan);
    ForEachByte<float8_e5m2>(check);
    ForEachByte<float8_e4m3fnuz>(check);
    ForEachByte<float4_e2m1fn>(check);
    ForEachByte<float8_e8m0fnu>(check);
  });
  EXPECT_EQ(ConvertElement<int32_t>(3e9f), 2147483647);
  EXPECT_EQ(ConvertElement<uint8_t>(300.0f), 255);
  EXPECT_EQ(ConvertElement<uint8_t>(-1.9f), 0);
  EXPECT_EQ(ConvertElement<s1>(-0.5f), s1(0));
  EXPECT_EQ(ConvertElement<s1>(-1.0f), s1(-1));
}

void ExpectSameLowBits(uint64_t a, uint64_t b, int bits, int64_t number) {
  EXPECT_EQ(a << (64 - bits), b << (64 - bits)) << number;
}

TEST(ElementConvertTest, IntegersKeepTheLowBits) {
  primitive_util::IntegralTypeForEach([](auto from_type) {
    using From = NativeTypeOf<from_type>;
    primitive_util::IntegralTypeForEach([](auto to_type) {
      using To = NativeTypeOf<to_type>;
      constexpr int kBits = primitive_util::BitWidth(to_type);
      for (int64_t number :
           {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{300}, int64_t{-300}, int64_t{0x123456789abcdef0},
            std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}) {
        const From value = ConvertElement<From>(number);
        const auto bits = static_cast<uint64_t>(static_cast<int64_t>(value));
        const auto result = static_cast<uint64_t>(static_cast<int64_t>(ConvertElement<To>(value)));
        ExpectSameLowBits(result, bits, kBits, number);
      }
    });
  });
  EXPECT_EQ(ConvertElement<int8_t>(int32_t{300}), 44);
  EXPECT_EQ(ConvertElement<u2>(int8_t{-1}), u2(3));
}

TEST(ElementConvertTest, Preds) {
  EXPECT_FALSE(ConvertElement<bool>(-0.0f));
  EXPECT_TRUE(ConvertElement<bool>(kNan));
  EXPECT_TRUE(ConvertElement<bool>(0.25f)) << "not by way of an integer";
  EXPECT_TRUE(ConvertElement<bool>(int32_t{256}));
  EXPECT_TRUE(ConvertElement<bool>(float8_e8m0fnu(1.0f)));
  EXPECT_TRUE(ConvertElement<bool>(complex64(0, 1)));
  EXPECT_FALSE(ConvertElement<bool>(s4(0)));
  primitive_util::ArrayTypeForEach([](auto type) {
    using To = NativeTypeOf<type>;
    EXPECT_EQ(ConvertElement<To>(true), To(1));
  });
}

TEST(ElementConvertTest, RoundingAndOverflow) {
  EXPECT_EQ(ConvertElement<float>(int64_t{16777217}), 16777216.0f);
  EXPECT_EQ(ConvertElement<half>(int32_t{65520}), half(kInf));
  EXPECT_EQ(static_cast<float>(ConvertElement<bfloat16>(int32_t{257})), 256.0f);
  EXPECT_EQ(static_cast<float>(ConvertElement<bfloat16>(int32_t{259})), 260.0f);
  EXPECT_EQ(ConvertElement<float>(1e300), kInf);
  EXPECT_EQ(ConvertElement<float>(-1e300), -kInf);
  EXPECT_EQ(ConvertElement<float>(double{std::numeric_limits<float>::max()}), std::numeric_limits<float>::max());
  EXPECT_EQ(ConvertElement<float>(0x1.fffffefp+127), std::numeric_limits<float>::max()) << "just below the midpoint";
  EXPECT_EQ(ConvertElement<float>(0x1.ffffffp+127), kInf) << "the midpoint goes to even";
  EXPECT_TRUE(std::isnan(ConvertElement<float>(std::numeric_limits<double>::quiet_NaN())));
  EXPECT_EQ(static_cast<float>(ConvertElement<float8_e4m3fn>(464.0f)), 448.0f);
  EXPECT_TRUE(isnan(ConvertElement<float8_e4m3fn>(465.0f)));
  EXPECT_EQ(static_cast<float>(ConvertElement<float6_e2m3fn>(100.0f)), 7.5f);
  EXPECT_EQ(static_cast<float>(ConvertElement<float4_e2m1fn>(2.5f)), 2.0f);
  EXPECT_EQ(static_cast<float>(ConvertElement<float8_e8m0fnu>(3.0f)), 4.0f);
}

TEST(ElementConvertTest, Complex) {
  EXPECT_EQ(ConvertElement<complex128>(complex64(1, 2)), complex128(1, 2));
  EXPECT_EQ(ConvertElement<complex64>(complex128(1, 1e300)), complex64(1, kInf));
  EXPECT_EQ(ConvertElement<complex64>(s4(-3)), complex64(-3, 0));
  EXPECT_EQ(ConvertElement<int8_t>(complex64(1000, 2)), 127) << "of the real part";
}

}  // namespace
}  // namespace kashi::array
