// Every message of array-model.md, 3.3, and their order.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_testing.h"

namespace kashi::array {
namespace {

// The message, or "" where all is well.
std::string Verdict(const Layout& layout, const Shape& shape) {
  const absl::Status status = LayoutUtil::ValidateLayoutForShape(layout, shape);
  EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kInvalidArgument) << status;
  return std::string(status.message());
}
std::string Verdict(absl::string_view text) {
  const Shape shape = S(text);
  return Verdict(shape.layout(), shape);
}

TEST(LayoutValidateTest, Messages) {
  const struct {
    const char* shape;
    const char* message;
  } kCases[] = {
      {"f32[2,3]{1,2}", "layout minor_to_major field has out-of-bounds value: {1, 2}; shape: f32[2,3]"},
      {"f32[2,3]{1,-1}", "layout minor_to_major field has out-of-bounds value: {1, -1}; shape: f32[2,3]"},
      {"f32[2,3]{1,1}", "layout minor_to_major field has duplicate values: {1, 1}; shape: f32[2,3]"},
      {"f32[2]{0:#(u32)}", "layout has a index_primitive_type, but is not a sparse array: f32[2]"},
      {"f32[2]{0:*(u32)}", "layout has a pointer_primitive_type, but is not a sparse array: f32[2]"},
      {"f32[2]{0:T()}", "layout has invalid tiles: f32[2]"},
      {"f32[2]{0:T(8)()}", "layout has invalid tiles: f32[2]"},
      {"f32[2]{0:T(0)}", "layout has invalid tiles: tile dimension 0 must be positive or kCombineDimension: f32[2]"},
      {"f32[2]{0:E(-5)}", "layout element_size_in_bits field is negative: -5"},
      {"f32[2]{0:SC(1:1)}", "split config has out-of-bounds physical dimension: 1; shape: f32[2]"},
      {"f32[2]{0:SC(-1:1)}", "split config has out-of-bounds physical dimension: -1; shape: f32[2]"},
      {"f32[8,8]{1,0:SC(0:1)(0:2)}", "split config has duplicate physical dimension: 0; shape: f32[8,8]"},
      {"f32[4,16]{1,0:SC(0:8)}", "split config split index is out of bounds: 8 (dim size 4); shape: f32[4,16]"},
      // Physical dimension 0, the most major one, is logical dimension 1 here.
      {"f32[4,16]{0,1:SC(0:8)}", ""},
      {"f32[16,4]{0,1:SC(0:8)}", "split config split index is out of bounds: 8 (dim size 4); shape: f32[16,4]"},
      {"f32[8]{0:SC(0:4,2)}",
       "split config split indices must be strictly increasing and positive: {4, 2}; shape: f32[8]"},
      {"f32[8]{0:SC(0:4,4)}",
       "split config split indices must be strictly increasing and positive: {4, 4}; shape: f32[8]"},
      {"f32[8]{0:SC(0:0)}", "split config split indices must be strictly increasing and positive: {0}; shape: f32[8]"},
      {"f32[8]{0:SC(0:-1)}",
       "split config split indices must be strictly increasing and positive: {-1}; shape: f32[8]"},
      {"f32[<=8]{0:SC(0:8)}", "split config split index is out of bounds: 8 (dim size 8); shape: f32[<=8]"},
      {"f32[<=8]{0:SC(0:7)}", ""},
      {"f32[?]{0:SC(0:1)}",
       "split config split index is out of bounds: 1 (dim size -9223372036854775808); shape: f32[?]"},
  };
  for (const auto& c : kCases) EXPECT_EQ(Verdict(c.shape), c.message) << c.shape;
}

TEST(LayoutValidateTest, WhatIsNotChecked) {
  for (const char* text : {"f32[]", "f32[]{:T(2)}", "f32[10]{0:T(2,4)}",  // tiles of higher rank than the array
                           "f32[4,8]{1,0:T(*,4)}", "f32[8]{0:T(*)}",      // `*`, even last
                           "f32[2]{0:S(99)}", "f32[2]{0:S(-1)}", "f32[2]{0:M(64)}", "f32[2]{0:M(-64)}",
                           "f32[2]{0:E(1)}", "s4[2]{0:E(32)}",  // E against the type
                           "f32[8]{0:SC(0:)}", "f32[8,8]{1,0:SC(1:4)(0:4)}", "f32[2]{0:L(128)}"}) {
    EXPECT_EQ(Verdict(text), "") << text;
  }
}

TEST(LayoutValidateTest, KindsOfShapes) {
  EXPECT_EQ(Verdict(Layout(), S("()")), "a single Layout is not valid for tuple shapes");
  EXPECT_EQ(Verdict(Layout({5, 5}), S("token[]")), "");
  EXPECT_EQ(Verdict(Layout({5, 5}), S("opaque[]")), "");
  EXPECT_EQ(Verdict(Layout({1}), S("b(f32[2])")),
            "layout minor_to_major field has out-of-bounds value: {1}; shape: b(f32[2])");
}

TEST(LayoutValidateTest, RankMismatch) {
  EXPECT_EQ(Verdict(Layout({1, 0}), S("f32[2]")),
            "layout minor_to_major field contains 2 elements, but shape has 1 dimensions: {1, 0}; shape: f32[2]");
  EXPECT_EQ(Verdict(Layout(), S("f32[2]")),
            "layout minor_to_major field contains 0 elements, but shape has 1 dimensions: {}; shape: f32[2]");
}

// One layout with every fault; each round mends the fault just reported.
TEST(LayoutValidateTest, Order) {
  const Shape shape = S("f32[4,4]");
  Layout layout({5});
  layout.set_tail_padding_alignment_in_elements(0);
  layout.set_index_primitive_type(U8);
  layout.set_pointer_primitive_type(U8);
  *layout.mutable_physical_shape() = S("u8[1]");
  layout.add_tiles();
  layout.add_tiles()->add_dimensions(0);
  layout.set_element_size_in_bits(-5);
  layout.add_split_configs(SplitConfig(2, {}));
  layout.add_split_configs(SplitConfig(0, {9, 9}));

  EXPECT_EQ(Verdict(layout, shape),
            "layout minor_to_major field contains 1 elements, but shape has 2 dimensions: {5}; shape: f32[4,4]");
  layout.add_minor_to_major(5);
  EXPECT_EQ(Verdict(layout, shape), "layout minor_to_major field has out-of-bounds value: {5, 5}; shape: f32[4,4]");
  layout.set_minor_to_major(0, 0);  // {0,5}
  EXPECT_EQ(Verdict(layout, shape), "layout minor_to_major field has out-of-bounds value: {0, 5}; shape: f32[4,4]");
  layout.set_minor_to_major(1, 0);
  EXPECT_EQ(Verdict(layout, shape), "layout minor_to_major field has duplicate values: {0, 0}; shape: f32[4,4]");
  layout.set_minor_to_major(1, 1);
  EXPECT_EQ(Verdict(layout, shape), "layout tail_padding_alignment_in_elements field is <= 0: {0}");
  layout.set_tail_padding_alignment_in_elements(1);
  EXPECT_EQ(Verdict(layout, shape), "layout has a index_primitive_type, but is not a sparse array: f32[4,4]");
  layout.set_index_primitive_type(PRIMITIVE_TYPE_INVALID);
  EXPECT_EQ(Verdict(layout, shape), "layout has a pointer_primitive_type, but is not a sparse array: f32[4,4]");
  layout.set_pointer_primitive_type(PRIMITIVE_TYPE_INVALID);
  EXPECT_EQ(Verdict(layout, shape), "layout has a physical_shape, but is not a sparse array: f32[4,4]");
  layout.clear_physical_shape();
  EXPECT_EQ(Verdict(layout, shape), "layout has invalid tiles: f32[4,4]");
  layout.mutable_tiles(0)->add_dimensions(1);
  EXPECT_EQ(Verdict(layout, shape),
            "layout has invalid tiles: tile dimension 0 must be positive or kCombineDimension: f32[4,4]");
  layout.clear_tiles();
  layout.add_tiles()->add_dimensions(-2);  // reachable through the API only
  EXPECT_EQ(Verdict(layout, shape),
            "layout has invalid tiles: tile dimension -2 must be positive or kCombineDimension: f32[4,4]");
  layout.clear_tiles();
  EXPECT_EQ(Verdict(layout, shape), "layout element_size_in_bits field is negative: -5");
  layout.set_element_size_in_bits(0);
  EXPECT_EQ(Verdict(layout, shape), "split config has out-of-bounds physical dimension: 2; shape: f32[4,4]");
  layout.mutable_split_configs(0)->set_dimension(0);
  EXPECT_EQ(Verdict(layout, shape), "split config has duplicate physical dimension: 0; shape: f32[4,4]");
  layout.mutable_split_configs(0)->set_dimension(1);
  EXPECT_EQ(Verdict(layout, shape), "split config split index is out of bounds: 9 (dim size 4); shape: f32[4,4]");
  layout.mutable_split_configs(1)->clear_split_indices().add_split_indices(2).add_split_indices(2);
  EXPECT_EQ(Verdict(layout, shape),
            "split config split indices must be strictly increasing and positive: {2, 2}; shape: f32[4,4]");
  layout.mutable_split_configs(1)->clear_split_indices().add_split_indices(2);
  EXPECT_EQ(Verdict(layout, shape), "");
}

TEST(LayoutValidateTest, InShape) {
  const Shape tree = S("(f32[2]{0}, (token[], opaque[], b(f32[2,2]{0,1})), ())");
  EXPECT_EQ(LayoutUtil::ValidateLayoutInShape(tree), absl::OkStatus());
  const Shape wrong(std::vector<Shape>{tree, S("f32[2,2]{1,1}")});
  EXPECT_EQ(LayoutUtil::ValidateLayoutInShape(wrong).message(),
            "layout minor_to_major field has duplicate values: {1, 1}; shape: f32[2,2]");

  const Shape missing(std::vector<Shape>{tree, Shape(F32, {3})});
  EXPECT_EQ(LayoutUtil::ValidateLayoutInShape(missing).message(), "shape f32[3] does not have a layout");
  EXPECT_EQ(LayoutUtil::ValidateLayoutInShape(missing, /*allow_missing_layouts=*/true), absl::OkStatus());
}

}  // namespace
}  // namespace kashi::array
