#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_parser.h"
#include "kashi/array/shape_util.h"
#include "kashi/literal/literal.h"
#include "kashi/literal/literal_parser.h"
#include "kashi/proto/xla_data.pb.h"

namespace kashi::proto {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Shape ParseShapeText(absl::string_view text) {
  absl::StatusOr<Shape> shape = ParseShape(text);
  EXPECT_TRUE(shape.ok()) << shape.status();
  return shape.ok() ? *shape : Shape();
}

Literal Parse(absl::string_view shape, absl::string_view text) {
  absl::StatusOr<Literal> literal = ParseLiteral(text, ParseShapeText(shape));
  EXPECT_TRUE(literal.ok()) << literal.status();
  return literal.ok() ? *std::move(literal) : Literal();
}

LiteralProto ProtoFromText(const std::string& text) {
  LiteralProto proto;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &proto)) << text;
  return proto;
}

void ExpectError(const LiteralProto& proto, absl::StatusCode code, const std::string& part,
                 bool prohibit_empty = true) {
  const absl::StatusOr<Literal> literal = Literal::CreateFromProto(proto, prohibit_empty);
  EXPECT_EQ(literal.status().code(), code) << literal.status();
  EXPECT_THAT(std::string(literal.status().message()), HasSubstr(part));
}

// ---- Protos ---------------------------------------------------------------------------------------------------------

// The value part of XLA's output: the bytes behind the shape.
struct WrittenCase {
  const char* shape;
  const char* text;
  const char* value_hex;
};

TEST(LiteralProtoTest, ValuesAreWrittenAsXlaWritesThem) {
  for (const WrittenCase& c : std::vector<WrittenCase>{
           {"pred[3]", "{1,0,1}", "1203010001"},
           {"s1[3]", "{-1,0,-1}", "f20103010001"},
           {"s2[3]", "{1,-2,0}", "d20103010200"},
           {"s4[3]", "{1,-2,3}", "aa0103010e03"},
           {"u1[3]", "{1,0,1}", "fa0103010001"},
           {"u4[3]", "{1,2,15}", "b2010301020f"},
           {"s8[2,3]{0,1}", "{{1,2,3},{4,5,6}}", "7a06010402050306"},
           {"s16[2]", "{1,-2}", "8a01040100feff"},
           {"bf16[2]", "{1,2}", "6a04803f0040"},
           {"f4e2m1fn[3]", "{1,2,6}", "820203020407"},
           {"f8e8m0fnu[2]", "{1,2}", "8a02027f80"},
           {"c64[1]", "{(1,2)}", "62080000803f00000040"},
           {"f32[0]", "{}", ""},
       }) {
    LiteralProto proto = Parse(c.shape, c.text).ToProto();
    proto.clear_shape();
    EXPECT_EQ(absl::BytesToHexString(proto.SerializeAsString()), c.value_hex) << c.shape;
  }
}

TEST(LiteralProtoTest, TuplesHoldLiteralsWithShapes) {
  const LiteralProto proto = Parse("(s32[], f32[2])", "(1,{2,3})").ToProto();
  EXPECT_EQ(
      absl::BytesToHexString(proto.SerializeAsString()),
      "0a1d100d220710042a038001012210100b1a01022a060a0100800101320100520c0a0710042a03800101220101521c0a10100b1a0102"
      "2a060a010080010132010042080000004000004040");
}

