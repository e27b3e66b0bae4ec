#include "kashi/insight/execution_counts.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "kashi/analysis/fake_arguments.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/literal_run.h"
#include "kashi/insight/insight_testing.h"
#include "kashi/scale/trip_count.h"

namespace kashi::insight {
namespace {

ExecutionCounts CountsOf(const HloModule& module) {
  absl::StatusOr<ExecutionCounts> counts = ExecutionCounts::Compute(module);
  EXPECT_TRUE(counts.ok()) << counts.status();
  return *std::move(counts);
}

// A loop of 5 iterations within a loop of 3 iterations, a function that both call, a fusion and a reduction.
constexpr char kNested[] = R"(HloModule m
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
fused { a = f32[8] parameter(0)  ROOT f = f32[8] tanh(a) }
function { a = f32[8] parameter(0)  ROOT n = f32[8] fusion(a), kind=kLoop, calls=fused }
inner_body { s = (s32[], f32[8]) parameter(0)  i = s32[] get-tuple-element(s), index=0
  x = f32[8] get-tuple-element(s), index=1  one = s32[] constant(1)  j = s32[] add(i, one)
  in_inner = f32[8] call(x), to_apply=function  ROOT r = (s32[], f32[8]) tuple(j, in_inner) }
inner_condition { s = (s32[], f32[8]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] constant(5)
  ROOT inner_less = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[8]) parameter(0)  i = s32[] get-tuple-element(s), index=0
  x = f32[8] get-tuple-element(s), index=1  one = s32[] constant(1)  next = s32[] add(i, one)
  y = f32[8] call(x), to_apply=function  zero = s32[] constant(0)  in = (s32[], f32[8]) tuple(zero, y)
  inner = (s32[], f32[8]) while(in), condition=inner_condition, body=inner_body
  z = f32[8] get-tuple-element(inner), index=1  ROOT r = (s32[], f32[8]) tuple(next, z) }
condition { s = (s32[], f32[8]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] constant(3)
  ROOT less = pred[] compare(i, n), direction=LT }
unreached { a = f32[8] parameter(0)  ROOT never = f32[8] sine(a) }
ENTRY e { x = f32[8] parameter(0)  i = s32[] constant(0)  s = (s32[], f32[8]) tuple(i, x)
  loop = (s32[], f32[8]) while(s), condition=condition, body=body
  y = f32[8] get-tuple-element(loop), index=1  zero = f32[] constant(0)
  z = f32[8] call(y), to_apply=function
  ROOT r = f32[] reduce(z, zero), dimensions={0}, to_apply=sum })";

TEST(ExecutionCountsTest, MultipliesLoopsAndCalls) {
  const std::unique_ptr<HloModule> module = ReadModule(kNested);
  const ExecutionCounts counts = CountsOf(*module);
  const auto count = [&](absl::string_view name) { return counts.CountOf(Find(*module, name)); };
  EXPECT_EQ(count("loop"), 1);
  EXPECT_EQ(count("next"), 3);
  EXPECT_EQ(count("less"), 4);
  EXPECT_EQ(count("in_inner"), 15);
  EXPECT_EQ(count("inner_less"), 18);  // 3 * (5 + 1)
  EXPECT_EQ(count("f"), 1 + 3 + 15);   // fused
  EXPECT_EQ(count("c"), 1);            // the reduction, not its elements
  EXPECT_EQ(count("never"), 0);
  EXPECT_EQ(counts.TripCountOf(Find(*module, "loop")), 3);
  EXPECT_EQ(counts.TripCountOf(Find(*module, "inner")), 5);
  EXPECT_EQ(counts.TripCountOf(Find(*module, "next")), std::nullopt);
  EXPECT_EQ(counts.loops().size(), 2);
  EXPECT_TRUE(counts.unknown_loops().empty());
}

TEST(ExecutionCountsTest, UnknownLoopsCountOnce) {
  const std::unique_ptr<HloModule> module = ReadModule(R"(HloModule m
body { s = (s32[], s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] get-tuple-element(s), index=1
  one = s32[] constant(1)  j = s32[] add(i, one)  ROOT r = (s32[], s32[]) tuple(j, n) }
condition { s = (s32[], s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] get-tuple-element(s), index=1
  ROOT c = pred[] compare(i, n), direction=LT }
ENTRY e { n = s32[] parameter(0)  zero = s32[] constant(0)  s = (s32[], s32[]) tuple(zero, n)
  ROOT loop = (s32[], s32[]) while(s), condition=condition, body=body })");
  const ExecutionCounts counts = CountsOf(*module);
  ASSERT_EQ(counts.unknown_loops().size(), 1);
  EXPECT_EQ(counts.unknown_loops()[0]->name(), "loop");
  EXPECT_EQ(counts.CountOf(Find(*module, "j")), 1);
  EXPECT_EQ(counts.CountOf(Find(*module, "c")), 2);
}

