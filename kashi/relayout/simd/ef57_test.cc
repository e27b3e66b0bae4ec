#include "kashi/relayout/simd/highway_targets.h"  // before Highway

#include "kashi/relayout/simd/ef57.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "hwy/highway.h"

namespace kashi::relayout {
namespace {

struct Pair {
  float hi, lo;
};

Pair Convert(double value) {
  Pair pair;
  ConvertF64ToEf57(&value, &pair, 1);
  return pair;
}

TEST(Ef57Test, WhatFitsAFloatHasNoRest) {
  for (double value : {0.0, 1.0, -2.5, 16777216.0, 0x1p100}) {
    EXPECT_EQ(Convert(value).hi, value);
    EXPECT_EQ(Convert(value).lo, 0.0f) << value;
  }
  EXPECT_TRUE(std::signbit(Convert(-0.0).hi));
}

TEST(Ef57Test, TheSumIsTheDouble) {
  EXPECT_EQ(double{Convert(16777217.0).hi}, 16777216.0);  // to even
  EXPECT_EQ(double{Convert(16777217.0).lo}, 1.0);
  EXPECT_EQ(double{Convert(16777219.0).hi}, 16777220.0);
  EXPECT_EQ(double{Convert(16777219.0).lo}, -1.0);
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(0, 1e10);
  for (int i = 0; i < 1000; ++i) {
    const double value = normal(random);
    const Pair pair = Convert(value);
    EXPECT_EQ(pair.hi, static_cast<float>(value));
    EXPECT_LE(std::abs(double{pair.hi} + double{pair.lo} - value), std::abs(value) * std::ldexp(1.0, -48)) << value;
  }
}

TEST(Ef57Test, WhatIsNotFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (double value : {infinity, -infinity, 1e300, -1e39}) {
    EXPECT_EQ(double{Convert(value).hi}, std::copysign(infinity, value));
    EXPECT_EQ(Convert(value).lo, 0.0f);
  }
  EXPECT_TRUE(std::isnan(Convert(std::numeric_limits<double>::quiet_NaN()).hi));
  EXPECT_EQ(Convert(std::numeric_limits<double>::quiet_NaN()).lo, 0.0f);
}

// Any count, misaligned, and in place: nothing is written beyond.
void CheckRow(int64_t count) {
  std::vector<double> doubles(count);
  for (int64_t i = 0; i < count; ++i) {
    doubles[i] = i % 7 == 3 ? std::numeric_limits<double>::infinity() : 0.1 * static_cast<double>(i + count);
  }
  std::string bytes(8 * count + 2, 'x');
  char* row = &bytes[1];
  if (count > 0) std::memcpy(row, doubles.data(), 8 * count);
  ConvertF64ToEf57(row, row, count);
  for (int64_t i = 0; i < count; ++i) {
    const Pair expected{static_cast<float>(doubles[i]),
                        std::isinf(doubles[i]) ? 0 : static_cast<float>(doubles[i] - static_cast<float>(doubles[i]))};
    ASSERT_EQ(std::memcmp(row + 8 * i, &expected, 8), 0) << i << " of " << count;
  }
  EXPECT_EQ(bytes.front(), 'x');
  EXPECT_EQ(bytes.back(), 'x');
}

TEST(Ef57Test, RowsOnAllTargets) {
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    for (int64_t count = 0; count < 100; ++count) CheckRow(count);
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace
}  // namespace kashi::relayout
