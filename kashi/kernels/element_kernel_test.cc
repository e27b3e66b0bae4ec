#include "kashi/kernels/element_kernel.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/types.h"
#include "kashi/kernels/close_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi::kernels {
namespace {

template <typename R, typename... T>
std::vector<R> RunKernel(const absl::StatusOr<ElementKernel>& kernel, const std::vector<T>&... operands) {
  if (!kernel.ok()) {
    ADD_FAILURE() << kernel.status();
    return {};
  }
  const void* inputs[] = {operands.data()...};
  const size_t n = std::min({operands.size()...});
  // std::vector<bool> has no memory to point to.
  auto output = std::make_unique<R[]>(n);
  (*kernel)(inputs, output.get(), static_cast<int64_t>(n));
  return std::vector<R>(output.get(), output.get() + n);
}

// ---- Conversions against the number classes.

// The code of each of 2^16 numbers of 16 bits.
TEST(ElementKernelTest, DecodesAllNumbersOf16Bits) {
  std::vector<uint16_t> codes(65536);
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<uint16_t>(i);
  const std::vector<uint32_t> f16 = RunKernel<uint32_t>(FindConvertKernel(F16, F32), codes);
  const std::vector<uint32_t> bf16 = RunKernel<uint32_t>(FindConvertKernel(BF16, F32), codes);
  for (uint16_t code : codes) {
    ASSERT_EQ(f16[code], __builtin_bit_cast(uint32_t, static_cast<float>(half::FromRep(code)))) << code;
    ASSERT_EQ(bf16[code], __builtin_bit_cast(uint32_t, static_cast<float>(bfloat16::FromRep(code)))) << code;
  }
}

// Floats of all exponents: with few bits set, so that there are ties, and at random.
std::vector<float> InterestingFloats() {
  std::mt19937 random(1);
  std::vector<float> floats;
  for (uint32_t high = 0; high < 512; ++high) {
    for (int i = 0; i < 23; ++i) {
      for (int j = 0; j < 23; ++j) floats.push_back(__builtin_bit_cast(float, (high << 23) | (1u << i) | (1u << j)));
    }
    for (int i = 0; i < 100; ++i)
      floats.push_back(__builtin_bit_cast(float, static_cast<uint32_t>((high << 23) | (random() & 0x7fffff))));
    floats.push_back(__builtin_bit_cast(float, high << 23));
    floats.push_back(__builtin_bit_cast(float, (high << 23) | 0x7fffff));
  }
  return floats;
}

template <typename T>
void ExpectEncodesAsTheClass(const std::vector<float>& floats) {
  const PrimitiveType type = primitive_util::NativeToPrimitiveType<T>();
  const std::vector<T> codes = RunKernel<T>(FindConvertKernel(F32, type), floats);
  for (size_t i = 0; i < floats.size(); ++i) {
    ASSERT_EQ(codes[i].rep(), T(floats[i]).rep()) << PrimitiveType_Name(type) << " of " << floats[i];
  }
}
TEST(ElementKernelTest, EncodesAsTheNumberClasses) {
  const std::vector<float> floats = InterestingFloats();
  ExpectEncodesAsTheClass<half>(floats);
  ExpectEncodesAsTheClass<bfloat16>(floats);
  ExpectEncodesAsTheClass<float8_e4m3fn>(floats);
  ExpectEncodesAsTheClass<float8_e5m2fnuz>(floats);
  ExpectEncodesAsTheClass<float8_e8m0fnu>(floats);
  ExpectEncodesAsTheClass<float4_e2m1fn>(floats);
}

// Rounds as both of XLA's engines do: through f32, unless the type has at most 8 bits.
TEST(ElementKernelTest, RoundsAsXla) {
  EXPECT_EQ(RunKernel<bfloat16>(FindConvertKernel(F64, BF16), std::vector<double>{1 + 0x1p-8 + 0x1p-40})[0],
            bfloat16(1.0f));
  EXPECT_EQ(RunKernel<bfloat16>(FindConvertKernel(S32, BF16), std::vector<int32_t>{0x01010001})[0], bfloat16(0x1p24f));
  EXPECT_EQ(RunKernel<float8_e4m3fn>(FindConvertKernel(F64, F8E4M3FN), std::vector<double>{1 + 0x1p-4 + 0x1p-40})[0],
            float8_e4m3fn(1 + 0x1p-3f));
}

// Values of the type that matter, as native elements.
template <typename T>
std::vector<T> Samples() {
  using Limits = std::numeric_limits<T>;
  if constexpr (is_complex_v<T>) {
    return {T(0, 2), T(1.5, -1), T(-300, 0), T(0, 0), T(NAN, 1), T(INFINITY, 1), T(70000.25, 3)};
  } else {
    std::vector<T> samples = {T(0), T(1), T(3), Limits::max(), Limits::lowest(), Limits::min()};
    if constexpr (!Limits::is_integer) {
      for (float x :
           {-0.0f, 0.5f, 2.5f, -1.75f, 127.6f, -300.0f, 70000.0f, 3e9f, -1e19f, 1e-40f, INFINITY, -INFINITY, NAN}) {
        samples.push_back(T(x));
      }
    } else if constexpr (Limits::digits > 8) {
      for (int x : {100, 127, 128, 255, 256, 257, 259, -1, -129, 32767}) samples.push_back(static_cast<T>(x));
    }
    return samples;
  }
}

// Against the literal's own conversion. NaN may differ in sign and payload.
void ExpectConvertsAsLiterals(const Literal& samples, PrimitiveType to) {
  const PrimitiveType from = samples.shape().element_type();
  const absl::StatusOr<Literal> expected = samples.Convert(to);
  if (!expected.ok()) return;
  Literal actual = expected->Clone();
  std::memset(actual.untyped_data(), 0, static_cast<size_t>(actual.size_bytes()));
  const absl::StatusOr<ElementKernel> kernel = FindConvertKernel(from, to);
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const void* inputs[] = {samples.untyped_data()};
  (*kernel)(inputs, actual.untyped_data(), samples.element_count());
  EXPECT_EQ(absl::StrReplaceAll(actual.ToString(), {{"-nan", "nan"}}),
            absl::StrReplaceAll(expected->ToString(), {{"-nan", "nan"}}))
      << PrimitiveType_Name(from);
}
TEST(ElementKernelTest, ConvertsAllPairsOfTypes) {
  primitive_util::ArrayTypeForEach([](auto from) {
    using From = primitive_util::NativeTypeOf<decltype(from)::value>;
    if constexpr (!std::is_same_v<From, bool>) {
      const Literal samples = LiteralUtil::CreateR1<From>(Samples<From>());
      primitive_util::ArrayTypeForEach([&](PrimitiveType to) { ExpectConvertsAsLiterals(samples, to); });
    }
  });
}
TEST(ElementKernelTest, ConvertsFromAndToPred) {
  primitive_util::ArrayTypeForEach([](auto type) {
    constexpr PrimitiveType kType = decltype(type)::value;
    if constexpr (kType == PRED) return;
    using T = std::conditional_t<kType == PRED, uint8_t, primitive_util::NativeTypeOf<kType>>;
    const std::vector<T> ones = RunKernel<T>(FindConvertKernel(PRED, kType), std::vector<uint8_t>{1, 1});
    EXPECT_EQ(ones[1], T(1)) << PrimitiveType_Name(kType);
    EXPECT_EQ(RunKernel<bool>(FindConvertKernel(kType, PRED), ones)[1], true) << PrimitiveType_Name(kType);
  });
  EXPECT_THAT(RunKernel<bool>(FindConvertKernel(F32, PRED), std::vector<float>{-0.0f, NAN, 1e-40f}),
              testing::ElementsAre(false, true, true));
  EXPECT_THAT(RunKernel<bool>(FindConvertKernel(S4, PRED), std::vector<s4>{s4(0), s4(-8)}),
              testing::ElementsAre(false, true));
}

// ---- Integers, all values of small types, compared with the operation in int.

// The formulas as one would write them for whole numbers; `width` bits are kept.
int64_t Reference(HloOpcode opcode, int64_t x, int64_t y, int width, bool is_signed) {
  const int64_t mask = (int64_t{1} << width) - 1, lowest = is_signed ? -(int64_t{1} << (width - 1)) : 0;
  const int64_t ux = x & mask, uy = y & mask;
  const int64_t sx = (ux >> (width - 1)) != 0 ? ux - mask - 1 : ux;
  switch (opcode) {
    case HloOpcode::kAdd:
      return x + y;
    case HloOpcode::kSubtract:
      return x - y;
    case HloOpcode::kMultiply:
      return x * y;
    case HloOpcode::kMulhi:
      return (x * y) >> width;
    case HloOpcode::kDivide:
      return y == 0 ? -1 : x == lowest && y == -1 ? lowest : x / y;
    case HloOpcode::kRemainder:
      return y == 0 ? x : x % y;
    case HloOpcode::kMaximum:
      return std::max(x, y);
    case HloOpcode::kMinimum:
      return std::min(x, y);
    case HloOpcode::kAnd:
      return ux & uy;
    case HloOpcode::kOr:
      return ux | uy;
    case HloOpcode::kXor:
      return ux ^ uy;
    case HloOpcode::kShiftLeft:
      return uy >= width ? 0 : ux << uy;
    case HloOpcode::kShiftRightLogical:
      return uy >= width ? 0 : ux >> uy;
    case HloOpcode::kShiftRightArithmetic:
      return sx >> std::min<int64_t>(uy, width - 1);
    case HloOpcode::kPower: {
      if (y < 0) return x == 1 ? 1 : 0;
      int64_t power = 1;
      for (int64_t i = 0; i < y; ++i) power = (power * x) & mask;
      return power;
    }
    case HloOpcode::kAbs:
      return std::abs(x);
    case HloOpcode::kNegate:
      return -x;
    case HloOpcode::kNot:
      return ~x;
    case HloOpcode::kSign:
      return (x > 0) - (x < 0);
    case HloOpcode::kPopulationCount:
      return __builtin_popcountll(static_cast<uint64_t>(ux));
    case HloOpcode::kClz:
      return ux == 0 ? width : __builtin_clzll(static_cast<uint64_t>(ux)) - 64 + width;
    default:
      ADD_FAILURE() << opcode;
      return 0;
  }
}

template <typename T>
void TestSmallIntegers() {
  using Limits = std::numeric_limits<T>;
  const PrimitiveType type = primitive_util::NativeToPrimitiveType<T>();
  const int width = primitive_util::BitWidth(type);
  std::vector<T> x, y;
  for (int a = 0; a < 1 << width; ++a) {
    for (int b = 0; b < 1 << width; ++b) {
      x.push_back(static_cast<T>(a));
      y.push_back(static_cast<T>(b));
    }
  }
  const auto value = [](T t) { return static_cast<int64_t>(t); };
  const auto expected = [&](HloOpcode opcode, size_t i) {
    return static_cast<T>(static_cast<int>(Reference(opcode, value(x[i]), value(y[i]), width, Limits::is_signed)));
  };
  for (HloOpcode opcode : {HloOpcode::kAdd, HloOpcode::kSubtract, HloOpcode::kMultiply, HloOpcode::kMulhi,
                           HloOpcode::kDivide, HloOpcode::kRemainder, HloOpcode::kMaximum, HloOpcode::kMinimum,
                           HloOpcode::kAnd, HloOpcode::kOr, HloOpcode::kXor, HloOpcode::kShiftLeft,
                           HloOpcode::kShiftRightLogical, HloOpcode::kShiftRightArithmetic, HloOpcode::kPower}) {
    const std::vector<T> actual = RunKernel<T>(FindBinaryKernel(opcode, type, type, type), x, y);
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(value(actual[i]), value(expected(opcode, i)))
          << opcode << " of " << PrimitiveType_Name(type) << " " << value(x[i]) << " and " << value(y[i]);
      ASSERT_EQ(*reinterpret_cast<const uint8_t*>(&actual[i]) >> width, 0) << "high bits are to be 0";
    }
  }
  for (HloOpcode opcode : {HloOpcode::kAbs, HloOpcode::kSign, HloOpcode::kNegate, HloOpcode::kNot,
                           HloOpcode::kPopulationCount, HloOpcode::kClz}) {
    const bool has_meaning = Limits::is_signed || (opcode != HloOpcode::kAbs && opcode != HloOpcode::kSign);
    const auto kernel = FindUnaryKernel(opcode, type, type);
    EXPECT_EQ(kernel.ok(), has_meaning) << opcode;
    if (!has_meaning) continue;
    const std::vector<T> actual = RunKernel<T>(kernel, x);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(value(actual[i]), value(expected(opcode, i))) << opcode << value(x[i]);
  }
  for (ComparisonDirection direction : {ComparisonDirection::kEq, ComparisonDirection::kNe, ComparisonDirection::kGe,
                                        ComparisonDirection::kGt, ComparisonDirection::kLe, ComparisonDirection::kLt}) {
    const std::vector<bool> actual =
        RunKernel<bool>(FindCompareKernel(direction, Comparison::Order::kTotal, type, type), x, y);
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(actual[i], Comparison(direction, type).Compare<T>(x[i], y[i])) << value(x[i]) << " " << value(y[i]);
    }
  }
}
TEST(ElementKernelTest, ComputesOnAllPairsOfSmallIntegers) {
  TestSmallIntegers<s1>();
  TestSmallIntegers<s2>();
  TestSmallIntegers<s4>();
  TestSmallIntegers<u1>();
  TestSmallIntegers<u2>();
  TestSmallIntegers<u4>();
  TestSmallIntegers<int8_t>();
  TestSmallIntegers<uint8_t>();
}

