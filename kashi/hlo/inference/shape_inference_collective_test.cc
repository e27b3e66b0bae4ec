// XLA's parser infers none of these, so they are tested against docs/spec/hlo-ops.md, 7.2.
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_parser.h"
#include "kashi/hlo/inference/shape_inference.h"
#include "kashi/hlo/inference/shape_inference_internal.h"

namespace kashi::hlo {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

// "f32[2];f32[3]"
std::vector<Shape> Shapes(absl::string_view text) {
  std::vector<Shape> shapes;
  for (absl::string_view shape : absl::StrSplit(text, ';', absl::SkipEmpty())) shapes.push_back(*ParseShape(shape));
  return shapes;
}

std::string Text(const absl::StatusOr<Shape>& shape) {
  return shape.ok() ? shape->ToString(/*print_layout=*/true) : absl::StrCat("error: ", shape.status().message());
}

bool IsRetCheck(const absl::StatusOr<Shape>& shape) { return shape.status().code() == absl::StatusCode::kInternal; }

// ---- all-gather ----------------------------------------------------------------------------------------------------

absl::StatusOr<Shape> AllGather(absl::string_view operands, int64_t dimension, int64_t shards) {
  const std::vector<Shape> shapes = Shapes(operands);
  return ShapeInference::InferAllGatherShape(shape_inference::PointersTo(shapes), dimension, shards);
}

TEST(InferAllGatherShapeTest, OneDimensionGrows) {
  EXPECT_EQ(Text(AllGather("f32[2,3]{0,1}", 1, 4)), "f32[2,12]{0,1}");
  EXPECT_EQ(Text(AllGather("f32[2,3];s8[5]", 0, 2)), "(f32[4,3]{1,0}, s8[10]{0})");
  // A bound becomes a size; `?` stays.
  EXPECT_EQ(Text(AllGather("f32[<=2,<=3]", 0, 4)), "f32[8,<=3]{1,0}");
  EXPECT_EQ(Text(AllGather("f32[?]", 0, 4)), "f32[?]{0}");
}

TEST(InferAllGatherShapeTest, Errors) {
  EXPECT_TRUE(IsRetCheck(AllGather("f32[2]", -1, 0)));
  EXPECT_TRUE(IsRetCheck(AllGather("f32[2]", 0, 0)));
  EXPECT_TRUE(IsRetCheck(AllGather("f32[2]", 0, -3)));
  EXPECT_TRUE(IsRetCheck(AllGather("f32[2]", 1, 2)));
  EXPECT_TRUE(IsRetCheck(AllGather("f32[2,2];f32[2]", 1, 2)));
  EXPECT_EQ(Text(AllGather("token[]", 0, 2)),
            "error: Expected array argument for operand of all-gather, but got token[].");
  EXPECT_EQ(AllGather("f32[4]", 0, kMax).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(AllGather("f32[4]", 0, kMax / 4).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(InferAllGatherStartShapeTest, OperandsAndResults) {
  const std::vector<Shape> one = Shapes("f32[2]"), two = Shapes("f32[2]{0};s8[3]{0}");
  EXPECT_EQ(Text(ShapeInference::InferAllGatherStartShape(shape_inference::PointersTo(one), 0, 2)),
            "(f32[2]{0}, f32[4]{0})");
  const absl::StatusOr<Shape> start = ShapeInference::InferAllGatherStartShape(shape_inference::PointersTo(two), 0, 2);
  EXPECT_EQ(Text(start), "((f32[2]{0}, s8[3]{0}), (f32[4]{0}, s8[6]{0}))");
  EXPECT_EQ(Text(ShapeInference::InferAllGatherDoneShape(*start)), "(f32[4]{0}, s8[6]{0})");
  EXPECT_TRUE(IsRetCheck(ShapeInference::InferAllGatherStartShape(shape_inference::PointersTo(one), 1, 2)));
  EXPECT_TRUE(IsRetCheck(ShapeInference::InferAllGatherDoneShape(one[0])));
  EXPECT_TRUE(IsRetCheck(ShapeInference::InferAllGatherDoneShape(ShapeUtil::MakeNil())));
}

// ---- reduce-scatter ------------------------------------------------------------------------------------------------

absl::StatusOr<Shape> ReduceScatter(absl::string_view operands, int64_t dimension, int64_t shards) {
  const std::vector<Shape> shapes = Shapes(operands);
  return ShapeInference::InferReduceScatterShape(shape_inference::PointersTo(shapes), dimension, shards);
}

TEST(InferReduceScatterShapeTest, OneDimensionShrinks) {
  EXPECT_EQ(Text(ReduceScatter("f32[2,12]{0,1}", 1, 4)), "f32[2,3]{0,1}");
  EXPECT_EQ(Text(ReduceScatter("f32[4,3];s8[10]", 0, 2)), "(f32[2,3]{1,0}, s8[5]{0})");
  EXPECT_EQ(Text(ReduceScatter("f32[<=8,<=3]", 0, 4)), "f32[?,<=3]{1,0}");
  EXPECT_EQ(Text(ReduceScatter("f32[?]", 0, 4)), "f32[?]{0}");
}

TEST(InferReduceScatterShapeTest, Errors) {
  EXPECT_TRUE(IsRetCheck(ReduceScatter("f32[2]", -1, 0)));
  EXPECT_TRUE(IsRetCheck(ReduceScatter("f32[2]", 0, 0)));
  EXPECT_TRUE(IsRetCheck(ReduceScatter("f32[2]", 1, 2)));
  EXPECT_EQ(Text(ReduceScatter("()", 0, 2)),
            "error: Expected array argument for operand of reduce-scatter, but got ().");
  EXPECT_EQ(Text(ReduceScatter("f32[5]", 0, 2)),
            "error: ReduceScatter operand scatter dimension size 5 must be dividable by shard_count 2.");
  EXPECT_EQ(Text(ReduceScatter("f32[<=5]", 0, 2)),
            "error: ReduceScatter operand scatter dimension size 5 must be dividable by shard_count 2.");
}

// ---- all-reduce ----------------------------------------------------------------------------------------------------

TEST(InferAllReduceShapeTest, TheOperandsShapes) {
  const std::vector<Shape> one = Shapes("f32[2,<=3]{0,1}"), two = Shapes("f32[2];s8[3]"),
                           bad = Shapes("f32[2]{0};token[]");
  EXPECT_EQ(Text(ShapeInference::InferAllReduceShape(shape_inference::PointersTo(one))), "f32[2,<=3]{0,1}");
  EXPECT_EQ(Text(ShapeInference::InferAllReduceShape(shape_inference::PointersTo(two))), "(f32[2]{0}, s8[3]{0})");
  EXPECT_EQ(Text(ShapeInference::InferAllReduceStartShape(shape_inference::PointersTo(two))), "(f32[2]{0}, s8[3]{0})");
  EXPECT_EQ(Text(ShapeInference::InferAllReduceDoneShape(one[0])), "f32[2,<=3]{0,1}");
  EXPECT_EQ(Text(ShapeInference::InferAllReduceShape(shape_inference::PointersTo(bad))),
            "error: Expected array argument for operand of cross replica sum, but got token[].");
}

// ---- all-to-all ----------------------------------------------------------------------------------------------------

absl::StatusOr<Shape> AllToAll(absl::string_view shape, int64_t split, int64_t concat, int64_t count) {
  return ShapeInference::InferAllToAllShape(*ParseShape(shape), split, concat, count);
}

TEST(InferAllToAllShapeTest, SplitAndConcatenated) {
  EXPECT_EQ(Text(AllToAll("f32[6,5]", 0, 1, 3)), "f32[2,15]{1,0}");
  EXPECT_EQ(Text(AllToAll("f32[6,5]{0,1}", 0, 0, 3)), "f32[6,5]{1,0}");
  EXPECT_EQ(Text(AllToAll("f32[?,5]", 0, 1, 3)), "f32[?,15]{1,0}");
  EXPECT_EQ(Text(AllToAll("f32[6,?]", 0, 1, 3)), "f32[2,?]{1,0}");
}

TEST(InferAllToAllShapeTest, Errors) {
  EXPECT_TRUE(IsRetCheck(AllToAll("f32[<=6]", 9, 9, 0)));
  EXPECT_TRUE(IsRetCheck(AllToAll("f32[<=6]", 9, 9, 3)));
  EXPECT_EQ(Text(AllToAll("f32[5]", 1, -1, 3)), "error: AllToAll split_dimension 1 is out-of-bounds in shape f32[5].");
  EXPECT_EQ(Text(AllToAll("f32[5]", 0, -1, 3)),
            "error: AllToAll concat_dimension -1 is out-of-bounds in shape f32[5].");
  EXPECT_EQ(Text(AllToAll("()", 0, 0, 3)), "error: AllToAll split_dimension 0 is out-of-bounds in shape ().");
  EXPECT_EQ(Text(AllToAll("f32[5]", 0, 0, 3)),
            "error: AllToAll split dimension size 5 must be dividable by split_count 3.");
  EXPECT_FALSE(AllToAll("f32[0,4]", 0, 1, kMax).ok());
}

absl::StatusOr<Shape> AllToAllTuple(absl::string_view operands) {
  const std::vector<Shape> shapes = Shapes(operands);
  return ShapeInference::InferAllToAllTupleShape(shape_inference::PointersTo(shapes));
}

TEST(InferAllToAllTupleShapeTest, EqualOperandsInATuple) {
  EXPECT_EQ(Text(AllToAllTuple("f32[2]{0}")), "(f32[2]{0})");
  EXPECT_EQ(Text(AllToAllTuple("f32[2]{0:S(1)};f32[2]{0}")), "(f32[2]{0:S(1)}, f32[2]{0})");
  EXPECT_TRUE(IsRetCheck(AllToAllTuple("")));
  EXPECT_EQ(Text(AllToAllTuple("f32[2];f32[3];f32[?]")),
            "error: AllToAllTuple does not support unbounded dynamic shapes");
  EXPECT_EQ(Text(AllToAllTuple("f32[2]{0};f32[2]{0};f32[3]{0}")),
            "error: HLO all-to-all has operands with different shapes: the 0th operand shape f32[2]{0}, but the 2th "
            "operand has shape f32[3]{0}.");
}

absl::StatusOr<Shape> RaggedAllToAll(absl::string_view operands) {
  const std::vector<Shape> shapes = Shapes(operands);
  return ShapeInference::InferRaggedAllToAllShape(shape_inference::PointersTo(shapes));
}

TEST(InferRaggedAllToAllShapeTest, TheOutputOperand) {
  EXPECT_EQ(Text(RaggedAllToAll("f32[8];f32[9]{0};s32[2];s32[2];s32[2];s32[2]")), "f32[9]{0}");
  EXPECT_TRUE(IsRetCheck(RaggedAllToAll("f32[8];f32[9]")));
  EXPECT_EQ(Text(RaggedAllToAll("f32[8];f32[9];s32[];s32[2];s32[2];s32[2]")),
            "error: RaggedAllToAll operand 2 must be rank 1 or 2: s32[]");
  EXPECT_EQ(Text(RaggedAllToAll("f32[8];f32[9];s32[2];s32[2];();s32[2]")),
            "error: RaggedAllToAll operand 4 must be rank 1 or 2: ()");
  EXPECT_EQ(Text(RaggedAllToAll("f32[8];f32[9];s32[2];s32[2];s32[2];s32[3]")),
            "error: RaggedAllToAll operands have different shapes (2, 5): s32[2]{0} vs s32[3]{0}");
}

// ---- collective-permute, collective-broadcast ----------------------------------------------------------------------

TEST(InferCollectivePermuteShapeTest, TheOperandsShapes) {
  const std::vector<Shape> one = Shapes("f32[2]{0}"), two = Shapes("f32[2];s8[3]"), bad = Shapes("f32[2]{0};()");
  const std::vector<Shape> in_place = Shapes("f32[2]{0};f32[9]{0};();()");
  EXPECT_EQ(Text(ShapeInference::InferCollectivePermuteShape(shape_inference::PointersTo(one), false)), "f32[2]{0}");
  EXPECT_EQ(Text(ShapeInference::InferCollectivePermuteShape(shape_inference::PointersTo(two), false)),
            "(f32[2]{0}, s8[3]{0})");
  EXPECT_EQ(Text(ShapeInference::InferCollectivePermuteShape(shape_inference::PointersTo(bad), false)),
            "error: Expected array argument for operand of collective-permute, but got ().");
  EXPECT_EQ(Text(ShapeInference::InferCollectivePermuteShape(shape_inference::PointersTo(in_place), true)),
            "f32[9]{0}");
  EXPECT_TRUE(IsRetCheck(ShapeInference::InferCollectivePermuteShape(shape_inference::PointersTo(two), true)));
}

TEST(InferCollectivePermuteStartShapeTest, OperandsResultsContexts) {
  const std::vector<Shape> one = Shapes("f32[2]"), two = Shapes("f32[2];s8[3]"), contexts = Shapes("u32[];u32[]");
  const std::vector<Shape> in_place = Shapes("f32[2]{0};f32[9]{0};();()");
  EXPECT_EQ(Text(ShapeInference::InferCollectivePermuteStartShape(shape_inference::PointersTo(one), contexts, false)),
            "(f32[2]{0}, f32[2]{0}, u32[], u32[])");
  const absl::StatusOr<Shape> start =
      ShapeInference::InferCollectivePermuteStartShape(shape_inference::PointersTo(two), {}, false);
  EXPECT_EQ(Text(start), "((f32[2]{0}, s8[3]{0}), (f32[2]{0}, s8[3]{0}))");
  EXPECT_EQ(Text(ShapeInference::InferCollectivePermuteDoneShape(*start)), "(f32[2]{0}, s8[3]{0})");
  EXPECT_EQ(Text(ShapeInference::InferCollectivePermuteStartShape(shape_inference::PointersTo(in_place), {}, true)),
            "(f32[2]{0}, f32[9]{0})");
  EXPECT_TRUE(IsRetCheck(ShapeInference::InferCollectivePermuteDoneShape(one[0])));
}

TEST(InferCollectiveBroadcastShapeTest, TheFirstOperandsShape) {
  const std::vector<Shape> one = Shapes("f32[2]{0}"), bad = Shapes("token[]");
  EXPECT_EQ(Text(ShapeInference::InferCollectiveBroadcastShape(shape_inference::PointersTo(one))), "f32[2]{0}");
  EXPECT_TRUE(absl::StartsWith(Text(ShapeInference::InferCollectiveBroadcastShape(shape_inference::PointersTo(bad))),
                               "error: Expected array argument for operand of collective-broadcast"));
  EXPECT_TRUE(IsRetCheck(ShapeInference::InferCollectiveBroadcastShape({})));
}

TEST(InferCollectiveReduceShapeTest, TheOperandsShapesWithoutTheRoots) {
  const auto reduce = [](const char* shapes, bool has_dynamic_root) {
    const std::vector<Shape> operands = Shapes(shapes);
    return Text(ShapeInference::InferCollectiveReduceShape(shape_inference::PointersTo(operands), has_dynamic_root));
  };
  const auto broadcast = [](const char* shapes) {
    const std::vector<Shape> operands = Shapes(shapes);
    return Text(ShapeInference::InferCollectiveBroadcastShape(shape_inference::PointersTo(operands), true));
  };
  EXPECT_EQ(reduce("f32[2]{0}", false), "f32[2]{0}");
  EXPECT_EQ(reduce("f32[2]{0};s8[3]", false), "(f32[2]{0}, s8[3]{0})");
  EXPECT_EQ(reduce("f32[2]{0};s32[1]", true), "f32[2]{0}");
  EXPECT_EQ(reduce("f32[2]{0};s8[3];s32[2]", true), "(f32[2]{0}, s8[3]{0})");
  EXPECT_EQ(broadcast("f32[2]{0};s8[3];s32[2]"), "(f32[2]{0}, s8[3]{0})");
  EXPECT_EQ(broadcast("f32[2]{0};s32[1]"), "f32[2]{0}");
  EXPECT_EQ(reduce("f32[2]{0}", true),
            "error: collective-reduce with has_dynamic_root must have at least one data operand followed by a root "
            "operand");
  for (const char* roots : {"f32[2]{0};s32[2]", "f32[2]{0};s64[1]", "f32[2]{0};s32[]", "f32[2]{0};()"}) {
    EXPECT_TRUE(absl::StartsWith(reduce(roots, true), "error: The last operand of collective-reduce with")) << roots;
    EXPECT_TRUE(absl::StartsWith(broadcast(roots), "error: The last operand of collective-broadcast with")) << roots;
  }
  EXPECT_TRUE(absl::StartsWith(reduce("token[]", false), "error: Expected array argument for operand of"));
  EXPECT_EQ(Text(ShapeInference::InferCollectiveReduceShape({})),
            "error: collective-reduce must have at least one operand");
}

TEST(InferShuffleShapeTest, DimensionsWithShifts) {
  const Shape shape = Shapes("f32[4,3]{0,1}")[0];
  EXPECT_EQ(Text(ShapeInference::InferShuffleShape(shape, {1, 0}, {7, -1})), "f32[4,3]{0,1}");
  EXPECT_EQ(Text(ShapeInference::InferShuffleShape(shape, {}, {})),
            "error: A shuffle must shuffle at least one dimension.");
  EXPECT_EQ(Text(ShapeInference::InferShuffleShape(shape, {1, 1}, {1, 2})),
            "error: A dimension number is duplicated in shuffle.");
  EXPECT_EQ(Text(ShapeInference::InferShuffleShape(shape, {2}, {1})),
            "error: One of the shuffle dimensions (2) is out-of-bounds in shape f32[4,3].");
  EXPECT_EQ(Text(ShapeInference::InferShuffleShape(shape, {0, 1}, {1})),
            "error: dimensions and shifts must have the same size, got 2 and 1.");
  EXPECT_TRUE(absl::StartsWith(Text(ShapeInference::InferShuffleShape(Shapes("()")[0], {0}, {1})),
                               "error: Expected array argument for operand of shuffle"));
}

}  // namespace
}  // namespace kashi::hlo
