// Tests the reader and the printer of HLO text against XLA. Each file of tests/data/hlo_text_cases is a text; beside it
// is the text that XLA prints (.expected), or a note that XLA refuses it or ends its process (.error).
#include "kashi/hlo/text/hlo_parser.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/attributes/window_util.h"
#include "kashi/hlo/verifier/hlo_verifier.h"

namespace kashi::hlo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

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

// For some modules XLA prints text that it does not read again, or reads differently (docs/spec/hlo.md 7.3).
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
// The TPU compiler prints such text for the sparse core; XLA's reader refuses it.
// XLA of JAX 0.11 writes `order` instead of `type`, and prints whether topk is stable.
TEST(HloParserTest, ReadsTheFormsOfNewerXla) {
  const auto root_of = [](absl::string_view type, absl::string_view root) -> std::string {
    const auto module = ParseAndReturnUnverifiedModule(
        absl::StrCat("HloModule m\nENTRY e { x = ", type, "[4] parameter(0)\n ROOT r = ", root, " }"));
    if (!module.ok()) return std::string(module.status().message());
    const std::string text = (*module)->entry_computation()->root_instruction()->ToString();
    return text.substr(text.find("), ") + 3);
  };
  const auto compare = [&](absl::string_view type, absl::string_view attributes) {
    return root_of(type, absl::StrCat("pred[4] compare(x, x), direction=LT", attributes));
  };
  EXPECT_EQ(compare("f32", ", order=TOTAL"), "direction=LT, type=TOTALORDER");
  EXPECT_EQ(compare("f32", ", order=PARTIAL"), "direction=LT");
  EXPECT_EQ(compare("s32", ", order=TOTAL"), "direction=LT");
  EXPECT_EQ(compare("u32", ", order=PARTIAL"), "direction=LT, type=FLOAT");
  EXPECT_THAT(compare("f32", ", order=TOTAL, type=FLOAT"), HasSubstr("expects either `type` or `order`"));
  EXPECT_THAT(compare("f32", ", type=FLOAT, order=TOTAL"), HasSubstr("expects either `type` or `order`"));
  EXPECT_THAT(compare("f32", ", order=STRONG"), HasSubstr("STRONG"));
  for (absl::string_view stable : {"", ", is_stable=true", ", is_stable=false"}) {
    const std::string attributes = absl::StrCat("k=2, largest=true", stable);
    EXPECT_EQ(root_of("f32", absl::StrCat("(f32[2], s32[2]) topk(x), ", attributes)), attributes);
  }
}

// XLA versions that were run do not have it; newer ones list it (docs/spec/hlo.md 2).
TEST(HloParserTest, ReadsAtan) {
  const auto module = ParseAndReturnUnverifiedModule(
      "HloModule m\nENTRY e { x = f32[4] parameter(0)\n ROOT r = atan(x), result_accuracy={mode=highest} }");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ((*module)->entry_computation()->root_instruction()->ToString(),
            "%r = f32[4]{0} atan(%x), result_accuracy={mode=highest}");
}

TEST(HloParserTest, ReadsTheShuffleOfNewerXla) {
  const auto shuffle = [](absl::string_view attributes) {
    const auto module = ParseAndReturnUnverifiedModule(
        absl::StrCat("HloModule m\nENTRY e { x = f32[4,3] parameter(0)\n ROOT r = shuffle(x)", attributes, " }"));
    if (!module.ok()) return std::string(module.status().message());
    return (*module)->entry_computation()->root_instruction()->ToString();
  };
  EXPECT_EQ(shuffle(", shifts={1,-7}, mode=rotate, dimensions={1,0}"),
            "%r = f32[4,3]{1,0} shuffle(%x), dimensions={1,0}, mode=rotate, shifts={1,-7}");
  EXPECT_THAT(shuffle(", dimensions={0}, mode=reverse, shifts={1}"), HasSubstr("Unknown shuffle mode: reverse"));
  EXPECT_THAT(shuffle(", dimensions={0}, mode=\"rotate\", shifts={1}"), HasSubstr("a shuffle mode"));
  EXPECT_THAT(shuffle(", dimensions={0}, shifts={1}"), HasSubstr("mode"));
  EXPECT_THAT(shuffle(", dimensions={0}, mode=rotate"), HasSubstr("shifts"));
  EXPECT_THAT(shuffle(", dimensions={2}, mode=rotate, shifts={1}"), HasSubstr("out-of-bounds"));
}