TEST(LiteralProtoTest, EveryTypeMakesTheRoundTrip) {
  for (int number = 0; number < PrimitiveType_ARRAYSIZE; ++number) {
    const auto type = static_cast<PrimitiveType>(number);
    if (!primitive_util::IsArrayType(type)) continue;
    const Shape shape = ShapeUtil::MakeShape(type, {2, 3});
    Literal literal = Literal::CreateFromShape(shape);
    auto* bytes = static_cast<unsigned char*>(literal.untyped_data());
    const int bits = primitive_util::BitWidth(type);
    for (int64_t i = 0; i < literal.size_bytes(); ++i) {
      bytes[i] = static_cast<unsigned char>(bits < 8 ? (i * 5 + 1) % (1 << bits) : i * 37 + 1);
    }
    const absl::StatusOr<Literal> read = Literal::CreateFromProto(literal.ToProto());
    ASSERT_TRUE(read.ok()) << shape << ": " << read.status();
    EXPECT_EQ(read->shape(), literal.shape());
    EXPECT_EQ(std::string(static_cast<const char*>(read->untyped_data()), read->size_bytes()),
              std::string(reinterpret_cast<const char*>(bytes), literal.size_bytes()))
        << shape;

    const absl::StatusOr<std::string> serialized = literal.SerializeAsString();
    ASSERT_TRUE(serialized.ok()) << serialized.status();
    EXPECT_EQ(static_cast<int64_t>(serialized->size()), literal.SerializedSize().value()) << shape;
    const absl::StatusOr<Literal> deserialized = Literal::DeserializeFromString(*serialized);
    ASSERT_TRUE(deserialized.ok()) << shape << ": " << deserialized.status();
    EXPECT_EQ(std::string(static_cast<const char*>(deserialized->untyped_data()), deserialized->size_bytes()),
              std::string(reinterpret_cast<const char*>(bytes), literal.size_bytes()))
        << shape;
  }
}

TEST(LiteralProtoTest, OfANarrowTypeOnlyTheLowBitsCount) {
  const LiteralProto proto =
      ProtoFromText(R"(shape { element_type: S4 dimensions: 2 layout { minor_to_major: 0 } } s4s: "\xfe\x0e")");
  const absl::StatusOr<Literal> literal = Literal::CreateFromProto(proto);
  ASSERT_TRUE(literal.ok()) << literal.status();
  EXPECT_EQ(literal->ToStringOneline(), "s4[2] {-2, -2}");
  EXPECT_EQ(literal->ToProto().s4s(), std::string("\x0e\x0e"));
}

TEST(LiteralProtoTest, DynamicSizes) {
  Literal literal(ParseShapeText("s32[<=3,2]"));
  literal.PopulateWithValue<int32_t>(7);
  literal.SetDynamicSize(0, 1);
  const LiteralProto proto = literal.ToProto();
  EXPECT_THAT(proto.dynamic_sizes(), ElementsAre(1, 2));
  const absl::StatusOr<Literal> read = Literal::CreateFromProto(proto);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->GetDynamicSize(0), 1);
  EXPECT_EQ(*read, literal);

  const absl::StatusOr<std::string> bytes = literal.SerializeAsString();
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(Literal::DeserializeFromString(*bytes)->GetDynamicSize(0), 1);
}

