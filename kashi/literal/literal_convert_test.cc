#include <cstring>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/element_convert.h"
#include "kashi/array/shape_testing.h"
#include "kashi/literal/literal.h"
#include "kashi/literal/literal_oracle_testing.h"

namespace kashi::literal {
namespace {

using primitive_util::NativeTypeOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_oracle::AllIndices;
using testing_oracle::ElementBytes;
using testing_oracle::Position;
using testing_oracle::Random;

// Converts one element; a small function, because there is an instance for each pair of types.
template <PrimitiveType kFrom, PrimitiveType kTo>
void ConvertOne(const char* from, char* to) {
  NativeTypeOf<kFrom> value;
  std::memcpy(&value, from, sizeof(value));
  const auto result = array::ConvertElement<NativeTypeOf<kTo>>(value);
  std::memcpy(to, &result, sizeof(result));
}

void ExpectConverted(const Literal& literal, const Literal& result, void (*convert_one)(const char*, char*)) {
  const int64_t from_bytes = primitive_util::ByteWidth(literal.shape().element_type());
  for (const std::vector<int64_t>& index : AllIndices(literal.shape().dimensions())) {
    std::string expected(primitive_util::ByteWidth(result.shape().element_type()), '\0');
    const auto* elements = static_cast<const char*>(literal.untyped_data());
    convert_one(elements + Position(literal.shape(), index) * from_bytes, expected.data());
    ASSERT_EQ(ElementBytes(result, index), expected) << literal.shape() << " to " << result.shape();
  }
}

void CheckPair(const Literal& literal, PrimitiveType to, void (*convert_one)(const char*, char*)) {
  const PrimitiveType from = literal.shape().element_type();
  const absl::StatusOr<Literal> result = literal.Convert(to);
  if (primitive_util::IsComplexType(from) && !primitive_util::IsComplexType(to)) {
    EXPECT_EQ(result.status().code(), absl::StatusCode::kUnimplemented);
    return;
  }
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->shape(), ShapeUtil::ChangeElementType(literal.shape(), to));
  ExpectConverted(literal, *result, convert_one);
}

// Arrays with sizes below and above a chunk.
TEST(LiteralConvertTest, AllPairsOfTypes) {
  Random random(9);
  primitive_util::ArrayTypeForEach([&](auto from) {
    const std::vector<int64_t> dimensions = {random.Number(1, 8), random.Number(1, 400)};
    const Literal literal = random.Literal(random.Array(from, dimensions));
    primitive_util::ArrayTypeForEach([&](auto to) { CheckPair(literal, to, &ConvertOne<from, to>); });
  });
}

TEST(LiteralConvertTest, ManyElements) {
  Random random(10);
  const Literal literal = random.Literal(array::S("f8e5m2[300,500]{0,1}"));
  ExpectConverted(literal, literal.Convert(F32).value(), &ConvertOne<F8E5M2, F32>);
  const Literal wide = random.Literal(array::S("f32[300,500]{0,1}"));
  ExpectConverted(wide, wide.Convert(BF16).value(), &ConvertOne<F32, BF16>);
}

TEST(LiteralConvertTest, WhatCannotBeConverted) {
  EXPECT_EQ(Literal().Convert(F32).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Literal(array::S("token[]")).Convert(F32).status().code(), absl::StatusCode::kInvalidArgument);
  for (const PrimitiveType type : {TUPLE, TOKEN, OPAQUE_TYPE, PRIMITIVE_TYPE_INVALID, static_cast<PrimitiveType>(99)}) {
    EXPECT_EQ(Literal(array::S("f32[]")).Convert(type).status().code(), absl::StatusCode::kUnimplemented) << type;
    EXPECT_EQ(Literal(array::S("c64[]")).Convert(type).status().code(), absl::StatusCode::kUnimplemented) << type;
  }
}

TEST(LiteralConvertTest, DynamicSizesStay) {
  Literal literal = Literal::CreateFromShape(array::S("s32[4]"));
  literal.SetDynamicSize(0, 2);
  const Literal result = literal.Convert(F32).value();
  EXPECT_EQ(result.shape(), array::S("f32[<=4]"));
  EXPECT_EQ(result.GetDynamicSize(0), 2);
}

TEST(LiteralConvertTest, ToShapeTakesElementTypesOnly) {
  const Literal literal = Literal::CreateFromShape(array::S("(s32[4,5]{0,1}, (f64[], token[]))"));
  const absl::StatusOr<Literal> result = literal.ConvertToShape(array::S("(f32[], (s8[7], token[]))"));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->shape(), array::S("(f32[4,5]{0,1}, (s8[], token[]))"));
  EXPECT_EQ(literal.ConvertToShape(array::S("(f32[], s8[])")).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(literal.ConvertToShape(array::S("f32[]")).ok());
  EXPECT_FALSE(literal.ConvertToShape(array::S("(f32[], (token[], token[]))")).ok());
  EXPECT_TRUE(Literal().ConvertToShape(array::S("()")).ok());
}

std::vector<int> Bytes(const Literal& literal) {
  const auto* bytes = static_cast<const uint8_t*>(literal.untyped_data());
  return std::vector<int>(bytes, bytes + literal.size_bytes());
}

Literal FromBytes(absl::string_view shape, std::vector<int> bytes) {
  Literal literal(array::S(shape));
  KASHI_CHECK_EQ(literal.size_bytes(), static_cast<int64_t>(bytes.size()));
  std::copy(bytes.begin(), bytes.end(), static_cast<uint8_t*>(literal.untyped_data()));
  return literal;
}

TEST(LiteralBitcastConvertTest, Bytes) {
  const Literal word = FromBytes("u32[1]", {1, 2, 3, 4});
  EXPECT_THAT(Bytes(word.BitcastConvert(array::S("u8[1,4]")).value()), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(word.BitcastConvert(array::S("f32[]"))->shape(), array::S("f32[]"));
  EXPECT_THAT(Bytes(FromBytes("u8[3]", {0, 1, 2}).BitcastConvert(array::S("pred[3]")).value()), ElementsAre(0, 1, 1));
}

TEST(LiteralBitcastConvertTest, SubByteTypesArePackedWhereThatMakesTheSizesAgree) {
  EXPECT_THAT(Bytes(FromBytes("u8[1]", {0x21}).BitcastConvert(array::S("u4[1,2]")).value()), ElementsAre(1, 2));
  EXPECT_THAT(Bytes(FromBytes("s4[2]", {0x0f, 3}).BitcastConvert(array::S("u8[]")).value()), ElementsAre(0x3f));
  EXPECT_THAT(Bytes(FromBytes("u2[4]", {1, 2, 3, 0}).BitcastConvert(array::S("u4[2]")).value()), ElementsAre(0x9, 0x3));
  EXPECT_THAT(Bytes(FromBytes("s4[2]", {0x0f, 3}).BitcastConvert(array::S("u4[2]")).value()), ElementsAre(0x0f, 3));
}

TEST(LiteralBitcastConvertTest, Refusals) {
  const Literal word = FromBytes("u32[1]", {1, 2, 3, 4});
  EXPECT_THAT(std::string(word.BitcastConvert(array::S("u16[1]")).status().message()),
              HasSubstr("different size u16[1]"));
  EXPECT_FALSE(word.BitcastConvert(array::S("(u32[1])")).ok());
  EXPECT_FALSE(Literal().BitcastConvert(array::S("u8[]")).ok());
  EXPECT_FALSE(word.BitcastConvert(array::S("s32[<=1]")).ok());
}

}  // namespace
}  // namespace kashi::literal
