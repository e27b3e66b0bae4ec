#include "kashi/evaluator/manual_region.h"

#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/evaluator/device_group_testing.h"
#include "kashi/hlo/spmd/program_scope.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

using testing::HasSubstr;

absl::StatusOr<Literal> TryRunGlobal(absl::string_view text, const std::vector<Literal>& arguments,
                                     EvaluationOptions options = {}) {
  KASHI_ASSIGN_OR_RETURN(const std::unique_ptr<HloModule> module, ParseAndReturnUnverifiedModule(text));
  const ProgramScope scope = ProgramScopeOf(*module);
  EXPECT_TRUE(scope.is_global()) << scope.reason;
  options.global_devices = scope.partitions;
  EvaluationRun run(options);
  std::vector<Value> values;
  for (const Literal& argument : arguments) {
    KASHI_ASSIGN_OR_RETURN(Value value, Value::FromLiteral(argument, run.budget()));
    values.push_back(std::move(value));
  }
  KASHI_ASSIGN_OR_RETURN(const Value result, run.Call(*module->entry_computation(), std::move(values)));
  return result.ToLiteral(module->entry_computation()->root_instruction()->shape());
}

// "{1, 2}", or the error.
std::string RunGlobal(absl::string_view text, const std::vector<Literal>& arguments) {
  const absl::StatusOr<Literal> result = TryRunGlobal(text, arguments);
  return result.ok() ? result->ToStringWithoutShapeOneline() : std::string(result.status().message());
}

std::vector<Literal> Counted(int64_t count) {
  std::vector<int32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 1);
  std::vector<Literal> arguments;
  arguments.push_back(LiteralUtil::CreateR1<int32_t>(numbers));
  return arguments;
}

// A region over two devices as GSPMD writes it; `body` makes r of i, which is s32[2].
std::string Region(absl::string_view body, absl::string_view result = "s32[4]",
                   absl::string_view sharding = "{devices=[2]<=[2]}") {
  return absl::StrReplaceAll(R"(
HloModule m, num_partitions=2
add { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT c = s32[] add(a, b) }
ENTRY main.1 {
  p = s32[4] parameter(0), sharding={devices=[2]<=[2]}
  d = s32[4] custom-call(p), custom_call_target="Sharding", sharding={devices=[2]<=[2]}
  i = s32[2] custom-call(d), custom_call_target="SPMDFullToShardShape", sharding={manual}
  BODY
  s = s32[2] custom-call(r), custom_call_target="Sharding", sharding={manual}
  ROOT o = RESULT custom-call(s), custom_call_target="SPMDShardToFullShape", sharding=TILES
})",
                             {{"BODY", body}, {"RESULT", result}, {"TILES", sharding}});
}

TEST(ManualRegionTest, DevicesWorkOnTheirShards) {
  EXPECT_EQ(RunGlobal(Region("r = s32[2] add(i, i)"), Counted(4)), "{2, 4, 6, 8}");
  EXPECT_EQ(RunGlobal(Region("r = s32[2] reverse(i), dimensions={0}"), Counted(4)), "{2, 1, 4, 3}");
}

TEST(ManualRegionTest, DevicesMeetAndKnowWhoTheyAre) {
  EXPECT_EQ(RunGlobal(Region("r = s32[2] collective-permute(i), channel_id=1, source_target_pairs={{0,1},{1,0}}"),
                      Counted(4)),
            "{3, 4, 1, 2}");
  EXPECT_EQ(RunGlobal(Region("r = s32[2] all-reduce(i), channel_id=1, replica_groups={{0,1}}, "
                             "use_global_device_ids=true, to_apply=add"),
                      Counted(4)),
            "{4, 6, 4, 6}");
  EXPECT_EQ(RunGlobal(Region("q = u32[] partition-id()  t = s32[] convert(q)  b = s32[2] broadcast(t), dimensions={} "
                             " r = s32[2] subtract(i, b)"),
                      Counted(4)),
            "{1, 2, 2, 3}");
}

// The number of values is the same on all devices if the sharding declares copies.
TEST(ManualRegionTest, CopiesOfOneDeviceAreTaken) {
  EXPECT_EQ(RunGlobal(Region("r = s32[2] all-reduce(i), channel_id=1, replica_groups={{0,1}}, "
                             "use_global_device_ids=true, to_apply=add",
                             "s32[2]", "{replicated}"),
                      Counted(4)),
            "{4, 6}");
}

// A value that is equal on all devices, such as the constant here, enters a region.
TEST(ManualRegionTest, ConstantsGoIntoARegion) {
  EXPECT_EQ(RunGlobal(Region("z = s32[2] constant({10, 20})  r = s32[2] add(i, z)"), Counted(4)), "{11, 22, 13, 24}");
  EXPECT_EQ(RunGlobal(Region("r = s32[2] constant({10, 20})"), Counted(4)), "{10, 20, 10, 20}");
}

