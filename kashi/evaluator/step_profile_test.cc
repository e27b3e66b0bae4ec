#include "kashi/evaluator/step_profile.h"

#include <string>
#include <thread>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "gtest/gtest.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/evaluator_testing.h"

namespace kashi::evaluator {
namespace {

constexpr char kLoop[] = R"(
    HloModule m

    body {
      s = (s32[], f32[8]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      x = f32[8] get-tuple-element(s), index=1
      one = s32[] constant(1)
      next = s32[] add(i, one)
      y = f32[8] multiply(x, x)
      ROOT r = (s32[], f32[8]) tuple(next, y)
    }

    condition {
      t = (s32[], f32[8]) parameter(0)
      j = s32[] get-tuple-element(t), index=0
      five = s32[] constant(5)
      ROOT c = pred[] compare(j, five), direction=LT
    }

    ENTRY main {
      zero = s32[] constant(0)
      number = f32[] constant(1)
      start = f32[8] broadcast(number), dimensions={}
      initial = (s32[], f32[8]) tuple(zero, start)
      ROOT w = (s32[], f32[8]) while(initial), condition=condition, body=body
    })";

// By the name of the instruction; "" is the run itself.
absl::flat_hash_map<std::string, StepTime> ByName(const StepProfile& profile) {
  absl::flat_hash_map<std::string, StepTime> times;
  for (const StepTime& time : profile.Times()) {
    times.emplace(time.instruction == nullptr ? "" : std::string(time.instruction->name()), time);
  }
  return times;
}

TEST(StepProfileTest, CountsStepsAndTheStepsWithinThem) {
  const auto module = ParseAndReturnUnverifiedModule(kLoop);
  ASSERT_TRUE(module.ok()) << module.status();
  StepProfile profile(/*most_events=*/100);
  RunHooks hooks;
  hooks.profile = &profile;
  EvaluationRun run({}, hooks);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(run.Call(*(*module)->entry_computation(), {}).ok());
  const auto times = ByName(profile);
  EXPECT_EQ(times.at("").calls, 2);
  EXPECT_EQ(times.at("w").calls, 2);
  EXPECT_TRUE(times.at("w").has_steps);
  EXPECT_EQ(times.at("y").calls, 10);
  EXPECT_EQ(times.at("c").calls, 12);
  EXPECT_FALSE(times.at("y").has_steps);
  EXPECT_FALSE(times.contains("s")) << "a parameter is no step";
}

TEST(StepProfileTest, OwnTimesAreTheWholeTime) {
  const auto module = ParseAndReturnUnverifiedModule(kLoop);
  ASSERT_TRUE(module.ok()) << module.status();
  StepProfile profile(/*most_events=*/1000);
  RunHooks hooks;
  hooks.profile = &profile;
  EvaluationRun run({}, hooks);
  ASSERT_TRUE(run.Call(*(*module)->entry_computation(), {}).ok());
  int64_t own_ns = 0;
  for (const StepTime& time : profile.Times()) own_ns += time.own_ns;
  const StepEvent whole = profile.clocks().at(0).events().back();
  EXPECT_EQ(whole.instruction, nullptr);
  EXPECT_EQ(own_ns, whole.end_ns - whole.begin_ns);
}

TEST(StepProfileTest, KeepsSomeEventsAndForgetsAll) {
  StepProfile profile(/*most_events=*/2);
  StepClock* const clock = profile.ClockOf(0);
  EXPECT_EQ(clock, profile.ClockOf(0));
  for (int i = 0; i < 5; ++i) const MeasuredStep step(clock, nullptr);
  EXPECT_EQ(clock->events().size(), 2);
  EXPECT_EQ(clock->lost_events(), 3);
  EXPECT_EQ(profile.Times()[0].calls, 5);
  {
    const MeasuredStep loop(clock, nullptr);
    const MeasuredStep step(clock, nullptr);
  }
  EXPECT_EQ(clock->events().size(), 4) << "a step with a step within it is kept";
  profile.Clear();
  EXPECT_TRUE(clock->events().empty());
  EXPECT_EQ(clock->lost_events(), 0);
  EXPECT_TRUE(profile.Times().empty());
}

TEST(StepProfileTest, EachDeviceHasItsClock) {
  StepProfile profile;
  std::vector<std::thread> devices;
  for (int device = 0; device < 4; ++device) {
    devices.emplace_back([&profile, device] { const MeasuredStep step(profile.ClockOf(device), nullptr); });
  }
  for (std::thread& device : devices) device.join();
  EXPECT_EQ(profile.clocks().size(), 4);
  EXPECT_EQ(profile.Times()[0].calls, 4);
}

TEST(StepProfileTest, NothingIsMeasuredWithoutAClock) { const MeasuredStep step(nullptr, nullptr); }

}  // namespace
}  // namespace kashi::evaluator
