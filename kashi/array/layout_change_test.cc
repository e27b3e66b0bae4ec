#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_testing.h"

namespace kashi::array {
namespace {

TEST(LayoutChangeTest, ClearLayout) {
  Shape shape = S("(f32[2,3]{1,0:T(2)}, (s32[], token[]), b(f32[4]{0}))");
  LayoutUtil::ClearLayout(&shape);
  EXPECT_EQ(Text(shape), "(f32[2,3], (s32[], token[]), b(f32[4]))");
  EXPECT_FALSE(shape.tuple_shapes(0).has_layout());
  EXPECT_FALSE(shape.tuple_shapes(1).tuple_shapes(0).has_layout());

  ProgramShape program;
  program.AddParameter(S("(f32[2]{0})"), "p");
  *program.mutable_result() = S("f32[2]{0}");
  LayoutUtil::ClearLayout(&program);
  EXPECT_EQ(Text(program.parameters(0)), "(f32[2])");
  EXPECT_EQ(Text(program.result()), "f32[2]");
}

TEST(LayoutChangeTest, ClearTilesKeepsTheRest) {
  Shape shape = S("(f32[2,3]{0,1:T(2)(1)E(8)S(1)}, token[])");
  LayoutUtil::ClearTiles(&shape);
  EXPECT_EQ(Text(shape), "(f32[2,3]{0,1:E(8)S(1)}, token[])");
  Shape bare(F32, {2});
  LayoutUtil::ClearTiles(&bare);
  EXPECT_FALSE(bare.has_layout());
}

TEST(LayoutChangeTest, CopyLayout) {
  Shape destination = S("f32[4,5]{1,0}");
  EXPECT_EQ(LayoutUtil::CopyLayoutBetweenShapes(S("s8[2,3]{0,1:T(8)S(1)}"), &destination), absl::OkStatus());
  EXPECT_EQ(Text(destination), "f32[4,5]{0,1:T(8)S(1)}");
  EXPECT_EQ(LayoutUtil::CopyLayoutBetweenShapes(Shape(F32, {1, 2}), &destination), absl::OkStatus());
  EXPECT_FALSE(destination.has_layout());
  // Without a layout there is no rank that could be wrong.
  destination = S("f32[4,5]");
  EXPECT_EQ(LayoutUtil::CopyLayoutBetweenShapes(Shape(F32, {}), &destination), absl::OkStatus());
}

TEST(LayoutChangeTest, CopyLayoutOverTrees) {
  Shape destination = S("(f32[2,3]{1,0}, (f32[2,2]{1,0}, token[]), f32[])");
  EXPECT_EQ(LayoutUtil::CopyLayoutBetweenShapes(S("(s8[5,6]{0,1}, (pred[1,1]{0,1}, token[]), opaque[])"), &destination),
            absl::OkStatus());
  EXPECT_EQ(Text(destination), "(f32[2,3]{0,1}, (f32[2,2]{0,1}, token[]), f32[])");
}

TEST(LayoutChangeTest, CopyLayoutErrors) {
  const auto error = [](absl::string_view from, absl::string_view to) {
    Shape destination = S(to);
    const absl::Status status = LayoutUtil::CopyLayoutBetweenShapes(S(from), &destination);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_EQ(error("(f32[])", "f32[]"), "cannot copy layout from shape: shape structure differs");
  EXPECT_EQ(error("(f32[], (f32[]))", "(f32[], f32[])"), "cannot copy layout from shape: shape structure differs");
  EXPECT_EQ(error("(f32[])", "(f32[], f32[])"), "cannot copy layout from shape: tuple element count differs");
  EXPECT_EQ(error("f32[2]", "f32[2,3]"), "cannot copy layout from shape: ranks differs");
  EXPECT_EQ(error("f32[2]", "token[]"), "cannot copy layout from shape: ranks differs");
  EXPECT_EQ(error("f32[2]{0:E(-1)}", "f32[2]"), "layout element_size_in_bits field is negative: -1");
  EXPECT_EQ(error("f32[8]{0:SC(0:4)}", "f32[2]"),
            "split config split index is out of bounds: 4 (dim size 2); shape: f32[2]");
}

TEST(LayoutChangeTest, MoveDim) {
  const Layout layout = S("f32[2,3,4,5]{3,2,1,0:T(8)S(1)}").layout();
  EXPECT_EQ(LayoutUtil::MoveDimToMajor(layout, 2).ToString(), "{3,1,0,2:T(8)S(1)}");
  EXPECT_EQ(LayoutUtil::MoveDimToMajor(layout, 0), layout);
  EXPECT_EQ(LayoutUtil::MoveDimToMinor(layout, 0).ToString(), "{0,3,2,1:T(8)S(1)}");
  EXPECT_EQ(LayoutUtil::MoveDimToMinor(layout, 3), layout);
}

}  // namespace
}  // namespace kashi::array
