#include "kashi/editor/document.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::editor {
namespace {

constexpr char kText[] = R"(HloModule m

sum {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

ENTRY main {
  x = f32[2,3] parameter(0)
  zero = f32[] constant(0)
  rows = f32[2] reduce(x, zero), dimensions={1}, to_apply=sum, metadata={op_name="jit(f)/rows" source_file="f.py" source_line=7}
  ROOT out = f32[2] negate(rows)
}
)";

std::vector<HloFinding> Verify(const HloModule& module) { return VerifyHlo(module); }

Document Open(absl::string_view text) { return Document("m.hlo", std::string(text), Verify); }

size_t At(const Document& document, absl::string_view what, size_t behind = 0) {
  const size_t found = document.text().find(what.data(), 0, what.size());
  EXPECT_NE(found, std::string::npos) << what;
  return found + behind;
}

// The text with all of `places` replaced.
std::string Replaced(std::string text, std::vector<TextRange> places, const std::string& by) {
  std::reverse(places.begin(), places.end());
  for (const TextRange& place : places) text.replace(place.begin, place.end - place.begin, by);
  return text;
}

std::vector<std::string> Texts(const std::vector<Completion>& completions) {
  std::vector<std::string> texts;
  for (const Completion& completion : completions) texts.push_back(completion.text);
  return texts;
}

TEST(DocumentTest, ValidTextHasNoDiagnostics) {
  const Document document = Open(kText);
  EXPECT_TRUE(document.diagnostics().empty());
  EXPECT_NE(document.module(), nullptr);
}

TEST(DocumentTest, ErrorsOfTheReaderAndTheVerifierHavePlaces) {
  const Document unread = Open("HloModule m\nENTRY e {\n  ROOT a = f32[2] nonsense(b)\n}\n");
  ASSERT_FALSE(unread.diagnostics().empty());
  EXPECT_EQ(unread.positions().PositionOf(unread.diagnostics()[0].begin).line, 2);
  std::string text = kText;
  text.replace(text.find("f32[2] negate"), 6, "f32[4]");
  const Document invalid = Open(text);
  ASSERT_FALSE(invalid.diagnostics().empty());
  EXPECT_EQ(invalid.diagnostics()[0].begin, At(invalid, "out ="));
  EXPECT_TRUE(absl::StrContains(invalid.diagnostics()[0].message, "[result shape]"));
}

TEST(DocumentTest, HoverTellsShapeAndUse) {
  const Document document = Open(kText);
  const auto hover = document.HoverAt(At(document, "negate(rows", 8));
  ASSERT_TRUE(hover.has_value());
  EXPECT_EQ(document.index().TextOf(hover->range), "rows");
  for (const char* part : {"reduce(", "1 user", "jit(f)/rows", "f.py:7", "4 bytes per element"}) {
    EXPECT_TRUE(absl::StrContains(hover->markdown, part)) << part << "\n" << hover->markdown;
  }
}

TEST(DocumentTest, HoverOnOpcodesShapesAndComputations) {
  const Document document = Open(kText);
  EXPECT_TRUE(absl::StrContains(document.HoverAt(At(document, "reduce("))->markdown, "**reduce**"));
  EXPECT_TRUE(absl::StrContains(document.HoverAt(At(document, "f32[2,3]"))->markdown, "24 bytes"));
  EXPECT_TRUE(absl::StrContains(document.HoverAt(At(document, "to_apply=sum", 9))->markdown, "3 instructions"));
  EXPECT_FALSE(document.HoverAt(0).has_value());
}

TEST(DocumentTest, HoverShowsShapesWithoutAModule) {
  const Document document = Open("ENTRY e {\n  a = bf16[8,128] parameter(0)\n  b = bf16[8,128] add(a, \n");
  EXPECT_EQ(document.module(), nullptr);
  EXPECT_TRUE(absl::StrContains(document.HoverAt(At(document, "bf16[8,128] add"))->markdown, "bf16"));
  EXPECT_TRUE(absl::StrContains(document.HoverAt(At(document, "add(a", 4))->markdown, "parameter(0)"));
}

TEST(DocumentTest, RenamedTextIsTheSameProgram) {
  const Document document = Open(kText);
  for (const char* what : {"x = f32[] ", "x = f32[2,3]", "zero =", "rows =", "sum {", "main {"}) {
    const auto places = document.Rename(At(document, what), "renamed");
    ASSERT_TRUE(places.ok()) << places.status();
    const std::string text = Replaced(document.text(), *places, "renamed");
    const auto module = ParseAndReturnUnverifiedModule(text);
    ASSERT_TRUE(module.ok()) << module.status() << text;
    EXPECT_EQ((*module)->ToString(HloPrintOptions::Fingerprint()),
              document.module()->ToString(HloPrintOptions::Fingerprint()));
    // And back.
    const Document renamed = Open(text);
    const absl::string_view old = document.index().TextOf(*document.DefinitionAt(At(document, what)));
    const auto back = renamed.Rename((*places)[0].begin, old);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(Replaced(text, *back, std::string(old)), document.text());
  }
}

TEST(DocumentTest, RefusesNamesThatAreTakenOrNone) {
  const Document document = Open(kText);
  const size_t zero = At(document, "zero =");
  EXPECT_TRUE(document.Rename(zero, "z").ok());  // of another computation
  EXPECT_TRUE(document.Rename(zero, "%one").ok());
  for (const char* name : {"rows", "", "%", "1", "a b", "a,b", "-a"}) EXPECT_FALSE(document.Rename(zero, name).ok());
  EXPECT_FALSE(document.Rename(At(document, "sum {"), "main").ok());
  EXPECT_FALSE(document.Rename(0, "a").ok());
}

TEST(DocumentTest, OutlineHasComputationsWithInstructions) {
  const std::vector<OutlineItem> outline = Open(kText).Outline();
  ASSERT_EQ(outline.size(), 2);
  EXPECT_EQ(outline[1].name, "main");
  EXPECT_EQ(outline[1].detail, "ENTRY, 4 instructions");
  ASSERT_EQ(outline[1].children.size(), 4);
  EXPECT_EQ(outline[1].children[3].detail, "f32[2] negate, root");
  for (const OutlineItem& item : outline) {
    EXPECT_LE(item.whole.begin, item.selection.begin);
    EXPECT_GE(item.whole.end, item.selection.end);
  }
}

TEST(DocumentTest, CompletesWhatFits) {
  const std::string begin = "ENTRY e {\n  first = f32[2] parameter(0)\n  second = f32[2] ";
  const auto complete = [&](absl::string_view line) {
    const std::string text = absl::StrCat(begin, line);
    return Texts(Open(text).CompletionsAt(text.size()));
  };
  EXPECT_EQ(complete("negat"), std::vector<std::string>{"negate"});
  EXPECT_EQ(complete("add(fi"), std::vector<std::string>{"first"});
  EXPECT_EQ(complete("add(first, %f"), std::vector<std::string>{"first"});
  EXPECT_EQ(complete("iota(), iota_d"), std::vector<std::string>{"iota_dimension="});
  EXPECT_TRUE(complete("add(zzz").empty());
  const Document document = Open(kText);
  EXPECT_EQ(Texts(document.CompletionsAt(At(document, "to_apply=sum", 10))), std::vector<std::string>{"sum"});
}

}  // namespace
}  // namespace kashi::editor
