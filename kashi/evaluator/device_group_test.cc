#include "kashi/evaluator/device_group.h"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/base/work_meter.h"
#include "kashi/evaluator/device_group_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

using ::testing::HasSubstr;

// Computations that get x and return what they make of it, and an entry. $0: how many replicas.
std::string Program(int64_t replicas, absl::string_view entry) {
  return absl::Substitute(R"(HloModule m, replica_count=$0
add { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] add(a, b) }
join { x = s32[] parameter(0)
  ROOT all = s32[] all-reduce(x), replica_groups={}, to_apply=add }
join_again { y = s32[] parameter(0)
  ROOT other = s32[] all-reduce(y), replica_groups={}, to_apply=add }
stay { x = s32[] parameter(0)
  ROOT r = s32[] copy(x) }
ENTRY e { p = s32[] parameter(0)
$1 })",
                          replicas, entry);
}

DeviceArguments Numbers(const std::vector<int32_t>& values) {
  DeviceArguments arguments(values.size());
  for (size_t d = 0; d < values.size(); ++d) arguments[d].push_back(LiteralUtil::CreateR0<int32_t>(values[d]));
  return arguments;
}

TEST(DeviceGroupTest, DeviceCountsComeFromTheHead) {
  const std::string text = "HloModule m, replica_count=2, num_partitions=3\nENTRY e { ROOT p = u32[] partition-id() }";
  EXPECT_EQ(RunText(text, DeviceArguments(6)), "0 | 1 | 2 | 0 | 1 | 2");
  EXPECT_EQ(RunText(text, DeviceArguments(4), DeviceCounts{1, 4}), "0 | 1 | 2 | 3");
  EXPECT_THAT(RunText(text, DeviceArguments(2)), HasSubstr("for 6 devices (2 replicas of 3 partitions)"));
}

TEST(DeviceGroupTest, WithoutAHeadDevicesAreReplicas) {
  const std::string text = "HloModule m\nENTRY e { ROOT p = u32[] replica-id() }";
  EXPECT_EQ(RunText(text, DeviceArguments(3)), "0 | 1 | 2");
  EXPECT_EQ(RunText(text, DeviceArguments(1)), "0");
}

TEST(DeviceGroupTest, TakesArgumentsInAnyLayout) {
  const std::string text = "HloModule m\nENTRY e { ROOT p = s32[2,2]{0,1} parameter(0) }";
  DeviceArguments arguments(1);
  arguments[0].push_back(LiteralUtil::CreateR2<int32_t>({{1, 2}, {3, 4}}));
  EXPECT_THAT(RunText(text, std::move(arguments)), HasSubstr("{ { 1, 2 }, { 3, 4 } }"));
  EXPECT_THAT(RunText(text, Numbers({1})), HasSubstr("Parameter 0, p, is s32[2,2]; the argument is s32[]"));
}

TEST(DeviceGroupTest, RefusesCountsThatAreNone) {
  const std::string text = "HloModule m\nENTRY e { ROOT p = u32[] replica-id() }";
  EXPECT_THAT(RunText(text, {}), HasSubstr("INVALID_ARGUMENT"));
  EXPECT_THAT(RunText(text, DeviceArguments(1), DeviceCounts{-1, -1}), HasSubstr("there may be 1 to 4096 devices"));
  EXPECT_THAT(RunText(text, DeviceArguments(1), DeviceCounts{int64_t{1} << 62, 4}), HasSubstr("INVALID_ARGUMENT"));
}

TEST(DeviceGroupTest, ErrorsNameTheDevice) {
  EXPECT_THAT(RunText(Program(2, "ROOT r = s32[] copy(p)"), DeviceArguments(2)),
              HasSubstr("Expected 1 argument, but got 0."));
  DeviceArguments arguments = Numbers({1, 2, 3});
  arguments[1].clear();
  EXPECT_THAT(RunText(Program(3, "ROOT r = s32[] call(p), to_apply=join"), std::move(arguments)),
              HasSubstr("device 1: Expected 1 argument"));
}

// A thousand rounds in a loop: round k of a fast device is not round k - 1 of a slow one.
TEST(DeviceGroupTest, MeetsInLoops) {
  const std::string text = R"(HloModule m, replica_count=4
add { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] add(a, b) }
body { t = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = s32[] get-tuple-element(t), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = s32[] collective-permute(x), source_target_pairs={{0,1},{1,2},{2,3},{3,0}}
  z = s32[] add(y, one)
  ROOT r = (s32[], s32[]) tuple(j, z) }
condition { t = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(1001)
  ROOT r = pred[] compare(i, n), direction=LT }
ENTRY e { p = s32[] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], s32[]) tuple(zero, p)
  w = (s32[], s32[]) while(t), condition=condition, body=body
  ROOT r = s32[] get-tuple-element(w), index=1 })";
  EXPECT_EQ(RunText(text, Numbers({10000, 20000, 30000, 40000})), "41001 | 11001 | 21001 | 31001");
}

constexpr char kJoinOrStay[] = "ROOT r = s32[] conditional(p, p, p), branch_computations={join, stay}";

