#include "kashi/hlo/attributes/hlo_sharding.h"

#include <string>
#include <vector>

#include "absl/hash/hash.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_parser.h"
#include "kashi/hlo/attributes/hlo_sharding_text.h"
#include "kashi/hlo/attributes/sharding_builder.h"

namespace kashi::hlo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

HloSharding S(absl::string_view text) { return ParseSharding(text).value(); }
Shape Sh(absl::string_view text) { return ParseShape(text).value(); }

TEST(HloShardingTest, Factories) {
  EXPECT_EQ(HloSharding::Replicate().ToString(), "{replicated}");
  EXPECT_EQ(HloSharding::AssignDevice(3).ToString(), "{maximal device=3}");
  EXPECT_EQ(HloSharding::IotaTile({2, 2}).ToString(), "{devices=[2,2]<=[4]}");
  EXPECT_EQ(HloSharding::IotaTile({2, 2}, {2, 2}, {1, 0}).ToString(), "{devices=[2,2]<=[2,2]T(1,0)}");
  EXPECT_EQ(HloSharding::Tile(Array<int64_t>({{1, 0}})).ToString(), "{devices=[1,2]1,0}");
  EXPECT_EQ(HloSharding::Tile1D(Sh("f32[8]"), 4).ToString(), "{devices=[4]<=[4]}");
  EXPECT_EQ(HloSharding::PartialTile(Array<int64_t>({{3, 0}, {2, 1}})).ToString(),
            "{devices=[2,2]0,3,1,2 last_tile_dim_replicate}");
  EXPECT_EQ(
      HloSharding::Subgroup(TileAssignment({1, 1, 2, 2}), {OpSharding::REPLICATED, OpSharding::MANUAL}).ToString(),
      "{devices=[1,1,2,2]<=[2,2]T(1,0) last_tile_dims={manual, replicated}}");
  EXPECT_EQ(sizeof(HloSharding), 2 * sizeof(void*));
}

TEST(HloShardingTest, Kinds) {
  EXPECT_TRUE(S("{replicated}").IsTileMaximal());
  EXPECT_TRUE(S("{maximal device=3}").IsTileMaximal());
  EXPECT_TRUE(S("{devices=[2,1]<=[2]}").IsTiled());
  EXPECT_TRUE(S("{{replicated}, {replicated}}").IsReplicated());
  EXPECT_TRUE(S("{{replicated}, {manual}}").IsTiled());  // as XLA's: none of the other kinds
  EXPECT_TRUE(S("{}").IsReplicated() && S("{}").IsManual());
  EXPECT_TRUE(S("{mesh['a'=2], manual}").IsManual());
  EXPECT_TRUE(S("{mesh['a'=2], [{}, {?}]}").IsReplicated());
  EXPECT_TRUE(S("{maximal_mesh[device_id=3]}").HasUniqueDevice());
  EXPECT_TRUE(S("{devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}").IsManualSubgroup());
  EXPECT_TRUE(S("{devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}").HasPartialReplication());
  EXPECT_EQ(S("{devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}").SubgroupReplicationDim(), 2);
  EXPECT_EQ(S("{devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}").SubgroupManualDim(), 1);
  EXPECT_EQ(S("{devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}").SubgroupUnreducedDim(), -1);
}

