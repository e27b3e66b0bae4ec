#include "kashi/literal/literal_parser.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/recorded_cases_testing.h"
#include "kashi/array/shape_parser.h"
#include "kashi/array/shape_testing.h"

namespace kashi::literal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<Literal> Parse(absl::string_view shape, absl::string_view text) {
  return ParseLiteral(text, array::S(shape));
}

// "{1, 2}", or the error's first line.
std::string Reprint(absl::string_view shape, absl::string_view text) {
  const absl::StatusOr<Literal> literal = Parse(shape, text);
  if (literal.ok()) return literal->ToStringWithoutShapeOneline();
  const std::string message(literal.status().message());
  return message.substr(0, message.find('\n'));
}

// The expected result of the HLO reader for `shape constant(literal)`: the reprint, or the place of the first error.
struct Constant {
  std::string reprint;
  size_t error_at = 0;
};
Constant ReadConstant(absl::string_view text) {
  array::Lexer lexer(text);
  std::vector<Diagnostic> diagnostics;
  const std::optional<Shape> shape = ParseShapePrefix(&lexer, ShapeParserOptions(), &diagnostics);
  if (!shape.has_value() || !lexer.AtIdent("constant")) return {"", lexer.token().begin};
  lexer.Next();
  lexer.Match(array::Token::Kind::kLeftParen);
  const std::optional<Literal> literal = ParseLiteralPrefix(&lexer, *shape, LiteralParserOptions(), &diagnostics);
  if (!literal.has_value()) return {"", diagnostics.back().begin};
  if (!lexer.Match(array::Token::Kind::kRightParen)) return {"", lexer.token().begin};
  return {absl::StrCat(literal->shape().ToString(/*print_layout=*/true), " constant(",
                       literal->ToStringWithoutShapeOneline(), ")"),
          0};
}

TEST(LiteralParserTest, XlasVerdicts) {
  for (const auto& row : array::ReadTestData("literal_cases.tsv")) {
    const std::string& text = row[0];
    const Constant constant = ReadConstant(text);
    if (row[1] == "abort" && absl::StartsWith(text, "f6")) continue;  // XLA cannot print them; we can
    if (row[1] != "ok") {
      EXPECT_EQ(constant.reprint, "") << text;
      continue;
    }
    // XLA makes up elements for `...`; ours are zeros.
    if (!absl::StrContains(text, "...")) {
      EXPECT_EQ(constant.reprint, row[2].substr(0, row[2].find(", metadata"))) << text;
    } else {
      EXPECT_NE(constant.reprint, "") << text;
    }
  }
}

TEST(LiteralParserTest, ErrorsAreWhereXlasAre) {
  // Except for these: a part of a complex number is marked, not its parenthesis; of a number with invalid further text,
  // only that text; of a shape that no constant has, the value.
  const std::set<std::string> elsewhere = {"c64[] constant((1e39, 0))", "c64[] constant((nan(0x800000),1))",
                                           "c64[] constant((1,1e39))",  "c64[] constant((nan,1e39))",
                                           "f32[2] constant({1x2})",    "s32[] constant(0x10)",
                                           "f32[2] constant(1 2)",      "s32[?] constant({1})"};
  for (const auto& row : array::ReadTestData("literal_cases.tsv")) {
    if (row[1] != "error" || row[3].empty() || elsewhere.count(row[0]) > 0) continue;
    EXPECT_EQ(std::to_string(ReadConstant(row[0]).error_at), row[3]) << row[0];
  }
}

TEST(LiteralParserTest, Reprints) {
  EXPECT_EQ(Reprint("s32[2,2]", "{{1 2},,{3,4,},}"), "{ { 1, 2 }, { 3, 4 } }");
  EXPECT_EQ(Reprint("f32[4]", "{1-2-nan-inf}"), "{1, -2, -nan, -inf}");
  EXPECT_EQ(Reprint("f32[2]", "{/*a*/1//b\n2}"), "{1, 2}");
  EXPECT_EQ(Reprint("f6e2m3fn[2]", "{1.5, -7.5}"), "{1.5, -7.5}");
}