TEST(HloParserTest, KeepsAsyncUpdatesOfSeveralOperandsWithAWarning) {
  const std::string text = R"(HloModule m, is_scheduled=true, entry_computation_layout={(f32[2]{0})->f32[2]{0}}

%w (x: f32[2]) -> f32[2] {
  %x = f32[2]{0} parameter(0)
  %y = f32[2]{0} copy(%x)
  ROOT %z = f32[2]{0} negate(%y)
}, execution_thread="sparsecore"

ENTRY %e (a: f32[2]) -> f32[2] {
  %a = f32[2]{0} parameter(0)
  %s = ((f32[2]{0}), f32[2]{0}, u32[]) async-start(%a), async_execution_thread="sparsecore", calls=%w
  %u = ((f32[2]{0}), f32[2]{0}, u32[]) async-update(%s, %a), output_to_operand_aliasing={{2}: (0, {2})}
  ROOT %d = f32[2]{0} async-done(%u)
}
)";
  std::vector<Diagnostic> diagnostics;
  const auto module = ParseAndReturnUnverifiedModule(text, HloModuleConfig(), HloParserOptions(), &diagnostics);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(Trimmed((*module)->ToString()), Trimmed(text));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics[0].severity, Diagnostic::Severity::kWarning);
  EXPECT_THAT(diagnostics[0].message, HasSubstr("async-update expects 1 operand, but has 2"));
  const auto strict =
      ParseAndReturnUnverifiedModule(text, HloModuleConfig(), HloParserOptions().set_keep_unknown_attributes(false));
  EXPECT_THAT(std::string(strict.status().message()), HasSubstr("expects 1 operands, but has 2 operands"));
}

// The async-update brings the argument: until then the state has no argument and no result.
constexpr absl::string_view kLateArgument =
    R"(HloModule m, is_scheduled=true, entry_computation_layout={(f32[2]{0})->f32[2]{0}}

%w (x: f32[2]) -> f32[2] {
  %x = f32[2]{0} parameter(0)
  ROOT %z = f32[2]{0} negate(%x)
}, execution_thread="sparsecore"

ENTRY %e (a: f32[2]) -> f32[2] {
  %a = f32[2]{0} parameter(0)
  %s = ((), (), u32[]) async-start(), async_execution_thread="sparsecore", calls=%w
  %u = ((f32[2]{0}), f32[2]{0}, u32[]) async-update(%s, %a)
  ROOT %d = f32[2]{0} async-done(%u)
}
)";

TEST(HloParserTest, KeepsAsyncUpdatesThatBringArguments) {
  const auto module = ParseAndReturnUnverifiedModule(kLateArgument);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(Trimmed((*module)->ToString()), Trimmed(kLateArgument));
  EXPECT_THAT(VerifyHlo(**module), IsEmpty());
}

TEST(HloParserTest, VerifiesTheArgumentsThatAsyncUpdatesBring) {
  const std::string other =
      absl::StrReplaceAll(kLateArgument, {{"%u = ((f32[2]{0})", "%b = f32[] constant(1)\n  %u = ((f32[])"},
                                          {"async-update(%s, %a)", "async-update(%s, %b)"}});
  const auto module = ParseAndReturnUnverifiedModule(other);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_THAT(VerifyHlo(**module), Not(IsEmpty()));
}