TEST(ExecutionCountsTest, BothBranchesRunAtMostAsOftenAsTheConditional) {
  const std::unique_ptr<HloModule> module = ReadModule(R"(HloModule m
yes { a = f32[8] parameter(0)  ROOT t = f32[8] tanh(a) }
no { a = f32[8] parameter(0)  ROOT n = f32[8] negate(a) }
ENTRY e { p = pred[] parameter(0)  x = f32[8] parameter(1)
  ROOT r = f32[8] conditional(p, x, x), true_computation=yes, false_computation=no })");
  const ExecutionCounts counts = CountsOf(*module);
  EXPECT_EQ(counts.CountOf(Find(*module, "t")), 1);
  EXPECT_EQ(counts.CountOf(Find(*module, "n")), 1);
}

// Calls that double at each level: numbers beyond 2^63 stay finite.
TEST(ExecutionCountsTest, ManyCalls) {
  std::string text = "HloModule m\ng0 { a = f32[] parameter(0)  ROOT leaf = f32[] negate(a) }\n";
  for (int i = 1; i <= 1100; ++i) {
    absl::StrAppend(&text, absl::Substitute("g$0 { a = f32[] parameter(0)  b = f32[] call(a), to_apply=g$1  ROOT c = "
                                            "f32[] call(b), to_apply=g$1 }\n",
                                            i, i - 1));
  }
  absl::StrAppend(&text, "ENTRY e { a = f32[] parameter(0)  ROOT r = f32[] call(a), to_apply=g1100 }\n");
  const std::unique_ptr<HloModule> module = ReadModule(text);
  EXPECT_EQ(CountsOf(*module).CountOf(Find(*module, "leaf")), std::numeric_limits<double>::max());
}

TEST(ExecutionCountsTest, RecursionIsAnError) {
  const std::unique_ptr<HloModule> module = ReadModule(R"(HloModule m
f { a = f32[] parameter(0)  ROOT r = f32[] negate(a) }
ENTRY e { a = f32[] parameter(0)  ROOT r = f32[] call(a), to_apply=f })");
  HloComputation* f = module->GetComputationWithName("f");
  f->root_instruction()
      ->ReplaceOperandWith(0, f->AddInstruction(HloInstruction::CreateCall(f->parameter_instruction(0)->shape(),
                                                                           {f->parameter_instruction(0)}, f)))
      .IgnoreError();
  EXPECT_FALSE(ExecutionCounts::Compute(*module).ok());
}

// ---- Modules of XLA.

// XLA's own trip counts are those that the code gives.
TEST(CorpusCountsTest, AnnotationsAreDerived) {
  int annotated = 0;
  for (const std::filesystem::path& path : CorpusFiles()) {
    const std::unique_ptr<HloModule> module = ReadModuleFile(path);
    ASSERT_NE(module, nullptr) << path;
    scale::TripCounts trip_counts;
    const ExecutionCounts counts = CountsOf(*module);
    for (const HloInstruction* loop : counts.loops()) {
      const std::optional<int64_t> known = scale::KnownTripCount(loop->raw_backend_config_string());
      if (!known.has_value()) continue;
      ++annotated;
      EXPECT_EQ(trip_counts.Derive(*loop), known) << path << " " << loop->name();
    }
  }
  EXPECT_GE(annotated, 13);
}

// The number of times that a computation runs, as the evaluator sees it. Empty if the program cannot run here.
std::map<const HloComputation*, double> RunAndCount(const HloModule& module) {
  std::map<const HloComputation*, double> calls;
  const absl::StatusOr<std::vector<FakeArgument>> fakes = MakeFakeArguments(module);
  if (!fakes.ok()) return {};
  EvaluationOptions options;
  options.max_work = 300'000'000;
  options.on_call = [&](const HloComputation& computation) { ++calls[&computation]; };
  evaluator::EvaluationRun run(options);
  std::vector<const Literal*> arguments;
  for (const FakeArgument& fake : *fakes) arguments.push_back(&fake.literal);
  if (!evaluator::RunOnLiterals(*module.entry_computation(), arguments, run).ok()) return {};
  return calls;
}

// Bodies and conditions of loops run as often as the counts say, in modules before and after XLA's compiler.
TEST(CorpusCountsTest, ProgramsRunSoOften) {
  int bodies = 0;
  for (const std::filesystem::path& path : CorpusFiles()) {
    const std::unique_ptr<HloModule> module = ReadModuleFile(path);
    ASSERT_NE(module, nullptr) << path;
    if (module->config().num_partitions() * module->config().replica_count() != 1) continue;
    const ExecutionCounts counts = CountsOf(*module);
    if (counts.loops().empty() || !counts.unknown_loops().empty()) continue;
    const std::map<const HloComputation*, double> calls = RunAndCount(*module);
    if (calls.empty()) continue;
    for (const HloInstruction* loop : counts.loops()) {
      for (const HloComputation* part : {loop->while_body(), loop->while_condition()}) {
        const auto found = calls.find(part);
        if (found == calls.end()) continue;  // a condition that the evaluator does not need to call, or a branch
        EXPECT_EQ(found->second, counts.CountOf(part)) << path << " " << part->name();
        ++bodies;
      }
    }
  }
  EXPECT_GE(bodies, 20);
}

}  // namespace
}  // namespace kashi::insight
