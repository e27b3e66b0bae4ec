// The results of each operation over several devices (docs/spec/hlo-ops.md 7 and 15, "collectives"). Groups by mode:
// collective_groups_test.cc; whole programs: device_group_corpus_test.cc.
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/evaluator/device_group_testing.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

using ::testing::HasSubstr;

constexpr char kComputations[] = R"(
add_f32 { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
max_s32 { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] maximum(a, b) }
add_f16 { a = f16[] parameter(0)
  b = f16[] parameter(1)
  ROOT r = f16[] add(a, b) }
add_bf16 { a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT r = bf16[] add(a, b) }
and_pred { a = pred[] parameter(0)
  b = pred[] parameter(1)
  ROOT r = pred[] and(a, b) }
shift { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ten = f32[] constant(10)
  c = f32[] multiply(a, ten)
  ROOT r = f32[] add(c, b) }
)";

// A program for 4 replicas (or as `head` says) of these instructions.
std::string Program(absl::string_view instructions, absl::string_view head = ", replica_count=4") {
  return absl::Substitute("HloModule m$0\n$1\nENTRY e {\n$2\n}", head, kComputations, instructions);
}

// Device d has the one argument make(d).
template <typename Make>
DeviceArguments Each(int64_t devices, const Make& make) {
  DeviceArguments arguments(devices);
  for (int64_t d = 0; d < devices; ++d) arguments[d].push_back(make(d));
  return arguments;
}
// Scalars d + 1.
DeviceArguments Scalars(int64_t devices = 4) {
  return Each(devices, [](int64_t d) { return LiteralUtil::CreateR0<float>(static_cast<float>(d + 1)); });
}
// f32[1] of d + 1.
DeviceArguments Ones(int64_t devices = 4) {
  return Each(devices, [](int64_t d) { return LiteralUtil::CreateR1<float>({static_cast<float>(d + 1)}); });
}
// f32[4] of 1 2 3 4, plus 10 d.
DeviceArguments Fours(int64_t devices = 4) {
  return Each(devices, [](int64_t d) {
    const float x = 10 * static_cast<float>(d);
    return LiteralUtil::CreateR1<float>({x + 1, x + 2, x + 3, x + 4});
  });
}

// ---- partition-id, replica-id ---------------------------------------------------------------------------------------

TEST(CollectivesTest, Ids) {
  const std::string text =
      "HloModule m, replica_count=2, num_partitions=3\nENTRY e { r = u32[] replica-id()\n"
      " p = u32[] partition-id()\n ROOT t = (u32[], u32[]) tuple(r, p) }";
  EXPECT_EQ(RunText(text, DeviceArguments(6)), "( 0, 0 ) | ( 0, 1 ) | ( 0, 2 ) | ( 1, 0 ) | ( 1, 1 ) | ( 1, 2 )");
  EXPECT_EQ(EvaluateText("HloModule m\nENTRY e { r = u32[] replica-id()\n p = u32[] partition-id()\n"
                         " ROOT t = (u32[], u32[]) tuple(r, p) }")
                .ToStringWithoutShapeOneline(),
            "( 0, 0 )");
}

// ---- all-reduce -----------------------------------------------------------------------------------------------------

std::string AllReduce(absl::string_view attributes) {
  return Program(
      absl::Substitute("p = f32[] parameter(0)\n ROOT r = f32[] all-reduce(p), $0, to_apply=add_f32", attributes),
      ", replica_count=2, num_partitions=2");
}

TEST(CollectivesTest, AllReduceOfTwoReplicasOfTwoPartitions) {
  EXPECT_EQ(RunText(AllReduce("replica_groups={}"), Scalars()), "4 | 6 | 4 | 6");
  EXPECT_EQ(RunText(AllReduce("channel_id=1, replica_groups={}"), Scalars()), "10 | 10 | 10 | 10");
  EXPECT_EQ(RunText(AllReduce("replica_groups={{0},{1}}"), Scalars()), "1 | 2 | 3 | 4");
  EXPECT_EQ(RunText(AllReduce("channel_id=1, replica_groups={{0},{1}}"), Scalars()), "3 | 3 | 7 | 7");
  EXPECT_EQ(RunText(AllReduce("channel_id=1, replica_groups={{0,3},{1,2}}, use_global_device_ids=true"), Scalars()),
            "5 | 5 | 5 | 5");
}

