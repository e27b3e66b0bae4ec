#include "cli/interest_check.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "cli/module_check.h"
#include "cli/run_inputs.h"
#include "cli/run_outputs.h"
#include "cli/verb.h"
#include "kashi/analysis/fake_arguments.h"
#include "kashi/array/layout_util.h"
#include "kashi/base/status.h"
#include "kashi/engine/engine.h"
#include "kashi/engine/program.h"
#include "kashi/evaluator/device_group.h"
#include "kashi/hlo/spmd/program_scope.h"
#include "kashi/hlo/verifier/hlo_verifier.h"

namespace kashi::cli {
namespace {

using Kind = InterestCheck::Kind;

constexpr double kUsualRatio = 2;

absl::Status CheckEngine(const std::string& name, bool may_be_auto) {
  if (may_be_auto && name == "auto") return absl::OkStatus();
  return engine::EngineOfName(name).status();
}

// "A,B" in `text`; nothing: the defaults stay.
absl::Status SetEngines(const std::string& text, InterestCheck* check) {
  if (text.empty()) return absl::OkStatus();
  const std::vector<std::string> names = absl::StrSplit(text, ',');
  if (names.size() != 2) return InvalidArgument("give two engines, such as `cpu,evaluator`, not `%s`", text);
  check->engine_a = names[0];
  check->engine_b = names[1];
  return absl::OkStatus();
}

absl::Status SetRatio(const std::string& text, InterestCheck* check) {
  check->ratio = kUsualRatio;
  if (text.empty()) return absl::OkStatus();
  const size_t comma = text.find(',');
  if (!absl::SimpleAtod(text.substr(0, comma), &check->ratio) || !(check->ratio > 0)) {
    return InvalidArgument("`%s` is no ratio of times, such as 1.5", text.substr(0, comma));
  }
  return SetEngines(comma == std::string::npos ? "" : text.substr(comma + 1), check);
}

}  // namespace

absl::StatusOr<InterestCheck> ParseInterestCheck(const std::string& text) {
  if (text.empty()) return InvalidArgument("give a command, or differs, crashes, slower or fails");
  const size_t colon = text.find(':');
  const std::string word = text.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  InterestCheck check;
  if (word == "differs") {
    check = {Kind::kDiffers, "", "evaluator", "cpu"};
    KASHI_RETURN_IF_ERROR(SetEngines(rest, &check));
  } else if (word == "slower") {
    check = {Kind::kSlower, "", "cpu", "evaluator"};
    KASHI_RETURN_IF_ERROR(SetRatio(rest, &check));
  } else if (word == "crashes") {
    check.kind = Kind::kCrashes;
    check.engine_a = rest.empty() ? "auto" : rest;
  } else if (word == "fails") {
    check.kind = Kind::kFails;
    check.text = rest;
    check.engine_a = "auto";
  } else {
    check.text = text;
    return check;
  }
  const bool may_be_auto = check.engine_b.empty();
  KASHI_RETURN_IF_ERROR(CheckEngine(check.engine_a, may_be_auto));
  if (!may_be_auto) KASHI_RETURN_IF_ERROR(CheckEngine(check.engine_b, may_be_auto));
  return check;
}

// ---- Answers in this process ----------------------------------------------------------------------------------------

namespace {

class Asked {
 public:
  Asked(const InterestCheck& check, const InterestOptions& options, const Interrupt& interrupt, ModuleFile* file)
      : check_(check), options_(options), interrupt_(interrupt), module_(*file->module) {}

  InterestAnswer Answer() {
    const absl::StatusOr<InterestAnswer> answer = check_.kind == Kind::kFails    ? Fails()
                                                  : check_.kind == Kind::kSlower ? IsSlower()
                                                                                 : Differs();
    if (answer.ok()) return *answer;
    return {false, std::string(answer.status().message())};
  }

 private:
  absl::Status Verify() const {
    const std::vector<HloFinding> findings = VerifyHlo(module_, VerifierOptionsFor(module_));
    if (findings.empty()) return absl::OkStatus();
    return InvalidArgument("[%s] %s", findings[0].rule, findings[0].message);
  }