TEST(ElementKernelTest, MultipliesHigh) {
  const std::vector<int64_t> s64 = {std::numeric_limits<int64_t>::min(), -1, int64_t{1} << 40};
  EXPECT_THAT(RunKernel<int64_t>(FindBinaryKernel(HloOpcode::kMulhi, S64, S64, S64), s64, s64),
              testing::ElementsAre(int64_t{1} << 62, 0, 1 << 16));
  const std::vector<uint64_t> u64 = {~uint64_t{0}, 3};
  EXPECT_THAT(RunKernel<uint64_t>(FindBinaryKernel(HloOpcode::kMulhi, U64, U64, U64), u64, u64),
              testing::ElementsAre(~uint64_t{1}, 0));
  const std::vector<uint32_t> u32 = {~uint32_t{0}};
  EXPECT_THAT(RunKernel<uint32_t>(FindBinaryKernel(HloOpcode::kMulhi, U32, U32, U32), u32, u32),
              testing::ElementsAre(0xfffffffe));
  EXPECT_EQ(FindBinaryKernel(HloOpcode::kMulhi, F32, F32, F32).status().code(), absl::StatusCode::kUnimplemented);
}

// ---- Rounding against the C library, total order against comparison_util.h.

template <typename T>
void ExpectRoundsAsC(const std::vector<T>& x) {
  const PrimitiveType type = primitive_util::NativeToPrimitiveType<T>();
  const auto check = [&](HloOpcode opcode, T (*reference)(T)) {
    const std::vector<T> actual = RunKernel<T>(FindUnaryKernel(opcode, type, type), x);
    for (size_t i = 0; i < x.size(); ++i) {
      const T expected = reference(x[i]);
      ASSERT_TRUE((std::isnan(expected) && std::isnan(actual[i])) || std::memcmp(&expected, &actual[i], sizeof(T)) == 0)
          << opcode << " of " << x[i] << " is " << actual[i];
    }
  };
  check(HloOpcode::kFloor, [](T t) { return std::floor(t); });
  check(HloOpcode::kCeil, [](T t) { return std::ceil(t); });
  check(HloOpcode::kRoundNearestAfz, [](T t) { return std::round(t); });
  check(HloOpcode::kRoundNearestEven, [](T t) { return std::nearbyint(t); });
}
TEST(ElementKernelTest, RoundsAsC) {
  std::vector<float> f32 = InterestingFloats();
  for (int i = -1000; i < 1000; ++i) {
    for (float x : {i * 0.25f, i * 8388.5f}) {
      f32.insert(f32.end(), {x, std::nextafter(x, -INFINITY), std::nextafter(x, INFINITY)});
    }
  }
  ExpectRoundsAsC(f32);
  std::vector<double> f64;
  for (float x : f32) f64.insert(f64.end(), {double{x}, std::nextafter(double{x}, 0.0), double{x} * 0x1p29});
  ExpectRoundsAsC(f64);
}

