#include "kashi/base/page_buffer.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace kashi::base {
namespace {

// Each test begins with an empty pool. Where it has no room (with sanitizers, or without pages) blocks do not come
// back.
class PageBufferTest : public testing::Test {
 protected:
  PageBufferTest() { ReleasePooledBlocks(); }
  ~PageBufferTest() override { ReleasePooledBlocks(); }
  static bool has_pool() { return PooledBlockLimit() >= 8 * kLargeBlockBytes; }
};

bool IsZero(const PageBuffer& buffer) {
  return std::all_of(buffer.data(), buffer.data() + buffer.size(), [](char c) { return c == 0; });
}

PageBuffer MakeFilled(int64_t bytes, int value) {
  PageBuffer buffer = PageBuffer::Make(bytes).value();
  std::memset(buffer.data(), value, static_cast<size_t>(bytes));
  return buffer;
}

TEST_F(PageBufferTest, EverySizeIsAlignedAndWritable) {
  for (const int64_t bytes : {int64_t{0}, int64_t{1}, int64_t{63}, int64_t{4096}, kLargeBlockBytes - 1,
                              kLargeBlockBytes, kLargeBlockBytes + 1, 5 * kLargeBlockBytes - 1}) {
    const PageBuffer buffer = MakeFilled(bytes, 'x');
    ASSERT_NE(buffer.data(), nullptr) << bytes;
    EXPECT_EQ(buffer.size(), bytes);
    EXPECT_EQ(buffer.empty(), bytes == 0);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % kBlockAlignment, 0u) << bytes;
  }
}

TEST_F(PageBufferTest, LargeBlocksBeginAtAHugePage) {
  if (!has_pool()) GTEST_SKIP() << "plain blocks here";
  const PageBuffer first = PageBuffer::Make(kLargeBlockBytes + 5).value();
  const PageBuffer second = PageBuffer::Make(3 * kLargeBlockBytes).value();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first.data()) % (2 << 20), 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(second.data()) % (2 << 20), 0u);
}

TEST_F(PageBufferTest, LargeBlocksExchangeTheirPages) {
  for (const int64_t bytes : {kLargeBlockBytes, kLargeBlockBytes + 5, 3 * kLargeBlockBytes + 4096}) {
    PageBuffer from = MakeFilled(bytes, 'a'), to = MakeFilled(bytes, 'b');
    char *const at_from = from.data(), *const at_to = to.data();
    for (int round = 0; round < 5; ++round) {
      const char value = static_cast<char>('c' + round);
      std::memset(from.data(), value, static_cast<size_t>(bytes));
      if (!MoveBlock(from.data(), to.data(), bytes)) GTEST_SKIP() << "the system does not move pages";
      EXPECT_TRUE(std::all_of(at_to, at_to + bytes, [value](char c) { return c == value; }));
      std::memset(at_from, 'z', static_cast<size_t>(bytes));  // it is there, and a place of its own
      EXPECT_EQ(std::count(at_to, at_to + bytes, value), bytes);
    }
    { const PageBuffer freed = std::move(from); }
    const PageBuffer again = MakeFilled(bytes, 'y');
    EXPECT_EQ(std::count(at_to, at_to + bytes, 'c' + 4), bytes);
    if (has_pool()) {
      EXPECT_EQ(again.data(), at_from);
    }
  }
}

TEST_F(PageBufferTest, OtherBlocksAreNotMoved) {
  const int64_t bytes = kLargeBlockBytes - 1;
  const PageBuffer from = MakeFilled(bytes, 'a'), to = MakeFilled(bytes, 'b');
  EXPECT_FALSE(MoveBlock(const_cast<char*>(from.data()), const_cast<char*>(to.data()), bytes));
  EXPECT_EQ(std::count(from.data(), from.data() + bytes, 'a'), bytes);
  EXPECT_EQ(std::count(to.data(), to.data() + bytes, 'b'), bytes);
}