TEST(CollectivesTest, AllReduceOfUnevenGroups) {
  EXPECT_EQ(RunText(Program("p = f32[] parameter(0)\n"
                            "ROOT r = f32[] all-reduce(p), replica_groups={{0,1,2},{3}}, to_apply=add_f32"),
                    Scalars()),
            "6 | 6 | 6 | 4");
}

// Members combine in the order in which the group lists them: ((4·10 + 2)·10 + 1)·10 + 3.
TEST(CollectivesTest, AllReduceByAnyComputation) {
  EXPECT_EQ(RunText(Program("p = f32[] parameter(0)\n"
                            "ROOT r = f32[] all-reduce(p), replica_groups={{3,1,0,2}}, to_apply=shift"),
                    Scalars()),
            "4213 | 4213 | 4213 | 4213");
}

TEST(CollectivesTest, AllReduceOfSeveralOperands) {
  EXPECT_EQ(RunText(Program("p = f32[1] parameter(0)\n q = f32[1] negate(p)\n"
                            "ROOT r = (f32[1], f32[1]) all-reduce(p, q), replica_groups={}, to_apply=add_f32"),
                    Ones()),
            "( {10}, {-10} ) | ( {10}, {-10} ) | ( {10}, {-10} ) | ( {10}, {-10} )");
}

TEST(CollectivesTest, AllReduceOfOtherTypes) {
  const auto run = [](absl::string_view type, absl::string_view computation, auto make) {
    return RunText(Program(absl::Substitute("p = $0[] parameter(0)\n"
                                            "ROOT r = $0[] all-reduce(p), replica_groups={}, to_apply=$1",
                                            type, computation)),
                   Each(4, make));
  };
  EXPECT_EQ(run("s32", "max_s32", [](int64_t d) { return LiteralUtil::CreateR0<int32_t>(d == 2 ? 9 : -9); }),
            "9 | 9 | 9 | 9");
  EXPECT_EQ(run("pred", "and_pred", [](int64_t d) { return LiteralUtil::CreateR0<bool>(d != 2); }),
            "false | false | false | false");
  // The sum is rounded once: 256 + 1 is no bf16, 259 is 260.
  EXPECT_EQ(run("bf16", "add_bf16", [](int64_t d) { return LiteralUtil::CreateR0(bfloat16(d == 0 ? 256 : 1)); }),
            "260 | 260 | 260 | 260");
  // f16 is rounded after each step: 2048 + 1 is 2048 there.
  EXPECT_EQ(run("f16", "add_f16", [](int64_t d) { return LiteralUtil::CreateR0(half(d == 0 ? 2048 : 1)); }),
            "2048 | 2048 | 2048 | 2048");
  // A plain operation uses the type of the operand: this sum does not fit a float.
  EXPECT_EQ(run("s64", "add_f32", [](int64_t d) { return LiteralUtil::CreateR0<int64_t>((int64_t{1} << 40) + d); }),
            "4398046511110 | 4398046511110 | 4398046511110 | 4398046511110");
}

TEST(CollectivesTest, AllReduceRefusesAComputationOnAnotherType) {
  EXPECT_THAT(RunText(Program("p = s32[] parameter(0)\n"
                              "ROOT r = s32[] all-reduce(p), replica_groups={}, to_apply=shift"),
                      Each(4, [](int64_t) { return LiteralUtil::CreateR0<int32_t>(1); })),
              HasSubstr("UNIMPLEMENTED"));
}

