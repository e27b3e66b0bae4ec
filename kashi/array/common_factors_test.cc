#include "kashi/array/common_factors.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/base/util.h"

namespace kashi::array {
namespace {

using Cuts = absl::InlinedVector<std::pair<int64_t, int64_t>, 8>;
using Sizes = std::vector<int64_t>;

TEST(CommonFactors, Examples) {
  const struct {
    Sizes a, b;
    Cuts expected;
  } cases[] = {
      {{}, {}, {{0, 0}}},
      {{1}, {}, {{0, 0}, {1, 0}}},
      {{}, {1}, {{0, 0}, {0, 1}}},
      {{2, 5, 1, 3}, {1, 10, 3, 1}, {{0, 0}, {0, 1}, {2, 2}, {3, 2}, {4, 3}, {4, 4}}},
      {{1, 1, 3}, {1, 1, 3}, {{0, 0}, {1, 1}, {2, 2}, {3, 3}}},
      {{2, 6}, {4, 3}, {{0, 0}, {2, 2}}},
      {{1, 2, 6}, {4, 1, 3, 1}, {{0, 0}, {1, 0}, {3, 3}, {3, 4}}},
      {{2, 3, 4, 5, 42}, {6, 4, 1, 5, 6, 7}, {{0, 0}, {2, 1}, {3, 2}, {3, 3}, {4, 4}, {5, 6}}},
      // A size 0.
      {{0}, {0}, {{0, 0}, {1, 1}}},
      {{0, 10}, {0, 10, 3}, {{0, 0}, {2, 3}}},
      {{1, 0}, {1, 0, 1}, {{0, 0}, {1, 1}, {2, 2}, {2, 3}}},
      {{0, 1}, {0, 1}, {{0, 0}, {1, 1}, {2, 2}}},
      {{3, 2, 0}, {3, 0, 5}, {{0, 0}, {1, 1}, {3, 3}}},
      // Products that only agree modulo 2^64: nothing can be said.
      {{int64_t{1} << 40, int64_t{1} << 40}, {int64_t{1} << 39, int64_t{1} << 39}, {{0, 0}, {2, 2}}},
      {{3, 5, int64_t{1} << 62, 3}, {7, int64_t{1} << 62, 7}, {{0, 0}, {4, 3}}},
  };
  for (const auto& c : cases) EXPECT_EQ(CommonFactors(c.a, c.b), c.expected) << VectorString(c.a) << VectorString(c.b);
}

TEST(CommonFactors, DifferentProductsDie) { EXPECT_DEATH(CommonFactors({2, 3}, {5}), "\\(2, 3\\) and \\(5\\)"); }

void AllLists(const Sizes& choices, size_t max_rank, Sizes* list, std::vector<Sizes>* all) {
  all->push_back(*list);
  if (list->size() == max_rank) return;
  for (int64_t size : choices) {
    list->push_back(size);
    AllLists(choices, max_rank, list, all);
    list->pop_back();
  }
}

// Products of the first 0, 1, … sizes.
Sizes PrefixProducts(const Sizes& sizes) {
  Sizes products = {1};
  for (int64_t size : sizes) products.push_back(products.back() * size);
  return products;
}

void CheckCuts(const Sizes& a, const Sizes& b) {
  SCOPED_TRACE(VectorString(a) + VectorString(b));
  const Cuts cuts = CommonFactors(a, b);
  const Sizes a_products = PrefixProducts(a), b_products = PrefixProducts(b);
  ASSERT_EQ(cuts.front(), std::make_pair(int64_t{0}, int64_t{0}));
  ASSERT_EQ(cuts.back(), std::make_pair(int64_t(a.size()), int64_t(b.size())));
  std::vector<int64_t> products;
  for (size_t i = 0; i < cuts.size(); ++i) {
    const auto [in_a, in_b] = cuts[i];
    ASSERT_EQ(a_products[in_a], b_products[in_b]);
    products.push_back(a_products[in_a]);
    if (i == 0) continue;
    const int64_t a_length = in_a - cuts[i - 1].first, b_length = in_b - cuts[i - 1].second;
    ASSERT_TRUE(a_length >= 0 && b_length >= 0 && a_length + b_length > 0);
    // A piece of product 1 holds at most one size of each side.
    if (products[i] == products[i - 1]) {
      ASSERT_TRUE(a_length <= 1 && b_length <= 1);
    }
  }
  // Finest: wherever the two lists have a common product, there is a cut.
  for (int64_t product : a_products) {
    const bool is_common = std::find(b_products.begin(), b_products.end(), product) != b_products.end();
    ASSERT_EQ(is_common, std::find(products.begin(), products.end(), product) != products.end());
  }
}

TEST(CommonFactors, CutsAreTheFinest) {
  std::vector<Sizes> lists;
  Sizes list;
  AllLists({1, 2, 3, 4}, 4, &list, &lists);
  int pairs = 0;
  for (const Sizes& a : lists) {
    for (const Sizes& b : lists) {
      if (Product(a) != Product(b)) continue;
      ++pairs;
      CheckCuts(a, b);
    }
  }
  EXPECT_GT(pairs, 1000);
}

}  // namespace
}  // namespace kashi::array
