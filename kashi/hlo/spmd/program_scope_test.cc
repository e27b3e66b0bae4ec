#include "kashi/hlo/spmd/program_scope.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::hlo {
namespace {

std::unique_ptr<HloModule> ParseProgram(absl::string_view text) {
  auto module = ParseAndReturnUnverifiedModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

std::string Scope(absl::string_view text) {
  const ProgramScope scope = ProgramScopeOf(*ParseProgram(text));
  switch (scope.kind) {
    case ProgramScope::Kind::kOneDevice:
      return "one device";
    case ProgramScope::Kind::kPerDevice:
      return absl::StrCat("of one of ", scope.partitions, ": ", scope.reason);
    case ProgramScope::Kind::kGlobal:
      return absl::StrCat("global over ", scope.partitions, ": ", scope.reason);
  }
  return "";
}

std::string Entry(absl::string_view head, absl::string_view parameter, absl::string_view root,
                  absl::string_view name = "main.3") {
  return absl::StrCat("HloModule m", head, "\nENTRY ", name, " {\n  p = f32[8] parameter(0)", parameter,
                      "\n  ROOT r = f32[8] ", root, "\n}\n");
}

constexpr char kTiled[] = ", sharding={devices=[2]<=[2]}";

TEST(ProgramScopeTest, OneDevice) {
  EXPECT_EQ(Scope(Entry("", "", "negate(p)")), "one device");
  EXPECT_EQ(Scope(Entry("", ", sharding={replicated}", "custom-call(p), custom_call_target=\"Sharding\"")),
            "one device");
  EXPECT_EQ(Scope(Entry("", ", sharding={maximal device=0}", "negate(p)")), "one device");
  EXPECT_EQ(Scope(Entry(", replica_count=2", "", "negate(p)")), "one device");
  EXPECT_EQ(Scope(Entry(R"(, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=1]>}})", "",
                        "custom-call(p), custom_call_target=\"xla.sdy.GlobalToLocalShape\"")),
            "one device");
}

TEST(ProgramScopeTest, GlobalByItsShardings) {
  EXPECT_EQ(Scope(Entry(", num_partitions=2", kTiled, "negate(p)")), "global over 2: p has a sharding");
  // As compiler_ir('hlo') writes it.
  EXPECT_EQ(Scope(Entry("", kTiled, "negate(p)")), "global over 2: p has a sharding");
  EXPECT_EQ(Scope(Entry(", num_partitions=2", ", sharding={replicated}", "negate(p)")),
            "global over 2: p has a sharding");
  EXPECT_EQ(Scope(Entry(", num_partitions=2", "", "negate(p), sharding={devices=[2]<=[2]}")),
            "global over 2: r has a sharding");
}

TEST(ProgramScopeTest, GlobalByItsCustomCalls) {
  for (const char* target : {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "xla.sdy.GlobalToLocalShape",
                             "xla.sdy.LocalToGlobalShape", "xla.sdy.FuncResultSharding"}) {
    const std::string root = absl::StrCat("custom-call(p), custom_call_target=\"", target, "\"");
    const std::string expected = absl::StrCat("global over 4: it has a custom-call to ", target, ", r");
    EXPECT_EQ(Scope(Entry(", num_partitions=4", "", root)), expected);
    EXPECT_EQ(Scope(Entry(R"(, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2, "y"=2]>}})", "", root)),
              expected);
  }
  // Collectives within a manual region do not make it a program of one device.
  EXPECT_EQ(Scope(R"(
HloModule m, num_partitions=2
ENTRY e {
  p = f32[8] parameter(0), sharding={devices=[2]<=[2]}
  i = f32[4] custom-call(p), custom_call_target="SPMDFullToShardShape", sharding={manual}
  a = f32[4] collective-permute(i), channel_id=1, source_target_pairs={{0,1},{1,0}}, sharding={manual}
  ROOT o = f32[8] custom-call(a), custom_call_target="SPMDShardToFullShape", sharding={devices=[2]<=[2]}
})"),
            "global over 2: it has a custom-call to SPMDFullToShardShape, i");
}

TEST(ProgramScopeTest, OfOneDevice) {
  EXPECT_EQ(Scope(Entry(", num_partitions=2", kTiled, "negate(p)", "main.3_spmd")),
            "of one of 2: ENTRY is named main.3_spmd, as XLA's partitioner does");
  EXPECT_EQ(Scope(Entry(", num_partitions=2", kTiled, "negate(p)", "main_spmd.12")),
            "of one of 2: ENTRY is named main_spmd.12, as XLA's partitioner does");
  EXPECT_EQ(Scope(Entry(", num_partitions=2", kTiled, "negate(p)", "spmd_main")), "global over 2: p has a sharding");
  EXPECT_EQ(Scope(Entry(", is_scheduled=true, num_partitions=2", kTiled, "negate(p)")), "of one of 2: it is scheduled");
  EXPECT_EQ(
      Scope(Entry(", num_partitions=2", kTiled, "collective-permute(p), channel_id=1, source_target_pairs={{0,1}}")),
      "of one of 2: it has r and no manual region");
  EXPECT_EQ(Scope(Entry(", num_partitions=2", ", sharding={manual}", "negate(p), sharding={manual}")),
            "of one of 2: it has no shardings");
  EXPECT_EQ(Scope(Entry(", num_partitions=2", "", "negate(p)")), "of one of 2: it has no shardings");
  EXPECT_EQ(Scope(Entry(", is_scheduled=true", kTiled, "negate(p)")), "one device");
}

std::string Results(absl::string_view text) {
  const std::unique_ptr<HloModule> module = ParseProgram(text);
  return absl::StrJoin(ResultShardings(*module), " ", [](std::string* out, const std::optional<HloSharding>& leaf) {
    absl::StrAppend(out, leaf.has_value() ? leaf->ToString() : "?");
  });
}

TEST(ProgramScopeTest, ShardingsOfResults) {
  EXPECT_EQ(Results(Entry("", "", "negate(p)")), "?");
  EXPECT_EQ(Results(Entry("", "", "negate(p), sharding={devices=[2]<=[2]}")), "{devices=[2]<=[2]}");
  EXPECT_EQ(Results(R"(
ENTRY e {
  p = f32[8] parameter(0), sharding={devices=[2]<=[2]}
  n = f32[8] negate(p)
  u = (f32[8], f32[8]) tuple(n, p), sharding={{replicated}, {devices=[2]1,0}}
  ROOT t = (f32[8], (f32[8], f32[8])) tuple(p, u)
})"),
            "{devices=[2]<=[2]} {replicated} {devices=[2]1,0}");
  EXPECT_EQ(Results(R"(
HloModule m, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2]>}}
ENTRY e {
  p = f32[4] parameter(0)
  l = (f32[8], f32[4]) custom-call(p, p), custom_call_target="xla.sdy.LocalToGlobalShape", frontend_attributes={xla.sdy.manual_axes="#sdy<manual_axes{\"x\"}>",xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{\"x\"}]>, <@mesh, [{}]>]>"}
  g = f32[8] get-tuple-element(l), index=0
  h = f32[4] get-tuple-element(l), index=1
  ROOT t = (f32[4], f32[8]) tuple(h, g)
})"),
            "{replicated} {devices=[2]<=[2]}");
}

