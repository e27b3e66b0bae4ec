#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_testing.h"

namespace kashi::array {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LayoutQueryTest, HasLayout) {
  const struct {
    Shape shape;
    bool has_layout;
    bool has_any_layout;
  } kCases[] = {
      {S("f32[2]"), true, true},
      {S("f32[]"), true, true},
      {WithoutLayout("f32[]"), false, false},
      {S("token[]"), true, true},
      {S("opaque[]"), true, true},
      {S("b(f32[2])"), true, true},
      {WithoutLayout("b(f32[2])"), false, false},
      {S("()"), true, false},
      {S("(f32[2], (f32[3]))"), true, true},
      {Shape(std::vector<Shape>{S("f32[2]"), WithoutLayout("(f32[3])")}), false, true},
      {WithoutLayout("(f32[2], f32[3])"), false, false},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(LayoutUtil::HasLayout(c.shape), c.has_layout) << c.shape;
    EXPECT_EQ(LayoutUtil::HasAnyLayout(c.shape), c.has_any_layout) << c.shape;
  }
  ProgramShape program;
  program.AddParameter(S("f32[2]"), "p");
  *program.mutable_result() = S("f32[3]");
  EXPECT_TRUE(LayoutUtil::HasLayout(program));
  LayoutUtil::ClearLayout(program.mutable_result());
  EXPECT_FALSE(LayoutUtil::HasLayout(program));
  LayoutUtil::SetToDefaultLayout(program.mutable_result());
  LayoutUtil::ClearLayout(program.mutable_parameters(0));
  EXPECT_FALSE(LayoutUtil::HasLayout(program));
}

TEST(LayoutQueryTest, HasCustomElementSizeInBits) {
  EXPECT_FALSE(LayoutUtil::HasCustomElementSizeInBits(S("(s4[2], token[], (), b(f32[2]))")));
  EXPECT_TRUE(LayoutUtil::HasCustomElementSizeInBits(S("s4[2]{0:E(4)}")));
  EXPECT_TRUE(LayoutUtil::HasCustomElementSizeInBits(S("(f32[2], (s4[2]{0:E(4)}))")));
  EXPECT_TRUE(LayoutUtil::HasCustomElementSizeInBits(S("b(s4[2]{0:E(4)})")));
  EXPECT_FALSE(LayoutUtil::HasCustomElementSizeInBits(WithoutLayout("s4[2]")));
}

TEST(LayoutQueryTest, Equal) {
  EXPECT_TRUE(LayoutUtil::Equal(Layout({1, 0}), Layout({1, 0})));
  EXPECT_FALSE(LayoutUtil::Equal(Layout({1, 0}), Layout({0, 1})));
  for (const char* text : {"f32[2]{0:T(2)}", "f32[2]{0:L(2)}", "f32[2]{0:#(u8)}", "f32[2]{0:*(u8)}", "f32[2]{0:E(8)}",
                           "f32[2]{0:S(1)}", "f32[2]{0:SC(0:1)}"}) {
    EXPECT_FALSE(LayoutUtil::Equal(S(text).layout(), Layout({0}))) << text;
  }
  EXPECT_TRUE(LayoutUtil::Equal(S("f32[2]{0:M(64)}").layout(), Layout({0}))) << "M does not take part";
}

TEST(LayoutQueryTest, LayoutsInShapesEqual) {
  const auto equal = [](const Shape& a, const Shape& b) { return LayoutUtil::LayoutsInShapesEqual(a, b); };
  EXPECT_TRUE(equal(S("f32[2,3]{0,1}"), S("s8[7,<=8]{0,1}")));
  EXPECT_FALSE(equal(S("f32[2,3]{0,1}"), S("f32[2,3]{1,0}")));
  EXPECT_FALSE(equal(S("f32[2,3]"), S("f32[2]")));
  EXPECT_TRUE(equal(WithoutLayout("f32[2]"), WithoutLayout("f32[3]")));
  EXPECT_FALSE(equal(WithoutLayout("f32[2]"), S("f32[2]")));
  EXPECT_FALSE(equal(S("f32[2]"), WithoutLayout("f32[2]")));
  EXPECT_TRUE(equal(S("token[]"), S("f32[2]")));  // on the left side decides
  EXPECT_FALSE(equal(S("f32[]"), S("token[]")));
  EXPECT_TRUE(equal(S("(f32[2], (s8[]))"), S("(s8[3], (s8[]))")));
  EXPECT_FALSE(equal(S("(f32[2])"), S("(f32[2], f32[2])")));
  EXPECT_FALSE(equal(S("(f32[2])"), S("f32[2]")));
}

