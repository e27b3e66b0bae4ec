// Collective operations that one instruction begins and another ends, on devices that are threads.
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/evaluator/device_group_testing.h"
#include "kashi/evaluator/literal_run.h"
#include "kashi/evaluator/step_profile.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// `entry` has the parameter p; `call(x)` stands for a custom call, for the handler of the run.
std::string AsynchronousProgram(int64_t replicas, absl::string_view entry, bool is_scheduled = true) {
  const std::string text =
      absl::StrCat("HloModule m, replica_count=", replicas, is_scheduled ? ", is_scheduled=true" : "", R"(
add { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] add(a, b) }
join { x = s32[] parameter(0)
  s = s32[] all-reduce-start(x), replica_groups={}, to_apply=add
  ROOT d = s32[] all-reduce-done(s) }
keep { x = s32[] parameter(0)
  ROOT r = s32[] copy(x) }
give { x = s32[] parameter(0)
  t = token[] after-all()
  s = (s32[], u32[], token[]) send(x, t), channel_id=1, PAIRS
  e = token[] send-done(s), channel_id=1
  ROOT v = s32[] negate(x) }
take { x = s32[] parameter(0)
  t = token[] after-all()
  r = (s32[], u32[], token[]) recv(t), channel_id=1, PAIRS
  d = (s32[], token[]) recv-done(r), channel_id=1
  ROOT v = s32[] get-tuple-element(d), index=0 }
total { x = s32[] parameter(0)
  ROOT r = s32[] all-reduce(x), replica_groups={}, to_apply=add }
ENTRY e { p = s32[] parameter(0)
  id = u32[] replica-id()
  i = s32[] convert(id)
)",
                   entry, " }");
  return absl::StrReplaceAll(text, {{"PAIRS", "frontend_attributes={_xla_send_recv_source_target_pairs={{0,1}}}"},
                                    {"call(x)", "custom-call(x), custom_call_target=\"work\""}});
}

DeviceArguments NumberOfEach(const std::vector<int32_t>& values) {
  DeviceArguments arguments(values.size());
  for (size_t d = 0; d < values.size(); ++d) arguments[d].push_back(LiteralUtil::CreateR0<int32_t>(values[d]));
  return arguments;
}

// Device 1 begins the operation when it has got a value, which device 0 sends after it has begun.
TEST(AsynchronousCollectivesTest, ADeviceThatBeginsDoesNotWait) {
  for (const bool is_scheduled : {true, false}) {
    EXPECT_EQ(RunText(AsynchronousProgram(2,
                                          "before = s32[] conditional(i, p, p), branch_computations={keep, take}\n"
                                          "s = s32[] all-reduce-start(before), replica_groups={}, to_apply=add\n"
                                          "after = s32[] conditional(i, p, p), branch_computations={give, keep}\n"
                                          "d = s32[] all-reduce-done(s)\n"
                                          "ROOT r = (s32[], s32[]) tuple(d, after)",
                                          is_scheduled),
                      NumberOfEach({3, 5})),
              "( 6, -3 ) | ( 6, 5 )");
  }
}

// Also where a computation is the operation.
TEST(AsynchronousCollectivesTest, AsyncStartDoesNotWait) {
  EXPECT_EQ(RunText(AsynchronousProgram(2,
                                        "before = s32[] conditional(i, p, p), branch_computations={keep, take}\n"
                                        "s = ((s32[]), s32[], u32[]) async-start(before), calls=total\n"
                                        "after = s32[] conditional(i, p, p), branch_computations={give, keep}\n"
                                        "u = ((s32[]), s32[], u32[]) async-update(s)\n"
                                        "d = s32[] async-done(u)\n"
                                        "ROOT r = (s32[], s32[]) tuple(d, after)"),
                    NumberOfEach({3, 5})),
            "( 6, -3 ) | ( 6, 5 )");
}

