#include "kashi/engine/donated_memory.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kashi/array/shape.h"
#include "kashi/values/value.h"

namespace kashi::engine {
namespace {

class DonatedMemoryTest : public testing::Test {
 protected:
  Value Array(float number, int64_t n = 100) {
    Value array = Value::MakeAlignedArray(MakeDenseShape(F32, {n}), budget_).value();
    for (float& element : array.mutable_data<float>()) element = number;
    return array;
  }
  // Arguments of 1, 2, … of which argument i is lent to result i.
  std::vector<Value> Lent(int64_t count, int64_t n = 100) {
    std::vector<Value> arguments;
    for (int64_t i = 0; i < count; ++i) {
      arguments.push_back(Array(static_cast<float>(i + 1), n));
      addresses_.push_back(arguments.back().untyped_data());
      donated_.Lend({i, i}, &arguments);
      EXPECT_EQ(arguments.back().untyped_data(), addresses_.back());
      EXPECT_TRUE(arguments.back().is_unique());
    }
    return arguments;
  }
  // For each result its first and last number, and the argument in whose memory it is, or "own".
  std::string Placed(std::vector<Value> results) {
    const absl::Status status = donated_.PlaceResults(HostMemory(), budget_, &results);
    if (!status.ok()) return status.ToString();
    std::string text;
    for (const Value& result : results) {
      const auto found = absl::c_find(addresses_, result.untyped_data());
      absl::StrAppend(&text, text.empty() ? "" : ", ", result.data<float>()[0], " ", result.data<float>().back(), " ",
                      found == addresses_.end() ? "own" : absl::StrCat("in ", found - addresses_.begin()));
      if (!result.is_unique()) absl::StrAppend(&text, " shared");
    }
    return text;
  }

  const std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>(0);
  DonatedMemory donated_;
  std::vector<const void*> addresses_;
};

TEST_F(DonatedMemoryTest, StaysWhereItIs) {
  std::vector<Value> arguments = Lent(2);
  std::vector<Value> results = {std::move(arguments[0]), std::move(arguments[1])};
  EXPECT_EQ(Placed(std::move(results)), "1 1 in 0, 2 2 in 1");
}

TEST_F(DonatedMemoryTest, ComesToTheMemoryThatIsFree) {
  std::vector<Value> arguments = Lent(2);
  arguments.clear();
  std::vector<Value> results;
  results.push_back(Array(7));
  results.push_back(Array(8));
  results.push_back(Array(9));
  EXPECT_EQ(Placed(std::move(results)), "7 7 in 0, 8 8 in 1, 9 9 own");
}

TEST_F(DonatedMemoryTest, OfAllSizes) {
  for (const int64_t n : {0, 1, 3, 1 << 19, (1 << 20) + 3, 3 << 20}) {
    addresses_.clear();
    donated_ = DonatedMemory();
    std::vector<Value> arguments = Lent(1, n);
    arguments.clear();
    std::vector<Value> results;
    results.push_back(Array(7, n));
    ASSERT_TRUE(donated_.PlaceResults(HostMemory(), budget_, &results).ok());
    EXPECT_EQ(results[0].untyped_data(), addresses_[0]) << n;
    EXPECT_EQ(absl::c_count(results[0].data<float>(), 7.0f), n);
  }
}

TEST_F(DonatedMemoryTest, ResultsThatChangePlaces) {
  std::vector<Value> arguments = Lent(3);
  std::vector<Value> results = {std::move(arguments[1]), std::move(arguments[2]), std::move(arguments[0])};
  EXPECT_EQ(Placed(std::move(results)), "2 2 in 0, 3 3 in 1, 1 1 in 2");
}

TEST_F(DonatedMemoryTest, WhatLiesThereMakesWay) {
  std::vector<Value> arguments = Lent(1);
  std::vector<Value> results;
  results.push_back(Array(7));
  results.push_back(std::move(arguments[0]));
  EXPECT_EQ(Placed(std::move(results)), "7 7 in 0, 1 1 own");
}

TEST_F(DonatedMemoryTest, OneResultTwice) {
  std::vector<Value> arguments = Lent(1);
  std::vector<Value> results(2, arguments[0]);
  arguments.clear();
  EXPECT_EQ(Placed(std::move(results)), "1 1 in 0, 1 1 own");
}

TEST_F(DonatedMemoryTest, NotWhileSomebodyElseHoldsIt) {
  std::vector<Value> arguments = Lent(1);
  const Value held = arguments[0];
  arguments.clear();
  std::vector<Value> results;
  results.push_back(Array(7));
  EXPECT_EQ(Placed(std::move(results)), "7 7 own");
  EXPECT_EQ(held.data<float>()[99], 1.0f);

  std::vector<Value> given = {Array(3)};
  const Value kept = given[0];
  const void* const address = given[0].untyped_data();
  donated_.Lend({0, 0}, &given);
  EXPECT_EQ(given[0].untyped_data(), address);
  EXPECT_FALSE(given[0].is_unique());
}

// The memory counts once, and goes back to the budget.
TEST_F(DonatedMemoryTest, FreesAllThatItTook) {
  {
    std::vector<Value> arguments = Lent(2);
    std::vector<Value> results = {std::move(arguments[1]), std::move(arguments[0])};
    EXPECT_EQ(Placed(std::move(results)), "2 2 in 0, 1 1 in 1");
  }
  donated_ = DonatedMemory();
  EXPECT_EQ(budget_->used(), 0);
  Lent(1).clear();  // the program failed: there are no results
  donated_ = DonatedMemory();
  EXPECT_EQ(budget_->used(), 0);
}

}  // namespace
}  // namespace kashi::engine