TEST(LayoutQueryTest, LayoutsInShapesEqualWithOptions) {
  const Layout::Equal minor_to_major_only = Layout::Equal().MinorToMajorOnly();
  EXPECT_TRUE(LayoutUtil::LayoutsInShapesEqual(S("f32[2]{0:T(2)S(1)}"), S("f32[2]"), minor_to_major_only));
  EXPECT_FALSE(LayoutUtil::LayoutsInShapesEqual(S("f32[2,2]{0,1:T(2)}"), S("f32[2,2]"), minor_to_major_only));
  EXPECT_FALSE(LayoutUtil::LayoutsInShapesEqual(S("(f32[2]{0:T(2)})"), S("(f32[2])"), minor_to_major_only))
      << "options stay at the top, as in XLA";
}

TEST(LayoutQueryTest, Order) {
  const struct {
    std::vector<int64_t> minor_to_major;
    bool ascending;
    bool descending;
  } kCases[] = {{{}, true, true},          {{0}, true, true},        {{0, 1}, true, false},
                {{1, 0}, false, true},     {{2, 1, 0}, false, true}, {{0, 1, 2}, true, false},
                {{1, 0, 2}, false, false}, {{0, 2, 1}, false, false}};
  for (const auto& c : kCases) {
    const Layout layout(c.minor_to_major);
    EXPECT_EQ(LayoutUtil::IsMonotonicWithDim0Minor(layout), c.ascending) << layout;
    EXPECT_EQ(LayoutUtil::HasAscendingLayout(layout), c.ascending) << layout;
    EXPECT_EQ(LayoutUtil::IsMonotonicWithDim0Major(layout), c.descending) << layout;
    EXPECT_EQ(LayoutUtil::HasDescendingLayout(layout), c.descending) << layout;
  }
}

TEST(LayoutQueryTest, MajorAndMinor) {
  const Shape shape = S("f32[2,3,4]{1,2,0}");
  EXPECT_THAT(LayoutUtil::MinorToMajor(shape), ElementsAre(1, 2, 0));
  EXPECT_THAT(LayoutUtil::MinorToMajor(shape.layout()), ElementsAre(1, 2, 0));
  EXPECT_EQ(LayoutUtil::Major(shape.layout(), 0), 0);
  EXPECT_EQ(LayoutUtil::Major(shape.layout(), 1), 2);
  EXPECT_EQ(LayoutUtil::Major(shape.layout(), 2), 1);
  EXPECT_EQ(LayoutUtil::Minor(shape.layout(), 0), 1);
  EXPECT_EQ(LayoutUtil::Minor(shape.layout(), 2), 0);
  EXPECT_THAT(LayoutUtil::MakeLogicalToPhysical(shape.layout()), ElementsAre(0, 2, 1));
  EXPECT_THAT(LayoutUtil::MakeLogicalToPhysical(Layout({2, 0, 1, 3})), ElementsAre(2, 1, 3, 0));
  EXPECT_THAT(LayoutUtil::MakeLogicalToPhysical(Layout()), IsEmpty());
}

TEST(LayoutQueryDeathTest, MajorOutOfRange) {
  EXPECT_DEATH(LayoutUtil::Major(Layout({1, 0}), 2), "Check failed");
  EXPECT_DEATH(LayoutUtil::Minor(Layout({1, 0}), 2), "Check failed");
  EXPECT_DEATH(LayoutUtil::MinorToMajor(S("()")), "not an array shape");
}

