#include "kashi/partition/factor_axes.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/partition/partition_rules.h"
#include "kashi/partition/partition_testing.h"

namespace kashi::partition {
namespace {

std::string TextOf(const PartitionRule& rule, const std::vector<int>& dims) {
  return absl::StrJoin(dims, " ", [&rule](std::string* out, int factor) {
    if (factor == kWhole) return absl::StrAppend(out, "-");
    const PartitionFactor& f = rule.factors[factor];
    absl::StrAppend(out, f.digits.empty() ? absl::StrCat(factor) : absl::StrJoin(f.digits, "*"));
    if (f.divisor != 0) absl::StrAppend(out, "%", f.divisor);
  });
}

// The factors of the operand's dimensions, and those of the result's; digits as 0*1, and %k where k is the divisor.
std::string RuleOf(absl::Span<const int64_t> from, absl::Span<const int64_t> to) {
  const auto operand = HloInstruction::CreateParameter(0, ShapeUtil::MakeShape(F32, from), "x");
  const auto reshape = HloInstruction::CreateReshape(ShapeUtil::MakeShape(F32, to), operand.get());
  const PartitionRule rule = *ReshapeRule(*reshape);
  return absl::StrCat(TextOf(rule, rule.operands[0]), " to ", TextOf(rule, rule.results[0]));
}

TEST(FactorAxesTest, FactorsOfReshapes) {
  EXPECT_EQ(RuleOf({5, 7}, {5, 7}), "0 1 to 0 1");
  EXPECT_EQ(RuleOf({32}, {4, 8}), "0*1 to 0%4 1%8");
  EXPECT_EQ(RuleOf({4, 8}, {32}), "0%4 1%8 to 0*1");
  EXPECT_EQ(RuleOf({8, 16}, {16, 8}), "0%8 1*2 to 0*1 2%8");
  EXPECT_EQ(RuleOf({6, 4}, {4, 6}), "0%2 - to 0%2 -");
  EXPECT_EQ(RuleOf({2, 6, 4}, {8, 6}), "0%2 1%2 - to 0*1 -");
  EXPECT_EQ(RuleOf({1, 4, 1}, {4}), "- 0 - to 0");
  EXPECT_EQ(RuleOf({3, 1, 4}, {2, 6}), "- - - to - -");
  EXPECT_EQ(RuleOf({2, 3, 5}, {6, 5}), "0%2 1%3 2 to 0*1 2");
}

class DigitsTest : public testing::Test {
 protected:
  // The result of a reshape of f32[32] to f32[4,8] and its operand, on eight devices along axes 0, 1 and 2.
  DigitsTest() {
    factors_ = {rule_.Add(4), rule_.Add(8)};
    for (const int factor : factors_) rule_.factors[factor].divisor = rule_.factors[factor].size;
    all_ = rule_.Add(32);
    rule_.factors[all_].digits = factors_;
  }
  std::string Text(const std::optional<AxisList>& list) {
    return list.has_value() ? absl::StrCat("{", absl::StrJoin(*list, ","), "}") : "none";
  }
  std::string CutForDigit(int digit, const AxisList& now, const AxisList& wanted) {
    return Text(CutFor(axes_, rule_, factors_[digit], all_, now, wanted));
  }
  std::string AxesOfDigit(int digit, const AxisList& list) {
    return Text(AxesIn(axes_, rule_, factors_[digit], all_, list));
  }

  const DeviceAxes axes_{8, {}};
  PartitionRule rule_;
  std::vector<int> factors_;
  int all_ = -1;
};

TEST_F(DigitsTest, FirstAxesAreThoseOfTheFirstDigit) {
  EXPECT_EQ(AxesOfDigit(0, {0, 1, 2}), "{0,1}");
  EXPECT_EQ(AxesOfDigit(1, {0, 1, 2}), "{2}");
  EXPECT_EQ(AxesOfDigit(0, {2}), "{2}");
  EXPECT_EQ(AxesOfDigit(1, {2}), "{}");
  EXPECT_EQ(Text(AxesIn(axes_, rule_, factors_[0], factors_[1], {0})), "none");
  EXPECT_EQ(Text(AxesIn(axes_, rule_, factors_[1], factors_[1], {0})), "{0}");
  EXPECT_EQ(Text(AxesIn(axes_, rule_, factors_[1], kWhole, {})), "none");
  EXPECT_EQ(Text(Allowed(axes_, rule_, all_, {0, 1, 2})), "{0,1,2}");
}

TEST_F(DigitsTest, TheNextDigitIsCutOnlyWhereTheFirstIsSingleElements) {
  EXPECT_EQ(CutForDigit(0, {}, {0}), "{0}");
  EXPECT_EQ(CutForDigit(1, {0, 1}, {2}), "{0,1,2}");
  EXPECT_EQ(CutForDigit(1, {0}, {2}), "none");
  EXPECT_EQ(CutForDigit(1, {}, {2}), "none");
  EXPECT_EQ(Text(CutFor(axes_, rule_, factors_[0], factors_[1], {}, {2})), "none");
}

// A dimension that is cut becomes two that are cut, and back.
TEST(ReshapeTest, BothDimensionsAreCut) {
  const auto reshape = [](absl::string_view from, absl::string_view to, absl::string_view said,
                          absl::string_view of_result) {
    return absl::StrCat("HloModule m, num_partitions=8\nENTRY e { x = f32[", from, "] parameter(0), sharding=", said,
                        "\nROOT y = f32[", to, "] reshape(x)", of_result, " }");
  };
  constexpr absl::string_view kBoth = ", sharding={devices=[4,2]<=[8]}";
  const std::string split = reshape("32", "4,8", "{devices=[8]<=[8]}", kBoth);
  ExpectSame(split);
  EXPECT_EQ(CollectivesOf(split), "");
  const std::string merged = reshape("4,8", "32", "{devices=[4,2]<=[8]}", ", sharding={devices=[8]<=[8]}");
  ExpectSame(merged);
  EXPECT_EQ(CollectivesOf(merged), "");
  // Shardings spread both ways.
  EXPECT_EQ((*PartitionProgram(*ReadModule(reshape("32", "4,8", "{devices=[8]<=[8]}", ""))))->result_shape().ToString(),
            "f32[1,4]");
  EXPECT_EQ(
      (*PartitionProgram(*ReadModule(reshape("4,8", "32", "{devices=[4,2]<=[8]}", ""))))->result_shape().ToString(),
      "f32[4]");
  const std::string three = reshape("16,4", "2,4,8", "{devices=[8,1]<=[8]}", ", sharding={devices=[2,4,1]<=[8]}");
  ExpectSame(three);
  EXPECT_EQ(CollectivesOf(three), "");
  // Parts of both that are no ranges of the one dimension.
  for (const absl::string_view sharding :
       {"{devices=[2,4]<=[8]}", "{devices=[1,8]<=[8]}", "{devices=[2,2,2]<=[8] last_tile_dim_replicate}"}) {
    ExpectSame(reshape("32", "4,8", "{devices=[8]<=[8]}", absl::StrCat(", sharding=", sharding)));
    ExpectSame(reshape("4,8", "32", sharding, ", sharding={devices=[8]<=[8]}"));
    ExpectSame(reshape("4,8", "32", sharding, ""));
  }
}

}  // namespace
}  // namespace kashi::partition
