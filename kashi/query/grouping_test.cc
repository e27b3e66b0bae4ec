#include "kashi/query/grouping.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "kashi/insight/counted_cost.h"
#include "kashi/query/expression.h"
#include "kashi/query/submodule_testing.h"

namespace kashi::query {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Rows(const HloModule& module, absl::string_view query, Fact by) {
  const auto expression = Expression::Parse(query).value();
  Grouping grouping(by, /*has_device=*/false);
  const auto facts = ModuleFacts::Prepare(module, expression.facts() | grouping.facts()).value();
  grouping.Add(facts, expression.FindIn(facts));
  std::vector<std::string> rows;
  for (const Group& group : grouping.groups()) {
    rows.push_back(absl::StrCat(ValueText(group.value), " ", group.instructions, " ", group.bytes, " ",
                                group.cost.flops, " ", group.cost.transcendentals, " ", group.cost.bytes_accessed));
  }
  return rows;
}

constexpr char kFusedProgram[] = R"(HloModule m
fused {
  p = f32[10] parameter(0)
  m = f32[10] multiply(p, p)
  ROOT x = f32[10] exponential(m)
}
ENTRY e {
  a = f32[10] parameter(0)
  f = f32[10] fusion(a), kind=kLoop, calls=fused
  ROOT n = f32[10] negate(f)
})";

// Columns: instructions, bytes, flops, transcendentals, bytes accessed.
TEST(GroupingTest, FusedInstructionsCountOnce) {
  const std::unique_ptr<HloModule> module = ReadModule(kFusedProgram);
  EXPECT_THAT(Rows(*module, "true", Fact::opcode),
              ElementsAre("parameter 2 80 0 0 0", "multiply 1 40 0 0 0", "exponential 1 40 0 0 0",
                          "fusion 1 40 10 10 80", "negate 1 40 10 0 80"));
  EXPECT_THAT(Rows(*module, R"(opcode == "multiply")", Fact::opcode), ElementsAre("multiply 1 40 10 0 0"));
  EXPECT_THAT(Rows(*module, "true", Fact::fused), ElementsAre("true 3 120 0 0 0", "false 3 120 20 10 160"));
}

// A function with two calls: each scope has the share of its runs, and the first one has the instructions.
TEST(GroupingTest, ScopesShareTheCostOfAFunction) {
  const std::unique_ptr<HloModule> module = ReadModule(R"(HloModule m
f {
  p = f32[10] parameter(0)
  ROOT n = f32[10] negate(p), metadata={op_name="neg"}
}
ENTRY e {
  a = f32[10] parameter(0)
  c = f32[10] call(a), to_apply=f, metadata={op_name="jit(s)/one/f"}
  ROOT d = f32[10] call(c), to_apply=f, metadata={op_name="jit(s)/two/f"}
})");
  const std::vector<std::string> rows = Rows(*module, R"(opcode == "negate")", Fact::scope);
  EXPECT_EQ(rows.size(), 2);
  double flops = 0;
  for (const std::string& row : rows) {
    const std::vector<std::string> columns = absl::StrSplit(row, ' ');
    double of_row = 0;
    ASSERT_TRUE(absl::SimpleAtod(columns[3], &of_row)) << row;
    EXPECT_EQ(of_row, 10) << row;
    flops += of_row;
  }
  EXPECT_EQ(flops, 20);
}

TEST(GroupingTest, ModulesAreAddedUp) {
  const std::unique_ptr<HloModule> module = ReadModule(kFusedProgram);
  Grouping grouping(Fact::opcode, /*has_device=*/false);
  for (int i = 0; i < 2; ++i) {
    const auto facts = ModuleFacts::Prepare(*module, grouping.facts()).value();
    grouping.Add(facts, Expression::Parse(R"(opcode == "negate")").value().FindIn(facts));
  }
  ASSERT_EQ(grouping.groups().size(), 1);
  EXPECT_EQ(grouping.groups()[0].instructions, 2);
  EXPECT_EQ(grouping.groups()[0].cost.flops, 20);
}

// The sums by any fact are the total of the module's cost.
TEST(GroupingLawTest, SumsAreTheTotal) {
  int modules = 0;
  for (const std::string& path : CorpusPaths(/*most_bytes=*/60'000)) {
    const std::unique_ptr<HloModule> module = ReadModule(ReadTestFile(path));
    const auto cost = insight::CountedCost::Compute(*module);
    ASSERT_TRUE(cost.ok()) << path;
    for (const Fact by : {Fact::opcode, Fact::layer, Fact::computation, Fact::users}) {
      Grouping grouping(by, /*has_device=*/false);
      const auto facts = ModuleFacts::Prepare(*module, grouping.facts()).value();
      grouping.Add(facts, Expression().FindIn(facts));
      Cost sum;
      for (const Group& group : grouping.groups()) sum += group.cost;
      EXPECT_NEAR(sum.flops, cost->total().flops, 1e-9 * cost->total().flops) << path;
      EXPECT_NEAR(sum.transcendentals, cost->total().transcendentals, 1e-9 * cost->total().transcendentals) << path;
      EXPECT_NEAR(sum.bytes_accessed, cost->total().bytes_accessed, 1e-9 * cost->total().bytes_accessed) << path;
    }
    ++modules;
  }
  EXPECT_GT(modules, 100);
}

}  // namespace
}  // namespace kashi::query
