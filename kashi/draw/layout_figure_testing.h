// Helpers that the tests of figures share.
#ifndef KASHI_DRAW_LAYOUT_FIGURE_TESTING_H_
#define KASHI_DRAW_LAYOUT_FIGURE_TESTING_H_

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_parser.h"
#include "kashi/draw/layout_figure.h"

namespace kashi::draw {

inline LayoutFigure Figure(absl::string_view shape, const LayoutFigureOptions& options = {}) {
  absl::StatusOr<Shape> parsed = ParseShape(shape);
  EXPECT_TRUE(parsed.ok()) << shape << ": " << parsed.status();
  if (!parsed.ok()) return {};
  absl::StatusOr<LayoutFigure> figure = MakeLayoutFigure(*parsed, options);
  EXPECT_TRUE(figure.ok()) << shape << ": " << figure.status();
  return figure.ok() ? *std::move(figure) : LayoutFigure();
}

// Checks for the errors that an XML parser finds first: tags that do not nest, bare `<` and `&`, unquoted attributes.
inline void ExpectWellFormed(const std::string& xml) {
  std::vector<std::string> open;
  for (size_t at = xml.find('<'); at != std::string::npos; at = xml.find('<', at + 1)) {
    const size_t end = xml.find('>', at);
    ASSERT_NE(end, std::string::npos);
    const std::string tag = xml.substr(at + 1, end - at - 1);
    ASSERT_FALSE(absl::StrContains(tag, "<")) << tag;
    EXPECT_EQ(std::count(tag.begin(), tag.end(), '"') % 2, 0) << tag;
    if (tag[0] == '?' || tag.back() == '/') continue;
    if (tag[0] != '/') {
      open.push_back(tag.substr(0, tag.find(' ')));
      continue;
    }
    ASSERT_FALSE(open.empty());
    EXPECT_EQ(tag.substr(1), open.back());
    open.pop_back();
  }
  EXPECT_THAT(open, ::testing::IsEmpty());
  for (size_t at = xml.find('&'); at != std::string::npos; at = xml.find('&', at + 1)) {
    const std::string entity = xml.substr(at, xml.find(';', at) - at + 1);
    EXPECT_TRUE(entity == "&lt;" || entity == "&gt;" || entity == "&amp;" || entity == "&quot;") << entity;
  }
}

}  // namespace kashi::draw

#endif  // KASHI_DRAW_LAYOUT_FIGURE_TESTING_H_