template <typename T>
void ExpectTotalOrder(const std::vector<T>& numbers) {
  const PrimitiveType type = primitive_util::NativeToPrimitiveType<T>();
  std::vector<T> x, y;
  for (T a : numbers) {
    for (T b : numbers) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  for (ComparisonDirection direction : {ComparisonDirection::kEq, ComparisonDirection::kLt, ComparisonDirection::kGe}) {
    const std::vector<bool> actual =
        RunKernel<bool>(FindCompareKernel(direction, Comparison::Order::kTotal, type, type), x, y);
    const Comparison reference(direction, type, Comparison::Order::kTotal);
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(actual[i], reference.Compare<T>(x[i], y[i])) << PrimitiveType_Name(type) << x[i] << " " << y[i];
    }
  }
}
TEST(ElementKernelTest, OrdersAllNumbersOf8BitsTotally) {
  primitive_util::FloatingPointTypeForEach([](auto type) {
    using T = primitive_util::NativeTypeOf<decltype(type)::value>;
    if constexpr (sizeof(T) == 1) {
      std::vector<T> all;
      for (int code = 0; code < 1 << T::kBits; ++code) all.push_back(T::FromRep(static_cast<uint8_t>(code)));
      ExpectTotalOrder(all);
    } else {
      ExpectTotalOrder<T>({-std::numeric_limits<T>::quiet_NaN(), -std::numeric_limits<T>::infinity(), T(-1.0f),
                           T(-0.0f), T(0.0f), std::numeric_limits<T>::denorm_min(), T(1.0f),
                           std::numeric_limits<T>::max(), std::numeric_limits<T>::infinity(),
                           std::numeric_limits<T>::quiet_NaN()});
    }
  });
}

