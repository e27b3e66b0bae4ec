#include "xla/window_util.h"

#include <vector>

#include "xla/hlo/testlib/test.h"

namespace xla {
namespace {

using ::testing::ElementsAre;

TEST(WindowUtilTest, Window) {
  Window window = window_util::MakeWindow({3, 3}, {2, 2});
  EXPECT_EQ(window_util::ToString(window), "size=3x3 stride=2x2");
  EXPECT_TRUE(window_util::HasOverlappingWindow(window));
  for (int i = 0; i < window.dimensions_size(); ++i) {
    WindowDimension* dim = window.mutable_dimensions(i);
    dim->set_padding_low(1);
    dim->set_window_reversal(true);
  }
  EXPECT_EQ(window_util::ToString(window), "size=3x3 stride=2x2 pad=1_0x1_0 rhs_reversal=1x1");
  EXPECT_EQ(window_util::DilatedBound(4, 3), 10);
  EXPECT_EQ(window_util::StridedBound(10, 3, 2), 4);
}

}  // namespace
}  // namespace xla
