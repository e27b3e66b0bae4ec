#include "kashi/kernels/matrix_product.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"
#include "kashi/base/parallel.h"

namespace kashi::kernels {
namespace {

template <typename T>
class MatrixProductTest : public testing::Test {};
using Types = testing::Types<float, double, uint32_t, uint64_t, complex64, complex128>;
TYPED_TEST_SUITE(MatrixProductTest, Types);

// Small integers, whose sums are exact in every type. Complex ones have both parts.
template <typename T>
T RandomElement(std::mt19937_64& random) {
  const auto number = [&random] { return static_cast<double>(static_cast<int64_t>(random() % 19)); };
  if constexpr (is_complex_v<T>) {
    const double real = number(), imaginary = number() - 9;
    return T(static_cast<typename T::value_type>(real), static_cast<typename T::value_type>(imaginary));
  } else {
    return static_cast<T>(number());
  }
}

template <typename T>
std::vector<T> RandomElements(int64_t count, std::mt19937_64& random) {
  std::vector<T> elements(count);
  for (T& element : elements) element = RandomElement<T>(random);
  return elements;
}

// Ways in which matrices [batch, rows, columns] may lie.
enum class Order { kRowMajor, kColumnMajor, kBatchMinor, kSharedByBatch };

struct Strides {
  int64_t batch, row, column;
};
Strides StridesOf(Order order, const MatrixProductSizes& sizes, int64_t rows, int64_t columns, int64_t gap) {
  switch (order) {
    case Order::kRowMajor:
      return {rows * (columns + gap), columns + gap, 1};
    case Order::kColumnMajor:
      return {columns * (rows + gap), 1, rows + gap};
    case Order::kBatchMinor:
      return {1, columns * sizes.batch, sizes.batch};
    case Order::kSharedByBatch:
      return {0, columns + gap, 1};
  }
  return {};
}

struct ProductCase {
  MatrixProductSizes sizes;
  Order lhs, rhs;
  int64_t gap;
  bool add;
};

std::ostream& operator<<(std::ostream& out, const ProductCase& c) {
  return out << "batch " << c.sizes.batch << " m " << c.sizes.m << " k " << c.sizes.k << " n " << c.sizes.n << " lhs "
             << static_cast<int>(c.lhs) << " rhs " << static_cast<int>(c.rhs) << " gap " << c.gap << " add " << c.add;
}

// A packed rhs must give the same products as rhs itself.
template <typename T>
void CheckPacked(const ProductCase& c, const MatrixOperand<T>& lhs, const MatrixOperand<T>& rhs,
                 const std::vector<T>& expected, const Strides& strides) {
  if constexpr (std::is_floating_point_v<T>) {
    const int64_t bytes = PackedRhsBytes<T>(c.sizes, lhs, rhs);
    if (c.add || bytes == 0) return;
    std::vector<T> packed(bytes / static_cast<int64_t>(sizeof(T))), out = expected;
    PackRhs(c.sizes, rhs, packed.data());
    for (int64_t b = 0; b < c.sizes.batch; ++b) {
      for (int64_t i = 0; i < c.sizes.m; ++i) {
        std::fill_n(out.data() + b * strides.batch + i * strides.row, c.sizes.n, T(-1));
      }
    }
    ASSERT_TRUE(MatrixProductOfPacked<T>(c.sizes, lhs, packed.data(), {out.data(), strides.batch, strides.row}).ok());
    ASSERT_TRUE(out == expected) << "packed: " << c;
  }
}

// Compares the product with the three loops that define it, and the bytes between rows with their old contents.
template <typename T>
void CheckCase(const ProductCase& c, std::mt19937_64& random) {
  const MatrixProductSizes& s = c.sizes;
  const int64_t gap = c.gap;
  const Strides l = StridesOf(c.lhs, s, s.m, s.k, gap), r = StridesOf(c.rhs, s, s.k, s.n, gap);
  const Strides o = StridesOf(Order::kRowMajor, s, s.m, s.n, gap);
  const std::vector<T> lhs = RandomElements<T>(s.batch * (s.m + gap) * (s.k + gap), random);
  const std::vector<T> rhs = RandomElements<T>(s.batch * (s.k + gap) * (s.n + gap), random);
  std::vector<T> out = RandomElements<T>(s.batch * s.m * (s.n + gap), random);
  std::vector<T> expected = out;
  for (int64_t b = 0; b < s.batch; ++b) {
    for (int64_t i = 0; i < s.m; ++i) {
      for (int64_t j = 0; j < s.n; ++j) {
        T sum = c.add ? expected[b * o.batch + i * o.row + j] : T(0);
        for (int64_t p = 0; p < s.k; ++p) {
          sum += lhs[b * l.batch + i * l.row + p * l.column] * rhs[b * r.batch + p * r.row + j * r.column];
        }
        expected[b * o.batch + i * o.row + j] = sum;
      }
    }
  }
  const MatrixOperand<T> left = {lhs.data(), l.batch, l.row, l.column}, right = {rhs.data(), r.batch, r.row, r.column};
  ASSERT_TRUE(MatrixProduct<T>(s, left, right, {out.data(), o.batch, o.row},
                               c.add ? MatrixProductMode::kAdd : MatrixProductMode::kAssign)
                  .ok());
  ASSERT_TRUE(out == expected) << c;
  CheckPacked(c, left, right, expected, o);
}

TYPED_TEST(MatrixProductTest, AgreesWithThreeLoopsOnSmallSizes) {
  std::mt19937_64 random(1);
  for (int64_t m : {0, 1, 2, 3, 4, 5, 6, 7, 13}) {
    for (int64_t k : {0, 1, 2, 5, 17}) {
      for (int64_t n : {0, 1, 2, 3, 8, 15, 16, 17, 33}) {
        for (int order = 0; order < 16; ++order) {
          const ProductCase c{
              {2, m, k, n}, static_cast<Order>(order / 4), static_cast<Order>(order % 4), order % 3, n % 2 == 0};
          CheckCase<TypeParam>(c, random);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(MatrixProductTest, AgreesWithThreeLoopsOnRandomSizes) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 60; ++i) {
    const auto size = [&random](int64_t limit) { return static_cast<int64_t>(1 + random() % limit); };
    // Each of three sizes is large in turn: then there are several blocks, stretches of k, or panels.
    ProductCase c{{size(3), size(i % 3 == 0 ? 500 : 30), size(i % 3 == 1 ? 900 : 30), size(i % 3 == 2 ? 2500 : 30)},
                  static_cast<Order>(random() % 4),
                  static_cast<Order>(random() % 4),
                  static_cast<int64_t>(random() % 2),
                  random() % 2 == 0};
    CheckCase<TypeParam>(c, random);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TYPED_TEST(MatrixProductTest, OfManyBlocks) {
  std::mt19937_64 random(3);
  for (Order order : {Order::kRowMajor, Order::kColumnMajor}) {
    CheckCase<TypeParam>({{1, 257, 300, 270}, order, order, 0, false}, random);
    CheckCase<TypeParam>({{300, 5, 6, 7}, order, order, 0, false}, random);
  }
}

TEST(MatrixProductTest, IntegersWrap) {
  const uint32_t lhs[] = {0x80000001u, 7}, rhs[] = {3, 0xffffffffu};
  uint32_t out[1];
  ASSERT_TRUE(MatrixProduct<uint32_t>({1, 1, 2, 1}, {lhs, 0, 2, 1}, {rhs, 0, 1, 1}, {out, 0, 1}).ok());
  EXPECT_EQ(out[0], 0x80000003u - 7);
}

// Elements beyond the matrices are read nowhere, not even where tiles are filled up: NaN would spread.
TEST(MatrixProductTest, NothingOutsideCounts) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (int64_t m = 1; m < 9; ++m) {
    for (int64_t n = 1; n < 40; ++n) {
      std::vector<float> lhs(m * 4, 1), rhs(3 * (n + 2), 1), out(m * n);
      for (int64_t i = 0; i < m; ++i) lhs[i * 4 + 3] = nan;
      for (int64_t p = 0; p < 3; ++p) rhs[p * (n + 2) + n] = rhs[p * (n + 2) + n + 1] = nan;
      ASSERT_TRUE(
          MatrixProduct<float>({1, m, 3, n}, {lhs.data(), 0, 4, 1}, {rhs.data(), 0, n + 2, 1}, {out.data(), 0, n})
              .ok());
      ASSERT_TRUE(out == std::vector<float>(m * n, 3)) << m << " " << n;
    }
  }
}

TEST(MatrixProductTest, PackingInAdvanceWhereItServes) {
  const auto bytes = [](const MatrixProductSizes& s) {
    return PackedRhsBytes<float>(s, {nullptr, s.m * s.k, s.k, 1}, {nullptr, s.k * s.n, s.n, 1});
  };
  EXPECT_GE(bytes({1, 32, 100, 1000}), 4 * 100 * 1000);
  EXPECT_GE(bytes({3, 2, 100, 1000}), 4 * 3 * 100 * 1000);
  EXPECT_EQ(bytes({1, 1, 100, 1000}), 0);    // rhs is read once
  EXPECT_EQ(bytes({1, 200, 300, 1000}), 0);  // both are packed as a whole
  EXPECT_EQ(bytes({1, 32, 100, 1}), 0);
  EXPECT_EQ(bytes({1, 32, 0, 1000}), 0);
  EXPECT_EQ(bytes({int64_t{1} << 40, 32, int64_t{1} << 20, int64_t{1} << 20}), INT64_MAX);
}

// A loop inside a loop runs in one thread.
TEST(MatrixProductTest, ThreadsDoNotChangeRounding) {
  std::mt19937_64 random(4);
  std::normal_distribution<float> normal;
  for (const MatrixProductSizes& s : {MatrixProductSizes{1, 300, 600, 700}, MatrixProductSizes{1, 1, 3000, 5000},
                                      MatrixProductSizes{7, 40, 50, 300}, MatrixProductSizes{1, 5000, 800, 1}}) {
    std::vector<float> lhs(s.batch * s.m * s.k), rhs(s.batch * s.k * s.n), out(s.batch * s.m * s.n), alone(out.size());
    for (float& x : lhs) x = normal(random);
    for (float& x : rhs) x = normal(random);
    const MatrixOperand<float> left = {lhs.data(), s.m * s.k, s.k, 1}, right = {rhs.data(), s.k * s.n, s.n, 1};
    ASSERT_TRUE(MatrixProduct<float>(s, left, right, {out.data(), s.m * s.n, s.n}).ok());
    base::ParallelFor(2 * base::ParallelThreadCount(), 1, [&](int64_t begin, int64_t, int) {
      if (begin != 0) return;
      EXPECT_TRUE(MatrixProduct<float>(s, left, right, {alone.data(), s.m * s.n, s.n}).ok());
    });
    EXPECT_TRUE(out == alone);
  }
}

TEST(MatrixProductTest, AddScaledColumns) {
  std::mt19937_64 random(5);
  for (int64_t columns : {1, 3, 8, 21}) {
    const std::vector<float> lhs = RandomElements<float>(5 * columns, random),
                             scales = RandomElements<float>(columns, random);
    std::vector<float> out = RandomElements<float>(5 * columns, random), expected = out;
    for (int64_t i = 0; i < 5 * columns; ++i) expected[i] += lhs[i] * scales[i % columns];
    AddScaledColumns<float>(5, columns, {lhs.data(), 0, columns, 1}, scales.data(), {out.data(), 0, columns});
    EXPECT_EQ(out, expected);
  }
}

TEST(MatrixProductTest, AccumulationTypes) {
  for (PrimitiveType type : {PRED, F4E2M1FN, F8E5M2, F16, BF16, F32}) EXPECT_EQ(AccumulationType(type), F32);
  for (PrimitiveType type : {F64, C64, C128, S64, U64}) EXPECT_EQ(AccumulationType(type), type);
  for (PrimitiveType type : {S1, S4, S8, S16, S32}) EXPECT_EQ(AccumulationType(type), S32);
  for (PrimitiveType type : {U2, U8, U16, U32}) EXPECT_EQ(AccumulationType(type), U32);
}

}  // namespace
}  // namespace kashi::kernels
