#include "cli/bisect_stages.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/elided_constants.h"
#include "cli/global_program.h"
#include "cli/module_check.h"
#include "cli/program_run.h"
#include "cli/progress.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/evaluator/device_group.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::cli {
namespace {

bool HaveEqualBytes(const DumpFile& a, const DumpFile& b) {
  if (a.bytes != b.bytes || std::filesystem::path(a.path).extension() != std::filesystem::path(b.path).extension()) {
    return false;
  }
  const absl::StatusOr<std::string> of_a = ReadFile(a.path);
  const absl::StatusOr<std::string> of_b = ReadFile(b.path);
  return of_a.ok() && of_b.ok() && *of_a == *of_b;
}

bool IsForSeveralDevices(const HloModule& module) {
  const absl::StatusOr<DeviceCounts> counts = DeviceCountsOf(module);
  return !counts.ok() || counts->total() > 1;
}

}  // namespace

EvaluationOptions EvaluationFor(const BisectOptions& options, const Interrupt& interrupt) {
  EvaluationOptions evaluation;
  ApplyLimits(options.limits, &evaluation);
  evaluation.cancelled = &interrupt.flag();
  evaluation.seed = options.seed;
  evaluation.excess_precision = false;
  return evaluation;
}

bool BisectStages::IsAboutStage(const absl::Status& status) const {
  return LimitKindOf(status) == LimitKind::kNone && !absl::IsCancelled(status) && !interrupt_.flag().load();
}

// XLA writes the module also where a pipeline begins, and some passes write what they have not changed.
void BisectStages::ChooseStages() {
  for (size_t i = 0; i < module_.stages.size(); ++i) {
    const bool is_new =
        stages_.empty() || !HaveEqualBytes(module_.stages[i - 1].files.front(), module_.stages[i].files.front());
    if (is_new) stages_.push_back(i);
  }
}

std::optional<ModuleFile> BisectStages::Read(size_t stage) {
  std::optional<ModuleFile> file = ReadModuleFile(PathToRun(module_.stages[stage]), {}, &answers_);
  if (file.has_value() && !CheckModule(*file, &answers_)) return std::nullopt;
  return file;
}

absl::StatusOr<Arguments> BisectStages::ArgumentsOf(const HloModule& module) const {
  return ArgumentsFor(module, *reference_->module, arguments_);
}

absl::StatusOr<std::vector<Literal>> BisectStages::Run(const HloModule& module, const Arguments& arguments) {
  ++ran_;
  EvaluationOptions evaluation = EvaluationFor(options_, interrupt_);
  if (scope_.is_global()) evaluation.global_devices = scope_.partitions;
  return RunOn(module, arguments, options_.engine, std::move(evaluation));
}

// Whether the stage runs, so that it is the reference.
absl::StatusOr<bool> BisectStages::TryReference(size_t stage) {
  std::string& why = outcomes_[stage].why_skipped;
  reference_ = Read(stage);
  if (!reference_.has_value()) return why = "it cannot be read", false;
  const HloModule& module = *reference_->module;
  if (const auto elided = ElidedNames(module); !elided.empty()) return why = ElidedText(elided), false;
  scope_ = ProgramScopeOf(module);
  if (!scope_.is_global() && IsForSeveralDevices(module)) {
    return why = "it is the program of one of several devices, before which there is none of all of them", false;
  }
  const RandomOptions random = {options_.random, options_.seed, options_.limits.memory_limit, &meter_, prints_note_};
  KASHI_ASSIGN_OR_RETURN(ChosenArguments chosen, ChooseArguments(*reference_, options_.inputs, random));
  absl::StatusOr<std::vector<Literal>> outputs = Run(module, chosen.arguments);
  if (!outputs.ok() && IsAboutStage(outputs.status())) return why = std::string(outputs.status().message()), false;
  if (!outputs.ok()) return outputs.status();
  arguments_ = std::move(chosen.arguments);
  inputs_ = std::move(chosen.made_up);
  expected_ = *std::move(outputs);
  return true;
}

