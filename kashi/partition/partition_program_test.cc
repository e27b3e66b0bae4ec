#include "kashi/partition/partition_program.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/literal/literal_util.h"
#include "kashi/partition/partition_testing.h"

namespace kashi::partition {
namespace {

TEST(PartitionProgramTest, ElementwiseNeedsNoCollective) {
  const std::string text = Program(R"(
    x = f32[8,6] parameter(0), sharding={devices=[4,1]<=[4]}
    y = f32[8,6] parameter(1), sharding={devices=[4,1]<=[4]}
    z = f32[8,6] add(x, y)
    ROOT n = f32[6,8] transpose(z), dimensions={1,0})");
  ExpectSame(text);
  EXPECT_EQ(CollectivesOf(text), "");
}

TEST(PartitionProgramTest, Dot) {
  const auto program = [](absl::string_view x, absl::string_view w) {
    return Program(absl::StrCat("x = f32[8,12] parameter(0), sharding=", x,
                                "\nw = f32[12,4] parameter(1), sharding=", w,
                                "\nROOT y = f32[8,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}"));
  };
  const std::string kFirst = "{devices=[4,1]<=[4]}", kSecond = "{devices=[1,4]<=[4]}", kWhole = "{replicated}";
  for (const std::string& x : {kFirst, kSecond, kWhole}) {
    for (const std::string& w : {kFirst, kSecond, kWhole}) ExpectSame(program(x, w));
  }
  EXPECT_EQ(CollectivesOf(program(kFirst, kWhole)), "");
  EXPECT_EQ(CollectivesOf(program(kSecond, kFirst)), "all-reduce");
  EXPECT_EQ(CollectivesOf(program(kWhole, kSecond)), "");
}

TEST(PartitionProgramTest, SumsOfUnevenParts) {
  ExpectSame(Program(R"(
    x = f32[7,5] parameter(0), sharding={devices=[4,1]<=[4]}
    w = f32[7,3] parameter(1), sharding={devices=[4,1]<=[4]}
    zero = f32[] constant(0)
    three = f32[] constant(3)
    odd = f32[7,5] divide(x, x)
    safe = f32[7,5] maximum(x, odd)
    d = f32[5,3] dot(x, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}
    s = f32[5] reduce(x, zero), dimensions={0}, to_apply=add
    t = f32[] reduce(w, three), dimensions={0,1}, to_apply=add
    ROOT r = (f32[5,3], f32[5], f32[]) tuple(d, s, t))"));
}

TEST(PartitionProgramTest, ReduceScatterWhereTheResultIsCut) {
  const std::string text = Program(R"(
    x = f32[8,12] parameter(0), sharding={devices=[1,4]<=[4]}
    w = f32[12,4] parameter(1), sharding={devices=[4,1]<=[4]}
    d = f32[8,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    ROOT r = f32[8,4] custom-call(d), custom_call_target="Sharding", sharding={devices=[4,1]<=[4]})");
  ExpectSame(text);
  EXPECT_EQ(CollectivesOf(text), "reduce-scatter");
}

// A call of the outside world happens once, on the device of its sharding; the others get its results.
TEST(PartitionProgramTest, CallsOfTheOutsideWorldHappenOnce) {
  const std::string text = Program(R"(
    x = f32[8,6] parameter(0), sharding={devices=[4,1]<=[4]}
    c = ((f32[8,6]), f32[8,6]) custom-call(x), custom_call_target="act", custom_call_has_side_effect=true
    pair = (f32[8,6]) get-tuple-element(c), index=0
    a = f32[8,6] get-tuple-element(pair), index=0
    b = f32[8,6] get-tuple-element(c), index=1
    ROOT r = f32[8,6] add(a, b))");
  EXPECT_EQ(CollectivesOf(text), "all-gather collective-broadcast collective-broadcast");
  EXPECT_EQ(CollectivesOf(Program(R"(
    x = f32[8,6] parameter(0), sharding={devices=[4,1]<=[4]}
    ROOT c = f32[8,6] custom-call(x), custom_call_target="act", sharding={maximal device=99})")),
            "INVALID_ARGUMENT: c.1: its sharding names device 99, but there are 4");
}

TEST(PartitionProgramTest, PartitionedCallbacksGetShards) {
  const std::string text = Program(R"(
    x = f32[8,6] parameter(0), sharding={devices=[4,1]<=[4]}
    y = f32[] parameter(1)
    c = () custom-call(x, y), custom_call_target="xla_ffi_partitioned_python_cpu_callback",
      custom_call_has_side_effect=true, sharding={maximal device=0}, operand_layout_constraints={f32[8,6]{1,0}, f32[]}
    ROOT r = f32[8,6] negate(x))");
  EXPECT_EQ(CollectivesOf(text), "");
  const auto parts = PartitionProgram(*ReadModule(text));
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_TRUE(Verify(parts->get()).ok()) << Verify(parts->get());
  EXPECT_THAT((*parts)->ToString(), testing::HasSubstr("operand_layout_constraints={f32[2,6]{1,0}, f32[]}"));
}

// What the caller takes as it comes is cut evenly, or not at all.
TEST(PartitionProgramTest, OpenResultsAreEven) {
  const auto module = ReadModule(Program(R"(
    x = f32[8,6] parameter(0), sharding={devices=[4,1]<=[4]}
    y = f32[7,6] slice(x), slice={[1:8], [0:6]}
    z = f32[8,6] negate(x)
    ROOT r = (f32[7,6], f32[8,6]) tuple(y, z))"));
  PartitionOptions options;
  options.open_results = {true, true};
  const auto parts = PartitionProgram(*module, options);
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_EQ((*parts)->result_shape().ToString(), "(f32[7,6], f32[2,6])");
}

// Open results are cut along axes that a mesh has: of f32[8] in 4 parts, f32[2,4] could only have a part of "x".
TEST(PartitionProgramTest, OpenResultsAreCutAlongWholeAxes) {
  const auto shapes = [](absl::string_view mesh, absl::string_view x, absl::string_view y) {
    const auto module = ReadModule(
        absl::StrCat("HloModule m, num_partitions=8, frontend_attributes={xla.sdy.meshes=\"{mesh = ", "#sdy.mesh<",
                     mesh, ">}\"}\nENTRY main {\n", x, "\n", y, "\n}\n"));
    PartitionOptions options;
    options.open_results = {true};
    const auto parts = PartitionProgram(*module, options);
    return parts.ok() ? (*parts)->result_shape().ToString() : parts.status().ToString();
  };
  const std::string kX = R"([\"x\"=4, \"y\"=2])", kOther = R"([\"x\"=2, \"y\"=2, \"z\"=2])";
  const std::string by_4 = "x = f32[8] parameter(0), sharding={devices=[4,2]<=[8] last_tile_dim_replicate}";
  const std::string by_8 = "x = f32[8] parameter(0), sharding={devices=[8]<=[8]}";
  EXPECT_EQ(shapes(kX, by_4, "ROOT y = f32[2,4] reshape(x)"), "f32[2,4]");
  EXPECT_EQ(shapes(kOther, by_4, "ROOT y = f32[2,4] reshape(x)"), "f32[1,2]");
  EXPECT_EQ(shapes(kX, by_8, "ROOT y = f32[4,2] reshape(x)"), "f32[1,1]");
  EXPECT_EQ(shapes(kX, by_8, "ROOT y = f32[8] negate(x)"), "f32[1]");
}

// The arrays of one of Shardy's groups have one sharding; a parameter without one takes it, if it is open.
TEST(PartitionProgramTest, ShardingGroups) {
  const auto module = ReadModule(Program(R"(
    x = f32[8,6] parameter(0), sharding={devices=[4,1]<=[4]}
    y = f32[8,6] parameter(1)
    z = f32[8,6] iota(), iota_dimension=0
    a = () custom-call(x), custom_call_target="xla.sdy.ShardingGroup", custom_call_has_side_effect=true,
      frontend_attributes={xla.sdy.sharding_group_id="0 : i64"}
    b = () custom-call(y), custom_call_target="xla.sdy.ShardingGroup", custom_call_has_side_effect=true,
      frontend_attributes={xla.sdy.sharding_group_id="0 : i64"}
    c = () custom-call(z), custom_call_target="xla.sdy.ShardingGroup", custom_call_has_side_effect=true,
      frontend_attributes={xla.sdy.sharding_group_id="0 : i64"}
    ROOT r = (f32[8,6], f32[8,6], f32[8,6]) tuple(x, y, z))"));
  PartitionOptions options;
  const auto whole = PartitionProgram(*module, options);
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ((*whole)->result_shape().ToString(), "(f32[2,6], f32[2,6], f32[2,6])");
  EXPECT_TRUE(ParameterShardings(**whole)[1].IsReplicated());
  options.open_parameters = {true, true};
  const auto open = PartitionProgram(*module, options);
  ASSERT_TRUE(open.ok()) << open.status();
  EXPECT_EQ((*open)->result_shape().ToString(), "(f32[2,6], f32[2,6], f32[2,6])");
  EXPECT_EQ(ParameterShardings(**open)[1].ToString(), "{devices=[4,1]<=[4]}");
}

// An open parameter is cut evenly, as JAX's arrays are.
TEST(PartitionProgramTest, OpenParametersAreEven) {
  const auto module = ReadModule(Program(R"(
    x = f32[8,6] parameter(0), sharding={devices=[4,1]<=[4]}
    y = f32[9,6] parameter(1)
    s = f32[8,6] slice(y), slice={[1:9], [0:6]}
    ROOT r = f32[8,6] add(x, s))"));
  PartitionOptions options;
  options.open_parameters = {true, true};
  const auto parts = PartitionProgram(*module, options);
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_TRUE(ParameterShardings(**parts)[1].IsReplicated());
  EXPECT_EQ((*parts)->result_shape().ToString(), "f32[2,6]");
}

// The results of the devices of a program with an f32 parameter and result, as text.
std::string ResultsOfDevices(absl::string_view text, const std::vector<std::vector<float>>& arguments) {
  const auto parts = PartitionProgram(*ReadModule(text));
  if (!parts.ok()) return parts.status().ToString();
  if (const absl::Status status = Verify(parts->get()); !status.ok()) return status.ToString();
  std::vector<std::vector<Literal>> by_device(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) by_device[i].push_back(LiteralUtil::CreateR1<float>(arguments[i]));
  const auto results = RunOnDevices(**parts, std::move(by_device));
  if (!results.ok()) return results.status().ToString();
  std::vector<std::string> texts;
  for (const Literal& result : *results) texts.push_back(result.ToStringWithoutShape());
  return absl::StrJoin(texts, " ");
}

// An unreduced array is the sum of what the devices hold.
TEST(PartitionProgramTest, PartsOfSumsAtTheBorders) {
  const std::string sums = "{devices=[1,2,2]<=[4] last_tile_dims={unreduced, replicated}}";
  const auto program = [](absl::string_view from, absl::string_view to) {
    return Program(absl::StrCat("x = f32[2] parameter(0), sharding=", from,
                                "\nROOT y = f32[2] custom-call(x), custom_call_target=\"Sharding\", sharding=", to));
  };
  const std::vector<std::vector<float>> of_sum = {{1, 2}, {1, 2}, {10, 20}, {10, 20}};
  EXPECT_EQ(ResultsOfDevices(program(sums, "{replicated}"), of_sum), "{11, 22} {11, 22} {11, 22} {11, 22}");
  EXPECT_EQ(ResultsOfDevices(program(sums, sums), of_sum), "{1, 2} {1, 2} {10, 20} {10, 20}");
  const std::string pieces = "{devices=[2,2]<=[4] last_tile_dim_replicate}";
  EXPECT_EQ(ResultsOfDevices(program(sums, pieces), of_sum), "{11} {11} {22} {22}");
  EXPECT_EQ(CollectivesOf(program(sums, pieces)), "reduce-scatter");
  EXPECT_EQ(ResultsOfDevices(program("{replicated}", sums), {{1, 2}, {1, 2}, {1, 2}, {1, 2}}),
            "{1, 2} {1, 2} {0, 0} {0, 0}");
  EXPECT_EQ(ResultsOfDevices(program(pieces, sums), {{1}, {1}, {2}, {2}}), "{1, 2} {1, 2} {0, 0} {0, 0}");
}

// What a program computes of an unreduced array it computes of the sum, and parts stay parts where they may.
TEST(PartitionProgramTest, PartsOfSumsInPrograms) {
  const std::string sums = "{devices=[1,4]<=[4] last_tile_dims={unreduced}}";
  const auto program = [&sums](absl::string_view operations) {
    return Program(absl::StrCat("x = f32[2] parameter(0), sharding=", sums, "\nzero = f32[] constant(0)\n", operations,
                                ", sharding=", sums));
  };
  const std::vector<std::vector<float>> parts = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
  const std::string sharding = "ROOT r = f32[2] custom-call(y), custom_call_target=\"Sharding\"";
  const std::string twice = program("y = f32[2] add(x, x)\n" + sharding);
  EXPECT_EQ(ResultsOfDevices(twice, parts), "{2, 4} {6, 8} {10, 12} {14, 16}");
  EXPECT_EQ(CollectivesOf(twice), "");
  const std::string squares = program("y = f32[2] multiply(x, x)\n" + sharding);
  EXPECT_EQ(ResultsOfDevices(squares, parts), "{256, 400} {0, 0} {0, 0} {0, 0}");
  const std::string total = program(
      "y = f32[] reduce(x, zero), dimensions={0}, to_apply=add\nb = f32[2] broadcast(y)\n"
      "ROOT r = f32[2] custom-call(b), custom_call_target=\"Sharding\"");
  EXPECT_EQ(ResultsOfDevices(total, parts), "{36, 36} {0, 0} {0, 0} {0, 0}");
}

// A sum that is computed in parts stays in parts.
TEST(PartitionProgramTest, SumsThatStayInParts) {
  const auto program = [](absl::string_view result) {
    return Program(absl::StrCat(R"(
      x = f32[4] parameter(0), sharding={devices=[4]<=[4]}
      w = f32[4,2] constant({{1,1},{1,2},{1,3},{1,4}})
      y = f32[2] dot(x, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}
      ROOT r = f32[2] custom-call(y), custom_call_target="Sharding", sharding=)",
                                result));
  };
  const std::string all = program("{devices=[1,4]<=[4] last_tile_dims={unreduced}}");
  EXPECT_EQ(ResultsOfDevices(all, {{1}, {2}, {3}, {4}}), "{1, 1} {2, 4} {3, 9} {4, 16}");
  EXPECT_EQ(CollectivesOf(all), "");
  const std::string some = program("{devices=[1,2,2]<=[4] last_tile_dims={unreduced, replicated}}");
  EXPECT_EQ(ResultsOfDevices(some, {{1}, {2}, {3}, {4}}), "{3, 5} {3, 5} {7, 25} {7, 25}");
  EXPECT_EQ(CollectivesOf(some), "all-reduce");
}

// Shardings spread through dimensions that an operation needs whole.
TEST(PartitionProgramTest, ResultsOfWholeDimensionsAreCut) {
  const auto shape = [](absl::string_view operations) {
    const std::string text =
        absl::StrCat("HloModule m, num_partitions=4\n", kAdd, "less { a = f32[] parameter(0) b = f32[] parameter(1) ",
                     "ROOT c = pred[] compare(a, b), direction=LT }\nENTRY main {\n",
                     "x = f32[8,6] parameter(0), sharding={devices=[4,1]<=[4]}\n",
                     "one = s32[] constant(1)\nzero = f32[] constant(0)\n", operations, "\n}\n");
    ExpectSame(text);
    const auto parts = PartitionProgram(*ReadModule(text));
    return parts.ok() ? (*parts)->result_shape().ToString() : parts.status().ToString();
  };
  EXPECT_EQ(shape("ROOT y = f32[8,6] reverse(x), dimensions={0}"), "f32[2,6]");
  EXPECT_EQ(shape("ROOT y = f32[16,6] concatenate(x, x), dimensions={0}"), "f32[4,6]");
  EXPECT_EQ(shape("ROOT y = f32[16,6] pad(x, zero), padding=1_0_1x0_0"), "f32[4,6]");
  EXPECT_EQ(shape("ROOT y = f32[4,6] slice(x), slice={[0:8:2], [0:6]}"), "f32[1,6]");
  EXPECT_EQ(shape("ROOT y = f32[8,6] sort(x), dimensions={0}, to_apply=less"), "f32[2,6]");
  EXPECT_EQ(shape("u = f32[2,6] slice(x), slice={[0:2], [0:6]}\n"
                  "ROOT y = f32[8,6] dynamic-update-slice(x, u, one, one)"),
            "f32[2,6]");
  EXPECT_EQ(shape("i = s32[1] reshape(one)\nu = f32[6] broadcast(zero)\n"
                  "ROOT y = f32[8,6] scatter(x, i, u), update_window_dims={0}, inserted_window_dims={0}, "
                  "scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=add"),
            "f32[2,6]");
  EXPECT_EQ(shape("ROOT y = f32[8,6] reduce-window(x, zero), window={size=8x1 pad=7_0x0_0}, to_apply=add"), "f32[2,6]");
  EXPECT_EQ(shape("y = s32[8,6] bitcast-convert(x)\nROOT z = u16[8,6,2] bitcast-convert(y)"), "u16[2,6,2]");
}

// What comes whole out of an operation goes whole into the next one.
TEST(PartitionProgramTest, WholeResultsAreNotGatheredAgain) {
  const std::string text = absl::StrCat("HloModule m, num_partitions=4\n", R"(
    less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }
    ENTRY main {
      x = f32[8,6] parameter(0), sharding={devices=[4,1]<=[4]}
      y = f32[8,6] reverse(x), dimensions={0}
      z = f32[8,6] sort(y), dimensions={0}, to_apply=less
      ROOT w = f32[8,6] reverse(z), dimensions={0}
    })");
  ExpectSame(text);
  EXPECT_EQ(CollectivesOf(text), "all-gather");
  const std::string even = absl::StrReplaceAll(text, {{"8,6", "8,8"}});  // cut along the other dimension meanwhile
  ExpectSame(even);
  EXPECT_EQ(CollectivesOf(even), "all-to-all all-to-all");
}

// Open dimensions of a constraint take what propagation brings, and the others do not.
TEST(PartitionProgramTest, OpenDimensions) {
  const auto shape = [](absl::string_view constraint) {
    const std::string text = absl::StrCat(
        R"(HloModule m, num_partitions=8, frontend_attributes={xla.sdy.meshes="{mesh = #sdy.mesh<[\"x\"=4, \"y\"=2]>}"}
        ENTRY main {
          x = f32[8,4] parameter(0), sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate}
          ROOT y = f32[8,4] custom-call(x), custom_call_target="Sharding", )",
        constraint, "\n}\n");
    ExpectSame(text);
    const auto parts = PartitionProgram(*ReadModule(text));
    return parts.ok() ? (*parts)->result_shape().ToString() : parts.status().ToString();
  };
  const auto shardy = [&shape](absl::string_view dimensions) {
    return shape(absl::StrCat("frontend_attributes={xla.sdy.sharding=\"#sdy.sharding_per_value<[<@mesh, [", dimensions,
                              "]>]>\"}"));
  };
  EXPECT_EQ(shardy(R"({?}, {\"y\"})"), "f32[2,2]");
  EXPECT_EQ(shardy(R"({}, {\"y\", ?})"), "f32[8,2]");
  EXPECT_EQ(shardy(R"({?}, {?})"), "f32[2,4]");
  EXPECT_EQ(shardy(R"({}, {})"), "f32[8,4]");
  const std::string by_y = "sharding={devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}";
  EXPECT_EQ(shape(by_y), "f32[8,2]");
  EXPECT_EQ(shape(absl::StrCat(by_y, ", backend_config=\"unspecified_dims=[0]\"")), "f32[2,2]");
}

// What is told of a parameter is its own sharding, also where it is the result, with another one.
TEST(PartitionProgramTest, AParameterThatIsTheResult) {
  const std::string text = Program(R"(
    x = f32[8,2] parameter(0), sharding={replicated}
    mine = f32[8,2] custom-call(x), custom_call_target="SPMDFullToShardShape", sharding={manual}
    same = f32[8,2] custom-call(mine), custom_call_target="Sharding", sharding={manual}
    ROOT out = f32[32,2] custom-call(same), custom_call_target="SPMDShardToFullShape", sharding={devices=[4,1]<=[4]})");
  ExpectSame(text);
  const auto parts = PartitionProgram(*ReadModule(text));
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_TRUE(ParameterShardings(**parts)[0].IsReplicated());
  EXPECT_EQ(ResultShardings(**parts)[0]->ToString(), "{devices=[4,1]<=[4]}");
}

TEST(PartitionProgramTest, Resharding) {
  const std::vector<std::string> shardings = {"{replicated}",
                                              "{devices=[4,1]<=[4]}",
                                              "{devices=[1,4]<=[4]}",
                                              "{devices=[2,2]<=[4]}",
                                              "{devices=[2,2]<=[2,2]T(1,0)}",
                                              "{devices=[2,1,2]<=[4] last_tile_dim_replicate}",
                                              "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}",
                                              "{devices=[1,2,2]<=[4] last_tile_dim_replicate}",
                                              "{devices=[4,1]0,3,1,2}",
                                              "{devices=[2,2]3,0,1,2}",
                                              "{maximal device=2}"};
  for (const char* shape : {"8,8", "7,5", "3,4", "1,9", "6,2", "0,4"}) {
    for (const std::string& from : shardings) {
      for (const std::string& to : shardings) {
        ExpectSame(Program(absl::StrCat("x = f32[", shape, "] parameter(0), sharding=", from, "\nROOT y = f32[", shape,
                                        "] copy(x), sharding=", to)));
      }
    }
  }
}

TEST(PartitionProgramTest, CollectivesOfResharding) {
  const auto collectives = [](absl::string_view from, absl::string_view to) {
    return CollectivesOf(Program(
        absl::StrCat("x = f32[8,8] parameter(0), sharding=", from, "\nROOT y = f32[8,8] copy(x), sharding=", to)));
  };
  EXPECT_EQ(collectives("{replicated}", "{devices=[4,1]<=[4]}"), "");
  EXPECT_EQ(collectives("{devices=[4,1]<=[4]}", "{replicated}"), "all-gather");
  EXPECT_EQ(collectives("{devices=[4,1]<=[4]}", "{devices=[1,4]<=[4]}"), "all-to-all");
  EXPECT_EQ(collectives("{devices=[2,2]<=[4]}", "{devices=[2,2]<=[2,2]T(1,0)}"), "collective-permute");
  EXPECT_EQ(collectives("{devices=[2,2]<=[4]}", "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"), "all-gather");
  EXPECT_EQ(collectives("{devices=[2,1,2]<=[4] last_tile_dim_replicate}", "{devices=[4,1]<=[4]}"), "");
}

TEST(PartitionProgramTest, LoopsAndBranches) {
  ExpectSame(absl::StrCat("HloModule m, num_partitions=4\n", kAdd, R"(
    body {
      p = (s32[], f32[8,6], f32[]) parameter(0)
      i = s32[] get-tuple-element(p), index=0
      x = f32[8,6] get-tuple-element(p), index=1
      s = f32[] get-tuple-element(p), index=2
      one = s32[] constant(1)
      j = s32[] add(i, one)
      y = f32[8,6] negate(x)
      zero = f32[] constant(0)
      t = f32[] reduce(x, zero), dimensions={0,1}, to_apply=add
      u = f32[] add(s, t)
      ROOT r = (s32[], f32[8,6], f32[]) tuple(j, y, u)
    }
    more {
      p = (s32[], f32[8,6], f32[]) parameter(0)
      i = s32[] get-tuple-element(p), index=0
      n = s32[] constant(3)
      ROOT c = pred[] compare(i, n), direction=LT
    }
    left { x = f32[8,6] parameter(0) ROOT n = f32[6,8] transpose(x), dimensions={1,0} }
    right { x = f32[8,6] parameter(0) ROOT n = f32[6,8] reshape(x) }
    ENTRY main {
      x = f32[8,6] parameter(0), sharding={devices=[4,1]<=[4]}
      zero = s32[] constant(0)
      start = f32[] constant(0)
      init = (s32[], f32[8,6], f32[]) tuple(zero, x, start)
      loop = (s32[], f32[8,6], f32[]) while(init), condition=more, body=body
      again = (s32[], f32[8,6], f32[]) while(loop), condition=more, body=body
      y = f32[8,6] get-tuple-element(loop), index=1
      s = f32[] get-tuple-element(again), index=2
      p = pred[] compare(s, start), direction=GT
      b = f32[6,8] conditional(p, y, x), true_computation=left, false_computation=right
      ROOT r = (f32[6,8], f32[]) tuple(b, s)
    })"));
}

TEST(PartitionProgramTest, ManualRegion) {
  ExpectSame(Program(R"(
    x = f32[7,6] parameter(0), sharding={devices=[4,1]<=[4]}
    y = f32[7,6] negate(x)
    cut = f32[7,6] custom-call(y), custom_call_target="Sharding", sharding={devices=[4,1]<=[4]}
    mine = f32[2,6] custom-call(cut), custom_call_target="SPMDFullToShardShape", sharding={manual}
    id = u32[] partition-id()
    number = f32[] convert(id)
    numbers = f32[2,6] broadcast(number), dimensions={}
    sum = f32[2,6] add(mine, numbers)
    all = f32[2,6] all-reduce(sum), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=add
    both = f32[2,6] add(all, sum)
    same = f32[2,6] custom-call(both), custom_call_target="Sharding", sharding={manual}
    out = f32[8,6] custom-call(same), custom_call_target="SPMDShardToFullShape", sharding={devices=[4,1]<=[4]}
    ROOT r = f32[6,8] transpose(out), dimensions={1,0})"));
}

TEST(PartitionProgramTest, ResultThatDiffersOnDevicesIsAnError) {
  const auto parts = PartitionProgram(*ReadModule(Program(R"(
    n = u32[] constant(1)
    d = u32[] custom-call(n), custom_call_target="Sharding", sharding={replicated}
    i = u32[] partition-id()
    ROOT o = u32[] add(d, i))")));
  EXPECT_EQ(parts.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(parts.status().message().find("different on each device"), absl::string_view::npos);
}

TEST(PartitionProgramTest, InspectCallsGetTheSharding) {
  const std::unique_ptr<HloModule> module = ReadModule(Program(R"(
    x = f32[8,6] parameter(0), sharding={devices=[4,1]<=[4]}
    y = f32[8,6] negate(x)
    i = f32[8,6] custom-call(y), custom_call_target="InspectSharding", backend_config="here",
      custom_call_has_side_effect=true
    ROOT r = f32[8,6] negate(y))"));
  std::vector<std::string> seen;
  PartitionOptions options;
  options.inspect = [&seen](const std::string& config, const HloSharding& sharding) {
    seen.push_back(config + " " + sharding.ToString());
    return absl::OkStatus();
  };
  const std::unique_ptr<HloModule> parts = PartitionProgram(*module, options).value();
  EXPECT_THAT(seen, testing::ElementsAre("here {devices=[4,1]<=[4]}"));
  EXPECT_EQ(parts->ToString().find("custom-call"), std::string::npos) << parts->ToString();
  options.inspect = [](const std::string&, const HloSharding&) { return absl::InternalError("no"); };
  EXPECT_EQ(PartitionProgram(*module, options).status().message(), "no");
}

TEST(PartitionProgramTest, NotGlobal) {
  const auto parts = PartitionProgram(*ReadModule("HloModule m\nENTRY e { ROOT x = f32[2] parameter(0) }"));
  EXPECT_EQ(parts.status().message(), "not a global program: it is for one device");
}

}  // namespace
}  // namespace kashi::partition
