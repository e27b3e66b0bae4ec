#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_testing.h"
#include "kashi/array/shape_util.h"

namespace kashi::array {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ShapeQueryTest, Scalars) {
  EXPECT_TRUE(ShapeUtil::IsScalar(S("f32[]")));
  EXPECT_TRUE(ShapeUtil::IsScalar(S("b(f32[])")));
  EXPECT_FALSE(ShapeUtil::IsScalar(S("f32[1]")));
  EXPECT_FALSE(ShapeUtil::IsScalar(S("token[]")));
  EXPECT_FALSE(ShapeUtil::IsScalar(S("()")));
  EXPECT_TRUE(ShapeUtil::IsEffectiveScalar(S("f32[1,1]")));
  EXPECT_TRUE(ShapeUtil::IsEffectiveScalar(S("f32[]")));
  EXPECT_FALSE(ShapeUtil::IsEffectiveScalar(S("f32[1,0]")));
  EXPECT_FALSE(ShapeUtil::IsEffectiveScalar(S("()")));
  EXPECT_TRUE(ShapeUtil::IsScalarWithElementType(S("f32[]"), F32));
  EXPECT_FALSE(ShapeUtil::IsScalarWithElementType(S("f32[]"), S32));
  EXPECT_FALSE(ShapeUtil::IsScalarWithElementType(S("f32[1]"), F32));
  EXPECT_FALSE(ShapeUtil::IsScalarWithElementType(S("token[]"), TOKEN));
}

TEST(ShapeQueryTest, Dimensions) {
  EXPECT_EQ(ShapeUtil::TrueNumDimensions(S("f32[3,1,2]")), 2);
  EXPECT_EQ(ShapeUtil::TrueNumDimensions(S("f32[3,0,1]")), 2) << "a size of 0 counts";
  EXPECT_EQ(ShapeUtil::TrueNumDimensions(S("f32[]")), 0);
  EXPECT_TRUE(ShapeUtil::IsZeroElementArray(S("f32[3,0]")));
  EXPECT_TRUE(ShapeUtil::IsZeroElementArray(S("f32[<=0]")));
  EXPECT_FALSE(ShapeUtil::IsZeroElementArray(S("f32[3]")));
  EXPECT_FALSE(ShapeUtil::IsZeroElementArray(S("f32[]")));
  EXPECT_FALSE(ShapeUtil::IsZeroElementArray(S("()")));
  EXPECT_FALSE(ShapeUtil::IsZeroElementArray(S("token[]")));
  EXPECT_FALSE(ShapeUtil::IsZeroElementArray(S("(f32[0])")));
  EXPECT_TRUE(ShapeUtil::HasDegenerateDimensions(S("f32[3,1]")));
  EXPECT_FALSE(ShapeUtil::HasDegenerateDimensions(S("f32[3,0]")));
  EXPECT_DEATH(ShapeUtil::HasDegenerateDimensions(S("()")), "not an array");
  EXPECT_THAT(ShapeUtil::CreateDimensionVectorFromShape(S("f32[3,<=2]")), ElementsAre(3, 2));
  EXPECT_THAT(ShapeUtil::CreateDimensionVectorFromShape(S("(f32[3])")), IsEmpty());
}

TEST(ShapeQueryTest, NegativeDimensionNumbers) {
  const Shape shape = S("f32[2,3,4]");
  EXPECT_EQ(ShapeUtil::GetDimension(shape, 0), 2);
  EXPECT_EQ(ShapeUtil::GetDimension(shape, 2), 4);
  EXPECT_EQ(ShapeUtil::GetDimension(shape, -1), 4);
  EXPECT_EQ(ShapeUtil::GetDimension(shape, -3), 2);
  EXPECT_EQ(ShapeUtil::GetDimensionNumber(shape, -1), 2);
  EXPECT_EQ(ShapeUtil::GetDimensionNumber(shape, 1), 1);
  EXPECT_EQ(ShapeUtil::GetDimensionNumber(shape, 7), 7) << "not checked above, as in XLA";
  EXPECT_DEATH(ShapeUtil::GetDimensionNumber(shape, -4), "Check failed");
  EXPECT_DEATH(ShapeUtil::GetDimension(shape, 3), "Check failed");
}