// An error in one instruction does not hide an error in the next one, even if it is found late.
TEST(HloParserTest, GoesOnAtTheNextLine) {
  const auto status = ParseAndReturnUnverifiedModule(R"(HloModule m
ENTRY e {
  a = f32[2] parameter(0)
  t = ((f32[2]), f32[2]) async-update(a)
  b = f32[2] negate(a)
  ROOT c = f32[2] add(b, b)
})")
                          .status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("hlo:4:"));
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("instruction does not exist")));
}

TEST(HloParserTest, SaysWhatIsDefinedTwice) {
  EXPECT_THAT(std::string(ParseAndReturnUnverifiedModule("ENTRY e { a = f32[2] parameter(0)\n a = f32[2] parameter(1)"
                                                         "\n ROOT r = f32[2] negate(a) }")
                              .status()
                              .message()),
              HasSubstr("hlo:2:2: error: instruction already exists: a; instruction previously defined here: 1:11"));
  EXPECT_THAT(std::string(ParseAndReturnUnverifiedModule("ENTRY e { a = f32[2] parameter(0)\n a = f32[2] parameter(0)"
                                                         "\n ROOT r = f32[2] negate(a) }")
                              .status()
                              .message()),
              HasSubstr("hlo:2:23: error: Duplicate parameter number 0"));
}

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

// ---- Shapes that the text does not write, and that grow -------------------------------------------------------------

std::string ErrorOf(absl::string_view text) {
  const auto module = ParseAndReturnUnverifiedModule(text);
  return module.ok() ? "no error" : std::string(module.status().message());
}

// The entry computation; `lines` begin on line 2.
std::string Entry(absl::string_view lines) { return absl::StrCat("ENTRY e {\n", lines, "}\n"); }

// Repeats the text, with the number of the copy for # and the next number for @.
std::string Repeat(int count, absl::string_view text) {
  std::string all;
  for (int i = 0; i < count; ++i) {
    absl::StrAppend(&all, absl::StrReplaceAll(text, {{"#", absl::StrCat(i)}, {"@", absl::StrCat(i + 1)}}));
  }
  return all;
}

std::string List(int count, absl::string_view element) {
  return absl::StrJoin(std::vector<absl::string_view>(count, element), ",");
}

TEST(HloParserTest, RefusesShapesThatDouble) {
  // t16 and those before it have nearly 2^18 subshapes.
  EXPECT_THAT(ErrorOf(Entry("t0 = f32[] constant(1)\n" + Repeat(40, "t@ = tuple(t#, t#)\n"))),
              StartsWith("hlo:19:7: error: the shapes that the text leaves to be inferred have too many parts"));
  EXPECT_THAT(ErrorOf(Entry("t0 = tuple()\n" + Repeat(40, "t@ = tuple(t#, t#)\n"))), HasSubstr("too many parts"));
  EXPECT_THAT(
      ErrorOf(Entry("t0 = f32[] constant(1)\nt1 = tuple(" + List(10000, "t0") + ")\nt2 = tuple(" + List(10000, "t1") +
                    ")\n")),
      StartsWith("hlo:4:6: error: failed to infer shape for opcode: tuple, error: The shapes of operands and called "
                 "computations have more than "));
}

TEST(HloParserTest, RefusesShapesThatDoubleThroughCalls) {
  const std::string entry = Entry("r = s32[] constant(1)\n");
  const std::string call = "c@ {\n x = call(), to_apply=c#\n r = tuple(x, x)\n}\n";
  EXPECT_THAT(ErrorOf("c0 {\n r = s32[] constant(1)\n}\n" + Repeat(40, call) + entry), HasSubstr("too many parts"));
  const std::string branch =
      "c@ {\n p = s32[] parameter(0)\n x = conditional(p, p, p), branch_computations={c#, c#}\n r = tuple(x, x)\n}\n";
  EXPECT_THAT(ErrorOf("c0 {\n r = s32[] parameter(0)\n}\n" + Repeat(40, branch) + entry), HasSubstr("too many parts"));
  // Many branches that call the same large computation.
  const std::string large = "c {\n r = (" + List(20000, "s4[]") + ") parameter(0)\n}\n";
  const std::string many = "p = (" + List(20000, "s4[]") + ") parameter(0)\ni = s32[] constant(0)\n" +
                           "x = conditional(i," + List(1000, "p") + "), branch_computations={" + List(1000, "c") +
                           "}\n";
  EXPECT_THAT(ErrorOf(large + Entry(many)), HasSubstr("computations have more than"));
}