TEST(AsynchronousCollectivesTest, EndInAnyOrder) {
  EXPECT_EQ(RunText(AsynchronousProgram(2,
                                        "q = s32[] negate(p)\n"
                                        "s = s32[] all-reduce-start(p), replica_groups={}, to_apply=add\n"
                                        "t = s32[] all-reduce-start(q), replica_groups={}, to_apply=add\n"
                                        "e = s32[] all-reduce-done(t)\n"
                                        "w = s32[] multiply(p, p)\n"
                                        "d = s32[] all-reduce-done(s)\n"
                                        "ROOT r = (s32[], s32[], s32[], s32[]) tuple(d, e, w, p)"),
                    NumberOfEach({3, 5})),
            "( 8, -8, 9, 3 ) | ( 8, -8, 25, 5 )");
}

// The operands of a begun operation must not be written, also if nobody else reads them.
TEST(AsynchronousCollectivesTest, OperandsStayUntilTheEnd) {
  const std::string text = R"(HloModule m, replica_count=2, is_scheduled=true
body { t = (s32[], s32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = s32[4] get-tuple-element(t), index=1
  one = s32[] constant(1)
  ones = s32[4] broadcast(one), dimensions={}
  j = s32[] add(i, one)
  s = (s32[4], s32[4], u32[], u32[]) collective-permute-start(x), source_target_pairs={{0,1},{1,0}}
  y = s32[4] add(x, ones)
  d = s32[4] collective-permute-done(s)
  z = s32[4] subtract(y, d)
  ROOT r = (s32[], s32[4]) tuple(j, z) }
condition { t = (s32[], s32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(3)
  ROOT r = pred[] compare(i, n), direction=LT }
ENTRY e { p = s32[] parameter(0)
  x = s32[4] broadcast(p), dimensions={}
  zero = s32[] constant(0)
  t = (s32[], s32[4]) tuple(zero, x)
  w = (s32[], s32[4]) while(t), condition=condition, body=body
  ROOT r = s32[4] get-tuple-element(w), index=1 })";
  // (7, 2) -> (6, -4) -> (11, -9) -> (21, -19)
  EXPECT_EQ(RunText(text, NumberOfEach({7, 2})), "{21, 21, 21, 21} | {-19, -19, -19, -19}");
}

TEST(AsynchronousCollectivesTest, ADeadlockNamesBothHalves) {
  EXPECT_EQ(RunText(AsynchronousProgram(3, "ROOT r = s32[] conditional(p, p, p), branch_computations={join, keep}"),
                    NumberOfEach({0, 1, 0})),
            "FAILED_PRECONDITION: The devices wait for each other forever: device 0 waits at d, begun at s, of devices "
            "{0,1,2} for {1}; device 1 has finished; device 2 waits at d, begun at s, of devices {0,1,2} for {1}");
}

constexpr char kWorkBetween[] =
    "s = s32[] all-reduce-start(p), replica_groups={}, to_apply=add\n"
    "x = s32[] copy(p)\n"
    "w = s32[] call(x)\n"
    "d = s32[] all-reduce-done(s)\n"
    "ROOT r = (s32[], s32[]) tuple(d, w)";

TEST(AsynchronousCollectivesTest, AnErrorBetweenTheHalvesEndsAll) {
  EvaluationOptions options;
  options.custom_call_handler = [](const HloInstruction&,
                                   absl::Span<const Literal* const> x) -> absl::StatusOr<Literal> {
    if (x[0]->data<int32_t>()[0] == 7) return absl::DataLossError("seven");
    return x[0]->Clone();
  };
  const auto results = TryRunText(AsynchronousProgram(3, kWorkBetween), NumberOfEach({1, 7, 3}), std::nullopt, options);
  EXPECT_EQ(results.status().message(), "device 1: seven");
}

TEST(AsynchronousCollectivesTest, AnErrorOfTheOperationNamesBothHalves) {
  const std::string text = R"(HloModule m, replica_count=2
exchange { x = s32[8] parameter(0)
  ROOT g = s32[3] all-gather(x), replica_groups={}, dimensions={0} }
ENTRY e { p = s32[] parameter(0)
  y = s32[8] broadcast(p), dimensions={}
  s = ((s32[8]), s32[3], u32[]) async-start(y), calls=exchange
  ROOT d = s32[3] async-done(s) })";
  const auto module = ParseAndReturnUnverifiedModule(text);
  ASSERT_TRUE(module.ok()) << module.status();
  const auto results = RunOnDevices(**module, NumberOfEach({1, 2}));
  EXPECT_THAT(std::string(results.status().message()), HasSubstr("d, which ends s: g: "));
}

