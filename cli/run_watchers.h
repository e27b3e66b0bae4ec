// All that looks at a run of `kashi run` while it goes on, by its options: the observers of values, the comparison of
// steps (--check), the times of steps (--profile).
#ifndef KASHI_CLI_RUN_WATCHERS_H_
#define KASHI_CLI_RUN_WATCHERS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/run_findings.h"
#include "cli/run_options.h"
#include "cli/run_watch.h"
#include "kashi/engine/program.h"
#include "kashi/evaluator/evaluation_options.h"
#include "kashi/evaluator/run_hooks.h"
#include "kashi/evaluator/step_checker.h"
#include "kashi/evaluator/step_profile.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::cli {

// Whether the options ask for the values of a run: --trace, --until, --check-nan.
bool WatchesValues(const RunOptions& options);

class RunWatchers {
 public:
  // The observers of values. NOT_FOUND if --until names no instruction; the errors of Tracer::Begin.
  absl::Status Prepare(const RunOptions& options, const HloModule& module);
  // Those that depend on the engine: the progress line, and the times of `devices` devices.
  void PrepareForEngine(const RunOptions& options, const Program& program, const HloModule& module, int64_t devices);

  // Lets a run call them. They must outlive it.
  void AddTo(EvaluationOptions* evaluation, evaluator::RunHooks* hooks);
  // After the run, also one that failed.
  absl::Status Finish();

  const Until* until() const { return until_.get(); }
  evaluator::StepProfile* profile() const { return profile_.get(); }        // null: not measured
  const evaluator::StepChecker* checker() const { return checker_.get(); }  // null: nothing is compared
  RunFindings findings() const { return {nan_check_.get(), checker_.get()}; }

 private:
  absl::Status OnValue(const HloInstruction& instruction, const Value& value);

  std::unique_ptr<Tracer> tracer_;
  std::unique_ptr<Until> until_;
  std::unique_ptr<NanCheck> nan_check_;
  std::unique_ptr<RunProgress> progress_;
  std::vector<Watcher*> watchers_;
  std::unique_ptr<evaluator::StepChecker> checker_;
  std::unique_ptr<evaluator::StepProfile> profile_;
};

}  // namespace kashi::cli

#endif  // KASHI_CLI_RUN_WATCHERS_H_