// One large shape, and many short lines that make another shape of it.
TEST(HloParserTest, RefusesManyUnwrittenShapes) {
  const std::string wide = "p = ((" + List(25000, "s4[]") + "), s4[]) parameter(0)\n" + "start = token[] after-all()\n";
  for (const char* line : {
           "x# = copy(p)\n",
           "x# = tuple(p)\n",
           "x# = get-tuple-element(p), index=0\n",
           // One shape is written, but another one is inferred.
           "x# = token[] add-dependency(p, start), sharding={replicated}\n",
           "x# = token[] outfeed(p, start)\n",
           "x# = (s4[], u32[], token[]) send(p, start), channel_id=1\n",
           "x# = (s4[], token[]) recv-done(p), channel_id=1\n",
           "x# = ((s4[]), s4[], u32[]) custom-call-start(p), custom_call_target=\"f\"\n",
       }) {
    EXPECT_THAT(ErrorOf(Entry(wide + Repeat(20, line))), HasSubstr("too many parts")) << line;
    EXPECT_EQ(ErrorOf(Entry(wide + Repeat(2, line))), "no error") << line;
  }
}

TEST(HloParserTest, RefusesShapesThatGrowTooDeep) {
  const std::string open(6000, '('), close(6000, ')');
  const std::string deep = "t0 = " + open + close + " parameter(0)\nstart = token[] after-all()\n";
  EXPECT_EQ(ErrorOf(Entry(deep + "t1 = copy(t0)\n")), "no error");
  EXPECT_THAT(ErrorOf(Entry(deep + "t1 = tuple(t0)\n")), StartsWith("hlo:4:6: error: tuples nest more than 6000 deep"));
  EXPECT_THAT(ErrorOf(Entry(deep + "t1 = (s4[], u32[], token[]) send(t0, start), channel_id=1\n")),
              StartsWith("hlo:4:29: error: tuples nest more than 6000 deep"));
}

// Large shapes, but no larger than the text.
TEST(HloParserTest, InfersLargeShapesOfLargeTexts) {
  const std::string state = "p = (" + List(1000, "f32[]") + ") parameter(0)\n";
  const std::string elements = Repeat(1000, "g# = get-tuple-element(p), index=#\n");
  std::string names = "g0";
  for (int i = 1; i < 1000; ++i) absl::StrAppend(&names, ", g", i);
  const auto module = ParseAndReturnUnverifiedModule(
      Entry(state + elements + Repeat(200, "t# = tuple(" + names + ")\nsame# = copy(t#)\n")));
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(ShapeUtil::GetLeafCount((*module)->entry_computation()->root_instruction()->shape()), 1000);
}

// Modules in a recovery table share the limits of the text.
TEST(HloParserTest, RecoveryModulesShareTheLimits) {
  const std::string doubling = "ENTRY e { t0 = s4[] constant(1) " + Repeat(14, "t@ = tuple(t#, t#) ") + "}";
  const std::string entry = "{\"a\"} : {\"b\"}, \"" + doubling + "\",";
  const auto text = [&](int count) {
    return "HloModule m, origin_recovery_table={\n" + Repeat(count, entry + "\n") + "}\n" +
           Entry("a = s4[] parameter(0)\n");
  };
  EXPECT_EQ(ErrorOf(text(2)), "no error");
  EXPECT_THAT(ErrorOf(text(20)), HasSubstr("in the recovery module: the shapes that the text leaves to be inferred"));
}

// ---- Parts of modules -----------------------------------------------------------------------------------------------

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
}  // namespace kashi::hlo
