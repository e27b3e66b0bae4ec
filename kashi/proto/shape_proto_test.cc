#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "kashi/array/primitive_type.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_index.h"
#include "kashi/array/shape_parser.h"
#include "kashi/array/shape_util.h"
#include "kashi/proto/xla_data.pb.h"

namespace kashi::proto {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Shape Parse(absl::string_view text) {
  absl::StatusOr<Shape> shape = ParseShape(text);
  EXPECT_TRUE(shape.ok()) << shape.status();
  return shape.ok() ? *shape : Shape();
}

std::string Hex(const google::protobuf::Message& proto) { return absl::BytesToHexString(proto.SerializeAsString()); }

ShapeProto ProtoFromHex(absl::string_view hex) {
  ShapeProto proto;
  EXPECT_TRUE(proto.ParseFromString(absl::HexStringToBytes(hex)));
  return proto;
}

ShapeProto ProtoFromText(const std::string& text) {
  ShapeProto proto;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &proto)) << text;
  return proto;
}

void ExpectError(const absl::Status& status, absl::StatusCode code, const std::string& part) {
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(part));
}

// ---------------------------------------------------------------------------------------------------------------------
// Bytes
// ---------------------------------------------------------------------------------------------------------------------

// array-model.md, section 9.
TEST(ShapeProtoBytes, DocumentedExamples) {
  EXPECT_EQ(Hex(Parse("f32[2,3]").ToProto()), "100b1a0202032a070a02010080010132020000");
  EXPECT_EQ(Hex(Parse("f32[]").ToProto()), "100b2a03800101");
  EXPECT_EQ(Hex(Parse("token[]").ToProto()), "1011");
  EXPECT_EQ(Hex(Parse("()").ToProto()), "100d");
  EXPECT_EQ(Hex(Shape(F32, {Shape::kUnboundedSize}, {true}).ToProto()), "100b1a0a80808080808080808001320101");
}

struct Row {
  std::string text;
  std::string canonical;
  std::string hex;
};

std::vector<Row> ReadRows() {
  std::ifstream file(KASHI_TEST_DATA "/shape_protos.tsv");
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    if (absl::StartsWith(line, "#")) continue;
    const std::vector<std::string> fields = absl::StrSplit(line, '\t');
    const std::string text = absl::StrReplaceAll(fields[0], {{"\\\\", "\\"}, {"\\t", "\t"}, {"\\n", "\n"}});
    rows.push_back({text, fields[1].empty() ? text : fields[1], fields[2]});
  }
  return rows;
}

TEST(ShapeProtoBytes, AreRealXlasForEveryRow) {
  const std::vector<Row> rows = ReadRows();
  ASSERT_GT(rows.size(), 250);
  for (const Row& row : rows) {
    EXPECT_EQ(Hex(Parse(row.text).ToProto()), row.hex) << row.text;
  }
}

TEST(ShapeProtoBytes, OfRealXlaAreReadBack) {
  for (const Row& row : ReadRows()) {
    const absl::StatusOr<Shape> shape = Shape::FromProto(ProtoFromHex(row.hex));
    if (absl::StrContains(row.canonical, "*,") || absl::StrContains(row.canonical, "*)") ||
        absl::StrContains(row.canonical, ",*")) {
      ExpectError(shape.status(), absl::StatusCode::kInternal, "dimension >= 0");
      continue;
    }
    ASSERT_TRUE(shape.ok()) << row.text << ": " << shape.status();
    EXPECT_EQ(shape->ToString(/*print_layout=*/true), row.canonical);
    EXPECT_EQ(*shape, Parse(row.text));
    EXPECT_EQ(Hex(shape->ToProto()), row.hex);
  }
}

