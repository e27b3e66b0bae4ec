#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

std::string SortText(absl::string_view type, absl::string_view sizes, int dimension, absl::string_view compare) {
  return absl::StrFormat(R"(
    cmp { a = %1$s[] parameter(0)
          b = %1$s[] parameter(1)
          %4$s }
    ENTRY e { x = %1$s[%2$s] parameter(0)
              ROOT r = %1$s[%2$s] sort(x), dimensions={%3$d}, to_apply=cmp })",
                         type, sizes, dimension, compare);
}

Literal Sort(const Literal& x, absl::string_view type, absl::string_view compare) {
  const int64_t n = x.element_count();
  return EvaluateText(SortText(type, absl::StrFormat("%d", n), 0, compare), std::vector<const Literal*>{&x});
}

// docs/spec/hlo-ops.md, 15.
TEST(SortTest, TotalOrder) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const Literal x = LiteralUtil::CreateR1<float>({3, kNan, 0, -0.0f, -kNan, -1});
  const Literal out = Sort(x, "f32", "ROOT r = pred[] compare(a, b), direction=LT, type=TOTALORDER");
  const std::vector<float> expected = {-kNan, -1, -0.0f, 0, 3, kNan};
  for (int i = 0; i < 6; ++i) {
    const float v = out.Get<float>({i});
    EXPECT_TRUE(v == expected[i] || (v != v && expected[i] != expected[i])) << i << ": " << v;
    EXPECT_EQ(std::signbit(v), std::signbit(expected[i])) << i;
  }
}

TEST(SortTest, StableWithAnotherOperand) {
  for (const bool is_stable : {false, true}) {
    const Literal out = EvaluateText(absl::StrFormat(R"(
      cmp { a = s32[] parameter(0)
            b = s32[] parameter(1)
            c = s32[] parameter(2)
            d = s32[] parameter(3)
            ROOT r = pred[] compare(a, b), direction=LT }
      ENTRY e { k = s32[6] constant({1,0,1,0,1,0})
                v = s32[6] constant({0,1,2,3,4,5})
                ROOT r = (s32[6], s32[6]) sort(k, v), dimensions={0}, is_stable=%s, to_apply=cmp })",
                                                     is_stable ? "true" : "false"));
    const Literal keys = LiteralUtil::CreateR1<int32_t>({0, 0, 0, 1, 1, 1});
    const Literal values = LiteralUtil::CreateR1<int32_t>({1, 3, 5, 0, 2, 4});
    EXPECT_EQ(out, LiteralUtil::MakeTuple({&keys, &values}));
  }
}

// The orders of equal elements are those of XLA's compiled code.
TEST(SortTest, UnstableAsXlaSorts) {
  std::vector<int32_t> key(40), half(40), place(40);
  for (int i = 0; i < 40; ++i) {
    key[i] = 7 * i % 3;
    half[i] = i / 20;
    place[i] = i;
  }
  const Literal k = LiteralUtil::CreateR1<int32_t>(key), h = LiteralUtil::CreateR1<int32_t>(half);
  const Literal p = LiteralUtil::CreateR1<int32_t>(place);
  constexpr absl::string_view kParameters = R"(
      cmp { a = s32[] parameter(0) b = s32[] parameter(1) c = s32[] parameter(2) d = s32[] parameter(3)
            e = s32[] parameter(4) f = s32[] parameter(5) )";
  constexpr absl::string_view kEntry = R"( }
      ENTRY e { k = s32[40] parameter(0) h = s32[40] parameter(1) p = s32[40] parameter(2)
                r = (s32[40], s32[40], s32[40]) sort(k, h, p), dimensions={0}, to_apply=cmp
                ROOT x = s32[40] get-tuple-element(r), index=2 })";
  EXPECT_EQ(
      EvaluateText(absl::StrCat(kParameters, "ROOT r = pred[] compare(a, b), direction=LT", kEntry), {&k, &h, &p}),
      LiteralUtil::CreateR1<int32_t>({0, 21, 18, 24, 15, 27, 12, 30, 9,  33, 6, 36, 3, 39, 31, 34, 28, 37, 25, 22,
                                      1, 19, 16, 4,  13, 7,  10, 2,  20, 38, 5, 35, 8, 32, 11, 29, 14, 26, 17, 23}));
  EXPECT_EQ(
      EvaluateText(absl::StrCat(kParameters, R"(
            first = pred[] compare(a, b), direction=LT
            same = pred[] compare(a, b), direction=EQ
            second = pred[] compare(c, d), direction=LT
            both = pred[] and(same, second)
            ROOT r = pred[] or(first, both))",
                                kEntry),
                   {&k, &h, &p}),
      LiteralUtil::CreateR1<int32_t>({0, 3,  6,  9,  12, 18, 15, 39, 36, 33, 30, 27, 24, 21, 1,  19, 16, 13, 4,  10,
                                      7, 37, 34, 22, 25, 31, 28, 2,  5,  8,  11, 14, 17, 29, 26, 32, 23, 35, 20, 38}));
}