TEST(ShapeQueryTest, HasPrimitiveType) {
  EXPECT_TRUE(ShapeUtil::HasPrimitiveType(S("f32[2]"), F32));
  EXPECT_FALSE(ShapeUtil::HasPrimitiveType(S("f32[2]"), S32));
  EXPECT_TRUE(ShapeUtil::HasPrimitiveType(S("(s32[], (f32[2]))"), F32));
  EXPECT_TRUE(ShapeUtil::HasPrimitiveType(S("()"), TUPLE));
  EXPECT_FALSE(ShapeUtil::HasPrimitiveType(S("()"), F32));
  EXPECT_TRUE(ShapeUtil::HasPrimitiveType(S("(token[])"), TOKEN));
  EXPECT_TRUE(ShapeUtil::HasPrimitiveType(S("b(f32[2])"), F32));
}

TEST(ShapeQueryTest, ElementTypes) {
  const struct {
    const char* shape;
    bool integral, floating, complex, is_signed;
    int bits;
  } kCases[] = {
      {"pred[2]", false, false, false, false, 1},      {"s4[2]", true, false, false, true, 4},
      {"s32[2]", true, false, false, true, 32},        {"u8[2]", true, false, false, false, 8},
      {"bf16[2]", false, true, false, true, 16},       {"c64[2]", false, false, true, false, 64},
      {"b(f8e4m3fn[2])", false, true, false, true, 8},
  };
  for (const auto& c : kCases) {
    const Shape shape = S(c.shape);
    EXPECT_EQ(ShapeUtil::ElementIsIntegral(shape), c.integral) << shape;
    EXPECT_EQ(ShapeUtil::ElementIsFloating(shape), c.floating) << shape;
    EXPECT_EQ(ShapeUtil::ElementIsComplex(shape), c.complex) << shape;
    EXPECT_EQ(ShapeUtil::ElementIsSigned(shape), c.is_signed) << shape;
    EXPECT_TRUE(ShapeUtil::ElementHasBitWidth(shape, c.bits)) << shape;
    EXPECT_FALSE(ShapeUtil::ElementHasBitWidth(shape, c.bits + 1)) << shape;
    EXPECT_EQ(ShapeUtil::ElementIsIntegralWithBits(shape, c.bits), c.integral) << shape;
  }
  EXPECT_FALSE(ShapeUtil::ElementHasBitWidth(S("()"), 0));
  EXPECT_FALSE(ShapeUtil::ElementIsIntegral(S("()")));
}

TEST(ShapeQueryTest, ElementCanUpcast) {
  EXPECT_TRUE(ShapeUtil::ElementCanUpcast(S("bf16[2]"), S("f32[2]")));
  EXPECT_TRUE(ShapeUtil::ElementCanUpcast(S("s8[]"), S("s32[]")));
  EXPECT_TRUE(ShapeUtil::ElementCanUpcast(S("f32[]"), S("f32[]")));
  EXPECT_FALSE(ShapeUtil::ElementCanUpcast(S("f32[]"), S("bf16[]")));
  EXPECT_FALSE(ShapeUtil::ElementCanUpcast(S("u8[]"), S("s32[]")));
  EXPECT_FALSE(ShapeUtil::ElementCanUpcast(S("s8[]"), S("f32[]")));
}

TEST(ShapeQueryTest, IsInitialized) {
  EXPECT_FALSE(ShapeUtil::IsInitialized(Shape()));
  EXPECT_TRUE(ShapeUtil::IsInitialized(S("f32[]")));
  EXPECT_TRUE(ShapeUtil::IsInitialized(S("()")));
  EXPECT_TRUE(ShapeUtil::IsInitialized(Shape(BUFFER)));
}

