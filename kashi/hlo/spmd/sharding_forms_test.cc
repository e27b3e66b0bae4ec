#include "kashi/hlo/spmd/sharding_forms.h"

#include <string>

#include "gtest/gtest.h"
#include "kashi/hlo/attributes/hlo_sharding_text.h"

namespace kashi::hlo {
namespace {

const Mesh kMesh({"x", "y"}, {2, 4});

TEST(ShardingFormsTest, AllFormsOfOneSharding) {
  const HloSharding expected = ParseSharding("{devices=[2,4]<=[8]}").value();
  for (const char* text : {"{devices=[2,4]<=[8]}", "devices=[2,4]<=[8]", "{mesh['x'=2,'y'=4], [{'x'}, {'y'}]}",
                           "#sdy.sharding<@mesh, [{\"x\"}, {\"y\"}]>", "#sdy.sharding<@other, [{\"x\"}, {\"y\"}]>",
                           "<@m, [{\"x\"}, {\"y\"}]>", "[{\"x\"}, {\"y\"}]", "P('x', 'y')",
                           "PartitionSpec(\"x\", \"y\")", " P ( ('x',) , ['y'], ) "}) {
    const auto sharding = ParseShardingForm(text, kMesh, 2);
    ASSERT_TRUE(sharding.ok()) << text << ": " << sharding.status();
    EXPECT_EQ(*sharding, expected) << text;
  }
}

TEST(ShardingFormsTest, SpecsMayBeShort) {
  const HloSharding x_only = ParseShardingForm("P(None, 'x')", kMesh, 3).value();
  EXPECT_EQ(x_only, ParseSharding("{devices=[1,2,1,4]<=[8] last_tile_dim_replicate}").value());
  EXPECT_EQ(ParseShardingForm("P(('y', 'x'))", kMesh, 1).value(), ParseSharding("{devices=[8]<=[2,4]T(1,0)}").value());
  EXPECT_TRUE(ParseShardingForm("P()", kMesh, 2)->IsReplicated());
}

TEST(ShardingFormsTest, Errors) {
  for (const char* text : {"P('x', 'x')", "P('z')", "P('x'", "P(x)", "P('x' 'y')", "P('x', 'y', None)", "P('x') more",
                           "[{\"z\"}]", "#sdy.sharding<", "devices=", "", "P(", "P('", "P(('x')"}) {
    EXPECT_FALSE(ParseShardingForm(text, kMesh, 2).ok()) << text;
  }
  EXPECT_FALSE(ParseShardingForm("P('x')", std::nullopt, 2).ok());
  EXPECT_FALSE(ParseShardingForm("[{\"x\"}]", std::nullopt, 1).ok());
}

TEST(ShardingFormsTest, Meshes) {
  for (const char* text :
       {"x=2,y=4", " x=2, y=4", "#sdy.mesh<[\"x\"=2, \"y\"=4]>", "<[\"x\"=2, \"y\"=4]>", "mesh['x'=2,'y'=4]"}) {
    const auto mesh = ParseMeshAxes(text);
    ASSERT_TRUE(mesh.ok()) << text << ": " << mesh.status();
    EXPECT_EQ(*mesh, kMesh) << text;
  }
  for (const char* text : {"", "x", "x=", "x=0", "x=-1", "=2", "x=2,x=2", "x=2,,y=2", "mesh[", "<["}) {
    EXPECT_FALSE(ParseMeshAxes(text).ok()) << text;
  }
}

}  // namespace
}  // namespace kashi::hlo
