#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_parser.h"

namespace kashi::array {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LayoutMakeTest, EveryFieldArrives) {
  const Layout layout = LayoutUtil::MakeLayout(
      {1, 0}, {Tile({8, 128}), Tile({Tile::kCombineDimension, 2})}, /*tail_padding_alignment_in_elements=*/3,
      /*index_primitive_type=*/U8, /*pointer_primitive_type=*/U16, /*element_size_in_bits=*/4, /*memory_space=*/5,
      {SplitConfig(0, {3})}, ParseShape("s8[2]").value(), /*dynamic_shape_metadata_prefix_bytes=*/64);
  EXPECT_EQ(layout.ToString(), "{1,0:T(8,128)(*,2)L(3)#(u8)*(u16)E(4)S(5)SC(0:3)P(s8[2]{0})M(64)}");
}

TEST(LayoutMakeTest, Defaults) {
  const Layout layout = LayoutUtil::MakeLayout({1, 0});
  EXPECT_EQ(layout, Layout({1, 0}));
  EXPECT_EQ(layout.tail_padding_alignment_in_elements(), 1);
  EXPECT_FALSE(layout.has_physical_shape());
  EXPECT_EQ(LayoutUtil::MakeLayout({}), Layout());
}

TEST(LayoutMakeTest, KeepsWhatOnlyValidationJudges) {
  EXPECT_EQ(LayoutUtil::MakeLayout({7, 7}, {Tile({0})}).ToString(), "{7,7:T(0)}");
  EXPECT_EQ(LayoutUtil::MakeLayout({0}, {}, /*tail_padding_alignment_in_elements=*/0).ToString(), "{0:L(0)}");
}

TEST(LayoutMakeDeathTest, NegativeTileEntries) {
  EXPECT_DEATH(LayoutUtil::MakeLayout({0}, {Tile({-1})}), "Value is -1");
}

TEST(LayoutMakeTest, Orders) {
  EXPECT_THAT(LayoutUtil::MakeLayoutFromMajorToMinor({0, 2, 1}).minor_to_major(), ElementsAre(1, 2, 0));
  EXPECT_THAT(LayoutUtil::MakeDescendingLayout(3).minor_to_major(), ElementsAre(2, 1, 0));
  EXPECT_THAT(LayoutUtil::MakeAscendingLayout(3).minor_to_major(), ElementsAre(0, 1, 2));
  EXPECT_THAT(LayoutUtil::MakeDescendingLayout(0).minor_to_major(), IsEmpty());
  EXPECT_THAT(LayoutUtil::MakeAscendingLayout(0).minor_to_major(), IsEmpty());
}

TEST(LayoutMakeTest, DefaultLayouts) {
  EXPECT_EQ(LayoutUtil::GetDefaultLayoutForRank(5), LayoutUtil::MakeDescendingLayout(5));
  EXPECT_EQ(LayoutUtil::GetDefaultLayoutForR2(), LayoutUtil::MakeDescendingLayout(2));
  EXPECT_EQ(LayoutUtil::GetDefaultLayoutForR3(), LayoutUtil::MakeDescendingLayout(3));
  EXPECT_EQ(LayoutUtil::GetDefaultLayoutForR4(), LayoutUtil::MakeDescendingLayout(4));
  EXPECT_EQ(LayoutUtil::GetDefaultLayoutForShape(Shape(F32, {2, 3, 4})), LayoutUtil::MakeDescendingLayout(3));
  EXPECT_EQ(LayoutUtil::GetDefaultLayoutForShape(Shape(F32, {})), Layout());
  EXPECT_EQ(LayoutUtil::GetDefaultLayoutForShape(Shape(TOKEN)), Layout());
  EXPECT_EQ(LayoutUtil::GetDefaultLayoutForShape(Shape(OPAQUE_TYPE)), Layout());
}

TEST(LayoutMakeDeathTest, TuplesHaveNoDefaultLayout) {
  EXPECT_DEATH(LayoutUtil::GetDefaultLayoutForShape(Shape(std::vector<Shape>())), "a layout belongs to one array");
}

TEST(LayoutMakeTest, SetToDefaultLayoutKeepsTheOtherFields) {
  Shape shape =
      ParseShape("(f32[2,3]{0,1:T(8,128)L(2)E(16)S(1)M(8)}, (f32[], token[], opaque[]), b(u8[4,5]{0,1}))").value();
  LayoutUtil::SetToDefaultLayout(&shape);
  EXPECT_EQ(shape.ToString(/*print_layout=*/true),
            "(f32[2,3]{1,0:T(8,128)L(2)E(16)S(1)M(8)}, (f32[], token[], opaque[]), b(u8[4,5]{1,0}))");
}

TEST(LayoutMakeTest, SetToDefaultLayoutMakesMissingOnes) {
  const Shape shape(std::vector<Shape>{Shape(F32, {2, 3}), Shape(S32, {})});
  const Shape with_layouts = LayoutUtil::GetWithDefaultLayout(shape);
  EXPECT_EQ(with_layouts.ToString(/*print_layout=*/true), "(f32[2,3]{1,0}, s32[])");
  EXPECT_TRUE(with_layouts.tuple_shapes(1).has_layout());
  EXPECT_FALSE(LayoutUtil::HasAnyLayout(shape)) << "the argument must not change";

  ProgramShape program;
  program.AddParameter(shape, "p");
  *program.mutable_result() = Shape(F32, {4, 5});
  LayoutUtil::SetToDefaultLayout(&program);
  EXPECT_EQ(program.parameters(0), with_layouts);
  EXPECT_EQ(program.result().ToString(/*print_layout=*/true), "f32[4,5]{1,0}");
}

}  // namespace
}  // namespace kashi::array