// While other threads allocate and free.
TEST_F(PageBufferTest, BlocksAreMovedBesideOtherThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int round = 0; round < 50; ++round) {
        const int64_t bytes = kLargeBlockBytes * (1 + (t + round) % 3);
        PageBuffer from = MakeFilled(bytes, t), to = MakeFilled(bytes, 'b');
        if (MoveBlock(from.data(), to.data(), bytes)) from = PageBuffer();
        const PageBuffer& filled = from.empty() ? to : from;
        ASSERT_EQ(std::count(filled.data(), filled.data() + bytes, t), bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(PageBufferTest, ZerosAreZerosInFreshAndInUsedBlocks) {
  for (const int64_t bytes : {int64_t{0}, int64_t{1000}, kLargeBlockBytes, 2 * kLargeBlockBytes + 7}) {
    EXPECT_TRUE(IsZero(PageBuffer::Make(bytes, BlockContent::kZeros).value())) << bytes;
    { const PageBuffer used = MakeFilled(bytes, 'x'); }
    EXPECT_TRUE(IsZero(PageBuffer::Make(bytes, BlockContent::kZeros).value())) << bytes;
  }
}

TEST_F(PageBufferTest, SizesThatNoMachineHasAreErrors) {
  EXPECT_TRUE(absl::IsInvalidArgument(PageBuffer::Make(-1).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(PageBuffer::Make(INT64_MIN).status()));
  EXPECT_TRUE(absl::IsResourceExhausted(PageBuffer::Make(INT64_MAX).status()));
  EXPECT_EQ(AllocateBlock(-1), nullptr);
  EXPECT_EQ(AllocateBlock(INT64_MAX, BlockContent::kZeros), nullptr);
  FreeBlock(nullptr, INT64_MAX);
  if (!has_pool()) return;  // a sanitizer's allocator fails in the lines below
  EXPECT_TRUE(absl::IsResourceExhausted(PageBuffer::Make(INT64_MAX / 2).status()));
  EXPECT_TRUE(absl::IsResourceExhausted(PageBuffer::Make(int64_t{1} << 55).status()));
}

TEST_F(PageBufferTest, MovesLeaveNothingBehind) {
  PageBuffer first = MakeFilled(kLargeBlockBytes, 'a');
  const char* const data = first.data();
  PageBuffer second = std::move(first);
  EXPECT_EQ(first.data(), nullptr);
  EXPECT_EQ(first.size(), 0);
  EXPECT_EQ(second.data(), data);
  PageBuffer third = MakeFilled(100, 'b');
  third = std::move(second);
  EXPECT_EQ(second.data(), nullptr);
  EXPECT_EQ(third.data(), data);
  EXPECT_EQ(third.data()[kLargeBlockBytes - 1], 'a');
  PageBuffer& same = third;
  third = std::move(same);
  EXPECT_EQ(third.data(), data);
  third = PageBuffer();
  EXPECT_TRUE(third.empty());
}

TEST_F(PageBufferTest, AFreedLargeBlockServesTheNextArrayOfAboutThatSize) {
  if (!has_pool()) GTEST_SKIP() << "no pool here";
  char* data = nullptr;
  {
    PageBuffer buffer = MakeFilled(kLargeBlockBytes + 10, 'x');
    data = buffer.data();
    EXPECT_EQ(PooledBlockBytes(), 0);
  }
  const int64_t pooled = PooledBlockBytes();
  EXPECT_GE(pooled, kLargeBlockBytes + 10);
  EXPECT_LE(pooled, kLargeBlockBytes + 10 + (2 << 20));
  {
    const PageBuffer other = PageBuffer::Make(4 * kLargeBlockBytes).value();
    EXPECT_EQ(PooledBlockBytes(), pooled);
    const PageBuffer next = PageBuffer::Make(kLargeBlockBytes + 20).value();
    EXPECT_EQ(next.data(), data);
    EXPECT_EQ(PooledBlockBytes(), 0);
  }
  EXPECT_EQ(PooledBlockBytes(), pooled + 4 * kLargeBlockBytes);
  ReleasePooledBlocks();
  EXPECT_EQ(PooledBlockBytes(), 0);
}

TEST_F(PageBufferTest, SmallBlocksAreNotPooled) {
  { const PageBuffer buffer = MakeFilled(kLargeBlockBytes - 1, 'x'); }
  EXPECT_EQ(PooledBlockBytes(), 0);
}

// Untouched blocks are address space alone, so this takes no memory to speak of.
TEST_F(PageBufferTest, ThePoolIsBoundedAndDropsWhatWaitedLongest) {
  if (!has_pool()) GTEST_SKIP() << "no pool here";
  const int64_t quarter = PooledBlockLimit() / 4 / kLargeBlockBytes * kLargeBlockBytes;
  { const PageBuffer first = PageBuffer::Make(quarter).value(); }
  std::vector<PageBuffer> others;
  for (int i = 0; i < 4; ++i) others.push_back(PageBuffer::Make(quarter - quarter / 4).value());
  const int64_t before = PooledBlockBytes();
  EXPECT_GE(before, quarter);
  others.clear();
  EXPECT_GT(PooledBlockBytes(), before);
  EXPECT_LE(PooledBlockBytes(), PooledBlockLimit());
  for (int i = 0; i < 8; ++i) others.push_back(PageBuffer::Make(quarter).value());
  others.clear();
  EXPECT_LE(PooledBlockBytes(), PooledBlockLimit());
  { const PageBuffer too_large = PageBuffer::Make(PooledBlockLimit() + kLargeBlockBytes).value(); }
  EXPECT_LE(PooledBlockBytes(), PooledBlockLimit());
}

TEST_F(PageBufferTest, ManySmallerBlocksAreBoundedInNumber) {
  if (!has_pool()) GTEST_SKIP() << "no pool here";
  std::vector<PageBuffer> buffers;
  for (int i = 0; i < 100; ++i) buffers.push_back(PageBuffer::Make(kLargeBlockBytes).value());
  buffers.clear();
  EXPECT_LE(PooledBlockBytes(), 64 * kLargeBlockBytes);
  EXPECT_GT(PooledBlockBytes(), 0);
}

TEST_F(PageBufferTest, ThreadsGetBlocksOfTheirOwn) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t, &wrong] {
      for (int i = 0; i < 50; ++i) {
        PageBuffer a = PageBuffer::Make(kLargeBlockBytes).value();
        const PageBuffer b = MakeFilled(i % 2 == 0 ? kLargeBlockBytes : 1000, 1);
        for (int64_t at = 0; at < a.size(); at += 4096) a.data()[at] = static_cast<char>(t);
        for (int64_t at = 0; at < a.size(); at += 4096) wrong[t] += a.data()[at] != static_cast<char>(t);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

}  // namespace
}  // namespace kashi::base
