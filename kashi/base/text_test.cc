#include "kashi/base/text.h"

#include <limits>

#include "gtest/gtest.h"

namespace kashi::internal {
namespace {

TEST(TextTest, WithThousands) {
  EXPECT_EQ(WithThousands(0), "0");
  EXPECT_EQ(WithThousands(999), "999");
  EXPECT_EQ(WithThousands(1000), "1,000");
  EXPECT_EQ(WithThousands(-999), "-999");
  EXPECT_EQ(WithThousands(-123456), "-123,456");
  EXPECT_EQ(WithThousands(std::numeric_limits<int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(TextTest, HumanBytes) {
  EXPECT_EQ(HumanBytes(0), "0 bytes");
  EXPECT_EQ(HumanBytes(1), "1 byte");
  EXPECT_EQ(HumanBytes(1023), "1023 bytes");
  EXPECT_EQ(HumanBytes(1024), "1 KiB");
  EXPECT_EQ(HumanBytes(1536), "1.5 KiB");
  EXPECT_EQ(HumanBytes(10 * 1024 + 512), "10.5 KiB");
  EXPECT_EQ(HumanBytes(335544320), "320 MiB");
  EXPECT_EQ(HumanBytes(1024 * 1024 - 1), "1 MiB");
  EXPECT_EQ(HumanBytes(std::numeric_limits<int64_t>::max()), "8 EiB");
}

}  // namespace
}  // namespace kashi::internal
