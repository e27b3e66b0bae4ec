#include "kashi/hlo/spmd/collective_groups.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::hlo {
namespace {

using Mode = CollectiveGroupMode;

// The groups of devices 0, 1, …: "0,1 0,1 2,3 2,3", or the first error.
std::string Groups(Mode mode, const std::string& groups, DeviceCounts counts) {
  const std::vector<ReplicaGroup> lists = ParseReplicaGroupsOnly(groups).value();
  std::vector<std::string> result;
  for (int64_t device = 0; device < counts.total(); ++device) {
    const absl::StatusOr<std::vector<int64_t>> members = CollectiveGroupOf(mode, lists, counts, device);
    if (!members.ok()) return std::string(members.status().message());
    result.push_back(absl::StrJoin(*members, ","));
  }
  return absl::StrJoin(result, " ");
}

// docs/spec/hlo-ops.md 7.1, replicas 2 x partitions 2: the sums of values 1 2 3 4 there tell these groups.
TEST(CollectiveGroupsTest, TwoReplicasOfTwoPartitions) {
  const DeviceCounts counts = {2, 2};
  EXPECT_EQ(Groups(Mode::kCrossReplica, "{}", counts), "0,2 1,3 0,2 1,3");
  EXPECT_EQ(Groups(Mode::kCrossReplicaAndPartition, "{}", counts), "0,1,2,3 0,1,2,3 0,1,2,3 0,1,2,3");
  EXPECT_EQ(Groups(Mode::kCrossReplica, "{{0},{1}}", counts), "0 1 2 3");
  EXPECT_EQ(Groups(Mode::kCrossReplicaAndPartition, "{{0},{1}}", counts), "0,1 0,1 2,3 2,3");
  EXPECT_EQ(Groups(Mode::kFlattenedId, "{{0,3},{1,2}}", counts), "0,3 1,2 1,2 0,3");
  EXPECT_EQ(Groups(Mode::kCrossPartition, "{}", counts), "0,1 0,1 2,3 2,3");
  EXPECT_EQ(Groups(Mode::kCrossPartition, "{{1,0}}", counts), "1,0 1,0 3,2 3,2");
}

TEST(CollectiveGroupsTest, MembersKeepTheirOrder) {
  EXPECT_EQ(Groups(Mode::kCrossReplica, "{{3,1,0,2}}", {4, 1}), "3,1,0,2 3,1,0,2 3,1,0,2 3,1,0,2");
  const DeviceCounts six = {2, 3};
  EXPECT_EQ(
      CollectiveGroupOf(Mode::kCrossReplicaAndPartition, ParseReplicaGroupsOnly("{{1,0}}").value(), six, 4).value(),
      std::vector<int64_t>({3, 4, 5, 0, 1, 2}));
}

TEST(CollectiveGroupsTest, UnevenGroups) {
  EXPECT_EQ(Groups(Mode::kCrossReplica, "{{0,1,2},{3}}", {4, 1}), "0,1,2 0,1,2 0,1,2 3");
}

TEST(CollectiveGroupsTest, OneDevice) {
  EXPECT_EQ(Groups(Mode::kCrossReplica, "{}", {}), "0");
  EXPECT_EQ(Groups(Mode::kFlattenedId, "{{0}}", {}), "0");
}

TEST(CollectiveGroupsTest, Errors) {
  EXPECT_EQ(Groups(Mode::kFlattenedId, "{}", {2, 1}), "Replica groups must be specified in flattened-id mode");
  EXPECT_EQ(Groups(Mode::kCrossReplica, "{{0,1}}", {3, 1}), "replica 2 doesn't appear in its groups");
  EXPECT_EQ(Groups(Mode::kCrossPartition, "{{0},{0,1}}", {1, 2}), "partition 0 appears twice in its groups");
  EXPECT_EQ(Groups(Mode::kFlattenedId, "{{0,4}}", {2, 2}), "its groups name device 4, but the ids are 0 to 3");
  EXPECT_TRUE(absl::IsNotFound(
      CollectiveGroupOf(Mode::kCrossReplica, ParseReplicaGroupsOnly("{{1}}").value(), {2, 1}, 0).status()));
}

std::string ModeOf(const std::string& instruction) {
  const std::string text =
      absl::StrCat("HloModule m\nadd { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ",
                   "ROOT c = f32[] add(a, b) }\nENTRY e { p = f32[4] parameter(0)\n ROOT r = ", instruction, " }");
  const auto module = ParseAndReturnUnverifiedModule(text);
  if (!module.ok()) return std::string(module.status().message());
  const auto mode = GetCollectiveGroupMode(*(*module)->entry_computation()->root_instruction());
  return std::string(mode.ok() ? CollectiveGroupModeName(*mode) : mode.status().message());
}

TEST(CollectiveGroupsTest, Modes) {
  EXPECT_EQ(ModeOf("f32[4] all-reduce(p), replica_groups={}, to_apply=add"), "cross_replica");
  EXPECT_EQ(ModeOf("f32[4] all-reduce(p), channel_id=1, replica_groups={}, to_apply=add"),
            "cross_replica_and_partition");
  EXPECT_EQ(
      ModeOf("f32[4] all-reduce(p), channel_id=1, replica_groups={{0}}, use_global_device_ids=true, to_apply=add"),
      "flattened_id");
  EXPECT_EQ(ModeOf("f32[4] collective-permute(p), source_target_pairs={{0,0}}"), "cross_replica");
  EXPECT_EQ(ModeOf("f32[4] collective-permute(p), channel_id=1, source_target_pairs={{0,0}}"), "cross_partition");
  EXPECT_EQ(ModeOf("f32[4] all-to-all(p), channel_id=1, replica_groups={{0}}, dimensions={0}"), "cross_partition");
  EXPECT_EQ(ModeOf("f32[4] collective-broadcast(p), channel_id=1, replica_groups={{0}}"), "cross_partition");
}

TEST(CollectiveGroupsTest, GroupsOfAnInstruction) {
  const auto module = ParseAndReturnUnverifiedModule(
      "HloModule m\nENTRY e { p = f32[1] parameter(0)\n ROOT r = f32[2] all-gather(p), channel_id=1,"
      " replica_groups=[2,2]<=[2,2]T(1,0), dimensions={0}, use_global_device_ids=true }");
  ASSERT_TRUE(module.ok()) << module.status();
  const HloInstruction& gather = *(*module)->entry_computation()->root_instruction();
  EXPECT_EQ(CollectiveGroupOf(gather, {1, 4}, 1).value(), std::vector<int64_t>({1, 3}));
  EXPECT_EQ(CollectiveGroupOf(gather, {4, 1}, 2).value(), std::vector<int64_t>({0, 2}));
}

TEST(CollectiveGroupsTest, CountsAsText) {
  EXPECT_EQ(DeviceCounts().ToString(), "1 device");
  EXPECT_EQ((DeviceCounts{2, 1}.ToString()), "2 devices (2 replicas of 1 partition)");
  EXPECT_EQ((DeviceCounts{1, 4}.ToString()), "4 devices (1 replica of 4 partitions)");
}

}  // namespace
}  // namespace kashi::hlo
