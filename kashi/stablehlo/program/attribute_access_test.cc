#include "kashi/stablehlo/program/attribute_access.h"

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "kashi/array/primitive_type.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {
namespace {

class AttributeAccess : public testing::Test {
 protected:
  const Type* ElementOf(PrimitiveType element) {
    auto* type = program_.New<Type>();
    type->kind = Type::Kind::kElement;
    type->element = element;
    return type;
  }
  const Type* TensorOf(PrimitiveType element, std::initializer_list<int64_t> dimensions) {
    auto* type = program_.New<Type>();
    type->kind = Type::Kind::kTensor;
    type->dimensions = program_.CopyArray<int64_t>(dimensions);
    type->types = program_.CopyArray<const Type*>({ElementOf(element)});
    return type;
  }
  Attribute Tensor(PrimitiveType element, std::initializer_list<int64_t> dimensions, absl::string_view bytes) {
    Attribute attribute;
    attribute.kind = Attribute::Kind::kTensor;
    attribute.type = TensorOf(element, dimensions);
    attribute.text = bytes;
    return attribute;
  }
  Attribute Float(PrimitiveType element, int64_t bits) {
    Attribute attribute;
    attribute.kind = Attribute::Kind::kFloat;
    attribute.type = ElementOf(element);
    attribute.integer = bits;
    return attribute;
  }

