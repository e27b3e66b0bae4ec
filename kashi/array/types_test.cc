#include "kashi/array/types.h"

#include <cmath>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace kashi::array {
namespace {

float FloatOfBits(uint32_t bits) { return __builtin_bit_cast(float, bits); }
uint32_t BitsOf(float value) { return __builtin_bit_cast(uint32_t, value); }

// Results of ml_dtypes and NumPy, written by tests/data/make_narrow_floats.py.
struct Oracle {
  std::vector<float> decoded;                          // by code; empty for the 16-bit types
  std::vector<std::pair<uint32_t, uint32_t>> encoded;  // bits of a float, the code it becomes
};

std::map<std::string, Oracle> ReadOracle() {
  std::map<std::string, Oracle> result;
  std::ifstream file(std::string(KASHI_TEST_DATA) + "/narrow_floats.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string type, kind;
    words >> type >> kind;
    for (std::string word; words >> word;) {
      if (kind == "decode") {
        result[type].decoded.push_back(std::strtof(word.c_str(), nullptr));
      } else {
        const uint32_t bits = std::strtoul(word.c_str(), nullptr, 16);
        const uint32_t code = std::strtoul(word.c_str() + word.find('=') + 1, nullptr, 16);
        result[type].encoded.emplace_back(bits, code);
      }
    }
  }
  return result;
}

template <typename T>
constexpr PrimitiveType kTypeOf = PRIMITIVE_TYPE_INVALID;
template <PrimitiveType kType>
constexpr PrimitiveType kTypeOf<NarrowFloat<kType>> = kType;

template <typename T>
class NarrowFloatTest : public testing::Test {
 protected:
  using Limits = std::numeric_limits<T>;

