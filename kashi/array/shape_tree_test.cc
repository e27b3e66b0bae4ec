#include "kashi/array/shape_tree.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_testing.h"

namespace kashi::array {
namespace {

using ::testing::ElementsAre;

const char kNested[] = "(f32[2], (s8[], token[]), pred[])";

template <typename Range>
std::vector<std::string> Texts(const Range& range) {
  std::vector<std::string> texts;
  for (const auto& [index, value] : range) texts.push_back(absl::StrCat(index.ToString(), value));
  return texts;
}

TEST(ShapeTreeTest, EveryNodeHasAValue) {
  ShapeTree<int> tree(S(kNested), 7);
  *tree.mutable_element({1, 0}) = 8;
  *tree.mutable_element({}) = 6;
  EXPECT_THAT(Texts(tree), ElementsAre("{}6", "{0}7", "{1}7", "{1,0}8", "{1,1}7", "{2}7"));
  EXPECT_THAT(Texts(tree.nodes()), Texts(tree));
  EXPECT_THAT(Texts(tree.leaves()), ElementsAre("{0}7", "{1,0}8", "{1,1}7", "{2}7"));
  EXPECT_EQ(tree.shape(), S(kNested));
  EXPECT_EQ(tree.leaf_count(), 4);
  EXPECT_TRUE(tree.IsLeaf({0}));
  EXPECT_FALSE(tree.IsLeaf({1}));
  EXPECT_EQ(tree.find({1, 0})->second, 8);
  EXPECT_EQ(tree.rbegin()->first, ShapeIndex({2}));
  EXPECT_EQ(tree.leaf_rbegin()->first, ShapeIndex({2}));
  EXPECT_EQ(tree.leaf_begin()->second, 7);
}

TEST(ShapeTreeTest, DefaultsAndSingleArrays) {
  EXPECT_EQ(ShapeTree<int>().shape(), S("()"));
  EXPECT_EQ(ShapeTree<int>().leaf_count(), 0);
  ShapeTree<double> one(S("f32[3]"));
  EXPECT_EQ(one.element({}), 0);
  EXPECT_EQ(one.leaf_count(), 1);
  EXPECT_TRUE(one.IsLeaf({}));
}

TEST(ShapeTreeTest, BorrowedShape) {
  const Shape shape = S(kNested);
  const ShapeTree<int> tree(&shape, 1);
  EXPECT_EQ(&tree.shape(), &shape);
  EXPECT_EQ(&tree.Map<bool>([](const int& value) { return value == 1; }).shape(), &shape);
  ShapeTree<int> other(S(kNested));
  other.replace_shape_ptr(shape);
  EXPECT_EQ(&other.shape(), &shape);
  EXPECT_DEATH(other.replace_shape_ptr(S("f32[]")), "vs");
  EXPECT_EQ(ShapeTree<int>(&shape).element({1}), 0);
}

TEST(ShapeTreeTest, CopiesAndMovesKeepTheShape) {
  auto tree = std::make_unique<ShapeTree<int>>(S(kNested), 3);
  const ShapeTree<int> copy = *tree;
  const ShapeTree<int> moved = std::move(*tree);
  tree.reset();
  EXPECT_EQ(copy.shape(), S(kNested));
  EXPECT_EQ(moved.shape(), S(kNested));
  EXPECT_EQ(copy, moved);
}

TEST(ShapeTreeTest, EqualityIsOfIndicesAndValues) {
  EXPECT_EQ(ShapeTree<int>(S("(f32[2], s8[])"), 1), ShapeTree<int>(S("(pred[], u8[5,5])"), 1));
  EXPECT_NE(ShapeTree<int>(S("(f32[2], s8[])"), 1), ShapeTree<int>(S("(f32[2], s8[])"), 2));
  EXPECT_NE(ShapeTree<int>(S("(f32[2], s8[])"), 1), ShapeTree<int>(S("(f32[2])"), 1));
}

TEST(ShapeTreeTest, Loops) {
  ShapeTree<int> tree(S(kNested), 1);
  int sum = 0;
  tree.ForEachMutableElement([](const ShapeIndex& index, int* value) { *value = static_cast<int>(index.size()); });
  tree.ForEachElement([&](const ShapeIndex&, const int& value) { sum += value; });
  EXPECT_EQ(sum, 7);
  std::vector<int> depths;
  tree.ForEachElementPostOrder([&](const ShapeIndex&, const int& value) { depths.push_back(value); });
  EXPECT_THAT(depths, ElementsAre(1, 2, 2, 1, 1, 0));
  tree.ForEachMutableElementPostOrder([](const ShapeIndex&, int* value) { ++*value; });
  const auto fail = [](const ShapeIndex&, const int&) { return Internal("stop"); };
  const auto fail_mutable = [](const ShapeIndex&, int*) { return Internal("stop"); };
  EXPECT_FALSE(tree.ForEachElementWithStatus(fail).ok());
  EXPECT_FALSE(tree.ForEachElementPostOrderWithStatus(fail).ok());
  EXPECT_FALSE(tree.ForEachMutableElementWithStatus(fail_mutable).ok());
  EXPECT_FALSE(tree.ForEachMutableElementPostOrderWithStatus(fail_mutable).ok());
  EXPECT_FALSE(tree.MapWithStatus<int>([](const int&) -> absl::StatusOr<int> { return Internal("stop"); }).ok());
  EXPECT_EQ(tree.MapWithStatus<int>([](const int& v) -> absl::StatusOr<int> { return -v; })->element({1, 0}), -3);
}

TEST(ShapeTreeTest, Subtrees) {
  ShapeTree<int> tree(S(kNested), 1);
  *tree.mutable_element({1, 1}) = 5;
  const ShapeTree<int> part = tree.SubShapeTree({1}).value();
  EXPECT_EQ(part.shape(), S("(s8[], token[])"));
  EXPECT_THAT(Texts(part), ElementsAre("{}1", "{0}1", "{1}5"));
  EXPECT_FALSE(tree.SubShapeTree({1, 2}).ok());

  ShapeTree<int> target(S(kNested), 9);
  target.CopySubtreeFrom(part, {1}, {1, 1});
  EXPECT_EQ(target.element({1, 1}), 5);
  EXPECT_EQ(target.element({1, 0}), 9);
  EXPECT_DEATH(target.CopySubtreeFrom(part, {0}, {0}), "Compatible");
}

TEST(ShapeTreeTest, DeepTuples) {
  Shape shape = S("f32[]");
  for (int i = 0; i < 1000; ++i) shape = Shape(std::vector<Shape>{shape});
  ShapeTree<int> tree(shape, 4);
  ShapeIndex leaf(1000, 0);
  EXPECT_EQ(tree.element(leaf), 4);
  EXPECT_EQ(tree.leaf_begin()->first, leaf);
}

}  // namespace
}  // namespace kashi::array
