#include "kashi/array/shape_proto_size.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "kashi/array/recorded_cases_testing.h"
#include "kashi/array/shape_parser.h"

namespace kashi::array {
namespace {

TEST(ShapeProtoSizeTest, AgreesWithXla) {
  for (const auto& row : ReadTestData("shape_protos.tsv")) {
    const int64_t bytes = static_cast<int64_t>(row.back().size()) / 2;  // hexadecimal
    EXPECT_EQ(ShapeProtoByteSize(ParseShape(row[0]).value()), bytes) << row[0];
  }
}

TEST(ShapeProtoSizeTest, WhatTextCannotSay) {
  EXPECT_EQ(ShapeProtoByteSize(Shape()), 0);
  EXPECT_EQ(ShapeProtoByteSize(Shape(BUFFER)), 2);
  EXPECT_EQ(ShapeProtoByteSize(Shape(F32, {2, 3})), 2 + 4 + 4);  // no layout
  Shape sparse(F32, {});
  *sparse.mutable_layout()->mutable_physical_shape() = Shape(TOKEN);
  EXPECT_EQ(ShapeProtoByteSize(sparse), 2 + 2 + 3 + 4);  // type, layout, its L, its physical shape
}

}  // namespace
}  // namespace kashi::array