// Beyond one block, and both ways to combine.
TEST(CollectivesTest, AllReduceOfLongArrays) {
  constexpr int64_t kSize = 100003;
  std::vector<std::vector<float>> values(4, std::vector<float>(kSize));
  std::mt19937 random(7);
  for (auto& list : values) {
    for (float& x : list) x = static_cast<float>(random() % 1000);
  }
  const auto make = [&](int64_t d) { return LiteralUtil::CreateR1<float>(values[d]); };
  for (const char* computation : {"add_f32", "shift"}) {
    const auto results =
        TryRunText(Program(absl::Substitute("p = f32[$0] parameter(0)\n"
                                            "ROOT r = f32[$0] all-reduce(p), replica_groups={}, to_apply=$1",
                                            kSize, computation)),
                   Each(4, make));
    ASSERT_TRUE(results.ok()) << results.status();
    const float factor = computation[0] == 's' ? 10 : 1;
    std::vector<float> expected = values[0];
    for (int64_t d = 1; d < 4; ++d) {
      for (int64_t i = 0; i < kSize; ++i) expected[i] = expected[i] * factor + values[d][i];
    }
    for (const Literal& result : *results) EXPECT_EQ(result, LiteralUtil::CreateR1<float>(expected)) << computation;
  }
}

TEST(CollectivesTest, AllReduceStartAndDone) {
  EXPECT_EQ(RunText(Program("p = f32[] parameter(0)\n"
                            "s = f32[] all-reduce-start(p), replica_groups={}, to_apply=add_f32\n"
                            "ROOT d = f32[] all-reduce-done(s)"),
                    Scalars()),
            "10 | 10 | 10 | 10");
}

// The operand is used again: what others read must not be written in place.
TEST(CollectivesTest, OperandsStayAsTheyAre) {
  EXPECT_EQ(RunText(Program("p = f32[1] parameter(0)\n x = f32[1] add(p, p)\n"
                            "r = f32[1] all-reduce(x), replica_groups={}, to_apply=add_f32\n"
                            "y = f32[1] negate(x)\n"
                            "q = f32[1] collective-permute(y), source_target_pairs={{0,1},{1,2},{2,3},{3,0}}\n"
                            "z = f32[1] add(q, y)\n"
                            "ROOT t = (f32[1], f32[1], f32[1]) tuple(x, r, z)"),
                    Ones()),
            "( {2}, {20}, {-10} ) | ( {4}, {20}, {-6} ) | ( {6}, {20}, {-10} ) | ( {8}, {20}, {-14} )");
}

// ---- all-gather -----------------------------------------------------------------------------------------------------

TEST(CollectivesTest, AllGather) {
  EXPECT_EQ(RunText(Program("p = f32[1] parameter(0)\n"
                            "ROOT r = f32[4] all-gather(p), replica_groups={{3,1,0,2}}, dimensions={0}"),
                    Ones()),
            "{4, 2, 1, 3} | {4, 2, 1, 3} | {4, 2, 1, 3} | {4, 2, 1, 3}");
}

TEST(CollectivesTest, AllGatherAlongAnInnerDimension) {
  EXPECT_EQ(RunText(Program("p = f32[4] parameter(0)\n q = f32[2,2] reshape(p)\n"
                            "ROOT r = f32[2,4] all-gather(q), replica_groups={{0,2},{3,1}}, dimensions={1}"),
                    Fours()),
            "{ { 1, 2, 21, 22 }, { 3, 4, 23, 24 } } | { { 31, 32, 11, 12 }, { 33, 34, 13, 14 } } | "
            "{ { 1, 2, 21, 22 }, { 3, 4, 23, 24 } } | { { 31, 32, 11, 12 }, { 33, 34, 13, 14 } }");
}

TEST(CollectivesTest, AllGatherStartAndDone) {
  EXPECT_EQ(RunText(Program("p = f32[1] parameter(0)\n"
                            "s = (f32[1], f32[2]) all-gather-start(p), replica_groups={{0,1},{3,2}}, dimensions={0}\n"
                            "ROOT d = f32[2] all-gather-done(s)"),
                    Ones()),
            "{1, 2} | {1, 2} | {4, 3} | {4, 3}");
  EXPECT_EQ(RunText(Program("p = f32[1] parameter(0)\n q = f32[1] negate(p)\n"
                            "s = ((f32[1], f32[1]), (f32[2], f32[2])) all-gather-start(p, q),"
                            " replica_groups={{0,1},{3,2}}, dimensions={0}\n"
                            "ROOT d = (f32[2], f32[2]) all-gather-done(s)"),
                    Ones()),
            "( {1, 2}, {-1, -2} ) | ( {1, 2}, {-1, -2} ) | ( {4, 3}, {-4, -3} ) | ( {4, 3}, {-4, -3} )");
}

