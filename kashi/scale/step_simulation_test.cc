#include "kashi/scale/step_simulation.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::scale {
namespace {

// A flop takes a second and memory nothing; a message takes 10 seconds and a second a byte.
constexpr DeviceRates kRates = {1, 1e300, 0};

Network FourDevices() { return Network::Create(Network::Kind::kSwitch, {4}, {{10, 1}}).value(); }

constexpr char kModule[] = R"(HloModule m, num_partitions=4, is_scheduled=true
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
$0
ENTRY e {
  x = f32[4] parameter(0)
$1
})";

absl::StatusOr<StepPrediction> Simulate(const std::string& text, const SimulationOptions& options = {}) {
  const std::unique_ptr<HloModule> module = ParseAndReturnUnverifiedModule(text).value();
  return SimulateStep(*module, FourDevices(), kRates, options);
}
StepPrediction Step(const std::string& instructions, const std::string& computations = "",
                    const SimulationOptions& options = {}) {
  return Simulate(absl::Substitute(kModule, computations, instructions), options).value();
}
std::string Error(const std::string& text, const SimulationOptions& options = {}) {
  return std::string(Simulate(text, options).status().message());
}

// All-reduce of 16 bytes on 4 devices of a switch: 2 * 2 latencies and 2 * 12 bytes; or 2 and 2 * 16.
constexpr double kAllReduce = 52;
constexpr char kReduce[] =
    "  r = f32[4] all-reduce(x), channel_id=1, use_global_device_ids=true, replica_groups={{0,1,2,3}}, to_apply=sum\n";

TEST(StepSimulationTest, ComputesThenWaits) {
  const StepPrediction step = Step(absl::StrCat("  n = f32[4] negate(x)\n", kReduce));
  EXPECT_DOUBLE_EQ(step.compute_seconds, 4);
  EXPECT_DOUBLE_EQ(step.seconds, 4 + kAllReduce);
  EXPECT_DOUBLE_EQ(step.fastest_seconds, step.seconds);
  EXPECT_DOUBLE_EQ(step.exposed_seconds, kAllReduce);
  ASSERT_EQ(step.collectives.size(), 1);
  EXPECT_EQ(step.collectives[0].opcode, "all-reduce");
  EXPECT_EQ(step.collectives[0].algorithm, "recursive doubling");
  EXPECT_EQ(step.collectives[0].members, 4);
  EXPECT_EQ(step.collectives[0].bytes, 16);
}

TEST(StepSimulationTest, WhatIsBegunGoesOnWhileDevicesCompute) {
  const std::string start =
      "  s = f32[4] all-reduce-start(x), channel_id=1, use_global_device_ids=true, replica_groups={{0,1,2,3}}, "
      "to_apply=sum\n  a = f32[4] negate(x)\n  b = f32[4] add(a, x)\n  d = f32[4] all-reduce-done(s)\n";
  const StepPrediction step = Step(start);
  EXPECT_DOUBLE_EQ(step.compute_seconds, 8);
  EXPECT_DOUBLE_EQ(step.seconds, kAllReduce);
  EXPECT_DOUBLE_EQ(step.exposed_seconds, kAllReduce - 8);
  // Two at once follow each other on the network.
  const std::string two =
      "  s = f32[4] all-reduce-start(x), channel_id=1, use_global_device_ids=true, replica_groups={{0,1,2,3}}, "
      "to_apply=sum\n  t = f32[4] all-reduce-start(x), channel_id=2, use_global_device_ids=true, "
      "replica_groups={{0,1,2,3}}, to_apply=sum\n  d = f32[4] all-reduce-done(s)\n  e = f32[4] all-reduce-done(t)\n";
  EXPECT_DOUBLE_EQ(Step(two).seconds, 2 * kAllReduce);
}

TEST(StepSimulationTest, ASlowDeviceHoldsItsGroupOnly) {
  const std::string halves =
      "  n = f32[4] negate(x)\n  r = f32[4] all-reduce(n), channel_id=1, use_global_device_ids=true, "
      "replica_groups={{0,1},{2,3}}, to_apply=sum\n";
  SimulationOptions options;
  options.slow_devices = {{2, 3.0}};
  const StepPrediction step = Step(halves, "", options);
  // With two devices: one round of 10 + 16.
  EXPECT_DOUBLE_EQ(step.fastest_seconds, 4 + 26);
  EXPECT_DOUBLE_EQ(step.seconds, 12 + 26);
  EXPECT_EQ(step.slowest_device, 2);
  // Device 3 waits 8 seconds longer than the others.
  EXPECT_DOUBLE_EQ(step.exposed_seconds, 26 + 8.0 / 4);
}

