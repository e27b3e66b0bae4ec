#include "kashi/query/text_search.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "kashi/query/submodule_testing.h"

namespace kashi::query {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> Matches(const ModuleText& text, absl::string_view pattern) {
  std::vector<std::string> matches;
  text.Find(RegularExpression::Compile(pattern).value(), [&](const TextMatch& match) {
    matches.push_back(absl::StrCat(match.line, " ", match.computation ? match.computation->name() : "-", " ",
                                   match.instruction ? match.instruction->name() : "-", " ",
                                   match.text.substr(match.begin, match.end - match.begin)));
    return true;
  });
  return matches;
}

constexpr char kText[] = R"(HloModule m
add { x = f32[] parameter(0)  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y) }

ENTRY main {
  a = f32[2,2] parameter(0)
  c = f32[2,2] constant({
    {1, 2},
    {3, 4}})
  ROOT d = f32[2,2] add(a, c)
}
)";

TEST(ModuleTextTest, LinesBelongToInstructions) {
  const std::unique_ptr<HloModule> module = ReadModule(kText);
  const ModuleText text = ModuleText::ReadFrom(*module, kText);
  EXPECT_THAT(Matches(text, "parameter\\(0\\)"), ElementsAre("2 add x parameter(0)", "6 main a parameter(0)"));
  EXPECT_THAT(Matches(text, "parameter\\(1\\)"), ElementsAre("2 add y parameter(1)"));
  EXPECT_THAT(Matches(text, "3, 4"), ElementsAre("9 main c 3, 4"));
  EXPECT_THAT(Matches(text, "^  ROOT"), ElementsAre("3 add s   ROOT", "10 main d   ROOT"));
  EXPECT_THAT(Matches(text, "ROOT s"), ElementsAre("3 add s ROOT s"));
  EXPECT_THAT(Matches(text, "ENTRY"), ElementsAre("5 main - ENTRY"));
  EXPECT_THAT(Matches(text, "HloModule"), ElementsAre("1 - - HloModule"));
  EXPECT_THAT(Matches(text, "^}"), ElementsAre("11 - - }"));
  EXPECT_THAT(Matches(text, "^$"), ElementsAre("4 add s ", "12 - - "));
}

TEST(ModuleTextTest, PrintedTextHasTheSameInstructions) {
  const std::unique_ptr<HloModule> module = ReadModule(kText);
  const ModuleText text = ModuleText::PrintOf(*module);
  EXPECT_THAT(Matches(text, "add\\(%a"), ElementsAre("12 main d add(%a"));
  EXPECT_THAT(Matches(text, "ENTRY %main"), ElementsAre("9 main - ENTRY %main"));
  EXPECT_THAT(Matches(text, "HloModule m"), ElementsAre("1 - - HloModule m"));
  EXPECT_THAT(Matches(text, "^}"), ElementsAre("7 - - }", "13 - - }"));
}

TEST(ModuleTextTest, StopsWhenTold) {
  const std::unique_ptr<HloModule> module = ReadModule(kText);
  int visits = 0;
  ModuleText::ReadFrom(*module, kText).Find(RegularExpression::Compile(".").value(), [&](const TextMatch&) {
    return ++visits < 2;
  });
  EXPECT_EQ(visits, 2);
}

// Printed text, read again, has each instruction in the line where the search found it.
TEST(ModuleTextLawTest, PrintedAndReadTextAgree) {
  for (const std::string& path : CorpusPaths(/*most_bytes=*/30'000)) {
    const std::unique_ptr<HloModule> module = ReadModule(ReadTestFile(path));
    const std::string printed = module->ToString();
    const std::unique_ptr<HloModule> again = ReadModule(printed);
    constexpr char kInstructions[] = "^  (ROOT )?%[^ ]+ =";
    const auto matches = Matches(ModuleText::PrintOf(*module), kInstructions);
    EXPECT_EQ(matches, Matches(ModuleText::ReadFrom(*again, printed), kInstructions)) << path;
    // The computations of asynchronous operations may be printed as a part of these.
    EXPECT_LE(matches.size(), module->instruction_count()) << path;
    EXPECT_GE(matches.size(), module->entry_computation()->instruction_count()) << path;
    for (const std::string& match : matches) EXPECT_THAT(match, Not(HasSubstr(" - "))) << path;
  }
}

}  // namespace
}  // namespace kashi::query
