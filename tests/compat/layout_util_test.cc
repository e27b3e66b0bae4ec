#include "xla/layout_util.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/status/status_matchers.h"
#include "absl/types/span.h"
#include "xla/hlo/testlib/test.h"
#include "xla/hlo/testlib/test_helpers.h"
#include "xla/layout.h"
#include "xla/shape.h"
#include "xla/shape_util.h"
#include "xla/tsl/lib/core/status_test_util.h"
#include "xla/xla_data.pb.h"

namespace xla {
namespace {

using ::absl_testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LayoutUtilTest : public ::testing::Test {
 protected:
  Shape MakeShapeWithLayout(PrimitiveType element_type, absl::Span<const int64_t> dimensions,
                            absl::Span<const int64_t> minor_to_major,
                            absl::Span<const SplitConfig> split_configs = {}) {
    Shape shape = ShapeUtil::MakeShape(element_type, dimensions);
    *shape.mutable_layout() = LayoutUtil::MakeLayout(minor_to_major);
    for (const SplitConfig& config : split_configs) shape.mutable_layout()->add_split_configs(config);
    return shape;
  }
};

TEST_F(LayoutUtilTest, TupleLayoutComparison) {
  Shape shape = ShapeUtil::MakeTupleShape({MakeShapeWithLayout(F32, {2, 3}, {0, 1})});
  Shape other_shape = ShapeUtil::MakeTupleShape({MakeShapeWithLayout(F32, {2, 2}, {0, 1})});
  Shape tuple0 = ShapeUtil::MakeTupleShape({});
  Shape tuple1 = ShapeUtil::MakeTupleShape({shape});
  Shape tuple2 = ShapeUtil::MakeTupleShape({shape, shape});
  EXPECT_TRUE(LayoutUtil::LayoutsInShapesEqual(tuple0, tuple0));
  EXPECT_FALSE(LayoutUtil::LayoutsInShapesEqual(tuple0, tuple1));
  EXPECT_FALSE(LayoutUtil::LayoutsInShapesEqual(tuple1, tuple2));
  EXPECT_TRUE(LayoutUtil::LayoutsInShapesEqual(tuple2, tuple2));
  Shape other_tuple2 = ShapeUtil::MakeTupleShape({shape, other_shape});
  EXPECT_TRUE(LayoutUtil::LayoutsInShapesEqual(tuple2, other_tuple2));
  EXPECT_TRUE(LayoutUtil::LayoutsInShapesEqual(shape, other_shape, Layout::Equal().MinorToMajorOnly()));
}

TEST_F(LayoutUtilTest, CopyLayoutBetweenShapes) {
  Shape src = MakeShapeWithLayout(F32, {2, 3}, {0, 1});
  Shape dst = MakeShapeWithLayout(F32, {2, 3}, {1, 0});
  EXPECT_FALSE(LayoutUtil::LayoutsInShapesEqual(src, dst));
  EXPECT_IS_OK(LayoutUtil::CopyLayoutBetweenShapes(src, &dst));
  EXPECT_TRUE(LayoutUtil::LayoutsInShapesEqual(src, dst));
  src.clear_layout();
  TF_ASSERT_OK(LayoutUtil::CopyLayoutBetweenShapes(src, &dst));
  EXPECT_FALSE(dst.has_layout());

  auto status = LayoutUtil::CopyLayoutBetweenShapes(ShapeUtil::MakeTupleShape({src}), &dst);
  EXPECT_FALSE(status.ok());
  Shape vector = ShapeUtil::MakeShape(F32, {42});
  status = LayoutUtil::CopyLayoutBetweenShapes(MakeShapeWithLayout(F32, {2, 3}, {0, 1}), &vector);
  EXPECT_FALSE(status.ok());
}

TEST_F(LayoutUtilTest, ClearLayout) {
  Shape shape =
      ShapeUtil::MakeTupleShape({MakeShapeWithLayout(F32, {2, 3}, {1, 0}), MakeShapeWithLayout(F32, {42}, {0})});
  EXPECT_TRUE(LayoutUtil::HasLayout(shape));
  EXPECT_TRUE(shape.tuple_shapes(0).has_layout());
  LayoutUtil::ClearLayout(&shape);
  EXPECT_FALSE(LayoutUtil::HasLayout(shape));
  EXPECT_FALSE(LayoutUtil::HasAnyLayout(shape));
  Shape opaque = ShapeUtil::MakeOpaqueShape();
  LayoutUtil::ClearLayout(&opaque);
  EXPECT_FALSE(opaque.has_layout());
  ProgramShape program = ShapeUtil::MakeProgramShape({shape}, shape);
  LayoutUtil::SetToDefaultLayout(&program);
  EXPECT_TRUE(LayoutUtil::HasLayout(program));
  LayoutUtil::ClearLayout(&program);
  EXPECT_FALSE(LayoutUtil::HasLayout(program));
  Shape tiled = ShapeUtil::MakeShapeWithDenseLayout(F32, {2}, {0}, {Tile({2})});
  LayoutUtil::ClearTiles(&tiled);
  EXPECT_EQ(tiled.layout().tiles_size(), 0);
}

TEST_F(LayoutUtilTest, SetToDefaultLayout) {
  Shape shape =
      ShapeUtil::MakeTupleShape({MakeShapeWithLayout(F32, {2, 3, 4}, {0, 2, 1}), ShapeUtil::MakeTokenShape()});
  LayoutUtil::SetToDefaultLayout(&shape);
  EXPECT_THAT(shape.tuple_shapes(0).layout().minor_to_major(), ElementsAre(2, 1, 0));
  EXPECT_EQ(LayoutUtil::GetWithDefaultLayout(shape), shape);
  EXPECT_TRUE(LayoutUtil::Equal(LayoutUtil::GetDefaultLayoutForShape(ShapeUtil::MakeShape(F32, {10, 20, 30, 15, 25})),
                                LayoutUtil::GetDefaultLayoutForRank(5)));
  EXPECT_EQ(LayoutUtil::GetDefaultLayoutForR2(), LayoutUtil::MakeLayout({1, 0}));
  EXPECT_EQ(LayoutUtil::GetDefaultLayoutForR3(), LayoutUtil::MakeLayout({2, 1, 0}));
  EXPECT_EQ(LayoutUtil::GetDefaultLayoutForR4(), LayoutUtil::MakeLayout({3, 2, 1, 0}));
}

TEST_F(LayoutUtilTest, MakeLayouts) {
  EXPECT_EQ(LayoutUtil::MakeDescendingLayout(3), LayoutUtil::MakeLayout({2, 1, 0}));
  EXPECT_EQ(LayoutUtil::MakeAscendingLayout(3), LayoutUtil::MakeLayout({0, 1, 2}));
  EXPECT_EQ(LayoutUtil::MakeLayoutFromMajorToMinor({0, 2, 1}), LayoutUtil::MakeLayout({1, 2, 0}));
  EXPECT_EQ(LayoutUtil::MakeLayout({1, 0}, {Tile({8, 128})}, 1, PRIMITIVE_TYPE_INVALID, PRIMITIVE_TYPE_INVALID, 4, 1,
                                   {SplitConfig(1, {2})}, std::nullopt, 8)
                .ToString(),
            "{1,0:T(8,128)E(4)S(1)SC(1:2)M(8)}");
  EXPECT_TRUE(LayoutUtil::HasDescendingLayout(LayoutUtil::MakeLayout({1, 0})));
  EXPECT_TRUE(LayoutUtil::HasAscendingLayout(LayoutUtil::MakeLayout({0, 1})));
  EXPECT_TRUE(LayoutUtil::IsMonotonicWithDim0Major(LayoutUtil::MakeLayout({1, 0})));
  EXPECT_FALSE(LayoutUtil::IsMonotonicWithDim0Minor(LayoutUtil::MakeLayout({1, 0})));
}

TEST_F(LayoutUtilTest, ValidateLayout) {
  Shape shape = ShapeUtil::MakeShape(F32, {2, 3});
  *shape.mutable_layout() = LayoutUtil::MakeLayout({0, 1, 2});
  EXPECT_THAT(LayoutUtil::ValidateLayoutInShape(shape),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("layout minor_to_major field contains 3 elements, but shape has 2 dimensions")));
  EXPECT_THAT(LayoutUtil::ValidateLayoutForShape(LayoutUtil::MakeLayout({0, 0}), shape),
              StatusIs(tsl::error::INVALID_ARGUMENT, HasSubstr("duplicate values")));
  shape.clear_layout();
  auto status = LayoutUtil::ValidateLayoutInShape(shape, /*allow_missing_layouts=*/false);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.message(), HasSubstr("shape f32[2,3] does not have a layout"));
  EXPECT_IS_OK(LayoutUtil::ValidateLayoutInShape(shape, /*allow_missing_layouts=*/true));
}

