#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_parser.h"
#include "kashi/array/shape_testing.h"
#include "kashi/array/shape_util.h"

namespace kashi::array {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const char kTree[] = "(f32[], (s8[1], ()), token[])";

// "{1,0} s8[1]" for each visit.
class Visits {
 public:
  auto OfConst() {
    return [this](const Shape& shape, const ShapeIndex& index) { Add(shape, index); };
  }
  auto OfMutable() {
    return [this](Shape* shape, const ShapeIndex& index) { Add(*shape, index); };
  }
  const std::vector<std::string>& visits() const { return visits_; }

 private:
  void Add(const Shape& shape, const ShapeIndex& index) {
    visits_.push_back(absl::StrCat(index.ToString(), " ", shape.ToString()));
  }
  std::vector<std::string> visits_;
};

TEST(ShapeIndexTest, Basics) {
  ShapeIndex index({1, 2});
  EXPECT_EQ(index.ToString(), "{1,2}");
  EXPECT_EQ(ShapeIndex().ToString(), "{}");
  index.push_back(3);
  index.push_front(0);
  EXPECT_THAT(index, ElementsAre(0, 1, 2, 3));
  index.pop_front();
  index.pop_back();
  EXPECT_THAT(index, ElementsAre(1, 2));
  EXPECT_EQ(ShapeIndex(ShapeIndexView(index).subspan(1)), ShapeIndex({2}));
  EXPECT_EQ(testing::PrintToString(IndexedShape(index, S("f32[]")).index.ToString()), "\"{1,2}\"");
  std::ostringstream out;
  out << index;
  EXPECT_EQ(out.str(), "{1,2}");
}

TEST(ShapeTuplesTest, WalkOrders) {
  Shape tree = S(kTree);
  const auto pre_order = ElementsAre("{} (f32[], (s8[1], ()), token[])", "{0} f32[]", "{1} (s8[1], ())", "{1,0} s8[1]",
                                     "{1,1} ()", "{2} token[]");
  const auto post_order = ElementsAre("{0} f32[]", "{1,0} s8[1]", "{1,1} ()", "{1} (s8[1], ())", "{2} token[]",
                                      "{} (f32[], (s8[1], ()), token[])");
  const auto leaves = ElementsAre("{0} f32[]", "{1,0} s8[1]", "{2} token[]");
  {
    Visits v, m;
    ShapeUtil::ForEachSubshape(tree, v.OfConst());
    ShapeUtil::ForEachMutableSubshape(&tree, m.OfMutable());
    EXPECT_THAT(v.visits(), pre_order);
    EXPECT_THAT(m.visits(), pre_order);
  }
  {
    Visits v, m;
    ShapeUtil::ForEachSubshapePostOrder(tree, v.OfConst());
    ShapeUtil::ForEachMutableSubshapePostOrder(&tree, m.OfMutable());
    EXPECT_THAT(v.visits(), post_order);
    EXPECT_THAT(m.visits(), post_order);
  }
  {
    Visits v, m;
    ShapeUtil::ForEachLeafShape(tree, v.OfConst());
    ShapeUtil::ForEachMutableLeafShape(&tree, m.OfMutable());
    EXPECT_THAT(v.visits(), leaves);
    EXPECT_THAT(m.visits(), leaves);
  }
}

TEST(ShapeTuplesTest, AnArrayOrBufferIsOneNode) {
  for (const char* text : {"f32[2]", "b(f32[2])"}) {
    Visits all, post, leaves;
    ShapeUtil::ForEachSubshape(S(text), all.OfConst());
    ShapeUtil::ForEachSubshapePostOrder(S(text), post.OfConst());
    ShapeUtil::ForEachLeafShape(S(text), leaves.OfConst());
    EXPECT_THAT(all.visits(), ElementsAre(absl::StrCat("{} ", text)));
    EXPECT_EQ(post.visits(), all.visits());
    EXPECT_EQ(leaves.visits(), all.visits());
  }
}

TEST(ShapeTuplesTest, StatusStopsTheWalk) {
  Shape tree = S(kTree);
  int visits = 0;
  const auto fail_at_s8 = [&](const Shape& shape, const ShapeIndex& index) {
    ++visits;
    return !shape.IsTuple() && shape.element_type() == S8 ? absl::InternalError(index.ToString()) : absl::OkStatus();
  };
  const auto fail_at_s8_mutable = [&](Shape* shape, const ShapeIndex& index) { return fail_at_s8(*shape, index); };
  const absl::Status expected = absl::InternalError("{1,0}");
  const auto expect = [&](const absl::Status& status, int expected_visits) {
    EXPECT_EQ(status, expected);
    EXPECT_EQ(visits, expected_visits);
    visits = 0;
  };
  expect(ShapeUtil::ForEachSubshapeWithStatus(tree, fail_at_s8), 4);
  expect(ShapeUtil::ForEachMutableSubshapeWithStatus(&tree, fail_at_s8_mutable), 4);
  expect(ShapeUtil::ForEachSubshapePostOrderWithStatus(tree, fail_at_s8), 2);
  expect(ShapeUtil::ForEachMutableSubshapePostOrderWithStatus(&tree, fail_at_s8_mutable), 2);
  expect(ShapeUtil::ForEachLeafShapeWithStatus(tree, fail_at_s8), 2);
  expect(ShapeUtil::ForEachMutableLeafShapeWithStatus(&tree, fail_at_s8_mutable), 2);
  // The void forms ignore the visitor's result.
  ShapeUtil::ForEachSubshape(tree, fail_at_s8);
  EXPECT_EQ(visits, 6);
}

TEST(ShapeTuplesTest, MutableWalkSeesItsChanges) {
  Shape shape = S("(f32[], s8[])");
  ShapeUtil::ForEachMutableSubshape(&shape, [](Shape* subshape, const ShapeIndex& index) {
    if (index == ShapeIndex({0})) *subshape = S("(u8[], u16[])");
    if (!subshape->IsTuple()) subshape->set_element_type(F64);
  });
  EXPECT_EQ(shape.ToString(), "((f64[], f64[]), f64[])");
}

TEST(ShapeTuplesTest, Counts) {
  const struct {
    const char* shape;
    bool is_nested;
    bool is_empty;
    int64_t subshapes;
    int64_t leaves;
  } kCases[] = {
      {"f32[2]", false, false, 1, 1}, {"token[]", false, false, 1, 1},
      {"()", false, true, 1, 0},      {"(f32[], s8[])", false, false, 3, 2},
      {"(())", true, false, 2, 0},    {"(f32[], (s8[1], ()), token[])", true, false, 6, 3},
  };
  for (const auto& c : kCases) {
    const Shape shape = S(c.shape);
    EXPECT_EQ(ShapeUtil::IsNestedTuple(shape), c.is_nested) << shape;
    EXPECT_EQ(ShapeUtil::IsEmptyTuple(shape), c.is_empty) << shape;
    EXPECT_EQ(ShapeUtil::SubshapeCount(shape), c.subshapes) << shape;
    EXPECT_EQ(ShapeUtil::GetLeafCount(shape), c.leaves) << shape;
    if (shape.IsTuple()) {
      EXPECT_EQ(ShapeUtil::GetLeafCountTuple(shape), c.leaves) << shape;
    }
    EXPECT_EQ(ShapeUtil::FlattenTupleShape(shape).size(), c.leaves) << shape;
  }
  EXPECT_EQ(ShapeUtil::TupleElementCount(S(kTree)), 3);
  EXPECT_DEATH(ShapeUtil::TupleElementCount(S("f32[]")), "not a tuple");
  EXPECT_DEATH(ShapeUtil::GetLeafCountTuple(S("f32[]")), "not a tuple");
}

TEST(ShapeTuplesTest, Leaves) {
  const Shape tree = S(kTree);
  const std::vector<IndexedShape> leaves = ShapeUtil::GetLeafShapes(tree);
  ASSERT_EQ(leaves.size(), 3);
  EXPECT_EQ(leaves[1].index, ShapeIndex({1, 0}));
  EXPECT_EQ(leaves[1].shape, S("s8[1]"));
  EXPECT_THAT(ShapeUtil::FlattenTupleShape(tree),
              ElementsAre(&tree.tuple_shapes(0), &tree.tuple_shapes(1).tuple_shapes(0), &tree.tuple_shapes(2)));
  EXPECT_THAT(ShapeUtil::GetLeafShapes(S("()")), IsEmpty());

  EXPECT_TRUE(ShapeUtil::IsLeafIndex(tree, {0}));
  EXPECT_TRUE(ShapeUtil::IsLeafIndex(tree, {1, 0}));
  EXPECT_FALSE(ShapeUtil::IsLeafIndex(tree, {1}));
  EXPECT_FALSE(ShapeUtil::IsLeafIndex(tree, {1, 1})) << "an empty tuple is no leaf";
  EXPECT_FALSE(ShapeUtil::IsLeafIndex(tree, {}));
  EXPECT_TRUE(ShapeUtil::IsLeafIndex(S("f32[]"), {}));
}

TEST(ShapeTuplesTest, Subshapes) {
  Shape tree = S(kTree);
  EXPECT_EQ(&ShapeUtil::GetSubshape(tree, {}), &tree);
  EXPECT_EQ(&ShapeUtil::GetSubshape(tree, {1, 0}), &tree.tuple_shapes(1).tuple_shapes(0));
  EXPECT_EQ(ShapeUtil::TryGetSubshape(tree, {2}).value(), &tree.tuple_shapes(2));
  EXPECT_EQ(ShapeUtil::GetMutableSubshape(&tree, {1, 0}), &tree.tuple_shapes(1).tuple_shapes(0));
  EXPECT_EQ(&ShapeUtil::GetTupleElementShape(tree, 2), &tree.tuple_shapes(2));
  EXPECT_TRUE(ShapeUtil::IndexIsValid(tree, {}));
  EXPECT_TRUE(ShapeUtil::IndexIsValid(tree, {1, 1}));
  for (const ShapeIndex& index : {ShapeIndex({3}), ShapeIndex({-1}), ShapeIndex({0, 0}), ShapeIndex({1, 1, 0})}) {
    EXPECT_FALSE(ShapeUtil::IndexIsValid(tree, index)) << index;
    EXPECT_EQ(ShapeUtil::TryGetSubshape(tree, index).status(),
              absl::InvalidArgumentError(absl::StrCat("Shape index ", index.ToString(),
                                                      " not a valid subshape index for tuple with shape ", kTree)));
  }
  EXPECT_DEATH(ShapeUtil::GetSubshape(tree, {3}), "not a valid subshape index");
  EXPECT_DEATH(ShapeUtil::GetMutableSubshape(&tree, {0, 0}), "not a valid subshape index");
  EXPECT_DEATH(ShapeUtil::GetTupleElementShape(tree, 3), "no element 3");
}

TEST(ShapeTuplesTest, IsPrefix) {
  const auto is_prefix = [](const char* prefix, const char* shape) {
    return ShapeUtil::IsPrefix(ParseShape(prefix).value(), ParseShape(shape).value());
  };
  EXPECT_TRUE(is_prefix("()", "f32[2]"));
  EXPECT_TRUE(is_prefix("()", "(f32[2], s32[])"));
  EXPECT_TRUE(is_prefix("(f32[2])", "(f32[2], s32[])"));
  EXPECT_TRUE(is_prefix("(f32[2], ())", "(f32[2], (s32[], token[]))"));
  EXPECT_TRUE(is_prefix("f32[2]", "f32[2]"));
  EXPECT_FALSE(is_prefix("(f32[2], s32[])", "(f32[2])"));
  EXPECT_FALSE(is_prefix("(f32[2])", "f32[2]"));
  EXPECT_FALSE(is_prefix("(f32[3])", "(f32[2], s32[])"));
}

}  // namespace
}  // namespace kashi::array