TEST(SortTest, AlongEitherDimension) {
  const Literal x = LiteralUtil::CreateR2<int32_t>({{3, 1, 2}, {0, 5, -4}});
  const std::vector<const Literal*> arguments = {&x};
  constexpr absl::string_view kLess = "ROOT r = pred[] compare(a, b), direction=LT";
  EXPECT_EQ(EvaluateText(SortText("s32", "2,3", 0, kLess), arguments),
            LiteralUtil::CreateR2<int32_t>({{0, 1, -4}, {3, 5, 2}}));
  EXPECT_EQ(EvaluateText(SortText("s32", "2,3", 1, kLess), arguments),
            LiteralUtil::CreateR2<int32_t>({{1, 2, 3}, {-4, 0, 5}}));
}

TEST(SortTest, TwoKeys) {
  const Literal out = EvaluateText(R"(
    cmp { a = s32[] parameter(0)
          b = s32[] parameter(1)
          c = s32[] parameter(2)
          d = s32[] parameter(3)
          less = pred[] compare(a, b), direction=LT
          same = pred[] compare(a, b), direction=EQ
          then = pred[] compare(c, d), direction=GT
          both = pred[] and(same, then)
          ROOT r = pred[] or(less, both) }
    ENTRY e { k = s32[5] constant({1,0,1,0,1})
              v = s32[5] constant({7,8,9,6,8})
              ROOT r = (s32[5], s32[5]) sort(k, v), dimensions={0}, to_apply=cmp })");
  const Literal keys = LiteralUtil::CreateR1<int32_t>({0, 0, 1, 1, 1});
  const Literal values = LiteralUtil::CreateR1<int32_t>({8, 6, 9, 8, 7});
  EXPECT_EQ(out, LiteralUtil::MakeTuple({&keys, &values}));
}

// JAX's order of floating-point numbers: zeros are equal, NaNs are equal and last.
constexpr absl::string_view kJaxLess = R"(
    zero = f32[] constant(0)
    none = f32[] constant(nan)
    a0 = pred[] compare(a, zero), direction=EQ
    a1 = f32[] select(a0, zero, a)
    a2 = pred[] compare(a, a), direction=NE
    a3 = f32[] select(a2, none, a1)
    b0 = pred[] compare(b, zero), direction=EQ
    b1 = f32[] select(b0, zero, b)
    b2 = pred[] compare(b, b), direction=NE
    b3 = f32[] select(b2, none, b1)
    ROOT r = pred[] compare(a3, b3), direction=LT, type=TOTALORDER)";

TEST(SortTest, AsJaxDoes) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const Literal x = LiteralUtil::CreateR1<float>({3, -kNan, 0, -0.0f, kNan, -1, -kInf, 0, kInf});
  const Literal out = Sort(x, "f32", kJaxLess);
  const std::vector<float> expected = {-kInf, -1, 0, -0.0f, 0, 3, kInf, -kNan, kNan};
  for (int i = 0; i < 9; ++i) {
    const float v = out.Get<float>({i});
    EXPECT_TRUE(v == expected[i] || (v != v && expected[i] != expected[i])) << i << ": " << v;
    EXPECT_EQ(std::signbit(v), std::signbit(expected[i])) << i;
  }
}

