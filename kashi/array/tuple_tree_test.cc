#include "kashi/array/tuple_tree.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_parser.h"

namespace kashi::array {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using IntNode = TupleTree<int>::Node;

// (1, (2, (), 3), 4), with 10, 20, 30 at the tuples in pre-order.
TupleTree<int> Sample() {
  return TupleTree<int>(IntNode::Tuple(
      10, {IntNode(1), IntNode::Tuple(20, {IntNode(2), IntNode::Tuple(30, {}), IntNode(3)}), IntNode(4)}));
}

template <typename Range>
std::vector<std::string> LeafTexts(const Range& range) {
  std::vector<std::string> texts;
  for (const auto& [index, value] : range) texts.push_back(absl::StrCat(index.ToString(), value));
  return texts;
}

TEST(TupleTreeTest, NodesAreInPreOrder) {
  const TupleTree<int> tree = Sample();
  EXPECT_THAT(LeafTexts(tree), ElementsAre("{}10", "{0}1", "{1}20", "{1,0}2", "{1,1}30", "{1,2}3", "{2}4"));
  EXPECT_THAT(LeafTexts(tree.nodes()), LeafTexts(tree));
  EXPECT_THAT(LeafTexts(tree.leaves()), ElementsAre("{0}1", "{1,0}2", "{1,2}3", "{2}4"));
  EXPECT_EQ(tree.leaf_count(), 4);
  EXPECT_TRUE(tree.IsTuple());
  EXPECT_FALSE(tree.IsLeaf({1, 1})) << "an empty tuple";
  EXPECT_TRUE(tree.IsLeaf({1, 2}));
}

TEST(TupleTreeTest, BackwardIterators) {
  TupleTree<int> tree = Sample();
  std::vector<int> values, leaves;
  for (auto it = tree.rbegin(); it != tree.rend(); ++it) values.push_back(it->second);
  EXPECT_THAT(values, ElementsAre(4, 3, 30, 2, 20, 1, 10));
  for (auto it = tree.leaf_rbegin(); it != tree.leaf_rend(); it++) leaves.push_back(it->second);
  EXPECT_THAT(leaves, ElementsAre(4, 3, 2, 1));
  const TupleTree<int>& view = tree;
  EXPECT_EQ(view.rbegin()->second, 4);
  EXPECT_EQ(view.leaf_rbegin()->second, 4);
}

TEST(TupleTreeTest, ElementsByIndex) {
  TupleTree<int> tree = Sample();
  EXPECT_EQ(tree.element({1, 2}), 3);
  *tree.mutable_element({1, 2}) = 33;
  EXPECT_EQ(tree.find({1, 2})->second, 33);
  EXPECT_EQ(tree.find({})->second, 10);
  for (auto& [index, value] : tree.leaves()) value = -value;
  EXPECT_EQ(tree.element({1, 2}), -33);
  EXPECT_DEATH(tree.element({0, 0}), "no node \\{0,0\\}");
  EXPECT_DEATH(tree.element({1, 3}), "no node");
  EXPECT_DEATH(tree.element({-1}), "no node");
}

TEST(TupleTreeTest, PostOrderAndErrors) {
  TupleTree<int> tree = Sample();
  std::vector<int> order;
  tree.ForEachElementPostOrder([&](const ShapeIndex&, const int& value) { order.push_back(value); });
  EXPECT_THAT(order, ElementsAre(1, 2, 30, 3, 20, 4, 10));
  int visits = 0;
  const auto fail_at_30 = [&](const ShapeIndex& index, const int& value) {
    ++visits;
    return value == 30 ? Internal("at %s", index.ToString()) : absl::OkStatus();
  };
  EXPECT_THAT(std::string(tree.ForEachElementWithStatus(fail_at_30).message()), HasSubstr("{1,1}"));
  EXPECT_EQ(visits, 5);
  EXPECT_FALSE(tree.ForEachElementPostOrderWithStatus(fail_at_30).ok());
  EXPECT_EQ(visits, 8);
  tree.ForEachMutableElement([](const ShapeIndex& index, int* value) { *value += index.empty() ? 100 : 0; });
  tree.ForEachMutableElementPostOrder([](const ShapeIndex&, int* value) { *value += 1; });
  EXPECT_EQ(tree.element({}), 111);
  EXPECT_TRUE(tree.ForEachMutableElementWithStatus([](const ShapeIndex&, int*) { return absl::OkStatus(); }).ok());
  EXPECT_TRUE(
      tree.ForEachMutableElementPostOrderWithStatus([](const ShapeIndex&, int*) { return absl::OkStatus(); }).ok());
}

TEST(TupleTreeTest, OtherWaysToMakeOne) {
  EXPECT_THAT(LeafTexts(TupleTree<int>(5)), ElementsAre("{}5"));
  EXPECT_FALSE(TupleTree<int>(5).IsTuple());
  EXPECT_THAT(LeafTexts(TupleTree<int>({5, 6})), ElementsAre("{}0", "{0}5", "{1}6"));
  EXPECT_THAT(LeafTexts(TupleTree<int>({IntNode::Leaf(5), IntNode::Tuple({IntNode(6)})})),
              ElementsAre("{}0", "{0}5", "{1}0", "{1,0}6"));
  EXPECT_THAT(LeafTexts(TupleTree<int>(IntNode::Tuple()).leaves()), IsEmpty());
  const Shape shape = ParseShape("(f32[2], (s8[], ()))").value();
  EXPECT_THAT(LeafTexts(TupleTree<std::string>(shape, 2, 'x')),
              ElementsAre("{}xx", "{0}xx", "{1}xx", "{1,0}xx", "{1,1}xx"));
  EXPECT_TRUE(TupleTree<int>(shape).IsStructurallyCompatible(shape));
  EXPECT_FALSE(Sample().IsStructurallyCompatible(shape));
}

TEST(TupleTreeTest, ValuesThatOnlyMove) {
  TupleTree<std::unique_ptr<int>> tree(ParseShape("(f32[2], s8[])").value());
  *tree.mutable_element({1}) = std::make_unique<int>(3);
  const TupleTree<std::unique_ptr<int>> moved = std::move(tree);
  EXPECT_EQ(*moved.element({1}), 3);
}

TEST(TupleTreeTest, Map) {
  const TupleTree<std::string> texts = Sample().Map<std::string>([](const int& value) { return absl::StrCat(value); });
  EXPECT_EQ(texts.element({1, 1}), "30");
  const auto doubled = Sample().MapWithStatus<int>([](const int& value) -> absl::StatusOr<int> { return 2 * value; });
  EXPECT_EQ(doubled->element({2}), 8);
  EXPECT_FALSE(Sample().MapWithStatus<int>([](const int&) -> absl::StatusOr<int> { return Internal("no"); }).ok());
}

TEST(TupleTreeTest, Subtrees) {
  const TupleTree<int> tree = Sample();
  const TupleTree<int> part = tree.Subtree({1}).value();
  EXPECT_THAT(LeafTexts(part), ElementsAre("{}20", "{0}2", "{1}30", "{2}3"));
  EXPECT_FALSE(tree.Subtree({5}).ok());
  EXPECT_EQ(TupleTree<int>(tree.ToNode().value()), tree);
  EXPECT_EQ(TupleTree<int>(tree.ToNode({1}).value()), part);
  EXPECT_FALSE(tree.ToNode({0, 1}).ok());

  TupleTree<int> target = Sample();
  *target.mutable_element({1, 1}) = 77;
  EXPECT_NE(target, tree);
  EXPECT_TRUE(target.CopyCompatibleSubtreeFrom(part, {}, {1}).ok());
  EXPECT_EQ(target, tree);
  EXPECT_FALSE(target.CopyCompatibleSubtreeFrom(part, {}, {}).ok());
  EXPECT_FALSE(target.CopyCompatibleSubtreeFrom(part, {7}, {}).ok());
  EXPECT_FALSE(target.CopyCompatibleSubtreeFrom(part, {}, {7}).ok());
  EXPECT_EQ(target, tree);
}

TEST(TupleTreeTest, FormsThatAreNoTrees) {
  EXPECT_DEATH(kashi::array::TupleTreeForm({}), "");
  EXPECT_DEATH(kashi::array::TupleTreeForm({2, -1}), "missing");
  EXPECT_DEATH(kashi::array::TupleTreeForm({-1, -1}), "after the end");
}

}  // namespace
}  // namespace kashi::array