// ---- reduce-scatter -------------------------------------------------------------------------------------------------

TEST(CollectivesTest, ReduceScatter) {
  EXPECT_EQ(RunText(Program("p = f32[4] parameter(0)\n"
                            "ROOT r = f32[1] reduce-scatter(p), replica_groups={{3,1,0,2}}, dimensions={0},"
                            " to_apply=add_f32"),
                    Fours()),
            "{72} | {68} | {76} | {64}");
}

TEST(CollectivesTest, ReduceScatterAlongAnInnerDimension) {
  EXPECT_EQ(RunText(Program("p = f32[4] parameter(0)\n q = f32[2,2] reshape(p)\n"
                            "ROOT r = f32[2,1] reduce-scatter(q), replica_groups={{0,1},{3,2}}, dimensions={1},"
                            " to_apply=add_f32"),
                    Fours()),
            "{ {12}, {16} } | { {14}, {18} } | { {54}, {58} } | { {52}, {56} }");
}

// ---- all-to-all -----------------------------------------------------------------------------------------------------

// Device 0 is member 2, and gets piece 2 of devices 3, 1, 0, 2.
TEST(CollectivesTest, AllToAllOfAnArray) {
  EXPECT_EQ(RunText(Program("p = f32[4] parameter(0)\n"
                            "ROOT r = f32[4] all-to-all(p), replica_groups={{3,1,0,2}}, dimensions={0}"),
                    Fours()),
            "{33, 13, 3, 23} | {32, 12, 2, 22} | {34, 14, 4, 24} | {31, 11, 1, 21}");
}

TEST(CollectivesTest, AllToAllAlongAnInnerDimension) {
  EXPECT_EQ(RunText(Program("p = f32[4] parameter(0)\n q = f32[2,2] reshape(p)\n"
                            "ROOT r = f32[2,2] all-to-all(q), replica_groups={{0,1},{2,3}}, dimensions={1}"),
                    Fours()),
            "{ { 1, 11 }, { 3, 13 } } | { { 2, 12 }, { 4, 14 } } | { { 21, 31 }, { 23, 33 } } | "
            "{ { 22, 32 }, { 24, 34 } }");
}

TEST(CollectivesTest, AllToAllOfATuple) {
  EXPECT_EQ(RunText(Program("p = f32[1] parameter(0)\n q = f32[1] negate(p)\n"
                            "ROOT r = (f32[1], f32[1]) all-to-all(p, q), replica_groups={{1,0},{2,3}}"),
                    Ones()),
            "( {-2}, {-1} ) | ( {2}, {1} ) | ( {3}, {4} ) | ( {-3}, {-4} )");
}

// ---- ragged-all-to-all ----------------------------------------------------------------------------------------------

std::string RaggedAllToAll(absl::string_view offsets) {
  return Program(absl::Substitute("in = f32[4] parameter(0)\n io = $0 parameter(1)\n n = $0 parameter(2)\n"
                                  "oo = $0 parameter(3)\n rn = $0 parameter(4)\n m = f32[] constant(-1)\n"
                                  "out = f32[5] broadcast(m), dimensions={}\n"
                                  "ROOT r = f32[5] ragged-all-to-all(in, out, io, n, oo, rn), replica_groups={{0,1}}",
                                  offsets),
                 ", replica_count=2");
}

// Device 0 keeps its row 0 at 0 and sends rows 1, 2, 3 to device 1 at 2; device 1 sends rows 0, 1 to device 0 at 3.
TEST(CollectivesTest, RaggedAllToAll) {
  const auto list = [](std::initializer_list<int32_t> x) {
    return LiteralUtil::CreateR1<int32_t>(std::vector<int32_t>(x));
  };
  DeviceArguments arguments(2);
  const auto fill = [&](int64_t d, Literal in, Literal in_offsets, Literal sizes, Literal out_offsets,
                        Literal received) {
    for (Literal* x : {&in, &in_offsets, &sizes, &out_offsets, &received}) arguments[d].push_back(std::move(*x));
  };
  fill(0, LiteralUtil::CreateR1<float>({1, 2, 3, 4}), list({0, 1}), list({1, 3}), list({0, 2}), list({1, 2}));
  fill(1, LiteralUtil::CreateR1<float>({5, 6, 7, 8}), list({0, 3}), list({2, 1}), list({3, 0}), list({3, 1}));
  EXPECT_EQ(RunText(RaggedAllToAll("s32[2]"), std::move(arguments)), "{1, -1, -1, 5, 6} | {8, -1, 2, 3, 4}");
}

