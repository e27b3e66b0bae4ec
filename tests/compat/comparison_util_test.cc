#include "xla/comparison_util.h"

#include <cstdint>
#include <limits>

#include "xla/hlo/testlib/test.h"
#include "xla/test_helpers.h"
#include "xla/types.h"
#include "xla/xla_data.pb.h"

namespace xla {
namespace {

TEST(Comparison, Orders) {
  EXPECT_EQ(Comparison(Comparison::Direction::kGe, PrimitiveType::BF16).GetOrder(), Comparison::Order::kPartial);
  EXPECT_EQ(Comparison(ComparisonDirection::kGe, PrimitiveType::U32).GetOrder(), ComparisonOrder::kTotal);
  EXPECT_EQ(Comparison(Comparison::Direction::kEq, Comparison::Type::kFloatTotalOrder).GetPrimitiveType(), F32);
  EXPECT_DEATH((void)Comparison(Comparison::Direction::kEq, S32, Comparison::Order::kPartial), "");
}

TEST(Comparison, Text) {
  const Comparison comparison(Comparison::Direction::kGe, PrimitiveType::F32, Comparison::Order::kTotal);
  EXPECT_EQ(comparison.ToString(), ".GE.F32.TOTALORDER");
  EXPECT_EQ(Comparison(Comparison::Direction::kEq, S8).ToString("_1_", "_2_", "_3_"), "_1_EQ_2_S8_3_TOTALORDER");
  TF_ASSERT_OK_AND_ASSIGN(const auto direction, StringToComparisonDirection("LE"));
  EXPECT_EQ(ComparisonDirectionToString(direction), "LE");
  EXPECT_IS_NOT_OK(StringToComparisonDirection("le"));
}

TEST(Comparison, Algebra) {
  const Comparison less(Comparison::Direction::kLt, PrimitiveType::S64);
  EXPECT_FALSE(less.IsReflexive());
  EXPECT_TRUE(less.IsAntireflexive());
  EXPECT_EQ(less.Converse().GetDirection(), Comparison::Direction::kGt);
  EXPECT_EQ(less.Inverse()->GetDirection(), Comparison::Direction::kGe);
  EXPECT_FALSE(Comparison(Comparison::Direction::kLt, F64).Inverse().has_value());
}

TEST(Comparison, Compare) {
  const Comparison total(Comparison::Direction::kLt, F32, Comparison::Order::kTotal);
  EXPECT_TRUE(total.Compare<float>(-0.0f, 0.0f));
  EXPECT_TRUE(total.Compare<float>(std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()));
  EXPECT_TRUE(Comparison(Comparison::Direction::kEq, BF16).Compare<bfloat16>(bfloat16(-0.0f), bfloat16(0.0f)));
  EXPECT_TRUE(Comparison(Comparison::Direction::kGt, U8).Compare<uint8_t>(255, 1));
}

}  // namespace
}  // namespace xla