// Device 1 begins late; device 0 does something else in the meantime.
TEST(AsynchronousCollectivesTest, AProfileSaysWhatIsHidden) {
  const std::string text = AsynchronousProgram(2,
                                               "x = s32[] copy(p)\n"
                                               "late = s32[] call(x)\n"
                                               "s = s32[] all-reduce-start(late), replica_groups={}, to_apply=add\n"
                                               "y = s32[] negate(p)\n"
                                               "w = s32[] custom-call(y), custom_call_target=\"work\"\n"
                                               "d = s32[] all-reduce-done(s)\n"
                                               "ROOT r = (s32[], s32[]) tuple(d, w)");
  const auto module = ParseAndReturnUnverifiedModule(text);
  ASSERT_TRUE(module.ok()) << module.status();
  StepProfile profile;
  RunHooks hooks;
  hooks.profile = &profile;
  EvaluationOptions options;
  options.custom_call_handler = [](const HloInstruction&,
                                   absl::Span<const Literal* const> x) -> absl::StatusOr<Literal> {
    const int32_t milliseconds = x[0]->data<int32_t>()[0];
    if (milliseconds == 200 || milliseconds == -1) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return x[0]->Clone();
  };
  const auto results = RunOnDevicesWithHooks(**module, NumberOfEach({1, 200}), options, hooks);
  ASSERT_TRUE(results.ok()) << results.status();
  for (int64_t device = 0; device < 2; ++device) {
    const auto& overlaps = profile.ClockOf(device)->overlaps();
    ASSERT_EQ(overlaps.size(), 1);
    const StepOverlap& overlap = overlaps.begin()->second;
    EXPECT_EQ(overlap.start->opcode(), HloOpcode::kAllReduceStart);
    EXPECT_EQ(overlap.calls, 1);
    EXPECT_GE(overlap.span_ns, overlap.hidden_ns);
    if (device == 0) {
      EXPECT_GE(overlap.hidden_ns, 50'000'000);
    }
  }
}

// The names in the order in which the evaluator comes to them.
std::vector<std::string> OrderOf(const std::string& text) {
  const auto module = ParseAndReturnUnverifiedModule(text);
  std::vector<std::string> names;
  EvaluationOptions options;
  options.observer = [&](const HloInstruction& instruction, const Value&) {
    // Without the number that makes the name unique.
    if (instruction.parent()->IsEntryComputation()) names.emplace_back(instruction.name().substr(0, 1));
    return absl::OkStatus();
  };
  EXPECT_TRUE(RunOnDevices(**module, NumberOfEach({1}), options).ok());
  return names;
}

TEST(AsynchronousCollectivesTest, WithoutAScheduleOperationsBeginEarlyAndEndLate) {
  const char entry[] =
      "a = s32[] multiply(p, p)\n"
      "b = s32[] add(p, p)\n"
      "s = s32[] all-reduce-start(b), replica_groups={}, to_apply=add\n"
      "d = s32[] all-reduce-done(s)\n"
      "c = s32[] negate(a)\n"
      "ROOT r = (s32[], s32[]) tuple(d, c)";
  EXPECT_THAT(OrderOf(AsynchronousProgram(1, entry, /*is_scheduled=*/false)),
              ElementsAre("p", "b", "s", "a", "c", "d", "r"));
  EXPECT_THAT(OrderOf(AsynchronousProgram(1, entry, /*is_scheduled=*/true)),
              ElementsAre("p", "a", "b", "s", "d", "c", "r"));
}

}  // namespace
}  // namespace kashi::evaluator
