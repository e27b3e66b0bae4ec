#include "kashi/hlo/attributes/message.h"

#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "gtest/gtest.h"
#include "kashi/hlo/attributes/xla_data.h"

namespace kashi::hlo {
namespace {

// As with protobuf: the pointer from add_x() stays valid while the list grows, and while the record moves.
TEST(MessageTest, PointersToRecordsInListsStayGood) {
  Window window;
  std::vector<WindowDimension*> dimensions;
  for (int i = 0; i < 100; ++i) dimensions.push_back(window.add_dimensions());
  for (int i = 0; i < 100; ++i) dimensions[i]->set_size(i);
  EXPECT_EQ(window.dimensions(99).size(), 99);
  const Window moved = std::move(window);
  EXPECT_EQ(&moved.dimensions(0), dimensions[0]);

  OpSharding tuple;
  OpSharding* first = tuple.add_tuple_shardings();
  tuple.add_tuple_shardings()->add_metadata()->set_op_name("b");
  first->set_type(OpSharding::MANUAL);
  EXPECT_EQ(tuple.tuple_shardings(0).type(), OpSharding::MANUAL);
}

TEST(MessageTest, ListsOfRecordsAreValues) {
  PaddingConfig a;
  a.mutable_dimensions()->resize(2);
  a.mutable_dimensions(1)->set_edge_padding_low(3);
  PaddingConfig b = a;
  EXPECT_EQ(a, b);
  EXPECT_EQ(absl::HashOf(a), absl::HashOf(b));
  b.mutable_dimensions()->begin()->set_edge_padding_low(1);
  EXPECT_NE(a, b);
  EXPECT_EQ(a.dimensions(0).edge_padding_low(), 0);
  b.mutable_dimensions()->SwapElements(0, 1);
  EXPECT_EQ(b.dimensions().front().edge_padding_low(), 3);
  b.mutable_dimensions()->erase(b.dimensions().begin());
  EXPECT_EQ(b.dimensions_size(), 1);
  EXPECT_EQ(b.dimensions().back().edge_padding_low(), 1);
  b = a;
  b.mutable_dimensions()->DeleteSubrange(0, 2);
  EXPECT_TRUE(b.dimensions().empty());
  int64_t sum = 0;
  for (const PaddingConfigDimension& dimension : a.dimensions()) sum += dimension.edge_padding_low();
  EXPECT_EQ(sum, 3);
}

TEST(MessageTest, MapsOfStrings) {
  FrontendAttributes attributes;
  (*attributes.mutable_map())["b"] = "2";
  attributes.mutable_map()->insert({"a", "1"});
  EXPECT_EQ(attributes.map_size(), 2);
  EXPECT_TRUE(attributes.map().contains("a"));
  EXPECT_FALSE(attributes.map().contains("c"));
  EXPECT_EQ(attributes.map().begin()->first, "a");
}

}  // namespace
}  // namespace kashi::hlo
