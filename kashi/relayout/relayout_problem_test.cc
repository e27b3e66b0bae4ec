#include "kashi/relayout/relayout_problem.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kashi::relayout {
namespace {

using ::testing::HasSubstr;

std::string SideText(const RelayoutSide& side) {
  const std::string shape = side.shape.ToString(/*print_layout=*/true);
  if (!side.is_part) return shape;
  return absl::StrCat("[", absl::StrJoin(side.starts, ","), " + ", absl::StrJoin(side.sizes, ","), "] of ", shape);
}

// "name|from|to", or the first error as "begin-end: message".
std::string Read(absl::string_view line, bool strict = false) {
  std::vector<Diagnostic> diagnostics;
  const std::optional<RelayoutProblem> problem = ParseRelayoutProblem(line, strict, &diagnostics);
  if (problem.has_value()) {
    return absl::StrCat(problem->name, "|", SideText(problem->from), "|", SideText(problem->to));
  }
  EXPECT_FALSE(diagnostics.empty()) << line;
  if (diagnostics.empty()) return "";
  for (const Diagnostic& diagnostic : diagnostics) {
    EXPECT_LE(diagnostic.begin, diagnostic.end) << line;
    EXPECT_LE(diagnostic.end, line.size()) << line;
  }
  return absl::StrCat(diagnostics[0].begin, "-", diagnostics[0].end, ": ", diagnostics[0].message);
}

TEST(RelayoutProblemTest, TwoShapes) {
  EXPECT_EQ(Read("f32[3,5] -> f32[3,5]{1,0:T(2,2)}"), "|f32[3,5]|f32[3,5]{1,0:T(2,2)}");
  EXPECT_EQ(Read("f32[3]->bf16[3]"), "|f32[3]|bf16[3]");
  EXPECT_EQ(Read(" s4[8]{0:E(4)} -> s4[8] \r"), "|s4[8]{0:E(4)}|s4[8]");
  EXPECT_EQ(Read("f32[] -> f32[]"), "|f32[]|f32[]");
}

TEST(RelayoutProblemTest, ALayoutAloneIsThatOfTheSameArray) {
  EXPECT_EQ(Read("bf16[3,5]{0,1} -> {1,0:T(8,128)(2,1)}"), "|bf16[3,5]{0,1}|bf16[3,5]{1,0:T(8,128)(2,1)}");
  EXPECT_EQ(Read("[1:3,:] of f32[4,5] -> {0,1}"), "|[1,0 + 2,5] of f32[4,5]|f32[2,5]{0,1}");
  EXPECT_EQ(Read("f32[] -> {}"), "|f32[]|f32[]");
  EXPECT_THAT(Read("f32[] -> {} 1"), HasSubstr("expected nothing more"));
  EXPECT_THAT(Read("f32[1] -> {}"), HasSubstr("10-"));
}

TEST(RelayoutProblemTest, Names) {
  EXPECT_EQ(Read("a/b-2.x: f32[3] -> f32[3]"), "a/b-2.x|f32[3]|f32[3]");
  EXPECT_EQ(Read("f32: f32[3] -> f32[3]"), "f32|f32[3]|f32[3]");
  EXPECT_THAT(Read("a b: f32[3] -> f32[3]"), HasSubstr("0-1: "));
}

TEST(RelayoutProblemTest, RangesAsInPython) {
  EXPECT_EQ(Read("[1:, :2, :, 3:3] of s8[4,4,4,4] -> s8[3,2,4,0]"), "|[1,0,0,3 + 3,2,4,0] of s8[4,4,4,4]|s8[3,2,4,0]");
  EXPECT_EQ(Read("f32[] -> [] of f32[]"), "|f32[]|[ + ] of f32[]");
}

TEST(RelayoutProblemTest, CommentsBeginALineOrFollowWhiteSpace) {
  EXPECT_EQ(WithoutComment("# all"), "");
  EXPECT_EQ(WithoutComment("a # b # c"), "a ");
  EXPECT_EQ(WithoutComment("f32[8]{0:D(D)#(u32)} # c"), "f32[8]{0:D(D)#(u32)} ");
  EXPECT_EQ(Read("f32[3] -> {0}  # identity"), "|f32[3]|f32[3]{0}");
}

TEST(RelayoutProblemTest, ErrorsHaveTheirPlace) {
  EXPECT_EQ(Read("f32[3]"), "6-6: expected `->` and the other side");
  EXPECT_THAT(Read("f33[3] -> {0}"), HasSubstr("0-3: "));
  EXPECT_THAT(Read("f32[3] -> {x}"), HasSubstr("10-"));
  EXPECT_THAT(Read("f32[3] -> {0:T(-1)}"), HasSubstr("15-17: "));
  EXPECT_THAT(Read("{0} -> f32[3]"), HasSubstr("0-1: a layout alone"));
  EXPECT_THAT(Read("(f32[3]) -> f32[3]"), HasSubstr("0-8: only arrays"));
  EXPECT_THAT(Read("f32[<=3] -> f32[3]"), HasSubstr("0-8: sizes must be known"));
  EXPECT_EQ(Read("[2:1] of f32[3] -> f32[3]"), "1-4: 2:1 is no range in dimension 0, which has size 3");
  EXPECT_EQ(Read("[0:4] of f32[3] -> f32[3]"), "1-4: 0:4 is no range in dimension 0, which has size 3");
  EXPECT_THAT(Read("[0:1] of f32[3,3] -> f32[3]"), HasSubstr("1 ranges for an array of rank 2"));
  EXPECT_THAT(Read("[1] of f32[3] -> f32[3]"), HasSubstr("expected a range"));
  EXPECT_THAT(Read("[-1:] of f32[3] -> f32[3]"), HasSubstr("from 0 up"));
  EXPECT_THAT(Read("[0:1] f32[3] -> f32[3]"), HasSubstr("expected `of`"));
  EXPECT_THAT(Read("f32[3] f32[3] -> f32[3]"), HasSubstr("7-10: expected nothing more"));
  EXPECT_THAT(Read("f32[3]{0:T(2} -> f32[3]", /*strict=*/true), HasSubstr("expected `)`"));
}

TEST(RelayoutProblemTest, ToPlacement) {
  std::vector<Diagnostic> diagnostics;
  const auto problem = ParseRelayoutProblem("[1:3,:] of f32[4,5] -> {0,1}", /*strict=*/false, &diagnostics);
  ASSERT_TRUE(problem.has_value());
  EXPECT_EQ(problem->from.ToPlacement()->ToString(), "[1:3, 0:5] of f32[4,5]{1,0}");
  EXPECT_EQ(problem->to.ToPlacement()->ToString(), "f32[2,5]{0,1}");
}

// No text ends the process, and every failure has a place.
TEST(RelayoutProblemTest, AnyText) {
  std::minstd_rand engine(1);
  const std::string alphabet = "f32s[],{}0:T()-> of#<=?ab*\"/\\\n1";
  for (int i = 0; i < 20000; ++i) {
    std::string line = i % 2 == 0 ? "" : "n: [1:3,:] of f32[4,5]{1,0:T(2,2)} -> {0,1:E(32)} # c";
    for (int edits = engine() % 12; edits >= 0; --edits) {
      line.insert(engine() % (line.size() + 1), 1, alphabet[engine() % alphabet.size()]);
      if (line.size() > 3 && i % 2 == 1) line.erase(engine() % line.size(), 1);
    }
    Read(line, i % 3 == 0);
  }
}

}  // namespace
}  // namespace kashi::relayout