TEST(ProgramScopeTest, ElementsThatATupleDoesNotHaveHaveNoSharding) {
  for (const char* element : {"index=17", "index=1"}) {
    const std::string text = absl::Substitute(R"(
ENTRY e {
  p = f32[8] parameter(0)
  c = (f32[8]) custom-call(p), custom_call_target="c", sharding={{replicated}}
  ROOT g = f32[8] get-tuple-element(c), $0
})",
                                              element);
    EXPECT_EQ(Results(text), "?");
  }
}

TEST(ProgramScopeTest, ShardingsOfParameters) {
  const auto text = [](const HloModule& module) {
    return absl::StrJoin(ParameterShardings(module), " ", absl::StreamFormatter());
  };
  EXPECT_EQ(text(*ParseProgram(R"(
ENTRY e {
  p = f32[8] parameter(0), sharding={devices=[2]<=[2]}
  q = (f32[8], f32[8]) parameter(1)
  ROOT n = f32[8] negate(p)
})")),
            "{devices=[2]<=[2]} {{replicated}, {replicated}}");
}

TEST(ProgramScopeTest, OpenDimensions) {
  const auto open = [](absl::string_view instruction) {
    const auto module = ParseProgram(absl::StrCat(
        R"(HloModule m, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["x"=2]>}} ENTRY e { p = f32[8,8] parameter(0)
        ROOT n = )",
        instruction, " }"));
    return OpenDimensions(*module->entry_computation()->root_instruction());
  };
  const std::string call = R"(f32[8,8] custom-call(p), custom_call_target="Sharding", )";
  using Dimensions = std::vector<std::vector<bool>>;
  EXPECT_EQ(open("f32[8,8] negate(p)"), Dimensions{{}});
  EXPECT_EQ(open(call + "sharding={replicated}"), Dimensions{{}});
  EXPECT_EQ(open(call + R"(sharding={replicated}, backend_config="unspecified_dims=[1]")"),
            (Dimensions{{false, true}}));
  const std::string shardy = call + R"(frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, )";
  EXPECT_EQ(open(shardy + R"([{\"x\", ?}, {}]>]>"})"), (Dimensions{{true, false}}));
  EXPECT_EQ(open(shardy + R"([{\"x\"}, {}]>]>"})"), Dimensions{{}});
}

}  // namespace
}  // namespace kashi::hlo