  static const Oracle& GetOracle() {
    static const auto& oracles = *new std::map<std::string, Oracle>(ReadOracle());
    return oracles.at(std::string(GetPrimitiveTypeInfo(kTypeOf<T>).text));
  }
  static std::vector<T> AllCodes() {
    std::vector<T> result;
    for (int code = 0; code < (1 << T::kBits); ++code) result.push_back(T::FromRep(code));
    return result;
  }
  // Zero (if there is one) and the positive finite numbers, in order. The codes of one sign are in order by themselves.
  static std::vector<T> NonNegative() {
    std::vector<T> result;
    for (T x : AllCodes()) {
      if (isfinite(x) && !signbit(x)) result.push_back(x);
    }
    return result;
  }
  static void ExpectEncodes(double value, T expected) {
    if (T::kBits == 16 && static_cast<float>(value) != value) return;  // see DoublesBecomeFloatsOnTheWayTo16Bits
    EXPECT_EQ(T(value).rep(), expected.rep()) << "double " << value;
    if (static_cast<float>(value) != value) return;
    EXPECT_EQ(T(static_cast<float>(value)).rep(), expected.rep()) << "float " << value;
  }
};

using NarrowFloats =
    testing::Types<half, bfloat16, float8_e5m2, float8_e4m3, float8_e4m3fn, float8_e4m3b11fnuz, float8_e5m2fnuz,
                   float8_e4m3fnuz, float8_e3m4, float8_e8m0fnu, float6_e2m3fn, float6_e3m2fn, float4_e2m1fn>;

struct TypeNames {
  template <typename T>
  static std::string GetName(int) {
    return std::string(GetPrimitiveTypeInfo(kTypeOf<T>).text);
  }
};
TYPED_TEST_SUITE(NarrowFloatTest, NarrowFloats, TypeNames);

TYPED_TEST(NarrowFloatTest, DecodesAsMlDtypes) {
  const std::vector<float>& decoded = this->GetOracle().decoded;
  if (TypeParam::kBits == 16) return;  // the table would be long; EveryCodeIsItsNumber has them
  ASSERT_EQ(decoded.size(), size_t{1} << TypeParam::kBits);
  for (size_t code = 0; code < decoded.size(); ++code) {
    EXPECT_EQ(BitsOf(TypeParam::FromRep(code)), BitsOf(decoded[code])) << code;
  }
}

TYPED_TEST(NarrowFloatTest, EncodesAsMlDtypes) {
  ASSERT_FALSE(this->GetOracle().encoded.empty());
  for (auto [bits, code] : this->GetOracle().encoded) {
    EXPECT_EQ(TypeParam(FloatOfBits(bits)).rep(), code) << FloatOfBits(bits);
    if (!std::isnan(FloatOfBits(bits))) {
      EXPECT_EQ(TypeParam(double{FloatOfBits(bits)}).rep(), code) << FloatOfBits(bits);
    }
  }
}

// The definition above primitive_types.def, with std::ldexp.
TYPED_TEST(NarrowFloatTest, EveryCodeIsItsNumber) {
  constexpr FloatFormat kFormat = TypeParam::kFormat;
  for (TypeParam x : this->AllCodes()) {
    if (!isfinite(x)) continue;
    const int magnitude = x.rep() & ((1 << (kFormat.exponent_bits + kFormat.mantissa_bits)) - 1);
    const int exponent = magnitude >> kFormat.mantissa_bits, mantissa = magnitude - (exponent << kFormat.mantissa_bits);
    const bool subnormal = exponent == 0 && kFormat.has_zero();
    const double significand = std::ldexp(mantissa, -kFormat.mantissa_bits) + (subnormal ? 0 : 1);
    const double expected = std::ldexp(significand, (subnormal ? 1 : exponent) - kFormat.bias);
    EXPECT_EQ(static_cast<float>(x), signbit(x) ? -expected : expected) << x.rep();
  }
}

TYPED_TEST(NarrowFloatTest, EveryNumberReadsBack) {
  for (TypeParam x : this->AllCodes()) {
    if (isnan(x)) {
      EXPECT_TRUE(isnan(TypeParam(static_cast<float>(x)))) << x.rep();
      continue;
    }
    EXPECT_EQ(TypeParam(static_cast<float>(x)).rep(), x.rep());
    EXPECT_EQ(TypeParam(static_cast<double>(x)).rep(), x.rep());
  }
}

// Between two neighbours: the middle to the even code, whatever is beside it to the nearer one. A double beside the
// middle may be no float: a detour over float would end at the wrong one.
TYPED_TEST(NarrowFloatTest, RoundsToNearestEven) {
  constexpr bool kE8m0 = TypeParam::kFormat.specials == FloatSpecials::kE8m0;
  const std::vector<TypeParam> numbers = this->NonNegative();
  for (size_t i = kE8m0 ? 1 : 0; i + 1 < numbers.size(); ++i) {
    const TypeParam low = numbers[i], high = numbers[i + 1];
    const double middle = (double{low} + double{high}) / 2;
    this->ExpectEncodes(middle, kE8m0 || high.rep() % 2 == 0 ? high : low);
    this->ExpectEncodes(std::nextafter(middle, 0.0), low);
    this->ExpectEncodes(std::nextafter(middle, 1e300), high);
    this->ExpectEncodes(std::nextafterf(middle, 0.0f), low);
    this->ExpectEncodes(std::nextafterf(middle, std::numeric_limits<float>::infinity()), high);
    if (kE8m0) continue;
    if (low != 0.0f) this->ExpectEncodes(-std::nextafter(middle, 0.0), -low);
    this->ExpectEncodes(-std::nextafter(middle, 1e300), -high);
  }
}

TYPED_TEST(NarrowFloatTest, TooLarge) {
  using Limits = typename TestFixture::Limits;
  const double max = Limits::max();
  const double step = max - double{TypeParam::FromRep(Limits::max().rep() - 1)};
  const double tie = TypeParam::kFormat.specials == FloatSpecials::kE8m0 ? 1.5 * max : max + step / 2;
  const TypeParam above = TypeParam(std::numeric_limits<float>::infinity());
  this->ExpectEncodes(std::nextafter(tie, 0.0), Limits::max());
  this->ExpectEncodes(std::nextafter(tie, 1e300), above);
  this->ExpectEncodes(1e300, above);
  EXPECT_EQ(isinf(above), Limits::has_infinity);
  EXPECT_EQ(isnan(above), Limits::has_quiet_NaN && !Limits::has_infinity);
  if (TypeParam::kFormat.specials == FloatSpecials::kFinite) {
    EXPECT_EQ(above.rep(), Limits::max().rep());
    EXPECT_EQ(TypeParam(-1e300).rep(), Limits::lowest().rep());
  }
}

TYPED_TEST(NarrowFloatTest, Limits) {
  using Limits = typename TestFixture::Limits;
  const std::vector<TypeParam> numbers = this->NonNegative();
  const auto is_zero = [](TypeParam x) { return x == 0.0f; };
  EXPECT_EQ(Limits::max(), numbers.back());
  EXPECT_EQ(Limits::lowest(), Limits::is_signed ? -float{numbers.back()} : float{numbers.front()});
  EXPECT_EQ(Limits::denorm_min(), is_zero(numbers[0]) ? numbers[1] : numbers[0]);
  EXPECT_EQ(double{Limits::min()}, std::ldexp(1.0, Limits::min_exponent - 1));
  EXPECT_LT(double{Limits::max()}, std::ldexp(1.0, Limits::max_exponent));
  EXPECT_GE(double{Limits::max()}, std::ldexp(1.0, Limits::max_exponent - 1));
  EXPECT_EQ(Limits::max_exponent10, std::floor(std::log10(double{Limits::max()})));
  EXPECT_EQ(Limits::min_exponent10, std::ceil(std::log10(double{Limits::min()})));
  EXPECT_EQ(Limits::max_digits10, std::ceil(1 + Limits::digits * std::log10(2)));
  EXPECT_EQ(Limits::digits10, std::floor((Limits::digits - 1) * std::log10(2)));
  const TypeParam one(1.0f);
  EXPECT_EQ(Limits::epsilon(), float{TypeParam::FromRep(one.rep() + 1)} - float{one});
  EXPECT_EQ(isinf(Limits::infinity()), Limits::has_infinity);
  EXPECT_EQ(isnan(Limits::quiet_NaN()), Limits::has_quiet_NaN);
  EXPECT_EQ(isnan(Limits::signaling_NaN()), Limits::has_quiet_NaN);
  EXPECT_EQ(has_zero_v<TypeParam>, is_zero(numbers[0]));
  EXPECT_EQ(has_negative_zero_v<TypeParam>, is_zero(TypeParam(-0.0f)) && signbit(TypeParam(-0.0f)));
}

TYPED_TEST(NarrowFloatTest, SignsAndHashes) {
  for (TypeParam x : this->AllCodes()) {
    const float value = x;
    EXPECT_EQ(isnan(x), std::isnan(value));
    EXPECT_EQ(isinf(x), std::isinf(value));
    EXPECT_EQ(isfinite(x), std::isfinite(value));
    EXPECT_EQ(signbit(x), std::signbit(value));
    if (isnan(x)) continue;
    EXPECT_EQ(static_cast<float>(abs(x)), std::abs(value));
    EXPECT_EQ(BitsOf(-x), BitsOf(TypeParam(-value))) << x.rep();
  }
  const TypeParam zero(0.0f), minus_zero(-0.0f);
  if (zero == minus_zero) {
    EXPECT_EQ(absl::HashOf(zero), absl::HashOf(minus_zero));
    EXPECT_EQ(std::hash<TypeParam>()(zero), std::hash<TypeParam>()(minus_zero));
  }
  // High bits of a byte that was made elsewhere are not read.
  if (TypeParam::kBits < 8) {
    EXPECT_EQ(TypeParam::FromRep(0xff).rep(), (1 << TypeParam::kBits) - 1);
  }
}

// Each operation is the rounded one of double, which is exact enough to round once. All pairs of small formats.
TYPED_TEST(NarrowFloatTest, ArithmeticIsCorrectlyRounded) {
  std::mt19937 random(20251121);
  const bool all_pairs = TypeParam::kBits <= 6;
  const int codes = 1 << TypeParam::kBits;
  for (int i = 0; i < (all_pairs ? codes * codes : 20000); ++i) {
    const int pair = all_pairs ? i : random();
    const TypeParam a = TypeParam::FromRep(pair % codes), b = TypeParam::FromRep((pair / codes) & (codes - 1));
    const auto expect = [&](TypeParam actual, double exact, absl::string_view op) {
      const TypeParam expected(exact);
      if (isnan(expected) ? !isnan(actual) : actual.rep() != expected.rep()) {
        ADD_FAILURE() << a << ' ' << std::string(op) << ' ' << b << " is " << actual << ", not " << expected;
      }
    };
    if (TypeParam::kFormat.specials == FloatSpecials::kFinite && b == 0.0f) continue;  // 0 / 0: NaN with unclear sign
    expect(a + b, double{a} + double{b}, "+");
    expect(a - b, double{a} - double{b}, "-");
    if (TypeParam::kFormat.specials == FloatSpecials::kE8m0) continue;  // its products leave float's range
    expect(a * b, double{a} * double{b}, "*");
    expect(a / b, double{a} / double{b}, "/");
  }
}

TEST(NarrowFloatTest, Sizes) {
  static_assert(sizeof(half) == 2 && sizeof(bfloat16) == 2 && sizeof(float8_e4m3fn) == 1 && sizeof(float4_e2m1fn) == 1);
  static_assert(std::is_trivially_copyable_v<bfloat16> && std::is_trivially_copyable_v<float6_e2m3fn>);
  static_assert(float4_e2m1fn::kBits == 4 && float8_e8m0fnu::kBits == 8);
}

TEST(NarrowFloatTest, ConversionsAreConstexprAndMixedArithmeticIsFloat) {
  static_assert(float8_e4m3fn(1.75f).rep() == 0x3e);
  static_assert(half(bfloat16(3)) == 3.0f);
  static_assert(half(s4(-3)) == -3.0f);
  static_assert(std::is_same_v<decltype(half(1) + half(2)), half>);
  static_assert(std::is_same_v<decltype(half(1) + 1.0f), float>);
  static_assert(half(1) < 2 && half(2) == 2.0 && bfloat16(1) != half(2));
  static_assert(!std::is_convertible_v<float, half> && !std::is_convertible_v<half, bfloat16>);
  static_assert(static_cast<int>(half(-3.7f)) == -3);
  half x(1.5f);
  x += half(2);
  EXPECT_EQ(x, 3.5f);
  EXPECT_EQ(static_cast<complex64>(x), complex64(3.5f, 0));
  EXPECT_EQ(static_cast<complex128>(x), complex128(3.5, 0));
  EXPECT_EQ((std::ostringstream() << x << ' ' << float4_e2m1fn(-0.5f)).str(), "3.5 -0.5");
}

// Seen in XLA's literals and in its CPU conversions. The double is just above the middle of 1 and the next number.
TEST(NarrowFloatTest, DoublesBecomeFloatsOnTheWayTo16Bits) {
  EXPECT_EQ(half(1 + 0x1p-11 + 0x1p-40), 1.0f);
  EXPECT_EQ(bfloat16(1 + 0x1p-8 + 0x1p-40), 1.0f);
  EXPECT_EQ(float8_e4m3fn(1 + 0x1p-4 + 0x1p-40), 1.125f);
  EXPECT_EQ(float8_e5m2(1 + 0x1p-3 + 0x1p-40), 1.25f);
  EXPECT_EQ(bfloat16(0x01010001), 0x1p24f);
}

TEST(NarrowFloatTest, PayloadsOfNan) {
  EXPECT_EQ(BitsOf(bfloat16::FromRep(0xff81)), 0xff810000u);
  EXPECT_EQ(BitsOf(half::FromRep(0x7c01)), 0x7f802000u);
  EXPECT_EQ(BitsOf(float8_e5m2::FromRep(0xfd)), 0xffc00000u);
  EXPECT_EQ(half(FloatOfBits(0xff812345)).rep(), 0xfe00);
}

template <typename T>
class NarrowIntTest : public testing::Test {};
using NarrowInts = testing::Types<s1, s2, s4, u1, u2, u4>;
TYPED_TEST_SUITE(NarrowIntTest, NarrowInts);

TYPED_TEST(NarrowIntTest, ArithmeticWraps) {
  using Limits = std::numeric_limits<TypeParam>;
  const int min = static_cast<int>(Limits::min()), max = static_cast<int>(Limits::max());
  EXPECT_EQ(max - min + 1, 1 << TypeParam::bits);
  EXPECT_EQ(min < 0, Limits::is_signed);
  const auto wrap = [&](int value) { return min + ((value - min) & (max - min)); };
  for (int a = min; a <= max; ++a) {
    for (int b = min; b <= max; ++b) {
      const TypeParam x(a), y(b);
      EXPECT_EQ(x + y, wrap(a + b));
      EXPECT_EQ(x - y, wrap(a - b));
      EXPECT_EQ(x * y, wrap(a * b));
      if (b != 0) {
        EXPECT_EQ(x / y, wrap(a / b));
        EXPECT_EQ(x % y, wrap(a % b));
      }
      EXPECT_EQ(x & y, wrap(a & b));
      EXPECT_EQ(x | y, wrap(a | b));
      EXPECT_EQ(x ^ y, wrap(a ^ b));
      EXPECT_EQ(x == y, a == b);
      EXPECT_EQ(x < y, a < b);
    }
    EXPECT_EQ(-TypeParam(a), wrap(-a));
    EXPECT_EQ(~TypeParam(a), wrap(~a));
    EXPECT_EQ(TypeParam(a) << 1, wrap(a * 2));
    EXPECT_EQ(TypeParam(a) >> 1, a >> 1);
    TypeParam x(a);
    EXPECT_EQ(x++, a);
    EXPECT_EQ(--x, a);
    EXPECT_EQ(static_cast<float>(x), a);
    EXPECT_EQ((std::ostringstream() << x).str(), std::to_string(a));
    EXPECT_EQ(x.ToString(), std::to_string(a));
  }
}

TEST(NarrowIntTest, Memory) {
  const s4 minus_two(-2);
  uint8_t byte = 0;
  static_assert(sizeof(minus_two) == 1);
  std::memcpy(&byte, &minus_two, 1);
  EXPECT_EQ(byte, 0x0e);
  for (uint8_t other : {0x0e, 0xfe, 0x5e}) {
    s4 x;
    std::memcpy(static_cast<void*>(&x), &other, 1);
    EXPECT_EQ(x, minus_two) << static_cast<int>(other);
    EXPECT_EQ(absl::HashOf(x), absl::HashOf(minus_two));
    EXPECT_EQ(std::hash<s4>()(x), std::hash<s4>()(minus_two));
  }
  static_assert(s4(uint64_t{1} << 40 | 9) == -7 && s4(half(-3.5f)) == -3 && u4(s4(-1)) == 15 && u2(6.9) == 2);
  static_assert(std::is_same_v<s4::underlying_type, int8_t> && u2::bits == 2);
}

TEST(TypesTest, Traits) {
  static_assert(is_complex_v<complex64> && is_complex_v<complex128> && !is_complex_v<float>);
  static_assert(is_specialized_floating_point_v<float> && is_specialized_floating_point_v<float4_e2m1fn>);
  static_assert(!is_specialized_floating_point_v<int> && !is_specialized_floating_point_v<complex64>);
  static_assert(is_specialized_integral_v<int> && is_specialized_integral_v<u1> && !is_specialized_integral_v<half>);
  static_assert(is_intN_v<s4> && !is_intN_v<int8_t>);
  static_assert(std::is_same_v<make_specialized_unsigned_t<s4>, u4>);
  static_assert(std::is_same_v<make_specialized_unsigned_t<int64_t>, uint64_t>);
  static_assert(std::is_same_v<make_specialized_signed_t<u1>, s1>);
  static_assert(std::is_same_v<make_specialized_signed_t<uint8_t>, int8_t>);
  static_assert(has_negative_zero_v<double> && has_negative_zero_v<float4_e2m1fn>);
  static_assert(!has_negative_zero_v<float8_e4m3fnuz> && !has_negative_zero_v<int>);
  static_assert(has_zero_v<int> && has_zero_v<float8_e4m3fnuz> && !has_zero_v<float8_e8m0fnu>);
}

}  // namespace
}  // namespace kashi::array
