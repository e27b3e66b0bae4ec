#include "kashi/analysis/padding_report.h"

#include <string>

#include "gtest/gtest.h"
#include "kashi/analysis/analysis_testing.h"
#include "kashi/array/device_size.h"
#include "kashi/array/shape_parser.h"

namespace kashi::analysis {
namespace {

constexpr char kFamous[] = R"(
HloModule m, is_scheduled=true
ENTRY e {
  a = f32[256,512,128,2]{2,3,1,0:T(2,128)} parameter(0)
  b = f32[256,512,128,2]{3,2,1,0:T(8,128)} copy(a)
  c = f32[256,512,128,2]{3,2,1,0:T(8,128)} negate(b)
  ROOT r = f32[256,512,128,2]{2,3,1,0:T(2,128)} copy(c)
}
)";

TEST(PaddingReportTest, NamesTheWorstAndBringsItBack) {
  const auto module = ReadModule(kFamous);
  const MemoryAnalysis memory = Analyze(*module, "v5e");
  EXPECT_EQ(memory.default_space().temp_bytes, int64_t{16} << 30);
  const std::vector<PaddingEntry> ranking = RankPadding(memory, 10);
  ASSERT_EQ(ranking.size(), 1);
  EXPECT_EQ(ranking[0].bytes, int64_t{8} << 30);
  EXPECT_EQ(ranking[0].bytes / ranking[0].unpadded_bytes, 64);
  EXPECT_EQ(ranking[0].buffers.size(), 2);
  ASSERT_FALSE(ranking[0].suggestions.empty());
  for (const PaddingSuggestion& suggestion : ranking[0].suggestions) {
    EXPECT_EQ(GetDeviceSize(suggestion.shape)->bytes, suggestion.bytes) << PaddingSuggestionText(suggestion);
  }
  EXPECT_EQ(ranking[0].suggestions[0].bytes, int64_t{128} << 20);
}

TEST(PaddingReportTest, MergedDimensions) {
  const Shape shape = ParseShape("f32[64,128,2]{2,1,0:T(8,128)}").value();
  bool found = false;
  for (const PaddingSuggestion& suggestion : SuggestLessPadding(shape, *ParseMemoryTarget("v5e"))) {
    if (suggestion.kind != PaddingSuggestion::Kind::kMergedDimensions) continue;
    found = true;
    EXPECT_EQ(suggestion.shape.ToString(/*print_layout=*/true), "f32[64,256]{1,0:T(8,128)}");
    EXPECT_EQ(suggestion.bytes, 64 * 256 * 4);
    EXPECT_EQ(PaddingSuggestionText(suggestion), "dimensions 1 and 2 as one");
  }
  EXPECT_TRUE(found);
}

std::string TypeSuggestion(const char* text, const char* target) {
  const Shape shape = ParseShape(text).value();
  const std::vector<PaddingSuggestion> suggestions = SuggestLessPadding(shape, *ParseMemoryTarget(target));
  for (const PaddingSuggestion& suggestion : suggestions) {
    EXPECT_LT(suggestion.bytes, GetDeviceSize(shape)->bytes);
    EXPECT_EQ(suggestion.bytes, GetDeviceSize(suggestion.shape)->bytes);
    if (suggestion.kind != PaddingSuggestion::Kind::kElementType) continue;
    EXPECT_EQ(&suggestion, &suggestions.back());
    return PaddingSuggestionText(suggestion) + ": " + suggestion.shape.ToString(/*print_layout=*/true);
  }
  return "";
}

TEST(PaddingReportTest, AnotherTypesTile) {
  EXPECT_EQ(TypeSuggestion("f32[100,100]{1,0:T(8,128)}", "v5e"),
            "bf16, if its precision is enough: bf16[100,100]{1,0:T(8,128)(2,1)}");
  EXPECT_EQ(TypeSuggestion("s8[100,100]{0,1:T(8,128)(4,1)S(1)}", "v5e"),
            "s4, if its range is enough: s4[100,100]{0,1:T(8,128)(8,1)E(4)S(1)}");
  // Two rows share a word: the tile of the narrower type has twice as many, and takes as much.
  EXPECT_EQ(TypeSuggestion("f32[1,100]{1,0:T(1,128)}", "v5e"), "");
  EXPECT_EQ(TypeSuggestion("s8[100,100]{1,0:T(8,128)(4,1)}", "v3"), "");
  EXPECT_EQ(TypeSuggestion("pred[3,3]{1,0:T(8,128)(4,1)}", "v5e"), "");
}

TEST(PaddingReportTest, NothingToSayAboutHostsAndFullTiles) {
  EXPECT_TRUE(SuggestLessPadding(ParseShape("f32[3,5]{1,0}").value(), MemoryTarget()).empty());
  EXPECT_TRUE(SuggestLessPadding(ParseShape("f32[8,128]{1,0:T(8,128)}").value(), *ParseMemoryTarget("v5e")).empty());
}

}  // namespace
}  // namespace kashi::analysis
