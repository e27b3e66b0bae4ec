#include "kashi/relayout/run/measure.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_parser.h"
#include "kashi/relayout/plan/measurements.h"
#include "kashi/relayout/relayout_measurements.h"
#include "kashi/relayout/relayout_plan.h"
#include "kashi/relayout/run/execute.h"

namespace kashi::relayout {
namespace {

using testing::HasSubstr;

RelayoutTask TaskOf(absl::string_view from, absl::string_view to) {
  RelayoutTask task = {
      Placement::OfLayout(ParseShape(from).value()).value(), Placement::OfLayout(ParseShape(to).value()).value(), {}};
  task.options.threads = 1;
  task.options.caches = CacheModel();
  return task;
}

TEST(PlanChoiceTest, TextIsReadAsItIsWritten) {
  for (int route = 0; route < kRouteCount; ++route) {
    for (double scale : {0.5, 1.0, 2.0}) {
      const PlanChoice choice = {static_cast<Route>(route), route % 2 == 0, scale, static_cast<uint32_t>(route * 3)};
      EXPECT_EQ(ParsePlanChoice(choice.ToString()), choice) << choice.ToString();
    }
  }
  for (const char* text : {"", "boxes", "boxes stream x1", "boxes stream x3 skip=0", "boxes stream x1 skip=-1",
                           "boxes stream x1 skip=4294967296", "boxes stream x1 skip=0 ", "Boxes stream x1 skip=0",
                           "boxes  x1 skip=0", "boxes stream 1 skip=0"}) {
    EXPECT_EQ(ParsePlanChoice(text), std::nullopt) << text;
  }
}

// The plan of the cost function is the first, no two are the same, and all do the same.
TEST(MeasuredCandidatesTest, AreDifferentPlansOfOneProblem) {
  for (const char* problem : {"f32[300,500]|f32[300,500]{0,1}", "bf16[3,97,300]{2,1,0:T(8,128)(2,1)}|bf16[3,97,300]",
                              "bf16[20,30,3]|bf16[20,30,3]{0,1,2:T(4,128)(2,1)}", "s4[64,100]|s4[64,100]{0,1:E(4)}"}) {
    const std::vector<std::string> sides = absl::StrSplit(problem, '|');
    const RelayoutTask task = TaskOf(sides[0], sides[1]);
    const std::vector<MovePlan> plans = MeasuredCandidates(task);
    EXPECT_EQ(plans[0].ToString(), MakeMovePlan(task).ToString());
    EXPECT_GE(plans.size(), 2) << problem;
    std::vector<char> source(task.from.map().byte_size());
    for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<char>(i * 7 + i / 251);
    std::vector<char> wanted;
    for (size_t i = 0; i < plans.size(); ++i) {
      for (size_t j = 0; j < i; ++j) EXPECT_NE(plans[i].ToString(), plans[j].ToString());
      std::vector<char> target(task.to.map().byte_size(), '\x5a');
      ExecutePlan(task, plans[i], source.data(), target.data());
      if (i == 0) wanted = target;
      EXPECT_EQ(target, wanted) << problem << "\n" << plans[i].ToString();
    }
  }
}

TEST(MeasuredPlanTest, IsRememberedAndReadFromText) {
  const RelayoutTask task = TaskOf("f32[123,45]", "f32[123,45]{0,1}");
  const std::string key = MeasurementKey(task);
  EXPECT_EQ(FindMeasurement(key), std::nullopt);
  const int64_t before = RelayoutMeasurementCount();
  const absl::StatusOr<MovePlan> plan = MakeMeasuredPlan(task);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(FindMeasurement(key), plan->choice);
  EXPECT_EQ(RelayoutMeasurementCount(), before + 1);
  EXPECT_EQ(MakeMeasuredPlan(task)->ToString(), plan->ToString());

  // A choice from a file is used, if it is possible; known choices stay.
  const std::string text = RelayoutMeasurementsToText();
  EXPECT_THAT(text, HasSubstr(absl::StrCat(plan->choice.ToString(), "\t", key, "\n")));
  const RelayoutTask other = TaskOf("f32[124,45]", "f32[124,45]{0,1}");
  const std::string lines = absl::StrCat("boxes cache x2 skip=0\t", MeasurementKey(other), "\n",  //
                                         "groups stream x4 skip=4294967295\t", key, "\n");
  EXPECT_EQ(AddRelayoutMeasurements(absl::StrCat(text, lines)), absl::OkStatus());
  EXPECT_EQ(MakeMeasuredPlan(other)->choice.block_scale, 2);
  EXPECT_EQ(FindMeasurement(key), plan->choice);
}

// Choices of a file that lead nowhere, or leave no kernel but the last, are no danger.
TEST(MeasuredPlanTest, AnyChoiceOfAFileIsSafe) {
  const std::string header = RelayoutMeasurementsToText();
  const std::string first_lines = header.substr(0, header.find('\n', header.find('\n') + 1) + 1);
  int size = 200;
  for (const char* choice : {"groups stream x4 skip=0", "tails-read cache x0.25 skip=4294967295",
                             "strips cache x1 skip=0", "boxes stream x4 skip=4294967295"}) {
    ++size;
    const RelayoutTask task = TaskOf(absl::StrCat("u8[", size, ",5]"), absl::StrCat("u8[", size, ",5]{0,1}"));
    ASSERT_EQ(AddRelayoutMeasurements(absl::StrCat(first_lines, choice, "\t", MeasurementKey(task), "\n")),
              absl::OkStatus());
    const absl::StatusOr<MovePlan> plan = MakeMeasuredPlan(task);
    ASSERT_TRUE(plan.ok()) << plan.status();
    std::vector<char> source(size * 5), target(source.size());
    for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<char>(i);
    ExecutePlan(task, *plan, source.data(), target.data());
    for (size_t i = 0; i < source.size(); ++i) EXPECT_EQ(target[i % 5 * size + i / 5], source[i]);
  }
}

TEST(RelayoutMeasurementsTest, OtherTextIsRefused) {
  const std::string text = RelayoutMeasurementsToText();
  const size_t machine = text.find('\n') + 1, rest = text.find('\n', machine) + 1;
  const std::string header = text.substr(0, rest);
  EXPECT_EQ(AddRelayoutMeasurements(header), absl::OkStatus());
  EXPECT_EQ(AddRelayoutMeasurements(header.substr(0, rest - 1)), absl::OkStatus());
  const struct {
    std::string text;
    const char* why;
  } kCases[] = {
      {"", "line 1: expected `kashi relayout measurements 1`"},
      {std::string(1000, '\0'), "line 1"},
      {"kashi relayout measurements 2\n", "line 1"},
      {text.substr(0, machine), "line 2: expected `machine`"},
      {header + "boxes stream x1 skip=0\n", "line 3: expected a choice"},
      {header + "boxes stream x1 skip=0\t\n", "line 3"},
      {header + "\n", "line 3"},
      {header + "boxes stream x1 skip=0\tx\nnonsense\ty\n", "line 4"},
  };
  for (const auto& c : kCases) {
    const absl::Status status = AddRelayoutMeasurements(c.text);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.why));
  }
  const absl::Status foreign = AddRelayoutMeasurements("kashi relayout measurements 1\nmachine 1K/1,2K/1,4K\n");
  EXPECT_EQ(foreign.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(foreign.message()), HasSubstr("measured on another machine, or by another version"));
  EXPECT_EQ(FindMeasurement("x"), std::nullopt) << "nothing is added after an error";
}

