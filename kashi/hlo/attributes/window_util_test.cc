#include "kashi/hlo/attributes/window_util.h"

#include <cstdint>
#include <limits>

#include "gtest/gtest.h"
#include "kashi/hlo/attributes/xla_data.h"

namespace kashi::hlo {
namespace {

Window WindowWith(void (*change)(WindowDimension*)) {
  Window window = window_util::MakeWindow({3, 4});
  change(window.mutable_dimensions(1));
  return window;
}

TEST(WindowUtilTest, MakeWindow) {
  EXPECT_EQ(window_util::ToString(window_util::MakeWindow({3, 4})), "size=3x4");
  EXPECT_EQ(window_util::ToString(window_util::MakeWindow({3, 4}, {1, 2})), "size=3x4 stride=1x2");
  EXPECT_EQ(window_util::ToString(window_util::MakeWindow({})), "");
  EXPECT_DEATH(window_util::MakeWindow({3, 4}, {1}), "");
}

TEST(WindowUtilTest, ToString) {
  Window window = window_util::MakeWindow({3, 4, 5}, {2, 1, 1});
  WindowDimension* d = window.mutable_dimensions(0);
  d->set_padding_low(1);
  d->set_padding_high(-2);
  d->set_base_dilation(6);
  d->set_window_dilation(7);
  d->set_window_reversal(true);
  EXPECT_EQ(window_util::ToString(window),
            "size=3x4x5 stride=2x1x1 pad=1_-2x0_0x0_0 lhs_dilate=6x1x1 rhs_dilate=7x1x1 rhs_reversal=1x0x0");
  EXPECT_EQ(window_util::ToString(*d),
            "(size=3,stride=2,padding_low=1,padding_high=-2,base_dilation=6,window_dilation=7,window_reversal)");
  EXPECT_EQ(window_util::ToString(window.dimensions(1)), "(size=4)");
}

TEST(WindowUtilTest, Questions) {
  const Window plain = window_util::MakeWindow({3, 4}, {1, 1});
  EXPECT_FALSE(window_util::HasStride(plain));
  EXPECT_FALSE(window_util::HasPadding(plain));
  EXPECT_FALSE(window_util::HasNegativePadding(plain));
  EXPECT_FALSE(window_util::HasDilation(plain));
  EXPECT_FALSE(window_util::HasWindowReversal(plain));
  EXPECT_TRUE(window_util::HasSymmetricPadding(plain));
  EXPECT_TRUE(window_util::AllOrNoneReversed(plain));
  EXPECT_TRUE(window_util::AllOrNoneReversed(Window()));
  EXPECT_TRUE(window_util::HasOverlappingWindow(plain));
  EXPECT_FALSE(window_util::HasOverlappingWindow(window_util::MakeWindow({3, 4}, {3, 5})));

  EXPECT_TRUE(window_util::HasStride(WindowWith([](WindowDimension* d) { d->set_stride(2); })));
  const Window padded = WindowWith([](WindowDimension* d) { d->set_padding_high(1); });
  EXPECT_TRUE(window_util::HasPadding(padded));
  EXPECT_FALSE(window_util::HasNegativePadding(padded));
  EXPECT_FALSE(window_util::HasSymmetricPadding(padded));
  EXPECT_TRUE(window_util::HasNegativePadding(WindowWith([](WindowDimension* d) { d->set_padding_low(-1); })));
  const Window base = WindowWith([](WindowDimension* d) { d->set_base_dilation(2); });
  EXPECT_TRUE(window_util::HasBaseDilation(base));
  EXPECT_FALSE(window_util::HasWindowDilation(base));
  EXPECT_TRUE(window_util::HasDilation(base));
  const Window dilated = WindowWith([](WindowDimension* d) { d->set_window_dilation(2); });
  EXPECT_FALSE(window_util::HasBaseDilation(dilated));
  EXPECT_TRUE(window_util::HasWindowDilation(dilated));
  EXPECT_TRUE(window_util::HasDilation(dilated));
  const Window reversed = WindowWith([](WindowDimension* d) { d->set_window_reversal(true); });
  EXPECT_TRUE(window_util::HasWindowReversal(reversed));
  EXPECT_FALSE(window_util::AllOrNoneReversed(reversed));

  EXPECT_TRUE(window_util::IsTrivialWindowDimension(window_util::MakeWindow({1}).dimensions(0)));
  EXPECT_FALSE(window_util::IsTrivialWindowDimension(plain.dimensions(0)));
  EXPECT_FALSE(window_util::IsTrivialWindowDimension(WindowDimension()));
}

TEST(WindowUtilTest, SymmetricPadding) {
  PaddingConfig config = window_util::MakeSymmetricPadding({1, 2});
  EXPECT_EQ(config.dimensions_size(), 2);
  EXPECT_EQ(config.dimensions(1).edge_padding_low(), 2);
  EXPECT_EQ(config.dimensions(1).edge_padding_high(), 2);
  EXPECT_TRUE(window_util::HasSymmetricPadding(config));
  config.mutable_dimensions(0)->set_edge_padding_high(0);
  EXPECT_FALSE(window_util::HasSymmetricPadding(config));
}

TEST(WindowUtilTest, Bounds) {
  EXPECT_EQ(window_util::DilatedBound(0, 5), 0);
  EXPECT_EQ(window_util::DilatedBound(1, 5), 1);
  EXPECT_EQ(window_util::DilatedBound(3, 4), 9);
  EXPECT_EQ(window_util::StridedBound(10, 3, 2), 4);
  EXPECT_EQ(window_util::StridedBound(10, 10, 7), 1);
  EXPECT_EQ(window_util::StridedBound(10, 11, 7), 0);
  EXPECT_EQ(window_util::StridedBound(0, 0, 1), 0);
  EXPECT_DEATH(window_util::DilatedBound(-1, 1), "");
  EXPECT_DEATH(window_util::DilatedBound(1, 0), "");
  EXPECT_DEATH(window_util::StridedBound(1, 1, 0), "");
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(window_util::DilatedBound(kMax, kMax), std::numeric_limits<int64_t>::min() + 3) << "wraps around";
}

}  // namespace
}  // namespace kashi::hlo