TEST(CollectivesTest, RaggedAllToAllOfSeveralUpdates) {
  DeviceArguments arguments(2);
  for (int64_t d = 0; d < 2; ++d) {
    const float x = 10 * static_cast<float>(d);
    arguments[d].push_back(LiteralUtil::CreateR1<float>({x + 1, x + 2, x + 3, x + 4}));
    arguments[d].push_back(LiteralUtil::CreateR2<int64_t>({{0, 1}, {2, 3}}));  // one row each
    arguments[d].push_back(LiteralUtil::CreateR2<int64_t>({{1, 1}, {1, 0}}));
    arguments[d].push_back(LiteralUtil::CreateR2<int64_t>({{d, 2 + d}, {4, 0}}));
    arguments[d].push_back(LiteralUtil::CreateR2<int64_t>({{1, 1}, {1, 1}}));
  }
  EXPECT_EQ(RunText(RaggedAllToAll("s64[2,2]"), std::move(arguments)), "{1, 11, 2, 12, -1} | {-1, -1, -1, -1, 13}");
}

TEST(CollectivesTest, RaggedAllToAllChecksOffsets) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();
  const std::vector<std::vector<int64_t>> bad = {{-1, 1, 0}, {4, 1, 0},    {0, 5, 0},    {0, -1, 0},   {0, 1, 5},
                                                 {0, 1, -1}, {kMax, 1, 0}, {1, kMax, 0}, {0, kMin, 0}, {0, 1, kMin}};
  for (const std::vector<int64_t>& update : bad) {
    DeviceArguments arguments(2);
    for (int64_t d = 0; d < 2; ++d) {
      arguments[d].push_back(LiteralUtil::CreateR1<float>({1, 2, 3, 4}));
      for (int64_t k : {0, 1, 2, 1}) arguments[d].push_back(LiteralUtil::CreateR1<int64_t>({update[k], update[k]}));
    }
    EXPECT_THAT(RunText(RaggedAllToAll("s64[2]"), std::move(arguments)), HasSubstr("do not fit"))
        << update[0] << " " << update[1] << " " << update[2];
  }
}

// ---- collective-permute ---------------------------------------------------------------------------------------------

TEST(CollectivesTest, CollectivePermute) {
  EXPECT_EQ(RunText(Program("p = f32[] parameter(0)\n"
                            "ROOT r = f32[] collective-permute(p), source_target_pairs={{0,1},{1,2},{3,0}}"),
                    Scalars()),
            "4 | 1 | 2 | 0");
  EXPECT_EQ(RunText(Program("p = f32[] parameter(0)\n"
                            "ROOT r = f32[] collective-permute(p), channel_id=1, source_target_pairs={{0,1}}",
                            ", replica_count=2, num_partitions=2"),
                    Scalars()),
            "0 | 1 | 0 | 3");
}

TEST(CollectivesTest, CollectivePermuteOfSeveralOperands) {
  EXPECT_EQ(RunText(Program("p = f32[1] parameter(0)\n q = f32[1] negate(p)\n"
                            "ROOT r = (f32[1], f32[1]) collective-permute(p, q), source_target_pairs={{0,1},{1,0}}"),
                    Ones()),
            "( {2}, {-2} ) | ( {1}, {-1} ) | ( {0}, {0} ) | ( {0}, {0} )");
}

TEST(CollectivesTest, CollectivePermuteStartAndDone) {
  EXPECT_EQ(RunText(Program("p = f32[1] parameter(0)\n"
                            "s = (f32[1], f32[1], u32[], u32[]) collective-permute-start(p),"
                            " source_target_pairs={{0,1},{1,2},{2,3},{3,0}}\n"
                            "d = f32[1] collective-permute-done(s)\n"
                            "ROOT t = (f32[1], f32[1]) tuple(d, p)"),
                    Ones()),
            "( {4}, {1} ) | ( {1}, {2} ) | ( {2}, {3} ) | ( {3}, {4} )");
}

