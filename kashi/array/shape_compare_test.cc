// The table of array-model.md, 2.5.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_testing.h"
#include "kashi/array/shape_util.h"

namespace kashi::array {
namespace {

// The functions that call a pair of shapes equal, Y or -, in this order: Equal, EqualIgnoringElementType,
// EqualIgnoringFpPrecision, Compatible, CompatibleIgnoringElementType, CompatibleIgnoringFpPrecision, CompatibleKind.
// All are symmetric.
struct Row {
  const char* lhs;
  const char* rhs;
  const char* verdicts;
};
const Row kRows[] = {
    {"f32[2]", "f32[2]{0}", "YYY YYY Y"},
    {"f32[2]", "f32[3]", "--- --- Y"},
    {"f32[2]", "f32[2,1]", "--- --- -"},
    {"f32[2]", "f32[]", "--- --- -"},
    {"f32[2]", "s32[2]", "-Y- -Y- Y"},
    {"f32[2]", "bf16[2]", "-YY -YY Y"},
    {"f64[2]", "f8e4m3fn[2]", "-YY -YY Y"},
    {"f32[2]", "c64[2]", "-Y- -Y- Y"},
    {"f32[2,3]{1,0}", "f32[2,3]{0,1}", "--- YYY Y"},
    {"f32[2]", "f32[2]{0:T(2)}", "--- YYY Y"},
    {"f32[2]", "f32[2]{0:S(1)}", "--- YYY Y"},
    {"f32[2]", "f32[2]{0:E(32)}", "--- YYY Y"},
    {"f32[2]", "f32[2]{0:L(2)}", "--- YYY Y"},
    {"f32[2]", "f32[2]{0:SC(0:1)}", "--- YYY Y"},
    {"f32[2]", "f32[2]{0:M(64)}", "YYY YYY Y"},
    {"f32[2]", "f32[<=2]", "--- YYY Y"},
    {"f32[2]", "f32[<=3]", "--- --- Y"},
    {"f32[2]", "f32[?]", "--- YYY Y"},
    {"f32[<=2]", "f32[?]", "--- YYY Y"},
    {"bf16[<=2]{0:T(2)}", "f32[2]", "--- -YY Y"},
    {"token[]", "token[]", "YYY YYY Y"},
    {"token[]", "opaque[]", "--- --- -"},
    {"token[]", "f32[]", "--- --- -"},
    {"b(f32[2])", "b(f32[2])", "YYY YYY Y"},
    {"b(f32[2])", "f32[2]", "--- --- -"},
    {"()", "()", "YYY YYY Y"},
    {"()", "(f32[2])", "--- --- -"},
    {"(f32[2])", "f32[2]", "--- --- -"},
    {"(f32[2], s8[])", "(f32[2], s8[])", "YYY YYY Y"},
    {"(f32[2], s8[])", "(s8[], f32[2])", "--- --- -"},
    {"(f32[2], (s8[3]))", "(f32[2], (s8[<=3]))", "--- YYY Y"},
    {"(f32[2], (s8[3]))", "(f32[2], s8[3])", "--- --- -"},
};

std::string Verdicts(const Shape& a, const Shape& b) {
  const auto letter = [](bool verdict) { return verdict ? "Y" : "-"; };
  return absl::StrCat(letter(ShapeUtil::Equal(a, b)), letter(ShapeUtil::EqualIgnoringElementType(a, b)),
                      letter(ShapeUtil::EqualIgnoringFpPrecision(a, b)), " ", letter(ShapeUtil::Compatible(a, b)),
                      letter(ShapeUtil::CompatibleIgnoringElementType(a, b)),
                      letter(ShapeUtil::CompatibleIgnoringFpPrecision(a, b)), " ",
                      letter(ShapeUtil::CompatibleKind(a, b)));
}

TEST(ShapeCompareTest, Table) {
  for (const Row& row : kRows) {
    EXPECT_EQ(Verdicts(S(row.lhs), S(row.rhs)), row.verdicts) << row.lhs << " with " << row.rhs;
    EXPECT_EQ(Verdicts(S(row.rhs), S(row.lhs)), row.verdicts) << row.rhs << " with " << row.lhs;
  }
}

TEST(ShapeCompareTest, MissingLayouts) {
  const Shape without(F32, {2});
  EXPECT_TRUE(ShapeUtil::Equal(without, without));
  EXPECT_FALSE(ShapeUtil::Equal(without, S("f32[2]")));
  EXPECT_TRUE(ShapeUtil::Compatible(without, S("f32[2]")));
}

TEST(ShapeCompareTest, CompatibleKindMaySeeThroughBuffers) {
  EXPECT_TRUE(ShapeUtil::CompatibleKind(S("b(f32[2])"), S("s8[3]"), /*ignore_buffer=*/true));
  EXPECT_TRUE(ShapeUtil::CompatibleKind(S("(s8[3])"), S("(b(f32[2]))"), /*ignore_buffer=*/true));
  EXPECT_FALSE(ShapeUtil::CompatibleKind(S("b(f32[2])"), S("f32[2,2]"), /*ignore_buffer=*/true));
}

TEST(ShapeCompareTest, EqualStructure) {
  EXPECT_TRUE(ShapeUtil::EqualStructure(S("f32[2]"), S("token[]")));
  EXPECT_TRUE(ShapeUtil::EqualStructure(S("(f32[2], (s8[], b(f32[])))"), S("(token[], (f32[2,3], opaque[]))")));
  EXPECT_FALSE(ShapeUtil::EqualStructure(S("(f32[], f32[])"), S("(f32[])")));
  EXPECT_FALSE(ShapeUtil::EqualStructure(S("(f32[], f32[])"), S("(f32[], (f32[]))")));
  EXPECT_TRUE(ShapeUtil::EqualStructure(S("()"), S("f32[]"))) << "both have the index {} alone";
}

TEST(ShapeCompareTest, NamedProperties) {
  EXPECT_TRUE(ShapeUtil::SameDimensions(S("f32[2,3]{0,1}"), S("s8[2,<=3]")));
  EXPECT_TRUE(ShapeUtil::SameDimensions(S("f32[2,?]"), S("s8[?,3]")));
  EXPECT_FALSE(ShapeUtil::SameDimensions(S("f32[2,3]"), S("f32[2,4]")));
  EXPECT_FALSE(ShapeUtil::SameDimensions(S("f32[2,3]"), S("f32[2]")));
  EXPECT_TRUE(ShapeUtil::SameRank(S("f32[2,3]"), S("s8[4,<=5]")));
  EXPECT_FALSE(ShapeUtil::SameRank(S("f32[2,3]"), S("f32[2]")));
  EXPECT_TRUE(ShapeUtil::SameElementType(S("f32[2,3]"), S("f32[]")));
  EXPECT_FALSE(ShapeUtil::SameElementType(S("f32[]"), S("bf16[]")));
  EXPECT_TRUE(ShapeUtil::SameElementTypeIgnoringFpPrecision(S("f32[2]"), S("f8e5m2[]")));
  EXPECT_TRUE(ShapeUtil::SameElementTypeIgnoringFpPrecision(S("s8[2]"), S("s8[]")));
  EXPECT_FALSE(ShapeUtil::SameElementTypeIgnoringFpPrecision(S("s8[]"), S("s16[]")));
  EXPECT_FALSE(ShapeUtil::SameElementTypeIgnoringFpPrecision(S("f32[]"), S("c64[]")));
  EXPECT_DEATH(ShapeUtil::SameRank(S("()"), S("f32[]")), "not an array");
}

TEST(ShapeCompareTest, HigherPrecisionElementType) {
  EXPECT_EQ(ShapeUtil::HigherPrecisionElementType(S("f16[2]"), S("bf16[]")), BF16);
  EXPECT_EQ(ShapeUtil::HigherPrecisionElementType(S("f32[2]"), S("f32[]")), F32);
}

TEST(ShapeCompareTest, DynamicShapeIsCompatible) {
  const auto compatible = [](absl::string_view dynamic, absl::string_view bounded) {
    return ShapeUtil::DynamicShapeIsCompatible(S(dynamic), S(bounded));
  };
  EXPECT_TRUE(compatible("f32[2,3]", "f32[<=2,<=5]"));
  EXPECT_TRUE(compatible("s8[2]", "f32[<=2]")) << "types are not looked at";
  EXPECT_FALSE(compatible("f32[3]", "f32[<=2]"));
  EXPECT_FALSE(compatible("f32[3]", "f32[<=3,1]"));
  EXPECT_TRUE(compatible("(f32[1], (s8[2]), token[])", "(f32[<=1], (s8[<=2]), token[])"));
  EXPECT_FALSE(compatible("(f32[1], (s8[3]))", "(f32[<=1], (s8[<=2]))"));
  EXPECT_FALSE(compatible("(f32[1])", "f32[1]"));
  EXPECT_FALSE(compatible("f32[1]", "(f32[1])"));
  EXPECT_FALSE(compatible("token[]", "f32[]"));
  EXPECT_FALSE(compatible("(f32[1], f32[1])", "(f32[1])"));
  EXPECT_TRUE(compatible("(f32[1])", "(f32[1], f32[1])")) << "only the tree of the dynamic shape is walked, as in XLA";
  EXPECT_TRUE(ShapeUtil::DynamicArrayShapeIsCompatible(S("f32[2,3]"), S("f32[<=2,<=5]")));
  EXPECT_FALSE(ShapeUtil::DynamicArrayShapeIsCompatible(S("f32[2,6]"), S("f32[<=2,<=5]")));
}

}  // namespace
}  // namespace kashi::array