TEST(HloShardingTest, EqualityIsOfMeaning) {
  EXPECT_EQ(S("{devices=[2,2]<=[4]}"), S("{devices=[2,2]0,1,2,3}"));
  EXPECT_EQ(S("{replicated metadata={op_name=\"x\"}}"), S("{replicated}"));
  EXPECT_NE(S("{replicated shard_as 1}"), S("{replicated}"));
  EXPECT_NE(S("{{replicated}}"), S("{replicated}"));
  EXPECT_NE(S("{devices=[2,2]<=[4] last_tile_dims={manual}}"), S("{devices=[2,2]<=[4]}"));
  const std::pair<const char*, const char*> equal[] = {
      {"{mesh['a'=2,'b'=2], [{'a'}, {'b'}]}", "{devices=[2,2]0,1,2,3}"},
      {"{mesh['a'=2,'b'=2], [{'a'}, {'b'}]}", "{mesh['x'=2,'y'=2], [{'x'}, {'y'}]}"},
      {"{mesh['a'=2,'b'=2], [{'a'}]}", "{mesh['a'=2,'b'=2], [{'a'}], replicated={'b'}}"},
      {"{mesh['a'=2,'b'=2], replicated}", "{mesh['a'=4], [{}]}"},
      {"{mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)), [{'a'}]}", "{mesh['a'=2,'b'=2], device_ids=(0,2,1,3), [{'a'}]}"},
      {"{maximal device=1}", "{maximal_mesh[device_id=1]}"},
  };
  for (const auto& [a, b] : equal) {
    EXPECT_EQ(S(a), S(b));
    EXPECT_EQ(absl::HashOf(S(a)), absl::HashOf(S(b))) << a << " " << b;
  }
  EXPECT_NE(S("{mesh['a'=2,'b'=2], [{'a'}]}"), S("{mesh['a'=2,'b'=2], [{'a'}, {}]}"));
  EXPECT_NE(S("{mesh['a'=2,'b'=2], [{'a'}, {'b'}]}"), S("{mesh['a'=2,'b'=2], [{'a'}, {'b', ?}]}"));
  EXPECT_NE(S("{mesh['a'=2,'b'=2], [{'a', 'b'}]}"), S("{mesh['a'=4], [{'a'}]}"));
}

// XLA's own conversion of the same texts.
TEST(HloShardingTest, NamedShardingsWithoutNames) {
  const std::pair<const char*, const char*> cases[] = {
      {"{mesh['a'=2,'b'=3], [{'b'}]}", "{devices=[3,2]<=[2,3]T(1,0) last_tile_dim_replicate}"},
      {"{mesh['a'=2,'b'=3], [{'b', 'a'}]}", "{devices=[6]<=[2,3]T(1,0)}"},
      {"{mesh['a'=12,'b'=2], [{'a':(2)3}, {'b'}]}", "{devices=[3,2,4]<=[2,3,2,2]T(1,3,0,2) last_tile_dim_replicate}"},
      {"{mesh['a'=12,'b'=2], [{'a':(6)2}, {'a':(1)2, 'b'}], manual={'a':(2)3}}",
       "{devices=[2,4,3]<=[2,3,2,2]T(2,0,3,1) last_tile_dims={manual}}"},
      {"{mesh['a'=2,'b'=2,'c'=2,'d'=2], [{'b'}], unreduced={'a'}, manual={'c'}}",
       "{devices=[2,2,2,2]<=[2,4,2]T(1,0,2) last_tile_dims={manual, unreduced, replicated}}"},
      {"{mesh['a'=2,'b'=2], device_ids=(0,2,3,1), [{'b'}, {}]}", "{devices=[2,1,2]0,3,1,2 last_tile_dim_replicate}"},
      {"{mesh['a'=1,'b'=2], [{'a'}], unreduced={'b'}}", "{unreduced}"},
  };
  for (const auto& [named, plain] : cases) {
    EXPECT_EQ(HloSharding::V3ToV2Sharding(S(named).named_sharding()).value().ToString(), plain) << named;
  }
}

TEST(HloShardingTest, Tiles) {
  const HloSharding sharding = S("{devices=[2,2,2]<=[8] last_tile_dim_replicate}");
  EXPECT_EQ(sharding.TiledDataRank(), 2);
  EXPECT_EQ(sharding.NumTiles(), 4);
  EXPECT_EQ(sharding.TotalNumTiles(), 8);
  EXPECT_EQ(sharding.TileShape(Sh("f32[5,4]")), Sh("f32[3,2]"));
  EXPECT_EQ(sharding.TileShape(Sh("f32[5,4]"), 6), Sh("f32[2,2]"));
  EXPECT_THAT(sharding.TileIndexForDevice(6), ElementsAre(1, 1));
  EXPECT_EQ(sharding.DeviceForTileIndex({1, 1}), 6);
  EXPECT_EQ(sharding.DeviceForTileIndex({1, 1, 1}), 7);
  EXPECT_THAT(sharding.TileOffsetForDevice(Sh("f32[5,4]"), 6), ElementsAre(3, 2));
  EXPECT_THAT(sharding.TileLimitForDevice(Sh("f32[5,4]"), 6), ElementsAre(5, 4));
  int calls = 0;
  EXPECT_TRUE(
      sharding.EachTile({5, 4}, [&](int64_t, absl::Span<const int64_t>, absl::Span<const int64_t>) { ++calls; }).ok());
  EXPECT_EQ(calls, 8);
  EXPECT_FALSE(sharding.EachTile({5}, [](int64_t, absl::Span<const int64_t>, absl::Span<const int64_t>) {}).ok());
  EXPECT_EQ(S("{replicated}").NumTiles(), 1);
}

