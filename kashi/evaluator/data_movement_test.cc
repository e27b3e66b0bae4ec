#include <cstring>
#include <numeric>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

using ::testing::HasSubstr;

std::string ResultText(absl::string_view entry) {
  return EvaluateText(absl::StrCat("HloModule m\nENTRY main {\n", entry, "\n}")).ToStringOneline();
}

// s32 0, 1, 2, …
Literal Counts(absl::Span<const int64_t> dims) {
  Literal counts(ShapeUtil::MakeShape(S32, dims));
  std::iota(counts.data<int32_t>().begin(), counts.data<int32_t>().end(), 0);
  return counts;
}

std::string List(absl::Span<const int64_t> values) { return absl::StrJoin(values, ","); }

// ---- Against the formulas, on s32 counts of random sizes.

class MovementTest : public ::testing::Test {
 protected:
  int64_t Random(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }
  std::vector<int64_t> RandomDims(int64_t rank) {
    std::vector<int64_t> dims(rank);
    for (int64_t& dim : dims) dim = Random(0, 9) == 0 ? 0 : Random(1, 6);
    return dims;
  }

  // Checks out[i] == source(i) for every index i of the result of `instruction` on counts of these sizes; -1: any
  // value.
  template <typename Source>
  void Expect(absl::Span<const int64_t> out_dims, absl::Span<const int64_t> in_dims, absl::string_view instruction,
              Source source) {
    const Literal in = Counts(in_dims);
    const std::string text = absl::StrCat("HloModule m\nENTRY main {\n  x = s32[", List(in_dims),
                                          "] parameter(0)\n  v = s32[] constant(-7)\n  ROOT out = s32[", List(out_dims),
                                          "] ", instruction, "\n}");
    const Literal out = EvaluateText(text, std::vector<const Literal*>{&in});
    ASSERT_TRUE(out.shape().IsArray());
    ASSERT_EQ(out.shape().dimensions(), out_dims) << text;
    int64_t position = 0;
    ShapeUtil::ForEachIndexNoStatus(out.shape(), [&](absl::Span<const int64_t> index) {
      const std::vector<int64_t> from = source(index);
      const int32_t expected = from.size() != in_dims.size() ? -7 : in.Get<int32_t>(from);
      EXPECT_EQ(out.data<int32_t>()[position++], expected) << text;
      return !HasFailure();
    });
  }

  std::mt19937_64 random_{7};
};

using Index = std::vector<int64_t>;

TEST_F(MovementTest, Broadcast) {
  for (int i = 0; i < 100; ++i) {
    const Index out = RandomDims(Random(1, 4));
    Index dims(out.size());
    std::iota(dims.begin(), dims.end(), 0);
    std::shuffle(dims.begin(), dims.end(), random_);
    dims.resize(Random(0, dims.size()));
    Index in;
    for (int64_t d : dims) in.push_back(out[d]);
    Expect(out, in, absl::StrCat("broadcast(x), dimensions={", List(dims), "}"), [&](absl::Span<const int64_t> index) {
      Index from;
      for (int64_t d : dims) from.push_back(index[d]);
      return from;
    });
  }
}

TEST_F(MovementTest, Transpose) {
  for (int i = 0; i < 100; ++i) {
    const Index in = RandomDims(Random(1, 4));
    Index dims(in.size()), out;
    std::iota(dims.begin(), dims.end(), 0);
    std::shuffle(dims.begin(), dims.end(), random_);
    for (int64_t d : dims) out.push_back(in[d]);
    Expect(out, in, absl::StrCat("transpose(x), dimensions={", List(dims), "}"), [&](absl::Span<const int64_t> index) {
      Index from(in.size());
      for (size_t d = 0; d < dims.size(); ++d) from[dims[d]] = index[d];
      return from;
    });
  }
}

TEST_F(MovementTest, Reverse) {
  for (int i = 0; i < 100; ++i) {
    const Index in = RandomDims(Random(1, 4));
    Index dims;
    for (size_t d = 0; d < in.size(); ++d) {
      if (Random(0, 1) == 1) dims.push_back(d);
    }
    Expect(in, in, absl::StrCat("reverse(x), dimensions={", List(dims), "}"), [&](absl::Span<const int64_t> index) {
      Index from(index.begin(), index.end());
      for (int64_t d : dims) from[d] = in[d] - 1 - from[d];
      return from;
    });
  }
}

