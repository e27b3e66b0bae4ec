#include "kashi/literal/literal_comparison.h"

#include <cmath>
#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_parser.h"
#include "kashi/literal/literal_parser.h"

namespace kashi {
namespace literal_comparison {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Literal L(absl::string_view shape, absl::string_view text) {
  return ParseLiteral(text, ParseShape(shape).value()).value();
}

std::string Message(const absl::Status& status) { return std::string(status.message()); }

CompareStatistics Statistics(const Literal& expected, const Literal& actual) {
  return Compare(expected, actual, ErrorSpec(0)).value();
}

TEST(LiteralComparisonTest, EqualShapesIgnoresLayoutsOnly) {
  const auto equal = [](absl::string_view a, absl::string_view b) {
    return EqualShapes(ParseShape(a).value(), ParseShape(b).value()).ok();
  };
  EXPECT_TRUE(equal("f32[2,3]{0,1}", "f32[2,3]{1,0:T(8,128)}"));
  EXPECT_TRUE(equal("(f32[],token[])", "(f32[],token[])"));
  EXPECT_FALSE(equal("f32[2]", "f32[3]"));
  EXPECT_FALSE(equal("f32[2]", "s32[2]"));
  EXPECT_FALSE(equal("f32[2]", "f32[2,1]"));
  EXPECT_FALSE(equal("(f32[])", "f32[]"));
  EXPECT_FALSE(equal("(f32[])", "(f32[],f32[])"));
  EXPECT_FALSE(equal("(f32[],(s32[]))", "(f32[],(u32[]))"));
}

TEST(LiteralComparisonTest, EqualComparesFloatsByTheirBits) {
  EXPECT_TRUE(Equal(L("f32[2]", "{nan,1}"), L("f32[2]", "{nan,1}")).ok());
  EXPECT_FALSE(Equal(L("f32[2]", "{nan,1}"), L("f32[2]", "{nan(0x1),1}")).ok());
  EXPECT_FALSE(Equal(L("f32[]", "0"), L("f32[]", "-0.0")).ok());
  EXPECT_TRUE(Equal(L("s32[2,2]{0,1}", "{{1,2},{3,4}}"), L("s32[2,2]", "{{1,2},{3,4}}")).ok());
  EXPECT_FALSE(Equal(L("s32[2]", "{1,2}"), L("s32[3]", "{1,2,3}")).ok());
}

TEST(LiteralComparisonTest, EqualTellsWhatDiffers) {
  const std::string message =
      Message(Equal(L("(s32[],f16[2,2])", "(1,{{1,2},{3,4}})"), L("(s32[],f16[2,2])", "(1,{{1,2},{3.5,4}})")));
  EXPECT_THAT(message, HasSubstr("1 of 4 elements (25.0000%) are wrong in f16[2,2] at {1}"));
  EXPECT_THAT(message, HasSubstr("[1,0] expected 3, actual 3.5"));
  EXPECT_THAT(message, HasSubstr("expected: (\ns32[] 1,"));
}

TEST(LiteralComparisonTest, NearWantsBothBoundsBroken) {
  const Literal expected = L("f32[2]", "{100,1}");
  const Literal actual = L("f32[2]", "{101,1}");
  EXPECT_TRUE(Near(expected, actual, ErrorSpec(1)).ok());
  EXPECT_TRUE(Near(expected, actual, ErrorSpec(0, 0.02)).ok());
  EXPECT_FALSE(Near(expected, actual, ErrorSpec(0.5, 0.005)).ok());
  EXPECT_THAT(Message(Near(expected, actual, ErrorSpec(0.5, 0.005))), HasSubstr("bounds: abs 0.5, rel 0.005"));
  EXPECT_THAT(Message(Near(expected, actual, ErrorSpec(0.5))), Not(HasSubstr("largest relative errors")));
  EXPECT_THAT(Message(Near(expected, actual, ErrorSpec(0.5), true)), HasSubstr("largest relative errors"));
  EXPECT_FALSE(Near(L("s32[]", "1"), L("s32[]", "2"), ErrorSpec(5)).ok());
}

TEST(LiteralComparisonTest, NansAndInfinities) {
  const Literal nan = L("f32[]", "nan");
  const Literal one = L("f32[]", "1");
  EXPECT_TRUE(Near(nan, L("f32[]", "-nan(0x5)"), ErrorSpec(0)).ok());
  EXPECT_FALSE(Near(nan, one, ErrorSpec(1e9, 1e9)).ok());
  EXPECT_FALSE(Near(one, nan, ErrorSpec(1e9, 1e9)).ok());
  EXPECT_TRUE(Near(nan, one, ErrorSpec(0, 0, /*relaxed_nans=*/true)).ok());
  EXPECT_FALSE(Near(one, nan, ErrorSpec(0, 0, /*relaxed_nans=*/true)).ok());
  ErrorSpec bits(0);
  bits.all_nans_are_equivalent = false;
  EXPECT_FALSE(Near(nan, L("f32[]", "nan(0x5)"), bits).ok());

  const Literal infinity = L("f32[]", "inf");
  const Literal largest = L("f32[]", "3.40282347e+38");
  EXPECT_TRUE(Near(infinity, infinity, ErrorSpec(0)).ok());
  EXPECT_FALSE(Near(largest, infinity, ErrorSpec(1, 1)).ok());
  ErrorSpec fewer(0, 1e-3);
  fewer.fewer_infs_ok = true;
  EXPECT_TRUE(Near(largest, infinity, fewer).ok());
  EXPECT_FALSE(Near(infinity, largest, fewer).ok());
}

TEST(LiteralComparisonTest, LowPrecisionCountsNumbersBetween) {
  ErrorSpec spec(0);
  spec.low_precision_fp_error_spec = {F8E4M3FN, 1};
  EXPECT_TRUE(Near(L("f32[]", "1"), L("f32[]", "1.125"), spec).ok());
  EXPECT_FALSE(Near(L("f32[]", "1"), L("f32[]", "1.25"), spec).ok());
}

TEST(LiteralComparisonTest, Complex) {
  EXPECT_TRUE(Near(L("c64[]", "(3,4)"), L("c64[]", "(3,4.5)"), ErrorSpec(0, 0.11)).ok());
  EXPECT_FALSE(Near(L("c64[]", "(3,4)"), L("c64[]", "(3,4.5)"), ErrorSpec(0, 0.09)).ok());
  EXPECT_FALSE(Near(L("c64[]", "(3,nan)"), L("c64[]", "(3,4)"), ErrorSpec(9, 9)).ok());
}

TEST(LiteralComparisonTest, Statistics) {
  const CompareStatistics same = Statistics(L("f32[3]", "{1,nan,-0.0}"), L("f32[3]", "{1,nan(0x1),0}"));
  EXPECT_EQ(same.mismatches, 0);
  EXPECT_EQ(same.max_ulp, 0);

  const CompareStatistics two = Statistics(L("(s32[],f32[2,2])", "(1,{{1,2},{0,4}})"),
                                           L("(s32[],f32[2,2])", "(1,{{1,2.00000024},{-1.4013e-45,4}})"));
  EXPECT_EQ(two.elements, 5);
  EXPECT_EQ(two.mismatches, 2);
  EXPECT_FLOAT_EQ(two.max_abs_error, 2.3841858e-07f);
  EXPECT_EQ(two.max_rel_error, std::numeric_limits<double>::infinity());
  EXPECT_EQ(two.max_ulp, 1);
  EXPECT_THAT(two.first_mismatch_leaf, ElementsAre(1));
  EXPECT_THAT(two.first_mismatch_index, ElementsAre(0, 1));
  EXPECT_EQ(ToString(two), "2 of 5 elements differ; max abs 2.38419e-07, max rel inf, max ulp 1; first at {1}[0,1]");

  EXPECT_EQ(Statistics(L("u64[]", "18446744073709551615"), L("u64[]", "0")).max_ulp, ~uint64_t{0});
  EXPECT_EQ(Statistics(L("s64[]", "-9223372036854775808"), L("s64[]", "9223372036854775807")).max_ulp, ~uint64_t{0});
  EXPECT_EQ(Statistics(L("f32[]", "nan"), L("f32[]", "1")).nan_mismatches, 1);
  EXPECT_EQ(Statistics(L("f16[]", "-1"), L("f16[]", "1")).max_ulp, 2 * 0x3c00);
}

TEST(LiteralComparisonTest, StatisticsTellWhatWasNotCompared) {
  const CompareStatistics none = Statistics(L("f32[3]", "{nan,nan,nan}"), L("f32[3]", "{nan,-nan,nan(0x1)}"));
  EXPECT_EQ(none.mismatches, 0);
  EXPECT_EQ(none.nan_matches, 3);
  EXPECT_EQ(none.compared(), 0);
  EXPECT_TRUE(none.is_all_nan());
  EXPECT_FALSE(none.is_constant);
  EXPECT_EQ(ToString(none), "3 of 3 elements are NaN on both sides: nothing was compared");

  // Also if both sides are the same bytes.
  const CompareStatistics some = Statistics(L("f32[3]", "{nan,inf,2}"), L("f32[3]", "{nan,inf,2}"));
  EXPECT_EQ(some.nan_matches, 1);
  EXPECT_EQ(some.infinite_matches, 1);
  EXPECT_EQ(some.compared(), 2);
  EXPECT_FALSE(some.is_all_nan());
  EXPECT_EQ(
      ToString(some),
      "0 of 3 elements differ; max abs 0, max rel 0, max ulp 0; NaN on both sides 1, compared 2; infinite on both "
      "sides 1");

  // A NaN on one side is a mismatch, and so are infinities of different signs.
  const CompareStatistics wrong = Statistics(L("f32[3]", "{nan,inf,nan}"), L("f32[3]", "{nan,-inf,1}"));
  EXPECT_EQ(wrong.mismatches, 2);
  EXPECT_EQ(wrong.nan_matches, 1);
  EXPECT_EQ(wrong.infinite_matches, 0);

  EXPECT_EQ(Statistics(L("c64[2]", "{(1,nan),(inf,1)}"), L("c64[2]", "{(1,nan),(inf,1)}")).nan_matches, 1);
  EXPECT_EQ(Statistics(L("c64[2]", "{(1,nan),(inf,1)}"), L("c64[2]", "{(1,nan),(inf,1)}")).infinite_matches, 1);
  EXPECT_EQ(Statistics(L("f8e4m3fn[2]", "{nan,1}"), L("f8e4m3fn[2]", "{nan,1}")).nan_matches, 1);
  EXPECT_EQ(Statistics(L("s32[2]", "{1,2}"), L("s32[2]", "{1,2}")).nan_matches, 0);
}

TEST(LiteralComparisonTest, StatisticsTellConstantsAndNoElements) {
  const CompareStatistics zeros = Statistics(L("(f32[2],s8[1])", "({0,0},{0})"), L("(f32[2],s8[1])", "({0,0},{0})"));
  EXPECT_TRUE(zeros.is_constant);
  EXPECT_EQ(ToString(zeros), "0 of 3 elements differ; max abs 0, max rel 0, max ulp 0; all elements are equal");
  EXPECT_FALSE(Statistics(L("f32[2]", "{0,1}"), L("f32[2]", "{0,1}")).is_constant);
  EXPECT_FALSE(Statistics(L("f32[1]", "{0}"), L("f32[1]", "{0}")).is_constant);
  EXPECT_FALSE(Statistics(L("f32[2]", "{1,1}"), L("f32[2]", "{1,2}")).is_constant);
  const CompareStatistics empty = Statistics(L("f32[0]", "{}"), L("f32[0]", "{}"));
  EXPECT_FALSE(empty.is_all_nan());
  EXPECT_EQ(ToString(empty), "no elements: nothing was compared");
}

TEST(LiteralComparisonTest, CallbackGetsTheWrongElements) {
  int calls = 0;
  const MiscompareCallback callback = [&](const LiteralSlice& expected, const LiteralSlice& actual,
                                          const LiteralSlice& mismatches, const ShapeIndex& index,
                                          const ErrorBuckets& buckets) {
    ++calls;
    EXPECT_EQ(expected.ToStringOneline(), "f32[2] {1, 2}");
    EXPECT_EQ(actual.ToStringOneline(), "f32[2] {1, 2.5}");
    EXPECT_EQ(mismatches.ToStringOneline(), "pred[2] {0, 1}");
    EXPECT_THAT(index, ElementsAre(1));
    EXPECT_THAT(buckets.abs_error_buckets, ElementsAre(0, 0, 0, 0, 1, 0));
  };
  EXPECT_FALSE(
      Near(L("(s32[],f32[2])", "(1,{1,2})"), L("(s32[],f32[2])", "(1,{1,2.5})"), ErrorSpec(0.1), false, callback).ok());
  EXPECT_EQ(calls, 1);
}

TEST(LiteralComparisonTest, DynamicSizes) {
  Literal three(ParseShape("s32[<=3]").value());
  three.PopulateR1<int32_t>({1, 2, 3});
  Literal two = three.Clone();
  two.SetDynamicSize(0, 2);
  EXPECT_FALSE(Equal(three, two).ok());
  EXPECT_FALSE(EqualDynamicShapesAndDimensions(three, two).ok());
  three.SetDynamicSize(0, 2);
  three.Set<int32_t>({2}, 99);
  EXPECT_TRUE(Equal(three, two).ok());
  EXPECT_TRUE(EqualDynamicShapesAndDimensions(three, two).ok());
  EXPECT_TRUE(Equal(L("s32[3]", "{1,2,3}"), L("s32[3]", "{1,2,3}")).ok());
  EXPECT_FALSE(EqualDynamicShapesAndDimensions(two, L("s32[3]", "{1,2,3}")).ok());
}

TEST(LiteralComparisonTest, LongLiteralsAreNotPrinted) {
  EXPECT_EQ(ToStringTruncated(Literal::CreateFromShape(ParseShape("f32[1000]").value())),
            "f32[1000] of 1,000 elements");
  EXPECT_EQ(ToStringTruncated(L("s32[]", "1")), "s32[] 1");
}

}  // namespace
}  // namespace literal_comparison
}  // namespace kashi