// ---- Narrow floats: f32 and one rounding, in portions of any length.

TEST(ElementKernelTest, ComputesNarrowFloatsInF32) {
  std::mt19937 random(2);
  for (size_t n : {size_t{0}, size_t{1}, size_t{255}, size_t{256}, size_t{1000}}) {
    std::vector<bfloat16> x(n), y(n);
    for (size_t i = 0; i < n; ++i) {
      x[i] = bfloat16::FromRep(static_cast<uint16_t>(random()));
      y[i] = bfloat16::FromRep(static_cast<uint16_t>(random()));
    }
    const std::vector<bfloat16> z = RunKernel<bfloat16>(FindBinaryKernel(HloOpcode::kMultiply, BF16, BF16, BF16), x, y);
    for (size_t i = 0; i < n; ++i) {
      const bfloat16 expected(static_cast<float>(x[i]) * static_cast<float>(y[i]));
      ASSERT_TRUE(isnan(expected) ? isnan(z[i]) : z[i].rep() == expected.rep()) << x[i] << " * " << y[i];
    }
  }
}

TEST(ElementKernelTest, TakesFloatsOfSeveralTypes) {
  const std::vector<bfloat16> x = {bfloat16(1.0f), bfloat16(3.0f)};
  const std::vector<float> y = {0x1p-20f, 0.5f};
  EXPECT_THAT(RunKernel<float>(FindBinaryKernel(HloOpcode::kAdd, BF16, F32, F32), x, y),
              testing::ElementsAre(1 + 0x1p-20f, 3.5f));
  EXPECT_THAT(RunKernel<bfloat16>(FindBinaryKernel(HloOpcode::kAdd, F32, F32, BF16), y, y),
              testing::ElementsAre(bfloat16(0x1p-19f), bfloat16(1.0f)));
  EXPECT_THAT(
      RunKernel<double>(FindTernaryKernel(HloOpcode::kSelect, PRED, BF16, F32, F64), std::vector<uint8_t>{1, 0}, x, y),
      testing::ElementsAre(1.0, 0.5));
  EXPECT_THAT(
      RunKernel<bool>(FindCompareKernel(ComparisonDirection::kLt, Comparison::Order::kPartial, BF16, F32), x, y),
      testing::ElementsAre(false, false));
}