TEST_F(MovementTest, Slice) {
  for (int i = 0; i < 200; ++i) {
    const Index in = RandomDims(Random(1, 4));
    Index out, starts, strides;
    std::vector<std::string> ranges;
    for (int64_t size : in) {
      starts.push_back(Random(0, size));
      const int64_t limit = Random(starts.back(), size);
      strides.push_back(Random(0, 5) == 0 ? INT64_MAX / 2 : Random(1, 3));
      out.push_back((limit - starts.back() + strides.back() - 1) / strides.back());
      ranges.push_back(absl::StrCat("[", starts.back(), ":", limit, ":", strides.back(), "]"));
    }
    Expect(out, in, absl::StrCat("slice(x), slice={", absl::StrJoin(ranges, ","), "}"),
           [&](absl::Span<const int64_t> index) {
             Index from(index.begin(), index.end());
             for (size_t d = 0; d < from.size(); ++d) from[d] = starts[d] + from[d] * strides[d];
             return from;
           });
  }
}

TEST_F(MovementTest, Pad) {
  for (int i = 0; i < 300; ++i) {
    const Index in = RandomDims(Random(1, 3));
    Index out, low, interior;
    std::vector<std::string> paddings;
    for (int64_t size : in) {
      interior.push_back(std::max<int64_t>(0, Random(-2, 2)));
      const int64_t base = size + std::max<int64_t>(size - 1, 0) * interior.back();
      low.push_back(Random(-std::min<int64_t>(base, 3), 3));
      const int64_t high = Random(-std::min<int64_t>(base + low.back(), 4), 3);
      out.push_back(base + low.back() + high);
      paddings.push_back(absl::StrCat(low.back(), "_", high, "_", interior.back()));
    }
    Expect(out, in, absl::StrCat("pad(x, v), padding=", absl::StrJoin(paddings, "x")),
           [&](absl::Span<const int64_t> index) -> Index {
             Index from;
             for (size_t d = 0; d < in.size(); ++d) {
               const int64_t at = index[d] - low[d], step = interior[d] + 1;
               if (at < 0 || at % step != 0 || at / step >= in[d]) return {-1, -1, -1, -1};
               from.push_back(at / step);
             }
             return from;
           });
  }
}

TEST(PadTest, CropsOperandAndHoles) {
  constexpr absl::string_view kModule = R"(
    x = s32[4] constant({1, 2, 3, 4})
    v = s32[] constant(9)
    ROOT out = s32[9] pad(x, v), padding=$0)";
  EXPECT_EQ(ResultText(absl::StrReplaceAll(kModule, {{"$0", "-1_3_1"}})), "s32[9] {9, 2, 9, 3, 9, 4, 9, 9, 9}");
  EXPECT_EQ(ResultText(absl::StrReplaceAll(kModule, {{"s32[9]", "s32[5]"}, {"$0", "1_-3_1"}})),
            "s32[5] {9, 1, 9, 2, 9}");
}

TEST(PadTest, TakesTheLargestPaddings) {
  EXPECT_EQ(ResultText(R"(
    x = s32[3] constant({1, 2, 3})
    v = s32[] constant(9)
    ROOT out = s32[2] pad(x, v), padding=-9223372036854775800_9223372036854775799_0)"),
            "s32[2] {9, 9}");
}

TEST(ReshapeTest, KeepsRowMajorOrder) {
  EXPECT_EQ(ResultText("x = s32[2,3] constant({{1,2,3},{4,5,6}})\n ROOT y = s32[3,2]{0,1} reshape(x)"),
            "s32[3,2] { { 1, 2 }, { 3, 4 }, { 5, 6 } }");
}

// ---- Dynamic slices: docs/spec/hlo-ops.md 15.

std::string DynamicSlice(absl::string_view type, absl::string_view row, absl::string_view column) {
  return ResultText(absl::StrCat("x = f32[3,4] constant({{0,1,2,3},{4,5,6,7},{8,9,10,11}})\n", "i = ", type,
                                 "[] constant(", row, ")\n j = ", type, "[] constant(", column,
                                 ")\n ROOT y = f32[2,2] dynamic-slice(x, i, j), dynamic_slice_sizes={2,2}"));
}

TEST(DynamicSliceTest, ClampsStarts) {
  EXPECT_EQ(DynamicSlice("s32", "-5", "3"), "f32[2,2] { { 2, 3 }, { 6, 7 } }");
  EXPECT_EQ(DynamicSlice("u32", "4294967295", "0"), "f32[2,2] { { 4, 5 }, { 8, 9 } }");
  EXPECT_EQ(DynamicSlice("u64", "18446744073709551615", "1"), "f32[2,2] { { 5, 6 }, { 9, 10 } }");
  EXPECT_EQ(DynamicSlice("s64", "-9223372036854775808", "9223372036854775807"), "f32[2,2] { { 2, 3 }, { 6, 7 } }");
  EXPECT_EQ(DynamicSlice("s4", "-8", "7"), "f32[2,2] { { 2, 3 }, { 6, 7 } }");
  EXPECT_EQ(DynamicSlice("u8", "255", "1"), "f32[2,2] { { 5, 6 }, { 9, 10 } }");
}

