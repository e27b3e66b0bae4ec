#include "kashi/base/shared_value.h"

#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace kashi::base {
namespace {

// Counts how many of its kind there are.
struct Counted {
  explicit Counted(int* count) : count(count) { ++*count; }
  Counted(const Counted& other) : count(other.count) { ++*count; }
  ~Counted() { --*count; }
  int* count;
};

TEST(SharedValueTest, TheLastOwnerFreesIt) {
  int count = 0;
  {
    const SharedValue<Counted> first{Counted(&count)};
    EXPECT_EQ(count, 1);
    SharedValue<Counted> second = first;
    SharedValue<Counted> third;
    EXPECT_FALSE(static_cast<bool>(third));
    third = std::move(second);
    EXPECT_EQ(count, 1);
    EXPECT_TRUE(third.SameAs(first));
  }
  EXPECT_EQ(count, 0);
}

TEST(SharedValueTest, WritingToASharedValueCopiesIt) {
  SharedValue<std::string> a(std::string("a"));
  SharedValue<std::string> b = a;
  *b.Mutable() = "b";
  EXPECT_EQ(*a, "a");
  EXPECT_EQ(*b, "b");
  const std::string* alone = &*b;
  EXPECT_EQ(b.Mutable(), alone);
}

TEST(SharedValueTest, ThreadsMayShare) {
  const SharedValue<std::string> value(std::string("shared"));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([value] {
      for (int j = 0; j < 1000; ++j) {
        const SharedValue<std::string> copy = value;
        ASSERT_EQ(*copy, "shared");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace kashi::base
