#include "kashi/query/regular_expression.h"

#include <chrono>
#include <random>
#include <regex>
#include <string>

#include "gmock/gmock.h"

namespace kashi::query {
namespace {

using ::testing::HasSubstr;

TEST(RegularExpressionTest, FindsTheLeftmostFit) {
  const auto pattern = RegularExpression::Compile("a+");
  ASSERT_TRUE(pattern.ok());
  EXPECT_EQ(pattern->Find("xaaya", 0), std::make_pair(size_t{1}, size_t{3}));
  EXPECT_EQ(pattern->Find("xaaya", 3), std::make_pair(size_t{4}, size_t{5}));
  EXPECT_EQ(pattern->Find("xaaya", 5), std::nullopt);
  EXPECT_FALSE(pattern->Finds(""));
}

TEST(RegularExpressionTest, Options) {
  EXPECT_TRUE(RegularExpression::Compile("A", {/*ignore_case=*/true})->Finds("bab"));
  EXPECT_FALSE(RegularExpression::Compile("A")->Finds("bab"));
  EXPECT_TRUE(RegularExpression::Compile("f32[8]", {false, /*is_literal=*/true})->Finds("x = f32[8]{0}"));
  EXPECT_FALSE(RegularExpression::Compile("f32[8]", {false, /*is_literal=*/true})->Finds("f328"));
}

TEST(RegularExpressionTest, EscapedTextFitsItself) {
  const std::string text = "a.b\\[{(*+?|^$\"')}]\n\xc3\xa4";
  const auto pattern = RegularExpression::Compile(RegularExpression::Escaped(text));
  ASSERT_TRUE(pattern.ok()) << pattern.status();
  EXPECT_EQ(pattern->Find(text, 0), std::make_pair(size_t{0}, text.size()));
  EXPECT_FALSE(pattern->Finds("aXb"));
}

TEST(RegularExpressionTest, ErrorsSayWhatIsWrong) {
  EXPECT_THAT(RegularExpression::Compile("a(").status().message(), HasSubstr("missing )"));
  EXPECT_THAT(RegularExpression::Compile("(?:(?:a{1000}){1000}){1000}").status().message(), HasSubstr("wrong"));
}

// A search that backtracks would take longer than the universe.
TEST(RegularExpressionTest, TakesLinearTime) {
  const auto pattern = RegularExpression::Compile("(a|a)*(a|a)*(a|a)*b$");
  ASSERT_TRUE(pattern.ok());
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(pattern->Finds(std::string(100'000, 'a')));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

// Small random patterns mean what they mean in the standard library.
TEST(RegularExpressionTest, AgreesWithTheStandardLibrary) {
  std::mt19937 random(7);
  const auto text = [&](const std::string& letters, size_t length) {
    std::string made;
    for (size_t i = 0; i < length; ++i) made += letters[random() % letters.size()];
    return made;
  };
  int compared = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string pattern = text("ab.|()*+?", 1 + random() % 6);
    std::regex standard;
    try {
      standard = std::regex(pattern, std::regex::ECMAScript);
    } catch (const std::regex_error&) {
      continue;
    }
    const auto ours = RegularExpression::Compile(pattern);
    if (!ours.ok()) continue;  // such as `a**`
    const std::string subject = text("abc", random() % 8);
    EXPECT_EQ(ours->Finds(subject), std::regex_search(subject, standard)) << pattern << " in " << subject;
    ++compared;
  }
  EXPECT_GT(compared, 500);
}

}  // namespace
}  // namespace kashi::query
