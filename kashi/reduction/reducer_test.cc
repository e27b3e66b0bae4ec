#include "kashi/reduction/reducer.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/reduction/reduction_testing.h"

namespace kashi::reduction {
namespace {

// Sums and differences that depend on one another, with one other instruction in the middle.
std::string LongModule(int count, absl::string_view special) {
  std::string text = "HloModule m\n\nENTRY e {\n  p0 = f32[8,16] parameter(0)\n  p1 = f32[8,16] parameter(1)\n";
  absl::StrAppend(&text, "  x0 = f32[8,16] add(p0, p1)\n");
  for (int i = 1; i < count; ++i) {
    const std::string operation = i == count / 2
                                      ? absl::StrCat(special, "(x", i - 1, ")")
                                      : absl::StrCat(i % 3 == 0 ? "add" : "subtract", "(x", i - 1, ", x", i / 2, ")");
    absl::StrAppend(&text, "  x", i, " = f32[8,16] ", operation, "\n");
  }
  absl::StrAppend(&text, "  ROOT r = f32[8,16] add(x", count - 1, ", p1)\n}\n");
  return text;
}

Check Contains(std::string needle) {
  return [needle = std::move(needle)](const Candidate& candidate, const std::atomic<bool>&) -> absl::StatusOr<bool> {
    return absl::StrContains(candidate.text, needle);
  };
}

Reduction Reduce(const HloModule& module, Check check, ReducerOptions options = {}) {
  auto reduction = Reducer(std::move(check), std::move(options)).Run(module);
  EXPECT_TRUE(reduction.ok()) << reduction.status();
  return reduction.ok() ? *std::move(reduction) : Reduction();
}

TEST(ReducerTest, FindsTheOneInstructionOfTwoThousand) {
  const auto module = ParseModule(LongModule(2000, "tanh"));
  const Reduction reduction = Reduce(*module, Contains("tanh("));
  EXPECT_TRUE(reduction.is_interesting);
  EXPECT_EQ(reduction.stopped, absl::OkStatus());
  EXPECT_EQ(reduction.before.instructions, 2003);
  EXPECT_EQ(reduction.best->size.ToString(), "2 instructions (1 that compute), 2 elements, 0 attributes");
  EXPECT_TRUE(
      absl::StrContains(reduction.best->text, "constant({ {0} })\n  ROOT %x1000 = f32[1,1]{1,0} tanh(%constant"))
      << reduction.best->text;
  EXPECT_LE(reduction.progress.checks, 100);
  EXPECT_GE(reduction.progress.candidates, reduction.progress.checks - 1);
}

// Two instructions that only matter together, far from one another.
TEST(ReducerTest, FindsWhatMattersTogether) {
  std::string text = LongModule(600, "tanh");
  text.replace(text.find("x77 = f32[8,16] subtract"), 24, "x77 = f32[8,16] multiply");
  const auto module = ParseModule(text);
  const Check both = [](const Candidate& candidate, const std::atomic<bool>&) -> absl::StatusOr<bool> {
    return absl::StrContains(candidate.text, "tanh(") && absl::StrContains(candidate.text, "multiply(");
  };
  const Reduction reduction = Reduce(*module, both);
  EXPECT_LE(reduction.best->size.instructions, 4) << reduction.best->text;
  EXPECT_EQ(reduction.best->size.operations, 2) << reduction.best->text;
}

TEST(ReducerTest, WhatTheCheckSaysNoToStays) {
  const auto module = ParseModule(LongModule(20, "tanh"));
  int64_t progress_calls = 0;
  ReducerOptions options;
  options.on_progress = [&](const ReductionProgress&) { ++progress_calls; };
  const Reduction reduction = Reduce(*module, Contains("cosine("), options);
  EXPECT_FALSE(reduction.is_interesting);
  EXPECT_EQ(reduction.best->text, module->ToString());
  EXPECT_EQ(reduction.progress.checks, 1);
  EXPECT_EQ(progress_calls, 0);
}

TEST(ReducerTest, TheNumberOfJobsDoesNotMatter) {
  const auto module = ParseModule(LongModule(300, "tanh"));
  // Later candidates are answered sooner.
  const Check slow = [](const Candidate& candidate, const std::atomic<bool>& is_unwanted) -> absl::StatusOr<bool> {
    for (int64_t i = candidate.size.instructions; i > 0 && !is_unwanted.load(); i -= 20) std::this_thread::yield();
    return absl::StrContains(candidate.text, "tanh(") && absl::StrContains(candidate.text, "f32[8,");
  };
  std::vector<std::string> texts;
  std::vector<int64_t> checks;
  for (const int jobs : {1, 2, 7}) {
    std::vector<std::string> steps;
    ReducerOptions options;
    options.jobs = jobs;
    options.on_smaller = [&](const Candidate& candidate) {
      steps.push_back(candidate.fingerprint);
      return absl::OkStatus();
    };
    const Reduction reduction = Reduce(*module, slow, options);
    texts.push_back(reduction.best->text + absl::StrJoin(steps, " "));
    checks.push_back(reduction.progress.checks);
    EXPECT_EQ(static_cast<int64_t>(steps.size()), reduction.progress.steps);
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_EQ(texts[0], texts[2]);
  EXPECT_THAT(checks, testing::Each(checks[0]));
}

TEST(ReducerTest, EachStepIsSmallerAndAskedAbout) {
  const auto module = ParseModule(LongModule(50, "tanh"));
  std::set<std::string> asked;
  std::mutex mutex;
  const Check check = [&](const Candidate& candidate, const std::atomic<bool>&) -> absl::StatusOr<bool> {
    const std::lock_guard<std::mutex> lock(mutex);
    EXPECT_TRUE(asked.insert(candidate.text).second) << "asked twice";
    return absl::StrContains(candidate.text, "tanh(");
  };
  ReducerOptions options;
  std::optional<ModuleSize> last;
  options.on_smaller = [&](const Candidate& candidate) {
    EXPECT_TRUE(!last.has_value() || candidate.size < *last);
    last = candidate.size;
    EXPECT_EQ(asked.count(candidate.text), 1);
    return absl::OkStatus();
  };
  Reduce(*module, check, options);
  EXPECT_TRUE(last.has_value());
}

// A second call with what the first one rejected, beginning with what it found, asks only about the module itself.
TEST(ReducerTest, GoesOnFromAnEarlierCall) {
  const auto module = ParseModule(LongModule(200, "tanh"));
  ReducerOptions options;
  std::vector<std::string> rejected;
  options.on_rejected = [&](const std::string& fingerprint) {
    rejected.push_back(fingerprint);
    return absl::OkStatus();
  };
  const Reduction first = Reduce(*module, Contains("tanh("), options);
  ReducerOptions again;
  again.rejected.insert(rejected.begin(), rejected.end());
  const Reduction second = Reduce(*ParseModule(first.best->text), Contains("tanh("), again);
  EXPECT_EQ(second.best->text, first.best->text);
  EXPECT_EQ(second.progress.checks, 1);
  EXPECT_EQ(second.progress.steps, 0);
  EXPECT_GT(rejected.size(), 5);
}

TEST(ReducerTest, StopsWithTheBestSoFar) {
  const auto module = ParseModule(LongModule(500, "tanh"));
  int64_t steps = 0;
  ReducerOptions options;
  options.jobs = 3;
  options.on_smaller = [&](const Candidate&) {
    return ++steps == 3 ? absl::CancelledError("enough") : absl::OkStatus();
  };
  const Reduction reduction = Reduce(*module, Contains("tanh("), options);
  EXPECT_EQ(reduction.stopped, absl::CancelledError("enough"));
  EXPECT_EQ(reduction.progress.steps, 3);
  EXPECT_TRUE(reduction.best->size < reduction.before);
  EXPECT_TRUE(absl::StrContains(reduction.best->text, "tanh("));
}

// A check that only ends when nobody wants its answer any more.
TEST(ReducerTest, StopsWhileChecksGoOn) {
  const auto module = ParseModule(LongModule(20, "tanh"));
  std::atomic<int> asked{0};
  const Check endless = [&](const Candidate&, const std::atomic<bool>& is_unwanted) -> absl::StatusOr<bool> {
    if (++asked == 1) return true;
    while (!is_unwanted.load()) std::this_thread::yield();
    return true;
  };
  ReducerOptions options;
  options.jobs = 2;
  options.check_stopped = [&] { return asked >= 3 ? absl::DeadlineExceededError("over") : absl::OkStatus(); };
  const Reduction reduction = Reduce(*module, endless, options);
  EXPECT_EQ(reduction.stopped, absl::DeadlineExceededError("over"));
  EXPECT_EQ(reduction.best->text, module->ToString());
}

TEST(ReducerTest, StopsWhileItAsksAboutTheModuleItself) {
  const auto module = ParseModule(LongModule(20, "tanh"));
  const Check endless = [](const Candidate&, const std::atomic<bool>& is_unwanted) -> absl::StatusOr<bool> {
    while (!is_unwanted.load()) std::this_thread::yield();
    return false;
  };
  ReducerOptions options;
  options.check_stopped = [] { return absl::CancelledError("now"); };
  const Reduction reduction = Reduce(*module, endless, options);
  EXPECT_EQ(reduction.stopped, absl::CancelledError("now"));
  EXPECT_FALSE(reduction.is_interesting);
  EXPECT_EQ(reduction.progress.checks, 0);
}

TEST(ReducerTest, ErrorsOfTheCheckEndTheSearch) {
  const auto module = ParseModule(LongModule(20, "tanh"));
  const Check broken = [](const Candidate&, const std::atomic<bool>&) { return absl::UnavailableError("no shell"); };
  EXPECT_EQ(Reducer(broken).Run(*module).status(), absl::UnavailableError("no shell"));
  int64_t asked = 0;
  const Check breaks = [&](const Candidate& candidate, const std::atomic<bool>&) -> absl::StatusOr<bool> {
    if (++asked > 6) return absl::UnavailableError("no shell");
    return absl::StrContains(candidate.text, "tanh(");
  };
  const Reduction reduction = Reduce(*module, breaks);
  EXPECT_EQ(reduction.stopped, absl::UnavailableError("no shell"));
  EXPECT_EQ(reduction.progress.checks, 6);
  EXPECT_GT(reduction.progress.steps, 0);
  EXPECT_TRUE(absl::StrContains(reduction.best->text, "tanh("));
}

TEST(ReducerTest, ExceptionsAreErrors) {
  const auto module = ParseModule(LongModule(20, "tanh"));
  const Check throws = [](const Candidate&, const std::atomic<bool>&) -> absl::StatusOr<bool> {
    throw std::runtime_error("thrown");
  };
  EXPECT_EQ(Reducer(throws).Run(*module).status(), absl::InternalError("thrown"));
}

// What is broken may stay broken, and nothing else may break.
TEST(ReducerTest, ModulesThatBreakARuleAreReduced) {
  const auto module = ParseModule(R"(HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  q = f32[8] parameter(1)
  a = f32[4] sine(p)
  b = f32[8] cosine(q)
  wrong = f32[5] negate(a)
  c = f32[8] add(b, b)
  ROOT t = (f32[5], f32[8]) tuple(wrong, c)
})");
  const auto breaks = [](const HloModule& broken) {
    const auto findings = VerifyHlo(broken);
    return absl::c_any_of(findings, [](const HloFinding& finding) { return finding.rule == "result shape"; });
  };
  const Check is_wrong = [&](const Candidate& candidate, const std::atomic<bool>&) -> absl::StatusOr<bool> {
    for (const HloFinding& finding : VerifyHlo(*candidate.module)) {
      EXPECT_THAT(finding.rule, testing::AnyOf("result shape", "implicit broadcast"));  // both in the module itself
    }
    return breaks(*candidate.module);
  };
  const Reduction reduction = Reduce(*module, is_wrong);
  EXPECT_TRUE(reduction.is_interesting);
  EXPECT_LE(reduction.best->size.instructions, 2) << reduction.best->text;
  EXPECT_TRUE(breaks(*reduction.best->module));
}

TEST(ReducerTest, ModulesWithoutSoundStructureAreRefused) {
  const auto module = ParseModule("HloModule m\nENTRY e { p = f32[4] parameter(0) ROOT r = f32[4] negate(p) }");
  HloComputation* const entry = module->entry_computation();
  entry->root_instruction()->AppendOperand(entry->parameter_instruction(0));
  const absl::Status status = Reducer(Contains("")).Run(*module).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("[operand count]"));
}

// Elements of constants are in the text that the check sees, and elided ones stay elided.
TEST(ReducerTest, TextHasAllElements) {
  const auto module = ParseModule(R"(HloModule m
ENTRY e {
  c = f32[20] constant({1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20})
  d = f32[30] constant({...})
  ROOT t = (f32[20], f32[30]) tuple(c, d)
})");
  const Reduction reduction = Reduce(*module, Contains("18, 19"));
  EXPECT_TRUE(absl::StrContains(reduction.best->text, "18, 19"));
  const Reduction elided = Reduce(*module, Contains("{...}"));
  EXPECT_TRUE(absl::StrContains(elided.best->text, "constant({...})")) << elided.best->text;
  EXPECT_EQ(elided.best->size.elements, 1) << elided.best->text;
}

}  // namespace
}  // namespace kashi::reduction
