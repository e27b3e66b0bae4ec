#include "kashi/hlo/attributes/comparison_util.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <sstream>
#include <vector>

#include "absl/hash/hash.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/types.h"

namespace kashi::hlo {
namespace {

using Direction = Comparison::Direction;
using Order = Comparison::Order;
using Type = Comparison::Type;
using ::testing::ElementsAre;

constexpr Direction kAll[] = {Direction::kEq, Direction::kNe, Direction::kGe,
                              Direction::kGt, Direction::kLe, Direction::kLt};

TEST(ComparisonTest, OrderOfTypes) {
  EXPECT_EQ(Comparison(Direction::kGe, F32).GetOrder(), Order::kPartial);
  EXPECT_EQ(Comparison(Direction::kGe, F8E4M3FN).GetOrder(), Order::kPartial);
  EXPECT_EQ(Comparison(Direction::kEq, C128).GetOrder(), Order::kPartial);
  EXPECT_EQ(Comparison(Direction::kGe, S4).GetOrder(), Order::kTotal);
  EXPECT_EQ(Comparison(Direction::kGe, U64).GetOrder(), Order::kTotal);
  EXPECT_EQ(Comparison(Direction::kGe, PRED).GetOrder(), Order::kTotal);
  EXPECT_TRUE(Comparison(Direction::kGe, BF16, Order::kTotal).IsTotalOrder());
  EXPECT_DEATH(Comparison(Direction::kGe, S32, Order::kPartial), "totally ordered");
  EXPECT_DEATH(Comparison(Direction::kGe, PRED, Order::kPartial), "totally ordered");
  EXPECT_DEATH(Comparison(Direction::kGe, TUPLE), "Unsupported type: TUPLE");
}

TEST(ComparisonTest, Types) {
  for (Type type : {Type::kFloat, Type::kFloatTotalOrder, Type::kSigned, Type::kUnsigned}) {
    EXPECT_EQ(Comparison(Direction::kLt, type).GetType(), type);
  }
  EXPECT_EQ(Comparison(Direction::kLt, Type::kSigned), Comparison(Direction::kLt, S32));
  EXPECT_EQ(Comparison(Direction::kLt, Type::kFloatTotalOrder), Comparison(Direction::kLt, F32, Order::kTotal));
  EXPECT_EQ(Comparison::DefaultComparisonType(PRED), Type::kUnsigned);
  EXPECT_EQ(Comparison::DefaultComparisonType(C64), Type::kFloat);
  EXPECT_EQ(Comparison::DefaultComparisonType(S8), Type::kSigned);
}

TEST(ComparisonTest, Questions) {
  EXPECT_TRUE(Comparison(Direction::kEq, S32).IsEq());
  EXPECT_TRUE(Comparison(Direction::kNe, S32).IsNe());
  EXPECT_TRUE(Comparison(Direction::kGe, S32).IsGe());
  EXPECT_TRUE(Comparison(Direction::kGt, S32).IsGt());
  EXPECT_TRUE(Comparison(Direction::kLt, S32).IsLt());
  EXPECT_TRUE(Comparison(Direction::kLt, S32).IsStandardS32());
  EXPECT_TRUE(Comparison(Direction::kLt, U32).IsStandardU32());
  EXPECT_TRUE(Comparison(Direction::kLt, F32).IsStandardF32());
  EXPECT_TRUE(Comparison(Direction::kLt, F32, Order::kTotal).IsF32TotalOrder());
  EXPECT_FALSE(Comparison(Direction::kLt, F64, Order::kTotal).IsF32TotalOrder());
  EXPECT_TRUE(Comparison(Direction::kLt, U8).IsIntegralPrimitiveType());
  EXPECT_FALSE(Comparison(Direction::kLt, PRED).IsIntegralPrimitiveType());
  EXPECT_TRUE(Comparison(Direction::kLt, F16).IsFloatingPointPrimitiveType());
}

TEST(ComparisonTest, ReflexiveAndAntireflexiveAreWhatComparingSays) {
  const float values[] = {-1.0f, 0.0f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()};
  for (Direction direction : kAll) {
    for (Order order : {Order::kTotal, Order::kPartial}) {
      const Comparison comparison(direction, F32, order);
      const auto holds = [&](float x) { return comparison.Compare(x, x); };
      EXPECT_EQ(comparison.IsReflexive(), std::all_of(std::begin(values), std::end(values), holds)) << comparison;
      EXPECT_EQ(comparison.IsAntireflexive(), std::none_of(std::begin(values), std::end(values), holds)) << comparison;
    }
  }
}

TEST(ComparisonTest, ConverseAndInverseAreWhatComparingSays) {
  for (Direction direction : kAll) {
    const Comparison comparison(direction, S32);
    for (int a : {1, 2, 3}) {
      EXPECT_EQ(comparison.Compare(a, 2), comparison.Converse().Compare(2, a));
      EXPECT_NE(comparison.Compare(a, 2), comparison.Inverse()->Compare(a, 2));
    }
    EXPECT_FALSE(Comparison(direction, F32).Inverse().has_value());
    EXPECT_EQ(Comparison(direction, F32, Order::kTotal).Inverse()->GetOrder(), Order::kTotal);
  }
}

TEST(ComparisonTest, Text) {
  EXPECT_EQ(Comparison(Direction::kGe, F32, Order::kTotal).ToString(), ".GE.F32.TOTALORDER");
  EXPECT_EQ(Comparison(Direction::kLt, BF16).ToString("_", "/", ""), "_LT/BF16PARTIALORDER");
  std::ostringstream out;
  out << Comparison(Direction::kNe, PRED) << " " << Order::kPartial;
  EXPECT_EQ(out.str(), ".NE.PRED.TOTALORDER PARTIALORDER");
  for (Direction direction : kAll) {
    EXPECT_EQ(*StringToComparisonDirection(ComparisonDirectionToString(direction)), direction);
  }
  for (Type type : {Type::kFloat, Type::kFloatTotalOrder, Type::kSigned, Type::kUnsigned}) {
    EXPECT_EQ(*StringToComparisonType(ComparisonTypeToString(type)), type);
  }
  EXPECT_EQ(*StringToComparisonOrder("PARTIALORDER"), Order::kPartial);
  EXPECT_EQ(StringToComparisonDirection("eq").status().message(), "Unknown comparison direction: eq");
  EXPECT_EQ(StringToComparisonType("").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ComparisonTest, PartialOrder) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(Comparison(Direction::kEq, F32).Compare(-0.0f, 0.0f));
  for (Direction direction : kAll) {
    EXPECT_EQ(Comparison(direction, F32).Compare(nan, 1.0f), direction == Direction::kNe);
    EXPECT_EQ(Comparison(direction, F32).Compare(nan, nan), direction == Direction::kNe);
  }
}

// The notable numbers of a format that has them all.
template <typename T>
std::vector<T> InTotalOrder() {
  using Limits = std::numeric_limits<T>;
  return {-Limits::quiet_NaN(),
          -Limits::infinity(),
          -Limits::max(),
          T(-1.0f),
          -Limits::denorm_min(),
          T(-0.0f),
          T(0.0f),
          Limits::denorm_min(),
          T(1.0f),
          Limits::max(),
          Limits::infinity(),
          Limits::quiet_NaN()};
}
template <typename T>
void ExpectOrdered(const std::vector<T>& values) {
  const PrimitiveType type = primitive_util::NativeToPrimitiveType<T>();
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = 0; j < values.size(); ++j) {
      EXPECT_EQ(Comparison(Direction::kLt, type, Order::kTotal).Compare(values[i], values[j]), i < j) << i << " " << j;
      EXPECT_EQ(Comparison(Direction::kEq, type, Order::kTotal).Compare(values[i], values[j]), i == j) << i << " " << j;
    }
  }
}

