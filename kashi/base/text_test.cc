#include "kashi/base/text.h"

#include <limits>

#include "gtest/gtest.h"

namespace kashi::base {
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

TEST(TextTest, Count) {
  EXPECT_EQ(Count(0, "byte"), "0 bytes");
  EXPECT_EQ(Count(1, "byte"), "1 byte");
  EXPECT_EQ(Count(-1, "byte"), "-1 bytes");
  EXPECT_EQ(Count(1024, "more byte"), "1,024 more bytes");
  EXPECT_EQ(Count(2, "entry"), "2 entries");
  EXPECT_EQ(Count(2, "array"), "2 arrays");
  EXPECT_EQ(Count(2, "branch"), "2 branches");
  EXPECT_EQ(Count(1, "branch"), "1 branch");
}

TEST(TextTest, Printable) {
  EXPECT_EQ(Printable("a\nb"), "a\nb");
  EXPECT_EQ(Printable("\x1b[1m\t\x7f"), " [1m  ");
  EXPECT_EQ(Printable("\xc3\xa9\xe2\x82\xac"), "\xc3\xa9\xe2\x82\xac");
  EXPECT_EQ(Printable("\x89PNG"), "\uFFFDPNG");
  EXPECT_EQ(Printable("\xe2\x82"), "\uFFFD\uFFFD");  // cut off
  EXPECT_EQ(Printable("\xc0\x80"), "\uFFFD\uFFFD");  // longer than needed
  EXPECT_EQ(Printable(absl::string_view("a\0b", 3)), "a b");
}

}  // namespace
}  // namespace kashi::base
