#include "kashi/array/lexer.h"

#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kashi::array {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using Kind = Token::Kind;

std::vector<std::pair<Kind, std::string>> Tokens(absl::string_view text) {
  std::vector<std::pair<Kind, std::string>> tokens;
  for (Lexer lexer(text); lexer.kind() != Kind::kEnd; lexer.Next()) {
    tokens.emplace_back(lexer.kind(), std::string(lexer.token_text()));
    if (lexer.kind() == Kind::kError) break;
  }
  return tokens;
}

TEST(LexerTest, SingleTokens) {
  EXPECT_THAT(Tokens(",:*#+~?[]{}()->"),
              ElementsAre(Pair(Kind::kComma, ","), Pair(Kind::kColon, ":"), Pair(Kind::kStar, "*"),
                          Pair(Kind::kHash, "#"), Pair(Kind::kPlus, "+"), Pair(Kind::kTilde, "~"),
                          Pair(Kind::kQuestion, "?"), Pair(Kind::kLeftSquare, "["), Pair(Kind::kRightSquare, "]"),
                          Pair(Kind::kLeftBrace, "{"), Pair(Kind::kRightBrace, "}"), Pair(Kind::kLeftParen, "("),
                          Pair(Kind::kRightParen, ")"), Pair(Kind::kArrow, "->")));
}

TEST(LexerTest, LessEqualIsOneToken) {
  EXPECT_THAT(Tokens("<=4"), ElementsAre(Pair(Kind::kLessEqual, "<="), Pair(Kind::kInt, "4")));
  EXPECT_THAT(Tokens("< =4"), ElementsAre(Pair(Kind::kError, "<")));
}

TEST(LexerTest, IdentifiersNamesAndAttributeNames) {
  EXPECT_THAT(Tokens("add.1-x_2 _a T: dims={"),
              ElementsAre(Pair(Kind::kIdent, "add.1-x_2"), Pair(Kind::kIdent, "_a"), Pair(Kind::kName, "T:"),
                          Pair(Kind::kAttributeName, "dims="), Pair(Kind::kLeftBrace, "{")));
  EXPECT_THAT(Tokens("T :"), ElementsAre(Pair(Kind::kIdent, "T"), Pair(Kind::kColon, ":")));
}

TEST(LexerTest, Numbers) {
  EXPECT_THAT(Tokens("007 -0 2.5 .5 -.5 1e5 2E 3."), ElementsAre(Pair(Kind::kInt, "007"), Pair(Kind::kInt, "-0"),
                                                                 Pair(Kind::kDecimal, "2.5"), Pair(Kind::kError, ".")));
  EXPECT_THAT(Tokens("-.5 1e5 1e+5 3. 2E"),
              ElementsAre(Pair(Kind::kDecimal, "-.5"), Pair(Kind::kDecimal, "1e5"), Pair(Kind::kDecimal, "1e+5"),
                          Pair(Kind::kDecimal, "3."), Pair(Kind::kInt, "2"), Pair(Kind::kIdent, "E")));
  EXPECT_THAT(Tokens("-"), ElementsAre(Pair(Kind::kError, "-")));
  EXPECT_THAT(Tokens("-."), ElementsAre(Pair(Kind::kError, "-")));
}

TEST(LexerTest, IntegersAreReadAsXlaReadsThem) {
  EXPECT_EQ(Lexer("9223372036854775807").token().int_value, std::numeric_limits<int64_t>::max());
  EXPECT_FALSE(Lexer("9223372036854775807").token().wrapped);
  EXPECT_EQ(Lexer("9223372036854775808").token().int_value, std::numeric_limits<int64_t>::min());
  EXPECT_TRUE(Lexer("9223372036854775808").token().wrapped);
  EXPECT_EQ(Lexer("18446744073709551615").token().int_value, -1);
  EXPECT_EQ(Lexer("-9223372036854775808").token().int_value, std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Lexer("18446744073709551616").kind(), Kind::kError);
  EXPECT_EQ(Lexer("-9223372036854775809").kind(), Kind::kError);
}

