// Helpers of this room's tests.
#ifndef KASHI_CPU_CPU_TESTING_H_
#define KASHI_CPU_CPU_TESTING_H_

#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "kashi/base/guard_pages.h"
#include "kashi/base/status.h"
#include "kashi/buffers/leaves.h"
#include "kashi/cpu/compiled_program.h"
#include "kashi/cpu/target.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/hlo_evaluator.h"
#include "kashi/evaluator/literal_run.h"
#include "kashi/evaluator/step_checker.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/hlo/verifier/hlo_verifier.h"
#include "kashi/literal/fake_literal.h"
#include "kashi/literal/literal_comparison.h"

namespace kashi::cpu {

inline absl::StatusOr<std::unique_ptr<HloModule>> ReadVerified(absl::string_view text) {
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<HloModule> module, ParseAndReturnUnverifiedModule(text));
  HloVerifier verifier(/*layout_sensitive=*/false, /*allow_mixed_precision=*/true);
  KASHI_RETURN_IF_ERROR(verifier.Run(module.get()).status());
  return module;
}

// Runs the entry of a module by `run_entry`. `steps`: machine code for instructions; null: there is none. `checker`:
// null: steps are not compared.
inline absl::StatusOr<Literal> RunEntry(const HloModule& module, const evaluator::CompiledSteps* steps,
                                        const std::vector<Literal>& arguments, const EvaluationOptions& options,
                                        evaluator::StepChecker* checker, evaluator::EntryFunction run_entry) {
  std::vector<const Literal*> pointers;
  for (const Literal& argument : arguments) pointers.push_back(&argument);
  evaluator::RunHooks hooks;
  hooks.compiled = steps;
  hooks.checker = checker;
  evaluator::EvaluationRun run(options, hooks);
  return evaluator::RunOnLiterals(*module.entry_computation(), pointers, run, run_entry);
}
// By the evaluator, with these steps and without a plan of memory for the entry.
inline absl::StatusOr<Literal> RunSteps(const HloModule& module, const evaluator::CompiledSteps* steps,
                                        const std::vector<Literal>& arguments, const EvaluationOptions& options = {},
                                        evaluator::StepChecker* checker = nullptr) {
  return RunEntry(module, steps, arguments, options, checker,
                  [&module](std::vector<Value> values, evaluator::EvaluationRun& run) {
                    return run.Call(*module.entry_computation(), std::move(values));
                  });
}
inline absl::StatusOr<Literal> RunProgram(const CompiledProgram& program, const std::vector<Literal>& arguments,
                                          const EvaluationOptions& options = {},
                                          evaluator::StepChecker* checker = nullptr) {
  const auto execute = [&program](std::vector<Value> values, evaluator::EvaluationRun& run) {
    return program.Execute(std::move(values), run);
  };
  return RunEntry(program.module(), &program, arguments, options, checker, execute);
}

// RunProgram on copies of the arguments that nobody else holds: the program may write its results there.
inline absl::StatusOr<Literal> RunDonated(const CompiledProgram& program, const std::vector<Literal>& arguments) {
  const auto execute = [&program](std::vector<Value> values, evaluator::EvaluationRun& run) -> absl::StatusOr<Value> {
    KASHI_ASSIGN_OR_RETURN(values, evaluator::StepChecker::CopyOf(values, run));
    return program.Execute(std::move(values), run);
  };
  return RunEntry(program.module(), &program, arguments, {}, /*checker=*/nullptr, execute);
}

inline bool HasCustomCalls(const HloModule& module) {
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() == HloOpcode::kCustomCall) return true;
    }
  }
  return false;
}

