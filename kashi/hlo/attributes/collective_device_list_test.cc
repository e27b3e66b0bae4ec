#include "kashi/hlo/attributes/collective_device_list.h"

#include <string>
#include <vector>

#include "absl/hash/hash.h"
#include "gtest/gtest.h"
#include "kashi/array/recorded_cases_testing.h"

namespace kashi::hlo {
namespace {

std::string Expanded(absl::string_view text) {
  return ParseCollectiveDeviceListOnly(text).value().ToString(/*print_full_replica_group_list=*/true);
}

TEST(CollectiveDeviceListTest, AgreesWithXla) {
  for (const auto& row : array::ReadTestData("sharding_cases.tsv")) {
    if (row[0] != "groups") continue;
    absl::StatusOr<CollectiveDeviceList> list = ParseCollectiveDeviceListOnly(row[1]);
    EXPECT_EQ(list.ok(), row[2] == "ok") << row[1] << ": " << list.status();
    if (!list.ok() || row[2] != "ok") continue;
    EXPECT_EQ(list->ToString(), row[3]) << row[1];
    absl::StatusOr<CollectiveDeviceList> again = ParseCollectiveDeviceListOnly(row[3]);
    ASSERT_TRUE(again.ok()) << row[3];
    EXPECT_EQ(*again, *list);
    EXPECT_EQ(absl::HashOf(*again), absl::HashOf(*list));
  }
}

TEST(CollectiveDeviceListTest, Expands) {
  EXPECT_EQ(Expanded("{{0,1},{2,3}}"), "{{0,1},{2,3}}");
  EXPECT_EQ(Expanded("{}"), "{}");
  EXPECT_EQ(Expanded("[2,4]<=[8]"), "{{0,1,2,3},{4,5,6,7}}");
  EXPECT_EQ(Expanded("[2,4]<=[4,2]T(1,0)"), "{{0,2,4,6},{1,3,5,7}}");
  EXPECT_EQ(Expanded("mesh['x'=2,'y'=4] {'x'}"), "{{0,4},{1,5},{2,6},{3,7}}");
  EXPECT_EQ(Expanded("mesh['x'=2,'y'=4] {'y'}"), "{{0,1,2,3},{4,5,6,7}}");
  EXPECT_EQ(Expanded("mesh['x'=2,'y'=4] {'y':(1)2}"), "{{0,2},{1,3},{4,6},{5,7}}");
  EXPECT_EQ(Expanded("mesh['x'=2,'y'=3] {'y','x'}"), "{{0,3,1,4,2,5}}");
  EXPECT_EQ(Expanded("mesh['x'=2,'y'=2], device_ids=(0,3,1,2) {'y'}"), "{{0,3},{1,2}}");
}

TEST(CollectiveDeviceListTest, CountsAndForms) {
  const CollectiveDeviceList iota = ParseCollectiveDeviceListOnly("[2,4]<=[4,2]T(1,0)").value();
  EXPECT_EQ(iota.num_replica_groups(), 2);
  EXPECT_EQ(iota.num_devices_per_group(), 4);
  EXPECT_TRUE(iota.iota_replica_group_list().has_value());
  EXPECT_EQ(iota, CollectiveDeviceList(IotaReplicaGroupList(2, 4, {4, 2}, {1, 0})));
  const CollectiveDeviceList mesh = ParseCollectiveDeviceListOnly("mesh['x'=2,'y'=4] {'x'}").value();
  EXPECT_EQ(mesh.num_replica_groups(), 4);
  EXPECT_EQ(mesh.num_devices_per_group(), 2);
  const CollectiveDeviceList lists({std::vector<int64_t>{0, 1}, std::vector<int64_t>{2}});
  EXPECT_EQ(lists.ToString(), "{{0,1},{2}}");
  EXPECT_EQ(lists.num_replica_groups(), 2);
  EXPECT_NE(lists, iota);
  EXPECT_EQ(CollectiveDeviceList(), CollectiveDeviceList(std::vector<ReplicaGroup>()));
  EXPECT_EQ(CollectiveDeviceList().num_devices_per_group(), 0);
}

TEST(CollectiveDeviceListTest, ClaimsAreNotExpanded) {
  for (absl::string_view text :
       {"[2,4]<=[4]", "[-2,-4]<=[8]", "[1000000,1000000]<=[1000000000000]", "mesh['x'=1000000,'y'=1000000] {'x'}"}) {
    const CollectiveDeviceList list = ParseCollectiveDeviceListOnly(text).value();
    EXPECT_FALSE(list.CheckExpandable().ok()) << text;
    EXPECT_EQ(list.ToString(/*print_full_replica_group_list=*/true), text);
  }
}

TEST(CollectiveDeviceListTest, ListsOnly) {
  EXPECT_EQ(ParseReplicaGroupsOnly("{{0,1},{2}}").value().size(), 2u);
  EXPECT_FALSE(ParseReplicaGroupsOnly("[2,4]<=[8]").ok());
  EXPECT_FALSE(ParseReplicaGroupsOnly("{{0,1}} x").ok());
  EXPECT_FALSE(ParseReplicaGroupsOnly(std::string(100000, '{')).ok());
}

}  // namespace
}  // namespace kashi::hlo
