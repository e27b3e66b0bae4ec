// Every message of array-model.md, 2.6. layout_validate_test.cc has the messages about layouts.
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kashi/array/shape_testing.h"
#include "kashi/array/shape_util.h"

namespace kashi::array {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

std::string Verdict(const Shape& shape) {
  const absl::Status status = ShapeUtil::ValidateShapeWithOptionalLayout(shape);
  EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kInvalidArgument) << status;
  return std::string(status.message());
}

TEST(ShapeValidateTest, GoodShapes) {
  for (const char* text : {"f32[]", "f32[0,<=3,?]{0,2,1}", "token[]", "opaque[]", "()", "b(f32[2])", "f32[<=0]",
                           "((token[], f32[2]), b(s4[2]{0:E(4)}))", "u8[9223372036854775807]"}) {
    EXPECT_EQ(ShapeUtil::ValidateShape(S(text)), absl::OkStatus()) << text;
    EXPECT_EQ(Verdict(S(text)), "") << text;
  }
}

TEST(ShapeValidateTest, LayoutsMayBeOptional) {
  const Shape shape(std::vector<Shape>{S("f32[2]"), Shape(S8, {3})});
  EXPECT_EQ(ShapeUtil::ValidateShape(shape).message(), "shape s8[3] does not have a layout");
  EXPECT_EQ(Verdict(shape), "");
  EXPECT_EQ(Verdict(S("f32[2]{1}")), "layout minor_to_major field has out-of-bounds value: {1}; shape: f32[2]");
}

TEST(ShapeValidateTest, Messages) {
  EXPECT_EQ(Verdict(Shape()),
            "Shape Error: Invalid element type. Shape(primitive_type_invalid): primitive_type_invalid[]");
  EXPECT_EQ(Verdict(Shape(F32, {-1})), "Shape Error: Negative dimension at index 0: -1. Shape(f32): f32[-1]");
  EXPECT_EQ(Verdict(Shape(F32, {2, -5}, {false, true})),
            "Shape Error: Negative dimension at index 1: -5. Shape(f32): f32[2,<=-5]");
  EXPECT_EQ(Verdict(Shape(F32, {kMin})),
            "Shape Error: Negative dimension at index 0: -9223372036854775808. "
            "Shape(f32): f32[-9223372036854775808]")
      << "unbounded only with the dynamic flag";
  EXPECT_EQ(Verdict(Shape(F32, {kMin}, {true})), "");
  EXPECT_EQ(Verdict(Shape(U8, {kMax, 2})), "Shape Error: Dimensions overflow. Shape(u8): u8[9223372036854775807,2]");
  EXPECT_EQ(Verdict(Shape(F32, {int64_t{1} << 61})), "Shape f32[2305843009213693952] size may overflow int64_t.");
  EXPECT_EQ(Verdict(Shape(F32, {(int64_t{1} << 61) - 1})), "");
  EXPECT_EQ(Verdict(Shape(BUFFER)), "Shape Error: Buffer shape must have array shape. Shape(buffer): b()");
}

TEST(ShapeValidateTest, OrderMattersForZeroAndNotForUnbounded) {
  const int64_t big = int64_t{1} << 62;
  EXPECT_EQ(Verdict(Shape(U8, {big, 2, 0})),
            "Shape Error: Dimensions overflow. Shape(u8): u8[4611686018427387904,2,0]");
  EXPECT_EQ(Verdict(Shape(U8, {0, big, 2})), "");
  EXPECT_EQ(Verdict(Shape(U8, {kMin, big}, {true, false})), "");
  EXPECT_EQ(Verdict(Shape(U8, {kMin, big, 2}, {true, false, false})),
            "Shape Error: Dimensions overflow. Shape(u8): u8[?,4611686018427387904,2]");
}

TEST(ShapeValidateTest, LayoutsComeLast) {
  EXPECT_EQ(Verdict(Shape(std::vector<Shape>{S("f32[2]{1}"), Shape(F32, {-1})})),
            "Shape Error: Negative dimension at index 0: -1. Shape(f32): f32[-1]");
}

TEST(ShapeValidateTest, DeepTuples) {
  Shape shape = S("f32[2]");
  for (int i = 0; i < kMaxTupleDepth; ++i) {
    std::vector<Shape> elements;
    elements.push_back(std::move(shape));
    shape = Shape(std::move(elements));
  }
  EXPECT_EQ(ShapeUtil::ValidateShape(shape), absl::OkStatus());
  EXPECT_EQ(ShapeUtil::SubshapeCount(shape), kMaxTupleDepth + 1);
}

}  // namespace
}  // namespace kashi::array