// Runs a module compiled; `kernels` is set to the number of its kernels. It also runs between guard pages, where an
// access beyond an array ends the test, and an element that nobody wrote gives another result; with a value for each
// instruction, so that a wrong plan of memory gives another result; and, where the module has aliases, with its results
// in the memory of its arguments.
inline absl::StatusOr<Literal> RunCompiled(const HloModule& module, const std::vector<Literal>& arguments,
                                           const CompileOptions& options = {}, int64_t* kernels = nullptr) {
  KASHI_ASSIGN_OR_RETURN(const std::unique_ptr<CompiledProgram> program, CompiledProgram::Compile(module, options));
  if (kernels != nullptr) *kernels = program->kernel_count();
  for (const absl::Status& refusal : program->refusals()) ADD_FAILURE() << refusal;
  absl::StatusOr<Literal> result = RunProgram(*program, arguments);
  const absl::StatusOr<Literal> unplanned = RunSteps(program->module(), program.get(), arguments);
  EXPECT_EQ(result.status(), unplanned.status());
  // A checker runs the steps one by one, which gives the same bits; native functions may round otherwise.
  evaluator::StepChecker any_number([](PrimitiveType) { return std::numeric_limits<double>::infinity(); });
  const absl::StatusOr<Literal> planned = RunProgram(*program, arguments, {}, &any_number);
  if (planned.ok() && unplanned.ok()) {
    // Thunks compute small linear algebra, where the evaluator calls LAPACK.
    const absl::Status same = HasCustomCalls(program->module())
                                  ? literal_comparison::Near(*unplanned, *planned, ErrorSpec(1e-4, 1e-4))
                                  : literal_comparison::Equal(*unplanned, *planned);
    EXPECT_TRUE(same.ok()) << "without the plan of memory: " << same;
  }
  const auto expect_same = [&result](const absl::StatusOr<Literal>& again) {
    EXPECT_EQ(result.status(), again.status());
    if (!result.ok() || !again.ok()) return;
    const absl::Status same = literal_comparison::Equal(*result, *again);
    EXPECT_TRUE(same.ok()) << same;
  };
  const bool has_aliases = !buffers::AliasesOf(program->module()).empty();
  if (has_aliases) expect_same(RunDonated(*program, arguments));
  for (const base::GuardPages pages : {base::GuardPages::kBehind, base::GuardPages::kBefore}) {
    const base::WithGuardPages guarded(pages);
    expect_same(RunProgram(*program, arguments));
    if (has_aliases) expect_same(RunDonated(*program, arguments));
  }
  return result;
}

inline std::vector<Literal> RandomArguments(const HloModule& module) {
  std::minstd_rand0 engine(7);
  std::vector<Literal> arguments;
  for (const HloInstruction* parameter : module.entry_computation()->parameter_instructions()) {
    arguments.push_back(MakeFakeLiteral(parameter->shape(), &engine, /*limit=*/std::nullopt, /*is_sorted=*/false,
                                        /*no_duplicates=*/false, /*use_large_range=*/false,
                                        /*max_bits_of_precision=*/std::nullopt)
                            .value());
  }
  return arguments;
}

// Expects the evaluator's results from the compiled program: within `error` for real numbers, equal for all others.
// `kernels`: the number of kernels that it must have; -1: any.
inline void ExpectAsEvaluator(absl::string_view text, const std::vector<Literal>& arguments, ErrorSpec error,
                              int64_t kernels = -1, const CompileOptions& options = {}) {
  SCOPED_TRACE(text);
  const auto module = ReadVerified(text);
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::StatusOr<Literal> expected = HloEvaluator(EvaluationOptions()).Evaluate(**module, arguments);
  ASSERT_TRUE(expected.ok()) << expected.status();
  int64_t made = 0;
  const absl::StatusOr<Literal> actual = RunCompiled(**module, arguments, options, &made);
  ASSERT_TRUE(actual.ok()) << actual.status();
  const absl::Status same = literal_comparison::Near(*expected, *actual, error);
  EXPECT_TRUE(same.ok()) << same;
  if (kernels >= 0) {
    EXPECT_EQ(made, kernels);
  }
}
inline void ExpectAsEvaluator(absl::string_view text, ErrorSpec error = ErrorSpec(1e-5, 1e-5), int64_t kernels = -1,
                              const CompileOptions& options = {}) {
  const auto module = ReadVerified(text);
  ASSERT_TRUE(module.ok()) << module.status() << "\n" << text;
  ExpectAsEvaluator(text, RandomArguments(**module), error, kernels, options);
}

// Skips a test on a target that this processor cannot run. "": this processor.
#define KASHI_SKIP_UNLESS_THIS_RUNS(target)                                                              \
  do {                                                                                                   \
    if (!absl::string_view(target).empty()) {                                                            \
      if (const absl::Status runs = Target::ForLevel(target).status(); !runs.ok()) GTEST_SKIP() << runs; \
    }                                                                                                    \
  } while (false)

// `x86_64_v3`, or `host`, for the names of tests.
inline std::string NameOfTarget(absl::string_view target) {
  return target.empty() ? "host" : absl::StrReplaceAll(target, {{"-", "_"}});
}

// Tests for each level of x86-64. Levels that this processor cannot run are skipped.
class LevelTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    KASHI_SKIP_UNLESS_THIS_RUNS(GetParam());
    options.target = GetParam();
  }
  CompileOptions options;
};

}  // namespace kashi::cpu

#endif  // KASHI_CPU_CPU_TESTING_H_
