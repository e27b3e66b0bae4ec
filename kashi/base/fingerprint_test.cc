#include "kashi/base/fingerprint.h"

#include <string>

#include "gtest/gtest.h"

namespace kashi::base {
namespace {

// The vectors of the reference implementation (vectors_sip128): key 00 01 … 0f, the bytes 00 01 … of each length.
TEST(FingerprintTest, IsSipHash128) {
  const auto of_first = [](int n) {
    std::string bytes;
    for (int i = 0; i < n; ++i) bytes.push_back(static_cast<char>(i));
    FingerprintBuilder builder(0x0706050403020100, 0x0f0e0d0c0b0a0908);
    builder.Append(bytes);
    return builder.Finish().ToString();
  };
  EXPECT_EQ(of_first(0), "a3817f04ba25a8e66df67214c7550293");
  EXPECT_EQ(of_first(1), "da87c1d86b99af44347659119b22fc45");
  EXPECT_EQ(of_first(8), "3b62a9ba6258f5610f83e264f31497b4");
  EXPECT_EQ(of_first(15), "5493e99933b0a8117e08ec0f97cfc3d9");
}

TEST(FingerprintTest, WhereTheBytesAreCutDoesNotMatter) {
  const std::string text = "HloModule m, entry_computation_layout={()->f32[]}";
  const Fingerprint whole = FingerprintOf(text);
  for (size_t first = 0; first <= text.size(); ++first) {
    for (size_t second = first; second <= text.size(); second += 3) {
      FingerprintBuilder builder;
      builder.Append(text.substr(0, first));
      builder.Append(text.substr(first, second - first));
      builder.Append(text.substr(second));
      EXPECT_EQ(builder.Finish(), whole) << first << " " << second;
    }
  }
  EXPECT_NE(FingerprintOf("a"), FingerprintOf("b"));
  EXPECT_NE(FingerprintOf(""), FingerprintOf(std::string(1, '\0')));
}

}  // namespace
}  // namespace kashi::base
