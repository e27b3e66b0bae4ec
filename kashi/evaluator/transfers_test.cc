// send and recv between the devices of a program. What StableHLO's processes do: kashi/stablehlo's tests.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/evaluator/device_group_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

using ::testing::HasSubstr;

std::string Pairs(absl::string_view pairs) {
  return absl::StrCat(", frontend_attributes={_xla_send_recv_source_target_pairs=\"", pairs, "\"}");
}
// Begins and ends both halves; `r` is the received value.
std::string Transfer(absl::string_view pairs, absl::string_view channel = "channel_id=1") {
  return absl::Substitute(R"(
  p = s32[2] parameter(0)
  t = token[] after-all()
  rv = (s32[2], u32[], token[]) recv(t), $0$1
  sd = (s32[2], u32[], token[]) send(p, t), $0$1
  rd = (s32[2], token[]) recv-done(rv), $0
  se = token[] send-done(sd), $0
  ROOT r = s32[2] get-tuple-element(rd), index=0)",
                          channel, Pairs(pairs));
}
std::string Program(absl::string_view instructions, absl::string_view head = "num_partitions=4") {
  return absl::Substitute("HloModule m, $0\nENTRY e {$1\n}", head, instructions);
}
// {1, 10}, {2, 20} …
DeviceArguments Arguments(int devices = 4) {
  DeviceArguments arguments(devices);
  for (int d = 0; d < devices; ++d) arguments[d].push_back(LiteralUtil::CreateR1<int32_t>({d + 1, 10 * d + 10}));
  return arguments;
}
std::string RunOnFour(absl::string_view instructions, absl::string_view head = "num_partitions=4") {
  return RunText(Program(instructions, head), Arguments());
}

TEST(TransfersTest, DevicesThatAreNoTargetGetZeros) {
  EXPECT_EQ(RunOnFour(Transfer("{{0,1},{1,3}}")), "{0, 0} | {1, 10} | {0, 0} | {2, 20}");
  EXPECT_EQ(RunOnFour(Transfer("{}")), "{0, 0} | {0, 0} | {0, 0} | {0, 0}");
}

TEST(TransfersTest, RingsAndDevicesThatSendToThemselves) {
  EXPECT_EQ(RunOnFour(Transfer("{{0,1},{1,2},{2,3},{3,0}}")), "{4, 40} | {1, 10} | {2, 20} | {3, 30}");
  EXPECT_EQ(RunOnFour(Transfer("{{2,2}}")), "{0, 0} | {0, 0} | {3, 30} | {0, 0}");
}

TEST(TransfersTest, IdsAreThoseOfPartitionsOrReplicas) {
  EXPECT_EQ(RunOnFour(Transfer("{{0,3}}", "channel_id=0"), "replica_count=4"), "{0, 0} | {0, 0} | {0, 0} | {1, 10}");
  const std::string both = "replica_count=2, num_partitions=2";
  EXPECT_EQ(RunOnFour(Transfer("{{0,1}}"), both), "{0, 0} | {1, 10} | {0, 0} | {3, 30}");
  EXPECT_EQ(RunOnFour(Transfer("{{0,1}}", "channel_id=0"), both), "{0, 0} | {0, 0} | {1, 10} | {2, 20}");
}

// Two values of one route, and the second reception ends first.
TEST(TransfersTest, ValuesOfARouteArriveInOrder) {
  const std::string text = absl::Substitute(R"(
  p = s32[2] parameter(0)
  n = s32[2] negate(p)
  t = token[] after-all()
  r1 = (s32[2], u32[], token[]) recv(t), channel_id=1$0
  r2 = (s32[2], u32[], token[]) recv(t), channel_id=1$0, control-predecessors={r1}
  x1 = (s32[2], u32[], token[]) send(p, t), channel_id=1$0
  x2 = (s32[2], u32[], token[]) send(n, t), channel_id=1$0, control-predecessors={x1}
  e1 = token[] send-done(x1), channel_id=1
  e2 = token[] send-done(x2), channel_id=1
  d2 = (s32[2], token[]) recv-done(r2), channel_id=1
  d1 = (s32[2], token[]) recv-done(r1), channel_id=1, control-predecessors={d2}
  a1 = s32[2] get-tuple-element(d1), index=0
  a2 = s32[2] get-tuple-element(d2), index=0
  ROOT r = (s32[2], s32[2]) tuple(a1, a2))",
                                            Pairs("{{0,1}}"));
  EXPECT_EQ(RunOnFour(text), "( {0, 0}, {0, 0} ) | ( {1, 10}, {-1, -10} ) | ( {0, 0}, {0, 0} ) | ( {0, 0}, {0, 0} )");
}

