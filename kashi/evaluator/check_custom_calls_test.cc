// The calls of StableHLO's dialect `check`.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/evaluator/known_custom_calls.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr float kHuge = std::numeric_limits<float>::infinity();
constexpr float kCheckNan = std::numeric_limits<float>::quiet_NaN();

// The error of a check of two arrays; "" if they pass.
std::string Check(absl::string_view target, const Literal& actual, const Literal& expected,
                  absl::string_view limits = "") {
  const std::string text = absl::Substitute(
      "ENTRY e { a = $0 parameter(0)  b = $1 parameter(1)  c = () custom-call(a, b), custom_call_target=\"$2\", "
      "custom_call_has_side_effect=true$3  ROOT r = $0 copy(a) }",
      ShapeUtil::HumanStringWithLayout(actual.shape()), ShapeUtil::HumanStringWithLayout(expected.shape()), target,
      limits.empty() ? "" : absl::StrCat(", frontend_attributes={", limits, "}"));
  const absl::StatusOr<Literal> result = TryEvaluateText(text, {&actual, &expected});
  return std::string(result.status().message());
}

template <typename T>
Literal Vector(std::initializer_list<T> values) {
  return LiteralUtil::CreateR1<T>(values);
}

// The f32 that is `ulps` representable numbers after 1.
float AfterOne(int ulps) { return 1 + static_cast<float>(ulps) * std::numeric_limits<float>::epsilon(); }

