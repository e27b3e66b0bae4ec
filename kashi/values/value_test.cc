#include "kashi/values/value.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "kashi/base/page_buffer.h"

namespace kashi::values {
namespace {

TEST(ValueTest, SmallArraysAreNotCounted) {
  const auto budget = std::make_shared<MemoryBudget>(1);  // 0 would be what is available
  const absl::StatusOr<Value> small = Value::MakeArray(MakeDenseShape(F32, {4, 4}), budget);
  ASSERT_TRUE(small.ok()) << small.status();
  EXPECT_EQ(small->element_count(), 16);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(small->untyped_data()) % 16, 0u);
  EXPECT_EQ(budget->used(), 0);
  EXPECT_TRUE(absl::IsResourceExhausted(Value::MakeArray(MakeDenseShape(F32, {17}), budget).status()));
}

TEST(ValueTest, LargeArraysAreCountedWhileTheyLive) {
  const auto budget = std::make_shared<MemoryBudget>(1000);
  {
    const absl::StatusOr<Value> large = Value::MakeArray(MakeDenseShape(F32, {17}), budget);
    ASSERT_TRUE(large.ok()) << large.status();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(large->untyped_data()) % 64, 0u);
    EXPECT_EQ(budget->used(), 68);
  }
  EXPECT_EQ(budget->used(), 0);
}

// Blocks that wait for the next array are in nobody's use: they neither count nor let an array be larger than the
// limit.
TEST(ValueTest, TheLimitIsExactWhereBlocksAreKept) {
  const int64_t limit = 2 * base::kLargeBlockBytes;
  for (int round = 0; round < 3; ++round) {
    const auto budget = std::make_shared<MemoryBudget>(limit);
    for (const int64_t bytes : {limit, limit / 2 - 1, limit / 2, limit / 64, limit}) {
      absl::StatusOr<Value> first = Value::MakeArray(MakeDenseShape(U8, {bytes}), budget);
      ASSERT_TRUE(first.ok()) << first.status();
      const int64_t left = limit - bytes;
      EXPECT_TRUE(absl::IsResourceExhausted(Value::MakeArray(MakeDenseShape(U8, {left + 65}), budget).status()));
      const absl::StatusOr<Value> second = Value::MakeArray(MakeDenseShape(U8, {left}), budget);
      ASSERT_TRUE(second.ok()) << second.status();
      EXPECT_EQ(budget->used(), limit);
      std::fill_n(first->mutable_bytes(), bytes, 'x');
    }
    EXPECT_EQ(budget->used(), 0);
  }
}

TEST(ValueTest, ALargeArrayTakesTheBlockOfOneBeforeIt) {
  if (base::PooledBlockLimit() < base::kLargeBlockBytes) GTEST_SKIP() << "no pool here";
  const void* before = nullptr;
  for (int run = 0; run < 2; ++run) {
    const auto budget = std::make_shared<MemoryBudget>(base::kLargeBlockBytes);
    const absl::StatusOr<Value> value = Value::MakeArray(MakeDenseShape(U8, {base::kLargeBlockBytes}), budget);
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_TRUE(run == 0 || value->untyped_data() == before);
    before = value->untyped_data();
  }
}

TEST(ValueTest, AnotherShapeOfASharedSmallArrayKeepsItsMemory) {
  Value value = Value::MakeArray(MakeDenseShape(S32, {2}), std::make_shared<MemoryBudget>(0)).value();
  value.mutable_data<int32_t>()[0] = 5;
  value.mutable_data<int32_t>()[1] = 6;
  const Value other = Value::WithShape(value, MakeDenseShape(S32, {2, 1}));
  EXPECT_EQ(other.untyped_data(), value.untyped_data());
  EXPECT_FALSE(value.is_unique() && other.is_unique());
  value = Value();
  EXPECT_EQ(other.data<int32_t>()[1], 6);
}

}  // namespace
}  // namespace kashi::values
