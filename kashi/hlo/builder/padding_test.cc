#include "kashi/hlo/builder/padding.h"

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/hlo/attributes/padding_config.h"
#include "kashi/hlo/attributes/xla_data.h"

namespace kashi::hlo {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(PaddingTest, Valid) {
  EXPECT_THAT(MakePadding({4, 4}, {3, 2}, {1, 2}, Padding::kValid), ElementsAre(Pair(0, 0), Pair(0, 0)));
}

TEST(PaddingTest, Same) {
  EXPECT_THAT(MakePadding({4, 5, 7}, {3, 4, 3}, {1, 1, 3}, Padding::kSame),
              ElementsAre(Pair(1, 1), Pair(1, 2), Pair(1, 1)));
  // Windows that jump over elements, no elements at all, and a window larger than the input.
  EXPECT_THAT(MakePadding({4, 0, 2}, {1, 3, 9}, {3, 2, 1}, Padding::kSame),
              ElementsAre(Pair(0, 0), Pair(0, 1), Pair(4, 4)));
}

TEST(PaddingTest, Errors) {
  EXPECT_EQ(
      ValidatePaddingValues({1}, {1, 1}, {1}),
      absl::InvalidArgumentError("Want input dimensions size 1 = window dimensions size 2 = window strides size 1"));
  EXPECT_EQ(ValidatePaddingValues({1}, {0}, {1}),
            absl::InvalidArgumentError("Window dimension 0 has non-positive size 0"));
  EXPECT_EQ(ValidatePaddingValues({1, 1}, {1, 1}, {1, -2}),
            absl::InvalidArgumentError("Window dimension 1 has non-positive stride -2"));
  EXPECT_DEATH(MakePadding({1}, {0}, {1}, Padding::kValid), "non-positive size");
}

TEST(PaddingConfigTest, Make) {
  const PaddingConfig none = MakeNoPaddingConfig(2);
  EXPECT_EQ(none.dimensions_size(), 2);
  EXPECT_EQ(none, MakeEdgePaddingConfig({{0, 0}, {0, 0}}));
  PaddingConfig config = MakeEdgePaddingConfig({{1, -2}});
  EXPECT_EQ(config.dimensions(0).edge_padding_low(), 1);
  EXPECT_EQ(config.dimensions(0).edge_padding_high(), -2);
  EXPECT_FALSE(HasInteriorPadding(config));
  config.mutable_dimensions(0)->set_interior_padding(1);
  EXPECT_TRUE(HasInteriorPadding(config));
}

}  // namespace
}  // namespace kashi::hlo