TEST(DeviceGroupTest, DevicesThatNeverComeAreADeadlock) {
  EXPECT_EQ(
      RunText(Program(3, kJoinOrStay), Numbers({0, 1, 0})),
      "FAILED_PRECONDITION: The devices wait for each other forever: device 0 waits at all of devices {0,1,2} for "
      "{1}; device 1 has finished; device 2 waits at all of devices {0,1,2} for {1}");
}

TEST(DeviceGroupTest, DevicesThatWaitAtDifferentPlacesAreADeadlock) {
  EXPECT_EQ(RunText(Program(2, "ROOT r = s32[] conditional(p, p, p), branch_computations={join, join_again}"),
                    Numbers({0, 1})),
            "FAILED_PRECONDITION: The devices wait for each other forever: device 0 waits at all of devices {0,1} for "
            "{1}; device 1 waits at other of devices {0,1} for {0}");
}

TEST(DeviceGroupTest, BranchesThatEveryDeviceTakesAreNone) {
  EXPECT_EQ(RunText(Program(2, kJoinOrStay), Numbers({0, 0})), "0 | 0");
  EXPECT_EQ(RunText(Program(2, kJoinOrStay), Numbers({1, 1})), "1 | 1");
}

// The first error is the result; those that wait do not wait for ever.
TEST(DeviceGroupTest, AnErrorWakesTheOthers) {
  EvaluationOptions options;
  options.observer = [](const HloInstruction& instruction, const Value& value) -> absl::Status {
    if (instruction.name() == "p" && value.data<int32_t>()[0] == 7) return absl::DataLossError("seven");
    return absl::OkStatus();
  };
  const auto results =
      TryRunText(Program(3, "ROOT r = s32[] call(p), to_apply=join"), Numbers({1, 2, 7}), std::nullopt, options);
  EXPECT_EQ(results.status(), absl::DataLossError("device 2: seven"));
}

// Device 1 is held back until the run is cancelled, while device 0 waits for it.
TEST(DeviceGroupTest, CancellingWakesThoseThatWait) {
  std::atomic<bool> cancelled{false};
  EvaluationOptions options;
  options.cancelled = &cancelled;
  options.observer = [&](const HloInstruction& instruction, const Value& value) {
    const bool holds = instruction.name() == "p" && value.data<int32_t>()[0] == 1;
    while (holds && !cancelled) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return absl::OkStatus();
  };
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    cancelled = true;
  });
  const auto results =
      TryRunText(Program(2, "ROOT r = s32[] call(p), to_apply=join"), Numbers({0, 1}), std::nullopt, options);
  canceller.join();
  EXPECT_TRUE(absl::IsCancelled(results.status())) << results.status();
}

// The arrays that all devices have at one time count together.
TEST(DeviceGroupTest, MemoryAndWorkAreLimitedForAllTogether) {
  const std::string program = Program(4,
                                      "x = s32[1000] broadcast(p), dimensions={}\n"
                                      "y = s32[] call(p), to_apply=join\n"
                                      "z = s32[1000] broadcast(y), dimensions={}\n"
                                      "w = s32[1000] add(x, z)\n"
                                      "s = s32[1] slice(w), slice={[0:1]}\n"
                                      "ROOT r = s32[] reshape(s)");
  EvaluationOptions options;
  options.memory_limit_bytes = 4 * 3 * 4000;
  EXPECT_TRUE(TryRunText(program, Numbers({1, 2, 3, 4}), std::nullopt, options).ok());
  options.memory_limit_bytes = 3 * 4000;  // enough for one of them
  const auto results = TryRunText(program, Numbers({1, 2, 3, 4}), std::nullopt, options);
  EXPECT_EQ(LimitKindOf(results.status()), LimitKind::kMemory) << results.status();
  options.memory_limit_bytes = 0;
  options.max_work = 10000;  // likewise
  EXPECT_EQ(LimitKindOf(TryRunText(program, Numbers({1, 2, 3, 4}), std::nullopt, options).status()), LimitKind::kWork);
}

// Device 0 waits for device 1, which has too much to do.
TEST(DeviceGroupTest, TheDeadlineIsEverybodys) {
  EvaluationOptions options;
  options.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
  options.observer = [&](const HloInstruction& instruction, const Value& value) {
    const bool holds = instruction.name() == "p" && value.data<int32_t>()[0] == 1;
    if (holds) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    return absl::OkStatus();
  };
  const auto results =
      TryRunText(Program(2, "ROOT r = s32[] call(p), to_apply=join"), Numbers({0, 1}), std::nullopt, options);
  EXPECT_EQ(results.status().code(), absl::StatusCode::kDeadlineExceeded) << results.status();
}

TEST(DeviceGroupTest, ManyDevices) {
  std::vector<int32_t> values(64);
  for (int32_t i = 0; i < 64; ++i) values[i] = i;
  const auto results = TryRunText(Program(64, "ROOT r = s32[] call(p), to_apply=join"), Numbers(values));
  ASSERT_TRUE(results.ok()) << results.status();
  for (const Literal& result : *results) EXPECT_EQ(result, LiteralUtil::CreateR0<int32_t>(64 * 63 / 2));
}

}  // namespace
}  // namespace kashi::evaluator