TEST(ManualRegionTest, UnevenShards) {
  const std::string text = R"(
HloModule m, num_partitions=2
ENTRY main.1 {
  p = s32[5] parameter(0), sharding={devices=[2]<=[2]}
  i = s32[3] custom-call(p), custom_call_target="SPMDFullToShardShape", sharding={manual}
  n = s32[3] negate(i), sharding={manual}
  ROOT o = s32[5] custom-call(n), custom_call_target="SPMDShardToFullShape", sharding={devices=[2]<=[2]}
})";
  EXPECT_EQ(RunGlobal(text, Counted(5)), "{-1, -2, -3, -4, -5}");
}

// The region is in the body of a loop whose state is global, and has a loop itself.
TEST(ManualRegionTest, RegionsInLoopsAndLoopsInRegions) {
  const std::string text = R"(
HloModule m, num_partitions=2
inner_body {
  s = (s32[], s32[2]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  k1 = s32[] add(k, one)
  x = s32[2] get-tuple-element(s), index=1
  y = s32[2] collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,0}}
  ROOT t = (s32[], s32[2]) tuple(k1, y)
}
inner_condition {
  s = (s32[], s32[2]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  three = s32[] constant(3)
  ROOT c = pred[] compare(k, three), direction=LT
}
region {
  x = s32[2] parameter(0)
  zero = s32[] constant(0)
  s = (s32[], s32[2]) tuple(zero, x)
  w = (s32[], s32[2]) while(s), condition=inner_condition, body=inner_body
  y = s32[2] get-tuple-element(w), index=1
  ROOT z = s32[2] add(y, y)
}
body {
  s = (s32[], s32[4]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  k1 = s32[] add(k, one)
  x = s32[4] get-tuple-element(s), index=1
  d = s32[4] custom-call(x), custom_call_target="Sharding", sharding={devices=[2]<=[2]}
  i = s32[2] custom-call(d), custom_call_target="SPMDFullToShardShape", sharding={manual}
  c = s32[2] call(i), to_apply=region
  m = s32[2] custom-call(c), custom_call_target="Sharding", sharding={manual}
  o = s32[4] custom-call(m), custom_call_target="SPMDShardToFullShape", sharding={devices=[2]<=[2]}
  ROOT t = (s32[], s32[4]) tuple(k1, o)
}
condition {
  s = (s32[], s32[4]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  two = s32[] constant(2)
  ROOT c = pred[] compare(k, two), direction=LT
}
ENTRY main.1 {
  p = s32[4] parameter(0), sharding={devices=[2]<=[2]}
  zero = s32[] constant(0)
  s = (s32[], s32[4]) tuple(zero, p)
  w = (s32[], s32[4]) while(s), condition=condition, body=body
  ROOT r = s32[4] get-tuple-element(w), index=1
})";
  EXPECT_EQ(RunGlobal(text, Counted(4)), "{4, 8, 12, 16}");
}

constexpr char kShardy[] = R"(
HloModule m, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["a"=2, "b"=2]>}}
add { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT c = s32[] add(a, b) }
inner { q = u32[] partition-id()  ROOT t = s32[] convert(q) }
outer {
  x = s32[2] parameter(0)
  y = s32[2] all-reduce(x), channel_id=1, replica_groups={{0,2},{1,3}}, use_global_device_ids=true, to_apply=add
  c = s32[] call(), to_apply=inner
  v = s32[1] reshape(c)
  g = s32[2] custom-call(v), custom_call_target="xla.sdy.LocalToGlobalShape",
      frontend_attributes={xla.sdy.manual_axes="#sdy<manual_axes{\"b\"}>",
        xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{\"b\"}]>]>"}
  ROOT z = s32[2] add(y, g)
}
ENTRY main.1 {
  p = s32[4] parameter(0), sharding={devices=[2,2]<=[4] last_tile_dim_replicate}
  i = s32[2] custom-call(p), custom_call_target="xla.sdy.GlobalToLocalShape",
      frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"a\", ?}]>]>",
        xla.sdy.manual_axes="#sdy<manual_axes{\"a\"}>"}
  r = s32[2] call(i), to_apply=outer
  ROOT o = s32[4] custom-call(r), custom_call_target="xla.sdy.LocalToGlobalShape",
      frontend_attributes={xla.sdy.manual_axes="#sdy<manual_axes{\"a\"}>",
        xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{\"a\"}]>]>"}
})";