TEST(ElementKernelTest, WritesIntoItsInput) {
  std::vector<half> x(700, half(1.5f));
  const std::vector<half> y(700, half(2.0f));
  const auto kernel = FindBinaryKernel(HloOpcode::kSubtract, F16, F16, F16);
  ASSERT_TRUE(kernel.ok());
  const void* inputs[] = {y.data(), x.data()};
  (*kernel)(inputs, x.data(), 700);
  EXPECT_THAT(x, testing::Each(half(0.5f)));
}

TEST(ElementKernelTest, SelectsElementsOfAnySize) {
  const std::vector<uint8_t> choices = {1, 0};
  EXPECT_THAT(RunKernel<complex128>(FindTernaryKernel(HloOpcode::kSelect, PRED, C128, C128, C128), choices,
                                    std::vector<complex128>{{1, 2}, {3, 4}}, std::vector<complex128>{{5, 6}, {7, 8}}),
              testing::ElementsAre(complex128(1, 2), complex128(7, 8)));
  EXPECT_THAT(RunKernel<uint8_t>(FindTernaryKernel(HloOpcode::kSelect, PRED, PRED, PRED, PRED), choices,
                                 std::vector<uint8_t>{1, 1}, std::vector<uint8_t>{0, 0}),
              testing::ElementsAre(1, 0));
}

// ---- stochastic-convert (hlo-ops.md 1.5).

