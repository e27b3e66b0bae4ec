#include "kashi/array/shape_parser.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/recorded_cases_testing.h"
#include "kashi/array/shape_util.h"

namespace kashi::array {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

absl::StatusOr<Shape> ParseStrictly(absl::string_view text) {
  ShapeParserOptions options;
  options.strict = true;
  return ParseShape(text, options);
}

std::string Reprint(absl::string_view text) {
  absl::StatusOr<Shape> shape = ParseShape(text);
  return shape.ok() ? shape->ToString(/*print_layout=*/true) : std::string(shape.status().message());
}

std::vector<std::string> Warnings(absl::string_view text) {
  std::vector<Diagnostic> diagnostics;
  EXPECT_TRUE(ParseShape(text, ShapeParserOptions(), &diagnostics).ok()) << text;
  std::vector<std::string> messages;
  for (const Diagnostic& diagnostic : diagnostics) {
    EXPECT_EQ(diagnostic.severity, Diagnostic::Severity::kWarning);
    messages.push_back(diagnostic.message);
  }
  return messages;
}

// Text that XLA accepts is read and printed as XLA does; other text is an error with a place and a reason.
TEST(ShapeParserTest, AgreesWithXla) {
  for (const auto& row : ReadTestData("shape_cases.tsv")) {
    const std::string &text = row[0], &verdict = row[1];
    absl::StatusOr<Shape> shape = ParseShape(text);
    if (verdict == "ok") {
      ASSERT_TRUE(shape.ok()) << text << ": " << shape.status();
      EXPECT_EQ(shape->ToString(/*print_layout=*/true), row[2]) << text;
    } else {
      ASSERT_FALSE(shape.ok()) << text;
      EXPECT_EQ(shape.status().code(), absl::StatusCode::kInvalidArgument);
      EXPECT_THAT(std::string(shape.status().message()), ::testing::ContainsRegex("^shape:[0-9]+:[0-9]+: error: .+\n"));
    }
  }
}

// Law: a printed shape reads back as the same shape, and prints the same again.
TEST(ShapeParserTest, PrintedShapesReadBack) {
  for (const auto& row : ReadTestData("shape_cases.tsv")) {
    if (row[1] != "ok") continue;
    absl::StatusOr<Shape> shape = ParseShape(row[0]);
    ASSERT_TRUE(shape.ok()) << row[0];
    const std::string text = shape->ToString(/*print_layout=*/true);
    if (absl::StrContains(text, "invalid")) continue;  // `#(invalid)` is printed for types that are no index types
    absl::StatusOr<Shape> again = ParseShape(text);
    ASSERT_TRUE(again.ok()) << text << ": " << again.status();
    EXPECT_EQ(again->ToString(/*print_layout=*/true), text);
    EXPECT_EQ(*again, *shape) << text;
  }
}

TEST(ShapeParserTest, StrictAcceptsExactlyWhatHasNoWarnings) {
  for (const auto& row : ReadTestData("shape_cases.tsv")) {
    if (row[1] != "ok") continue;
    EXPECT_EQ(ParseStrictly(row[0]).ok(), Warnings(row[0]).empty()) << row[0];
  }
  EXPECT_FALSE(ParseStrictly("f32[2").ok());
}

TEST(ShapeParserTest, ErrorsNameThePlace) {
  EXPECT_EQ(Reprint("f32[2,x]"), "shape:1:7: error: expects integer, got `x`\nf32[2,x]\n      ^");
  EXPECT_EQ(Reprint("f32[2"), "shape:1:6: error: expected `]` to end the dimensions, got end of text\nf32[2\n     ^");
  EXPECT_EQ(Reprint("(f32[2],\n bf32[3])"),
            "shape:2:2: error: expected an element type such as f32, got `bf32`\n bf32[3])\n ^~~~");
  EXPECT_THAT(Reprint("f32[-1]"), HasSubstr("shape:1:5: error: a dimension must have a size of 0 or more, got -1"));
  EXPECT_THAT(Reprint("f32[2] {0} x"), HasSubstr("shape:1:12: error: unexpected text after the shape"));
  EXPECT_THAT(Reprint("f32[2,3]{0}"), HasSubstr("Dimensions size is 2, but minor to major size is 1."));
  EXPECT_THAT(Reprint("f32[2]{0:T(-1)}"), HasSubstr("tile dimension must be positive or `*`, got -1"));
  EXPECT_THAT(Reprint("f32[2]{0:L(0)}"), HasSubstr("tail padding alignment must be at least 1, got 0"));
  EXPECT_THAT(Reprint("token[1]"), HasSubstr("token shapes have no dimensions"));
  EXPECT_THAT(Reprint("opaque[]{:}"), HasSubstr("opaque shapes have no layout"));
  EXPECT_THAT(Reprint("(f32[2]{1})"), HasSubstr("out-of-bounds value"));
  EXPECT_THAT(Reprint("b(token[])"), HasSubstr("a buffer holds an array"));
  EXPECT_THAT(Reprint("f32[2]{0:P(f32[2])}"), HasSubstr("physical_shape"));
  EXPECT_THAT(Reprint("f32[99999999999999999999]"), HasSubstr("expects integer"));
  EXPECT_THAT(Reprint("f32[2] /* no end"), HasSubstr("unexpected text"));
}

TEST(ShapeParserTest, CaretsMarkTheNarrowestToken) {
  EXPECT_EQ(Reprint("f32[2]{0:T(8,-12)}"),
            "shape:1:14: error: tile dimension must be positive or `*`, got -12\nf32[2]{0:T(8,-12)}\n             ^~~");
  EXPECT_EQ(Reprint("f32[2]{0:L(00)}"),
            "shape:1:12: error: tail padding alignment must be at least 1, got 0\nf32[2]{0:L(00)}\n           ^~");
  EXPECT_EQ(Reprint("token[1]"), "shape:1:6: error: token shapes have no dimensions\ntoken[1]\n     ^~~");
}

TEST(ShapeParserTest, MessagesHoldNoForeignBytes) {
  EXPECT_THAT(Reprint("\x1b[31mf32"), HasSubstr("got byte 0x1b\n"));
  EXPECT_THAT(Reprint("f32[\xc3\xa9]"), HasSubstr("got byte 0xc3\n"));
  EXPECT_THAT(Reprint("f32[2/*\x07"), HasSubstr("got `/*\\x07`\n"));
}

// If the text of an attribute is broken, the message must tell this cause, not an error that follows from it.
TEST(ShapeParserTest, TheFirstErrorIsTheCause) {
  EXPECT_EQ(Reprint("s32[2]{0:T((2))}"), "shape:1:12: error: expects integer, got `(`\ns32[2]{0:T((2))}\n           ^");
}

TEST(ShapeParserTest, WarnsOfWhatXlaTakesAllTheSame) {
  EXPECT_THAT(Warnings("f32[2,3]{1,0:T(8,128)E(32)S(1)}"), IsEmpty());
  EXPECT_THAT(Warnings("f32[2]{0:T(2}"), ElementsAre(HasSubstr("expected `)` to end a tile")));
  EXPECT_THAT(Warnings("f32[2]{0:E}"), ElementsAre(HasSubstr("expected `(` before the element size")));
  EXPECT_THAT(Warnings("f32[2]{0:D(D)}"), ElementsAre(HasSubstr("obsolete")));
  EXPECT_THAT(Warnings("f32[2]{0:S(257)}"), ElementsAre(HasSubstr("does not fit in 8 bits; XLA reads it as 1")));
  EXPECT_THAT(Warnings("f32[2]{0:M(-8)}"), ElementsAre(HasSubstr("negative metadata prefix")));
  EXPECT_THAT(Warnings("f32[2]{1}"), ElementsAre(HasSubstr("out-of-bounds value")));
  EXPECT_THAT(Warnings("f32[2,2]{1,0:T(2,*)}"), ElementsAre(HasSubstr("no more minor dimension to merge with")));
  EXPECT_THAT(Warnings("f32[<=9223372036854775808]"),
              ElementsAre(HasSubstr("XLA reads it as -9223372036854775808"), HasSubstr("write `?`")));
  EXPECT_THAT(Warnings("f32[4611686018427387904,8]"), ElementsAre(HasSubstr("overflow")));
}

TEST(ShapeParserTest, CanLeaveMissingLayoutsOut) {
  ShapeParserOptions options;
  options.fill_missing_layouts = false;
  absl::StatusOr<Shape> shape = ParseShape("(f32[2,3], f32[2]{0})", options);
  ASSERT_TRUE(shape.ok());
  EXPECT_FALSE(shape->tuple_shapes(0).has_layout());
  EXPECT_TRUE(shape->tuple_shapes(1).has_layout());
}

TEST(ShapeParserTest, DeepTuplesAreReadAndDeeperOnesRefused) {
  const auto nested = [](int depth) { return std::string(depth, '(') + std::string(depth, ')'); };
  absl::StatusOr<Shape> shape = ParseShape(nested(kMaxTupleDepth));
  ASSERT_TRUE(shape.ok());
  const Shape copy = *shape;
  EXPECT_EQ(copy, *shape);
  EXPECT_EQ(copy.ToString(), nested(kMaxTupleDepth));
  EXPECT_THAT(Reprint(nested(kMaxTupleDepth + 1)), HasSubstr("nest more than"));
  EXPECT_FALSE(ParseShape(std::string(1000000, '(')).ok());
}

TEST(ShapeParserTest, ManyErrorsStayFew) {
  std::string text = "(";
  for (int i = 0; i < 20000; ++i) absl::StrAppend(&text, "f32[<=9223372036854775808],");
  std::vector<Diagnostic> diagnostics;
  EXPECT_FALSE(ParseShape(text + "x", ShapeParserOptions(), &diagnostics).ok());
  EXPECT_LT(diagnostics.size(), 100);
  EXPECT_THAT(diagnostics.back().message, HasSubstr("got `x`"));
}

TEST(ShapeParserTest, ReadsAPrefix) {
  const std::string text = "p = (f32[2], s32[]{:S(6)}) parameter(0)";
  Lexer lexer(text, 4);
  std::vector<Diagnostic> diagnostics;
  std::optional<Shape> shape = ParseShapePrefix(&lexer, ShapeParserOptions(), &diagnostics);
  ASSERT_TRUE(shape.has_value());
  EXPECT_EQ(shape->ToString(true), "(f32[2]{0}, s32[]{:S(6)})");
  EXPECT_TRUE(lexer.AtIdent("parameter"));
  EXPECT_THAT(diagnostics, IsEmpty());
}

TEST(ShapeParserTest, ABraceThatBeginsNoLayoutIsLeft) {
  Lexer lexer("f32[2]{ROOT");
  std::vector<Diagnostic> diagnostics;
  EXPECT_TRUE(ParseShapePrefix(&lexer, ShapeParserOptions(), &diagnostics).has_value());
  EXPECT_EQ(lexer.kind(), Token::Kind::kLeftBrace);
}

TEST(ParseLayoutTest, ReadsAndPrintsBack) {
  for (const char* text :
       {"{}", "{1,0}", "{1,0:T(8,128)(2,1)L(4)E(4)S(5)SC(0:2,4)M(8)}", "{:S(2)}", "{2,1,0:T(*,2)}"}) {
    absl::StatusOr<Layout> layout = ParseLayout(text);
    ASSERT_TRUE(layout.ok()) << layout.status();
    EXPECT_EQ(layout->ToString(), text);
  }
  EXPECT_FALSE(ParseLayout("{1,0").ok());
  EXPECT_FALSE(ParseLayout("{1,0} x").ok());
  EXPECT_FALSE(ParseLayout("").ok());
}

TEST(ParseProgramShapeTest, ReadsAndPrintsBack) {
  for (const char* text :
       {"(p0: s32[10], p1: (f32[], token[])) -> f32[2]", "() -> ()", "((unknown): f32[]) -> pred[]"}) {
    absl::StatusOr<ProgramShape> shape = ParseProgramShape(text);
    ASSERT_TRUE(shape.ok()) << shape.status();
    EXPECT_EQ(shape->ToString(), text);
  }
  EXPECT_FALSE(ParseProgramShape("(p0: s32[10])").ok());
  EXPECT_FALSE(ParseProgramShape("(s32[10]) -> f32[]").ok());
}

// Random shapes that the printer can write: they must read back equal and without a warning, in both modes.
TEST(ShapeParserTest, RandomShapesRoundTrip) {
  std::mt19937_64 random(20261121);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  for (int i = 0; i < 5000; ++i) {
    const int rank = static_cast<int>(below(6));
    DimensionVector minor_to_major;
    Shape shape(static_cast<PrimitiveType>(std::vector<int>{F32, BF16, S4, PRED, C64, F8E4M3FN}[below(6)]), {});
    for (int d = 0; d < rank; ++d) {
      minor_to_major.push_back(d);
      shape.add_dimensions(below(200), below(4) == 0);
    }
    std::shuffle(minor_to_major.begin(), minor_to_major.end(), random);
    Layout layout(minor_to_major);
    for (int64_t t = below(3); t > 0; --t) {
      Tile* tile = layout.add_tiles();
      for (int64_t k = below(3); k > 0; --k)
        tile->add_dimensions(below(5) == 0 ? Tile::kCombineDimension : 1 + below(128));
      tile->add_dimensions(1 + below(128));
    }
    if (below(3) == 0) layout.set_element_size_in_bits(1 + below(32));
    if (below(3) == 0) layout.set_memory_space(below(16));
    if (below(4) == 0) layout.set_tail_padding_alignment_in_elements(1 + below(1024));
    if (below(4) == 0) layout.set_dynamic_shape_metadata_prefix_bytes(below(64));
    *shape.mutable_layout() = layout;
    const std::string text = shape.ToString(/*print_layout=*/true);
    absl::StatusOr<Shape> again = ParseStrictly(text);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(*again, shape) << text;
    EXPECT_EQ(again->ToString(/*print_layout=*/true), text);
  }
}

}  // namespace
}  // namespace kashi::array
