#include "kashi/literal/literal_text.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_testing.h"
#include "kashi/literal/literal_parser.h"

namespace kashi::literal {
namespace {

Literal LiteralOf(absl::string_view shape, absl::string_view text) {
  return ParseLiteral(text, ParseShape(shape).value()).value();
}

TEST(LiteralTextTest, Scalars) {
  EXPECT_EQ(LiteralOf("f32[]", "1.5").ToString(), "f32[] 1.5");
  EXPECT_EQ(LiteralOf("pred[]", "true").ToString(), "pred[] true");
  EXPECT_EQ(LiteralOf("c64[]", "(1,-2)").ToString(), "c64[] (1, -2)");
}

TEST(LiteralTextTest, RowsAndNestedBraces) {
  EXPECT_EQ(LiteralOf("s32[3]", "{1,2,3}").ToString(), "s32[3] {1, 2, 3}");
  EXPECT_EQ(LiteralOf("pred[2]", "{true,false}").ToString(), "pred[2] {1, 0}");
  EXPECT_EQ(LiteralOf("f32[2,2]", "{{1,2},{3,4}}").ToString(), "f32[2,2] {\n  { 1, 2 },\n  { 3, 4 }\n}");
  EXPECT_EQ(LiteralOf("s32[2,1,2]", "{{{1,2}},{{3,4}}}").ToString(),
            "s32[2,1,2] {\n{\n  { 1, 2 }\n},\n{\n  { 3, 4 }\n}\n}");
  EXPECT_EQ(LiteralOf("s32[1,2,1,2]", "{{{{1,2}},{{3,4}}}}").ToString(),
            "s32[1,2,1,2] {\n{ /*i0=0*/\n{ /*i1=0*/\n  { 1, 2 }\n},\n{ /*i1=1*/\n  { 3, 4 }\n}\n}\n}");
  EXPECT_EQ(LiteralOf("s32[1,2,1,2]", "{{{{1,2}},{{3,4}}}}").ToStringOneline(),
            "s32[1,2,1,2] { { /*i0=0*/ { /*i1=0*/ { 1, 2 } }, { /*i1=1*/ { 3, 4 } } } }");
}

TEST(LiteralTextTest, LengthsOneAndZero) {
  EXPECT_EQ(LiteralOf("s32[2,1]", "{{1},{2}}").ToStringWithoutShapeOneline(), "{ {1}, {2} }");
  EXPECT_EQ(LiteralOf("s32[0]", "{}").ToStringWithoutShapeOneline(), "{}");
  EXPECT_EQ(LiteralOf("s32[2,0]", "{{},{}}").ToStringWithoutShapeOneline(), "{ {}, {} }");
  EXPECT_EQ(LiteralOf("s32[0,3]", "{}").ToStringWithoutShapeOneline(), "{  }");
  EXPECT_EQ(LiteralOf("s32[1,0,2,2]", "{{}}").ToStringWithoutShapeOneline(), "{ { /*i0=0*/ } }");
}

TEST(LiteralTextTest, Tuples) {
  const Literal literal = LiteralOf("(s32[2],(),(f32[]))", "({1,2},(),(3))");
  EXPECT_EQ(literal.ToString(), "(\ns32[2] {1, 2},\n(\n\n),\n(\nf32[] 3\n)\n)");
  EXPECT_EQ(literal.ToStringOneline(), "( s32[2] {1, 2}, (  ), ( f32[] 3 ) )");
  EXPECT_EQ(literal.ToStringWithoutShape(), "(\n{1, 2},\n(\n\n),\n(\n3\n)\n)");
  EXPECT_EQ(literal.ToStringWithoutShapeOneline(), "( {1, 2}, (  ), ( 3 ) )");
  EXPECT_EQ(LiteralSlice(literal, {0}).ToString(), "s32[2] {1, 2}");
  EXPECT_EQ(Literal().ToStringOneline(), "(  )");
}

TEST(LiteralTextTest, Layouts) {
  const Literal literal = LiteralOf("s32[2,2]{0,1:T(8,128)}", "{{1,2},{3,4}}");
  EXPECT_EQ(literal.ToStringWithLayoutOneline(), "s32[2,2]{0,1:T(8,128)} { { 1, 2 }, { 3, 4 } }");
  EXPECT_EQ(literal.ToStringWithLayout(), "s32[2,2]{0,1:T(8,128)} {\n  { 1, 2 },\n  { 3, 4 }\n}");
  EXPECT_EQ(literal.ToStringOneline(), "s32[2,2] { { 1, 2 }, { 3, 4 } }");
}

TEST(LiteralTextTest, DynamicLiteralsShowTheirCurrentSizes) {
  Literal literal(ParseShape("s32[<=2,3]").value());
  literal.PopulateWithValue<int32_t>(7);
  literal.SetDynamicSize(0, 1);
  EXPECT_EQ(literal.ToStringOneline(), "s32[<=2,3](1,3) { { 7, 7, 7 } }");
  EXPECT_EQ(literal.ToStringWithoutShapeOneline(), "{ { 7, 7, 7 } }");
}

TEST(LiteralTextTest, LeavesWithoutElements) {
  const Shape shape = ParseShape("(f32[2],token[])").value();
  EXPECT_EQ(Literal::CreateFromShapeWithUnknownLeafArrays(shape).ToStringOneline(), "( f32[2] unknown, token )");
  EXPECT_EQ(Literal::CreateFromShapeWithUndeterminedLeafArrays(shape).ToStringOneline(),
            "( f32[2] undetermined, token )");
}

TEST(LiteralTextTest, GetAsString) {
  const Literal literal = LiteralOf("(pred[1],f16[2])", "({1},{0.1,-nan})");
  EXPECT_EQ(literal.GetAsString({0}, {0}), "true");
  EXPECT_EQ(literal.GetAsString({0}, {1}), "0.099976");
  EXPECT_EQ(literal.GetAsString({1}, {1}), "-nan");
}

TEST(LiteralTextTest, TextLongerThanTheBufferIsComplete) {
  std::string text = "{0";
  for (int i = 1; i < 10000; ++i) absl::StrAppend(&text, ", ", i);
  text += "}";
  std::string appended = "constant(";
  AppendLiteralValue(LiteralOf("s32[10000]", text), &appended);
  EXPECT_EQ(appended, "constant(" + text);
}

TEST(LiteralTextTest, DeepTuples) {
  EXPECT_EQ(Literal(array::InTuples(array::S("()"), 3000)).ToStringOneline().size(), 3001 * 4);
}

}  // namespace
}  // namespace kashi::literal
