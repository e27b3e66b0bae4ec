#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_testing.h"
#include "kashi/array/shape_util.h"

namespace kashi::array {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

TEST(ShapeMakeTest, ArraysHaveTheDefaultLayout) {
  EXPECT_EQ(Text(ShapeUtil::MakeShape(F32, {2, 3, 0})), "f32[2,3,0]{2,1,0}");
  EXPECT_EQ(Text(ShapeUtil::MakeShape(PRED, {})), "pred[]");
  EXPECT_TRUE(ShapeUtil::MakeShape(PRED, {}).has_layout());
  EXPECT_EQ(Text(ShapeUtil::MakeShapeWithDescendingLayout(F32, {2, 3})), "f32[2,3]{1,0}");
  EXPECT_EQ(ShapeUtil::MakeScalarShape(S4), ShapeUtil::MakeShape(S4, {}));
  EXPECT_EQ(Text(ShapeUtil::MakeValidatedScalarShape(S4)), "s4[]");
  EXPECT_EQ(Text(ShapeUtil::MakeShapeWithType<int32_t>({2})), "s32[2]{0}");
  EXPECT_EQ(Text(ShapeUtil::MakeValidatedShapeWithType<double>({2})), "f64[2]{0}");
}

TEST(ShapeMakeTest, DynamicDimensions) {
  EXPECT_EQ(Text(ShapeUtil::MakeShape(F32, {2, 3}, {false, true})), "f32[2,<=3]{1,0}");
  EXPECT_EQ(Text(ShapeUtil::MakeShape(F32, {Shape::kUnboundedSize, 3})), "f32[?,3]{1,0}");
  EXPECT_EQ(Text(ShapeUtil::MakeShape(F32, {Shape::kUnboundedSize, 3}, {true, true})), "f32[?,<=3]{1,0}");
  EXPECT_EQ(Text(ShapeUtil::MakeValidatedShape(F32, {2, 3}, {true})),
            "dynamic dimensions size 1 did not match number of dimensions 2");
  EXPECT_EQ(Text(ShapeUtil::MakeValidatedShape(F32, {2, Shape::kUnboundedSize}, {false, false})),
            "Cannot mark a dynamic dimension at dim=1 as static");
}

// array-model.md, 2.6: partial products in order, the bytes of an element first.
TEST(ShapeMakeTest, SizesFitInt64) {
  EXPECT_THAT(Text(ShapeUtil::MakeValidatedShape(F32, {int64_t{1} << 61})),
              HasSubstr("overflow in static extent product: dimensions=[2305843009213693952]"));
  EXPECT_TRUE(ShapeUtil::MakeValidatedShape(F32, {(int64_t{1} << 61) - 1}).ok());
  EXPECT_TRUE(ShapeUtil::MakeValidatedShape(U8, {kLargest}).ok());
  EXPECT_FALSE(ShapeUtil::MakeValidatedShape(U8, {kLargest, 2}).ok());
  const int64_t big = int64_t{1} << 62;
  EXPECT_THAT(Text(ShapeUtil::MakeValidatedShape(U8, {big, 2, 0})), HasSubstr("overflow in static extent product"));
  EXPECT_TRUE(ShapeUtil::MakeValidatedShape(U8, {0, big, 2}).ok());
  EXPECT_TRUE(ShapeUtil::MakeValidatedShape(U8, {Shape::kUnboundedSize, big}).ok());
  EXPECT_FALSE(ShapeUtil::MakeValidatedShape(F32, {Shape::kUnboundedSize, big}).ok());
}

TEST(ShapeMakeTest, BadArguments) {
  EXPECT_EQ(Text(ShapeUtil::MakeValidatedShape(F32, {2, -1})), "invalid shape type=11, dims=[2,-1]");
  EXPECT_EQ(ShapeUtil::MakeValidatedShape(F32, {2, -1}).status().code(), absl::StatusCode::kInvalidArgument);
  for (PrimitiveType type : {TOKEN, TUPLE, OPAQUE_TYPE, BUFFER, PRIMITIVE_TYPE_INVALID}) {
    EXPECT_EQ(Text(ShapeUtil::MakeValidatedShape(type, {})),
              "element type must be an array type, got " + PrimitiveType_Name(type));
  }
}

TEST(ShapeMakeDeathTest, MakeDiesWhereMakeValidatedFails) {
  EXPECT_DEATH(ShapeUtil::MakeShape(F32, {-1}), "invalid shape type");
  EXPECT_DEATH(ShapeUtil::MakeShape(TUPLE, {}), "element type must be an array type");
  EXPECT_DEATH(ShapeUtil::MakeShape(F32, {1}, {}), "dynamic dimensions size 0");
  EXPECT_DEATH(ShapeUtil::MakeShapeWithDenseLayout(F32, {1}, {1}), "out-of-bounds");
}

TEST(ShapeMakeTest, DenseLayout) {
  EXPECT_EQ(
      Text(ShapeUtil::MakeShapeWithDenseLayout(BF16, {2, 3}, {0, 1}, {Tile({8, 128}), Tile({2, 1})},
                                               /*tail_padding_alignment_in_elements=*/2,
                                               /*element_size_in_bits=*/32, /*memory_space=*/5, {SplitConfig(0, {1})})),
      "bf16[2,3]{0,1:T(8,128)(2,1)L(2)E(32)S(5)SC(0:1)}");
  EXPECT_EQ(Text(ShapeUtil::MakeValidatedShapeWithSparseLayout(F32, {2, 3}, {0, 1})), "f32[2,3]{0,1}");
}

TEST(ShapeMakeTest, NaturalElementSizeIsStoredAsZero) {
  const auto element_size = [](PrimitiveType type, int64_t bits) {
    return ShapeUtil::MakeShapeWithDenseLayout(type, {2}, {0}, {}, 1, bits).layout().element_size_in_bits();
  };
  EXPECT_EQ(element_size(F32, 32), 0);
  EXPECT_EQ(element_size(F32, 0), 0);
  EXPECT_EQ(element_size(F32, 16), 16);
  EXPECT_EQ(element_size(PRED, 8), 0);
  EXPECT_EQ(element_size(S4, 8), 0);
  EXPECT_EQ(element_size(S4, 4), 4);
}

TEST(ShapeMakeTest, DenseLayoutErrors) {
  EXPECT_EQ(Text(ShapeUtil::MakeValidatedShapeWithDenseLayout(F32, {2, 3}, {0})),
            "Dimensions size is 2, but layout size is 1.");
  EXPECT_EQ(Text(ShapeUtil::MakeValidatedShapeWithDenseLayout(TOKEN, {}, {})),
            "element type must be an array type, got TOKEN");
  EXPECT_EQ(Text(ShapeUtil::MakeValidatedShapeWithDenseLayout(F32, {2, 3}, {1, 1})),
            "layout minor_to_major field has duplicate values: {1, 1}; shape: f32[2,3]");
  EXPECT_EQ(Text(ShapeUtil::MakeValidatedShapeWithDenseLayout(F32, {2}, {0}, {}, 0)),
            "layout tail_padding_alignment_in_elements field is <= 0: {0}");
  EXPECT_EQ(Text(ShapeUtil::MakeValidatedShapeWithDenseLayout(F32, {2}, {0}, {}, 1, -5)),
            "layout element_size_in_bits field is negative: -5");
  EXPECT_FALSE(ShapeUtil::MakeValidatedShapeWithDenseLayout(F32, {kLargest, 2}, {0, 1}).ok());
}

TEST(ShapeMakeTest, DescendingLayoutAndSamePhysicalLayout) {
  const auto same = ShapeUtil::MakeValidatedShapeWithDescendingLayoutAndSamePhysicalLayout;
  EXPECT_EQ(Text(same(S("f32[128,24,4,48,48]{2,4,3,1,0}"))), "f32[128,24,48,48,4]{4,3,2,1,0}");
  EXPECT_EQ(Text(same(S("s4[2,<=3,?]{0,2,1:T(2)L(8)E(4)S(1)}"))), "s4[<=3,?,2]{2,1,0:T(2)L(8)E(4)S(1)}");
  EXPECT_EQ(Text(ShapeUtil::MakeShapeWithDescendingLayoutAndSamePhysicalLayout(S("f32[]"))), "f32[]");
  EXPECT_EQ(Text(same(Shape(F32, {2}))), "shape f32[2] does not have a layout");
  EXPECT_DEATH(ShapeUtil::MakeShapeWithDescendingLayoutAndSamePhysicalLayout(Shape(F32, {2})),
               "does not have a layout");
}

TEST(ShapeMakeTest, StaticShapes) {
  const Shape shape = S("(f32[<=2,3]{1,0:M(64)}, (s8[<=4]), token[])");
  EXPECT_EQ(Text(ShapeUtil::MakeStaticShape(shape)), "(f32[2,3]{1,0}, (s8[4]{0}), token[])");
  EXPECT_EQ(Text(ShapeUtil::MakeShapeWithStaticDimensions(shape)), "(f32[2,3]{1,0}, (s8[4]{0}), token[])");
  EXPECT_EQ(Text(ShapeUtil::MakeStaticShape(S("f32[2]{0:M(64)}"))), "f32[2]{0}");
}

TEST(ShapeMakeTest, Tuples) {
  const Shape f32 = S("f32[2]"), token = ShapeUtil::MakeTokenShape(), wrong = S("f32[2]{1}");
  EXPECT_EQ(Text(ShapeUtil::MakeTupleShape({f32, token})), "(f32[2]{0}, token[])");
  EXPECT_EQ(Text(ShapeUtil::MakeTupleShapeWithPtrs({&f32, &token})), "(f32[2]{0}, token[])");
  EXPECT_EQ(Text(ShapeUtil::MakeNil()), "()");
  EXPECT_TRUE(ShapeUtil::MakeTupleShapeWithPtrs({}).IsTuple());
  EXPECT_EQ(ShapeUtil::MakeMaybeTupleShape({f32}), f32);
  EXPECT_EQ(Text(ShapeUtil::MakeMaybeTupleShape({f32, f32})), "(f32[2]{0}, f32[2]{0})");
  EXPECT_EQ(Text(ShapeUtil::MakeMaybeTupleShape({})), "()");

  EXPECT_EQ(Text(ShapeUtil::MakeValidatedTupleShape({f32, token, Shape(F32, {3})})), "(f32[2]{0}, token[], f32[3])");
  const std::string message = "layout minor_to_major field has out-of-bounds value: {1}; shape: f32[2]";
  EXPECT_EQ(Text(ShapeUtil::MakeValidatedTupleShape({f32, wrong})), message);
  EXPECT_EQ(Text(ShapeUtil::MakeValidatedTupleShapeWithPtrs({&f32, &wrong})), message);
  EXPECT_EQ(Text(ShapeUtil::MakeValidatedTupleShapeWithPtrs({&f32})), "(f32[2]{0})");
  EXPECT_EQ(Text(ShapeUtil::MakeValidatedMaybeTupleShape({wrong})), message);
  EXPECT_EQ(Text(ShapeUtil::MakeValidatedMaybeTupleShape({f32})), "f32[2]{0}");
  EXPECT_EQ(Text(ShapeUtil::MakeValidatedMaybeTupleShape({f32, token})), "(f32[2]{0}, token[])");
}

TEST(ShapeMakeTest, OtherKinds) {
  EXPECT_TRUE(ShapeUtil::MakeTokenShape().IsToken());
  EXPECT_TRUE(ShapeUtil::MakeOpaqueShape().IsOpaque());
  EXPECT_EQ(Text(ShapeUtil::MakeValidatedBufferShape(F32, {2, 3})), "b(f32[2,3]{1,0})");
  EXPECT_EQ(Text(ShapeUtil::MakeValidatedBufferShape(S("f32[2,3]{0,1:T(2)}"))), "b(f32[2,3]{0,1:T(2)})");
  for (const char* text : {"token[]", "()", "(f32[2])", "b(f32[2])"}) {
    EXPECT_THAT(Text(ShapeUtil::MakeValidatedBufferShape(S(text))), HasSubstr("Buffer shape must have array shape"))
        << text;
  }
  EXPECT_THAT(Text(ShapeUtil::MakeValidatedBufferShape(TOKEN, {})), HasSubstr("must be an array type"));
  EXPECT_THAT(Text(ShapeUtil::MakeValidatedBufferShape(S("f32[2]{1}"))), HasSubstr("out-of-bounds"));
}

TEST(ShapeMakeTest, ProgramShapes) {
  const ProgramShape program = ShapeUtil::MakeProgramShape({S("f32[2]"), S("token[]")}, S("s8[]"));
  EXPECT_EQ(program.ToString(), "((unknown): f32[2], (unknown): token[]) -> s8[]");
  EXPECT_EQ(program.parameter_names(0), "");
}

TEST(ShapeMakeTest, PopulateShape) {
  Shape shape = S("(f32[])");
  EXPECT_EQ(ShapeUtil::PopulateShape(F32, {2, 3}, &shape), absl::OkStatus());
  EXPECT_EQ(Text(shape), "f32[2,3]{1,0}");
  EXPECT_EQ(ShapeUtil::PopulateShape(F32, {-2}, &shape).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace kashi::array