TEST(CheckCustomCallsTest, ExpectEqNamesTheFirstDifference) {
  const Literal x = LiteralUtil::CreateR2<int32_t>({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(Check("check.expect_eq", x, x), "");
  EXPECT_THAT(Check("check.expect_eq", x, LiteralUtil::CreateR2<int32_t>({{1, 2, 3}, {4, -5, -6}})),
              AllOf(HasSubstr("c: check.expect_eq: element {1,1} is 5, but -5 is expected"),
                    HasSubstr("2 of 6 elements differ")));
  EXPECT_THAT(Check("check.expect_eq", LiteralUtil::CreateR0<bool>(true), LiteralUtil::CreateR0<bool>(false)),
              HasSubstr("element {} is true, but false is expected"));
  EXPECT_EQ(Check("check.expect_eq", Vector<float>({}), Vector<float>({})), "");
}

TEST(CheckCustomCallsTest, ExpectEqTakesNansAndZerosAsEqual) {
  EXPECT_EQ(
      Check("check.expect_eq", Vector<float>({kCheckNan, 0.0f, kHuge}), Vector<float>({-kCheckNan, -0.0f, kHuge})), "");
  EXPECT_THAT(Check("check.expect_eq", Vector<float>({1, kCheckNan}), Vector<float>({1, 2})),
              HasSubstr("element {1} is"));
  EXPECT_THAT(Check("check.expect_eq", Vector<complex64>({{1, kCheckNan}, {1, 2}}),
                    Vector<complex64>({{1, kCheckNan}, {1, 3}})),
              HasSubstr("element {1} is (1, 2), but (1, 3) is expected"));
  EXPECT_THAT(Check("check.expect_eq", Vector<bfloat16>({bfloat16(1), bfloat16(2)}),
                    Vector<bfloat16>({bfloat16(1), bfloat16(3)})),
              HasSubstr("element {1} is 2, but 3"));
}

TEST(CheckCustomCallsTest, ExpectAlmostEqHasAnAbsoluteTolerance) {
  const Literal one = Vector<float>({1, kCheckNan, kHuge, -kHuge});
  EXPECT_EQ(Check("check.expect_almost_eq", one, Vector<float>({1.00009f, kCheckNan, kHuge, -kHuge})), "");
  EXPECT_THAT(Check("check.expect_almost_eq", one, Vector<float>({1.0002f, kCheckNan, kHuge, -kHuge})),
              AllOf(HasSubstr("element {0} is 1, but 1.0002 is expected"), HasSubstr("tolerance 0.0001")));
  EXPECT_EQ(Check("check.expect_almost_eq", one, Vector<float>({1.4f, kCheckNan, kHuge, -kHuge}), "tolerance=\"0.5\""),
            "");
  EXPECT_THAT(Check("check.expect_almost_eq", one, Vector<float>({1, kCheckNan, kHuge, kHuge}), "tolerance=\"0.5\""),
              HasSubstr("element {3} is -inf, but inf is expected"));
  EXPECT_THAT(Check("check.expect_almost_eq", one, Vector<float>({1, 1, kHuge, -kHuge}), "tolerance=\"1e9\""),
              HasSubstr("element {1} is nan"));
  EXPECT_EQ(Check("check.expect_almost_eq", Vector<complex128>({{1, 2}}), Vector<complex128>({{1, 2.00001}})), "");
  EXPECT_THAT(Check("check.expect_almost_eq", Vector<complex128>({{1, 2}}), Vector<complex128>({{1, 2.1}})),
              HasSubstr("element {0} is (1, 2)"));
  EXPECT_THAT(Check("check.expect_almost_eq", Vector<int8_t>({1}), Vector<int8_t>({2}), "tolerance=\"5\""),
              HasSubstr("element {0} is 1, but 2"));
  EXPECT_THAT(Check("check.expect_almost_eq", one, one, "tolerance=\"much\""),
              HasSubstr("tolerance=\"much\" is not a number"));
}

TEST(CheckCustomCallsTest, ExpectCloseCountsUnitsInTheLastPlace) {
  const Literal x = Vector<float>({1, -0.0f, kCheckNan, kHuge});
  EXPECT_EQ(Check("check.expect_close", Vector<float>({AfterOne(3), 0, kCheckNan, kHuge}), x), "");
  EXPECT_THAT(Check("check.expect_close", Vector<float>({AfterOne(4), 0, kCheckNan, kHuge}), x),
              AllOf(HasSubstr("element {0} is"), HasSubstr("max_ulp_difference 3"), HasSubstr("1 of 4")));
  EXPECT_EQ(
      Check("check.expect_close", Vector<float>({AfterOne(4), 0, kCheckNan, kHuge}), x, "max_ulp_difference=\"4\""),
      "");
  EXPECT_THAT(Check("check.expect_close", Vector<float>({1, 0, kCheckNan, std::numeric_limits<float>::max()}), x),
              HasSubstr("element {3}"));
  const float smallest = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(Check("check.expect_close", Vector<float>({smallest}), Vector<float>({-smallest}),
                  "max_ulp_difference=\"2\",min_ulp_difference=\"2\""),
            "");
  EXPECT_THAT(
      Check("check.expect_close", Vector<float>({smallest}), Vector<float>({-smallest}), "max_ulp_difference=\"1\""),
      HasSubstr("max_ulp_difference 1"));
  EXPECT_THAT(Check("check.expect_close", x, x, "min_ulp_difference=\"1\""),
              HasSubstr("at most 0 units in the last place apart, but min_ulp_difference is 1"));
  const double lowest = std::numeric_limits<double>::lowest();
  EXPECT_THAT(Check("check.expect_close", Vector<double>({lowest}), Vector<double>({-lowest}),
                    "max_ulp_difference=\"18428729675200069629\""),
              HasSubstr("element {0}"));
  EXPECT_EQ(Check("check.expect_close", Vector<double>({lowest}), Vector<double>({-lowest}),
                  "max_ulp_difference=\"18437736874454810622\""),
            "");
  EXPECT_EQ(Check("check.expect_close", Vector<complex64>({{1, AfterOne(2)}}), Vector<complex64>({{1, 1}})), "");
  EXPECT_EQ(Check("check.expect_close", Vector<int32_t>({1}), Vector<int32_t>({1})), "");
  EXPECT_THAT(Check("check.expect_close", Vector<int32_t>({1}), Vector<int32_t>({2})), HasSubstr("1 of 1 element"));
  EXPECT_THAT(Check("check.expect_close", x, x, "max_ulp_difference=\"-1\""),
              HasSubstr("is not a number of 0 or more"));
}

TEST(CheckCustomCallsTest, EqGivesWhetherAllAreEqual) {
  const auto eq = [](const Literal& x, const Literal& y) {
    const std::vector<const Literal*> arguments = {&x, &y};
    return EvaluateText(
        "ENTRY e { a = f32[2] parameter(0)  b = f32[2] parameter(1)  "
        "ROOT r = pred[] custom-call(a, b), custom_call_target=\"check.eq\" }",
        arguments);
  };
  EXPECT_EQ(eq(Vector<float>({1, kCheckNan}), Vector<float>({1, kCheckNan})), LiteralUtil::CreateR0<bool>(true));
  EXPECT_EQ(eq(Vector<float>({1, 2}), Vector<float>({1, 3})), LiteralUtil::CreateR0<bool>(false));
}

TEST(CheckCustomCallsTest, OtherShapesAreAnError) {
  for (const char* target : {"check.expect_eq", "check.expect_almost_eq", "check.expect_close"}) {
    EXPECT_THAT(Check(target, Vector<float>({1, 2}), Vector<float>({1})), HasSubstr("of these shapes"));
    EXPECT_TRUE(IsKnownCustomCall(target));
  }
}

}  // namespace
}  // namespace kashi::evaluator
