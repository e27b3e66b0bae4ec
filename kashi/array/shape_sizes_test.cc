// The tables of array-model.md, 4.2 to 4.4.
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/index_util.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_parser.h"
#include "kashi/array/shape_proto_size.h"
#include "kashi/array/shape_testing.h"
#include "kashi/array/shape_util.h"

namespace kashi::array {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

TEST(ShapeSizesTest, Elements) {
  EXPECT_EQ(ShapeUtil::ElementsIn(S("f32[]")), 1);
  EXPECT_EQ(ShapeUtil::ElementsIn(S("f32[2,3]")), 6);
  EXPECT_EQ(ShapeUtil::ElementsIn(S("f32[2,0]")), 0);
  EXPECT_EQ(ShapeUtil::ElementsIn(S("f32[<=5]")), 5);
  EXPECT_EQ(ShapeUtil::ElementsIn(S("b(f32[2,3])")), 6);
  EXPECT_EQ(ShapeUtil::ElementsInRecursive(S("(f32[2,3], (s8[4], ()))")), 10);
  EXPECT_EQ(ShapeUtil::ElementsInRecursive(S("f32[2,3]")), 6);
  EXPECT_DEATH(ShapeUtil::ElementsIn(S("token[]")), "not an array");
  EXPECT_DEATH(ShapeUtil::ElementsInRecursive(S("(token[])")), "not an array");
}

TEST(ShapeSizesTest, ExtentProduct) {
  using Product = std::pair<int64_t, bool>;
  const auto with_unbounded = [](const Shape& shape) { return ShapeUtil::StaticExtentProduct(shape); };
  EXPECT_EQ(with_unbounded(S("f32[2,<=3,?]")), Product(6, false));
  EXPECT_EQ(ShapeUtil::ExtentProduct<false>(S("f32[2,<=3]")), Product(6, false));
  const int64_t big = int64_t{1} << 62;
  EXPECT_EQ(with_unbounded(Shape(U8, {big, 2})), Product(kLeast, true));
  EXPECT_EQ(with_unbounded(Shape(U8, {big, 2, 0})), Product(0, true));
  EXPECT_EQ(with_unbounded(Shape(U8, {0, big, 2})), Product(0, false));
}

// Wrapping, as upstream's products do; the undefined-behaviour sanitizer watches.
TEST(ShapeSizesTest, ProductsWrap) {
  EXPECT_EQ(ShapeUtil::ElementsIn(S("f32[?]")), kLeast);
  EXPECT_EQ(ShapeUtil::ByteSizeOfElements(S("f32[?]")), 0);
  EXPECT_EQ(ShapeUtil::ElementsIn(S("f32[4611686018427387904,8]")), 0);
  EXPECT_EQ(ShapeUtil::ByteSizeOfElements(S("s8[9223372036854775807]{0:E(8)}")), -1);
}

TEST(ShapeSizesTest, PrimitiveTypes) {
  EXPECT_EQ(ShapeUtil::ByteSizeOfPrimitiveType(PRED), 1);
  EXPECT_EQ(ShapeUtil::ByteSizeOfPrimitiveType(S4), 1);
  EXPECT_EQ(ShapeUtil::ByteSizeOfPrimitiveType(F6E2M3FN), 1);
  EXPECT_EQ(ShapeUtil::ByteSizeOfPrimitiveType(BF16), 2);
  EXPECT_EQ(ShapeUtil::ByteSizeOfPrimitiveType(C128), 16);
  EXPECT_EQ(ShapeUtil::ByteSizeOfPrimitiveType(TOKEN), 0);
  EXPECT_DEATH(ShapeUtil::ByteSizeOfPrimitiveType(TUPLE), "TUPLE");
}

// All oracle checks of 4.3: E counts; tiles, L and M do not.
TEST(ShapeSizesTest, ByteSizeOf) {
  const struct {
    const char* shape;
    int64_t bytes;
  } kCases[] = {
      {"f32[3,5]", 60},
      {"f32[3,5]{1,0:T(2,2)}", 60},
      {"f32[3,5]{1,0:E(4)}", 8},
      {"f32[3,5]{1,0:E(7)}", 14},
      {"s4[3]", 3},
      {"s4[3]{0:E(4)}", 2},
      {"s1[9]{0:E(1)}", 2},
      {"s2[5]{0:E(2)}", 2},
      {"pred[9]", 9},
      {"pred[9]{0:E(1)}", 2},
      {"pred[9]{0:E(32)}", 36},
      {"f6e2m3fn[5]", 5},
      {"f6e2m3fn[5]{0:E(6)}", 4},
      {"f4e2m1fn[5]{0:E(4)}", 3},
      {"f32[2]{0:L(128)}", 8},
      {"f32[2]{0:M(64)}", 8},
      {"c128[2]", 32},
      {"bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}", 335544320},
      {"f32[2]{0:E(-3)}", 0},
      {"f32[]", 4},
      {"f32[0,3]", 0},
      {"f32[<=7]", 28},
      {"b(f32[3,5])", 60},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(ShapeUtil::ByteSizeOf(S(c.shape)), c.bytes) << c.shape;
    EXPECT_EQ(ShapeUtil::ByteSizeOfElements(S(c.shape)), c.bytes) << c.shape;
    EXPECT_EQ(ShapeUtil::ByteSizeOfElementsRecursive(S(c.shape)), c.bytes) << c.shape;
  }
  EXPECT_EQ(ShapeUtil::ByteSizeOf(Shape(F32, {3, 5})), 60) << "needs no layout";
}

TEST(ShapeSizesTest, ByteSizeOfOtherKinds) {
  const Shape tuple = S("(f32[3,5], token[], (s8[7]))");
  EXPECT_EQ(ShapeUtil::ByteSizeOf(tuple, /*pointer_size=*/8), 24);
  EXPECT_EQ(ShapeUtil::ByteSizeOfTupleIndexTable(tuple, /*pointer_size=*/4), 12);
  EXPECT_EQ(ShapeUtil::ByteSizeOfElementsRecursive(tuple), 67);
  EXPECT_EQ(ShapeUtil::ByteSizeOf(S("()"), 8), 0);
  EXPECT_EQ(ShapeUtil::ByteSizeOf(S("token[]")), 0);
  EXPECT_EQ(ShapeUtil::ByteSizeOf(S("opaque[]"), 8), 8);
  EXPECT_DEATH(ShapeUtil::ByteSizeOf(tuple), "Check failed");
  EXPECT_DEATH(ShapeUtil::ByteSizeOf(S("opaque[]")), "Check failed");
}

TEST(ShapeSizesTest, ElementSizeInBits) {
  EXPECT_EQ(ShapeUtil::ElementSizeInBits(S("f32[2]")), 32);
  EXPECT_EQ(ShapeUtil::ElementSizeInBits(S("pred[2]")), 8);
  EXPECT_EQ(ShapeUtil::ElementSizeInBits(S("s4[2]")), 8);
  EXPECT_EQ(ShapeUtil::ElementSizeInBits(S("s4[2]{0:E(4)}")), 4);
  EXPECT_EQ(ShapeUtil::ElementSizeInBits(Shape(C128, {})), 128);
}

// 4.2 and 4.4: the first tile and L count, M does not.
TEST(ShapeSizesTest, ArraySizeAndArrayDataSize) {
  const struct {
    const char* shape;
    int64_t array_size;
    int64_t array_data_size;
  } kCases[] = {
      {"f32[3,5]", 60, 60},
      {"f32[3,5]{1,0:T(2,2)}", 96, 84},
      {"bf16[5,130]{1,0:T(8,128)(2,1)}", 4096, 3076},
      {"f32[10]{0:T(4)}", 48, 40},
      {"f32[4,6]{1,0:T(3)(2)}", 96, 96},  // later tiles never pad
      {"f32[]{:T(2)}", 8, 4},             // missing dimensions count as 1
      {"f32[10]{0:T(2,4)}", 96, 40},
      {"f32[2,3,5]{2,1,0:T(2,2)}", 192, 180},  // 2 * 4 * 6; the last element stands at 44
      {"f32[2]{0:L(128)}", 8, 8},              // L counts with tiles only
      {"f32[2]{0:T(4)L(128)}", 512, 8},
      {"f32[2]{0:T(4)M(64)}", 16, 8},
      {"s4[3]{0:T(4)E(4)}", 2, 2},
      {"s4[5]{0:T(4)E(4)}", 4, 3},
      {"f32[2,0]{1,0:T(8,128)}", 0, 512},  // upstream's index of the element before the first
      {"f32[0]{0:T(8)}", 0, 0},
      {"f32[8,128]{1,0:T(8,128)SC(0:4)}", 4096, 4096},  // a split dimension counts its largest piece: 4, tiled to 8
      {"f32[32,128]{1,0:T(8,128)SC(0:16)}", 8192, 16384},
      {"f32[32,4,128]{2,1,0:T(8,128)SC(0:20)}", 20 * 8 * 128 * 4, (31 * 8 * 128 + 4 * 128) * 4},
      {"b(f32[3,5]{1,0:T(2,2)})", 96, 84},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(ShapeUtil::ArraySize(S(c.shape)), c.array_size) << c.shape;
    EXPECT_EQ(ShapeUtil::ArrayDataSize(S(c.shape)), c.array_data_size) << c.shape;
  }
}

TEST(ShapeSizesTest, ArraySizeWithCombinedDimensions) {
  // 10 -> 12, 11, 8, 7, 2: no second tile, and one f32 has 32 bits.
  EXPECT_EQ(ShapeUtil::ArraySize(S("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}")), 59136);
  // Two bf16 share 32 bits: 5 -> 6. The entry of the second tile is 4: 5 -> 8; if that is `*` or missing: 5 -> 6.
  EXPECT_EQ(ShapeUtil::ArraySize(S("bf16[5,8]{1,0:T(*,4)}")), 6 * 8 * 2);
  EXPECT_EQ(ShapeUtil::ArraySize(S("bf16[5,8]{1,0:T(*,4)(4,1)}")), 8 * 8 * 2);
  EXPECT_EQ(ShapeUtil::ArraySize(S("bf16[5,8]{1,0:T(*,4)(*,1)}")), 6 * 8 * 2);
  EXPECT_EQ(ShapeUtil::ArraySize(S("bf16[5,8]{1,0:T(*,4)(1)}")), 6 * 8 * 2);
  EXPECT_EQ(ShapeUtil::ArraySize(S("c64[5,8]{1,0:T(*,4)}")), 5 * 8 * 8);
  EXPECT_EQ(ShapeUtil::ArraySize(S("s4[5,8]{1,0:T(*,4)E(4)}")), 8 * 8 / 2);
}

TEST(ShapeSizesTest, ArraySizeOfUnboundedShapes) {
  EXPECT_EQ(ShapeUtil::ArraySize(S("f32[?,8]{1,0:T(8,128)}")), Shape::kUnboundedSize);
  EXPECT_EQ(ShapeUtil::ArraySize(S("f32[<=5,8]{1,0:T(8,128)}")), 4096);
}

TEST(ShapeSizesDeathTest, ArraySize) {
  EXPECT_DEATH(ShapeUtil::ArraySize(Shape(F32, {2})), "no layout");
  EXPECT_DEATH(ShapeUtil::ArraySize(S("f32[2]{0:T(0)}")), "Check failed");
  EXPECT_DEATH(ShapeUtil::ArrayDataSize(Shape(F32, {2})), "no layout");
}

TEST(ShapeSizesTest, ByteStrides) {
  const auto strides = [](absl::string_view text) { return ShapeUtil::ByteStrides(S(text)); };
  EXPECT_THAT(strides("f32[2,3,4]").value(), ElementsAre(48, 16, 4));
  EXPECT_THAT(strides("f32[2,3,4]{0,1,2}").value(), ElementsAre(4, 8, 24));
  EXPECT_THAT(strides("f32[2,3,4]{1,2,0:T(8,128)}").value(), ElementsAre(48, 4, 12)) << "tiles are ignored";
  EXPECT_THAT(strides("s4[2,3]").value(), ElementsAre(3, 1));
  EXPECT_EQ(strides("s4[2,3]{1,0:E(4)}"), std::nullopt);
  EXPECT_THAT(strides("pred[2,3]{1,0:E(32)}").value(), ElementsAre(12, 4));
  EXPECT_THAT(strides("f32[]").value(), ElementsAre());
  EXPECT_EQ(strides("(f32[2])"), std::nullopt);
  EXPECT_EQ(ShapeUtil::ByteStrides(Shape(F32, {2})), std::nullopt);

  std::vector<int64_t> into(2);
  EXPECT_EQ(ShapeUtil::ByteStrides(S("f32[2,3]"), absl::MakeSpan(into)), absl::OkStatus());
  EXPECT_THAT(into, ElementsAre(12, 4));
  EXPECT_EQ(ShapeUtil::ByteStrides(S("f32[2]"), absl::MakeSpan(into)).code(), absl::StatusCode::kInternal);
  EXPECT_EQ(ShapeUtil::ByteStrides(S("token[]"), absl::MakeSpan(into)).code(), absl::StatusCode::kInternal);
}

TEST(ShapeSizesTest, UpdateElementSizeInBits) {
  Shape shape = S("(s4[2], (f32[2]{0:E(16)}, u2[3]{0:E(8)}), pred[2], token[])");
  ShapeUtil::UpdateElementSizeInBits(&shape, /*pack_subbyte_types=*/true);
  EXPECT_EQ(ShapeUtil::HumanStringWithLayout(shape),
            "(s4[2]{0:E(4)}, (f32[2]{0}, u2[3]{0:E(2)}), pred[2]{0}, token[])");
  ShapeUtil::UpdateElementSizeInBits(&shape, /*pack_subbyte_types=*/false);
  EXPECT_EQ(ShapeUtil::HumanStringWithLayout(shape), "(s4[2]{0}, (f32[2]{0}, u2[3]{0}), pred[2]{0}, token[])");
}

// A header of 8 bytes, the proto (given as 0 here), then the leaves.
TEST(ShapeSizesTest, SerializedSize) {
  const struct {
    const char* shape;
    int64_t bytes;
  } kCases[] = {
      {"f32[]", 4},
      {"f32[3,5]", 60},
      {"f32[<=3,5]", 60 + 8},  // a run-time size of 4 bytes for each dimension
      {"pred[9]", 2},
      {"s4[3]", 2},
      {"s4[3]{0:E(4)}", 2},
      {"u2[5]", 2},
      {"s1[9]", 2},
      {"f4e2m1fn[5]", 3},
      {"f6e2m3fn[5]", 5},  // 8 / 6 elements a byte
      {"f32[3,5]{1,0:T(2,2)L(7)M(64)}", 60},
      {"f32[3,5]{1,0:E(16)}", 30},
      {"()", 0},
      {"(f32[3,5], (pred[9], ()), b(s8[7]))", 60 + 2 + 7},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(ShapeUtil::SerializedSizeWithProto(S(c.shape), 0).value(), 8 + c.bytes) << c.shape;
    EXPECT_EQ(ShapeUtil::SerializedSize(S(c.shape)).value(), 8 + ShapeProtoByteSize(S(c.shape)) + c.bytes) << c.shape;
  }
  // 2 bytes of element type, 4 of dimensions, 9 of layout, 4 of flags: array-model.md, 9.
  EXPECT_EQ(ShapeUtil::SerializedSize(S("f32[2,3]")).value(), 8 + 19 + 24);
}

TEST(ShapeSizesTest, SerializedSizeErrors) {
  for (const char* text :
       {"token[]", "(f32[], opaque[])", "f32[?]", "f32[2]{1}", "(u8[9223372036854775807], u8[9223372036854775807])"}) {
    EXPECT_EQ(ShapeUtil::SerializedSize(S(text)).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

// Text may bring any numbers in minor_to_major.
TEST(ShapeSizesTest, InvalidLayoutsAreErrorsWhereAStatusIsReturned) {
  const Shape shape = ParseShape("f32[2,3]{1,100000}").value();
  EXPECT_FALSE(ShapeUtil::ByteStrides(shape).has_value());
  EXPECT_FALSE(ShapeUtil::MakeValidatedShapeWithDescendingLayoutAndSamePhysicalLayout(shape).ok());
  EXPECT_DEATH(LayoutUtil::MakeLogicalToPhysical(shape.layout()), "Check failed");
  EXPECT_DEATH(IndexUtil::LinearIndexToMultidimensionalIndex(ParseShape("f32[0]").value(), 0), "Check failed");
}

}  // namespace
}  // namespace kashi::array
