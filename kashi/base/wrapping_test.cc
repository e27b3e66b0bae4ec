#include "kashi/base/wrapping.h"

#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace kashi::base {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(WrappingTest, ExactWhereTheResultFits) {
  EXPECT_EQ(WrappingMultiply(-6, 7), -42);
  EXPECT_EQ(WrappingAdd(kMax, kMin), -1);
  EXPECT_EQ(WrappingSubtract(kMin, kMin), 0);
  EXPECT_EQ(WrappingRoundUpTo(13, 8), 16);
}

TEST(WrappingTest, ModuloTwoToThe64Elsewhere) {
  EXPECT_EQ(WrappingMultiply(kMax, 2), -2);
  EXPECT_EQ(WrappingMultiply(kMin, 4), 0);
  EXPECT_EQ(WrappingMultiply(kMin, -1), kMin);
  EXPECT_EQ(WrappingAdd(kMax, 1), kMin);
  EXPECT_EQ(WrappingSubtract(kMin, 1), kMax);
  EXPECT_EQ(WrappingRoundUpTo(kMax, 8), kMin);
}

}  // namespace
}  // namespace kashi::base