// The outer region is manual over a, the inner one over b: its result is global over b on each half of a.
TEST(ManualRegionTest, ShardysRegionsWithinRegions) {
  // Sums over a: {1+3, 2+4}; partition ids along b: {0, 1} and {2, 3}.
  EXPECT_EQ(RunGlobal(kShardy, Counted(4)), "{4, 7, 6, 9}");
}

TEST(ManualRegionTest, SubgroupsOfShardings) {
  // Manual over groups of two, as GSPMD writes it: i is s32[2] in each group, tiled over two devices within it.
  const std::string text = R"(
HloModule m, num_partitions=4
add { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT c = s32[] add(a, b) }
ENTRY main.1 {
  p = s32[4] parameter(0), sharding={devices=[4]<=[4]}
  d = s32[4] copy(p), sharding={devices=[4]<=[4]}
  i = s32[2] custom-call(d), custom_call_target="SPMDFullToShardShape",
      sharding={devices=[2,2]<=[2,2]T(1,0) last_tile_dims={manual}}
  y = s32[2] all-reduce(i), channel_id=1, replica_groups={{0,2},{1,3}}, use_global_device_ids=true, to_apply=add,
      sharding={devices=[2,2]<=[2,2]T(1,0) last_tile_dims={manual}}
  ROOT o = s32[4] custom-call(y), custom_call_target="SPMDShardToFullShape", sharding={devices=[4]<=[4]}
})";
  EXPECT_EQ(RunGlobal(text, Counted(4)), "{4, 6, 4, 6}");
}

// A region within a region, after both were inlined: q is different on each device, g only on each half of them.
TEST(ManualRegionTest, ABorderMayLeaveTheInnerRegionOnly) {
  const std::string text = R"(
HloModule m, num_partitions=4
ENTRY main.1 {
  p = s32[4] parameter(0), sharding={devices=[2,2]<=[4] last_tile_dim_replicate}
  d = s32[4] copy(p), sharding={devices=[2,2]<=[4] last_tile_dim_replicate}
  i = s32[2] custom-call(d), custom_call_target="SPMDFullToShardShape",
      sharding={devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}
  q = u32[] partition-id(), sharding={manual}
  two = u32[] constant(2)
  h = u32[] divide(q, two), sharding={manual}
  c = s32[] convert(h), sharding={manual}
  g = s32[] custom-call(c), custom_call_target="SPMDShardToFullShape",
      sharding={devices=[2,2]<=[4] last_tile_dims={manual, replicated}}
  b = s32[2] broadcast(g), dimensions={}, sharding={devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}
  s = s32[2] add(i, b), sharding={devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}
  ROOT o = s32[4] custom-call(s), custom_call_target="SPMDShardToFullShape",
      sharding={devices=[2,2]<=[4] last_tile_dim_replicate}
})";
  EXPECT_EQ(RunGlobal(text, Counted(4)), "{1, 2, 4, 5}");
}

// The outer region gets no values from outside; only the name of its computation identifies it.
// Along unreduced axes each device has a term of a sum: the first one the array, and the others zeros, on the way in.
TEST(ManualRegionTest, ShardysSums) {
  const auto region = [](absl::string_view type, absl::string_view in, absl::string_view body, absl::string_view out) {
    return absl::StrReplaceAll(R"(
HloModule m, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["a"=2, "b"=2]>}}
xla.sdy.manual_computation_body {
  i = T[4] parameter(0)  q = u32[] partition-id()  id = T[] convert(q)  d = T[4] broadcast(id), dimensions={}
  BODY }
ENTRY main.1 {
  p = T[4] parameter(0)
  i = T[4] custom-call(p), custom_call_target="xla.sdy.GlobalToLocalShape",
      frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{}]IN>]>",
        xla.sdy.manual_axes="#sdy<manual_axes{\"a\", \"b\"}>"}
  r = T[4] call(i), to_apply=xla.sdy.manual_computation_body
  ROOT o = T[4] custom-call(r), custom_call_target="xla.sdy.LocalToGlobalShape",
      frontend_attributes={xla.sdy.manual_axes="#sdy<manual_axes{\"a\", \"b\"}>",
        xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{}]OUT>]>"}
})",
                               {{"T[", absl::StrCat(type, "[")}, {"BODY", body}, {"IN", in}, {"OUT", out}});
  };
  const std::string a = R"(, unreduced={\"a\"})", both = R"(, unreduced={\"a\", \"b\"})";
  EXPECT_EQ(RunGlobal(region("s32", "", "ROOT r = s32[4] add(i, i)", ""), Counted(4)), "{2, 4, 6, 8}");
  EXPECT_EQ(RunGlobal(region("s32", a, "ROOT r = s32[4] add(i, i)", a), Counted(4)), "{2, 4, 6, 8}");
  EXPECT_EQ(RunGlobal(region("s32", "", "ROOT r = s32[4] add(i, i)", a), Counted(4)), "{4, 8, 12, 16}");
  EXPECT_EQ(RunGlobal(region("s32", "", "ROOT r = s32[4] add(i, i)", both), Counted(4)), "{8, 16, 24, 32}");
  EXPECT_EQ(RunGlobal(region("s32", both, "ROOT r = s32[4] add(i, d)", both), Counted(4)), "{7, 8, 9, 10}");
  EXPECT_EQ(RunGlobal(region("s32", a, "ROOT r = s32[4] add(i, i)", ""), Counted(4)), "{2, 4, 6, 8}");
  // bf16 is rounded once: 256 + 1 + 1 is 258, and 256 + 1 is 256.
  const std::string rounded =
      region("bf16", "", R"(one = bf16[] constant(1)  ones = bf16[4] broadcast(one), dimensions={}
    zero = bf16[] constant(0)  zeros = bf16[4] broadcast(zero), dimensions={}
    first = pred[4] compare(d, zeros), direction=EQ
    ROOT r = bf16[4] select(first, i, ones))",
             both);
  std::vector<Literal> large;
  large.push_back(LiteralUtil::CreateR1<float>({256, 256, 256, 256}).Convert(BF16).value());
  EXPECT_EQ(RunGlobal(rounded, large), "{260, 260, 260, 260}");
}