TEST(DynamicSliceTest, TakesStartsInOneVector) {
  EXPECT_EQ(ResultText(R"(
    x = f32[3,4] constant({{0,1,2,3},{4,5,6,7},{8,9,10,11}})
    i = s32[2] constant({1, 9})
    ROOT y = f32[2,2] dynamic-slice(x, i), dynamic_slice_sizes={2,2})"),
            "f32[2,2] { { 6, 7 }, { 10, 11 } }");
}

constexpr absl::string_view kUpdate = R"(HloModule m
ENTRY main {
  x = f32[3,4] parameter(0)
  u = f32[2,2] constant({{-1,-1},{-1,-1}})
  i = s32[] constant(9)
  j = s32[] constant(-1)
  $0
})";
Literal ZeroToEleven() { return LiteralUtil::CreateR2<float>({{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}); }

TEST(DynamicUpdateSliceTest, ClampsStartsAndLeavesItsOperandAlone) {
  const Literal x = ZeroToEleven();
  EXPECT_EQ(EvaluateText(absl::StrReplaceAll(kUpdate, {{"$0", "ROOT y = f32[3,4] dynamic-update-slice(x, u, i, j)"}}),
                         std::vector<const Literal*>{&x}),
            LiteralUtil::CreateR2<float>({{0, 1, 2, 3}, {-1, -1, 6, 7}, {-1, -1, 10, 11}}));
  EXPECT_EQ(x, ZeroToEleven());
}

TEST(DynamicUpdateSliceTest, DoesNotWriteToWhatOthersRead) {
  const Literal x = ZeroToEleven();
  const Literal both = EvaluateText(absl::StrReplaceAll(kUpdate, {{"$0", R"(
      c = f32[3,4] reverse(x), dimensions={0}
      y = f32[3,4] dynamic-update-slice(c, u, i, j)
      z = f32[3,4] dynamic-update-slice(c, u, j, j)
      ROOT both = (f32[3,4], f32[3,4], f32[3,4]) tuple(c, y, z))"}}),
                                    std::vector<const Literal*>{&x});
  EXPECT_EQ(LiteralSlice(both, {0}), LiteralUtil::CreateR2<float>({{8, 9, 10, 11}, {4, 5, 6, 7}, {0, 1, 2, 3}}));
  EXPECT_EQ(LiteralSlice(both, {1}), LiteralUtil::CreateR2<float>({{8, 9, 10, 11}, {-1, -1, 6, 7}, {-1, -1, 2, 3}}));
  EXPECT_EQ(LiteralSlice(both, {2}), LiteralUtil::CreateR2<float>({{-1, -1, 10, 11}, {-1, -1, 6, 7}, {0, 1, 2, 3}}));
}

TEST(ConcatenateTest, PutsOneBehindTheOther) {
  EXPECT_EQ(ResultText(R"(
    a = s8[2,1] constant({{1},{2}})
    b = s8[2,0] constant({{},{}})
    c = s8[2,3] constant({{3,4,5},{6,7,8}})
    ROOT y = s8[2,4] concatenate(a, b, c), dimensions={1})"),
            "s8[2,4] { { 1, 3, 4, 5 }, { 2, 6, 7, 8 } }");
}

// ---- iota

TEST(IotaTest, CountsAlongOneDimension) {
  EXPECT_EQ(ResultText("ROOT y = f32[2,3] iota(), iota_dimension=1"), "f32[2,3] { { 0, 1, 2 }, { 0, 1, 2 } }");
  EXPECT_EQ(ResultText("ROOT y = s64[2,3] iota(), iota_dimension=0"), "s64[2,3] { { 0, 0, 0 }, { 1, 1, 1 } }");
  EXPECT_EQ(ResultText("ROOT y = c64[2] iota(), iota_dimension=0"), "c64[2] {(0, 0), (1, 0)}");
  EXPECT_EQ(ResultText("ROOT y = s8[0,3] iota(), iota_dimension=1"), "s8[0,3] {  }");
}

TEST(IotaTest, WrapsNarrowIntegersAndRoundsFloats) {
  EXPECT_EQ(EvaluateText("HloModule m\nENTRY e { ROOT y = s8[301] iota(), iota_dimension=0 }").data<int8_t>()[300], 44);
  const Literal bf16s = EvaluateText("HloModule m\nENTRY e { ROOT y = bf16[300] iota(), iota_dimension=0 }");
  EXPECT_EQ(static_cast<float>(bf16s.data<bfloat16>()[257]), 256);
  EXPECT_EQ(static_cast<float>(bf16s.data<bfloat16>()[299]), 300);
}

// ---- Dynamic sizes: docs/spec/hlo-ops.md 2, set-dimension-size.

TEST(DimensionSizeTest, SetCutsAndGetTells) {
  constexpr absl::string_view kModule = R"(
    x = s32[4] constant({1, 2, 3, 4})
    n = s32[] constant($0)
    y = s32[<=4] set-dimension-size(x, n), dimensions={0}
    ROOT size = s32[] get-dimension-size(y), dimensions={0})";
  EXPECT_EQ(ResultText(absl::StrReplaceAll(kModule, {{"$0", "3"}})), "s32[] 3");
  EXPECT_EQ(ResultText(absl::StrReplaceAll(kModule, {{"$0", "9"}})), "s32[] 4");
  EXPECT_EQ(ResultText(absl::StrReplaceAll(kModule, {{"$0", "-1"}})), "s32[] 0");
}

TEST(DimensionSizeTest, GrowsByZeros) {
  EXPECT_EQ(ResultText(R"(
    x = s32[2,3] constant({{1, 2, 3}, {4, 5, 6}})
    one = s32[] constant(1)
    three = s32[] constant(3)
    y = s32[2,<=3] set-dimension-size(x, one), dimensions={1}
    z = s32[2,<=3] set-dimension-size(y, three), dimensions={1}
    ROOT w = s32[<=6] reshape(z))"),
            "s32[<=6](6) {1, 0, 0, 4, 0, 0}");
}

constexpr absl::string_view kTwoOfFour = R"(
    x = s32[4] constant({1, 2, 3, 4})
    two = s32[] constant(2)
    y = s32[<=4] set-dimension-size(x, two), dimensions={0}
    nine = s32[] constant(9)
)";

TEST(DimensionSizeTest, OthersWorkOnWhatIsThere) {
  EXPECT_EQ(ResultText(absl::StrCat(kTwoOfFour, "ROOT z = s32[<=4] reverse(y), dimensions={0}")), "s32[<=4](2) {2, 1}");
  EXPECT_EQ(ResultText(absl::StrCat(kTwoOfFour, "ROOT z = s32[<=8] concatenate(y, y), dimensions={0}")),
            "s32[<=8](4) {1, 2, 1, 2}");
  EXPECT_EQ(ResultText(absl::StrCat(kTwoOfFour, "ROOT z = s32[<=6] pad(y, nine), padding=1_1")),
            "s32[<=6](4) {9, 1, 2, 9}");
  EXPECT_EQ(ResultText(absl::StrCat(kTwoOfFour, "ROOT z = s32[<=3] slice(y), slice={[0:3]}")), "s32[<=3](2) {1, 2}");
  EXPECT_EQ(ResultText(absl::StrCat(kTwoOfFour, "ROOT z = s32[2,<=4] broadcast(y), dimensions={1}")),
            "s32[2,<=4](2,2) { { 1, 2 }, { 1, 2 } }");
}

TEST(DynamicReshapeTest, TakesSizesWhenItRuns) {
  constexpr absl::string_view kModule = R"(
    x = s32[6] constant({1, 2, 3, 4, 5, 6})
    a = s32[] constant($0)
    b = s32[] constant(3)
    ROOT y = s32[<=2,3] dynamic-reshape(x, a, b))";
  EXPECT_EQ(ResultText(absl::StrReplaceAll(kModule, {{"$0", "2"}})), "s32[<=2,3](2,3) { { 1, 2, 3 }, { 4, 5, 6 } }");
  const absl::StatusOr<Literal> too_few =
      TryEvaluateText(absl::StrCat("HloModule m\nENTRY main {", absl::StrReplaceAll(kModule, {{"$0", "1"}}), "}"));
  EXPECT_THAT(too_few.status().ToString(), HasSubstr("y: an operand of s32[6] does not match a result of s32[1,3]"));
}

// ---- shuffle -------------------------------------------------------------------------------------------------------

TEST(DataMovementTest, ShuffleIsNotGuessed) {
  const auto module = ParseAndReturnUnverifiedModule(
      "HloModule m\nENTRY e { c = f32[2] constant({1, 2})\n"
      "ROOT r = f32[2] shuffle(c), dimensions={0}, mode=rotate, shifts={1} }");
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::Status status = HloEvaluator().Evaluate(**module, absl::Span<const Literal* const>()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(status.message(), HasSubstr("r: shuffle is not evaluated"));
}

}  // namespace
}  // namespace kashi::evaluator