  // Verified, with values for all constants and arguments.
  absl::Status Prepare() {
    KASHI_RETURN_IF_ERROR(Verify());
    const absl::StatusOr<DeviceCounts> counts = DeviceCountsOf(module_);
    KASHI_RETURN_IF_ERROR(counts.status());
    if (counts->total() > 1 || ProgramScopeOf(module_).is_global()) {
      return Unimplemented("the program is for several devices; --check differs, slower and fails run on one");
    }
    KASHI_RETURN_IF_ERROR(FillElidedConstants(&module_, options_.seed));
    RandomOptions random{options_.random, options_.seed, options_.limits.memory_limit, &meter_, /*prints_note=*/false};
    KASHI_ASSIGN_OR_RETURN(ChosenArguments chosen, MakeRandomArguments(module_, random));
    arguments_ = std::move(chosen.arguments);
    return absl::OkStatus();
  }

  absl::StatusOr<std::unique_ptr<Program>> Compile(const std::string& engine) const {
    CompileOptions compile;
    compile.engine = engine;
    compile.limits = WorkLimitsOf(options_.limits, &interrupt_.flag());
    return Program::Compile(module_, compile);
  }

  absl::StatusOr<Literal> Run(const Program& program) const {
    EvaluationOptions evaluation;
    ApplyLimits(options_.limits, &evaluation);
    evaluation.cancelled = &interrupt_.flag();
    std::vector<const Literal*> arguments;
    for (const Literal& argument : arguments_) arguments.push_back(&argument);
    return program.Execute(arguments, evaluation);
  }

  absl::StatusOr<std::vector<Literal>> OutputsOf(const std::string& engine) const {
    KASHI_ASSIGN_OR_RETURN(const std::unique_ptr<Program> program, Compile(engine));
    KASHI_ASSIGN_OR_RETURN(Literal result, Run(*program));
    return FlattenResult(std::move(result));
  }

  absl::StatusOr<InterestAnswer> Differs() {
    KASHI_RETURN_IF_ERROR(Prepare());
    KASHI_ASSIGN_OR_RETURN(const std::vector<Literal> a, OutputsOf(check_.engine_a));
    KASHI_ASSIGN_OR_RETURN(const std::vector<Literal> b, OutputsOf(check_.engine_b));
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      KASHI_ASSIGN_OR_RETURN(const OutputComparison comparison, CompareOutput(a[i], b[i], {options_.tolerance}));
      if (comparison.statistics.mismatches > 0)
        return InterestAnswer{true, absl::StrCat("out", i, ": ", ToText(comparison))};
    }
    return InterestAnswer{false, "the outputs agree"};
  }

  // The shortest of some runs, after one that does not count.
  absl::StatusOr<double> SecondsOf(const std::string& engine) const {
    using Clock = std::chrono::steady_clock;
    constexpr int kRuns = 7;
    constexpr std::chrono::seconds kEnough(5);
    KASHI_ASSIGN_OR_RETURN(const std::unique_ptr<Program> program, Compile(engine));
    KASHI_RETURN_IF_ERROR(Run(*program).status());
    double shortest = std::numeric_limits<double>::infinity();
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < kRuns && (i == 0 || Clock::now() - begin < kEnough); ++i) {
      const Clock::time_point start = Clock::now();
      KASHI_RETURN_IF_ERROR(Run(*program).status());
      shortest = std::min(shortest, std::chrono::duration<double>(Clock::now() - start).count());
    }
    return shortest;
  }

  absl::StatusOr<InterestAnswer> IsSlower() {
    KASHI_RETURN_IF_ERROR(Prepare());
    KASHI_ASSIGN_OR_RETURN(const double a, SecondsOf(check_.engine_a));
    KASHI_ASSIGN_OR_RETURN(const double b, SecondsOf(check_.engine_b));
    const std::string reason = absl::StrFormat("%s %.3g ms, %s %.3g ms: %.2f times as long", check_.engine_a, a * 1e3,
                                               check_.engine_b, b * 1e3, a / b);
    return InterestAnswer{a >= b * check_.ratio, reason};
  }

