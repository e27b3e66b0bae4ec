#include "kashi/literal/array.h"

#include <cmath>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/literal/array2d.h"
#include "kashi/literal/array3d.h"
#include "kashi/literal/array4d.h"

namespace kashi::literal {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

template <typename T>
std::vector<T> Values(const Array<T>& array) {
  return std::vector<T>(array.begin(), array.end());
}

TEST(ArrayTest, Sizes) {
  const Array<uint32_t> zeros({2, 3});
  EXPECT_EQ(zeros.num_dimensions(), 2);
  EXPECT_EQ(zeros.num_elements(), 6);
  EXPECT_EQ(zeros.dim(0), 2);
  EXPECT_THAT(zeros.dimensions(), ElementsAre(2, 3));
  EXPECT_THAT(Values(zeros), ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_THAT(Values(Array<int>({2}, 7)), ElementsAre(7, 7));

  const Array<int> scalar({}, 5);
  EXPECT_EQ(scalar.num_dimensions(), 0);
  EXPECT_EQ(scalar.num_elements(), 1);
  EXPECT_EQ(scalar(), 5);
  EXPECT_EQ(Array<int>({4, 0, 2}).num_elements(), 0);
  EXPECT_DEATH(Array<int>({2, -1}), "");
  EXPECT_DEATH(Array<int>({int64_t{1} << 40, int64_t{1} << 40}), "too many");
  EXPECT_DEATH((void)zeros.dim(2), "dimension 2 of 2");
}

TEST(ArrayTest, Lists) {
  const Array<int> matrix({{1, 2, 3}, {4, 5, 6}});
  EXPECT_THAT(matrix.dimensions(), ElementsAre(2, 3));
  EXPECT_EQ(matrix(1, 0), 4);
  EXPECT_THAT((Array<int>({{{1, 2}, {3, 4}, {5, 6}}}).dimensions()), ElementsAre(1, 3, 2));
  EXPECT_THAT((Array<int>({{{{1, 2}, {3, 4}}}}).dimensions()), ElementsAre(1, 1, 2, 2));
  EXPECT_THAT((Array<bool>({{true, false}}).dimensions()), ElementsAre(1, 2));

  const Array<half> halves({1.0f, 2.5f});
  EXPECT_THAT(halves.dimensions(), ElementsAre(2));
  EXPECT_EQ(halves(1), half(2.5f));
  EXPECT_THAT((Array<bfloat16>({{1.0f, 2.0f}}).dimensions()), ElementsAre(1, 2));
  EXPECT_THAT((Array<float8_e5m2>({{{1.0f, 2.0f}}}).dimensions()), ElementsAre(1, 1, 2));
  EXPECT_THAT((Array<double>({{{{1.0f, 2.0f}}}}).dimensions()), ElementsAre(1, 1, 1, 2));
  EXPECT_THAT((Array<float>({1.0f}).dimensions()), ElementsAre(1));
  // Numbers that are not floats are sizes.
  EXPECT_THAT((Array<float>({2, 3}).dimensions()), ElementsAre(2, 3));
}

TEST(ArrayTest, RaggedListsDie) {
  EXPECT_DEATH(Array<int>({{1, 2}, {3}}), "different sizes");
  EXPECT_DEATH(Array<int>({{1}, {2, 3}}), "different sizes");
  EXPECT_DEATH(Array3D<int>({{{1}}, {{2}, {3}}}), "different sizes");
  EXPECT_DEATH(Array<half>({{1.0f, 2.0f}, {3.0f}}), "different sizes");
}

TEST(ArrayTest, CopyAndMove) {
  Array2D<int> a({{1, 2}, {3, 4}});
  Array2D<int> b = a;
  b(0, 0) = 9;
  EXPECT_EQ(a(0, 0), 1);
  EXPECT_NE(a, b);
  a = b;
  EXPECT_EQ(a, b);
  EXPECT_EQ(absl::HashOf(a), absl::HashOf(b));
  const int* data = b.data();
  Array2D<int> c = std::move(b);
  EXPECT_EQ(c.data(), data);
  EXPECT_EQ(c, a);
  EXPECT_EQ(b.num_dimensions(), 0);  // NOLINT: moved from
  EXPECT_EQ(b.num_elements(), 0);
  b = std::move(c);
  EXPECT_EQ(b, a);
}

TEST(ArrayTest, EqualityIsOfSizesToo) {
  Array<int> row({1, 4}, 3);
  Array<int> square({2, 2}, 3);
  EXPECT_FALSE(row == square);
  row.Reshape({2, 2});
  EXPECT_TRUE(row == square);
  EXPECT_DEATH(row.Reshape({3}), "");
}

TEST(ArrayTest, Elements) {
  Array<int> a({2, 3});
  a.FillIota(10);
  a(1, 1) = 70;
  EXPECT_EQ(a(std::vector<int64_t>{1, 1}), 70);
  a(std::vector<int64_t>{0, 2}) = 80;
  const Array<int>& constant = a;
  EXPECT_EQ(constant(0, 2), 80);
  EXPECT_EQ(constant(absl::Span<const int64_t>({1, 2})), 15);
  EXPECT_DEATH(a(std::vector<int64_t>{1}), "");
  *constant.data() = 90;
  EXPECT_THAT(Values(a), ElementsAre(90, 11, 80, 13, 70, 15));
}

TEST(ArrayTest, Fill) {
  Array<float> a({6});
  a.FillIota(-1);
  EXPECT_THAT(a, ElementsAre(-1, 0, 1, 2, 3, 4));
  a.FillRepeatedIota(5, 4);
  EXPECT_THAT(a, ElementsAre(5, 6, 7, 8, 5, 6));
  a.FillWithMultiples(0.5f);
  EXPECT_THAT(a, ElementsAre(0, 0.5, 1, 1.5, 2, 2.5));
  a.Fill(3);
  EXPECT_THAT(a, ElementsAre(3, 3, 3, 3, 3, 3));
  a.SetValues({1, 2, 3, 4, 5, 6});
  a.SetValues(std::vector<int>{6, 5, 4, 3, 2, 1});
  EXPECT_THAT(a, ElementsAre(6, 5, 4, 3, 2, 1));
  EXPECT_DEATH(a.SetValues({1, 2}), "");
}

TEST(ArrayTest, RandomNumbersAreTheSameInEveryRun) {
  Array<float> a({1000});
  a.FillRandom(2.0f, 5.0);
  std::mt19937 engine(12345);
  std::normal_distribution<double> distribution(5.0, 2.0);
  for (float value : a) ASSERT_EQ(value, static_cast<float>(distribution(engine)));

  Array<double> b({1000});
  b.FillRandomDouble(2.0, 5.0);
  EXPECT_EQ(static_cast<float>(b(999)), a(999));
  b.FillRandomDouble(2.0, 5.0, /*seed=*/1);
  EXPECT_NE(static_cast<float>(b(999)), a(999));

  Array<bfloat16> c({3});
  c.FillRandom(bfloat16(2.0f), 5.0);
  EXPECT_EQ(c(0), bfloat16(a(0)));
  Array<complex64> complex({3});
  complex.FillRandom(complex64(2.0f, 0.0f), 5.0);
  EXPECT_EQ(complex(0), complex64(a(0), a(1)));

  Array<int8_t> bytes({200});
  bytes.FillRandomUniform(-3, 3);
  const std::set<int> seen(bytes.begin(), bytes.end());
  EXPECT_THAT(seen, ElementsAre(-3, -2, -1, 0, 1, 2, 3));
  Array<bool> flags({100});
  flags.FillRandomBool();
  EXPECT_EQ((std::set<bool>(flags.begin(), flags.end()).size()), 2);
}

TEST(ArrayTest, Each) {
  Array<int> a({2, 2});
  a.FillIota(1);
  std::vector<std::pair<std::vector<int64_t>, int>> seen;
  a.Each([&](absl::Span<const int64_t> index, int* value) {
    seen.emplace_back(std::vector<int64_t>(index.begin(), index.end()), *value);
    *value *= 10;
  });
  EXPECT_THAT(seen, ElementsAre(Pair(ElementsAre(0, 0), 1), Pair(ElementsAre(0, 1), 2), Pair(ElementsAre(1, 0), 3),
                                Pair(ElementsAre(1, 1), 4)));
  const Array<int>& constant = a;
  int sum = 0;
  constant.Each([&](absl::Span<const int64_t>, int value) { sum += value; });
  constant.TemplatedEach([&](absl::Span<const int64_t>, int value) { sum += value; });
  EXPECT_EQ(sum, 200);

  int calls = 0;
  const absl::Status status = constant.EachStatus([&](absl::Span<const int64_t>, int value) {
    ++calls;
    return value == 20 ? absl::InternalError("twenty") : absl::OkStatus();
  });
  EXPECT_EQ(status.message(), "twenty");
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(a.EachStatus([](absl::Span<const int64_t>, int*) { return absl::OkStatus(); }).ok());

  Array<int>({0, 3}).Each([](absl::Span<const int64_t>, int*) { FAIL() << "there are no elements"; });
}

TEST(ArrayTest, Slice) {
  Array<int> a({3, 4});
  a.FillIota(0);
  EXPECT_EQ(a.Slice({1, 1}, {3, 3}), Array<int>({{5, 6}, {9, 10}}));
  EXPECT_EQ(a.Slice({0, 0}, {3, 4}), a);
  EXPECT_THAT(a.Slice({1, 2}, {1, 4}).dimensions(), ElementsAre(0, 2));
  EXPECT_EQ(a.Slice({2, 3}, {4, 5}, -1), Array<int>({{11, -1}, {-1, -1}}));
  EXPECT_EQ(a.Slice({5, 0}, {6, 2}, -1), Array<int>({{-1, -1}}));
  EXPECT_EQ(Array<int>({}, 3).Slice({}, {}), Array<int>({}, 3));
  EXPECT_DEATH(a.Slice({2, 3}, {4, 4}), "");
  EXPECT_DEATH(a.Slice({-1, 0}, {1, 1}), "slice");
  EXPECT_DEATH(a.Slice({0}, {1}), "");
}

TEST(ArrayTest, UpdateSlice) {
  Array<int> a({3, 4}, 0);
  a.UpdateSlice(Array<int>({{1, 2}, {3, 4}}), {1, 2});
  EXPECT_EQ(a, Array<int>({{0, 0, 0, 0}, {0, 0, 1, 2}, {0, 0, 3, 4}}));
  a.UpdateSlice(Array<int>({0, 4}), {3, 0});
  EXPECT_DEATH(a.UpdateSlice(Array<int>({{1, 2}}), {0, 3}), "");
  EXPECT_DEATH(a.UpdateSlice(Array<int>({{1, 2}}), {-1, 0}), "");
}

TEST(ArrayTest, TransposeDimensions) {
  Array<int> a({2, 3, 4});
  a.FillIota(0);
  Array<int> b = a;
  b.TransposeDimensions({2, 0, 1});
  EXPECT_THAT(b.dimensions(), ElementsAre(4, 2, 3));
  b.Each([&](absl::Span<const int64_t> i, int* value) { EXPECT_EQ(*value, a(i[1], i[2], i[0])); });
  b.TransposeDimensions(std::vector<int64_t>{1, 2, 0});
  EXPECT_EQ(a, b);
  b.TransposeDimensions(std::vector<int>{0, 1, 2});
  EXPECT_EQ(a, b);
  Array<int> empty({0, 3});
  empty.TransposeDimensions({1, 0});
  EXPECT_THAT(empty.dimensions(), ElementsAre(3, 0));
  EXPECT_DEATH(a.TransposeDimensions({0, 0, 1}), "permutation");
  EXPECT_DEATH(a.TransposeDimensions({0, 3, 1}), "permutation");
  EXPECT_DEATH(a.TransposeDimensions({0, 1}), "");
}

TEST(ArrayTest, ToString) {
  EXPECT_EQ(Array<int>({}, 3).ToString(), "");
  EXPECT_EQ(Array<int>({3}, 1).ToString(), "[1, 1, 1]");
  EXPECT_EQ(Array<int>({{1, 2}, {3, 4}}).ToString(), "[[1, 2],\n [3, 4]]");
  EXPECT_EQ(Array<int>({{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}).ToString(),
            "[[[1, 2],\n  [3, 4]],\n [[5, 6],\n  [7, 8]]]");
  EXPECT_EQ(Array<half>({0.5f, 2.0f}).ToString(), "[0.5, 2]");
  EXPECT_EQ((Array<s4>({{s4(-2), s4(3)}}).ToString()), "[[-2, 3]]");
  EXPECT_EQ((Array<int8_t>({{65}}).ToString()), "[[65]]");
  EXPECT_EQ((Array<complex64>({{complex64(1, -2)}}).ToString()), "[[(1, -2)]]");
  EXPECT_EQ(Array<int>({2, 0}).ToString(), "[[],\n []]");
  EXPECT_EQ(Array<int>({0}).ToString(), "[]");
  EXPECT_EQ(Array<int>({0, 0}).ToString(), "[[]]");
  EXPECT_EQ(Array<int>({0, 2}).ToString(), "[[, ]]");
}

TEST(Array2DTest, All) {
  EXPECT_EQ(Array2D<float>().num_elements(), 0);
  Array2D<float> a(2, 3, 1.5f);
  EXPECT_EQ(a.n1(), 2);
  EXPECT_EQ(a.height(), 2);
  EXPECT_EQ(a.n2(), 3);
  EXPECT_EQ(a.width(), 3);
  EXPECT_EQ(a(1, 2), 1.5f);
  a.FillUnique();
  EXPECT_THAT(a, ElementsAre(0, 1, 2, 4, 5, 6));
  a.FillUnique(10);
  EXPECT_THAT(a, ElementsAre(10, 11, 12, 14, 15, 16));
  a.Each([](int64_t i, int64_t j, float* value) { *value = static_cast<float>(10 * i + j); });
  EXPECT_EQ(a, Array2D<float>({{0, 1, 2}, {10, 11, 12}}));
  Array2D<half> halves({{1.0f, 2.0f}});
  halves.FillUnique();
  EXPECT_THAT(halves, ElementsAre(half(0.0f), half(1.0f)));
}

TEST(Array2DTest, MakeLinspace) {
  EXPECT_EQ(*MakeLinspaceArray2D(1.0, 3.5, 3, 2), Array2D<float>({{1.0f, 1.5f}, {2.0f, 2.5f}, {3.0f, 3.5f}}));
  EXPECT_EQ(*MakeLinspaceArray2D<double>(1.0, 3.0, 1, 1), Array2D<double>(1, 1, 3.0));
  EXPECT_EQ(MakeLinspaceArray2D(1.0, 3.0, 0, 5)->num_elements(), 0);
}

TEST(Array3DTest, All) {
  EXPECT_EQ(Array3D<int>().num_elements(), 0);
  Array3D<int> a({{{1, 2}}, {{3, 4}}, {{5, 6}}});
  EXPECT_EQ(a.n1(), 3);
  EXPECT_EQ(a.n2(), 1);
  EXPECT_EQ(a.n3(), 2);
  EXPECT_EQ(a(2, 0, 1), 6);
  EXPECT_EQ(Array3D<int>(1, 2, 3, 4)(0, 1, 2), 4);
  Array3D<int> unique(2, 3, 2);
  unique.FillUnique(100);
  EXPECT_THAT(unique, ElementsAre(100, 101, 102, 103, 104, 105, 108, 109, 110, 111, 112, 113));
  EXPECT_EQ((Array3D<bfloat16>({{{1.0f, 2.0f}}}).n3()), 2);
}

TEST(Array4DTest, Sizes) {
  EXPECT_EQ(Array4D<int>().num_elements(), 0);
  const Array4D<int> a(2, 3, 4, 5);
  EXPECT_EQ(a.planes(), 2);
  EXPECT_EQ(a.n1(), 2);
  EXPECT_EQ(a.depth(), 3);
  EXPECT_EQ(a.n2(), 3);
  EXPECT_EQ(a.height(), 4);
  EXPECT_EQ(a.n3(), 4);
  EXPECT_EQ(a.width(), 5);
  EXPECT_EQ(a.n4(), 5);
  EXPECT_EQ(Array4D<float>(1, 1, 1, 2, 7)(0, 0, 0, 1), 7);
  EXPECT_EQ(Array4D<float>(1, 1, 1, 2, {7, 8})(0, 0, 0, 1), 8);
  EXPECT_EQ(Array4D<float>(1, 1, 1, 2, std::vector<double>{7, 8})(0, 0, 0, 1), 8);
  EXPECT_EQ(Array4D<half>({{{{1.0f}, {2.0f}}}})(0, 0, 1, 0), half(2.0f));
  EXPECT_DEATH(Array4D<float>(1, 1, 1, 2, {7, 8, 9}), "");
}

TEST(Array4DTest, FillWithMatrices) {
  Array4D<int> a(2, 2, 2, 3);
  a.FillWithYX(Array2D<int>({{1, 2, 3}, {4, 5, 6}}));
  a.Each([](absl::Span<const int64_t> i, int* value) { EXPECT_EQ(*value, 1 + 3 * i[2] + i[3]); });
  a.FillWithZY(Array2D<int>({{1, 2}, {3, 4}}));
  a.Each([](absl::Span<const int64_t> i, int* value) { EXPECT_EQ(*value, 1 + 2 * i[1] + i[2]); });
  a.FillWithPZ(Array2D<int>({{1, 2}, {3, 4}}));
  a.Each([](absl::Span<const int64_t> i, int* value) { EXPECT_EQ(*value, 1 + 2 * i[0] + i[1]); });
  a.FillWithMinorDimNum();
  a.Each([](absl::Span<const int64_t> i, int* value) { EXPECT_EQ(*value, 2 * i[0] + i[1]); });
  EXPECT_DEATH(a.FillWithYX(Array2D<int>(3, 2)), "");
}

}  // namespace
}  // namespace kashi::literal
