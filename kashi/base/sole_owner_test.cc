#include "kashi/base/sole_owner.h"

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace kashi::base {
namespace {

TEST(SoleOwnerTest, CountsPointers) {
  auto number = std::make_shared<int>(1);
  EXPECT_TRUE(IsSoleOwner(number));
  auto other = number;
  EXPECT_FALSE(IsSoleOwner(number));
  other = nullptr;
  EXPECT_TRUE(IsSoleOwner(number));
  EXPECT_FALSE(IsSoleOwner(other));
}

TEST(SoleOwnerTest, SeveralThreadsMayAskAtOnce) {
  const auto number = std::make_shared<int>(1);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 20'000; ++k) wrong += IsSoleOwner(number) ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(SoleOwnerTest, WhatTheLastOtherOwnerWroteIsSeen) {
  for (int round = 0; round < 100; ++round) {
    auto number = std::make_shared<int>(1);
    std::thread writer([other = number]() mutable {
      *other = 2;
      other = nullptr;
    });
    while (!IsSoleOwner(number)) std::this_thread::yield();
    EXPECT_EQ(*number, 2);  // ThreadSanitizer sees a race if this did not happen after the write
    writer.join();
  }
}

}  // namespace
}  // namespace kashi::base
