#include "xla/permutation_util.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "xla/hlo/testlib/test.h"
#include "xla/util.h"

namespace xla {
namespace {

using ::testing::ElementsAre;

TEST(PermutationUtilTest, IsPermutation) {
  EXPECT_TRUE(IsPermutation({}));
  EXPECT_TRUE(IsPermutation({0}));
  EXPECT_FALSE(IsPermutation({-3}));
  EXPECT_FALSE(IsPermutation({1, 1}));
  EXPECT_TRUE(IsPermutation({1, 0, 3, 2}));
  std::vector<int64_t> p = {2, 0, 1};
  EXPECT_TRUE(IsPermutation(p));
}

TEST(PermutationUtilTest, Permute) {
  const std::vector<int64_t> p = {2, 0, 1};
  EXPECT_THAT(Permute(std::vector<std::string>{"a", "b", "c"}, p), ElementsAre("c", "a", "b"));
  EXPECT_THAT(Permute(absl::Span<const int64_t>({10, 20, 30}), {2, 0, 1}), ElementsAre(30, 10, 20));
  const bool flags[] = {true, false, false};
  EXPECT_THAT(Permute(absl::Span<const bool>(flags), p), ElementsAre(false, true, false));
  EXPECT_THAT(Permute(std::array<int, 2>{5, 6}, {1, 0}), ElementsAre(6, 5));
  EXPECT_THAT(Permute({7, 8}, {1, 0}), ElementsAre(8, 7));
  EXPECT_THAT(Permute(DimensionVector{1, 2, 3}, p), ElementsAre(3, 1, 2));
  std::vector<int64_t> result = Permute(p, p);
  EXPECT_THAT(result, ElementsAre(1, 2, 0));
}

TEST(PermutationUtilTest, PermuteInverse) {
  const std::vector<int64_t> p = {2, 0, 1};
  EXPECT_THAT(PermuteInverse(std::vector<int64_t>{10, 20, 30}, p), ElementsAre(20, 30, 10));
  EXPECT_THAT(PermuteInverse<std::vector<int64_t>>({10, 20, 30}, p), ElementsAre(20, 30, 10));
  EXPECT_THAT(PermuteInverse({10, 20, 30}, {2, 0, 1}), ElementsAre(20, 30, 10));
  EXPECT_THAT(PermuteInverse(absl::MakeConstSpan(p), p), ElementsAre(0, 1, 2));
  EXPECT_EQ(Permute(PermuteInverse(p, {1, 2, 0}), {1, 2, 0}), p);
}

TEST(PermutationUtilTest, InverseAndCompose) {
  EXPECT_THAT(InversePermutation({2, 0, 1}), ElementsAre(1, 2, 0));
  EXPECT_THAT(InversePermutation<DimensionVector>({1, 0}), ElementsAre(1, 0));
  std::vector<int64_t> composed = ComposePermutations({1, 0, 2}, {2, 1, 0});
  EXPECT_THAT(composed, ElementsAre(2, 0, 1));
  EXPECT_TRUE(IsIdentityPermutation(ComposePermutations({2, 0, 1}, InversePermutation({2, 0, 1}))));
  EXPECT_TRUE(IsIdentityPermutation({0, 1}));
  EXPECT_TRUE(IsIdentityPermutation(absl::Span<const int64_t>{}));
  EXPECT_FALSE(IsIdentityPermutation(composed));
}

}  // namespace
}  // namespace xla