TEST(StepSimulationTest, PermutationsDelayThoseThatAreInThem) {
  const StepPrediction step = Step("  p = f32[4] collective-permute(x), channel_id=1, source_target_pairs={{0,1}}\n");
  EXPECT_DOUBLE_EQ(step.seconds, 26);
  EXPECT_DOUBLE_EQ(step.fastest_seconds, 0);
  EXPECT_DOUBLE_EQ(step.exposed_seconds, 13);
}

constexpr char kLoop[] = R"(
body { s = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(s), index=0
  x = f32[4] get-tuple-element(s), index=1  one = s32[] constant(1)  j = s32[] add(i, one)
  r = f32[4] all-reduce(x), channel_id=1, use_global_device_ids=true, replica_groups={{0,1,2,3}}, to_apply=sum
  ROOT t = (s32[], f32[4]) tuple(j, r) }
cond { s = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(1000000)  ROOT c = pred[] compare(i, n), direction=LT })";
constexpr char kRunLoop[] =
    "  z = s32[] constant(0)\n  t = (s32[], f32[4]) tuple(z, x)\n  w = (s32[], f32[4]) while(t), "
    "condition=cond, body=body\n";

TEST(StepSimulationTest, IterationsThatAreAlikeAreMultiplied) {
  const StepPrediction step = Step(kRunLoop, kLoop);
  EXPECT_EQ(step.unknown_loops, 0);
  // Each iteration has an add, a compare and the all-reduce; one more compare at the end.
  EXPECT_NEAR(step.seconds, 1e6 * (2 + kAllReduce) + 1, 1);
  EXPECT_NEAR(step.collectives[0].calls, 1e6, 1e-3);
  EXPECT_NEAR(step.exposed_seconds, 1e6 * kAllReduce, 1);
}

TEST(StepSimulationTest, LoopsOfUnknownLengthCountOnce) {
  const std::string unknown =
      "  z = s32[] constant(0)\n  c = s32[] convert(z)\n  t = (s32[], f32[4]) tuple(c, x)\n"
      "  w = (s32[], f32[4]) while(t), condition=never, body=body\n";
  const std::string never =
      "never { s = (s32[], f32[4]) parameter(0)  x = f32[4] get-tuple-element(s), index=1\n"
      "  y = f32[1] slice(x), slice={[0:1]}  v = f32[] reshape(y)  k = f32[] constant(1)\n"
      "  ROOT c = pred[] compare(v, k), direction=LT }\n";
  const StepPrediction step = Step(unknown, absl::StrCat(kLoop, "\n", never));
  EXPECT_EQ(step.unknown_loops, 1);
  EXPECT_EQ(step.collectives[0].calls, 1);
}

TEST(StepSimulationTest, Errors) {
  EXPECT_EQ(Error("HloModule m\nENTRY e { ROOT x = f32[] parameter(0) }"),
            "the program is for 1 replica of 1 partition, but a switch of 4 has 4 devices");
  EXPECT_EQ(
      Error("HloModule m, num_partitions=4\nENTRY e { ROOT x = f32[4] parameter(0), sharding={devices=[4]<=[4]} }"),
      "the program is not partitioned yet, so it has no collectives to predict");
  EXPECT_EQ(Error(absl::Substitute(kModule, "",
                                   "  r = f32[4] all-reduce(x), channel_id=1, use_global_device_ids=true, "
                                   "replica_groups={{0,7}}, to_apply=sum\n")),
            "instruction r: its groups name device 7, but the ids are 0 to 3");
  SimulationOptions options;
  options.slow_devices = {{4, 2.0}};
  EXPECT_EQ(Error(absl::Substitute(kModule, "", kReduce), options), "there is no device 4: they are 0 to 3");
  options = {};
  options.most_instructions = 1;
  EXPECT_EQ(Error(absl::Substitute(kModule, "", kReduce), options), "more than 1 instruction would run");
}

// Each computation calls the next one twice: 2^100 calls.
TEST(StepSimulationTest, CallsThatMultiplyEndWithAnError) {
  std::string computations = "call0 { x = f32[4] parameter(0)  ROOT y = f32[4] negate(x) }\n";
  for (int i = 1; i <= 100; ++i) {
    absl::StrAppend(&computations, "call", i, " { x = f32[4] parameter(0)  y = f32[4] call(x), to_apply=call", i - 1,
                    "  ROOT z = f32[4] call(y), to_apply=call", i - 1, " }\n");
  }
  SimulationOptions options;
  options.most_instructions = 10000;
  EXPECT_EQ(Error(absl::Substitute(kModule, computations, "  c = f32[4] call(x), to_apply=call100\n"), options),
            "more than 10,000 instructions would run");
}

}  // namespace
}  // namespace kashi::scale
