#include "kashi/partition/device_axes.h"

#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/attributes/hlo_sharding_text.h"

namespace kashi::partition {
namespace {

HloSharding Read(absl::string_view text) { return ParseSharding(text).value(); }

std::string AxesOfText(int64_t devices, absl::string_view text, int64_t rank) {
  const HloSharding sharding = Read(text);
  const DeviceAxes axes(devices, {sharding});
  const auto found = axes.FromSharding(sharding, rank);
  return found.has_value() ? ToText(*found) : "none";
}

TEST(DeviceAxesTest, ShardingsInTermsOfAxes) {
  EXPECT_EQ(AxesOfText(8, "{devices=[2,4]<=[8]}", 2), "[{0}, {1,2}]");
  EXPECT_EQ(AxesOfText(8, "{devices=[4,2]<=[2,4]T(1,0)}", 2), "[{1,2}, {0}]");
  EXPECT_EQ(AxesOfText(8, "{devices=[2,1,4]<=[8] last_tile_dim_replicate}", 2), "[{0}, {}]");
  EXPECT_EQ(AxesOfText(6, "{devices=[3,2]<=[2,3]T(1,0)}", 2), "[{1}, {0}]");
  EXPECT_EQ(AxesOfText(4, "{devices=[4]0,3,1,2}", 1), "none");
  EXPECT_EQ(AxesOfText(4, "{devices=[4]0,2,1,3}", 1), "[{1,0}]");
  EXPECT_EQ(AxesOfText(4, "{replicated}", 3), "[{}, {}, {}]");
}

TEST(DeviceAxesTest, AxesOfSums) {
  const HloSharding sums = Read("{devices=[2,2,2]<=[2,2,2]T(2,0,1) last_tile_dims={unreduced, replicated}}");
  const DeviceAxes axes(8, {sums});
  EXPECT_EQ(ToText(*axes.FromSharding(sums, 1)), "[{2}]");
  EXPECT_EQ(ToText({*axes.UnreducedAxesOf(sums)}), "[{0}]");
  EXPECT_EQ(axes.ToSharding({{2}}, {0}), sums);
  EXPECT_EQ(ToText({*axes.UnreducedAxesOf(Read("{unreduced}"))}), "[{0,1,2}]");
  EXPECT_EQ(ToText({*axes.UnreducedAxesOf(Read("{replicated}"))}), "[{}]");
  EXPECT_FALSE(axes.UnreducedAxesOf(Read("{devices=[1,4,2]0,3,5,6,1,2,7,4 last_tile_dims={unreduced, replicated}}")));
}

// Conversions back and forth; the part of each device stays the same.
TEST(DeviceAxesTest, RoundTrip) {
  for (const char* text : {"{devices=[2,4]<=[8]}", "{devices=[4,2]<=[2,4]T(1,0)}", "{devices=[8,1]<=[2,2,2]T(2,0,1)}",
                           "{devices=[2,1,4]<=[8] last_tile_dim_replicate}", "{replicated}",
                           "{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}"}) {
    const HloSharding sharding = Read(text);
    const DeviceAxes axes(8, {sharding});
    const auto found = axes.FromSharding(sharding, 2);
    ASSERT_TRUE(found.has_value()) << text;
    EXPECT_EQ(axes.ToSharding(*found), sharding) << text;
    const ShardGrid grid = ShardGrid::Make(sharding, {16, 24}, 8).value();
    for (int64_t device = 0; device < 8; ++device) {
      for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(axes.IndexOf((*found)[i], device) * grid.shard_dimensions()[i], grid.OffsetsOf(device)[i]) << text;
      }
    }
    EXPECT_EQ(axes.FromGrid(grid), found) << text;
  }
}

TEST(DeviceAxesTest, Groups) {
  const DeviceAxes axes(8, {Read("{devices=[2,4]<=[8]}")});
  EXPECT_EQ(axes.GroupsAlong({0}).ToString(true), "{{0,4},{1,5},{2,6},{3,7}}");
  EXPECT_EQ(axes.GroupsAlong({1, 2}).ToString(true), "{{0,1,2,3},{4,5,6,7}}");
  EXPECT_EQ(axes.GroupsAlong({2, 1}).ToString(true), "{{0,2,1,3},{4,6,5,7}}");
}

}  // namespace
}  // namespace kashi::partition