absl::Status BisectStages::Prepare() {
  ChooseStages();
  size_t chosen = 0;
  for (; chosen < stages_.size(); ++chosen) {
    KASHI_ASSIGN_OR_RETURN(const bool runs, TryReference(stages_[chosen]));
    if (runs) break;
  }
  if (chosen == stages_.size()) {
    const std::string why = stages_.empty() ? "it has none" : WhySkipped(stages_.front());
    return FailedPrecondition("%s: no stage of it can be run; the first one: %s", module_.name, why);
  }
  stages_.erase(stages_.begin(), stages_.begin() + static_cast<std::ptrdiff_t>(chosen));
  is_random_ = OutputsThatAreRandom(*reference_->module);
  for (size_t i = 0; i < expected_.size(); ++i) {
    if (i < is_random_.size() && is_random_[i]) {
      notes_.push_back(absl::StrCat("out", i, " depends on random numbers and is not compared"));
      continue;
    }
    const absl::StatusOr<OutputComparison> itself = CompareOutput(expected_[i], expected_[i], Tolerance());
    if (itself.ok() && itself->statistics.is_all_nan()) {
      notes_.push_back(absl::StrCat("out", i, " is NaN everywhere, so its values say nothing"));
    }
  }
  return absl::OkStatus();
}

absl::Status BisectStages::ComparePartitioned(const HloModule& module, Outcome* outcome) {
  const HloModule* running = nullptr;
  ++ran_;
  KASHI_ASSIGN_OR_RETURN(const std::vector<PartitionedOutput> outputs,
                         CompareWithPartitioned(*reference_->module, scope_, module, arguments_, tolerance(),
                                                EvaluationFor(options_, interrupt_), &running));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const bool is_random = i < is_random_.size() && is_random_[i];
    if (outputs[i].comparison.statistics.mismatches == 0 || is_random) continue;
    outcome->differences.push_back({i, outputs[i].shape, outputs[i].comparison});
  }
  return absl::OkStatus();
}

absl::Status BisectStages::Compare(const HloModule& module, Outcome* outcome) {
  if (const auto elided = ElidedNames(module); !elided.empty()) return FailedPrecondition("%s", ElidedText(elided));
  const ProgramScope scope = ProgramScopeOf(module);
  if (scope_.is_global() && !scope.is_global()) return ComparePartitioned(module, outcome);
  if (scope_.is_global() != scope.is_global() || (!scope.is_global() && IsForSeveralDevices(module))) {
    return FailedPrecondition("it is for other devices than the program at the beginning");
  }
  KASHI_ASSIGN_OR_RETURN(const Arguments arguments, ArgumentsOf(module));
  KASHI_ASSIGN_OR_RETURN(const std::vector<Literal> outputs, Run(module, arguments));
  if (outputs.size() != expected_.size()) {
    return FailedPrecondition("it has %s, the program at the beginning %s",
                              Count(static_cast<int64_t>(outputs.size()), "output"), absl::StrCat(expected_.size()));
  }
  const std::vector<bool> is_random = OutputsThatAreRandom(module);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if ((i < is_random_.size() && is_random_[i]) || (i < is_random.size() && is_random[i])) continue;
    KASHI_ASSIGN_OR_RETURN(OutputComparison comparison, CompareForms(expected_[i], outputs[i], tolerance()));
    if (comparison.statistics.mismatches > 0) {
      outcome->differences.push_back({i, expected_[i].shape(), std::move(comparison)});
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Verdict> BisectStages::Judge(size_t stage) {
  Outcome& outcome = outcomes_[stage];
  const std::optional<ModuleFile> file = Read(stage);
  absl::Status status = file.has_value() ? Compare(*file->module, &outcome) : FailedPrecondition("it cannot be read");
  if (!status.ok() && !IsAboutStage(status)) return status;
  if (!status.ok()) {
    outcome.why_skipped = std::string(status.message());
    return Verdict::kSkipped;
  }
  return outcome.differences.empty() ? Verdict::kAgrees : Verdict::kDiffers;
}

}  // namespace kashi::cli