TEST(HloShardingTest, Devices) {
  EXPECT_EQ(S("{maximal device=3}").UniqueDevice(), 3);
  EXPECT_EQ(S("{{maximal device=3}, {maximal device=3}}").UniqueDevice(), 3);
  EXPECT_EQ(S("{{maximal device=3}, {maximal device=4}}").UniqueDevice(), std::nullopt);
  EXPECT_EQ(S("{replicated}").UniqueDevice(), std::nullopt);
  EXPECT_TRUE(S("{replicated}").UsesDevice(9));
  EXPECT_FALSE(S("{devices=[2,1]<=[2]}").UsesDevice(2));
  int64_t count = 0;
  const std::map<int64_t, int64_t> used =
      S("{{maximal device=3}, {replicated}, {maximal device=3}}").UsedDevices(&count);
  EXPECT_EQ(count, 3);
  EXPECT_THAT(used, ElementsAre(std::make_pair(3, 2)));
}

TEST(HloShardingTest, Tuples) {
  const Shape shape = Sh("(f32[2], (f32[4], s32[]), ())");
  const HloSharding tuple = S("{{replicated}, {devices=[2]<=[2]}, {manual}}");
  EXPECT_EQ(tuple.GetSubSharding(shape, {1, 0}), S("{devices=[2]<=[2]}"));
  EXPECT_EQ(tuple.GetSubSharding(shape, {1}), S("{{devices=[2]<=[2]}, {manual}}"));
  EXPECT_EQ(tuple.GetAsShapeTree(shape).element({1, 1}), S("{manual}"));
  EXPECT_EQ(HloSharding::Tuple(tuple.GetAsShapeTree(shape)), tuple);
  EXPECT_FALSE(S("{{manual}}").AsShapeTree(shape).ok());
  EXPECT_EQ(HloSharding::Single(shape, S("{manual}")).ToString(), "{{manual}, {manual}, {manual}}");
  EXPECT_EQ(HloSharding::SingleTuple(Sh("()"), S("{manual}")).ToString(), "{{manual}}");
  EXPECT_EQ(S("{{manual}, {manual}}").ExtractSingleSharding(), S("{manual}"));
  EXPECT_EQ(S("{{manual}, {replicated}}").ExtractSingleSharding(), std::nullopt);
}

TEST(HloShardingTest, CopiesDoNotShareChanges) {
  HloSharding a = HloSharding::Replicate();
  a.metadata().emplace_back().set_op_name("x");
  a.SetShardGroup(HloSharding::ShardAs(3));
  HloSharding b = a;
  b.metadata().clear();
  b.ClearShardGroup();
  EXPECT_EQ(a.ToString(true), "{replicated shard_as 3 metadata={op_name=\"x\"}}");
  EXPECT_EQ(b.ToString(true), "{replicated}");
  EXPECT_EQ(HloSharding::Replicate().ToString(true), "{replicated}");
  EXPECT_EQ(a.WithoutMetadata().ToString(true), "{replicated shard_as 3}");
}