TEST(LiteralParserTest, ElementsLieAsTheLayoutSays) {
  const absl::StatusOr<Literal> literal = Parse("s32[2,3]{0,1}", "{{1,2,3},{4,5,6}}");
  EXPECT_THAT(literal->data<int32_t>(), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_EQ(literal->ToStringWithoutShapeOneline(), "{ { 1, 2, 3 }, { 4, 5, 6 } }");
}

TEST(LiteralParserTest, ShapesOfConstants) {
  EXPECT_EQ(Parse("(b(s4[2]{0:E(4)}),f32[<=1,1]{0,1:T(8,128)})", "({1,2},{{3}})")->shape(),
            array::S("(s4[2]{0},f32[1,1]{0,1:T(8,128)})"));
  EXPECT_THAT(Reprint("f32[?]", "{1}"), HasSubstr("needs a size in every dimension"));
  EXPECT_THAT(Reprint("(s32[],token[])", "(1,())"), HasSubstr("array or a tuple of arrays"));
  EXPECT_THAT(Reprint("s32[2]{1}", "{1,2}"), HasSubstr("literal:1:1: error: "));
}

// Messages contain the terms of XLA's reader.
TEST(LiteralParserTest, MessagesTellWhatWasExpected) {
  const std::pair<std::pair<absl::string_view, absl::string_view>, absl::string_view> cases[] = {
      {{"f16[]", "65520"},
       "1:1: error: value 65520 is out of range for literal's primitive type F16 namely [-65504, 65504]"},
      {{"s4[2]", "{1,8}"}, "1:4: error: value 8 is out of range for literal's primitive type S4 namely [-8, 7]"},
      {{"f64[]", "1e400"},
       "1:1: error: Constant is out of range for double (+/-1.79769e+308) and so is unparsable: `1e400`"},
      {{"s32[2,2]", "{{1,2},{3}}"}, "1:10: error: expects 2 elements in the [1]th element, but sees 1"},
      {{"s32[2,2]", "{{1,2}}"}, "1:7: error: expects 2 elements in the []th element, but sees 1"},
      {{"s32[1,1]", "{{1},{2}}"}, "1:6: error: expects 1 element in the []th element, but sees more"},
      {{"s32[2]", "{1,2,3}"},
       "1:6: error: expects 2 elements on the minor-most dimension, but sees more, in the []th element"},
      {{"s32[2,2]", "{1,2,3,4}"},
       "1:2: error: expects nested array in rank 2, but sees 1: elements stand in one brace for each dimension"},
      {{"s32[2]", "{{1}}"},
       "1:2: error: expects nested array in rank 1, but sees larger: elements stand in one brace for each dimension"},
      {{"f32[0]", "1"},
       "1:1: error: expects nested array in rank 1, but sees 0: elements stand in one brace for each dimension"},
      {{"s32[2,2]", "{{...}}"}, "1:3: error: expects `...` at nest level 1, but sees it at nest level 2"},
      {{"f32[]", "}"}, "1:1: error: unexpected '}' token: expected a literal"},
      {{"f32[]", "true"}, "1:1: error: F32 is not PRED type: a boolean is not an element of f32"},
      {{"s32[]", "1.5"}, "1:1: error: expects integer for primitive type: S32, got `1.5`"},
      {{"f32[2]", "{1,abc}"}, "1:4: error: unexpected token type in a literal: expected a number, got `abc`"},
      {{"pred[]", "yes"}, "1:1: error: unexpected token type in a literal: expected true or false, got `yes`"},
      {{"f32[2]", "{(1,2)}"}, "1:2: error: unexpected '(' in literal. Parens are only valid for complex literals"},
      {{"bf16[]", "nan(0x80)"},
       "1:1: error: tries to set NaN payload 0x80 to a literal of bf16, but the NaN payload is out of range (0x7f)"},
      {{"f8e4m3fn[]", "nan(0x1)"},
       "1:1: error: tries to set NaN payload 0x1 to a literal of f8e4m3fn, but f8e4m3fn does not support payloads"},
      {{"s64[]", "18446744073709551616"},
       "1:1: error: unexpected token type in a literal: `18446744073709551616` does not fit in 64 bits"},
      {{"c64[]", "1"},
       "1:1: error: unsupported primitive type C64 of a real number: expected `(` to begin a complex one, got `1`"},
      {{"c64[]", "(1 2)"}, "1:4: error: expect comma after real part of complex literal, got `2`"},
      {{"c64[]", "(1,2"}, "1:5: error: expect ')' after complex number, got end of text"},
      {{"c64[]", "(x,2)"}, "1:2: error: expect floating-point value for real part of complex number, got `x`"},
      {{"c64[]", "(1,1e39)"},
       "1:4: error: imaginary part 1e39 is out of range for literal's primitive type C64, namely [-3.40282e+38, "
       "3.40282e+38]"},
      {{"(f32[])", "1"}, "1:1: error: expects '(' in front of tuple elements, got `1`"},
      {{"(f32[])", "(1,2)"}, "1:3: error: expects ')' at the end of the tuple with 1 element, got `,`"},
      {{"f32[1]", "{"}, "1:2: error: unexpected token type in a literal: expected a number, got end of text"},
  };
  for (const auto& [input, message] : cases) {
    EXPECT_EQ(Reprint(input.first, input.second), absl::StrCat("literal:", message));
  }
  EXPECT_EQ(Reprint("f32[]", "1 2"), "literal:1:3: error: unexpected `2` after the literal");
}

TEST(LiteralParserTest, UnlistedElementsAreZeros) {
  EXPECT_EQ(Reprint("f32[2,2]", "{...}"), "{ { 0, 0 }, { 0, 0 } }");
  EXPECT_EQ(Reprint("f32[3]", "{1,2,...}"), "{0, 0, 0}");
  EXPECT_EQ(Reprint("f32[1000,1000]", "5").substr(0, 20), "{ { 5, 0, 0, 0, 0, 0");
  EXPECT_EQ(Reprint("pred[2]", "{...}"), "{0, 0}");
}

TEST(LiteralParserTest, SaysWhetherElementsAreElided) {
  const auto is_elided = [](absl::string_view text, absl::string_view shape) {
    array::Lexer lexer(text);
    bool elided = false;
    LiteralParserOptions options;
    options.is_elided = &elided;
    std::vector<Diagnostic> diagnostics;
    EXPECT_TRUE(ParseLiteralPrefix(&lexer, ParseShape(shape).value(), options, &diagnostics).has_value()) << text;
    return elided;
  };
  EXPECT_TRUE(is_elided("{...}", "f32[2,2]"));
  EXPECT_TRUE(is_elided("{1,2,...}", "f32[3]"));
  EXPECT_TRUE(is_elided("(1,{...})", "(s8[],f32[3])"));
  EXPECT_FALSE(is_elided("{1,2}", "f32[2]"));
  EXPECT_FALSE(is_elided("7", "f32[2]"));
  EXPECT_FALSE(is_elided("{...}", "f32[0]"));
}

TEST(LiteralParserTest, UnlistedElementsHaveABudget) {
  EXPECT_THAT(Reprint("f32[1000000000]", "{...}"), HasSubstr("needs 4000000000 bytes"));
  EXPECT_THAT(Reprint("f32[1000000000000,1000000000000]", "7"), HasSubstr("not listed"));
  EXPECT_THAT(Reprint("f32[1000000000000,0]", "{...}"), HasSubstr("not listed"));
  EXPECT_EQ(Reprint("f32[0,1000000000000]", "{...}"), "{  }");

  int64_t budget = 20;
  LiteralParserOptions options;
  options.unlisted_bytes = &budget;
  std::vector<Diagnostic> diagnostics;
  array::Lexer lexer("({...},{1,2},{...},{...})");
  EXPECT_FALSE(
      ParseLiteralPrefix(&lexer, array::S("(s32[2],s32[2],s32[2],s32[2])"), options, &diagnostics).has_value());
  EXPECT_EQ(budget, 4);
  EXPECT_EQ(diagnostics.back().begin, 19);
}

TEST(LiteralParserTest, ClaimedSizesTakeNoMemory) {
  EXPECT_EQ(Reprint("f32[1000000000000]", "{1}"),
            "literal:1:3: error: expects 1,000,000,000,000 elements in the []th element, but sees 1");
  EXPECT_THAT(Reprint("(f32[1000000],f32[100000000000])", "({1},{})"), HasSubstr("expects 1,000,000 elements"));
}

TEST(LiteralParserTest, DeepTuplesAndManyDimensions) {
  const int depth = 3000;
  std::string shape = "s32[]";
  std::string text = "7";
  for (int i = 0; i < depth; ++i) {
    shape = absl::StrCat("(", shape, ")");
    text = absl::StrCat("(", text, ")");
  }
  EXPECT_EQ(absl::StrReplaceAll(Reprint(shape, text), {{" ", ""}}), text);

  std::string ones = "1";
  std::string braces = "{7}";
  for (int i = 1; i < depth; ++i) {
    ones += ",1";
    braces = absl::StrCat("{", braces, "}");
  }
  EXPECT_TRUE(Parse(absl::StrCat("s32[", ones, "]"), braces).ok());
}

TEST(LiteralParserTest, PrefixEndsBehindTheLiteral) {
  array::Lexer lexer("{1, 2 }), metadata={}");
  std::vector<Diagnostic> diagnostics;
  EXPECT_TRUE(ParseLiteralPrefix(&lexer, array::S("s32[2]"), LiteralParserOptions(), &diagnostics).has_value());
  EXPECT_EQ(lexer.kind(), array::Token::Kind::kRightParen);
  EXPECT_EQ(lexer.previous_end(), 7);
}

// A run of plain numbers is read past the lexer: it must end where the lexer's tokens end.
TEST(LiteralParserTest, RunsOfPlainNumbersAgreeWithSingleOnes) {
  const std::vector<std::string> numbers = {"0",
                                            "-0",
                                            "1",
                                            "-7",
                                            "007",
                                            "999999999999999999",
                                            "9223372036854775807",
                                            "18446744073709551615",
                                            "1.",
                                            "-.5",
                                            "1e5",
                                            "1.e2",
                                            "2E-3",
                                            "1e",
                                            "1.5e+",
                                            "1e400",
                                            "1e-400",
                                            "-1e-400",
                                            "0x1",
                                            "1x",
                                            "1_2",
                                            "--1",
                                            "-",
                                            "+1",
                                            "1.5.5",
                                            "0.1234567890123456789012345",
                                            "65520",
                                            "3.5e38",
                                            "128"};
  for (const char* type : {"s8", "s64", "u64", "u4", "pred", "f64", "f32", "f16", "f8e8m0fnu", "f4e2m1fn"}) {
    for (const std::string& number : numbers) {
      // A comment makes no difference to the lexer; without it, the number is part of a run.
      const std::string run = Reprint(absl::StrCat(type, "[2]"), absl::StrCat("{1,", number, "}"));
      const std::string single = Reprint(absl::StrCat(type, "[]"), number);
      if (absl::StartsWith(single, "literal:")) {
        EXPECT_THAT(run, HasSubstr("literal:")) << type << " " << number;
      } else if (type != std::string("pred")) {
        EXPECT_EQ(run, absl::StrCat("{1, ", single, "}")) << type << " " << number;
      }
    }
  }
}

}  // namespace
}  // namespace kashi::literal
