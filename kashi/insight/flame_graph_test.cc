#include "kashi/insight/flame_graph.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/draw/layout_figure_testing.h"

namespace kashi::insight {
namespace {

using testing::HasSubstr;
using testing::Not;

FlameGraphOptions Options() {
  FlameGraphOptions options;
  options.title = "module m";
  options.subtitle = "flops by scope";
  options.value_text = [](double value) { return absl::StrCat(value, " flop"); };
  return options;
}

int Count(const std::string& text, absl::string_view part) {
  int count = 0;
  for (size_t at = text.find(std::string(part)); at != std::string::npos; at = text.find(std::string(part), at + 1))
    ++count;
  return count;
}

TEST(FlameGraphTest, BoxesAreAsWideAsTheirShare) {
  Breakdown breakdown({"flops"});
  breakdown.Add({"layer_0", "attention"}, {75});
  breakdown.Add({"layer_0"}, {5});
  breakdown.Add({"layer_1"}, {20});
  breakdown.Sort(0);
  const std::string svg = FlameGraphSvg(breakdown, Options());
  draw::ExpectWellFormed(svg);
  EXPECT_EQ(Count(svg, "<rect class=\"box"), 4);
  EXPECT_THAT(svg, HasSubstr("<rect class=\"box total\" x=\"10.00\" y=\"62\" width=\"1180.00\""));
  EXPECT_THAT(svg, HasSubstr("<title>layer_0/attention\n75 flop, 75 %</title><rect class=\"box c1\" x=\"10.00\" "
                             "y=\"106\" width=\"885.00\""));
  EXPECT_THAT(
      svg,
      HasSubstr("<title>layer_1\n20 flop, 20 %</title><rect class=\"box c0\" x=\"954.00\" y=\"84\" width=\"236.00\""));
  EXPECT_THAT(svg, HasSubstr("module m"));
  EXPECT_THAT(svg, HasSubstr("flops by scope"));
  EXPECT_THAT(svg, Not(HasSubstr("narrower")));
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
}

TEST(FlameGraphTest, NarrowBoxesAreCounted) {
  Breakdown breakdown({"flops"});
  breakdown.Add({"wide"}, {1e6});
  breakdown.Add({"narrow"}, {1});
  breakdown.Add({"other"}, {1});
  breakdown.Sort(0);
  const std::string svg = FlameGraphSvg(breakdown, Options());
  EXPECT_EQ(Count(svg, "<rect class=\"box"), 2);
  EXPECT_THAT(svg, HasSubstr("2 boxes narrower than half a pixel are not drawn."));
}

TEST(FlameGraphTest, NothingAtAll) {
  const std::string svg = FlameGraphSvg(Breakdown({"flops"}), Options());
  draw::ExpectWellFormed(svg);
  EXPECT_EQ(Count(svg, "<rect class=\"box"), 1);
}

TEST(FlameGraphTest, HostileNames) {
  Breakdown breakdown({"flops"});
  breakdown.Add({"</title><script>alert(1)</script>", "\"'&\x01\xff"}, {1});
  breakdown.Add({std::string(5000, 'x') + "é"}, {-5});
  breakdown.Add({"∑∑∑∑∑∑∑∑∑∑∑∑∑∑∑∑∑∑∑∑∑∑∑∑∑"}, {0.05});
  const std::string svg = FlameGraphSvg(breakdown, Options());
  draw::ExpectWellFormed(svg);
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, Not(HasSubstr("\xff")));
}

}  // namespace
}  // namespace kashi::insight