// A row of the input to a row of the output; the second pair of a source takes its second slice.
TEST(CollectivesTest, CollectivePermuteInPlace) {
  const std::string one = Program(
      "p = f32[4] parameter(0)\n in = f32[2,2] reshape(p)\n out = f32[2,2] negate(in)\n"
      "zero = s32[] constant(0)\n one = s32[] constant(1)\n"
      "from = (s32[], s32[]) tuple(one, zero)\n to = (s32[], s32[]) tuple(zero, zero)\n"
      "ROOT r = f32[2,2] collective-permute(in, out, from, to), source_target_pairs={{0,1}}, slice_sizes={{1,2}}",
      ", replica_count=2");
  EXPECT_EQ(RunText(one, Fours(2)), "{ { -1, -2 }, { -3, -4 } } | { { 3, 4 }, { -13, -14 } }");
  const std::string two = Program(
      "p = f32[4] parameter(0)\n out = f32[4] negate(p)\n"
      "zero = s32[] constant(0)\n one = s32[] constant(1)\n far = s32[] constant(99)\n"
      "a = (s32[]) tuple(zero)\n b = (s32[]) tuple(one)\n c = (s32[]) tuple(far)\n"
      "from = ((s32[]), (s32[])) tuple(a, c)\n to = ((s32[]), (s32[])) tuple(b, a)\n"
      "ROOT r = f32[4] collective-permute(p, out, from, to), source_target_pairs={{0,1},{1,0},{0,0}},"
      " slice_sizes={{1},{1}}",
      ", replica_count=2");
  EXPECT_EQ(RunText(two, Fours(2)), "{4, 11, -3, -4} | {-11, 1, -13, -14}");
}

// ---- collective-broadcast -------------------------------------------------------------------------------------------

TEST(CollectivesTest, CollectiveBroadcast) {
  EXPECT_EQ(RunText(Program("p = f32[] parameter(0)\n"
                            "ROOT r = f32[] collective-broadcast(p), replica_groups={{2,0},{1}}"),
                    Scalars()),
            "3 | 2 | 3 | 0");
  // Real XLA takes it, under the shape of the first operand.
  EXPECT_EQ(RunText(Program("p = f32[] parameter(0)\n n = f32[] negate(p)\n"
                            "ROOT r = f32[] collective-broadcast(p, n), replica_groups={{2,0},{1}}"),
                    Scalars()),
            "3 | 2 | 3 | 0");
}

TEST(CollectivesTest, CollectiveBroadcastFromDynamicRoots) {
  const std::string text =
      "p = f32[] parameter(0)\n n = f32[] negate(p)\n i = s32[2] constant({2, 0})\n"
      "ROOT r = (f32[], f32[]) collective-broadcast(p, n, i), replica_groups={{3,1,0},{2}}, has_dynamic_root=true";
  EXPECT_THAT(RunText(Program(text), Scalars()), HasSubstr("the root is member 2 of a group of 1 devices"));
  const std::string one =
      "p = f32[] parameter(0)\n i = s32[1] constant({1})\n"
      "ROOT r = f32[] collective-broadcast(p, i), replica_groups={{3,1},{2,0}}, has_dynamic_root=true";
  EXPECT_EQ(RunText(Program(one), Scalars()), "1 | 2 | 1 | 2");
}

// ---- collective-reduce: as StableHLO's interpreter ------------------------------------------------------------------

TEST(CollectivesTest, CollectiveReduceGivesToTheFirst) {
  EXPECT_EQ(RunText(Program("p = f32[] parameter(0)\n"
                            "ROOT r = f32[] collective-reduce(p), replica_groups={{2,1,0},{3}}, to_apply=add_f32"),
                    Scalars()),
            "0 | 0 | 6 | 4");
  EXPECT_EQ(RunText(Program("p = f32[] parameter(0)\n n = f32[] negate(p)\n"
                            "ROOT r = (f32[], f32[]) collective-reduce(p, n), replica_groups={}, to_apply=add_f32"),
                    Scalars()),
            "( 10, -10 ) | ( 0, 0 ) | ( 0, 0 ) | ( 0, 0 )");
  EXPECT_EQ(RunText(Program("p = f32[] parameter(0)\n"
                            "ROOT r = f32[] collective-reduce(p), replica_groups={{0,1,2,3}}, to_apply=shift"),
                    Scalars()),
            "1234 | 0 | 0 | 0");
}