  Program program_;
};

Attribute Text(Attribute::Kind kind, absl::string_view text) {
  Attribute attribute;
  attribute.kind = kind;
  attribute.text = text;
  return attribute;
}

Attribute Number(Attribute::Kind kind, int64_t value) {
  Attribute attribute;
  attribute.kind = kind;
  attribute.integer = value;
  return attribute;
}

TEST_F(AttributeAccess, ElementCounts) {
  EXPECT_EQ(ElementCount(*TensorOf(F32, {})), 1);
  EXPECT_EQ(ElementCount(*TensorOf(F32, {2, 3})), 6);
  EXPECT_EQ(ElementCount(*TensorOf(F32, {2, kDynamic})), std::nullopt);
  const int64_t large = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(ElementCount(*TensorOf(F32, {large, 2})), std::nullopt);
  EXPECT_EQ(ElementCount(*TensorOf(F32, {large, large, 0})), 0);
  EXPECT_EQ(ElementBytes(*ElementOf(S4)), 1);
  EXPECT_EQ(ElementBytes(*ElementOf(C64)), 8);
  EXPECT_EQ(ElementBytes(Type()), 0);
}

TEST_F(AttributeAccess, Scalars) {
  EXPECT_EQ(*ReadBool(Number(Attribute::Kind::kBool, 1)), true);
  EXPECT_EQ(*ReadInt64(Number(Attribute::Kind::kInteger, -7)), -7);
  EXPECT_EQ(*ReadInt64(Number(Attribute::Kind::kBool, 1)), 1);
  EXPECT_EQ(*ReadString(Text(Attribute::Kind::kSymbol, "main")), "main");
  EXPECT_EQ(ReadBool(Number(Attribute::Kind::kInteger, 1)).status().message(), "expected true or false");
  EXPECT_EQ(ReadInt64(Text(Attribute::Kind::kString, "1")).status().message(), "expected an integer");
  EXPECT_EQ(ReadString(Number(Attribute::Kind::kInteger, 1)).status().message(), "expected a string");
  EXPECT_EQ(ReadType(Number(Attribute::Kind::kInteger, 1)).status().message(), "expected a type");
}

TEST_F(AttributeAccess, Floats) {
  EXPECT_EQ(*ReadDouble(Float(F64, 0x3FF8000000000000)), 1.5);
  EXPECT_EQ(*ReadDouble(Float(F32, 0x3FC00000)), 1.5);
  EXPECT_EQ(*ReadDouble(Float(F16, 0x3E00)), 1.5);
  EXPECT_EQ(*ReadDouble(Float(BF16, 0x3FC0)), 1.5);
  EXPECT_EQ(ReadDouble(Float(F8E5M2, 0)).status().message(),
            "expected a number of type f64, f32, f16 or bf16, got f8E5M2");
  EXPECT_EQ(ReadDouble(Number(Attribute::Kind::kInteger, 1)).status().message(), "expected a number");
}

TEST_F(AttributeAccess, ListsOfIntegers) {
  EXPECT_EQ(*ReadInt64List(Tensor(S8, {3}, "\x01\xFF\x7F")), (std::vector<int64_t>{1, -1, 127}));
  EXPECT_EQ(*ReadInt64List(Tensor(U8, {2}, "\x01\xFF")), (std::vector<int64_t>{1, 255}));
  EXPECT_EQ(*ReadInt64List(Tensor(S16, {2}, "\xFE\xFF\x03\x01")), (std::vector<int64_t>{-2, 0x103}));
  EXPECT_EQ(*ReadBoolList(Tensor(PRED, {2}, absl::string_view("\1\0", 2))), (std::vector<bool>{true, false}));
  Attribute splat = Tensor(S8, {4}, "\x05");
  splat.is_splat = true;
  EXPECT_EQ(*ReadInt64List(splat), (std::vector<int64_t>{5, 5, 5, 5}));
  splat.type = TensorOf(S8, {kLargestList + 1});
  EXPECT_EQ(ReadInt64List(splat).status().message(), "a list of 1048577 elements is too long: the limit is 1048576");
  EXPECT_EQ(ReadInt64List(Tensor(F32, {1}, "\0\0\0\0")).status().message(), "expected a list of integers");
}

TEST_F(AttributeAccess, PairsAndRows) {
  EXPECT_EQ(*ReadPairs(Tensor(S8, {2, 2}, "\1\2\3\4")), (std::vector<std::pair<int64_t, int64_t>>{{1, 2}, {3, 4}}));
  EXPECT_TRUE(ReadPairs(Tensor(S8, {0}, ""))->empty());
  EXPECT_EQ(ReadPairs(Tensor(S8, {4}, "\1\2\3\4")).status().message(), "expected a list of pairs of integers");
  EXPECT_EQ(*ReadRows(Tensor(S8, {2, 3}, "\1\2\3\4\5\xFF")),
            (std::vector<std::vector<int64_t>>{{1, 2, 3}, {4, 5, -1}}));
  EXPECT_TRUE(ReadRows(Tensor(S8, {2, 0}, ""))->empty());
  EXPECT_EQ(ReadRows(Tensor(S8, {1}, "\1")).status().message(), "expected rows of integers");
}

TEST_F(AttributeAccess, ArraysOfAttributes) {
  const Attribute name = Text(Attribute::Kind::kString, "a");
  const Attribute list = Tensor(S8, {2}, "\1\2");
  Attribute array;
  array.kind = Attribute::Kind::kArray;
  array.elements = program_.CopyArray<const Attribute*>({&name, &name});
  EXPECT_EQ(*ReadStringList(array), (std::vector<absl::string_view>{"a", "a"}));
  EXPECT_FALSE(ReadInt64Lists(array).ok());
  array.elements = program_.CopyArray<const Attribute*>({&list, &list});
  EXPECT_EQ(*ReadInt64Lists(array), (std::vector<std::vector<int64_t>>{{1, 2}, {1, 2}}));
  EXPECT_FALSE(ReadStringList(array).ok());
}

TEST_F(AttributeAccess, FindsByName) {
  const Attribute one = Number(Attribute::Kind::kInteger, 1);
  Operation operation;
  operation.name = "stablehlo.iota";
  operation.attributes = program_.CopyArray<NamedAttribute>({{"iota_dimension", &one}});
  EXPECT_EQ(*FindAttribute(operation, "iota_dimension"), &one);
  EXPECT_EQ(FindAttribute(operation, "dimension").status().message(), "stablehlo.iota has no attribute dimension");
  Attribute record;
  record.kind = Attribute::Kind::kRecord;
  record.fields = operation.attributes;
  EXPECT_EQ(FindField(record, "iota_dimension"), &one);
  EXPECT_EQ(FindField(record, "size"), nullptr);
}

}  // namespace
}  // namespace kashi::stablehlo
