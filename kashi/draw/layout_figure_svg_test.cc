#include <algorithm>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/draw/layout_figure.h"
#include "kashi/draw/layout_figure_testing.h"

namespace kashi::draw {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(LayoutFigureSvgTest, SvgIsWellFormedAndSelfContained) {
  for (const char* shape : {"f32[3,5]{1,0:T(2,2)}", "f32[<=4,8]{1,0:T(2,4)(2,1)}", "f32[]", "f32[0]", "f32[9,300,300]",
                            "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", "bf16[3000]{0:T(1024)(128)(2,1)}"}) {
    const std::string svg = ToSvg(Figure(shape));
    SCOPED_TRACE(shape);
    ExpectWellFormed(svg);
    EXPECT_THAT(svg, HasSubstr("xmlns=\"http://www.w3.org/2000/svg\""));
    EXPECT_THAT(svg, HasSubstr("<title>"));
    EXPECT_THAT(svg, HasSubstr("<desc>"));
    EXPECT_THAT(svg, Not(HasSubstr("<script")));
    EXPECT_THAT(svg, Not(HasSubstr("href")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
  }
  const std::string svg = ToSvg(Figure("f32[3,5]{1,0:T(2,2)}"));
  EXPECT_THAT(svg, HasSubstr(">17</text>"));
  size_t hatched = 0;
  for (size_t at = svg.find("url(#kashi-padding)"); at != std::string::npos;
       at = svg.find("url(#kashi-padding)", at + 1))
    ++hatched;
  EXPECT_EQ(hatched, 9 + 1);  // and the legend's
}

TEST(LayoutFigureSvgTest, SvgHasSlicesThatAreLeftOutAboveItsLegend) {
  LayoutFigureOptions options;
  options.max_columns = 10;
  options.max_slices = 1;
  const std::string svg = ToSvg(Figure("bf16[8,8,512,512]{2,3,1,0:T(8,128)(2,1)}", options));
  const auto height_of = [&svg](absl::string_view text) {
    const size_t at = svg.find(std::string(text));
    EXPECT_NE(at, std::string::npos) << text;
    return std::stoi(svg.substr(svg.rfind(" y=\"", at) + 4));
  };
  EXPECT_LT(height_of("63 more slices<") + 12, height_of(">position in memory"));
}

struct Box {
  double left, top, right, bottom;
};

// The boxes of the numbers in an SVG figure, narrower than any font draws them.
std::vector<Box> NumberBoxes(const std::string& svg) {
  std::vector<Box> boxes;
  const std::regex number("<text x=\"(\\d+)\" y=\"(\\d+)\">([^<]*)</text>");
  for (std::sregex_iterator it(svg.begin(), svg.end(), number), end; it != end; ++it) {
    const double x = std::stod((*it)[1]);
    const double baseline = std::stod((*it)[2]);
    const double half_width = static_cast<double>((*it)[3].length()) * 13 * 0.5 / 2;
    boxes.push_back({x - half_width, baseline - 9, x + half_width, baseline});
  }
  return boxes;
}

// Whether the line from (x0, y0) to (x1, y1) enters the box: clipped against each side in turn (Liang and Barsky).
bool Crosses(double x0, double y0, double x1, double y1, const Box& box) {
  double begin = 0;
  double end = 1;
  const auto clip = [&](double step, double distance) {  // keeps t where step * t <= distance
    if (step == 0) return distance >= 0;
    const double t = distance / step;
    if (step > 0) end = std::min(end, t);
    if (step < 0) begin = std::max(begin, t);
    return begin <= end;
  };
  return clip(x0 - x1, x0 - box.left) && clip(x1 - x0, box.right - x0) && clip(y0 - y1, y0 - box.top) &&
         clip(y1 - y0, box.bottom - y0);
}

// The lines of an SVG figure's order in memory that run through a number.
int CountCrossedNumbers(const std::string& svg) {
  const std::vector<Box> boxes = NumberBoxes(svg);
  int crossed = 0;
  const std::regex path("<path d=\"([^\"Z]*)\" fill=\"none\"");
  const std::regex step("([ML])([\\d.]+) ([\\d.]+)");
  for (std::sregex_iterator it(svg.begin(), svg.end(), path), end; it != end; ++it) {
    const std::string lines = (*it)[1];
    double x = 0;
    double y = 0;
    for (std::sregex_iterator at(lines.begin(), lines.end(), step); at != end; ++at) {
      const double next_x = std::stod((*at)[2]);
      const double next_y = std::stod((*at)[3]);
      if ((*at)[1] == "L") {
        crossed += static_cast<int>(std::count_if(boxes.begin(), boxes.end(),
                                                  [&](const Box& box) { return Crosses(x, y, next_x, next_y, box); }));
      }
      x = next_x;
      y = next_y;
    }
  }
  return crossed;
}

TEST(LayoutFigureSvgTest, TheOrderInMemoryRunsThroughNoNumber) {
  EXPECT_TRUE(Crosses(0, 0, 10, 10, {4, 4, 6, 6}));
  EXPECT_FALSE(Crosses(0, 0, 3, 3, {4, 4, 6, 6}));
  for (const char* shape : {"f32[10,300]{0,1:T(8,128)}", "f32[3,5]{1,0:T(2,2)}", "f32[4,8]{1,0:T(2,4)(2,1)}",
                            "bf16[16,200]{1,0:T(8,128)(2,1)}", "s8[64,256]{1,0:T(32,128)(4,1)}", "f32[300]{0}",
                            "f32[12,12]{0,1}", "f32[2,3,4]{2,1,0}", "bf16[3000]{0:T(1024)(128)(2,1)}",
                            "f32[10000,10000]{1,0:T(8,128)}", "f32[4,6]{1,0:T(4,3)(1,2)}"}) {
    const std::string svg = ToSvg(Figure(shape));
    EXPECT_GT(NumberBoxes(svg).size(), 5) << shape;
    EXPECT_EQ(CountCrossedNumbers(svg), 0) << shape;
  }
}

TEST(LayoutFigureSvgTest, DarkFiguresShareNoColourWithLightOnes) {
  const LayoutFigure figure = Figure("bf16[20,200]{1,0:T(8,128)(2,1)}");
  const auto colours_of = [&figure](bool dark) {
    SvgOptions options;
    options.dark = dark;
    const std::string svg = ToSvg(figure, options);
    ExpectWellFormed(svg);
    std::set<std::string> colours;
    const std::regex colour("#[0-9a-f]{6}");
    for (std::sregex_iterator it(svg.begin(), svg.end(), colour), end; it != end; ++it) colours.insert(it->str());
    return colours;
  };
  const std::set<std::string> light = colours_of(false);
  EXPECT_GT(light.size(), 8);
  for (const std::string& colour : colours_of(true)) EXPECT_EQ(light.count(colour), 0) << colour;
}

}  // namespace
}  // namespace kashi::draw
