// The reader and the printer of HLO text against XLA: each file of tests/data/hlo_text_cases is a text, and beside it is
// what XLA prints of it (.expected) or that XLA refuses it or ends its process (.error).
#include "kashi/hlo/hlo_parser.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/window_util.h"

namespace kashi {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::filesystem::path> Cases() {
  std::vector<std::filesystem::path> cases;
  for (const auto& entry : std::filesystem::directory_iterator(KASHI_TEST_DATA "/hlo_text_cases")) {
    if (entry.path().extension() == ".hlo") cases.push_back(entry.path());
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

std::string Trimmed(absl::string_view text) { return std::string(absl::StripTrailingAsciiWhitespace(text)); }

HloPrintOptions Lossless() { return HloPrintOptions().set_print_large_constants(true); }

TEST(HloParserTest, AgreesWithXla) {
  const std::vector<std::filesystem::path> cases = Cases();
  ASSERT_GE(cases.size(), 300u);
  for (const std::filesystem::path& path : cases) {
    SCOPED_TRACE(path.filename().string());
    const auto module = ParseAndReturnUnverifiedModule(Read(path));
    const std::filesystem::path expected = std::filesystem::path(path).replace_extension(".expected");
    if (std::filesystem::exists(expected)) {
      ASSERT_TRUE(module.ok()) << module.status();
      EXPECT_EQ(Trimmed((*module)->ToString()), Trimmed(Read(expected)));
    } else {
      ASSERT_TRUE(absl::IsInvalidArgument(module.status()));
      // hlo:LINE:COLUMN: error: …
      EXPECT_THAT(std::string(module.status().message()), testing::MatchesRegex("hlo:[0-9]+:[0-9]+: error: (.|\n)*"));
    }
  }
}

// Of some texts XLA prints what it does not read again, or reads as something else (docs/spec/hlo.md 7.3).
TEST(HloParserTest, ReadsWhatItPrints) {
  const std::vector<std::string> exceptions = {"async-aliasing",         "async-line-order",
                                               "async-statistics-twice", "edge-async-calls-wrong-arity",
                                               "edge-async-start-start", "lit-neg-zero"};
  for (const std::filesystem::path& path : Cases()) {
    const auto module = ParseAndReturnUnverifiedModule(Read(path));
    if (!module.ok() || std::count(exceptions.begin(), exceptions.end(), path.stem().string()) > 0) continue;
    SCOPED_TRACE(path.filename().string());
    const std::string text = (*module)->ToString(Lossless());
    const auto again = ParseAndReturnUnverifiedModule(text);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ((*again)->ToString(Lossless()), text);
  }
}

TEST(HloParserTest, KeepsUnknownAttributesWithAWarning) {
  const std::string text = "ENTRY e { ROOT p = f32[] parameter(0), newer={a={1},b=\"}\"} }";
  std::vector<Diagnostic> diagnostics;
  const auto module = ParseAndReturnUnverifiedModule(text, HloModuleConfig(), HloParserOptions(), &diagnostics);
  ASSERT_TRUE(module.ok()) << module.status();
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics[0].severity, Diagnostic::Severity::kWarning);
  EXPECT_THAT((*module)->ToString(), HasSubstr("parameter(0), newer={a={1},b=\"}\"}"));
  EXPECT_FALSE(
      ParseAndReturnUnverifiedModule(text, HloModuleConfig(), HloParserOptions().set_keep_unknown_attributes(false))
          .ok());
}

// An operand that XLA leaves out is left out, but not in silence.
TEST(HloParserTest, WarnsOfOperandsLeftOut) {
  std::vector<Diagnostic> diagnostics;
  const auto module =
      ParseAndReturnUnverifiedModule("ENTRY e { t = token[] parameter(0) ROOT r = tuple(t, negate(t)) }",
                                     HloModuleConfig(), HloParserOptions(), &diagnostics);
  ASSERT_TRUE(module.ok()) << module.status();
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics[0].severity, Diagnostic::Severity::kWarning);
  EXPECT_THAT((*module)->ToString(), HasSubstr("ROOT %r = (token[]) tuple(%t)\n"));
}

TEST(HloParserTest, NamesTheSource) {
  const auto module =
      ParseAndReturnUnverifiedModule("HloModule m\n?", HloModuleConfig(), HloParserOptions().set_source_name("x.hlo"));
  EXPECT_THAT(std::string(module.status().message()), testing::StartsWith("x.hlo:2:1: error: "));
}

TEST(HloParserTest, Window) {
  const auto window = ParseWindow("size=3x2 stride=2x1 pad=1_1x0_-1");
  ASSERT_TRUE(window.ok()) << window.status();
  EXPECT_EQ(window_util::ToString(*window), "size=3x2 stride=2x1 pad=1_1x0_-1");
  EXPECT_FALSE(ParseWindow("size=3x2 stride=2").ok());
  EXPECT_FALSE(ParseWindow("size=3x2 sighs=2x2").ok());
}

TEST(HloParserTest, ConvolutionDimensionNumbers) {
  const auto numbers = ParseConvolutionDimensionNumbers("b0f_0io->b0f");
  ASSERT_TRUE(numbers.ok()) << numbers.status();
  EXPECT_EQ(numbers->input_feature_dimension(), 2);
  EXPECT_FALSE(ParseConvolutionDimensionNumbers("b0f_0io").ok());
}

TEST(HloParserTest, PaddingConfig) {
  const auto padding = ParsePaddingConfig("0_1x2_3_4");
  ASSERT_TRUE(padding.ok()) << padding.status();
  ASSERT_EQ(padding->dimensions_size(), 2);
  EXPECT_EQ(padding->dimensions(1).interior_padding(), 4);
  EXPECT_FALSE(ParsePaddingConfig("0_1x").ok());
}

TEST(HloParserTest, ShapeList) {
  const auto shapes = ParseShapeList(" {f32[2]{0}, (s32[], token[])} ");
  ASSERT_TRUE(shapes.ok()) << shapes.status();
  ASSERT_EQ(shapes->size(), 2u);
  EXPECT_EQ(ShapeUtil::HumanString((*shapes)[1]), "(s32[], token[])");
  EXPECT_TRUE(ParseShapeList("{}").value().empty());
  EXPECT_FALSE(ParseShapeList("{f32[2]} x").ok());
  EXPECT_EQ(ParseShapeList("f32[2], s32[]").value().size(), 2u);  // braces may be left out
}

TEST(HloParserTest, FrontendAttributes) {
  const auto attributes = ParseFrontendAttributes("{b=\"1\\n\",a={\"k\": [1]}}");
  ASSERT_TRUE(attributes.ok()) << attributes.status();
  EXPECT_EQ(attributes->map().at("b"), "1\n");
  EXPECT_EQ(attributes->map().at("a"), "{\"k\": [1]}");
  EXPECT_TRUE(ParseFrontendAttributes("{}").ok());
  EXPECT_FALSE(ParseFrontendAttributes("{a=1}").ok());
  EXPECT_FALSE(ParseFrontendAttributes("{a=\"1\"").ok());
}

TEST(HloParserTest, StatisticsViz) {
  const auto statistics = ParseStatisticsViz("{visualizing_index=1,a=10,b=-2.5}");
  ASSERT_TRUE(statistics.ok()) << statistics.status();
  EXPECT_EQ(statistics->stat_index_to_visualize(), 1);
  ASSERT_EQ(statistics->statistics().size(), 2u);
  EXPECT_EQ(statistics->statistics()[1].stat_val(), -2.5);
  EXPECT_FALSE(ParseStatisticsViz("{visualizing_index=0,a=inf}").ok());
  EXPECT_FALSE(ParseStatisticsViz("{visualizing_index=0,}").ok());
}

TEST(HloParserTest, ParameterReplication) {
  EXPECT_THAT(ParseParameterReplication("{true, false}").value(), ElementsAre(true, false));
  EXPECT_TRUE(ParseParameterReplication("{}").value().empty());
  EXPECT_FALSE(ParseParameterReplication("{1}").ok());
  EXPECT_FALSE(ParseParameterReplication("{true,}").ok());
}

}  // namespace
}  // namespace kashi
