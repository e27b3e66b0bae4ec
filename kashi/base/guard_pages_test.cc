#include "kashi/base/guard_pages.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "kashi/base/page_buffer.h"

namespace kashi::base {
namespace {

volatile char sink;

class GuardPagesTest : public testing::TestWithParam<GuardPages> {
 protected:
  const WithGuardPages pages_{GetParam()};
  const bool is_before_ = GetParam() == GuardPages::kBefore;
};
INSTANTIATE_TEST_SUITE_P(Placements, GuardPagesTest, testing::Values(GuardPages::kBehind, GuardPages::kBefore));

TEST_P(GuardPagesTest, AllOfTheArrayIsUsableAndFilled) {
  for (const int64_t bytes : {0, 1, 4, 132, 4095, 4096, 4097, 100000}) {
    char* const data = static_cast<char*>(AllocateGuarded(bytes, 1));
    ASSERT_NE(data, nullptr);
    EXPECT_TRUE(IsGuarded(data, bytes));
    EXPECT_FALSE(IsGuarded(data, bytes + 1));
    for (int64_t i = 0; i < bytes; ++i) ASSERT_EQ(data[i], is_before_ ? 0x7f : -1);
    std::memset(data, 1, static_cast<size_t>(bytes));
    EXPECT_TRUE(FreeGuarded(data));
    EXPECT_FALSE(FreeGuarded(data));
  }
}

TEST_P(GuardPagesTest, AlignsWhatMustBeAligned) {
  for (const int64_t alignment : {1, 8, 64}) {
    void* const block = AllocateGuarded(100, alignment);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % static_cast<uintptr_t>(alignment), 0u) << alignment;
    EXPECT_EQ(IsGuarded(block, 100), is_before_ || alignment == 1) << alignment;
    FreeGuarded(block);
  }
}

TEST_P(GuardPagesTest, TooMuchMemoryIsNull) {
  EXPECT_EQ(AllocateGuarded(-1, 1), nullptr);
  EXPECT_EQ(AllocateGuarded(std::numeric_limits<int64_t>::max(), 1), nullptr);
  EXPECT_EQ(AllocateGuarded(int64_t{1} << 60, 1), nullptr);
}

TEST_P(GuardPagesTest, BlocksLieBetweenGuardsAndCanBeZeros) {
  void* const block = AllocateBlock(100, BlockContent::kZeros);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(static_cast<char*>(block)[i], 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % kBlockAlignment, 0u);
  NameGuarded(block, "b");
  char* const outside = static_cast<char*>(block) + (is_before_ ? -1 : 128);
  EXPECT_DEATH(sink = *outside, "guard pages: ");
  FreeBlock(block, 100);
}

// A block may be freed under another placement than it was made under.
TEST_P(GuardPagesTest, BlocksOutliveThePlacement) {
  void* ordinary = nullptr;
  {
    const WithGuardPages off(GuardPages::kOff);
    ordinary = AllocateBlock(1000);
  }
  void* const guarded = AllocateBlock(1000);
  FreeBlock(ordinary, 1000);
  const WithGuardPages off(GuardPages::kOff);
  FreeBlock(guarded, 1000);
}

TEST_P(GuardPagesTest, TheMessageNamesStepAndArray) {
  char* const data = static_cast<char*>(AllocateGuarded(132, 1));
  NameGuarded(data, "v");
  const GuardedStep outer("while.1");
  const GuardedStep step("multiply.fusion");
  if (is_before_) {
    EXPECT_DEATH(sink = data[-4], "guard pages: multiply.fusion reads byte -4 of v, which has 132 bytes");
    EXPECT_DEATH(data[-1] = 0, "guard pages: multiply.fusion (reads|writes) byte -1 of v, which has 132 bytes");
  } else {
    EXPECT_DEATH(sink = data[132], "guard pages: multiply.fusion reads byte 132 of v, which has 132 bytes");
    EXPECT_DEATH(data[200] = 0, "guard pages: multiply.fusion (reads|writes) byte 200 of v, which has 132 bytes");
  }
  FreeGuarded(data);
}

TEST_P(GuardPagesTest, TheStepAroundIsBackAfterTheInnerOne) {
  char* const data = static_cast<char*>(AllocateGuarded(8, 1));
  const GuardedStep outer("while.1");
  { const GuardedStep step("multiply.fusion"); }
  EXPECT_DEATH(sink = data[is_before_ ? -1 : 8], "guard pages: while.1 reads byte .* of an array, which has 8 bytes");
  FreeGuarded(data);
}

TEST_P(GuardPagesTest, NoWriteToWhatIsProtected) {
  char* const data = static_cast<char*>(AllocateGuarded(8, 1));
  NameGuarded(data, "argument 0");
  ProtectGuarded(data);
  sink = data[7];
  EXPECT_DEATH(data[7] = 0, "byte 7 of argument 0, which is only to be read, and has 8 bytes");
  EXPECT_TRUE(FreeGuarded(data));
}

TEST_P(GuardPagesTest, LongNamesAreCut) {
  char* const data = static_cast<char*>(AllocateGuarded(8, 1));
  NameGuarded(data, std::string(1000, 'x'));
  EXPECT_DEATH(sink = data[is_before_ ? -1 : 8], "byte .* of x{63}, which has 8 bytes");
  FreeGuarded(data);
}

// A fault with another cause is handled as before.
TEST_P(GuardPagesTest, OtherFaultsAreLeftAlone) {
  FreeGuarded(AllocateGuarded(8, 1));
  char* volatile none = nullptr;
  EXPECT_DEATH(sink = *none, "");
}

TEST(GuardPagesTextTest, ReadsThePlacements) {
  EXPECT_EQ(GuardPagesFromText("behind"), GuardPages::kBehind);
  EXPECT_EQ(GuardPagesFromText("before"), GuardPages::kBefore);
  EXPECT_EQ(GuardPagesFromText(""), GuardPages::kOff);
  EXPECT_EQ(GuardPagesFromText("after"), std::nullopt);
}

}  // namespace
}  // namespace kashi::base
