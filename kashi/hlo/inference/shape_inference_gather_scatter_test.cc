#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "kashi/hlo/inference/shape_inference_cases_testing.h"

namespace kashi::hlo {
namespace {

struct IndexErrorCase {
  const char* operands;
  const char* attributes;
  const char* error;
};

// ---- Gather --------------------------------------------------------------------------------------------------------

std::string InferGather(const std::string& operands, const std::string& attributes) {
  return InferShapeText("gather", operands, attributes);
}

TEST(InferGatherShapeTest, OffsetDimensionsAmongThoseOfTheIndices) {
  const std::string rows = "offset_dims={1};collapsed_slice_dims={0};start_index_map={0};slice_sizes={1,4};";
  EXPECT_EQ(InferGather("f32[9,4];s32[7]", rows + "index_vector_dim=1"), "f32[7,4]{1,0}");
  EXPECT_EQ(InferGather("f32[9,4];s32[7,1]", rows + "index_vector_dim=1"), "f32[7,4]{1,0}");
  EXPECT_EQ(InferGather("f32[9,4];s32[1,7]", rows + "index_vector_dim=0"), "f32[7,4]{1,0}");
  EXPECT_EQ(InferGather("f32[9,4,3];s32[5,2,6]",
                        "offset_dims={0,2,4};collapsed_slice_dims={};start_index_map={2,0};"
                        "slice_sizes={9,2,1};index_vector_dim=1"),
            "f32[9,5,2,6,1]{4,3,2,1,0}");
  EXPECT_EQ(InferGather("f32[];s32[0]", "index_vector_dim=0"), "f32[]");
}

TEST(InferGatherShapeTest, BatchingDimensions) {
  EXPECT_EQ(InferGather("f32[8,9,4];s32[7,8,1]",
                        "offset_dims={2};collapsed_slice_dims={1};start_index_map={1};operand_batching_dims={0};"
                        "start_indices_batching_dims={1};slice_sizes={1,1,4};index_vector_dim=2"),
            "f32[7,8,4]{2,1,0}");
}

TEST(InferGatherShapeTest, Dynamic) {
  const std::string attributes = "offset_dims={1,2};start_index_map={0};index_vector_dim=1;";
  // A slice keeps the flag if it has the whole bound.
  EXPECT_EQ(InferGather("f32[<=9,<=4];s32[<=7]", attributes + "slice_sizes={9,3}"), "f32[<=7,<=9,3]{2,1,0}");
  EXPECT_EQ(InferGather("f32[?,4];s32[?]", attributes + "slice_sizes={100,4}"), "f32[?,100,4]{2,1,0}");
  // An unknown length of the index vectors fits any map.
  EXPECT_EQ(InferGather("f32[9,4];s32[7,?]", attributes + "slice_sizes={1,1}"), "f32[7,1,1]{2,1,0}");
}

TEST(InferGatherShapeTest, Errors) {
  const std::vector<IndexErrorCase> cases = {
      {"();()", "", "Expected array argument for input tensor operand of gather op"},
      {"f32[2];()", "", "Expected array argument for gather indices operand of gather op"},
      {"f32[2];pred[3]", "index_vector_dim=9", "Gather indices parameter must be an integral tensor; got pred[3]."},
      {"f32[2];s32[3]", "index_vector_dim=2",
       "Gather index leaf dimension must be within [0, rank(start_indices) + 1)."},
      {"f32[2];s32[3]", "index_vector_dim=-1", "Gather index leaf dimension must be within "},
      {"f32[2];s32[3]", "index_vector_dim=1;offset_dims={2,-1}",
       "Output window dimensions in gather op must be ascending; got: 2, -1."},
      {"f32[2];s32[3]", "index_vector_dim=1;offset_dims={9,9}",
       "Output window dimensions in gather op must not repeat; got: 9, 9."},
      {"f32[2];s32[3]", "index_vector_dim=1;offset_dims={0,3}",
       "Offset dimension 1 in gather op is out of bounds; got 3, but should have been in [0,3)."},
      {"f32[2];s32[3]", "index_vector_dim=1;start_index_map={7,7}",
       "Gather op has 2 elements in start_index_map and the bound of dimension index_vector_dim=1 of start_indices is "
       "1. "},
      {"f32[2];s32[3,2]", "index_vector_dim=1;start_index_map={0,1}",
       "Invalid start_index_map; domain is [0, 1), got: 1->1."},
      {"f32[2];s32[3,2]", "index_vector_dim=1;start_index_map={0,0}",
       "Repeated dimensions are not allowed in start_index_map; got: 0, 0."},
      {"f32[2,2];s32[3,0]", "index_vector_dim=1;collapsed_slice_dims={2,1}",
       "Invalid collapsed_slice_dims set in gather op; valid range is [0, 2), got: 2."},
      {"f32[2,2];s32[3,0]", "index_vector_dim=1;collapsed_slice_dims={1,0}",
       "collapsed_slice_dims in gather op must be sorted; got: 1, 0"},
      {"f32[2,2];s32[3,0]", "index_vector_dim=1;collapsed_slice_dims={0,0}",
       "Repeated dimensions not allowed in collapsed_slice_dims in gather op; got: 0, 0."},
      {"f32[2,2];s32[3,0]", "index_vector_dim=1;operand_batching_dims={9}",
       "operand_batching_dims and start_indices_batching_dims in gather op must be of the same size; got: 1 and 0."},
      {"f32[2,2];s32[3,0]", "index_vector_dim=1;operand_batching_dims={9};start_indices_batching_dims={9}",
       "Invalid operand_batching_dims set in gather op; valid range is [0, 2), got: 9."},
      {"f32[2,2];s32[3,0]", "index_vector_dim=1;operand_batching_dims={1,0};start_indices_batching_dims={9,9}",
       "operand_batching_dims in gather op must be sorted; got: 1, 0"},
      {"f32[2,2];s32[3,0]", "index_vector_dim=1;operand_batching_dims={0,0};start_indices_batching_dims={9,9}",
       "Repeated dimensions not allowed in operand_batching_dims in gather op; got: 0, 0."},
      {"f32[2,2];s32[3,0]", "index_vector_dim=1;operand_batching_dims={0,1};start_indices_batching_dims={0,9}",
       "Invalid start_indices_batching_dims; domain is [0, 2), got: 1->9."},
      {"f32[2,2];s32[3,0]", "index_vector_dim=1;operand_batching_dims={0,1};start_indices_batching_dims={0,0}",
       "Repeated dimensions are not allowed in start_indices_batching_dims; got: 0, 0."},
      {"f32[2,2];s32[3,0]", "index_vector_dim=1;slice_sizes={9}",
       "Gather op must have one slice size for every input dimension; got: len(slice_sizes)=1, input_shape.rank=2."},
      {"f32[2,2];s32[3,0]", "index_vector_dim=1;slice_sizes={9,9};offset_dims={0}",
       "All components of the offset index in a gather op must either be a offset dimension or explicitly collapsed or "
       "explicitly batched; got len(slice_sizes)=2, output_slice_sizes=0, collapsed_slice_dims=, "
       "operand_batching_dims=."},
      {"f32[2,2];s32[3,0]", "index_vector_dim=1;slice_sizes={2,3};collapsed_slice_dims={0,1}",
       "Slice size at index 1 in gather op is out of range, must be within [0, 3), got 3."},
      {"f32[2,2];s32[3,0]", "index_vector_dim=1;slice_sizes={-1,2};collapsed_slice_dims={0,1}",
       "Slice size at index 0 in gather op is out of range, must be within [0, 3), got -1."},
      {"f32[2,2];s32[3,0]",
       "index_vector_dim=1;slice_sizes={2,0};operand_batching_dims={0};"
       "start_indices_batching_dims={0};collapsed_slice_dims={1}",
       "Gather op can only have operand_batching_dims with bound 1 or 0, but bound is 2 for index 0 at position 0."},
      {"f32[2,2];s32[3,0]",
       "index_vector_dim=1;slice_sizes={2,2};operand_batching_dims={0};"
       "start_indices_batching_dims={0};collapsed_slice_dims={1}",
       "Gather op can only collapse slice dims with bound 1 or 0, but bound is 2 for index 1 at position 0."},
  };
  for (const IndexErrorCase& c : cases) {
    const std::string text = InferGather(c.operands, c.attributes);
    EXPECT_TRUE(absl::StartsWith(text, absl::StrCat("error: ", c.error))) << c.operands << " " << c.attributes << "\n"
                                                                          << text;
  }
}

// No check requires that the lists of omitted dimensions differ; the remaining dimensions must still suffice.
TEST(InferGatherShapeTest, OverlappingListsStayInBounds) {
  EXPECT_EQ(InferGather("f32[1,2];s32[3,0]",
                        "index_vector_dim=1;slice_sizes={1,2};operand_batching_dims={0};"
                        "start_indices_batching_dims={0};collapsed_slice_dims={0}"),
            "f32[3]{0}");
}

// ---- Scatter -------------------------------------------------------------------------------------------------------

constexpr char kAdd[] = "(f32[],f32[])->f32[]";

std::string InferScatter(const std::string& operands, const std::string& attributes,
                         const std::string& computation = kAdd) {
  return InferShapeText("scatter", operands, attributes, computation);
}

TEST(InferScatterShapeTest, TheOperandsShape) {
  const std::string rows =
      "update_window_dims={1};inserted_window_dims={0};scatter_dims_to_operand_dims={0};index_vector_dim=1";
  EXPECT_EQ(InferScatter("f32[9,4]{0,1};s32[7];f32[7,4]", rows), "f32[9,4]{0,1}");
  EXPECT_EQ(InferScatter("f32[9,4];s32[7,1];f32[7,3]", rows), "f32[9,4]{1,0}");
  EXPECT_EQ(
      InferScatter("f32[9,4];s32[9,4];s32[7];f32[7,4];s32[7,4]", rows, "(f32[],s32[],f32[],s32[])->(f32[],s32[])"),
      "(f32[9,4]{1,0}, s32[9,4]{1,0})");
  EXPECT_EQ(InferScatter("f32[8,9,4];s32[7,8,1];f32[7,8,4]",
                         "update_window_dims={2};inserted_window_dims={1};scatter_dims_to_operand_dims={1};"
                         "input_batching_dims={0};scatter_indices_batching_dims={1};index_vector_dim=2"),
            "f32[8,9,4]{2,1,0}");
}

TEST(InferScatterShapeTest, Unbounded) {
  const std::string rows =
      "update_window_dims={1};inserted_window_dims={0};scatter_dims_to_operand_dims={0};index_vector_dim=1";
  EXPECT_EQ(InferScatter("f32[?,4];s32[?];f32[7,?]", rows), "f32[?,4]{1,0}");
  // The window is compared with the number that stands for `?`.
  EXPECT_TRUE(
      absl::StartsWith(InferScatter("f32[9,?];s32[7];f32[7,1]", rows), "error: Bounds of the window dimensions"));
}

void ExpectScatterErrors(const std::vector<IndexErrorCase>& cases) {
  for (const IndexErrorCase& c : cases) {
    const std::string text = InferScatter(c.operands, c.attributes);
    EXPECT_TRUE(absl::StartsWith(text, absl::StrCat("error: ", c.error))) << c.operands << " " << c.attributes << "\n"
                                                                          << text;
  }
}

TEST(InferScatterShapeTest, ErrorsInTheDimensionNumbers) {
  ExpectScatterErrors({
      {"();()", "", "Invalid argument count of scatter op: Expected 3, saw 2"},
      {"();();()", "", "Expected array argument for scatter indices"},
      {"();f32[3];()", "index_vector_dim=9", "Scatter indices parameter must be an integral tensor; got f32[3]."},
      {"();s32[3];()", "index_vector_dim=2",
       "Scatter index leaf dimension must be within [0, rank(scatter_indices) + 1)."},
      {"();s32[3];()", "index_vector_dim=-1", "Scatter index leaf dimension must be within "},
      {"();s32[3];()", "index_vector_dim=1", "Expected array argument for operand 0 of scatter op"},
      {"f32[2];s32[3];()", "index_vector_dim=1", "Expected array argument for updates 0 of scatter op"},
      {"f32[2,2];s32[3,0];f32[]", "index_vector_dim=1;update_window_dims={1,0}",
       "Updates tensor must be of rank 3; got 0."},
      {"f32[2,2];s32[3,0];f32[3,2,2]", "index_vector_dim=1;update_window_dims={9,0}",
       "update_window_dims in scatter op must be sorted; got: 9, 0."},
      {"f32[2,2];s32[3,0];f32[3,2,2]", "index_vector_dim=1;update_window_dims={9,9}",
       "update_window_dims in scatter op must not repeat; got: 9, 9."},
      {"f32[2,2];s32[3,0];f32[3,2,2]", "index_vector_dim=1;update_window_dims={1,3};inserted_window_dims={9,8}",
       "Invalid update_window_dims set in scatter op; valid range is [0, 3). got: 3."},
      {"f32[2,2];s32[3,0];f32[3,2,2]", "index_vector_dim=1;update_window_dims={1,2};inserted_window_dims={9,8}",
       "inserted_window_dims in scatter op must be sorted; got: 9, 8."},
      {"f32[2,2];s32[3,0];f32[3,2,2]", "index_vector_dim=1;update_window_dims={1,2};inserted_window_dims={9,9}",
       "inserted_window_dims in scatter op must not repeat; got: 9, 9."},
      {"f32[2,2];s32[3,0];f32[3,2,2]", "index_vector_dim=1;update_window_dims={1,2};inserted_window_dims={-1}",
       "Invalid inserted_window_dims set in scatter op; valid range is [0, 2), got: -1."},
      {"f32[2,2];s32[3,0];f32[3,2,2]",
       "index_vector_dim=1;update_window_dims={1,2};inserted_window_dims={0};scatter_dims_to_operand_dims={9}",
       "Scatter op has window of size 3; doesn't match operand of rank 2."},
      {"f32[2,2];s32[3,0];f32[3,2,2]", "index_vector_dim=1;update_window_dims={1,2};scatter_dims_to_operand_dims={9}",
       "Scatter op has 1 elements in scatter_dims_to_operand_dims and the bound of dimension index_vector_dim=1 of "
       "scatter_indices is 0. These two numbers must be equal."},
      {"f32[2,2];s32[3,2];f32[3,2,2]", "index_vector_dim=1;update_window_dims={1,2};scatter_dims_to_operand_dims={0,2}",
       "Invalid scatter_dims_to_operand_dims mapping; domain is [0, 2), got: 1->2."},
      {"f32[2,2];s32[3,2];f32[3,2,2]", "index_vector_dim=1;update_window_dims={1,2};scatter_dims_to_operand_dims={0,0}",
       "Repeated dimensions not allowed in scatter_dims_to_operand_dims; got: 0, 0."},
      {"f32[2,2,2];s32[3,0];f32[3,2,2]", "index_vector_dim=1;update_window_dims={1,2};input_batching_dims={9}",
       "input_batching_dims and scatter_indices_batching_dims in scatter op must be of the same size; got: 1 and 0."},
      {"f32[2,2,2,2];s32[3,0];f32[3,2,2]",
       "index_vector_dim=1;update_window_dims={1,2};input_batching_dims={9,1};scatter_indices_batching_dims={9,9}",
       "input_batching_dims in scatter op must be sorted; got: 9, 1."},
      {"f32[2,2,2,2];s32[3,0];f32[3,2,2]",
       "index_vector_dim=1;update_window_dims={1,2};input_batching_dims={9,9};scatter_indices_batching_dims={9,9}",
       "input_batching_dims in scatter op must not repeat; got: 9, 9."},
      {"f32[2,2,2];s32[3,0];f32[3,2,2]",
       "index_vector_dim=1;update_window_dims={1,2};input_batching_dims={9};scatter_indices_batching_dims={9}",
       "Invalid input_batching_dims set in scatter op; valid range is [0, 3), got: 9."},
      {"f32[2,2,2,2];s32[3,0];f32[3,2,2]",
       "index_vector_dim=1;update_window_dims={1,2};input_batching_dims={0,1};scatter_indices_batching_dims={0,0}",
       "scatter_indices_batching_dims in scatter op must not repeat; got: 0, 0."},
      {"f32[2,2,2];s32[3,0];f32[3,2,2]",
       "index_vector_dim=1;update_window_dims={1,2};input_batching_dims={0};scatter_indices_batching_dims={2}",
       "Invalid scatter_indices_batching_dims set in scatter op; valid range is [0, 2), got: 2."},
  });
}

TEST(InferScatterShapeTest, ErrorsInTheBoundsAndTypesOfUpdates) {
  ExpectScatterErrors({
      {"f32[2,2];s32[3,0];f32[4,2,3]", "index_vector_dim=1;update_window_dims={1,2}",
       "Bounds of the window dimensions of updates must not exceed the bounds of the corresponding dimensions of "
       "operand. For dimension 2, updates bound is 3, operand bound is 2."},
      {"f32[2,2];s32[3,0];f32[4,2,2]", "index_vector_dim=1;update_window_dims={1,2}",
       "Bounds of the scatter dimensions of updates must be same as the bounds of the corresponding dimensions of "
       "scatter indices. For scatter dimension 0, updates bound is 4, "},
      {"s32[2,2];s32[3,0];f32[3,2,2]", "index_vector_dim=1;update_window_dims={1,2}",
       "Reduction function's accumulator shape at index 0 differs from the init_value shape: f32[] vs s32[]"},
      {"f32[2,2];s32[3,0];s32[3,2,2]", "index_vector_dim=1;update_window_dims={1,2}",
       "Reduction function's 1-th parameter shape differs from the input type element type: f32[] vs s32[]"},
  });
}

}  // namespace
}  // namespace kashi::hlo
