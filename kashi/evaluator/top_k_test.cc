#include "kashi/evaluator/top_k.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Literal TopKOf(const Literal& x, int64_t k, bool largest) {
  return EvaluateText(absl::StrFormat(R"(
    ENTRY e { x = f32[%1$d] parameter(0)
              ROOT r = (f32[%2$d], s32[%2$d]) topk(x), k=%2$d, largest=%3$s })",
                                      x.element_count(), k, largest ? "true" : "false"),
                      std::vector<const Literal*>{&x});
}

std::vector<int32_t> Indices(const Literal& result) {
  const absl::Span<const int32_t> indices = result.data<int32_t>({1});
  return {indices.begin(), indices.end()};
}

// docs/spec/hlo-ops.md, 3 and 15.
TEST(TopKTest, TotalOrderAndLowerIndexFirst) {
  const Literal x = LiteralUtil::CreateR1<float>({1, kNan, 3, 3, kInf, -0.0f, 0});
  EXPECT_EQ(Indices(TopKOf(x, 4, true)), (std::vector<int32_t>{1, 4, 2, 3}));
  const Literal least = TopKOf(x, 4, false);
  EXPECT_EQ(Indices(least), (std::vector<int32_t>{5, 6, 0, 2}));
  EXPECT_TRUE(std::signbit(least.Get<float>({0}, {0})));
  EXPECT_EQ(least.Get<float>({3}, {0}), 3);
  EXPECT_EQ(Indices(TopKOf(LiteralUtil::CreateR1<float>({-0.0f, 0, -0.0f, -1}), 4, true)),
            (std::vector<int32_t>{1, 0, 2, 3}));
  EXPECT_EQ(Indices(TopKOf(LiteralUtil::CreateR1<float>({-kNan, 0, kNan, -kInf}), 4, true)),
            (std::vector<int32_t>{2, 1, 3, 0}));
}

TEST(TopKTest, NoneOfThem) { EXPECT_TRUE(Indices(TopKOf(LiteralUtil::CreateR1<float>({1, 2}), 0, true)).empty()); }

// Rising and falling rows are the most and the fewest candidates. k is 1 to all, n is around the block and the group.
TEST(TopKTest, AnyNumberOfAnyRow) {
  for (const int64_t n : {1, 15, 257, 1024, 1041, 5000}) {
    for (const int64_t k : {int64_t{1}, int64_t{64}, int64_t{130}, n - 1, n}) {
      if (k < 1 || k > n) continue;
      for (const int64_t step : {1, -1, 7919}) {
        Literal x(ShapeUtil::MakeShape(F32, {n}));
        for (int64_t i = 0; i < n; ++i) x.data<float>()[i] = static_cast<float>((i * step % 1000 + 1000) % 1000);
        std::vector<int32_t> order(n);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [&](int32_t a, int32_t b) { return x.Get<float>({a}) > x.Get<float>({b}); });
        order.resize(k);
        ASSERT_EQ(Indices(TopKOf(x, k, true)), order) << n << " " << k << " " << step;
      }
    }
  }
}

template <typename T>
void CheckRows(const char* type) {
  std::mt19937 random(9);
  const int64_t rows = 5, n = 700;
  Literal x(ShapeUtil::MakeShape(primitive_util::NativeToPrimitiveType<T>(), {rows, n}));
  for (T& v : x.data<T>()) v = static_cast<T>(random() % 100);
  for (const bool largest : {false, true}) {
    const Literal out = EvaluateText(absl::StrFormat(R"(
      ENTRY e { x = %1$s[5,700] parameter(0)
                ROOT r = (%1$s[5,50], s32[5,50]) topk(x), k=50, largest=%2$s })",
                                                     type, largest ? "true" : "false"),
                                     std::vector<const Literal*>{&x});
    for (int64_t row = 0; row < rows; ++row) {
      std::vector<int32_t> order(n);
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
        return largest ? x.Get<T>({row, a}) > x.Get<T>({row, b}) : x.Get<T>({row, a}) < x.Get<T>({row, b});
      });
      for (int64_t i = 0; i < 50; ++i) {
        ASSERT_EQ(out.Get<int32_t>({row, i}, {1}), order[i]) << type << " " << row << " " << i;
        ASSERT_EQ(out.Get<T>({row, i}, {0}), x.Get<T>({row, order[i]}));
      }
    }
  }
}

TEST(TopKTest, AgreesWithSorting) {
  CheckRows<float>("f32");
  CheckRows<double>("f64");
  CheckRows<bfloat16>("bf16");
  CheckRows<uint8_t>("u8");
  CheckRows<int64_t>("s64");
}

}  // namespace
}  // namespace kashi::evaluator
