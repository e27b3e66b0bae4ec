#include "kashi/literal/random_array.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_parser.h"
#include "kashi/base/work_meter.h"
#include "kashi/literal/literal.h"

namespace kashi::literal {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::Le;
using ::testing::Lt;
using Kind = RandomDistributionSpec::Kind;

Literal Random(absl::string_view shape, RandomDistributionSpec spec, uint64_t seed = 1) {
  Literal literal(ParseShape(shape).value());
  EXPECT_TRUE(FillRandom(spec, seed, &literal, {}).ok());
  return literal;
}

TEST(RandomArrayTest, UniformStaysInItsInterval) {
  const Literal reals = Random("f32[1000]", {Kind::kUniform, -2, 3});
  EXPECT_THAT(reals.data<float>(), Each(AllOf(Ge(-2.0f), Le(3.0f))));
  EXPECT_GT(std::set<float>(reals.data<float>().begin(), reals.data<float>().end()).size(), 990);
  const Literal integers = Random("s32[1000]", {Kind::kUniform, -2, 3});
  EXPECT_THAT(integers.data<int32_t>(), Each(AllOf(Ge(-2), Le(3))));
  EXPECT_EQ(std::set<int32_t>(integers.data<int32_t>().begin(), integers.data<int32_t>().end()).size(), 6);
}

TEST(RandomArrayTest, SameSeedSameNumbers) {
  const RandomDistributionSpec spec = {Kind::kUniform, 0, 1};
  EXPECT_EQ(Random("f64[9]", spec, 5), Random("f64[9]", spec, 5));
  EXPECT_FALSE(Random("f64[9]", spec, 5) == Random("f64[9]", spec, 6));
}

TEST(RandomArrayTest, Normal) {
  const Literal numbers = Random("f64[10000]", {Kind::kNormal, 5, 2});
  double sum = 0;
  double squares = 0;
  for (const double x : numbers.data<double>()) {
    sum += x - 5;
    squares += (x - 5) * (x - 5);
  }
  EXPECT_NEAR(sum / 10000, 0, 0.1);
  EXPECT_NEAR(squares / 10000, 4, 0.3);
}

TEST(RandomArrayTest, WholeNumbersOfRealTypes) {
  const Literal numbers1 = Random("f32[100]", {Kind::kWhole, -3, 3});
  for (const float x : numbers1.data<float>()) {
    EXPECT_EQ(x, std::round(x));
    EXPECT_LE(std::abs(x), 3);
  }
}

TEST(RandomArrayTest, BitsUseAllOfTheType) {
  const Literal bits = Random("u64[1000]", {Kind::kBits});
  const auto [least, largest] = std::minmax_element(bits.data<uint64_t>().begin(), bits.data<uint64_t>().end());
  EXPECT_LT(*least, uint64_t{1} << 58);
  EXPECT_GT(*largest, ~uint64_t{0} - (uint64_t{1} << 58));
  const Literal bytes = Random("s8[3000]", {Kind::kBits});
  EXPECT_EQ(std::set<int8_t>(bytes.data<int8_t>().begin(), bytes.data<int8_t>().end()).size(), 256);
}

TEST(RandomArrayTest, DifferentAndSorted) {
  RandomDistributionSpec spec = {Kind::kUniform, 0, 99};
  spec.no_duplicates = true;
  const Literal all = Random("s32[100]", spec);
  EXPECT_EQ(std::set<int32_t>(all.data<int32_t>().begin(), all.data<int32_t>().end()).size(), 100);
  EXPECT_FALSE(std::is_sorted(all.data<int32_t>().begin(), all.data<int32_t>().end()));
  spec.is_sorted = true;
  const Literal sorted = Random("s32[50]", spec);
  EXPECT_TRUE(std::is_sorted(sorted.data<int32_t>().begin(), sorted.data<int32_t>().end()));
  EXPECT_EQ(Random("s32[200]", spec).element_count(), 200);  // more than there are: some come twice
}

TEST(RandomArrayTest, WhatTheTypeCannotHoldIsItsLimit) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Random("f32[1]", {Kind::kConstant, -kInfinity}).Get<float>({0}), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(Random("s8[1]", {Kind::kConstant, kInfinity}).Get<int8_t>({0}), 127);
  EXPECT_EQ(Random("u8[1]", {Kind::kConstant, -kInfinity}).Get<uint8_t>({0}), 0);
  EXPECT_EQ(Random("s64[1]", {Kind::kConstant, 1e30}).Get<int64_t>({0}), std::numeric_limits<int64_t>::max());
  EXPECT_TRUE(Random("pred[1]", {Kind::kConstant, 1}).Get<bool>({0}));
  EXPECT_THAT(Random("u8[100]", {Kind::kUniform, 250, 1000}).data<uint8_t>(), Each(Ge(250)));
  const Literal numbers2 = Random("f8e4m3fn[100]", {Kind::kUniform, 0, 1e9});
  for (const auto x : numbers2.data<float8_e4m3fn>()) {
    EXPECT_LE(static_cast<float>(x), 448);
  }
}

TEST(RandomArrayTest, ComplexPartsAndPredicates) {
  const Literal numbers3 = Random("c64[100]", {Kind::kUniform, 1, 2});
  for (const complex64 x : numbers3.data<complex64>()) {
    EXPECT_GE(x.real(), 1);
    EXPECT_GE(x.imag(), 1);
  }
  const Literal coins = Random("pred[100]", {Kind::kUniform, 0, 1});
  const auto heads = std::count(coins.data<bool>().begin(), coins.data<bool>().end(), true);
  EXPECT_THAT(heads, AllOf(Ge(20), Lt(80)));
}

TEST(RandomArrayTest, CanBeCancelled) {
  const std::atomic<bool> cancelled = true;
  WorkLimits limits;
  limits.cancelled = &cancelled;
  const WorkMeter meter(limits);
  RandomDistributionSpec constant, different, sorted;
  constant.kind = Kind::kConstant;
  different.no_duplicates = different.is_sorted = sorted.is_sorted = true;
  for (const RandomDistributionSpec& spec : {RandomDistributionSpec(), constant, different, sorted}) {
    for (const char* shape : {"f32[4]", "s32[4]", "c64[4]"}) {
      Literal literal(ParseShape(shape).value());
      EXPECT_EQ(FillRandom(spec, 1, &literal, {}, &meter).code(), absl::StatusCode::kCancelled) << shape;
    }
  }
}

TEST(RandomArrayTest, EndsAtTheDeadline) {
  WorkLimits limits;
  limits.deadline = limits.start - std::chrono::seconds(1);
  const WorkMeter meter(limits);
  Literal literal(ParseShape("f32[4]").value());
  EXPECT_EQ(FillRandom({}, 1, &literal, {}, &meter).code(), absl::StatusCode::kDeadlineExceeded);
}

// More elements than are sorted at a time.
TEST(RandomArrayTest, LongArraysAreSorted) {
  for (const bool different : {false, true}) {
    RandomDistributionSpec spec = {Kind::kUniform, 0, 1e9};
    spec.is_sorted = true;
    spec.no_duplicates = different;
    const Literal numbers = Random("s32[2500000]", spec);
    const absl::Span<const int32_t> elements = numbers.data<int32_t>();
    EXPECT_TRUE(std::is_sorted(elements.begin(), elements.end()));
    EXPECT_NE(elements.front(), elements.back());
  }
}

}  // namespace
}  // namespace kashi::literal