TEST(LexerTest, NonFiniteNumbers) {
  EXPECT_THAT(
      Tokens("-inf -nan inf nan nan(0x1f)-nan(0xA)"),
      ElementsAre(Pair(Kind::kNonFinite, "-inf"), Pair(Kind::kNonFinite, "-nan"), Pair(Kind::kIdent, "inf"),
                  Pair(Kind::kIdent, "nan"), Pair(Kind::kNonFinite, "nan(0x1f)"), Pair(Kind::kNonFinite, "-nan(0xA)")));
  EXPECT_THAT(Tokens("-infinf"), ElementsAre(Pair(Kind::kNonFinite, "-inf"), Pair(Kind::kIdent, "inf")));
  EXPECT_THAT(Tokens("nan:"), ElementsAre(Pair(Kind::kName, "nan:")));
  EXPECT_THAT(Tokens("anan("), ElementsAre(Pair(Kind::kIdent, "anan"), Pair(Kind::kLeftParen, "(")));
  EXPECT_EQ(Lexer("nan(0xfffffffffffff)").kind(), Kind::kNonFinite);
  for (const char* text : {"nan(", "nan()", "nan(1)", "nan(0x)", "nan(0x0)", "nan(0X1)", "nan(0x1", "nan(0x1 )",
                           "-nan(0x10000000000000)", "nan(0xfffffffffffffffff)"}) {
    EXPECT_EQ(Lexer(text).kind(), Kind::kError) << text;
  }
}

TEST(LexerTest, Dots) {
  EXPECT_THAT(Tokens("{...}"),
              ElementsAre(Pair(Kind::kLeftBrace, "{"), Pair(Kind::kDots, "..."), Pair(Kind::kRightBrace, "}")));
  EXPECT_THAT(Tokens(".."), ElementsAre(Pair(Kind::kError, ".")));
}

TEST(LexerTest, Strings) {
  EXPECT_THAT(Tokens(R"("a\"b" 'c"d' "")"), ElementsAre(Pair(Kind::kString, R"("a\"b")"),
                                                        Pair(Kind::kString, R"('c"d')"), Pair(Kind::kString, R"("")")));
  EXPECT_EQ(Lexer("\"a").kind(), Kind::kError);
  EXPECT_EQ(Lexer(R"("a\")").kind(), Kind::kError);
  EXPECT_EQ(Lexer(R"("a\)").kind(), Kind::kError);
  EXPECT_EQ(UnescapeString(R"("a\n\"\x41\303\251'")"), "a\n\"A\303\251'");
  EXPECT_EQ(UnescapeString("''"), "");
  EXPECT_EQ(UnescapeString(R"("\q")"), std::nullopt);
}

TEST(LexerTest, MoveTo) {
  Lexer lexer("1, 2, 3");
  lexer.MoveTo(4);
  EXPECT_EQ(lexer.kind(), Kind::kComma);
  EXPECT_EQ(lexer.previous_end(), 4);
}

TEST(LexerTest, SpaceAndComments) {
  EXPECT_THAT(Tokens(" \t\r\n/* a /* b */2//x\n3//"), ElementsAre(Pair(Kind::kInt, "2"), Pair(Kind::kInt, "3")));
  EXPECT_THAT(Tokens("2/**/"), ElementsAre(Pair(Kind::kInt, "2")));
  EXPECT_THAT(Tokens("2/* no end"), ElementsAre(Pair(Kind::kInt, "2"), Pair(Kind::kError, "/* no end")));
  EXPECT_THAT(Tokens("/"), ElementsAre(Pair(Kind::kError, "/")));
  EXPECT_THAT(Tokens(std::string("\0", 1)), ElementsAre(Pair(Kind::kError, std::string("\0", 1))));
  EXPECT_THAT(Tokens("\xc3\xa9"), ElementsAre(Pair(Kind::kError, "\xc3")));
}

}  // namespace
}  // namespace kashi::array
