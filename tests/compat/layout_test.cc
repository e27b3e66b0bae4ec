#include "xla/layout.h"

#include <cstdint>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/hash/hash_testing.h"
#include "absl/types/span.h"
#include "xla/hlo/testlib/test.h"
#include "xla/shape_util.h"
#include "xla/tsl/lib/core/status_test_util.h"
#include "xla/tsl/platform/statusor.h"
#include "xla/tsl/util/proto/proto_matchers.h"
#include "xla/xla_data.pb.h"

namespace xla {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::tsl::proto_testing::EqualsProto;

class LayoutTest : public ::testing::Test {};

TEST_F(LayoutTest, ToString) {
  EXPECT_EQ(Layout().ToString(), "{}");
  EXPECT_EQ(Layout({4, 5, 6}).ToString(), "{4,5,6}");
  EXPECT_EQ(Layout({3, 2, 1, 0}, {Tile({42, 123}), Tile({4, 5})}).ToString(), "{3,2,1,0:T(42,123)(4,5)}");
  EXPECT_EQ(Layout({1, 0}, {Tile({2, 55})}).set_element_size_in_bits(42).ToString(), "{1,0:T(2,55)E(42)}");
  EXPECT_EQ(Layout({1, 0}, {Tile({-2, 55})}).ToString(), "{1,0:T(Invalid value -2,55)}");
  EXPECT_EQ(Layout({1, 0}, {Tile({Tile::kCombineDimension, 8})}).set_memory_space(3).ToString(), "{1,0:T(*,8)S(3)}");
  EXPECT_EQ(
      Layout({0}, {}, PRIMITIVE_TYPE_INVALID, PRIMITIVE_TYPE_INVALID, 1, 0, 0, {SplitConfig(0, {512})}).ToString(),
      "{0:SC(0:512)}");
  Layout layout({0});
  layout.set_tail_padding_alignment_in_elements(16)
      .set_index_primitive_type(U32)
      .set_pointer_primitive_type(F32)
      .set_dynamic_shape_metadata_prefix_bytes(8);
  *layout.mutable_physical_shape() = ShapeUtil::MakeShape(S8, {5});
  EXPECT_EQ(layout.ToString(), "{0:L(16)#(u32)*(invalid)P(s8[5]{0})M(8)}");
}

TEST_F(LayoutTest, StreamOut) {
  std::ostringstream out;
  out << Tile({7, 10}) << " " << Layout({0, 1, 2}) << " " << SplitConfig(1, {2, 3});
  EXPECT_EQ(out.str(), "(7,10) {0,1,2} (1:2,3)");
  StringPrinter printer;
  Layout({0, 1}, {Tile({4})}).Print(&printer);
  Tile({3}).Print(&printer);
  EXPECT_EQ(std::move(printer).ToString(), "{0,1:T(4)}(3)");
}

TEST_F(LayoutTest, TileAccessors) {
  Tile tile;
  tile.add_dimensions(8).add_dimensions(Tile::kCombineDimension);
  EXPECT_THAT(tile.dimensions(), ElementsAre(8, Tile::kCombineDimension));
  EXPECT_EQ(tile.dimension(0), 8);
  EXPECT_NE(tile, Tile({8}));
  EXPECT_EQ(tile.clear_dimensions(), Tile());
  EXPECT_EQ(Tile({2, 128}).ToString(), "(2,128)");
}

TEST_F(LayoutTest, SplitConfigAccessors) {
  SplitConfig config(/*dimension=*/0, /*split_indices=*/{512});
  config.set_dimension(1).add_split_indices(700);
  EXPECT_EQ(config.dimension(), 1);
  EXPECT_THAT(config.split_indices(), ElementsAre(512, 700));
  EXPECT_EQ(config.split_indices(1), 700);
  EXPECT_EQ(config.split_indices_size(), 2);
  EXPECT_EQ(config.clear_split_indices(), SplitConfig(1, {}));
  EXPECT_NE(config, SplitConfig(2, {}));
}

TEST_F(LayoutTest, Equality) {
  EXPECT_EQ(Layout(), Layout());
  const std::vector<int64_t> empty_dims;
  EXPECT_EQ(Layout(empty_dims), Layout());
  EXPECT_EQ(Layout({0, 1, 2}), Layout(std::vector<int64_t>({0, 1, 2})));
  EXPECT_NE(Layout({0, 1, 2}), Layout({0, 2, 1}));
  EXPECT_EQ(Layout({0}, {Tile({42, 44})}), Layout({0}, {Tile({42, 44})}));
  EXPECT_NE(Layout({0}, {Tile({42, 44})}), Layout({0}, {Tile({42, 45})}));
  EXPECT_NE(Layout({0}).set_element_size_in_bits(33), Layout({0}));
  EXPECT_FALSE(Layout::Equal()(Layout({0}, {Tile({4})}), Layout({0})));
  EXPECT_TRUE(Layout::Equal().IgnoreTiles()(Layout({0}, {Tile({4})}), Layout({0})));
  EXPECT_TRUE(Layout::Equal().IgnoreElementSize()(Layout({0}).set_element_size_in_bits(4), Layout({0})));
  EXPECT_TRUE(Layout::Equal().IgnoreMemorySpace()(Layout({0}).set_memory_space(5), Layout({0})));
  Layout split({0});
  split.add_split_configs(SplitConfig(0, {3}));
  EXPECT_TRUE(Layout::Equal().IgnoreSplitConfigs()(split, Layout({0})));
  EXPECT_TRUE(Layout::Equal().MinorToMajorOnly()(split, Layout({0}, {Tile({2})})));
  EXPECT_TRUE(Layout::Equal()
                  .IgnoreTailPaddingAlignmentInElements()
                  .IgnoreIndexPrimitiveType()
                  .IgnorePointerPrimitiveType()
                  .IgnorePhysicalShape()(Layout({0}, {}, U8, U16, 128), Layout({0})));
  Layout prefixed({0});
  prefixed.set_dynamic_shape_metadata_prefix_bytes(100);
  EXPECT_EQ(prefixed, Layout({0}));
}

TEST_F(LayoutTest, MinorToMajor) {
  Layout layout;
  layout.add_minor_to_major(2).add_minor_to_major(0).add_minor_to_major(1);
  EXPECT_THAT(layout.minor_to_major(), ElementsAre(2, 0, 1));
  EXPECT_EQ(layout.minor_to_major(0), 2);
  EXPECT_EQ(layout.minor_to_major_size(), 3);
  layout.set_minor_to_major(0, 1).set_minor_to_major(2, 2);
  EXPECT_THAT(layout.minor_to_major(), ElementsAre(1, 0, 2));
  layout.DeleteDimension(0);
  EXPECT_THAT(layout.minor_to_major(), ElementsAre(0, 1));
  layout.mutable_minor_to_major()->push_back(7);
  EXPECT_EQ(layout.minor_to_major_size(), 3);
  layout.clear_minor_to_major();
  EXPECT_EQ(layout.minor_to_major_size(), 0);
}

TEST_F(LayoutTest, TilesOfALayout) {
  Layout layout({1, 0});
  *layout.add_tiles() = Tile({8, 128});
  layout.add_tiles()->add_dimensions(2).add_dimensions(1);
  EXPECT_THAT(layout.tiles(), ElementsAre(Tile({8, 128}), Tile({2, 1})));
  EXPECT_EQ(layout.tiles_size(), 2);
  *layout.mutable_tiles(1) = Tile({4, 1});
  EXPECT_EQ(layout.tiles(1), Tile({4, 1}));
  layout.mutable_tiles()->pop_back();
  const TileVector tiles = *layout.mutable_tiles();
  EXPECT_EQ(tiles.size(), 1);
  absl::Span<const Tile> span = layout.tiles();
  EXPECT_EQ(Layout({1, 0}, span), layout);
  EXPECT_EQ(layout.clear_tiles().tiles_size(), 0);
}

TEST_F(LayoutTest, OtherFields) {
  Layout layout({0}, {Tile({4})}, /*element_size_in_bits=*/4);
  EXPECT_EQ(layout.element_size_in_bits(), 4);
  EXPECT_EQ(layout.tail_padding_alignment_in_elements(), 1);
  EXPECT_EQ(layout.index_primitive_type(), PRIMITIVE_TYPE_INVALID);
  EXPECT_EQ(layout.pointer_primitive_type(), PRIMITIVE_TYPE_INVALID);
  EXPECT_EQ(layout.memory_space(), Layout::kDefaultMemorySpace);
  EXPECT_EQ(layout.set_memory_space(Layout::kHostMemorySpace).memory_space(), 5);
  EXPECT_EQ(Layout::kGenericFastMemorySpace, 1);
  EXPECT_EQ(layout.dynamic_shape_metadata_prefix_bytes(), 0);
  layout.add_split_configs(SplitConfig(0, {2}));
  EXPECT_EQ(layout.split_configs_size(), 1);
  layout.mutable_split_configs(0)->add_split_indices(3);
  EXPECT_THAT(layout.split_configs(), ElementsAre(SplitConfig(0, {2, 3})));
  EXPECT_EQ(layout.split_configs(0).split_indices_size(), 2);
  layout.clear_split_configs();
  EXPECT_FALSE(layout.has_physical_shape());
  *layout.mutable_physical_shape() = ShapeUtil::MakeShape(F32, {1});
  EXPECT_EQ(layout.physical_shape().dimensions(0), 1);
  layout.clear_physical_shape();
  Layout other;
  layout.Swap(&other);
  EXPECT_EQ(layout, Layout());
  other.Clear();
  EXPECT_EQ(other, Layout());
}

TEST_F(LayoutTest, CopyAndMove) {
  Layout layout({1, 0}, {}, U8, U8, 1, 0, 0, {}, std::make_unique<Shape>(ShapeUtil::MakeShape(U8, {2})));
  Layout copy = layout;
  EXPECT_EQ(copy, layout);
  Layout moved = std::move(copy);
  EXPECT_EQ(moved.physical_shape(), layout.physical_shape());
  copy = moved;
  EXPECT_EQ(copy, layout);
}

TEST_F(LayoutTest, Hash) {
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly(
      {Layout(), Layout({0, 1}), Layout({1, 0}), Layout({1, 0}, {Tile({4})}), Layout({0}).set_memory_space(2)}));
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly({Tile(), Tile({2}), Tile({2, 3})}));
  EXPECT_TRUE(
      absl::VerifyTypeImplementsAbslHashCorrectly({SplitConfig(0, {}), SplitConfig(0, {1}), SplitConfig(1, {1})}));
}

