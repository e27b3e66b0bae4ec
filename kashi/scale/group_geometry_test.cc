#include "kashi/scale/group_geometry.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

namespace kashi::scale {
namespace {

using Groups = std::vector<std::vector<int64_t>>;

Network MakeNetwork(Network::Kind kind, std::vector<int64_t> sizes) {
  return Network::Create(kind, std::move(sizes), {{1, 1}}).value();
}
Network Torus(std::vector<int64_t> sizes) { return MakeNetwork(Network::Kind::kTorus, std::move(sizes)); }

// "4 ring hop 1 byte 2; 8 row hop 1 byte 1"
std::string SidesText(const GroupGeometry& geometry) {
  return absl::StrJoin(geometry.sides, "; ", [](std::string* out, const GroupSide& side) {
    absl::StrAppendFormat(out, "%d %s hop %g byte %g", side.members, side.is_ring ? "ring" : "row", side.hop_seconds,
                          side.seconds_per_byte);
  });
}

// Devices of a row of `size`: first, first + stride, ….
std::vector<int64_t> Line(int64_t first, int64_t stride, int64_t members) {
  std::vector<int64_t> line;
  for (int64_t i = 0; i < members; ++i) line.push_back(first + i * stride);
  return line;
}

TEST(GroupGeometryTest, ThePictureInTheHeader) {
  const Network torus = Torus({4, 8});
  Groups rows, columns, halves = {}, all = {Line(0, 1, 32)};
  for (int64_t row = 0; row < 4; ++row) {
    rows.push_back(Line(row * 8, 1, 8));
    halves.push_back(Line(row * 8, 2, 4));
    halves.push_back(Line(row * 8 + 1, 2, 4));
  }
  for (int64_t column = 0; column < 8; ++column) columns.push_back(Line(column, 8, 4));
  EXPECT_EQ(SidesText(GeometryOf(torus, rows)), "8 ring hop 1 byte 1");
  EXPECT_EQ(SidesText(GeometryOf(torus, columns)), "4 ring hop 1 byte 1");
  EXPECT_EQ(SidesText(GeometryOf(torus, halves)), "4 ring hop 2 byte 2");
  EXPECT_EQ(SidesText(GeometryOf(torus, all)), "4 ring hop 1 byte 1; 8 ring hop 1 byte 1");
}

TEST(GroupGeometryTest, RowsThatAreNoRings) {
  EXPECT_EQ(SidesText(GeometryOf(Torus({8}), {{0, 1, 2, 3}, {4, 5, 6, 7}})), "4 row hop 1 byte 1");
  EXPECT_EQ(SidesText(GeometryOf(Torus({2}), {{0, 1}})), "2 row hop 1 byte 1");
  // Neighbours that are 4 apart: the groups share the links between 3 and 4.
  EXPECT_EQ(SidesText(GeometryOf(Torus({8}), {{0, 4}, {1, 5}, {2, 6}, {3, 7}})), "2 row hop 4 byte 4");
}

TEST(GroupGeometryTest, GroupsThatAreNoGridBecomeOneRing) {
  const GroupGeometry geometry = GeometryOf(Torus({2, 2}), {{0, 3}, {1, 2}});
  EXPECT_EQ(geometry.members, 2);
  EXPECT_EQ(SidesText(geometry), "2 row hop 2 byte 1");
  // Groups of different sizes.
  EXPECT_EQ(GeometryOf(Torus({8}), {{0, 1, 2}, {3, 4, 5, 6, 7}}).members, 5);
}

TEST(GroupGeometryTest, GroupsOfOneHaveNoSides) {
  EXPECT_EQ(SidesText(GeometryOf(Torus({2}), {{0}, {1}})), "");
  EXPECT_EQ(SidesText(GeometryOf(MakeNetwork(Network::Kind::kSwitch, {2}), {{0}, {1}})), "");
}

TEST(GroupGeometryTest, OfASwitchTheSlowestLinkCounts) {
  const Network network =
      Network::Create(Network::Kind::kSwitch, {2, 4}, {{/*latency_seconds=*/10, 0.5}, {1, 1}}).value();
  EXPECT_EQ(SidesText(GeometryOf(network, {{0, 1, 2, 3}, {4, 5, 6, 7}})), "4 row hop 1 byte 1");
  EXPECT_EQ(SidesText(GeometryOf(network, {{0, 4}, {1, 5}, {2, 6}, {3, 7}})), "2 row hop 10 byte 2");
}

// If a group's line is a ring, the load of its links is that of all members sending to their next neighbours.
TEST(GroupGeometryTest, RingsCarryWhatTheirMessagesCarry) {
  for (const int64_t size : {3, 4, 6, 8, 12}) {
    for (const int64_t other : {1, 2, 3}) {
      const Network torus = Torus({other, size});
      for (int64_t stride = 1; stride < size; ++stride) {
        if (size % stride != 0 || size / stride < 3) continue;
        Groups groups;
        std::vector<std::pair<int64_t, int64_t>> messages;
        for (int64_t row = 0; row < other; ++row) {
          for (int64_t first = 0; first < stride; ++first) {
            groups.push_back(Line(row * size + first, stride, size / stride));
            for (size_t i = 0; i < groups.back().size(); ++i) {
              messages.emplace_back(groups.back()[i], groups.back()[(i + 1) % groups.back().size()]);
            }
          }
        }
        const GroupGeometry geometry = GeometryOf(torus, groups);
        ASSERT_EQ(geometry.sides.size(), 1);
        EXPECT_TRUE(geometry.sides[0].is_ring);
        const RouteLoad load = LoadOf(torus, messages);
        EXPECT_EQ(geometry.sides[0].seconds_per_byte, load.seconds_per_byte) << size << " by " << stride;
        EXPECT_EQ(geometry.sides[0].hop_seconds, load.hop_seconds) << size << " by " << stride;
      }
    }
  }
}

TEST(GroupGeometryTest, MessagesTakeTheShorterWay) {
  EXPECT_EQ(LoadOf(Torus({8}), {{0, 7}}).hop_seconds, 1);
  EXPECT_EQ(LoadOf(Torus({8}), {{0, 4}}).hop_seconds, 4);
  EXPECT_EQ(LoadOf(Torus({8, 8}), {{0, 63}}).hop_seconds, 2);
  // Two messages over the link from 1 to 2.
  EXPECT_EQ(LoadOf(Torus({8}), {{0, 2}, {1, 3}}).seconds_per_byte, 2);
  // Links carry messages of both directions at once.
  EXPECT_EQ(LoadOf(Torus({8}), {{0, 1}, {1, 0}}).seconds_per_byte, 1);
}

TEST(NetworkTest, RefusesWhatIsNoNetwork) {
  const auto error = [](std::vector<int64_t> sizes, std::vector<NetworkLink> links) {
    return std::string(Network::Create(Network::Kind::kTorus, std::move(sizes), std::move(links)).status().message());
  };
  EXPECT_EQ(error({}, {{1, 1}}), "a network needs one dimension or more");
  EXPECT_EQ(error({4, 0}, {{1, 1}}), "a dimension of a network has 0 devices");
  EXPECT_EQ(error({int64_t{1} << 40, int64_t{1} << 40}, {{1, 1}}), "a network may have 65536 devices at most");
  EXPECT_EQ(error({4, 4}, {{1, 1}, {1, 1}, {1, 1}}), "the network has 2 dimensions, but there are links for 3");
  EXPECT_EQ(error({4}, {{-1, 1}}), "a latency must be 0 or more");
  EXPECT_EQ(error({4}, {{1, 0}}), "a bandwidth must be more than 0");
}

}  // namespace
}  // namespace kashi::scale
