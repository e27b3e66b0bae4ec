#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

// Random dimension numbers: indexed_windows_test.cc. Here: docs/spec/hlo-ops.md 15, and cases that it omits.

constexpr absl::string_view kFunctions = R"(HloModule m
add { a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT c = f32[] add(a, b) }
append { a = f32[] parameter(0)
         b = f32[] parameter(1)
         ten = f32[] constant(10)
         shifted = f32[] multiply(a, ten)
         ROOT c = f32[] add(shifted, b) }
assign { a = f32[] parameter(0)
         ROOT b = f32[] parameter(1) }
keep { ROOT a = f32[] parameter(0)
       b = f32[] parameter(1) }
swap { a = f32[] parameter(0)
       b = f32[] parameter(1)
       c = f32[] parameter(2)
       d = f32[] parameter(3)
       ROOT t = (f32[], f32[]) tuple(d, c) }
)";
constexpr absl::string_view kWindows =
    "update_window_dims={1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1";
constexpr absl::string_view kScalars =
    "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1";

Literal Result(absl::string_view entry) {
  return EvaluateText(absl::StrCat(kFunctions, "ENTRY main {\n", entry, "\n}"));
}
std::string Text(absl::string_view entry) { return Result(entry).ToStringOneline(); }

TEST(ScatterTest, LeavesOutWindowsThatReachBeyond) {
  EXPECT_EQ(Text(absl::StrCat(R"(
    x = f32[5] constant({0,0,0,0,0})
    i = s32[4,1] constant({{0},{4},{-1},{3}})
    u = f32[4,2] constant({{1,1},{1,1},{1,1},{1,1}})
    ROOT y = f32[5] scatter(x, i, u), to_apply=add, )",
                              kWindows)),
            "f32[5] {1, 1, 0, 1, 1}");
}

TEST(ScatterTest, LargeUnsignedIndicesAreBeyond) {
  for (absl::string_view type :
       {"u32[2,1] constant({{4294967295},{1}})", "u64[2,1] constant({{18446744073709551615},{1}})"}) {
    EXPECT_EQ(Text(absl::StrCat("x = f32[3] constant({0,0,0})\n i = ", type, "\n u = f32[2] constant({5,6})\n",
                                "ROOT y = f32[3] scatter(x, i, u), to_apply=assign, ", kScalars)),
              "f32[3] {0, 6, 0}");
  }
}

TEST(ScatterTest, UpdatesInOrder) {
  EXPECT_EQ(Text(absl::StrCat(R"(
    x = f32[2] constant({1,1})
    i = s32[3,1] constant({{0},{0},{1}})
    u = f32[3] constant({2,3,4})
    ROOT y = f32[2] scatter(x, i, u), to_apply=append, )",
                              kScalars)),
            "f32[2] {123, 14}");
}

TEST(ScatterTest, KeepLeavesTheOperandAsItIs) {
  EXPECT_EQ(Text(absl::StrCat(R"(
    x = f32[2] constant({1,1})
    i = s32[1,1] constant({{0}})
    u = f32[1] constant({2})
    ROOT y = f32[2] scatter(x, i, u), to_apply=keep, )",
                              kScalars)),
            "f32[2] {1, 1}");
}

TEST(ScatterTest, TakesSeveralOperands) {
  const Literal both = Result(absl::StrCat(R"(
    x = f32[3] constant({1,2,3})
    y = f32[3] constant({4,5,6})
    i = s32[2,1] constant({{2},{0}})
    u = f32[2] constant({7,8})
    v = f32[2] constant({9,10})
    ROOT z = (f32[3], f32[3]) scatter(x, y, i, u, v), to_apply=swap, )",
                                           kScalars));
  EXPECT_EQ(LiteralSlice(both, {0}), LiteralUtil::CreateR1<float>({10, 2, 9}));
  EXPECT_EQ(LiteralSlice(both, {1}), LiteralUtil::CreateR1<float>({8, 5, 7}));
}

TEST(ScatterTest, DoesNotWriteToWhatOthersRead) {
  const Literal both = Result(absl::StrCat(R"(
    x = f32[3] iota(), iota_dimension=0
    i = s32[1,1] constant({{1}})
    u = f32[1] constant({7})
    y = f32[3] scatter(x, i, u), to_apply=add, )",
                                           kScalars, "\n ROOT both = (f32[3], f32[3]) tuple(x, y)"));
  EXPECT_EQ(LiteralSlice(both, {0}), LiteralUtil::CreateR1<float>({0, 1, 2}));
  EXPECT_EQ(LiteralSlice(both, {1}), LiteralUtil::CreateR1<float>({0, 8, 2}));
}

TEST(ScatterTest, AddsLongRowsOnSeveralThreadsInOrder) {
  // Every row is added to row 0 or 1: the order determines 1e8 + 1 - 1e8 …
  const Literal result = Result(R"(
    zero = f32[] constant(0)
    zeros = f32[2,4096] broadcast(zero), dimensions={}
    i = s32[6,1] constant({{0},{1},{0},{1},{0},{9}})
    c = f32[6] constant({100000000,1,1,2,-100000000,5})
    u = f32[6,4096] broadcast(c), dimensions={0}
    ROOT y = f32[2,4096] scatter(zeros, i, u), to_apply=add, update_window_dims={1}, inserted_window_dims={0},
      scatter_dims_to_operand_dims={0}, index_vector_dim=1)");
  for (int64_t i = 0; i < 4096; ++i) {
    ASSERT_EQ(result.data<float>()[i], 0);
    ASSERT_EQ(result.data<float>()[4096 + i], 3);
  }
}

}  // namespace
}  // namespace kashi::evaluator