TEST_F(LayoutTest, LayoutToFromProto) {
  auto expect_unchanged = [](const Layout& layout) {
    TF_ASSERT_OK_AND_ASSIGN(auto from_proto, Layout::FromProto(layout.ToProto()));
    EXPECT_EQ(layout, from_proto);
    EXPECT_EQ(layout, Layout::CreateFromProto(layout.ToProto()));
  };
  expect_unchanged(Layout());
  expect_unchanged(Layout({1, 3, 2, 0}));
  expect_unchanged(Layout({0, 1}).set_element_size_in_bits(42));
  expect_unchanged(Layout({3, 2, 1, 0}, {Tile({42, 123}), Tile({4, 5})}));
  expect_unchanged(Layout({1, 0}, {}, PRIMITIVE_TYPE_INVALID, PRIMITIVE_TYPE_INVALID, 1, 0, 0,
                          {SplitConfig(0, {2}), SplitConfig(1, {3})}));

  LayoutProto proto = Layout({1, 0}, {Tile({8, 128})}).ToProto();
  EXPECT_THAT(
      proto,
      EqualsProto("minor_to_major: [1, 0] tiles { dimensions: [8, 128] } tail_padding_alignment_in_elements: 1"));
  EXPECT_EQ(proto.tiles(0).dimensions_size(), 2);
  proto.mutable_tiles(0)->set_dimensions(0, -5);
  EXPECT_THAT(Layout::FromProto(proto).status().message(), HasSubstr("dimension >= 0"));
  proto.Clear();
  proto.set_tail_padding_alignment_in_elements(-1);
  EXPECT_FALSE(Layout::FromProto(proto).ok());

  TileProto tile_proto = Tile({1, 2}).ToProto();
  TF_ASSERT_OK_AND_ASSIGN(Tile tile, Tile::FromProto(tile_proto));
  EXPECT_EQ(tile, Tile({1, 2}));
  SplitConfigProto split_proto = SplitConfig(1, {2}).ToProto();
  EXPECT_EQ(SplitConfig::CreateFromProto(split_proto), SplitConfig(1, {2}));
}

}  // namespace
}  // namespace xla
