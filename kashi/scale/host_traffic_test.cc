#include "kashi/scale/host_traffic.h"

#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace kashi::scale {
namespace {

using Groups = std::vector<std::vector<int64_t>>;

void ExpectTraffic(HloOpcode opcode, const Groups& groups, double within, double between, int64_t host_devices = 2) {
  const HostTraffic traffic = TrafficOfGroups(opcode, groups, /*bytes=*/100, host_devices);
  EXPECT_DOUBLE_EQ(traffic.within_bytes, within) << HloOpcodeString(opcode);
  EXPECT_DOUBLE_EQ(traffic.between_bytes, between) << HloOpcodeString(opcode);
}

// Hosts have two devices: {0, 1} and {2, 3}.
TEST(HostTrafficTest, OneGroupOnTwoHosts) {
  const Groups all = {{0, 1, 2, 3}};
  ExpectTraffic(HloOpcode::kAllReduce, all, 2 * 2 * 100, 2 * 100);
  ExpectTraffic(HloOpcode::kReduceScatter, all, 2 * 100, 100);
  ExpectTraffic(HloOpcode::kCollectiveBroadcast, all, 2 * 100, 100);
  // Each of the four needs 75 bytes of the others: 300. Each host gets 50 from the other.
  ExpectTraffic(HloOpcode::kAllGather, all, 200, 100);
  // 25 bytes for each ordered pair: 4 pairs on a host, 8 on two.
  ExpectTraffic(HloOpcode::kAllToAll, all, 4 * 25, 8 * 25);
}

TEST(HostTrafficTest, GroupsOnOneHostOrOnePerHost) {
  ExpectTraffic(HloOpcode::kAllReduce, {{0, 1}, {2, 3}}, 2 * 2 * 100, 0);
  ExpectTraffic(HloOpcode::kAllReduce, {{0, 2}, {1, 3}}, 0, 2 * 2 * 100);
  ExpectTraffic(HloOpcode::kAllGather, {{0, 2}, {1, 3}}, 0, 2 * 100);
  ExpectTraffic(HloOpcode::kAllReduce, {{0}, {1}}, 0, 0);
  ExpectTraffic(HloOpcode::kAllReduce, {{0, 1, 2, 3}}, 600, 0, /*host_devices=*/8);
  ExpectTraffic(HloOpcode::kAllGather, {{}}, 0, 0);
}

TEST(HostTrafficTest, Pairs) {
  const HostTraffic traffic = TrafficOfPairs({{0, 1}, {1, 2}, {2, 2}, {3, 0}}, 10, 2);
  EXPECT_DOUBLE_EQ(traffic.within_bytes, 10);
  EXPECT_DOUBLE_EQ(traffic.between_bytes, 20);
}

// A law: an all-gather is what a broadcast of each member's part takes, all together; an all-to-all moves each part
// once.
TEST(HostTrafficTest, SumsOverMembers) {
  for (const std::vector<int64_t>& group : {std::vector<int64_t>{0, 1, 2, 3, 4, 5}, {0, 3, 5, 9}, {1, 2, 4}, {7}}) {
    const auto n = static_cast<double>(group.size());
    const HostTraffic gather = TrafficOfGroups(HloOpcode::kAllGather, {group}, n, 3);
    EXPECT_DOUBLE_EQ(gather.within_bytes + gather.between_bytes, n * (n - 1));
    const HostTraffic broadcast = TrafficOfGroups(HloOpcode::kCollectiveBroadcast, {group}, 1, 3);
    EXPECT_DOUBLE_EQ(gather.between_bytes, n * broadcast.between_bytes);
    EXPECT_DOUBLE_EQ(gather.within_bytes, n * broadcast.within_bytes);
    const HostTraffic exchange = TrafficOfGroups(HloOpcode::kAllToAll, {group}, n, 3);
    EXPECT_DOUBLE_EQ(exchange.within_bytes + exchange.between_bytes, n * (n - 1));
  }
}

}  // namespace
}  // namespace kashi::scale
