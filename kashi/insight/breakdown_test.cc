#include "kashi/insight/breakdown.h"

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/insight/counted_cost.h"
#include "kashi/insight/insight_testing.h"

namespace kashi::insight {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

std::vector<std::string> RowNames(const Breakdown& breakdown) {
  std::vector<std::string> names;
  for (const int64_t row : breakdown.Rows()) names.push_back(breakdown.PathOf(row));
  return names;
}

TEST(BreakdownTest, SumsTreesAndRows) {
  Breakdown breakdown({"flops", "bytes"});
  breakdown.Add({"a", "x"}, {1, 10});
  breakdown.Add({"a"}, {2, 20});
  breakdown.Add({"a", "y"}, {4, 40});
  breakdown.Add({"b"}, {3, 80});
  breakdown.Add({"a", "x"}, {8, 0});
  EXPECT_THAT(breakdown.root().sum, ElementsAre(18, 150));
  EXPECT_EQ(breakdown.root().items, 5);
  EXPECT_EQ(breakdown.root().own_items, 0);
  breakdown.Sort(0);
  EXPECT_THAT(RowNames(breakdown), ElementsAre("a/x", "a/y", "b", "a"));
  const Breakdown::Node& a = breakdown.nodes()[breakdown.root().children[0]];
  EXPECT_EQ(a.name, "a");
  EXPECT_THAT(a.sum, ElementsAre(15, 70));
  EXPECT_THAT(a.own, ElementsAre(2, 20));
  EXPECT_EQ(a.items, 4);
  EXPECT_EQ(a.depth, 1);
  breakdown.Sort(1);
  EXPECT_THAT(RowNames(breakdown), ElementsAre("b", "a/y", "a", "a/x"));
  EXPECT_EQ(breakdown.nodes()[breakdown.root().children[0]].name, "b");
  EXPECT_EQ(breakdown.PathOf(breakdown.Rows()[1], ":"), "a:y");
}

TEST(BreakdownTest, EqualRowsAreOrderedByOtherMeasuresAndNames) {
  Breakdown breakdown({"x", "y"});
  breakdown.Add({"c"}, {1, 1});
  breakdown.Add({"b"}, {1, 1});
  breakdown.Add({"a"}, {1, 2});
  breakdown.Sort(0);
  EXPECT_THAT(RowNames(breakdown), ElementsAre("a", "b", "c"));
}

TEST(BreakdownTest, DeepPathsEnd) {
  Breakdown breakdown({"x"});
  breakdown.Add(std::vector<std::string>(1000, "p"), {1});
  EXPECT_EQ(breakdown.nodes().size(), Breakdown::kMostDepth + 1);
  EXPECT_EQ(breakdown.nodes().back().depth, Breakdown::kMostDepth);
}

// At each node the sum is its own value and those of its children; all rows add up to the root.
TEST(BreakdownLawTest, EachLevelAddsUp) {
  std::mt19937 random(1);
  for (int i = 0; i < 50; ++i) {
    Breakdown breakdown({"x", "y"});
    double all = 0;
    for (int j = 0; j < 200; ++j) {
      std::vector<std::string> path(random() % 5);
      for (std::string& part : path) part = absl::StrCat(random() % 4);
      const double value = random() % 1000;
      breakdown.Add(path, {value, 1});
      all += value;
    }
    breakdown.Sort(random() % 2);
    double rows = 0;
    for (const int64_t row : breakdown.Rows()) rows += breakdown.nodes()[row].own[0];
    EXPECT_EQ(rows, all);
    EXPECT_EQ(breakdown.root().sum[0], all);
    for (const Breakdown::Node& node : breakdown.nodes()) {
      double sum = node.own[0], last = -1;
      for (const int64_t child : node.children) {
        sum += breakdown.nodes()[child].sum[0];
        last = breakdown.nodes()[child].sum[0];
      }
      EXPECT_EQ(sum, node.sum[0]);
      EXPECT_GE(node.sum[0], last);
    }
  }
}

TEST(GroupsTest, PathsByGrouping) {
  const std::unique_ptr<HloModule> module = ReadModule(R"hlo(HloModule m
fused { p = f32[2] parameter(0)  ROOT t = f32[2] tanh(p) }
leaf { p = f32[2] parameter(0)  ROOT in_leaf = f32[2] negate(p) }
shared { p = f32[2] parameter(0)  ROOT in_shared = f32[2] sine(p) }
middle { p = f32[2] parameter(0)  a = f32[2] call(p), to_apply=leaf  ROOT b = f32[2] call(a), to_apply=shared }
ENTRY main { x = f32[2] parameter(0), metadata={op_name="x"}
  a = f32[2] call(x), to_apply=middle
  b = f32[2] call(a), to_apply=shared
  named = f32[2] negate(b), metadata={op_name="jit(f)/layer_1/mlp/neg" source_file="model.py" source_line=7}
  other = f32[2] negate(named), metadata={op_name="jit(f)/layer_2/neg"}
  custom = f32[2] custom-call(other), custom_call_target="Sharding"
  ROOT fusion = f32[2] fusion(custom), kind=kInput, calls=fused })hlo");
  const ExecutionCounts counts = ExecutionCounts::Compute(*module).value();
  const auto path = [&](Grouping grouping, absl::string_view name) {
    const Groups groups = Groups::Create(*module, counts, grouping).value();
    const std::vector<Groups::Place> places = groups.PlacesOf(*Find(*module, name));
    EXPECT_EQ(places.size(), 1);
    EXPECT_EQ(places[0].share, 1);
    return absl::StrJoin(places[0].parts, std::string(groups.separator()));
  };
  EXPECT_EQ(path(Grouping::kScope, "named"), "layer_1/mlp");
  EXPECT_EQ(path(Grouping::kScope, "custom"), "(no scope)/custom-call");
  EXPECT_EQ(path(Grouping::kLayer, "named"), "layer_1");
  EXPECT_EQ(path(Grouping::kLayer, "fusion"), "(no layer)");
  EXPECT_EQ(path(Grouping::kOpcode, "named"), "negate");
  EXPECT_EQ(path(Grouping::kOpcode, "custom"), "custom-call/Sharding");
  EXPECT_EQ(path(Grouping::kOpcode, "fusion"), "fusion/kInput");
  EXPECT_EQ(path(Grouping::kSource, "named"), "model.py:7");
  EXPECT_EQ(path(Grouping::kSource, "other"), "(no source)");
  EXPECT_EQ(path(Grouping::kComputation, "named"), "main");
  EXPECT_EQ(path(Grouping::kComputation, "in_leaf"), "main/middle/leaf");
  EXPECT_EQ(path(Grouping::kComputation, "in_shared"), "main/shared");
}

// A chain of 20,000 calls: paths end after some parts.
TEST(GroupsTest, DeepCalls) {
  std::string text = "HloModule m\nd0 { a = f32[] parameter(0)  ROOT leaf = f32[] negate(a) }\n";
  for (int i = 1; i <= 20000; ++i) {
    absl::StrAppend(&text, "d", i, " { a = f32[] parameter(0)  ROOT b = f32[] call(a), to_apply=d", i - 1, " }\n");
  }
  absl::StrAppend(&text, "ENTRY e { a = f32[] parameter(0)  ROOT r = f32[] call(a), to_apply=d20000 }\n");
  const std::unique_ptr<HloModule> module = ReadModule(text);
  const ExecutionCounts counts = ExecutionCounts::Compute(*module).value();
  for (const Grouping grouping : {Grouping::kComputation, Grouping::kScope}) {
    const Groups groups = Groups::Create(*module, counts, grouping).value();
    EXPECT_LE(groups.PlacesOf(*Find(*module, "leaf"))[0].parts.size(), Breakdown::kMostDepth);
  }
}

TEST(GroupsTest, NamesOfGroupings) {
  for (size_t i = 0; i < GroupingNames().size(); ++i) {
    EXPECT_EQ(ParseGrouping(GroupingNames()[i]), static_cast<Grouping>(i));
  }
  EXPECT_EQ(ParseGrouping("scope"), Grouping::kScope);
  EXPECT_EQ(ParseGrouping("computation"), Grouping::kComputation);
  EXPECT_EQ(ParseGrouping("module"), std::nullopt);
}

// By each grouping, the rows of real modules add up to the total.
TEST(GroupsLawTest, RowsAddUpToTheTotal) {
  std::vector<std::filesystem::path> files = CorpusFiles();
  for (const auto& entry : std::filesystem::directory_iterator("tests/data/insight/models"))
    files.push_back(entry.path());
  for (const std::filesystem::path& path : files) {
    const std::unique_ptr<HloModule> module = ReadModuleFile(path);
    ASSERT_NE(module, nullptr) << path;
    const CountedCost cost = CountedCost::Compute(*module).value();
    for (size_t g = 0; g < GroupingNames().size(); ++g) {
      const Groups groups = Groups::Create(*module, cost.counts(), static_cast<Grouping>(g)).value();
      Breakdown breakdown({"flops", "bytes"});
      for (const HloInstruction* instruction : cost.instructions()) {
        const Cost each = cost.CostOf(instruction);
        double shares = 0;
        for (const Groups::Place& place : groups.PlacesOf(*instruction)) {
          EXPECT_FALSE(place.parts.empty());
          shares += place.share;
          breakdown.Add(place.parts, {each.flops * place.share, each.bytes_accessed * place.share});
        }
        EXPECT_DOUBLE_EQ(shares, 1);
      }
      EXPECT_THAT(breakdown.root().sum[0], DoubleEq(cost.total().flops)) << path << GroupingNames()[g];
      EXPECT_THAT(breakdown.root().sum[1], DoubleEq(cost.total().bytes_accessed)) << path << GroupingNames()[g];
    }
  }
}

}  // namespace
}  // namespace kashi::insight
