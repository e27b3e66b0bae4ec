#include "cli/run_watchers.h"

#include <algorithm>
#include <limits>

#include "cli/progress.h"
#include "cli/run_outputs.h"
#include "cli/run_profile.h"
#include "kashi/base/status.h"

namespace kashi::cli {

bool WatchesValues(const RunOptions& options) {
  return !options.trace.empty() || !options.until.empty() || options.check_nan;
}

absl::Status RunWatchers::Prepare(const RunOptions& options, const HloModule& module) {
  if (!options.trace.empty()) {
    const uint64_t limit = std::min<uint64_t>(options.trace_limit, std::numeric_limits<int64_t>::max());
    tracer_ = std::make_unique<Tracer>(options.trace, static_cast<int64_t>(limit));
    KASHI_RETURN_IF_ERROR(tracer_->Begin());
    watchers_.push_back(tracer_.get());
  }
  if (!options.until.empty()) {
    KASHI_ASSIGN_OR_RETURN(const HloInstruction* instruction, FindInstruction(module, options.until));
    until_ = std::make_unique<Until>(instruction);
    watchers_.push_back(until_.get());
  }
  if (options.check_nan) {
    nan_check_ = std::make_unique<NanCheck>();
    watchers_.push_back(nan_check_.get());
  }
  if (options.check) checker_ = MakeStepChecker(Tolerance{options.tolerance});
  return absl::OkStatus();
}

// The progress line is of the evaluator, by instruction: compiled steps are short. Several runs have none: they are
// measured.
void RunWatchers::PrepareForEngine(const RunOptions& options, const Program& program, const HloModule& module,
                                   int64_t devices) {
  if (options.repeat == 1 && program.engine() == "evaluator" && Progress::IsShown()) {
    progress_ = std::make_unique<RunProgress>(module, devices, "");
    watchers_.push_back(progress_.get());
  }
  if (options.profile || !options.profile_trace.empty()) {
    const int64_t events = options.profile_trace.empty() ? 0 : kMostTraceEvents;
    profile_ = std::make_unique<evaluator::StepProfile>(events / devices);
  }
}

void RunWatchers::AddTo(EvaluationOptions* evaluation, evaluator::RunHooks* hooks) {
  hooks->checker = checker_.get();
  hooks->profile = profile_.get();
  if (watchers_.empty()) return;
  evaluation->observer = [this](const HloInstruction& instruction, const Value& value) {
    return OnValue(instruction, value);
  };
}

absl::Status RunWatchers::OnValue(const HloInstruction& instruction, const Value& value) {
  for (Watcher* watcher : watchers_) KASHI_RETURN_IF_ERROR(watcher->OnValue(instruction, value));
  return absl::OkStatus();
}

absl::Status RunWatchers::Finish() {
  progress_.reset();
  return tracer_ == nullptr ? absl::OkStatus() : tracer_->Finish();
}

}  // namespace kashi::cli
