#include "kashi/base/util.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kashi::base {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(Util, ContainersEqual) {
  const std::vector<int64_t> v = {1, 2, 3};
  EXPECT_TRUE(ContainersEqual(v, {1, 2, 3}));
  EXPECT_TRUE(ContainersEqual(v, absl::InlinedVector<int, 4>{1, 2, 3}));
  EXPECT_FALSE(ContainersEqual(v, {1, 2}));
  EXPECT_FALSE(ContainersEqual(v, {1, 2, 4}));
  EXPECT_TRUE(ContainersEqual(v, std::vector<int>{-1, -2, 3}, [](int64_t a, int b) { return a * a == b * b; }));
}

TEST(Util, Positions) {
  std::vector<int64_t> v = {7, 8, 9, 8};
  EXPECT_EQ(PositionInContainer(v, 8), 1);
  EXPECT_EQ(PositionInContainer(absl::MakeConstSpan(v), 5), 4);
  EXPECT_EQ(FindIndex(v, 9), 2);
  InsertAt(&v, 1, 1);
  EXPECT_THAT(v, ElementsAre(7, 1, 8, 9, 8));
  EraseAt(&v, 0);
  EXPECT_THAT(v, ElementsAre(1, 8, 9, 8));
  EraseElementFromVector<int64_t>(&v, 8);
  EXPECT_THAT(v, ElementsAre(1, 9, 8));
  EXPECT_DEATH(EraseElementFromVector<int64_t>(&v, 5), "");
  EXPECT_THAT(SpanToVector(absl::MakeConstSpan(v).subspan(1)), ElementsAre(9, 8));
}

TEST(Util, Text) {
  const std::vector<int64_t> v = {1, -2};
  EXPECT_EQ(CommaSeparatedString(v), "1, -2");
  EXPECT_EQ(CommaSeparatedString(v, "<", ">"), "<1, -2>");
  EXPECT_EQ(CommaSeparatedString({"a", "b"}), "a, b");
  EXPECT_EQ(VectorString(v), "(1, -2)");
  EXPECT_EQ(VectorString({3}), "(3)");
  EXPECT_EQ(VectorString(std::vector<int>()), "()");
}

TEST(Util, Products) {
  const std::vector<int64_t> none, some = {2, -3, 5}, huge = {int64_t{1} << 62, 4, 7};
  EXPECT_EQ(Product(none), 1);
  EXPECT_EQ(Product(some), -30);
  EXPECT_EQ(Product(huge), 0);  // wraps
  EXPECT_EQ(Product<int>({4, 5}), 20);
  EXPECT_EQ(Product<double>({0.5, 3.0}), 1.5);
  EXPECT_THAT(ElemwiseProduct<int64_t>(some, {1, 2, 3}), ElementsAre(2, -6, 15));
  EXPECT_DEATH(ElemwiseProduct<int64_t>(some, none), "");
}

TEST(Util, IPow) {
  EXPECT_EQ(IPow<int64_t>(2, 0), 1);
  EXPECT_EQ(IPow<int64_t>(0, 0), 1);
  EXPECT_EQ(IPow<int64_t>(-3, 3), -27);
  EXPECT_EQ(IPow<int64_t>(10, 18), 1000000000000000000);
  EXPECT_EQ(IPow<uint8_t>(2, 8), 0);
  for (int64_t base = -5; base <= 5; ++base) {
    int64_t power = 1;
    for (int64_t exponent = 0; exponent < 20; ++exponent, power *= base) EXPECT_EQ(IPow(base, exponent), power);
  }
  static_assert(IPow(3, 4) == 81);
}

TEST(Util, FloorDivMod) {
  EXPECT_THAT(FloorDivMod(-7, 2), Pair(-4, 1));
  EXPECT_THAT(FloorDivMod(7u, 2u), Pair(3, 1));
  for (int a = -10; a <= 10; ++a) {
    for (int b = -4; b <= 4; ++b) {
      if (b == 0) continue;
      const auto [quotient, rest] = FloorDivMod(a, b);
      EXPECT_EQ(quotient * b + rest, a);
      EXPECT_TRUE(b > 0 ? 0 <= rest && rest < b : b < rest && rest <= 0) << a << " / " << b;
    }
  }
}

TEST(Util, ToMixedRadix) {
  EXPECT_THAT(ToMixedRadix(0, {}), ElementsAre());
  EXPECT_THAT(ToMixedRadix(7, {2, 3, 4}), ElementsAre(0, 1, 3));
  EXPECT_THAT(ToMixedRadix(23, {2, 3, 4}), ElementsAre(1, 2, 3));
  EXPECT_THAT(ToMixedRadix(24, {2, 3, 4}), ElementsAre(2, 0, 0));
  EXPECT_THAT(ToMixedRadix(1, {1, 2}), ElementsAre(0, 1));
  EXPECT_DEATH(ToMixedRadix(1, {0, 2}), "");
}

template <typename T>
int SlowSignBits(T value) {
  const int width = std::numeric_limits<T>::digits + 1;
  int count = 1;
  while (count < width && ((value >> (width - 1 - count)) & 1) == ((value >> (width - 1)) & 1)) ++count;
  return count;
}

TEST(Util, Bits) {
  EXPECT_EQ(LsbMask<uint8_t>(0), 0);
  EXPECT_EQ(LsbMask<uint8_t>(3), 7);
  EXPECT_EQ(LsbMask<uint8_t>(8), 255);
  EXPECT_EQ(LsbMask<uint64_t>(64), ~uint64_t{0});
  EXPECT_EQ(KeepLowerBits<uint16_t>(0xabcd, 4), 0xd);
  EXPECT_EQ(KeepLowerBits<uint32_t>(0xabcdabcd, 32), 0xabcdabcd);
  EXPECT_EQ(CountLeadingSignBits(int32_t{0}), 32);
  EXPECT_EQ(CountLeadingSignBits(int32_t{-1}), 32);
  EXPECT_EQ(CountLeadingSignBits(std::numeric_limits<int32_t>::min()), 1);
  EXPECT_EQ(CountLeadingSignBits(std::numeric_limits<int64_t>::max()), 1);
  for (int i = -128; i < 128; ++i) {
    EXPECT_EQ(CountLeadingSignBits(static_cast<int8_t>(i)), SlowSignBits(static_cast<int8_t>(i))) << i;
    EXPECT_EQ(CountLeadingSignBits(static_cast<int64_t>(i)), SlowSignBits(static_cast<int64_t>(i))) << i;
  }
}

}  // namespace
}  // namespace kashi::base
