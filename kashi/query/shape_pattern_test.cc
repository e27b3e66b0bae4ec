#include "kashi/query/shape_pattern.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "kashi/array/shape_parser.h"

namespace kashi::query {
namespace {

bool Fits(absl::string_view pattern, absl::string_view shape) {
  const auto parsed = ShapePattern::Parse(pattern);
  EXPECT_TRUE(parsed.ok()) << pattern << ": " << parsed.status();
  return parsed.ok() && parsed->Matches(ParseShape(shape).value());
}

std::string PatternError(absl::string_view pattern) {
  size_t at = 99;
  const auto parsed = ShapePattern::Parse(pattern, &at);
  return parsed.ok() ? "ok" : absl::StrCat(at, ": ", parsed.status().message());
}

TEST(ShapePatternTest, Sizes) {
  EXPECT_TRUE(Fits("f32[8,128]", "f32[8,128]"));
  EXPECT_FALSE(Fits("f32[8,128]", "f32[8,129]"));
  EXPECT_FALSE(Fits("f32[8,128]", "f32[8]"));
  EXPECT_FALSE(Fits("f32[8]", "f32[8,128]"));
  EXPECT_TRUE(Fits("f32[*,128]", "f32[7,128]"));
  EXPECT_FALSE(Fits("f32[*,128]", "f32[128]"));
  EXPECT_TRUE(Fits("f32[2..8]", "f32[8]"));
  EXPECT_FALSE(Fits("f32[2..8]", "f32[9]"));
  EXPECT_TRUE(Fits("f32[1000..]", "f32[1000]"));
  EXPECT_FALSE(Fits("f32[1000..]", "f32[999]"));
  EXPECT_TRUE(Fits("f32[..8]", "f32[0]"));
  EXPECT_TRUE(Fits("f32[]", "f32[]"));
  EXPECT_FALSE(Fits("f32[]", "f32[1]"));
}

TEST(ShapePatternTest, AnyNumberOfDimensions) {
  EXPECT_TRUE(Fits("f32[...]", "f32[]"));
  EXPECT_TRUE(Fits("f32[...,128]", "f32[128]"));
  EXPECT_TRUE(Fits("f32[...,128]", "f32[2,3,128]"));
  EXPECT_FALSE(Fits("f32[...,128]", "f32[128,3]"));
  EXPECT_TRUE(Fits("f32[2,...,5]", "f32[2,3,4,5]"));
  EXPECT_TRUE(Fits("f32[2,...,5]", "f32[2,5]"));
  EXPECT_FALSE(Fits("f32[2,...,2]", "f32[2]"));
}

TEST(ShapePatternTest, DynamicSizes) {
  EXPECT_TRUE(Fits("f32[<=10]", "f32[<=10]"));
  EXPECT_FALSE(Fits("f32[<=10]", "f32[10]"));
  EXPECT_FALSE(Fits("f32[10]", "f32[<=10]"));
  EXPECT_TRUE(Fits("f32[*]", "f32[<=10]"));
  EXPECT_TRUE(Fits("f32[5..]", "f32[<=10]"));
  EXPECT_TRUE(Fits("f32[?]", "f32[?]"));
  EXPECT_FALSE(Fits("f32[?]", "f32[<=10]"));
  EXPECT_FALSE(Fits("f32[..8]", "f32[?]"));
}

TEST(ShapePatternTest, Types) {
  EXPECT_TRUE(Fits("f8*[4]", "f8e4m3fn[4]"));
  EXPECT_FALSE(Fits("f8*[4]", "bf16[4]"));
  EXPECT_TRUE(Fits("*16[4]", "bf16[4]"));
  EXPECT_TRUE(Fits("*f*[4]", "bf16[4]"));
  EXPECT_TRUE(Fits("*[4]", "pred[4]"));
  EXPECT_TRUE(Fits("f32", "f32[1,2,3]"));
  EXPECT_FALSE(Fits("f32", "(f32[])"));
  EXPECT_TRUE(Fits("token[]", "token[]"));
  EXPECT_TRUE(Fits("token", "token[]"));
  EXPECT_FALSE(Fits("token[*]", "token[]"));
}

TEST(ShapePatternTest, Layouts) {
  EXPECT_TRUE(Fits("f32[*,*]{0,1}", "f32[2,3]{0,1:T(8,128)}"));
  EXPECT_FALSE(Fits("f32[*,*]{0,1}", "f32[2,3]{1,0}"));
  EXPECT_TRUE(Fits("f32[*,*]{1,0:T(8,128)}", "f32[2,3]{1,0:T(8,128)}"));
  EXPECT_FALSE(Fits("f32[*,*]{1,0:T(8,128)}", "f32[2,3]{1,0}"));
  EXPECT_FALSE(Fits("f32[*,*]{1,0:T(8,128)}", "f32[2,3]{1,0:T(8,128)S(1)}"));
}

TEST(ShapePatternTest, Tuples) {
  EXPECT_TRUE(Fits("(f32[*], s32[])", "(f32[3], s32[])"));
  EXPECT_TRUE(Fits("(f32[3], /*index=1*/*)", "(f32[3], (s32[], s32[]))"));
  EXPECT_FALSE(Fits("(f32[*])", "(f32[3], s32[])"));
  EXPECT_TRUE(Fits("()", "()"));
  EXPECT_FALSE(Fits("()", "f32[]"));
  EXPECT_TRUE(Fits("*", "(f32[], s32[])"));
  EXPECT_FALSE(Fits("f32[3]", "(f32[3])"));
  const ShapePattern part = ShapePattern::Parse("f32[3]").value();
  EXPECT_TRUE(part.MatchesPart(ParseShape("(s32[], (f32[3]))").value()));
  EXPECT_FALSE(part.MatchesPart(ParseShape("(s32[], (f32[4]))").value()));
}

TEST(ShapePatternTest, ErrorsHaveTheirPlace) {
  EXPECT_EQ(PatternError(""), "0: expected a type, `*` or a tuple: f32[8,*], *[128], (f32[], s32[])");
  EXPECT_EQ(PatternError("f33[8]"), "0: no type is `f33`; did you mean `f32`?");
  EXPECT_EQ(PatternError("f32[8"), "5: expected `,` or `]`");
  EXPECT_EQ(PatternError("f32[8,x]"), "6: expected a size: 128, *, 2..8, 1000.., ..., <=10 or ?");
  EXPECT_EQ(PatternError("f32[8..2]"), "7: the range is empty");
  EXPECT_EQ(PatternError("f32[...,...]"), "8: only one `...` may be in a shape");
  EXPECT_EQ(PatternError("f32[99999999999999999999]"), "4: expected a size: 128, *, 2..8, 1000.., ..., <=10 or ?");
  EXPECT_EQ(PatternError("f32[8]{x}"), "6: the layout is wrong: it is written like {1,0} or {1,0:T(8,128)}");
  EXPECT_EQ(PatternError("f32[8]{0"), "6: expected `}` at the end of the layout");
  EXPECT_EQ(PatternError("f32[8] f32"), "7: expected the end of the pattern");
  EXPECT_EQ(PatternError("(f32[8]"), "7: expected `,` or `)`");
  EXPECT_EQ(PatternError(std::string(100, '(')), "17: tuples are nested too deep");
}

// Each shape without a layout, as text, is a pattern that it fits.
TEST(ShapePatternTest, ShapesFitThemselves) {
  for (const char* shape : {"f32[8,128]{1,0}", "bf16[]", "(s32[], f32[2]{0}, (token[], pred[1,1]{0,1}))",
                            "f32[<=8,?]{0,1}", "s4[9]{0:T(64)E(4)S(1)}", "opaque[]", "u8[0]{0}"}) {
    EXPECT_TRUE(Fits(shape, shape)) << shape;
  }
}

}  // namespace
}  // namespace kashi::query