TEST_F(LayoutUtilTest, Order) {
  const Layout layout = LayoutUtil::MakeLayout({0, 2, 1});
  EXPECT_THAT(LayoutUtil::MinorToMajor(layout), ElementsAre(0, 2, 1));
  EXPECT_THAT(LayoutUtil::MinorToMajor(MakeShapeWithLayout(F32, {2, 3}, {0, 1})), ElementsAre(0, 1));
  EXPECT_EQ(LayoutUtil::Major(layout, 0), 1);
  EXPECT_EQ(LayoutUtil::Minor(layout, 0), 0);
  EXPECT_THAT(LayoutUtil::MakeLogicalToPhysical(layout), ElementsAre(2, 0, 1));
  EXPECT_TRUE(LayoutUtil::AreDimensionsConsecutive(layout, {1, 2}));
  EXPECT_FALSE(LayoutUtil::AreDimensionsConsecutive(layout, {0, 1}));
  EXPECT_EQ(LayoutUtil::MoveDimToMajor(layout, 2), LayoutUtil::MakeLayout({0, 1, 2}));
  EXPECT_EQ(LayoutUtil::MoveDimToMinor(layout, 2), LayoutUtil::MakeLayout({2, 0, 1}));
  EXPECT_EQ(LayoutUtil::HumanString(layout), "{0,2,1}");
  StringPrinter printer;
  LayoutUtil::PrintHumanString(&printer, layout);
  EXPECT_EQ(std::move(printer).ToString(), "{0,2,1}");
  EXPECT_TRUE(LayoutUtil::IsDenseArray(ShapeUtil::MakeShape(F32, {2})));
}

