#include "kashi/hlo/spmd/sdy_sharding.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/base/printer.h"
#include "kashi/hlo/attributes/hlo_sharding.h"

namespace kashi::hlo {
namespace {

using testing::HasSubstr;

constexpr char kMeshes[] =
    R"({mesh = #sdy.mesh<["a"=2, "b"=4]>, back = #sdy.mesh<["a"=2], device_ids=[1, 0]>, one = #sdy.mesh<[], device_ids=[3]>, none = #sdy.mesh<[]>})";

std::string Meshes(absl::string_view text) {
  const absl::StatusOr<SdyMeshes> meshes = ParseSdyMeshes(text);
  if (!meshes.ok()) return std::string(meshes.status().message());
  return absl::StrJoin(*meshes, "; ", [](std::string* out, const auto& entry) {
    absl::StrAppend(out, entry.first, " ", entry.second.ToString());
  });
}

// Shardings as HLO text writes them.
std::string Shardings(absl::string_view text) {
  const absl::StatusOr<std::vector<NamedSharding>> shardings = ParseSdyShardings(text, ParseSdyMeshes(kMeshes).value());
  if (!shardings.ok()) return std::string(shardings.status().message());
  return absl::StrJoin(*shardings, " ", [](std::string* out, const NamedSharding& sharding) {
    absl::StrAppend(out, HloSharding(sharding).ToString());
  });
}

TEST(SdyShardingTest, Meshes) {
  EXPECT_EQ(Meshes(kMeshes),
            "back mesh['a'=2], device_ids=(1,0); mesh mesh['a'=2,'b'=4]; none mesh[]; one maximal_mesh[device_id=3]");
  EXPECT_EQ(Meshes("{}"), "");
}

TEST(SdyShardingTest, Shardings) {
  EXPECT_EQ(Shardings(R"(#sdy.sharding<@mesh, [{"a"}, {"b", ?}p1, {}]>)"),
            "{mesh['a'=2,'b'=4], [{'a'}, {'b', ?}, {}]}");
  EXPECT_EQ(Shardings(R"(#sdy.sharding<@mesh, [{\"a\"}, {?}]>)"), "{mesh['a'=2,'b'=4], [{'a'}, {?}]}");
  EXPECT_EQ(Shardings(R"(#sdy.sharding<@mesh, [{"b":(1)2}], replicated={"a"}>)"),
            "{mesh['a'=2,'b'=4], [{'b':(1)2}], replicated={'a'}}");
  EXPECT_EQ(Shardings(R"(#sdy.sharding<@mesh, [{}], unreduced={"a"}>)"), "{mesh['a'=2,'b'=4], [{}], unreduced={'a'}}");
  EXPECT_EQ(Shardings(R"(#sdy.sharding<mesh<["x"=3]>, [{"x"}]>)"), "{mesh['x'=3], [{'x'}]}");
  EXPECT_EQ(Shardings(R"(#sdy.sharding_per_value<[<@mesh, []>, <@one, []>]>)"),
            "{mesh['a'=2,'b'=4], replicated} {maximal_mesh[device_id=3]}");
  EXPECT_EQ(Shardings("#sdy.sharding_per_value<[]>"), "");
}

TEST(SdyShardingTest, ManualAxes) {
  EXPECT_EQ(absl::StrJoin(ParseSdyManualAxes(R"(#sdy<manual_axes{"a", "b"}>)").value(), " "), "a b");
  EXPECT_TRUE(ParseSdyManualAxes("#sdy<manual_axes{}>").value().empty());
  EXPECT_FALSE(ParseSdyManualAxes("#sdy<manual_axes{a}>").ok());
}

TEST(SdyShardingTest, Errors) {
  EXPECT_THAT(Shardings(R"(#sdy.sharding<@other, []>)"), HasSubstr("expected a mesh of the module, not `other`"));
  EXPECT_THAT(Shardings(R"(#sdy.sharding<@mesh, [{"c"}]>)"), HasSubstr("expected an axis of the mesh, not `c`"));
  EXPECT_THAT(Shardings(R"(#sdy.sharding<@mesh, [{?, "a"}]>)"), HasSubstr("expected `}` after `?`"));
  EXPECT_THAT(Shardings(R"(#sdy.sharding<@mesh, [{"a])"), HasSubstr("expected the end of a name"));
  EXPECT_THAT(Shardings(R"(#sdy.sharding<@mesh, []> x)"), HasSubstr("at byte 25: expected the end"));
  EXPECT_THAT(Shardings("sharding"), HasSubstr("expected `#sdy.sharding`"));
  EXPECT_THAT(Shardings(""), HasSubstr("expected `#sdy.sharding`"));
  EXPECT_THAT(Meshes(R"({m = #sdy.mesh<["a"=0]>})"), HasSubstr("axes with sizes of 1 or more"));
  EXPECT_THAT(Meshes(R"({m = #sdy.mesh<["a"=2], device_ids=[0]>})"), HasSubstr("one device id for each element"));
  EXPECT_THAT(Meshes(R"({m = #sdy.mesh<["a"=2], device_ids=[0, 0]>})"), HasSubstr("device"));
  EXPECT_THAT(Meshes(R"({m = #sdy.mesh<["a"=99999999999999999999]>})"), HasSubstr("expected a number"));
  EXPECT_THAT(Meshes("{"), HasSubstr("the name of a mesh"));
}

}  // namespace
}  // namespace kashi::hlo