TEST(LayoutQueryTest, AreDimensionsConsecutive) {
  const Layout layout({3, 0, 2, 1});
  EXPECT_TRUE(LayoutUtil::AreDimensionsConsecutive(layout, {}));
  EXPECT_TRUE(LayoutUtil::AreDimensionsConsecutive(layout, {2}));
  EXPECT_TRUE(LayoutUtil::AreDimensionsConsecutive(layout, {0, 2}));
  EXPECT_TRUE(LayoutUtil::AreDimensionsConsecutive(layout, {2, 0, 3}));
  EXPECT_FALSE(LayoutUtil::AreDimensionsConsecutive(layout, {3, 2}));
  EXPECT_FALSE(LayoutUtil::AreDimensionsConsecutive(layout, {3, 0, 1}));
}

TEST(LayoutQueryTest, ByteStridesIsMajorToMinor) {
  EXPECT_TRUE(LayoutUtil::ByteStridesIsMajorToMinor({48, 16, 4}, {2, 3, 4}, F32));
  EXPECT_FALSE(LayoutUtil::ByteStridesIsMajorToMinor({48, 16, 8}, {2, 3, 4}, F32));
  EXPECT_FALSE(LayoutUtil::ByteStridesIsMajorToMinor({4, 8}, {2, 3}, F32));
  EXPECT_TRUE(LayoutUtil::ByteStridesIsMajorToMinor({}, {}, F32));
  EXPECT_DEATH(LayoutUtil::ByteStridesIsMajorToMinor({4}, {2, 3}, F32), "Check failed");
}

TEST(LayoutQueryTest, HumanString) {
  const Layout layout = S("f32[2,3]{1,0:T(8,128)S(1)}").layout();
  EXPECT_EQ(LayoutUtil::HumanString(layout), "{1,0:T(8,128)S(1)}");
  StringPrinter printer;
  LayoutUtil::PrintHumanString(&printer, layout);
  EXPECT_EQ(std::move(printer).ToString(), "{1,0:T(8,128)S(1)}");
}

// The column LI of array-model.md, 4.4: upstream's approximation, which is exact for one tile at most.
TEST(LayoutQueryTest, LinearIndex) {
  const struct {
    const char* shape;
    std::vector<int64_t> index;
    int64_t linear_index;
  } kCases[] = {
      {"f32[]{:T(2)}", {}, 0},
      {"f32[2,3]{0,1}", {1, 2}, 5},
      {"f32[2,3]{1,0}", {1, 1}, 4},
      {"f32[3,5]{1,0:T(2,2)}", {2, 3}, 17},
      {"f32[3,5]{0,1:T(2,2)}", {2, 3}, 14},
      {"f32[4,8]{1,0:T(2,4)(2,1)}", {1, 5}, 13},
      {"f32[8,8]{1,0:T(2,4)(2,1,1,1)}", {6, 5}, 57},
      {"f32[2,3,5]{2,1,0:T(2,2)}", {1, 2, 3}, 41},
      {"f32[2,3,5]{1,2,0:T(2,2)}", {1, 2, 3}, 38},
      {"f32[10]{0:T(4)}", {9}, 9},
      {"f32[10]{0:T(2,4)}", {9}, 9},
      {"bf16[16,256]{1,0:T(8,128)(2,1)}", {5, 130}, 1666},
      {"bf16[32,256]{1,0:T(8,128)(2,1,1,1)}", {13, 200}, 3784},
      {"s8[16,256]{1,0:T(8,128)(4,1)}", {7, 129}, 1921},
      {"f32[4,6]{1,0:T(3)(2)}", {2, 5}, 17},
      {"f32[4,6]{1,0:T(3)(2,1)}", {2, 5}, 17},
      {"f32[100]{0:T(32)(8)(4,1)}", {45}, 45},
      {"f32[6,4,9]{0,2,1:T(4,2)(2,1)}", {5, 3, 8}, 281},
      {"f32[1,1]{1,0:T(8,128)}", {0, 0}, 0},
      {"b(f32[2,3]{0,1})", {1, 2}, 5},
  };
  for (const auto& c : kCases) EXPECT_EQ(LayoutUtil::LinearIndex(S(c.shape), c.index), c.linear_index) << c.shape;
}

