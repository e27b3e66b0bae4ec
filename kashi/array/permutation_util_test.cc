#include "kashi/array/permutation_util.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/dimension_vector.h"

namespace kashi::array {
namespace {

using ::testing::ElementsAre;

TEST(PermutationUtilTest, IsPermutation) {
  EXPECT_TRUE(IsPermutation({}));
  EXPECT_TRUE(IsPermutation({0}));
  EXPECT_TRUE(IsPermutation({1, 0}));
  EXPECT_TRUE(IsPermutation({3, 1, 0, 2}));
  EXPECT_FALSE(IsPermutation({-3}));
  EXPECT_FALSE(IsPermutation({1}));
  EXPECT_FALSE(IsPermutation({0, 0}));
  EXPECT_FALSE(IsPermutation({1, 2}));
  EXPECT_FALSE(IsPermutation({3, 0, 2, 0}));
}

TEST(PermutationUtilTest, IsIdentityPermutation) {
  EXPECT_TRUE(IsIdentityPermutation({}));
  EXPECT_TRUE(IsIdentityPermutation({0, 1, 2}));
  EXPECT_FALSE(IsIdentityPermutation({0, 2, 1}));
  EXPECT_TRUE(IsIdentityPermutation(std::vector<int64_t>{0, 1}));
  EXPECT_TRUE(IsIdentityPermutation(DimensionVector{0, 1}));
  EXPECT_FALSE(IsIdentityPermutation(absl::Span<const int64_t>({1, 0})));
}

TEST(PermutationUtilTest, Containers) {
  const std::vector<char> letters = {'a', 'b', 'c'};
  EXPECT_THAT(Permute(letters, {2, 0, 1}), ElementsAre('c', 'a', 'b'));
  EXPECT_THAT(PermuteInverse(letters, {2, 0, 1}), ElementsAre('b', 'c', 'a'));
  EXPECT_THAT(Permute(absl::Span<const char>(letters), {2, 0, 1}), ElementsAre('c', 'a', 'b'));
  EXPECT_THAT(Permute(std::vector<bool>{true, false}, {1, 0}), ElementsAre(false, true));
  const bool flags[] = {true, false};
  EXPECT_THAT(Permute(absl::Span<const bool>(flags), {1, 0}), ElementsAre(false, true));
  EXPECT_THAT(PermuteInverse(DimensionVector{7, 8, 9}, {2, 0, 1}), ElementsAre(8, 9, 7));

  EXPECT_THAT(InversePermutation({2, 0, 1}), ElementsAre(1, 2, 0));
  EXPECT_THAT(ComposePermutations({2, 0, 1}, {1, 0, 2}), ElementsAre(0, 2, 1));
  static_assert(std::is_same<decltype(InversePermutation({0})), std::vector<int64_t>>::value, "");
  static_assert(std::is_same<decltype(InversePermutation<DimensionVector>({0})), DimensionVector>::value, "");
  static_assert(std::is_same<decltype(ComposePermutations<DimensionVector>({0}, {0})), DimensionVector>::value, "");
  static_assert(
      std::is_same<decltype(PermuteInverse<DimensionVector>(std::vector<int64_t>{0}, {0})), DimensionVector>::value,
      "");
}

// The four equations of the header, over all permutations of up to five elements.
TEST(PermutationUtilTest, Laws) {
  for (int64_t size = 0; size <= 5; ++size) {
    std::vector<int64_t> p(size), x(size);
    std::iota(p.begin(), p.end(), 0);
    std::iota(x.begin(), x.end(), 100);
    do {
      const auto permuted = Permute(x, p), unpermuted = PermuteInverse(x, p), inverse = InversePermutation(p);
      const auto rotated = ComposePermutations(p, inverse);
      for (int64_t i = 0; i < size; ++i) {
        EXPECT_EQ(permuted[i], x[p[i]]);
        EXPECT_EQ(unpermuted[p[i]], x[i]);
        EXPECT_EQ(inverse[p[i]], i);
        EXPECT_EQ(rotated[i], i);
      }
      EXPECT_TRUE(IsIdentityPermutation(ComposePermutations(inverse, p)));
      EXPECT_EQ(IsIdentityPermutation(p), permuted == x);
    } while (std::next_permutation(p.begin(), p.end()));
  }
}

TEST(PermutationUtilDeathTest, BadPermutations) {
  const std::vector<int64_t> x = {1, 2};
  EXPECT_DEATH(Permute(x, {0}), "Check failed");
  EXPECT_DEATH(Permute(x, {0, 0}), "Check failed");
  EXPECT_DEATH(PermuteInverse(x, {0, 2}), "Check failed");
  EXPECT_DEATH(InversePermutation({1, 1}), "Check failed");
  EXPECT_DEATH(ComposePermutations({0}, {0, 1}), "Check failed");
  EXPECT_DEATH(ComposePermutations({0, 1}, {0, 2}), "Check failed");
}

}  // namespace
}  // namespace kashi::array