// Each iteration ends the reception that the previous one has begun: three times around the ring.
TEST(TransfersTest, ReceptionsGoThroughLoops) {
  const std::string program = absl::Substitute(R"(HloModule m, num_partitions=4
body { s = (s32[], s32[2], (s32[2], u32[], token[]), (s32[2], u32[], token[])) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  rv = (s32[2], u32[], token[]) get-tuple-element(s), index=2
  sd = (s32[2], u32[], token[]) get-tuple-element(s), index=3
  rd = (s32[2], token[]) recv-done(rv), channel_id=1
  se = token[] send-done(sd), channel_id=1
  d = s32[2] get-tuple-element(rd), index=0
  t = token[] after-all()
  rw = (s32[2], u32[], token[]) recv(t), channel_id=1$0, control-predecessors={rd}
  sw = (s32[2], u32[], token[]) send(d, t), channel_id=1$0
  ROOT r = (s32[], s32[2], (s32[2], u32[], token[]), (s32[2], u32[], token[])) tuple(j, d, rw, sw) }
condition { s = (s32[], s32[2], (s32[2], u32[], token[]), (s32[2], u32[], token[])) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  three = s32[] constant(3)
  ROOT c = pred[] compare(i, three), direction=LT }
ENTRY e { p = s32[2] parameter(0)
  z = s32[] constant(0)
  t = token[] after-all()
  rv = (s32[2], u32[], token[]) recv(t), channel_id=1$0
  sd = (s32[2], u32[], token[]) send(p, t), channel_id=1$0
  s = (s32[], s32[2], (s32[2], u32[], token[]), (s32[2], u32[], token[])) tuple(z, p, rv, sd)
  w = (s32[], s32[2], (s32[2], u32[], token[]), (s32[2], u32[], token[])) while(s), condition=condition, body=body
  rw = (s32[2], u32[], token[]) get-tuple-element(w), index=2
  sw = (s32[2], u32[], token[]) get-tuple-element(w), index=3
  rd = (s32[2], token[]) recv-done(rw), channel_id=1
  se = token[] send-done(sw), channel_id=1
  l = s32[2] get-tuple-element(rd), index=0
  k = s32[2] get-tuple-element(w), index=1
  ROOT r = (s32[2], s32[2]) tuple(k, l) })",
                                               Pairs("{{0,1},{1,2},{2,3},{3,0}}"));
  EXPECT_EQ(RunText(program, Arguments()),
            "( {2, 20}, {1, 10} ) | ( {3, 30}, {2, 20} ) | ( {4, 40}, {3, 30} ) | ( {1, 10}, {4, 40} )");
}

TEST(TransfersTest, WhatNobodySendsOrReceivesIsAnError) {
  const std::string alone = R"(
  p = s32[2] parameter(0)
  t = token[] after-all()
  x = (s32[2], u32[], token[]) $0, channel_id=1$1
  ROOT e = $2(x), channel_id=1)";
  EXPECT_THAT(
      RunOnFour(absl::Substitute(alone, "recv(t)", Pairs("{{0,2}}"), "(s32[2], token[]) recv-done")),
      HasSubstr("wait for each other forever: device 0 has finished; device 1 has finished; device 2 waits at e "
                "for a value from channel 1 from device 0 to device 2; device 3 has finished"));
  EXPECT_THAT(RunOnFour(absl::Substitute(alone, "send(p, t)", Pairs("{{0,2}}"), "token[] send-done")),
              HasSubstr("nobody receives what goes over channel 1 from device 0 to device 2"));
}

TEST(TransfersTest, WrongPairs) {
  EXPECT_THAT(RunOnFour(Transfer("{{0,4}}")), HasSubstr(": its pairs name id 4, but the ids are 0 to 3"));
  EXPECT_THAT(RunOnFour(Transfer("{{0,1},{0,2}}")),
              HasSubstr("its pair {0,2} has a source or a target of another pair"));
  EXPECT_THAT(RunOnFour(Transfer("{{0,1,2}}")), HasSubstr("pairs of a source and a target expected"));
  EXPECT_THAT(RunOnFour(Transfer("0 to 1")), HasSubstr("INVALID_ARGUMENT"));
  EXPECT_THAT(RunOnFour(R"(
  p = s32[2] parameter(0)
  t = token[] after-all()
  x = (s32[2], u32[], token[]) send(p, t), channel_id=1
  ROOT e = token[] send-done(x), channel_id=1)"),
              HasSubstr("x does not say between which devices"));
}

TEST(TransfersTest, WhatArrivesMustSuit) {
  std::string text = Transfer("{{0,1}}");
  text.replace(text.find("parameter(0)"), 12, "parameter(0)\n  q = s32[3] constant({1, 2, 3})");
  text.replace(text.find("(s32[2], u32[], token[]) send(p"), 31, "(s32[3], u32[], token[]) send(q");
  EXPECT_THAT(RunOnFour(text), HasSubstr("device 1: rd: what arrives does not suit s32[2]"));
}

TEST(TransfersTest, AHostIsNotThere) {
  EXPECT_THAT(RunOnFour(R"(
  p = s32[2] parameter(0)
  t = token[] after-all()
  x = (s32[2], u32[], token[]) send(p, t), channel_id=1, is_host_transfer=true
  ROOT e = token[] send-done(x), channel_id=1, is_host_transfer=true)"),
              HasSubstr("x: send needs a host or another program, but there is none"));
}

}  // namespace
}  // namespace kashi::evaluator