TEST(RelayoutPlanTest, MeasuredPlansMoveWhatOthersDo) {
  RelayoutOptions options;
  options.measure = true;
  options.threads = 1;
  // Byte strides, some of them negative: memory is found for both sides.
  const Placement from = Placement::OfStrides(F32, {40, 50}, {-400, 8}).value();
  const Placement to = Placement::OfStrides(F32, {40, 50}, {4, 160}).value();
  const absl::StatusOr<RelayoutPlan> plan = RelayoutPlan::Make(from, to, options);
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::vector<char> source(40 * 400 + 400), target(50 * 160), wanted(50 * 160);
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<char>(i * 31 + i / 256);
  plan->Execute(source.data() + 39 * 400, target.data());
  plan->ExecuteByIndex(source.data() + 39 * 400, wanted.data());
  EXPECT_EQ(target, wanted);
}

TEST(RelayoutPlanTest, WhatFitsNoMemoryIsNotMeasured) {
  RelayoutOptions options;
  options.measure = true;
  const Placement from = Placement::OfStrides(U8, {2, 3}, {int64_t{1} << 56, int64_t{1} << 54}).value();
  const Placement to = Placement::OfStrides(U8, {2, 3}, {3, 1}).value();
  EXPECT_EQ(RelayoutPlan::Make(from, to, options).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace kashi::relayout