TEST(ShapeQueryTest, PhysicalOrder) {
  EXPECT_TRUE(ShapeUtil::LastDimIsMinorMost(S("f32[2,3]{1,0}")));
  EXPECT_TRUE(ShapeUtil::LastDimIsMinorMost(S("f32[2,3,4]{2,0,1}")));
  EXPECT_FALSE(ShapeUtil::LastDimIsMinorMost(S("f32[2,3]{0,1}")));
  EXPECT_TRUE(ShapeUtil::LastDimIsMinorMost(S("f32[2]")));

  const Shape shape = S("f32[1,1,16,1,279]{4,1,0,3,2}");  // from the major end: 2, 3, 0, 1, 4
  EXPECT_TRUE(ShapeUtil::IsEffectivelyMostMajorDimension(shape, 2));
  for (int64_t dimension : {0, 1, 3, 4}) {
    EXPECT_FALSE(ShapeUtil::IsEffectivelyMostMajorDimension(shape, dimension)) << dimension;
  }
  const Shape ones_first = S("f32[1,16,1,279]{1,3,0,2}");  // 2, 0, 3, 1
  for (int64_t dimension : {2, 0, 3}) {
    EXPECT_TRUE(ShapeUtil::IsEffectivelyMostMajorDimension(ones_first, dimension)) << dimension;
  }
  EXPECT_FALSE(ShapeUtil::IsEffectivelyMostMajorDimension(ones_first, 1));
}

TEST(ShapeQueryTest, PackedFactorFor1DInterleavedArray) {
  const auto factor = [](absl::string_view text) { return ShapeUtil::PackedFactorFor1DInterleavedArray(S(text)); };
  EXPECT_EQ(factor("bf16[1024]{0:T(1024)(128)(2,1)}").value(), 2);
  EXPECT_EQ(factor("s8[1024]{0:T(1024)(128)(4,1)}").value(), 4);
  for (const char* text : {"f32[8]", "f32[8]{0:T(1024)(128)}", "f32[8]{0:T(1024)(128)(4)}",
                           "f32[8,8]{1,0:T(8,128)(128)(4,1)}", "f32[8]{0:T(8)(8)(2,1)(1)}"}) {
    EXPECT_EQ(factor(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(ShapeQueryTest, DeviceAndHostShapes) {
  for (const char* attribute : {"T(2)", "L(2)", "E(8)", "S(1)", "M(64)"}) {
    const Shape shape = S(absl::StrCat("(f32[2,2]{0,1:", attribute, "}, token[])"));
    EXPECT_FALSE(ShapeUtil::DeviceShapeIsHostShape(shape)) << shape;
    EXPECT_EQ(Text(ShapeUtil::DeviceShapeToHostShape(shape)), "(f32[2,2]{0,1}, token[])");
  }
  EXPECT_TRUE(ShapeUtil::DeviceShapeIsHostShape(S("(f32[2,2]{0,1:SC(0:1)}, token[], ())"))) << "split configs stay";
  EXPECT_EQ(Text(ShapeUtil::DeviceShapeToHostShape(S("f32[2,2]{0,1:T(2)SC(0:1)}"))), "f32[2,2]{0,1:SC(0:1)}");
  EXPECT_TRUE(ShapeUtil::DeviceShapeIsHostShape(Shape(F32, {2})));
  Shape sparse = S("f32[2]");
  *sparse.mutable_layout()->mutable_physical_shape() = S("f32[1]");
  EXPECT_FALSE(ShapeUtil::DeviceShapeIsHostShape(sparse));
  EXPECT_EQ(Text(ShapeUtil::DeviceShapeToHostShape(sparse)), "f32[2]{0}");
}

TEST(ShapeQueryTest, Text) {
  const Shape shape = S("(f32[2,<=3,?]{0,1,2:T(2)}, token[])");
  EXPECT_EQ(ShapeUtil::HumanString(shape), "(f32[2,<=3,?], token[])");
  EXPECT_EQ(ShapeUtil::HumanStringWithLayout(shape), "(f32[2,<=3,?]{0,1,2:T(2)}, token[])");
  ProgramShape program;
  program.AddParameter(shape, "p");
  *program.mutable_result() = S("f32[]");
  EXPECT_EQ(ShapeUtil::HumanString(program), "(p: (f32[2,<=3,?], token[])) -> f32[]");

  StringPrinter printer;
  ShapeUtil::PrintHumanString(&printer, S("f32[2]"));
  ShapeUtil::PrintHumanStringWithLayout(&printer, S("f32[2]"));
  ShapeUtil::PrintHumanString(&printer, program);
  EXPECT_EQ(std::move(printer).ToString(), "f32[2]f32[2]{0}(p: (f32[2,<=3,?], token[])) -> f32[]");
}

}  // namespace
}  // namespace kashi::array