TEST(ManualRegionTest, ShardysRegionWithoutArguments) {
  const std::string text = R"(
HloModule m, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["a"=2, "b"=2]>}}
xla.sdy.manual_computation_body { q = u32[] partition-id()  ROOT v = u32[1] reshape(q) }
xla.sdy.manual_computation_body_0 {
  c = u32[1] call(), to_apply=xla.sdy.manual_computation_body
  ROOT g = u32[2] custom-call(c), custom_call_target="xla.sdy.LocalToGlobalShape",
      frontend_attributes={xla.sdy.manual_axes="#sdy<manual_axes{\"b\"}>",
        xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{\"b\"}]>]>"}
}
ENTRY main.1 {
  c = u32[2] call(), to_apply=xla.sdy.manual_computation_body_0
  ROOT o = u32[4] custom-call(c), custom_call_target="xla.sdy.LocalToGlobalShape",
      frontend_attributes={xla.sdy.manual_axes="#sdy<manual_axes{\"a\"}>",
        xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{\"a\"}]>]>"}
})";
  EXPECT_EQ(RunGlobal(text, {}), "{0, 1, 2, 3}");
}

TEST(ManualRegionTest, WhatIsDifferentOnEachDeviceCannotBeTheResult) {
  EXPECT_THAT(RunGlobal(R"(
HloModule m, num_partitions=2
inner { ROOT i = u32[] partition-id() }
ENTRY main.1 {
  p = u32[] constant(1)
  d = u32[] custom-call(p), custom_call_target="Sharding", sharding={replicated}
  c = u32[] call(), to_apply=inner
  ROOT r = u32[] add(d, c)
})",
                        {}),
              HasSubstr("it comes from i, in inner, and leaves no manual region"));
}

TEST(ManualRegionTest, BordersThatDoNotFit) {
  const std::string good = Region("r = s32[2] add(i, i)");
  const auto with = [&](absl::string_view from, absl::string_view to) {
    return RunGlobal(absl::StrReplaceAll(good, {{from, to}}), Counted(4));
  };
  EXPECT_THAT(with(R"("Sharding", sharding={devices=[2]<=[2]})", R"("Sharding")"), HasSubstr("i: d has no sharding"));
  EXPECT_THAT(with(R"("Sharding", sharding={devices=[2]<=[2]})", R"("Sharding", sharding={replicated})"),
              HasSubstr("i: each device holds [4] of the operand, s32[4], and [2] of the result"));
  EXPECT_THAT(with(R"("Sharding", sharding={devices=[2]<=[2]})", R"("Sharding", sharding={devices=[4]<=[4]})"),
              HasSubstr("tile_assignment should have 2 devices"));
  EXPECT_THAT(
      RunGlobal(absl::StrReplaceAll(kShardy, {{"<@mesh, [{\\\"a\\\", ?}]>", "<@net, [{\\\"a\\\"}]>"}}), Counted(4)),
      HasSubstr("not `net`"));
}

TEST(ManualRegionTest, AnErrorOnADeviceIsTheRuns) {
  EXPECT_THAT(RunGlobal(Region("r = s32[2] custom-call(i), custom_call_target=\"nobody\""), Counted(4)),
              HasSubstr("device 0: r: custom-call target \"nobody\" is not known"));
}

}  // namespace
}  // namespace kashi::evaluator