TEST(LiteralProtoTest, WhatIsNotKnownHasNoValues) {
  const Literal literal = Literal::CreateFromShapeWithUnknownLeafArrays(ParseShapeText("f32[2]"));
  EXPECT_EQ(literal.ToProto().f32s_size(), 0);
  EXPECT_EQ(literal.SerializeAsString().status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(LiteralProtoTest, EmptyLiterals) {
  const LiteralProto proto = ProtoFromText(
      "shape { element_type: TUPLE tuple_shapes { element_type: F32 dimensions: 3 layout { minor_to_major: 0 } } }"
      "tuple_literals { shape { element_type: F32 dimensions: 3 layout { minor_to_major: 0 } } }");
  ExpectError(proto, absl::StatusCode::kInvalidArgument,
              "Expected 3 elements in LiteralProto: it has 0 bytes of values for f32[3], which takes 12");
  const absl::StatusOr<Literal> literal = Literal::CreateFromProto(proto, /*prohibit_empty_literal=*/false);
  ASSERT_TRUE(literal.ok()) << literal.status();
  EXPECT_EQ(literal->ToStringOneline(), "( f32[3] {0, 0, 0} )");
}

TEST(LiteralProtoTest, RefusesWhatItClaimsButDoesNotHold) {
  const auto kInvalidArgument = absl::StatusCode::kInvalidArgument;
  ExpectError(LiteralProto(), kInvalidArgument, "no shape");
  ExpectError(ProtoFromText("shape { element_type: F32 dimensions: 2 } f32s: [1, 2]"), kInvalidArgument, "no layout");
  ExpectError(ProtoFromText("shape { element_type: F32 dimensions: 2 layout { minor_to_major: 0 } } f32s: 1"),
              kInvalidArgument, "4 bytes of values");
  ExpectError(ProtoFromText("shape { element_type: F32 dimensions: 2 layout { minor_to_major: 1 } } f32s: [1, 2]"),
              kInvalidArgument, "");
  // The values of another type do not count.
  ExpectError(ProtoFromText("shape { element_type: F32 dimensions: 1 layout { minor_to_major: 0 } } s32s: 1"),
              kInvalidArgument, "0 bytes of values");
  ExpectError(ProtoFromText("shape { element_type: F32 dimensions: -3 layout { minor_to_major: 0 } }"),
              kInvalidArgument, "");
  const std::string huge =
      "shape { element_type: F64 dimensions: [4611686018427387904, 4611686018427387904] layout { minor_to_major: [1, "
      "0] } }";
  ExpectError(ProtoFromText(huge), kInvalidArgument, "");
  EXPECT_FALSE(Literal::CreateFromProto(ProtoFromText(huge), false).ok());
  ExpectError(ProtoFromText("shape { element_type: U8 dimensions: 2000000000 layout { minor_to_major: 0 } }"),
              absl::StatusCode::kResourceExhausted, "too large", /*prohibit_empty=*/false);
  ExpectError(ProtoFromText("shape { element_type: TUPLE tuple_shapes { element_type: TOKEN } }"), kInvalidArgument,
              "Expected 1 tuple elements in LiteralProto, but it has 0");
  ExpectError(ProtoFromText("shape { element_type: TUPLE tuple_shapes { element_type: S8 layout {} } }"
                            "tuple_literals { shape { element_type: U8 layout {} } u8s: 'a' }"),
              kInvalidArgument, "but the tuple says s8[]");
  for (const char* sizes : {"dynamic_sizes: 1", "dynamic_sizes: [4, 2]", "dynamic_sizes: [-1, 2]"}) {
    ExpectError(ProtoFromText(std::string("shape { element_type: S8 dimensions: [3, 2] is_dynamic_dimension: [true, "
                                          "false] layout { minor_to_major: [1, 0] } } s8s: 'abcdef' ") +
                              sizes),
                kInvalidArgument, "dynamic size");
  }
}

// ---- Serialized literals --------------------------------------------------------------------------------------------

TEST(LiteralSerializationTest, Bytes) {
  // 16 bytes of ShapeProto, then three bits; the first in the lowest.
  EXPECT_EQ(absl::BytesToHexString(Parse("pred[3]", "{1,0,1}").SerializeAsString().value()),
            "100000000000000010011a01032a060a010080010132010005");
  EXPECT_EQ(absl::BytesToHexString(Parse("s4[3]", "{1,-2,3}").SerializeAsString().value()),
            "100000000000000010151a01032a060a0100800101320100e103");
  EXPECT_EQ(absl::BytesToHexString(Parse("(u8[], s16[])", "(1, -2)").SerializeAsString().value().substr(8 + 20)),
            "01feff");
}

TEST(LiteralSerializationTest, EveryPrefixIsRefused) {
  const std::string bytes =
      Parse("(f32[2,2], pred[9], ())", "({{1,2},{3,4}}, {1,0,1,1,1,0,0,0,1}, ())").SerializeAsString().value();
  EXPECT_TRUE(Literal::DeserializeFromString(bytes).ok());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(Literal::DeserializeFromString(bytes.substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(Literal::DeserializeFromString(bytes + "x").ok());
}

TEST(LiteralSerializationTest, ClaimsAreNotBelieved) {
  EXPECT_FALSE(Literal::DeserializeFromString(std::string(8, '\xff')).ok());
  EXPECT_FALSE(Literal::DeserializeFromString(std::string("\x7f\xff\xff\xff\xff\xff\xff\x7f", 8)).ok());
  LiteralProto huge =
      ProtoFromText("shape { element_type: U8 dimensions: 1099511627775 layout { minor_to_major: 0 } }");
  const std::string shape = huge.shape().SerializeAsString();
  EXPECT_FALSE(
      Literal::DeserializeFromString(std::string(1, static_cast<char>(shape.size())) + std::string(7, '\0') + shape)
          .ok());
}

}  // namespace
}  // namespace kashi::proto
