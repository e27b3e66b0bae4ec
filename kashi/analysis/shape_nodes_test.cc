#include "kashi/analysis/shape_nodes.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_parser.h"

namespace kashi::analysis {
namespace {

ShapeNodes Nodes(const Shape& shape, absl::string_view target) {
  return ShapeNodes::Make(shape, *ParseMemoryTarget(target)).value();
}

TEST(ShapeNodesTest, PreOrderWithSizes) {
  const Shape shape = ParseShape("(f32[2]{0:T(128)}, (s8[]{:T(512)S(6)}, pred[], ()))").value();
  const ShapeNodes list = Nodes(shape, "v5e");
  const auto nodes = list.nodes();
  ASSERT_EQ(nodes.size(), 6);
  EXPECT_EQ(nodes[0].subtree_size, 6);
  EXPECT_EQ(nodes[0].bytes, 512);  // two pointers
  EXPECT_EQ(nodes[1].bytes, 512);
  EXPECT_EQ(nodes[1].unpadded_bytes, 8);
  EXPECT_EQ(nodes[2].subtree_size, 4);
  EXPECT_EQ(nodes[3].memory_space, 6);
  EXPECT_EQ(nodes[5].bytes, 0);  // an empty table
  EXPECT_EQ(list.Element(0, 1), 2);
  EXPECT_EQ(list.Element(2, 1), 4);
  EXPECT_EQ(list.Element(2, 3), std::nullopt);
  EXPECT_EQ(list.Element(1, 0), std::nullopt);
  EXPECT_EQ(list.Find({1, 2}), 5);
  EXPECT_EQ(list.Find({}), 0);
  EXPECT_EQ(list.Find({0, 0}), std::nullopt);
  for (int32_t i = 0; i < list.size(); ++i) EXPECT_EQ(list.Find(list.IndexOf(i)), i);
}

TEST(ShapeNodesTest, TablesByTarget) {
  const Shape shape = ParseShape("(f32[], f32[], f32[])").value();
  EXPECT_EQ(Nodes(shape, "v3").nodes()[0].bytes, 1024);
  EXPECT_EQ(Nodes(shape, "v5p").nodes()[0].bytes, 32);
  EXPECT_EQ(Nodes(shape, "host").nodes()[0].bytes, 24);
}

TEST(ShapeNodesTest, UnknownSizesAreNothingAndTooLargeOnesAnError) {
  EXPECT_EQ(Nodes(ParseShape("f32[?]").value(), "host").nodes()[0].bytes, 0);
  EXPECT_EQ(Nodes(ParseShape("token[]").value(), "host").nodes()[0].bytes, 0);
  const std::string huge = absl::StrCat("f32[", int64_t{1} << 60, "]");
  EXPECT_TRUE(ShapeNodes::Make(ParseShape(huge).value(), MemoryTarget()).ok());
  const Shape pair = ParseShape(absl::StrCat("(", huge, ", ", huge, ")")).value();
  EXPECT_EQ(ShapeNodes::Make(pair, MemoryTarget()).status().code(), absl::StatusCode::kResourceExhausted);
}

Shape Nested(int depth) {
  Shape shape = ParseShape("f32[]").value();
  for (int i = 0; i < depth; ++i) {
    Shape outer(std::vector<Shape>{shape});
    shape = outer;
  }
  return shape;
}

TEST(ShapeNodesTest, DeepTuples) {
  const ShapeNodes deep = Nodes(Nested(1000), "host");
  EXPECT_EQ(deep.size(), 1001);
  EXPECT_EQ(deep.IndexOf(1000), ShapeIndex(std::vector<int64_t>(1000, 0)));
  for (const int depth : {1001, 3000}) {
    EXPECT_EQ(ShapeNodes::Make(Nested(depth), *ParseMemoryTarget("host")).status().code(),
              absl::StatusCode::kResourceExhausted)
        << depth;
  }
}

}  // namespace
}  // namespace kashi::analysis
