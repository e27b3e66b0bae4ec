#include "kashi/proto/legacy_layout_proto.h"

#include <string>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/proto/xla_data.pb.h"

namespace kashi::proto {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

LayoutProto FromHex(const std::string& hex) {
  LayoutProto proto;
  EXPECT_TRUE(proto.ParseFromString(absl::HexStringToBytes(hex)));
  return proto;
}

// [2,3] {0,1} padded [3,5], ZERO: the documents' example.
constexpr char kDocumentedExample[] = "0a020001120203051801";

TEST(ReadLegacyLayout, DocumentedExample) {
  const absl::StatusOr<LegacyLayout> layout = ReadLegacyLayout(FromHex(kDocumentedExample));
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_THAT(layout->minor_to_major, ElementsAre(0, 1));
  EXPECT_THAT(layout->padded_dimensions, ElementsAre(3, 5));
  EXPECT_EQ(layout->padding_value, PaddingValue::kZero);
  EXPECT_EQ(layout->format, LegacyFormat::kDense);
  const Shape shape = ShapeUtil::MakeShape(F32, {2, 3});
  EXPECT_EQ(LegacyByteSize(*layout, shape).value(), 60);
  EXPECT_EQ(ToModernLayout(*layout, shape)->ToString(), "{0,1:T(5,3)}");
}

TEST(ReadLegacyLayout, ModernReadingForgetsThem) {
  EXPECT_EQ(Layout::FromProto(FromHex(kDocumentedExample))->ToString(), "{0,1}");
}

TEST(ReadLegacyLayout, AModernProtoHasNoPadding) {
  const absl::StatusOr<LegacyLayout> layout = ReadLegacyLayout(Layout({1, 0}, {Tile({8, 128})}).ToProto());
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_THAT(layout->minor_to_major, ElementsAre(1, 0));
  EXPECT_THAT(layout->padded_dimensions, IsEmpty());
  EXPECT_EQ(layout->padding_value, PaddingValue::kInvalid);
}

TEST(ReadLegacyLayout, PaddedDimensionsNeedNotBePacked) {
  EXPECT_THAT(ReadLegacyLayout(FromHex("0a02000110031005"))->padded_dimensions, ElementsAre(3, 5));
}

TEST(ReadLegacyLayout, SparseFormat) {
  const absl::StatusOr<LegacyLayout> layout = ReadLegacyLayout(FromHex("0a020100200228ac02"));
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_EQ(layout->format, LegacyFormat::kSparse);
  EXPECT_EQ(layout->max_sparse_elements, 300);
  EXPECT_EQ(layout->ToString(), "sparse{300}");
}

TEST(ReadLegacyLayout, RefusesBrokenFields) {
  EXPECT_EQ(ReadLegacyLayout(FromHex("1806")).status().message(),
            "Malformed layout proto: 6 is not a value of padding_value.");
  EXPECT_EQ(ReadLegacyLayout(FromHex("2003")).status().message(),
            "Malformed layout proto: 3 is not a value of format.");
  EXPECT_EQ(ReadLegacyLayout(FromHex("12020580")).status().message(),
            "Malformed layout proto: padded_dimensions ends within a number.");
  EXPECT_EQ(ReadLegacyLayout(FromHex("1500000000")).status().message(),
            "Malformed layout proto: padded_dimensions has the wrong wire type.");
  EXPECT_EQ(ReadLegacyLayout(FromHex("1a0101")).status().message(),
            "Malformed layout proto: padding_value has the wrong wire type.");
}

}  // namespace
}  // namespace kashi::proto
