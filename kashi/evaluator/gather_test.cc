#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/evaluator/evaluator_testing.h"

namespace kashi::evaluator {
namespace {

// Random dimension numbers: indexed_windows_test.cc. Here: docs/spec/hlo-ops.md 15, and cases that it omits.

std::string GatherText(absl::string_view entry) {
  return EvaluateText(absl::StrCat("HloModule m\nENTRY main {\n", entry, "\n}")).ToStringOneline();
}

constexpr absl::string_view kOperand = "x = f32[3,4] constant({{0,1,2,3},{4,5,6,7},{8,9,10,11}})\n";
constexpr absl::string_view kPairs =
    "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,2}";

TEST(GatherTest, ClampsSignedIndices) {
  EXPECT_EQ(GatherText(absl::StrCat(kOperand, "i = s32[3,2] constant({{-1,1},{5,3},{1,-7}})\n",
                                    "ROOT y = f32[3,2] gather(x, i), ", kPairs)),
            "f32[3,2] { { 1, 2 }, { 10, 11 }, { 4, 5 } }");
}

TEST(GatherTest, LargeUnsignedIndicesAreLarge) {
  EXPECT_EQ(GatherText(absl::StrCat(kOperand, "i = u32[3,2] constant({{4294967295,1},{5,3},{1,2147483648}})\n",
                                    "ROOT y = f32[3,2] gather(x, i), ", kPairs)),
            "f32[3,2] { { 9, 10 }, { 10, 11 }, { 6, 7 } }");
  EXPECT_EQ(GatherText(absl::StrCat(kOperand, "i = u64[1,2] constant({{18446744073709551615,0}})\n",
                                    "ROOT y = f32[1,2] gather(x, i), ", kPairs)),
            "f32[1,2] { { 8, 9 } }");
}

TEST(GatherTest, TakesBatchesFromTheSameCoordinate) {
  EXPECT_EQ(GatherText(R"(
    x = f32[2,3] constant({{0,1,2},{3,4,5}})
    i = s32[2,2,1] constant({{{0},{2}},{{1},{9}}})
    ROOT y = f32[2,2] gather(x, i), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1},
      operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1})"),
            "f32[2,2] { { 0, 2 }, { 4, 5 } }");
}

TEST(GatherTest, OfNothingIsZeros) {
  EXPECT_EQ(GatherText(R"(
    x = f32[0] constant({})
    i = s32[2,1] constant({{0},{1}})
    ROOT y = f32[2] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,
      slice_sizes={0})"),
            "f32[2] {0, 0}");
}

TEST(GatherTest, CopiesLargeWindows) {
  // Row 1 of a transposed [2,1024,1024], columns from 1 on: 4 MB.
  const Literal result = EvaluateText(R"(HloModule m
    ENTRY main {
      x = f32[2,1024,1025] iota(), iota_dimension=2
      i = s32[2] constant({1, 1})
      ROOT y = f32[1024,1024] gather(x, i), offset_dims={0,1}, collapsed_slice_dims={0}, start_index_map={0,2},
        index_vector_dim=0, slice_sizes={1,1024,1024}
    })");
  for (int64_t i = 0; i < 1024 * 1024; ++i) ASSERT_EQ(result.data<float>()[i], i % 1024 + 1);
}

}  // namespace
}  // namespace kashi::evaluator