TEST_F(LayoutUtilTest, HasCustomElementSizeInBits) {
  Shape shape = ShapeUtil::MakeShape(S4, {1, 2});
  EXPECT_FALSE(LayoutUtil::HasCustomElementSizeInBits(shape));
  shape.mutable_layout()->set_element_size_in_bits(4);
  EXPECT_TRUE(LayoutUtil::HasCustomElementSizeInBits(ShapeUtil::MakeTupleShape({ShapeUtil::MakeTupleShape({shape})})));
}

TEST_F(LayoutUtilTest, Numbers) {
  EXPECT_EQ(LayoutUtil::LinearIndex(ShapeUtil::MakeShapeWithDenseLayout(F32, {3, 5}, {1, 0}, {Tile({2, 2})}), {2, 3}),
            17);
  EXPECT_EQ(LayoutUtil::MemorySpace(ShapeUtil::MakeShapeWithDenseLayout(F32, {3}, {0}, {}, 1, 0, 5)), 5);
  EXPECT_TRUE(LayoutUtil::ByteStridesIsMajorToMinor({24, 4}, {5, 6}, F32));
  EXPECT_FALSE(LayoutUtil::ByteStridesIsMajorToMinor({4, 20}, {5, 6}, F32));
  Shape split = MakeShapeWithLayout(F32, {150, 200, 100}, {0, 1, 2}, {SplitConfig(0, {30, 70})});
  EXPECT_EQ(LayoutUtil::MaxSplitSize(split, 2), 40);
  EXPECT_EQ(LayoutUtil::MaxSplitSize(split, 0), 150);
  EXPECT_EQ(LayoutUtil::MaxElementsInPerSplit(split), 150 * 200 * 40);
  EXPECT_EQ(LayoutUtil::GetSplitConfig(split), SplitConfig(0, {30, 70}));
  VLOG(1) << LayoutUtil::HumanString(split.layout());
}

TEST_F(LayoutUtilTest, RegexMatchersTakeAStatusMessage) {
  Shape scalar = ShapeUtil::MakeShape(F32, {});
  EXPECT_THAT(LayoutUtil::CopyLayoutBetweenShapes(ShapeUtil::MakeShape(F32, {2}), &scalar).message(),
              ::testing::ContainsRegex("rank|shape|dimension"));
  EXPECT_THAT(Layout({0, 1}).add_split_configs(SplitConfig(0, {1})).split_configs_size(), 1);
}

}  // namespace
}  // namespace xla