// Keys against comparator: the same order in a form in which no key is found (not(b <= a), and so on).
TEST(SortTest, KeysAgreeWithTheComparator) {
  std::mt19937 random(6);
  for (const char* type : {"f32", "s32", "u8", "f64", "bf16", "u64", "s4", "f8e4m3fnuz"}) {
    const PrimitiveType primitive = *primitive_util::StringToPrimitiveType(type);
    for (const int64_t n : {2, 9, 100, 255, 256, 3000}) {
      Literal x(ShapeUtil::MakeShape(primitive, {n}));
      Literal places(ShapeUtil::MakeShape(S32, {n}));
      std::iota(places.data<int32_t>().begin(), places.data<int32_t>().end(), 0);
      char* const bytes = static_cast<char*>(x.untyped_data());
      for (int64_t i = 0; i < x.size_bytes(); ++i) bytes[i] = static_cast<char>(random() % 5 * 37);
      if (primitive == S4) {
        for (int64_t i = 0; i < n; ++i) bytes[i] &= 15;
      }
      const auto sort = [&](absl::string_view root) {
        return EvaluateText(absl::StrFormat(R"(
          cmp { a = %1$s[] parameter(0)
                b = %1$s[] parameter(1)
                c = s32[] parameter(2)
                d = s32[] parameter(3)
                %3$s }
          ENTRY e { x = %1$s[%2$d] parameter(0)
                    i = s32[%2$d] parameter(1)
                    ROOT r = (%1$s[%2$d], s32[%2$d]) sort(x, i), dimensions={0}, to_apply=cmp })",
                                            type, n, root),
                            std::vector<const Literal*>{&x, &places});
      };
      for (const char* direction : {"LT", "GT", "LE", "GE"}) {
        const Literal by_key = sort(absl::StrFormat("ROOT r = pred[] compare(a, b), direction=%s", direction));
        const Literal by_comparator = sort(absl::StrFormat(
            "n = pred[] compare(a, b), direction=%s\nm = pred[] not(n)\nROOT r = pred[] not(m)", direction));
        const Literal swapped = sort(absl::StrFormat("ROOT r = pred[] compare(b, a), direction=%c%c",
                                                     direction[0] == 'L' ? 'G' : 'L', direction[1]));
        const absl::Span<const int32_t> expected = by_comparator.data<int32_t>({1});
        EXPECT_EQ(by_key.data<int32_t>({1}), expected) << type << " " << n << " " << direction;
        EXPECT_EQ(swapped.data<int32_t>({1}), expected) << type << " " << n << " " << direction;
      }
    }
  }
}

TEST(SortTest, ContradictoryComparatorsEnd) {
  Literal x(ShapeUtil::MakeShape(F32, {1000}));
  std::mt19937 random(7);
  for (float& v : x.data<float>()) v = random() % 3 == 0 ? std::nanf("") : static_cast<float>(random() % 100);
  for (const absl::string_view root :
       {"ROOT r = pred[] compare(a, b), direction=LT", "ROOT r = pred[] compare(a, b), direction=NE",
        "ROOT r = pred[] constant(true)", "ROOT r = pred[] constant(false)"}) {
    const Literal out = Sort(x, "f32", root);
    std::vector<uint32_t> a(1000), b(1000);
    std::memcpy(a.data(), x.untyped_data(), 4000);
    std::memcpy(b.data(), out.untyped_data(), 4000);
    EXPECT_TRUE(std::is_permutation(a.begin(), a.end(), b.begin())) << root;
  }
}

TEST(SortTest, ManyLinesInTheMiddle) {
  std::mt19937 random(8);
  Literal x(ShapeUtil::MakeShape(S32, {4, 300, 7}));
  for (int32_t& v : x.data<int32_t>()) v = random();
  const Literal out = EvaluateText(SortText("s32", "4,300,7", 1, "ROOT r = pred[] compare(a, b), direction=GT"),
                                   std::vector<const Literal*>{&x});
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t k = 0; k < 7; ++k) {
      std::vector<int32_t> line(300);
      for (int64_t j = 0; j < 300; ++j) line[j] = x.Get<int32_t>({i, j, k});
      std::sort(line.rbegin(), line.rend());
      for (int64_t j = 0; j < 300; ++j) ASSERT_EQ(out.Get<int32_t>({i, j, k}), line[j]);
    }
  }
}

TEST(SortTest, NothingAndOne) {
  const Literal none = LiteralUtil::CreateR1<float>({});
  EXPECT_EQ(Sort(none, "f32", "ROOT r = pred[] compare(a, b), direction=LT"), none);
  const Literal one = LiteralUtil::CreateR1<float>({5});
  EXPECT_EQ(Sort(one, "f32", "ROOT r = pred[] compare(a, b), direction=LT"), one);
}

}  // namespace
}  // namespace kashi::evaluator