TEST(CollectivesTest, CollectiveReduceToDynamicRoots) {
  // Each operand has its own root; a root outside of the group is no device.
  const std::string text =
      "p = f32[] parameter(0)\n n = f32[] negate(p)\n i = s32[2] constant({1, 2})\n"
      "ROOT r = (f32[], f32[]) collective-reduce(p, n, i), replica_groups={{2,0},{1,3}}, has_dynamic_root=true,"
      " to_apply=add_f32";
  EXPECT_EQ(RunText(Program(text), Scalars()), "( 4, 0 ) | ( 0, 0 ) | ( 0, 0 ) | ( 6, 0 )");
}

// ---- Within other operations ----------------------------------------------------------------------------------------

TEST(CollectivesTest, InAsynchronousComputations) {
  const std::string text = R"(HloModule m, replica_count=2
wrapped { x = f32[4] parameter(0)
  ROOT r = f32[4] all-to-all(x), replica_groups={{0,1}}, dimensions={0} }
ENTRY e { p = f32[4] parameter(0)
  s = ((f32[4]), f32[4], u32[]) async-start(p), calls=wrapped
  ROOT d = f32[4] async-done(s) })";
  EXPECT_EQ(RunText(text, Fours(2)), "{1, 2, 11, 12} | {3, 4, 13, 14}");
}

// ---- One device -----------------------------------------------------------------------------------------------------

TEST(CollectivesTest, GroupsOfOneNeedNoDevices) {
  const auto run = [](absl::string_view operation) {
    const Literal x = LiteralUtil::CreateR1<float>({1, 2, 3, 4});
    return EvaluateText(Program(absl::Substitute("p = f32[4] parameter(0)\n ROOT r = f32[4] $0", operation), ""), {&x})
        .ToStringWithoutShapeOneline();
  };
  EXPECT_EQ(run("all-reduce(p), replica_groups={}, to_apply=add_f32"), "{1, 2, 3, 4}");
  EXPECT_EQ(run("all-gather(p), replica_groups={{0}}, dimensions={0}"), "{1, 2, 3, 4}");
  EXPECT_EQ(run("reduce-scatter(p), replica_groups={{0}}, dimensions={0}, to_apply=add_f32"), "{1, 2, 3, 4}");
  EXPECT_EQ(run("all-to-all(p), replica_groups={{0}}, dimensions={0}"), "{1, 2, 3, 4}");
  EXPECT_EQ(run("collective-permute(p), source_target_pairs={{0,0}}"), "{1, 2, 3, 4}");
  EXPECT_EQ(run("collective-permute(p), source_target_pairs={}"), "{0, 0, 0, 0}");
  EXPECT_EQ(run("collective-broadcast(p), replica_groups={{0}}"), "{1, 2, 3, 4}");
  EXPECT_EQ(run("collective-reduce(p), replica_groups={{0}}, to_apply=add_f32"), "{1, 2, 3, 4}");
}

TEST(CollectivesTest, OneDeviceCannotPlayFour) {
  const Literal one = LiteralUtil::CreateR0<float>(1);
  const auto error = [&](absl::string_view operation, absl::string_view head) {
    return std::string(
        TryEvaluateText(Program(absl::Substitute("p = f32[] parameter(0)\n ROOT r = f32[] $0", operation), head),
                        {&one})
            .status()
            .message());
  };
  for (const std::string& message : {error("all-reduce(p), replica_groups={}, to_apply=add_f32", ", replica_count=4"),
                                     error("all-reduce(p), replica_groups={{0,1}}, to_apply=add_f32", ""),
                                     error("collective-permute(p), source_target_pairs={{0,1}}", "")}) {
    EXPECT_THAT(message, HasSubstr("r.6: "));
    EXPECT_THAT(message, HasSubstr("--devices-dir"));
  }
}

}  // namespace
}  // namespace kashi::evaluator