TEST(ComparisonTest, TotalOrder) {
  ExpectOrdered(InTotalOrder<float>());
  ExpectOrdered(InTotalOrder<double>());
  ExpectOrdered(InTotalOrder<half>());
  ExpectOrdered(InTotalOrder<bfloat16>());
  ExpectOrdered(InTotalOrder<float8_e5m2>());
  ExpectOrdered<float4_e2m1fn>({float4_e2m1fn(-6.0f), float4_e2m1fn(-0.5f), float4_e2m1fn(-0.0f), float4_e2m1fn(0.0f),
                                float4_e2m1fn(0.5f), float4_e2m1fn(6.0f)});
  using Fnuz = float8_e4m3fnuz;
  ExpectOrdered<Fnuz>({std::numeric_limits<Fnuz>::quiet_NaN(), Fnuz(-1.0f), Fnuz(0.0f), Fnuz(0.5f)});
  using E8m0 = float8_e8m0fnu;
  ExpectOrdered<E8m0>({E8m0(0.5f), E8m0(1.0f), std::numeric_limits<E8m0>::quiet_NaN()});
}

TEST(ComparisonTest, OtherTypes) {
  EXPECT_TRUE(Comparison(Direction::kLt, S4).Compare(s4(-8), s4(7)));
  EXPECT_TRUE(Comparison(Direction::kGt, U4).Compare(u4(15), u4(7)));
  EXPECT_TRUE(Comparison(Direction::kGt, PRED).Compare(true, false));
  EXPECT_TRUE(Comparison(Direction::kGt, U64).Compare(~uint64_t{0}, uint64_t{1}));
  EXPECT_TRUE(Comparison(Direction::kNe, C64).Compare(complex64(1, 2), complex64(1, 3)));
  EXPECT_DEATH(Comparison(Direction::kLt, C64).Compare(complex64(1, 2), complex64(1, 3)), "no order");
  EXPECT_TRUE(Comparison(Direction::kLe, S32).GetComparator<int32_t>()(1, 1));
}

TEST(ComparisonTest, EqualityAndHash) {
  const Comparison a(Direction::kLt, F32);
  EXPECT_EQ(a, Comparison(Direction::kLt, F32, Order::kPartial));
  EXPECT_NE(a, Comparison(Direction::kLt, F32, Order::kTotal));
  EXPECT_NE(a, Comparison(Direction::kLe, F32));
  EXPECT_NE(a, Comparison(Direction::kLt, F64));
  EXPECT_EQ(absl::HashOf(a), absl::HashOf(Comparison(Direction::kLt, F32)));
}

TEST(ComparisonTest, LessThanByKey) {
  std::vector<int> values = {-3, 2, 1};
  std::sort(values.begin(), values.end(), LessThanByKey([](int x) { return x * x; }));
  EXPECT_THAT(values, ElementsAre(1, 2, -3));
}

}  // namespace
}  // namespace kashi::hlo