  absl::StatusOr<InterestAnswer> Fails() {
    const absl::Status failed = Failure();
    if (failed.ok()) return InterestAnswer{false, "verifying, compiling and running give no error"};
    return InterestAnswer{absl::StrContains(failed.message(), check_.text), std::string(failed.message())};
  }

  // The first error on the way to a result.
  absl::Status Failure() {
    KASHI_RETURN_IF_ERROR(Prepare());
    KASHI_ASSIGN_OR_RETURN(const std::unique_ptr<Program> program, Compile(check_.engine_a));
    return Run(*program).status();
  }

  const InterestCheck& check_;
  const InterestOptions& options_;
  const Interrupt& interrupt_;
  HloModule& module_;
  const WorkMeter meter_{WorkLimitsOf(options_.limits, &interrupt_.flag())};
  Arguments arguments_;
};

}  // namespace

InterestAnswer AnswerHere(const InterestCheck& check, const InterestOptions& options, const Interrupt& interrupt,
                          ModuleFile* file) {
  return Asked(check, options, interrupt, file).Answer();
}

// ---- Answers of other processes -------------------------------------------------------------------------------------

namespace {

// {} everywhere, or an argument at the end.
std::vector<std::string> ShellCommand(const std::string& command, const std::string& file) {
  const std::string quoted = ShellQuoted(file);
  const std::string text = absl::StrContains(command, "{}") ? absl::StrReplaceAll(command, {{"{}", quoted}})
                                                            : absl::StrCat(command, " ", quoted);
  return {"/bin/sh", "-c", text};
}

void AppendCommonOptions(const InterestOptions& options, std::vector<std::string>* arguments) {
  const LimitOptions& limits = options.limits;
  for (const std::string& rule : options.random) arguments->insert(arguments->end(), {"--random", rule});
  arguments->insert(
      arguments->end(),
      {"--seed", absl::StrCat(options.seed), "--max-work", absl::StrCat(limits.max_work), "--max-iterations",
       absl::StrCat(limits.max_iterations), "--timeout", absl::StrCat(options.check_timeout)});
  if (limits.memory_limit > 0)
    arguments->insert(arguments->end(), {"--memory-limit", absl::StrCat(limits.memory_limit)});
}

std::vector<std::string> CommandFor(const InterestCheck& check, const InterestOptions& options,
                                    const std::string& file) {
  if (check.kind == Kind::kCommand) return ShellCommand(check.text, file);
  std::vector<std::string> arguments = {OwnProgram()};
  if (check.kind == Kind::kCrashes) {
    arguments.insert(arguments.end(), {"run", file, "--engine", check.engine_a, "--allow-elided"});
  } else {
    arguments.insert(arguments.end(), {"reduce", file, "--check", options.check, "--once"});
    if (options.tolerance.has_value()) {
      arguments.insert(arguments.end(), {"--tolerance", absl::StrFormat("%.17g", *options.tolerance)});
    }
  }
  AppendCommonOptions(options, &arguments);
  return arguments;
}

bool IsCrash(const ChildEnd& end) {
  constexpr int kCrashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
  return end.kind == ChildEnd::Kind::kSignal && absl::c_linear_search(kCrashes, end.number);
}

}  // namespace

absl::StatusOr<InterestAnswer> AskInChild(const InterestCheck& check, const InterestOptions& options,
                                          const std::string& file, const std::string& output,
                                          const std::atomic<bool>& is_unwanted) {
  ChildOptions child;
  child.arguments = CommandFor(check, options, file);
  child.output = output;
  child.timeout_seconds = options.check_timeout;
  KASHI_ASSIGN_OR_RETURN(const ChildEnd end, RunChild(child, is_unwanted));
  return InterestAnswer{check.kind == Kind::kCrashes ? IsCrash(end) : end.is_success(), end.ToString()};
}

}  // namespace kashi::cli