// SerializedSize counts the proto's bytes without protobuf.
TEST(ShapeProtoBytes, AreAsManyAsSerializedSizeSays) {
  for (const Row& row : ReadRows()) {
    const Shape shape = Parse(row.text);
    const int64_t proto_size = static_cast<int64_t>(row.hex.size()) / 2;
    const absl::StatusOr<int64_t> size = ShapeUtil::SerializedSize(shape);
    const absl::StatusOr<int64_t> expected = ShapeUtil::SerializedSizeWithProto(shape, proto_size);
    ASSERT_EQ(size.status(), expected.status()) << row.text;
    if (size.ok()) {
      EXPECT_EQ(*size, *expected) << row.text;
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// The enum
// ---------------------------------------------------------------------------------------------------------------------

TEST(PrimitiveTypeProto, DescriptorAgreesWithTheTable) {
  const google::protobuf::EnumDescriptor* descriptor = PrimitiveType_descriptor();
  ASSERT_EQ(descriptor->value_count(), PrimitiveType_ARRAYSIZE);
  for (int number = 0; number < PrimitiveType_ARRAYSIZE; ++number) {
    ASSERT_NE(descriptor->FindValueByNumber(number), nullptr) << number;
    EXPECT_EQ(descriptor->FindValueByNumber(number)->name(), PrimitiveType_Name(number));
  }
  EXPECT_EQ(google::protobuf::GetEnumDescriptor<PrimitiveType>(), descriptor);
}

TEST(PrimitiveTypeProto, TextFormatKnowsTheNames) {
  ShapeProto proto;
  proto.set_element_type(F8E4M3FN);
  EXPECT_EQ(proto.ShortDebugString(), "element_type: F8E4M3FN");
  EXPECT_EQ(ProtoFromText("element_type: F6E2M3FN").element_type(), F6E2M3FN);
}

// ---------------------------------------------------------------------------------------------------------------------
// Protos that are refused, and fields that are skipped (array-model.md, 3.4)
// ---------------------------------------------------------------------------------------------------------------------

void ExpectShapeError(const std::string& proto_text, absl::StatusCode code, const std::string& part) {
  SCOPED_TRACE(proto_text);
  ExpectError(Shape::FromProto(ProtoFromText(proto_text)).status(), code, part);
}

TEST(ShapeFromProto, RefusesWithUpstreamsWords) {
  const auto kInternal = absl::StatusCode::kInternal;
  const auto kInvalidArgument = absl::StatusCode::kInvalidArgument;
  ExpectShapeError(
      "element_type: F32 dimensions: [2, 3] is_dynamic_dimension: true", kInternal,
      "Malformed shape proto: number of is_dynamic_dimension fields (1) does not match number of dimension "
      "fields (2).");
  ExpectShapeError("element_type: F32 is_dynamic_dimension: false", kInternal,
                   "fields (1) does not match number of dimension fields (0).");
  ExpectShapeError("element_type: TUPLE layout {}", kInternal,
                   "Malformed shape proto: element_type TUPLE should not have a layout.");
  ExpectShapeError("element_type: TOKEN layout {}", kInternal,
                   "Malformed shape proto: element_type TOKEN should not have a layout.");
  ExpectShapeError("layout {}", kInternal,
                   "Malformed shape proto: element_type PRIMITIVE_TYPE_INVALID should not have a layout.");
  ExpectShapeError("element_type: F32 dimensions: 2 layout { minor_to_major: 0 tiles { dimensions: [8, -1] } }",
                   kInternal, "dimension >= 0");
  ExpectShapeError("element_type: F32 dimensions: 2 layout { tiles { dimensions: -9223372036854775808 } }", kInternal,
                   "dimension >= 0");
  ExpectShapeError("element_type: F32 layout { tail_padding_alignment_in_elements: -1 }", kInternal, "alignment > 0");
  ExpectShapeError("element_type: BUFFER", kInvalidArgument, "Buffer shape must have exactly one tuple shape.");
  ExpectShapeError("element_type: BUFFER tuple_shapes { element_type: F32 } tuple_shapes { element_type: F32 }",
                   kInvalidArgument, "Buffer shape must have exactly one tuple shape.");
  ExpectShapeError("element_type: BUFFER tuple_shapes { element_type: TOKEN }", kInvalidArgument,
                   "Buffer shape must have array shape.");
  ExpectShapeError("element_type: BUFFER tuple_shapes { element_type: BUFFER tuple_shapes { element_type: F32 } }",
                   kInvalidArgument, "Buffer shape must have array shape.");
}

TEST(ShapeFromProto, RefusesInsideTuplesToo) {
  ExpectShapeError(
      "element_type: TUPLE tuple_shapes { element_type: TUPLE tuple_shapes { element_type: TOKEN layout {} } }",
      absl::StatusCode::kInternal, "element_type TOKEN should not have a layout.");
  ExpectShapeError("element_type: F32 layout { physical_shape { element_type: TUPLE layout {} } }",
                   absl::StatusCode::kInternal, "element_type TUPLE should not have a layout.");
}

TEST(ShapeFromProto, RetCheckFailuresSayWhichField) {
  EXPECT_EQ(
      Shape::FromProto(ProtoFromText("element_type: F32 layout { tiles { dimensions: [8, -3] } }")).status().message(),
      "RET_CHECK failure (TileProto.dimensions) dimension >= 0 (entry 1 is -3)");
}

std::string ReadText(const std::string& proto_text) {
  const absl::StatusOr<Shape> shape = Shape::FromProto(ProtoFromText(proto_text));
  return shape.ok() ? shape->ToString(/*print_layout=*/true) : shape.status().ToString();
}

TEST(ShapeFromProto, SkipsWhatTheKindHasNoUseFor) {
  EXPECT_EQ(ReadText("element_type: TUPLE dimensions: [2, 3] is_dynamic_dimension: true"), "()");
  EXPECT_EQ(ReadText("element_type: TOKEN dimensions: 2"), "token[]");
  EXPECT_EQ(ReadText("element_type: OPAQUE_TYPE tuple_shapes { element_type: F32 }"), "opaque[]");
  EXPECT_EQ(ReadText("element_type: F32 dimensions: 2 tuple_shapes { element_type: F32 }"), "f32[2]");
}

TEST(ShapeFromProto, AnArrayMayHaveNoLayoutAndNoFlags) {
  EXPECT_EQ(ReadText("element_type: F32 dimensions: [2, 3]"), "f32[2,3]");
  EXPECT_EQ(ReadText("element_type: F32 dimensions: [2, 3] layout { minor_to_major: [0, 1] }"), "f32[2,3]{0,1}");
}

TEST(ShapeFromProto, ABuffersOwnLayoutWins) {
  EXPECT_EQ(
      ReadText(
          "element_type: BUFFER tuple_shapes { element_type: F32 dimensions: [2, 3] layout { minor_to_major: [1, 0] } }"
          "layout { minor_to_major: [0, 1] }"),
      "b(f32[2,3]{0,1})");
  EXPECT_EQ(ReadText("element_type: BUFFER tuple_shapes { element_type: F32 dimensions: 2 }"), "b(f32[2])");
}

TEST(ShapeFromProto, KeepsSizesUnjudged) {
  EXPECT_EQ(ReadText("element_type: S8 dimensions: -9223372036854775808"), "s8[-9223372036854775808]");
  EXPECT_EQ(ReadText("element_type: S8 dimensions: -9223372036854775808 is_dynamic_dimension: true"), "s8[?]");
  EXPECT_EQ(ReadText("element_type: S8 dimensions: [-7, 9] is_dynamic_dimension: [false, true]"), "s8[-7,<=9]");
}

TEST(ShapeFromProto, NumbersThatAreNoTypeGiveAnInvalidShape) {
  for (const int number : {37, 1000, -1}) {
    ShapeProto proto;
    proto.set_element_type(static_cast<PrimitiveType>(number));
    proto.add_dimensions(2);
    ShapeProto read;
    ASSERT_TRUE(read.ParseFromString(proto.SerializeAsString()));
    EXPECT_EQ(static_cast<int>(read.element_type()), number);  // proto3 keeps it
    const absl::StatusOr<Shape> shape = Shape::FromProto(read);
    ASSERT_TRUE(shape.ok()) << shape.status();
    EXPECT_EQ(shape->element_type(), PRIMITIVE_TYPE_INVALID);
    EXPECT_EQ(*shape, Shape());
  }
}

TEST(ShapeFromProto, RetiredFieldsAreSkipped) {
  // f32[2,3]{1,0} with rank (field 1), and in its layout the fields 2, 3, 4, 5, 9, 13 and 14.
  const ShapeProto proto = ProtoFromHex("0802100b1a0202032a140a0201001202040518012001280748006801700132020000");
  const absl::StatusOr<Shape> shape = Shape::FromProto(proto);
  ASSERT_TRUE(shape.ok()) << shape.status();
  EXPECT_EQ(*shape, Parse("f32[2,3]{1,0}"));
  EXPECT_EQ(Hex(shape->ToProto()), "100b1a0202032a070a02010080010132020000");
}

// ---------------------------------------------------------------------------------------------------------------------
// Depth
// ---------------------------------------------------------------------------------------------------------------------

ShapeProto NestedTuples(int depth) {
  ShapeProto root;
  ShapeProto* leaf = &root;
  for (int i = 0; i < depth; ++i) {
    leaf->set_element_type(TUPLE);
    leaf = leaf->add_tuple_shapes();
  }
  leaf->set_element_type(TOKEN);
  return root;
}

TEST(ShapeFromProto, DeepTreesAreReadUpToALimit) {
  const ShapeProto deepest = NestedTuples(kMaxTupleDepth);
  const absl::StatusOr<Shape> shape = Shape::FromProto(deepest);
  ASSERT_TRUE(shape.ok()) << shape.status();
  EXPECT_EQ(shape->ToProto().ByteSizeLong(), deepest.ByteSizeLong());
  ExpectError(Shape::FromProto(NestedTuples(kMaxTupleDepth + 1)).status(), absl::StatusCode::kInvalidArgument,
              "Malformed shape proto: nested deeper than 6000.");
}

TEST(ShapeFromProto, DeepPhysicalShapesAreRefused) {
  ShapeProto root;
  ShapeProto* leaf = &root;
  for (int i = 0; i <= kMaxTupleDepth; ++i) {
    leaf->set_element_type(F32);
    leaf = leaf->mutable_layout()->mutable_physical_shape();
  }
  ExpectError(Shape::FromProto(root).status(), absl::StatusCode::kInvalidArgument, "nested deeper");
  ExpectError(Layout::FromProto(root.layout()).status(), absl::StatusCode::kInvalidArgument, "nested deeper");
}

// ---------------------------------------------------------------------------------------------------------------------
// The parts
// ---------------------------------------------------------------------------------------------------------------------

TEST(TileProtoTest, RoundTrip) {
  const Tile tile({8, 0, 128});
  EXPECT_THAT(tile.ToProto().dimensions(), ElementsAre(8, 0, 128));
  EXPECT_EQ(*Tile::FromProto(tile.ToProto()), tile);
  EXPECT_EQ(*Tile::FromProto(TileProto()), Tile());
  ExpectError(Tile::FromProto(Tile({2, Tile::kCombineDimension}).ToProto()).status(), absl::StatusCode::kInternal,
              "dimension >= 0");
}

TEST(SplitConfigProtoTest, RoundTrip) {
  const SplitConfig config(1, {512, 768});
  const SplitConfigProto proto = config.ToProto();
  EXPECT_EQ(proto.dimension(), 1);
  EXPECT_THAT(proto.split_indices(), ElementsAre(512, 768));
  EXPECT_EQ(SplitConfig::CreateFromProto(proto), config);
}

TEST(LayoutProtoTest, EveryFieldMakesTheRoundTrip) {
  Layout layout({1, 0}, {Tile({8, 128}), Tile({2, 1})}, U8, U16, /*tail_padding_alignment_in_elements=*/1024,
                /*element_size_in_bits=*/4, /*memory_space=*/5, {SplitConfig(0, {4})},
                std::make_unique<Shape>(Parse("(f32[3], s8[])")), /*dynamic_shape_metadata_prefix_bytes=*/64);
  const LayoutProto proto = layout.ToProto();
  const absl::StatusOr<Layout> read = Layout::FromProto(proto);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, layout);
  EXPECT_EQ(read->dynamic_shape_metadata_prefix_bytes(), 64);
  EXPECT_EQ(read->ToString(), layout.ToString());
  EXPECT_EQ(Hex(read->ToProto()), Hex(proto));
  EXPECT_EQ(Layout::CreateFromProto(proto), layout);
}

TEST(LayoutProtoTest, DefaultsOfAbsentFields) {
  const absl::StatusOr<Layout> layout = Layout::FromProto(LayoutProto());
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_EQ(*layout, Layout());
  EXPECT_EQ(layout->tail_padding_alignment_in_elements(), 1);
  EXPECT_EQ(Hex(layout->ToProto()), "800101");
}

TEST(LayoutProtoTest, MemorySpaceKeepsEightBits) {
  LayoutProto proto;
  for (const auto& [written, read] :
       std::vector<std::pair<int64_t, int64_t>>{{300, 44}, {128, -128}, {256, 0}, {-1, -1}}) {
    proto.set_memory_space(written);
    EXPECT_EQ(Layout::FromProto(proto)->memory_space(), read);
  }
}

TEST(LayoutProtoDeathTest, CreateFromProtoDiesOnABadProto) {
  LayoutProto proto;
  proto.set_tail_padding_alignment_in_elements(-2);
  EXPECT_DEATH(Layout::CreateFromProto(proto), "alignment > 0");
}

TEST(ShapeProtoTest, SetProtoReplacesWhatWasThere) {
  ShapeProto proto = Parse("(f32[2], s8[])").ToProto();
  Parse("pred[4]").SetProto(proto);
  EXPECT_EQ(Hex(proto), Hex(Parse("pred[4]").ToProto()));
  LayoutProto layout = Parse("f32[2,3]{1,0:T(8,128)S(1)}").layout().ToProto();
  Layout({0}).SetProto(layout);
  EXPECT_EQ(Hex(layout), Hex(Layout({0}).ToProto()));
}

TEST(ProgramShapeProtoTest, RoundTrip) {
  ProgramShape program_shape;
  program_shape.AddParameter(Parse("f32[2]{0}"), "x");
  program_shape.AddParameter(Parse("(s32[], token[])"), "");
  *program_shape.mutable_result() = Parse("f32[2,2]{0,1}");
  const ProgramShapeProto proto = program_shape.ToProto();
  EXPECT_THAT(proto.parameter_names(), ElementsAre("x", ""));
  const absl::StatusOr<ProgramShape> read = ProgramShape::FromProto(proto);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->ToString(), "(x: f32[2], (unknown): (s32[], token[])) -> f32[2,2]");
  EXPECT_EQ(read->result(), program_shape.result());
  EXPECT_EQ(Hex(read->ToProto()), Hex(proto));
}

TEST(ProgramShapeProtoTest, RefusesBadParts) {
  ProgramShapeProto proto;
  proto.add_parameters()->set_element_type(F32);
  ExpectError(ProgramShape::FromProto(proto).status(), absl::StatusCode::kInternal, "1 vs 0");
  proto.add_parameter_names("x");
  EXPECT_TRUE(ProgramShape::FromProto(proto).ok());
  proto.mutable_result()->set_element_type(BUFFER);
  ExpectError(ProgramShape::FromProto(proto).status(), absl::StatusCode::kInvalidArgument, "exactly one tuple shape");
}

TEST(ShapeIndexProtoTest, RoundTrip) {
  const ShapeIndex index = {1, 0, 7};
  EXPECT_THAT(index.ToProto().index(), ElementsAre(1, 0, 7));
  EXPECT_EQ(ShapeIndex::FromProto(index.ToProto()), index);
  EXPECT_EQ(ShapeIndex::FromProto(ShapeIndexProto()), ShapeIndex());
}

}  // namespace
}  // namespace kashi::proto