TEST(HloShardingTest, Validate) {
  const auto message = [](absl::string_view sharding, absl::string_view shape, std::optional<int64_t> devices) {
    return std::string(S(sharding).Validate(Sh(shape), devices).message());
  };
  EXPECT_EQ(message("{devices=[2,2]<=[4]}", "f32[4,4]", 4), "");
  EXPECT_EQ(message("{devices=[2,2]<=[4]}", "token[]", 4), "");
  EXPECT_EQ(message("{maximal device=9}", "f32[4,4]", std::nullopt), "");
  EXPECT_THAT(message("{maximal device=9}", "f32[4,4]", 4), HasSubstr("device 9"));
  EXPECT_THAT(message("{devices=[2,2]<=[4]}", "f32[4]", 4), HasSubstr("different than the input rank"));
  EXPECT_THAT(message("{devices=[2,2]<=[4]}", "f32[4,4]", 8), HasSubstr("should have 8 devices"));
  EXPECT_THAT(message("{devices=[2,1]0,0}", "f32[4,4]", 2), HasSubstr("not unique"));
  EXPECT_THAT(message("{devices=[2,2]<=[8]}", "f32[4,4]", 4), HasSubstr("to several"));
  EXPECT_THAT(message("{replicated}", "(f32[4])", 4), HasSubstr("Validation shape is a tuple"));
  EXPECT_THAT(message("{{replicated}}", "f32[4]", 4), HasSubstr("tuple-shaped"));
  EXPECT_THAT(message("{{replicated}, {manual}}", "(f32[4])", 4), HasSubstr("1 leaves"));
  EXPECT_THAT(message("{{replicated}, {devices=[2]<=[2]}}", "(f32[4], f32[])", 2), HasSubstr("tuple element {1}"));
  EXPECT_THAT(message("{mesh['a'=-2], [{'a'}]}", "f32[4]", 2), HasSubstr("size -2"));
}

TEST(HloShardingTest, BadRecordsAreErrors) {
  OpSharding tiled;
  tiled.set_type(OpSharding::OTHER);
  EXPECT_FALSE(HloSharding::FromProto(tiled).ok());
  tiled.add_tile_assignment_dimensions(2);
  tiled.add_tile_assignment_dimensions(int64_t{1} << 62);
  tiled.add_tile_assignment_devices(0);
  tiled.add_tile_assignment_devices(1);
  EXPECT_FALSE(HloSharding::FromProto(tiled).ok());
  tiled.set_tile_assignment_dimensions(1, 1);
  EXPECT_EQ(HloSharding::FromProto(tiled).value().ToString(), "{devices=[2,1]0,1}");
  tiled.add_last_tile_dims(OpSharding::MANUAL);
  tiled.add_last_tile_dims(OpSharding::MANUAL);
  tiled.add_last_tile_dims(OpSharding::MANUAL);
  EXPECT_FALSE(HloSharding::FromProto(tiled).ok());
  OpSharding nested;
  nested.set_type(OpSharding::TUPLE);
  nested.add_tuple_shardings()->set_type(OpSharding::TUPLE);
  EXPECT_FALSE(HloSharding::FromProto(nested).ok());
  OpSharding named;
  named.mutable_named_sharding()->add_manual_axes()->set_mesh_axis_index(3);
  EXPECT_FALSE(HloSharding::FromProto(named).ok());
}

TEST(ShardingBuilderTest, Records) {
  const auto text = [](const OpSharding& record) { return HloSharding::FromProto(record).value().ToString(); };
  EXPECT_EQ(text(sharding_builder::Replicate()), "{replicated}");
  EXPECT_EQ(text(sharding_builder::Manual()), "{manual}");
  EXPECT_EQ(text(sharding_builder::AssignDevice(2)), "{maximal device=2}");
  EXPECT_EQ(text(sharding_builder::Tile(Sh("f32[2]"), Array<int64_t>({{1, 0}}))), "{devices=[1,2]1,0}");
  EXPECT_EQ(text(sharding_builder::Tile1D(Sh("f32[8]"), 2)), "{devices=[2]0,1}");
  EXPECT_EQ(text(sharding_builder::Tuple(ShapeTree<OpSharding>(Sh("(f32[], f32[])"), sharding_builder::Manual()))),
            "{{manual}, {manual}}");
}

}  // namespace
}  // namespace kashi::hlo
