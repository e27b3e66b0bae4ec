#include "kashi/array/shape.h"

#include <sstream>
#include <vector>

#include "absl/hash/hash_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_parser.h"
#include "kashi/array/shape_testing.h"

namespace kashi::array {
namespace {

using ::testing::ElementsAre;

TEST(ShapeTest, PrintsWithAndWithoutLayout) {
  const Shape tuple = S("(f32[2,<=3,?]{0,1,2:T(2)}, s32[], token[], opaque[], b(pred[4]), (), u8[1])");
  EXPECT_EQ(tuple.ToString(), "(f32[2,<=3,?], s32[], token[], opaque[], b(pred[4]), /*index=5*/(), u8[1])");
  EXPECT_EQ(tuple.ToString(/*print_layout=*/true),
            "(f32[2,<=3,?]{0,1,2:T(2)}, s32[], token[], opaque[], b(pred[4]{0}), /*index=5*/(), u8[1]{0})");
  EXPECT_EQ(WithoutLayout("f32[2]").ToString(true), "f32[2]");
  EXPECT_EQ(S("f32[]{:T(2)}").ToString(true), "f32[]{:T(2)}");
  EXPECT_EQ(Shape().ToString(), "primitive_type_invalid[]");
  std::ostringstream out;
  out << S("f32[2,3]");
  EXPECT_EQ(out.str(), "f32[2,3]{1,0}");
}

TEST(ShapeTest, KindsAreExclusiveButBuffersLookThrough) {
  EXPECT_TRUE(S("f32[2]").IsArray() && S("f32[2]").IsArrayExcludingBuffer());
  EXPECT_TRUE(S("()").IsTuple() && !S("()").IsArray());
  EXPECT_TRUE(S("token[]").IsToken() && !S("token[]").IsArray());
  EXPECT_TRUE(S("opaque[]").IsOpaque());
  const Shape buffer = S("b(f32[2,3])");
  EXPECT_TRUE(buffer.IsBuffer() && buffer.IsArray() && !buffer.IsArrayExcludingBuffer());
  EXPECT_EQ(buffer.element_type(), F32);
  EXPECT_EQ(buffer.element_type_including_buffer(), BUFFER);
  EXPECT_THAT(buffer.dimensions(), ElementsAre(2, 3));
  EXPECT_EQ(buffer.layout(), Layout({1, 0}));
}

TEST(ShapeTest, AskingTheWrongKindDies) {
  EXPECT_DEATH(S("token[]").dimensions(), "not an array shape: token");
  EXPECT_DEATH(S("(f32[])").layout(), "no layout");
  EXPECT_DEATH(S("f32[]").tuple_shapes(), "not a tuple shape: f32");
  EXPECT_DEATH(S("f32[]").buffer_shape(), "not a buffer shape");
  EXPECT_DEATH(WithoutLayout("f32[2]").layout(), "no layout");
  EXPECT_DEATH(Shape{F32}, "invalid element type");
  EXPECT_DEATH(Shape(TUPLE, {1}), "invalid element type");
}

TEST(ShapeTest, Dynamism) {
  EXPECT_TRUE(S("f32[2]").is_static());
  EXPECT_TRUE(S("(f32[2], (f32[<=2]))").is_dynamic());
  EXPECT_TRUE(S("f32[<=2]").is_bounded_dynamic() && !S("f32[<=2]").is_unbounded_dynamic());
  EXPECT_TRUE(S("(f32[?])").is_unbounded_dynamic() && !S("f32[?]").is_bounded_dynamic());
  Shape shape = S("(f32[<=2,3], f32[?], token[])");
  shape.clear_dynamic_dimensions();
  EXPECT_TRUE(shape.is_static());
  EXPECT_EQ(shape.tuple_shapes(0), S("f32[2,3]"));
  EXPECT_TRUE(Shape::IsValidDimensionSize(0, false) && Shape::IsValidDimensionSize(Shape::kUnboundedSize, true));
  EXPECT_FALSE(Shape::IsValidDimensionSize(-1, true) || Shape::IsValidDimensionSize(Shape::kUnboundedSize, false));
  EXPECT_DEATH(S("f32[]").add_dimensions(-1), "size -1");
}

TEST(ShapeTest, DeleteDimensionsTakesTheLayoutAlong) {
  Shape shape = S("f32[2,<=3,5,7]{0,2,3,1}");
  shape.DeleteDimensions({2, 0});
  EXPECT_EQ(shape, S("f32[<=3,7]{1,0}"));
  EXPECT_DEATH(shape.DeleteDimension(2), "no dimension 2");
}

TEST(ShapeTest, SetElementTypeKeepsAnArrayAndRefusesToLoseOne) {
  Shape shape = S("f32[2]{0:T(2)}");
  shape.set_element_type(BF16);
  EXPECT_EQ(shape, S("bf16[2]{0:T(2)}"));
  EXPECT_DEATH(shape.set_element_type(TUPLE), "cannot turn");
  Shape empty;
  empty.set_element_type(TUPLE);
  empty.add_tuple_shapes()->set_element_type(S32);
  EXPECT_EQ(empty.ToString(), "(s32[])");
}

// array-model.md, 2.5.
TEST(ShapeTest, EveryPartCountsInEquality) {
  EXPECT_EQ(S("f32[2]"), S("f32[2]{0}"));
  for (const char* other :
       {"f32[3]", "s32[2]", "f32[2,1]", "f32[<=2]", "f32[2]{0:S(1)}", "f32[2]{0:T(2)}", "f32[2]{0:E(32)}",
        "f32[2]{0:L(2)}", "f32[2]{0:SC(0:1)}", "(f32[2])", "b(f32[2])", "token[]"}) {
    EXPECT_NE(S("f32[2]"), S(other)) << other;
  }
  EXPECT_EQ(S("f32[2]{0:M(8)}"), S("f32[2]"));
  EXPECT_EQ(S("token[]"), S("token[]"));
  EXPECT_NE(S("token[]"), S("opaque[]"));
  EXPECT_NE(S("f32[2]"), WithoutLayout("f32[2]"));
  EXPECT_EQ(WithoutLayout("f32[2]"), WithoutLayout("f32[2]"));
}

TEST(ShapeTest, EqualOptions) {
  const auto equal = [](Shape::Equal options, const char* a, const char* b) { return options(S(a), S(b)); };
  EXPECT_TRUE(equal(Shape::Equal().IgnoreLayout(), "(f32[2,3]{0,1})", "(f32[2,3]{1,0:T(2)})"));
  EXPECT_TRUE(equal(Shape::Equal().IgnoreTilesInLayout(), "f32[2]{0:T(2)}", "f32[2]"));
  EXPECT_TRUE(equal(Shape::Equal().IgnoreElementSizeInLayout(), "s4[2]{0:E(4)}", "s4[2]"));
  EXPECT_TRUE(equal(Shape::Equal().IgnoreMemorySpaceInLayout(), "f32[2]{0:S(5)}", "f32[2]"));
  EXPECT_TRUE(equal(Shape::Equal().IgnoreTailPaddingAlignmentInElements(), "f32[2]{0:L(4)}", "f32[2]"));
  EXPECT_TRUE(equal(Shape::Equal().IgnoreSplitConfigInLayout(), "f32[2]{0:SC(0:1)}", "f32[2]"));
  EXPECT_TRUE(equal(Shape::Equal().MinorToMajorOnlyInLayout(), "f32[2]{0:T(2)E(32)S(1)}", "f32[2]"));
  EXPECT_FALSE(equal(Shape::Equal().MinorToMajorOnlyInLayout(), "f32[2,2]{0,1}", "f32[2,2]"));
  EXPECT_TRUE(equal(Shape::Equal().IgnoreElementType(), "f32[2]", "pred[2]"));
  EXPECT_TRUE(equal(Shape::Equal().IgnoreFpPrecision(), "f32[2]", "f8e5m2[2]"));
  EXPECT_FALSE(equal(Shape::Equal().IgnoreFpPrecision(), "f32[2]", "s32[2]"));
  EXPECT_TRUE(equal(Shape::Equal().IgnoreDynamicDimension(), "f32[<=2,?]", "f32[2,9]"));
  EXPECT_FALSE(equal(Shape::Equal().IgnoreDynamicDimension(), "f32[<=2]", "f32[3]"));
  EXPECT_TRUE(equal(Shape::Equal().IgnoreDimensions(), "f32[2,3]", "f32[4,5]"));
  EXPECT_FALSE(equal(Shape::Equal().IgnoreDimensions(), "f32[2,3]", "f32[4]"));
  EXPECT_TRUE(equal(Shape::Equal().IgnoreBuffer(), "b(f32[2])", "f32[2]"));
  EXPECT_FALSE(equal(Shape::Equal().IgnoreBuffer(), "b(f32[2])", "token[]"));
}

TEST(ShapeTest, HashAgreesWithEquality) {
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly(
      {S("f32[2]"), S("f32[2]{0:M(8)}"), S("f32[<=2]"), S("f32[2,3]"), S("f32[2,3]{0,1}"), S("(f32[2])"),
       S("((f32[2]))"), S("()"), S("b(f32[2])"), S("token[]"), S("opaque[]"), WithoutLayout("f32[2]"), Shape()}));
}

TEST(ShapeTest, CopiesOfBuffersAreDeep) {
  const Shape buffer = S("b(f32[2])");
  Shape copy = buffer;
  copy.mutable_buffer_shape()->set_dimensions(0, 5);
  EXPECT_EQ(buffer, S("b(f32[2])"));
  EXPECT_EQ(copy, S("b(f32[5])"));
}

TEST(ShapeTest, AreAllLeavesIntegers) {
  EXPECT_TRUE(S("(s32[2], (u4[]))").AreAllLeavesIntegers());
  EXPECT_FALSE(S("(s32[2], (pred[]))").AreAllLeavesIntegers());
  EXPECT_FALSE(S("token[]").AreAllLeavesIntegers());
}

TEST(ProgramShapeTest, PrintsNamesAndNeverLayouts) {
  ProgramShape program;
  program.AddParameter(S("f32[2]{0:T(2)}"), "x");
  program.AddParameter(S("(s32[], token[])"), "");
  *program.mutable_result() = S("f32[]");
  EXPECT_EQ(program.ToString(), "(x: f32[2], (unknown): (s32[], token[])) -> f32[]");
  program.clear_parameter_names();
  EXPECT_EQ(program.ToString(), "((unknown): f32[2], (unknown): (s32[], token[])) -> f32[]");
  std::ostringstream out;
  out << program;
  EXPECT_EQ(out.str(), program.ToString() + "\n");
  program.clear_parameters();
  EXPECT_EQ(program.ToString(), "() -> f32[]");
}

}  // namespace
}  // namespace kashi::array