TEST(LayoutQueryDeathTest, LinearIndex) {
  EXPECT_DEATH(LayoutUtil::LinearIndex(WithoutLayout("f32[2]"), {0}), "no layout");
  EXPECT_DEATH(LayoutUtil::LinearIndex(S("f32[2,3]"), {0}), "Check failed");
  EXPECT_DEATH(LayoutUtil::LinearIndex(S("f32[2,3]{1,0:T(0)}"), {0, 0}), "Check failed");
}

TEST(LayoutQueryTest, MemorySpace) {
  EXPECT_EQ(LayoutUtil::MemorySpace(S("f32[2]{0:S(5)}")), 5);
  EXPECT_EQ(LayoutUtil::MemorySpace(S("f32[2]")), 0);
  EXPECT_EQ(LayoutUtil::MemorySpace(WithoutLayout("f32[2]")), 0);
  EXPECT_EQ(LayoutUtil::MemorySpace(S("(f32[2]{0:S(5)})")), 0);
}

TEST(LayoutQueryTest, Splits) {
  EXPECT_EQ(LayoutUtil::MaxSplitSize(S("f32[150,200]"), 0), 150);
  EXPECT_EQ(LayoutUtil::MaxSplitSize(WithoutLayout("f32[150,200]"), 1), 200);
  EXPECT_EQ(LayoutUtil::MaxSplitSize(S("f32[150,200]{1,0:SC(0:100)}"), 0), 100);
  EXPECT_EQ(LayoutUtil::MaxSplitSize(S("f32[150,200]{1,0:SC(0:40)}"), 0), 110);
  EXPECT_EQ(LayoutUtil::MaxSplitSize(S("f32[150,200]{1,0:SC(0:40,90)}"), 0), 60);
  EXPECT_EQ(LayoutUtil::MaxSplitSize(S("f32[150,200]{1,0:SC(0:)}"), 0), 150);
  EXPECT_EQ(LayoutUtil::MaxSplitSize(S("f32[150,200]{1,0:SC(0:100)}"), 1), 200);
  // The position is a physical one: 0 is the most major dimension, here logical dimension 1.
  EXPECT_EQ(LayoutUtil::MaxSplitSize(S("f32[150,200]{0,1:SC(0:60)}"), 0), 150);
  EXPECT_EQ(LayoutUtil::MaxSplitSize(S("f32[150,200]{0,1:SC(0:60)}"), 1), 140);

  EXPECT_EQ(LayoutUtil::MaxElementsInPerSplit(S("f32[150,200,100]")), 3000000);
  EXPECT_EQ(LayoutUtil::MaxElementsInPerSplit(S("f32[150,200,100]{2,1,0:SC(1:90)}")), 150 * 110 * 100);
  EXPECT_EQ(LayoutUtil::MaxElementsInPerSplit(S("f32[]")), 1);
}

TEST(LayoutQueryTest, GetSplitConfig) {
  EXPECT_EQ(LayoutUtil::GetSplitConfig(S("f32[8]")), std::nullopt);
  EXPECT_EQ(LayoutUtil::GetSplitConfig(WithoutLayout("f32[8]")), std::nullopt);
  EXPECT_EQ(LayoutUtil::GetSplitConfig(S("f32[8]{0:SC(0:2,4)}")), SplitConfig(0, {2, 4}));
  EXPECT_DEATH(LayoutUtil::GetSplitConfig(S("f32[8,8]{1,0:SC(0:2)(1:4)}")), "Check failed");
}

}  // namespace
}  // namespace kashi::array