TEST(ElementKernelTest, ConvertsStochastically) {
  const uint32_t half_range = 0x80000000;
  const std::vector<float> x = {1.5f, -1.5f, 1.5f, INFINITY, -INFINITY, NAN, 3.0f, 127.9f, -127.5f, 0.25f};
  const std::vector<uint32_t> random = {half_range - 1, half_range, half_range, 0, 0, 0, 0, 0, 0, (1u << 30) - 1};
  EXPECT_THAT(RunKernel<int32_t>(FindBinaryKernel(HloOpcode::kStochasticConvert, F32, U32, S32), x, random),
              testing::ElementsAre(2, -1, 1, std::numeric_limits<int>::max(), std::numeric_limits<int>::min(), 0, 3,
                                   128, -128, 1));
  EXPECT_THAT(RunKernel<int8_t>(FindBinaryKernel(HloOpcode::kStochasticConvert, F32, U32, S8), x, random),
              testing::ElementsAre(2, -1, 1, 127, -128, 0, 3, 127, -128, 1));
  const std::vector<half> f16 = {half(1.5f), half(1.5f)};
  EXPECT_THAT(RunKernel<int16_t>(FindBinaryKernel(HloOpcode::kStochasticConvert, F16, U16, S16), f16,
                                 std::vector<uint16_t>{0x7fff, 0x8000}),
              testing::ElementsAre(2, 1));
  EXPECT_FALSE(FindBinaryKernel(HloOpcode::kStochasticConvert, F32, U32, U32).ok());
  EXPECT_FALSE(FindBinaryKernel(HloOpcode::kStochasticConvert, F32, U32, BF16).ok());
}

// ---- Complex functions of which C++ has none: accurate where the naive formula is not.

TEST(ElementKernelTest, ComputesComplexExpm1AndLog1pNearZero) {
  const std::vector<complex64> z = {{1e-10f, 2e-10f}, {-1e-6f, 1e-3f}, {0, 0}, {1e-4f, 3}, {1e30f, 1e30f}};
  const std::vector<complex64> expm1 = RunKernel<complex64>(FindUnaryKernel(HloOpcode::kExpm1, C64, C64), z);
  const std::vector<complex64> log1p = RunKernel<complex64>(FindUnaryKernel(HloOpcode::kLog1p, C64, C64), z);
  for (size_t i = 0; i < 4; ++i) {
    const std::complex<long double> wide(z[i].real(), z[i].imag());
    EXPECT_TRUE(IsClose(expm1[i], complex128(std::exp(wide) - 1.0L), 2e-7)) << z[i] << " " << expm1[i];
  }
  for (size_t i = 0; i < 5; ++i) {
    const std::complex<long double> wide(z[i].real(), z[i].imag());
    EXPECT_TRUE(IsClose(log1p[i], complex128(std::log(wide + 1.0L)), 2e-7)) << z[i] << " " << log1p[i];
  }
  EXPECT_EQ(log1p[0].real(), 1e-10f);
}

TEST(ElementKernelTest, ComplexNumbersHaveNoOrder) {
  EXPECT_EQ(FindCompareKernel(ComparisonDirection::kLt, Comparison::Order::kPartial, C64, C64).status().message(),
            "compare of c64 by LT: complex numbers have no order");
  EXPECT_FALSE(FindTernaryKernel(HloOpcode::kClamp, C64, C64, C64, C64).ok());
}

TEST(ElementKernelTest, RefusesWhatHasNoMeaning) {
  EXPECT_EQ(FindUnaryKernel(HloOpcode::kPopulationCount, F32, F32).status().message(), "popcnt of F32");
  EXPECT_FALSE(FindUnaryKernel(HloOpcode::kErf, C64, C64).ok());
  EXPECT_FALSE(FindUnaryKernel(HloOpcode::kNegate, PRED, PRED).ok());
  EXPECT_FALSE(FindBinaryKernel(HloOpcode::kSubtract, PRED, PRED, PRED).ok());
  EXPECT_FALSE(FindBinaryKernel(HloOpcode::kAdd, S32, S64, S64).ok());
  EXPECT_FALSE(FindBinaryKernel(HloOpcode::kAdd, S32, S32, S64).ok());
  EXPECT_FALSE(FindBinaryKernel(HloOpcode::kAnd, F32, F32, F32).ok());
  EXPECT_FALSE(FindConvertKernel(F32, TUPLE).ok());
  EXPECT_FALSE(FindUnaryKernel(HloOpcode::kNegate, TUPLE, TUPLE).ok());
  EXPECT_FALSE(FindTernaryKernel(HloOpcode::kSelect, U8, F32, F32, F32).ok());
}

}  // namespace
}  // namespace kashi::kernels
