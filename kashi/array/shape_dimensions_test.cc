#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/permutation_util.h"
#include "kashi/array/shape_testing.h"
#include "kashi/array/shape_util.h"

namespace kashi::array {
namespace {

TEST(ChangeElementType, KeepsTheElementSizeOfNarrowTypesOnly) {
  EXPECT_EQ(Text(ShapeUtil::ChangeElementType(S("f32[2,<=3]{0,1:T(2)S(1)}"), S32)), "s32[2,<=3]{0,1:T(2)S(1)}");
  EXPECT_EQ(Text(ShapeUtil::ChangeElementType(S("s4[8]{0:E(4)}"), S8)), "s8[8]{0}");
  EXPECT_EQ(Text(ShapeUtil::ChangeElementType(S("s4[8]{0:E(4)}"), U4)), "u4[8]{0:E(4)}");
  EXPECT_EQ(Text(ShapeUtil::ChangeElementType(S("s4[8]{0:E(4)}"), PRED)), "pred[8]{0}");
  EXPECT_EQ(Text(ShapeUtil::ChangeElementType(WithoutLayout("f32[2]"), F16)), "f16[2]");
}

TEST(ChangeElementType, Tuples) {
  EXPECT_EQ(Text(ShapeUtil::ChangeElementType(S("(f32[2]{0}, (s4[3]{0:E(4)}), ())"), F64)),
            "(f64[2]{0}, (f64[3]{0}), ())");
}

TEST(ChangeElementType, Buffers) {
  EXPECT_EQ(Text(ShapeUtil::ChangeElementType(S("b(f32[2]{0})"), S8)), "b(s8[2]{0})");
}

TEST(ComplexComponentShape, Halves) {
  EXPECT_EQ(Text(ShapeUtil::ComplexComponentShape(S("c64[2,3]{0,1}"))), "f32[2,3]{0,1}");
  EXPECT_EQ(Text(ShapeUtil::ComplexComponentShape(S("c128[]"))), "f64[]");
  EXPECT_DEATH(ShapeUtil::ComplexComponentShape(S("f32[2]")), "f32");
}

TEST(Tuples, AppendUpdateSlice) {
  Shape tuple = S("(f32[2]{0}, (s32[]))");
  ShapeUtil::AppendShapeToTuple(S("token[]"), &tuple);
  EXPECT_EQ(Text(tuple), "(f32[2]{0}, (s32[]), token[])");
  ShapeUtil::AppendShapeToTuple(tuple.tuple_shapes(0), &tuple);
  EXPECT_EQ(Text(tuple), "(f32[2]{0}, (s32[]), token[], f32[2]{0})");
  ShapeUtil::UpdateTupleShape(S("u8[]"), 2, &tuple);
  ShapeUtil::UpdateTupleShape(tuple.tuple_shapes(1).tuple_shapes(0), 1, &tuple);
  EXPECT_EQ(Text(tuple), "(f32[2]{0}, s32[], u8[], f32[2]{0})");
  EXPECT_EQ(Text(ShapeUtil::SliceTuple(tuple, 1, 3)), "(s32[], u8[])");
  EXPECT_EQ(Text(ShapeUtil::SliceTuple(tuple, 4, 4)), "()");
  EXPECT_DEATH(ShapeUtil::SliceTuple(tuple, 2, 5), "");
  EXPECT_DEATH(ShapeUtil::SliceTuple(tuple, 2, 1), "");
  EXPECT_DEATH(ShapeUtil::UpdateTupleShape(S("u8[]"), 4, &tuple), "");
}

TEST(DynamicDimensions, UpdateAndCopy) {
  Shape shape = S("(f32[2,3]{1,0}, (s32[4]{0}))");
  ShapeUtil::UpdateDynamicDimension(&shape, {0}, 1, true);
  ShapeUtil::UpdateDynamicDimension(&shape, {1, 0}, 0, true);
  EXPECT_EQ(Text(shape), "(f32[2,<=3]{1,0}, (s32[<=4]{0}))");
  ShapeUtil::UpdateDynamicDimension(&shape, {0}, 1, false);
  EXPECT_EQ(Text(shape), "(f32[2,3]{1,0}, (s32[<=4]{0}))");
  EXPECT_DEATH(ShapeUtil::UpdateDynamicDimension(&shape, {1}, 0, true), "");
  EXPECT_DEATH(ShapeUtil::UpdateDynamicDimension(&shape, {0}, 2, true), "");

  Shape to = S("f32[<=5,6]{0,1}");
  ShapeUtil::CopyDynamicDimensions(&to, S("s8[1,<=2]"));
  EXPECT_EQ(Text(to), "f32[5,<=6]{0,1}");
  EXPECT_DEATH(ShapeUtil::CopyDynamicDimensions(&to, S("s8[1]")), "");
}

TEST(AppendDimension, MajorAndMinor) {
  Shape major = S("f32[2,<=3]{0,1:T(2)S(1)}"), minor = major, scalar = S("f32[]"), bare = WithoutLayout("f32[2]");
  ShapeUtil::AppendMajorDimension(5, &major);
  EXPECT_EQ(Text(major), "f32[2,<=3,5]{0,1,2:T(2)S(1)}");
  ShapeUtil::AppendMinorDimension(5, &minor);
  EXPECT_EQ(Text(minor), "f32[2,<=3,5]{2,0,1:T(2)S(1)}");
  ShapeUtil::AppendMajorDimension(4, &scalar);
  ShapeUtil::AppendMinorDimension(7, &scalar);
  EXPECT_EQ(Text(scalar), "f32[4,7]{1,0}");
  ShapeUtil::AppendMajorDimension(3, &bare);
  ShapeUtil::AppendMinorDimension(4, &bare);
  EXPECT_EQ(Text(bare), "f32[2,3,4]");
}

TEST(PrependMajorDimension, DropsFlagsAndTiles) {
  EXPECT_EQ(Text(ShapeUtil::PrependMajorDimension(5, S("f32[2,<=3]{0,1:T(2)S(1)}"))), "f32[5,2,3]{1,2,0}");
  EXPECT_EQ(Text(ShapeUtil::PrependMajorDimension(5, S("f32[]"))), "f32[5]{0}");
  EXPECT_EQ(Text(ShapeUtil::PrependMajorDimension(5, WithoutLayout("f32[2]"))), "f32[5,2]");
}

TEST(InsertDimensions, Places) {
  EXPECT_EQ(Text(ShapeUtil::InsertDimensionAtIndex(S("f32[2,3]{1,0}"), 0, 9)), "f32[9,2,3]{2,1,0}");
  EXPECT_EQ(Text(ShapeUtil::InsertDimensionAtIndex(S("f32[2,3]{1,0}"), 1, 9)), "f32[2,9,3]{2,1,0}");
  EXPECT_EQ(Text(ShapeUtil::InsertDimensionAtIndex(S("f32[2,3]{1,0}"), 2, 9)), "f32[2,3,9]{2,1,0}");
  EXPECT_EQ(Text(ShapeUtil::InsertDimensionAtIndex(S("f32[2,3]{0,1}"), 0, 9)), "f32[9,2,3]{1,0,2}");
  EXPECT_EQ(Text(ShapeUtil::InsertDimensionAtIndex(S("f32[2,3]{0,1}"), 1, 9)), "f32[2,9,3]{0,2,1}");
  EXPECT_EQ(Text(ShapeUtil::InsertDimensionAtIndex(S("f32[2,3]{0,1}"), 2, 9)), "f32[2,3,9]{2,0,1}");
  EXPECT_EQ(Text(ShapeUtil::InsertDimensionsAtIndex(S("f32[2,<=3]{0,1:T(2)}"), 1, {8, 9})), "f32[2,8,9,3]{0,3,2,1}");
  EXPECT_EQ(Text(ShapeUtil::InsertDimensionsAtIndex(S("f32[]"), 0, {8, 9})), "f32[8,9]{1,0}");
  EXPECT_EQ(Text(ShapeUtil::InsertDimensionAtIndex(WithoutLayout("f32[2,3]"), 1, 9)), "f32[2,9,3]");
  EXPECT_DEATH(ShapeUtil::InsertDimensionAtIndex(S("f32[2]"), 2, 9), "");
  EXPECT_DEATH(ShapeUtil::InsertDimensionAtIndex(S("f32[2]"), -1, 9), "");
}

TEST(InsertDimensions, DeleteTakesThemOutAgain) {
  for (int64_t rank = 0; rank <= 4; ++rank) {
    std::vector<int64_t> sizes(rank);
    std::iota(sizes.begin(), sizes.end(), 2);
    for (const auto& order : Permutations(rank)) {
      const Shape shape = ShapeUtil::MakeShapeWithDenseLayout(F32, sizes, order);
      for (int64_t at = 0; at <= rank; ++at) {
        const Shape more = ShapeUtil::InsertDimensionsAtIndex(shape, at, {11, 12, 13});
        ASSERT_TRUE(ShapeUtil::ValidateShape(more).ok()) << more;
        ASSERT_EQ(more,
                  ShapeUtil::InsertDimensionAtIndex(ShapeUtil::InsertDimensionsAtIndex(shape, at, {12, 13}), at, 11))
            << more;
        ASSERT_EQ(ShapeUtil::DeleteDimensions({at + 1, at + 2, at}, more), shape) << more;
        ASSERT_EQ(ShapeUtil::FilterDimensions([&](int64_t d) { return d < at || d >= at + 3; }, more), shape) << more;
        const Shape ones = ShapeUtil::InsertDimensionsAtIndex(shape, at, {1, 1});
        ASSERT_EQ(ShapeUtil::DropDegenerateDimensions(ones), shape) << ones;
        ASSERT_TRUE(ShapeUtil::ReshapeIsBitcast(shape, ones)) << ones;
      }
      const Shape prepended = ShapeUtil::PrependMajorDimension(7, shape);
      ASSERT_EQ(ShapeUtil::DeleteDimension(0, prepended), shape);
      Shape appended = shape;
      ShapeUtil::AppendMinorDimension(7, &appended);
      ASSERT_EQ(ShapeUtil::DeleteDimension(rank, appended), shape);
      ASSERT_EQ(ShapeUtil::InsertDimensionAtIndex(shape, rank, 7), appended);
    }
  }
}

TEST(DeleteDimensions, KeepTheRestAsItIs) {
  EXPECT_EQ(Text(ShapeUtil::DeleteDimension(1, S("f32[2,3,<=4]{1,2,0:T(2)E(8)}"))), "f32[2,<=4]{1,0:T(2)E(8)}");
  EXPECT_EQ(Text(ShapeUtil::DeleteDimensions({}, S("f32[2]"))), "f32[2]{0}");
  EXPECT_EQ(Text(ShapeUtil::DropDegenerateDimensions(S("f32[1,2,1,0]{0,3,1,2}"))), "f32[2,0]{1,0}");
  EXPECT_DEATH(ShapeUtil::DeleteDimension(1, S("f32[2]")), "");
}

TEST(MoveDimToMajor, DropsTheOtherPartsOfTheLayout) {
  EXPECT_EQ(Text(ShapeUtil::MoveDimToMajor(S("f32[10,10,10]{2,1,0}"), 0)), "f32[10,10,10]{2,1,0}");
  EXPECT_EQ(Text(ShapeUtil::MoveDimToMajor(S("f32[10,10,10]{2,1,0}"), 1)), "f32[10,10,10]{2,0,1}");
  EXPECT_EQ(Text(ShapeUtil::MoveDimToMajor(S("f32[10,10,10]{2,0,1}"), 0)), "f32[10,10,10]{2,1,0}");
  EXPECT_EQ(Text(ShapeUtil::MoveDimToMajor(WithoutLayout("f32[2,3]"), 1)), "f32[2,3]{0,1}");
  EXPECT_EQ(Text(ShapeUtil::MoveDimToMajor(S("f32[2,<=3]{0,1:T(2)S(1)}"), 0)), "f32[2,<=3]{1,0}");
  EXPECT_EQ(Text(ShapeUtil::MoveDimToMajor(S("(f32[2,3]{1,0}, (s32[4,5]{0,1}))"), 1)),
            "(f32[2,3]{0,1}, (s32[4,5]{0,1}))");
}

TEST(PermuteDimensions, IsATransposeThatMovesNothing) {
  for (int64_t rank = 0; rank <= 4; ++rank) {
    std::vector<int64_t> sizes(rank);
    std::iota(sizes.begin(), sizes.end(), 2);
    for (const auto& order : Permutations(rank)) {
      const Shape shape = ShapeUtil::MakeShapeWithDenseLayout(F32, sizes, order);
      for (const auto& permutation : Permutations(rank)) {
        const Shape permuted = ShapeUtil::PermuteDimensions(permutation, shape);
        ASSERT_TRUE(ShapeUtil::ValidateShape(permuted).ok());
        for (int64_t i = 0; i < rank; ++i) ASSERT_EQ(permuted.dimensions(i), shape.dimensions(permutation[i]));
        ASSERT_TRUE(ShapeUtil::TransposeIsBitcast(shape, permuted, permutation)) << shape << " to " << permuted;
        ASSERT_EQ(ShapeUtil::PermuteDimensions(InversePermutation(permutation), permuted), shape);
        ASSERT_EQ(ShapeUtil::ReorderLogicalDimensions(shape, permutation), permuted);
        Shape same_layout = permuted;
        *same_layout.mutable_layout() = shape.layout();
        ASSERT_EQ(ShapeUtil::PermuteDimensionsIgnoringLayout(permutation, shape), same_layout);
      }
    }
  }
}

TEST(PermuteDimensions, KeepsFlagsAndTheOtherPartsOfTheLayout) {
  EXPECT_EQ(Text(ShapeUtil::PermuteDimensions({2, 0, 1}, S("f32[2,<=3,?]{2,1,0:T(2)E(8)}"))),
            "f32[?,2,<=3]{0,2,1:T(2)E(8)}");
  EXPECT_EQ(Text(ShapeUtil::PermuteDimensionsIgnoringLayout({2, 0, 1}, S("f32[2,<=3,?]{2,1,0:T(2)E(8)}"))),
            "f32[?,2,<=3]{2,1,0:T(2)E(8)}");
  EXPECT_EQ(Text(ShapeUtil::PermuteDimensions({1, 0}, WithoutLayout("f32[2,3]"))), "f32[3,2]");
  EXPECT_DEATH(ShapeUtil::PermuteDimensions({0, 0}, S("f32[2,3]")), "");
  EXPECT_DEATH(ShapeUtil::PermuteDimensions({0}, S("f32[2,3]")), "");
  EXPECT_DEATH(ShapeUtil::PermuteDimensions({0}, S("f32[2]{5}")), "");
}

}  // namespace
}  // namespace kashi::array
