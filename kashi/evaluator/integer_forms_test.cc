#include "kashi/evaluator/integer_forms.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace kashi::evaluator {
namespace {

using FormId = IntegerForms::Id;

std::string RangeText(const IntegerForms& forms, FormId id) {
  if (id == IntegerForms::kNone) return "none";
  const IntegerRange range = forms.RangeOf(id);
  return absl::StrCat(range.low, "..", range.high);
}

TEST(IntegerFormsTest, SumsKeepHowValuesHangTogether) {
  IntegerForms forms;
  const FormId n = forms.Unknown({0, 10});
  const FormId m = forms.Unknown({2, 3});
  const auto apply = [&](HloOpcode opcode, std::vector<FormId> x) { return forms.Apply(opcode, S32, x); };
  const FormId difference = apply(HloOpcode::kSubtract, {m, n});
  EXPECT_EQ(RangeText(forms, difference), "-8..3");
  EXPECT_EQ(RangeText(forms, apply(HloOpcode::kAdd, {difference, n})), "2..3");
  EXPECT_EQ(RangeText(forms, apply(HloOpcode::kAdd, {difference, difference})), "-16..6");
  EXPECT_EQ(RangeText(forms, apply(HloOpcode::kSubtract, {n, n})), "0..0");
  EXPECT_EQ(RangeText(forms, apply(HloOpcode::kMultiply, {n, forms.Constant(-2)})), "-20..0");
  EXPECT_EQ(RangeText(forms, forms.Compare(ComparisonDirection::kGe, n, n)), "1..1");
  EXPECT_EQ(RangeText(forms, forms.Compare(ComparisonDirection::kLt, n, m)), "0..1");
  EXPECT_EQ(RangeText(forms, forms.Compare(ComparisonDirection::kLt, m, forms.Constant(4))), "1..1");
}

// Every rule against all pairs of numbers of the two ranges.
TEST(IntegerFormsTest, RangesHoldEveryResultAndAreNoneOfAnother) {
  const std::vector<IntegerRange> ranges = {{-3, 2}, {0, 4}, {1, 3}, {-5, -2}, {2, 2}, {0, 0}};
  struct Rule {
    HloOpcode opcode;
    int64_t (*function)(int64_t, int64_t);
    bool divides;
  };
  const std::vector<Rule> rules = {
      {HloOpcode::kAdd, [](int64_t x, int64_t y) { return x + y; }, false},
      {HloOpcode::kSubtract, [](int64_t x, int64_t y) { return x - y; }, false},
      {HloOpcode::kMultiply, [](int64_t x, int64_t y) { return x * y; }, false},
      {HloOpcode::kDivide, [](int64_t x, int64_t y) { return x / y; }, true},
      {HloOpcode::kRemainder, [](int64_t x, int64_t y) { return x % y; }, true},
      {HloOpcode::kMaximum, [](int64_t x, int64_t y) { return std::max(x, y); }, false},
      {HloOpcode::kMinimum, [](int64_t x, int64_t y) { return std::min(x, y); }, false},
      {HloOpcode::kAbs, [](int64_t x, int64_t) { return std::abs(x); }, false},
      {HloOpcode::kNegate, [](int64_t x, int64_t) { return -x; }, false},
      {HloOpcode::kNot, [](int64_t x, int64_t) { return ~x; }, false},
      {HloOpcode::kSign, [](int64_t x, int64_t) { return int64_t{x > 0} - int64_t{x < 0}; }, false},
  };
  IntegerForms forms;
  for (const Rule& rule : rules) {
    const bool is_unary = rule.opcode == HloOpcode::kAbs || rule.opcode == HloOpcode::kNegate ||
                          rule.opcode == HloOpcode::kNot || rule.opcode == HloOpcode::kSign;
    for (const IntegerRange a : ranges) {
      for (const IntegerRange b : ranges) {
        std::vector<FormId> operands = {forms.Unknown(a)};
        if (!is_unary) operands.push_back(forms.Unknown(b));
        const FormId id = forms.Apply(rule.opcode, S32, operands);
        if (id == IntegerForms::kNone) {
          EXPECT_TRUE(rule.divides && (b.low < 1)) << HloOpcodeString(rule.opcode);
          continue;
        }
        const IntegerRange range = forms.RangeOf(id);
        int64_t low = range.high;
        int64_t high = range.low;
        for (int64_t x = a.low; x <= a.high; ++x) {
          for (int64_t y = b.low; y <= b.high; ++y) {
            if (rule.divides && y == 0) continue;
            low = std::min(low, rule.function(x, y));
            high = std::max(high, rule.function(x, y));
          }
        }
        const std::string what = absl::StrCat(HloOpcodeString(rule.opcode), " of ", a.low, "..", a.high, " and ", b.low,
                                              "..", b.high, ": ", RangeText(forms, id));
        EXPECT_LE(range.low, low) << what;
        EXPECT_GE(range.high, high) << what;
        if (rule.opcode == HloOpcode::kRemainder) continue;  // may be wider
        EXPECT_EQ(range.low, low) << what;
        EXPECT_EQ(range.high, high) << what;
      }
    }
  }
}

TEST(IntegerFormsTest, WhatMayWrapHasNoForm) {
  IntegerForms forms;
  const FormId n = forms.Unknown({0, 100});
  const FormId large = forms.Constant(std::numeric_limits<int64_t>::max());
  EXPECT_EQ(RangeText(forms, forms.Apply(HloOpcode::kAdd, S8, {n, forms.Constant(27)})), "27..127");
  EXPECT_EQ(RangeText(forms, forms.Apply(HloOpcode::kAdd, S8, {n, forms.Constant(28)})), "none");
  EXPECT_EQ(RangeText(forms, forms.Apply(HloOpcode::kNegate, U32, {n})), "none");
  EXPECT_EQ(RangeText(forms, forms.Apply(HloOpcode::kAdd, S64, {n, large})), "none");
  EXPECT_EQ(RangeText(forms, forms.Apply(HloOpcode::kMultiply, S64, {large, large})), "none");
  EXPECT_EQ(RangeText(forms, forms.Apply(HloOpcode::kConvert, U4, {n})), "none");
  EXPECT_EQ(RangeText(forms, forms.Apply(HloOpcode::kConvert, U8, {n})), "0..100");
  EXPECT_EQ(RangeText(forms, forms.Apply(HloOpcode::kConvert, PRED, {n})), "0..1");
  EXPECT_EQ(RangeText(forms, forms.Apply(HloOpcode::kConvert, F32, {n})), "none");
  EXPECT_EQ(RangeText(forms, forms.Apply(HloOpcode::kAdd, S32, {n, IntegerForms::kNone})), "none");
}

TEST(IntegerFormsTest, Predicates) {
  IntegerForms forms;
  const FormId p = forms.Unknown({0, 1});
  const FormId yes = forms.Constant(1);
  EXPECT_EQ(RangeText(forms, forms.Apply(HloOpcode::kOr, PRED, {p, yes})), "1..1");
  EXPECT_EQ(RangeText(forms, forms.Apply(HloOpcode::kAnd, PRED, {p, yes})), "0..1");
  EXPECT_EQ(RangeText(forms, forms.Apply(HloOpcode::kNot, PRED, {yes})), "0..0");
  EXPECT_EQ(RangeText(forms, forms.Apply(HloOpcode::kAdd, PRED, {yes, yes})), "1..1");
}

}  // namespace
}  // namespace kashi::evaluator
