#include "kashi/array/layout.h"

#include <sstream>

#include "absl/hash/hash_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape.h"

namespace kashi::array {
namespace {

using ::testing::ElementsAre;

// A layout in which every field is set.
Layout FullLayout() {
  Layout layout({1, 0}, {Tile({8, 128}), Tile({Tile::kCombineDimension, 2})});
  layout.set_tail_padding_alignment_in_elements(2)
      .set_index_primitive_type(S32)
      .set_pointer_primitive_type(U8)
      .set_element_size_in_bits(4)
      .set_memory_space(5);
  layout.add_split_configs(SplitConfig(1, {512}));
  *layout.mutable_physical_shape() = Shape(F32, {3});
  layout.set_dynamic_shape_metadata_prefix_bytes(8);
  return layout;
}

TEST(TileTest, PrintsItsDimensions) {
  EXPECT_EQ(Tile({2, 128}).ToString(), "(2,128)");
  EXPECT_EQ(Tile({Tile::kCombineDimension, 4}).ToString(), "(*,4)");
  EXPECT_EQ(Tile({-5}).ToString(), "(Invalid value -5)");
  EXPECT_EQ(Tile().ToString(), "()");
}

TEST(LayoutTest, PrintsPartsInOrderAndOnlyThoseThatAreSet) {
  EXPECT_EQ(Layout().ToString(), "{}");
  EXPECT_EQ(Layout({1, 0}).ToString(), "{1,0}");
  EXPECT_EQ(FullLayout().ToString(), "{1,0:T(8,128)(*,2)L(2)#(s32)*(u8)E(4)S(5)SC(1:512)P(f32[3])M(8)}");
  Layout layout({0});
  layout.set_index_primitive_type(F32).set_pointer_primitive_type(PRED).set_element_size_in_bits(-3);
  layout.set_dynamic_shape_metadata_prefix_bytes(-1);
  EXPECT_EQ(layout.ToString(), "{0:#(invalid)*(invalid)E(-3)}");
  std::ostringstream out;
  out << Layout({0, 1}) << Tile({3}) << SplitConfig(0, {1, 2});
  EXPECT_EQ(out.str(), "{0,1}(3)(0:1,2)");
}

TEST(LayoutTest, CopiesAreDeepAndEqual) {
  const Layout layout = FullLayout();
  Layout copy = layout;
  EXPECT_EQ(copy, layout);
  copy.mutable_physical_shape()->set_dimensions(0, 4);
  EXPECT_NE(copy, layout);
  EXPECT_EQ(layout.physical_shape().dimensions(0), 3);
  Layout* alias = &copy;
  copy = *alias;
  EXPECT_TRUE(copy.has_physical_shape());
}

// Each field makes a difference, unless its option says otherwise; the metadata prefix never does.
TEST(LayoutTest, EqualHasAnOptionForEachField) {
  const Layout layout = FullLayout();
  const auto differs_but_for = [&](void (*change)(Layout*), Layout::Equal (*ignore)()) {
    Layout other = layout;
    change(&other);
    EXPECT_FALSE(Layout::Equal()(layout, other)) << other;
    EXPECT_TRUE(ignore()(layout, other)) << other;
  };
  differs_but_for([](Layout* l) { l->clear_tiles(); }, [] { return Layout::Equal().IgnoreTiles(); });
  differs_but_for([](Layout* l) { l->set_tail_padding_alignment_in_elements(3); },
                  [] { return Layout::Equal().IgnoreTailPaddingAlignmentInElements(); });
  differs_but_for([](Layout* l) { l->set_index_primitive_type(S64); },
                  [] { return Layout::Equal().IgnoreIndexPrimitiveType(); });
  differs_but_for([](Layout* l) { l->set_pointer_primitive_type(S64); },
                  [] { return Layout::Equal().IgnorePointerPrimitiveType(); });
  differs_but_for([](Layout* l) { l->set_element_size_in_bits(8); },
                  [] { return Layout::Equal().IgnoreElementSize(); });
  differs_but_for([](Layout* l) { l->set_memory_space(1); }, [] { return Layout::Equal().IgnoreMemorySpace(); });
  differs_but_for([](Layout* l) { l->clear_split_configs(); }, [] { return Layout::Equal().IgnoreSplitConfigs(); });
  differs_but_for([](Layout* l) { l->clear_physical_shape(); }, [] { return Layout::Equal().IgnorePhysicalShape(); });
  differs_but_for(
      [](Layout* l) {
        l->clear_tiles().set_tail_padding_alignment_in_elements(1).set_element_size_in_bits(0).set_memory_space(0);
        l->clear_split_configs();
      },
      [] { return Layout::Equal().MinorToMajorOnly(); });

  Layout other = layout;
  other.set_dynamic_shape_metadata_prefix_bytes(99);
  EXPECT_EQ(other, layout);
  other.set_minor_to_major(0, 0);
  EXPECT_FALSE(Layout::Equal().MinorToMajorOnly()(layout, other));
}

TEST(LayoutTest, HashAgreesWithEquality) {
  Layout prefixed({1, 0});
  prefixed.set_dynamic_shape_metadata_prefix_bytes(8);
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly(
      {Layout(), Layout({0}), Layout({1, 0}), prefixed, Layout({1, 0}, {Tile({2})}), FullLayout()}));
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly({Tile(), Tile({1}), Tile({1, 2})}));
  EXPECT_TRUE(
      absl::VerifyTypeImplementsAbslHashCorrectly({SplitConfig(0, {}), SplitConfig(0, {1}), SplitConfig(1, {1})}));
}

TEST(LayoutTest, MemorySpaceIsHeldInEightBits) {
  EXPECT_EQ(Layout().set_memory_space(127).memory_space(), 127);
  EXPECT_EQ(Layout().set_memory_space(128).memory_space(), -128);
  EXPECT_EQ(Layout().set_memory_space(257).memory_space(), 1);
  EXPECT_EQ(Layout().set_memory_space(-1).memory_space(), -1);
}

TEST(LayoutTest, DeleteDimensionRenumbersTheRest) {
  Layout layout({3, 0, 2, 1});
  EXPECT_THAT(layout.DeleteDimension(1).minor_to_major(), ElementsAre(2, 0, 1));
  EXPECT_THAT(layout.DeleteDimension(2).minor_to_major(), ElementsAre(0, 1));
  EXPECT_DEATH(layout.DeleteDimension(2), "no dimension 2 in \\{0,1\\}");
}

TEST(LayoutTest, BadUseDies) {
  EXPECT_DEATH(Layout({0}, {}, PRIMITIVE_TYPE_INVALID, PRIMITIVE_TYPE_INVALID, /*tail_padding=*/0), "0 vs. 1");
  EXPECT_DEATH(Layout().physical_shape(), "Check failed");
}

TEST(LayoutTest, ClearAndSwap) {
  Layout a = FullLayout(), b({0});
  a.Swap(&b);
  EXPECT_EQ(a, Layout({0}));
  EXPECT_EQ(b, FullLayout());
  b.Clear();
  EXPECT_EQ(b, Layout());
}

}  // namespace
}  // namespace kashi::array
