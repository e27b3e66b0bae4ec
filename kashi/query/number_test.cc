#include "kashi/query/number.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace kashi::query {
namespace {

TEST(NumberTest, WholeDoublesAreIntegers) {
  EXPECT_TRUE(Number(1e6).is_integer());
  EXPECT_EQ(Number(1e6).ToString(), "1000000");
  EXPECT_FALSE(Number(0.5).is_integer());
  EXPECT_FALSE(Number(1e30).is_integer());
  EXPECT_FALSE(Number(std::numeric_limits<double>::infinity()).is_integer());
  EXPECT_FALSE(Number(9223372036854775808.0).is_integer());
  EXPECT_EQ(Number(-9223372036854775808.0).integer(), std::numeric_limits<int64_t>::min());
}

TEST(NumberTest, TextReadsBack) {
  EXPECT_EQ(Number(0.1).ToString(), "0.1");
  EXPECT_EQ(Number(1e30).ToString(), "1e+30");
  EXPECT_EQ(Number(int64_t{-7}).ToString(), "-7");
}

// In ascending order; each pair is compared, so that integers meet doubles which no double holds exactly.
TEST(NumberTest, ComparisonIsATotalOrder) {
  const int64_t big = (int64_t{1} << 53) + 1;
  const std::vector<Number> ascending = {-std::numeric_limits<double>::infinity(),
                                         -1e30,
                                         std::numeric_limits<int64_t>::min(),
                                         int64_t{-2},
                                         -1.5,
                                         int64_t{-1},
                                         int64_t{0},
                                         0.25,
                                         int64_t{1},
                                         big - 1,
                                         big,
                                         big + 1,
                                         std::numeric_limits<int64_t>::max() - 1,
                                         std::numeric_limits<int64_t>::max(),
                                         9223372036854775808.0,
                                         1e30,
                                         std::numeric_limits<double>::infinity(),
                                         std::nan("")};
  for (size_t i = 0; i < ascending.size(); ++i) {
    for (size_t j = 0; j < ascending.size(); ++j) {
      EXPECT_EQ(ascending[i].Compare(ascending[j]), i < j ? -1 : i > j ? 1 : 0) << i << " " << j;
    }
  }
}

}  // namespace
}  // namespace kashi::query
