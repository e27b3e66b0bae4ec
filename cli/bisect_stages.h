// The stages of one module, run on the same arguments, for `kashi bisect`.
#ifndef KASHI_CLI_BISECT_STAGES_H_
#define KASHI_CLI_BISECT_STAGES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/bisect_options.h"
#include "cli/bisect_search.h"
#include "cli/dump_directory.h"
#include "cli/interrupt.h"
#include "cli/json.h"
#include "cli/module_file.h"
#include "cli/run_inputs.h"
#include "cli/run_outputs.h"
#include "cli/verb.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/hlo/spmd/program_scope.h"
#include "kashi/literal/literal.h"

namespace kashi::cli {

// Limits, interrupt and seed; the numbers that each operation gives by itself (excess_precision is off).
EvaluationOptions EvaluationFor(const BisectOptions& options, const Interrupt& interrupt);

// An output that differs.
struct OutputDifference {
  size_t output = 0;
  Shape shape;
  OutputComparison comparison;
};

class BisectStages {
 public:
  // All must outlive this. `prints_note`: about random arguments, to standard error.
  BisectStages(const DumpedModule& module, const BisectOptions& options, const Interrupt& interrupt, bool prints_note,
               Answers* answers)
      : module_(module),
        options_(options),
        interrupt_(interrupt),
        prints_note_(prints_note),
        answers_(*answers),
        outcomes_(module.stages.size()) {}

  // Chooses the stages to run, and runs the first one that can be run: the reference, with which the others are
  // compared. An error if there is none, or if a limit is exceeded.
  absl::Status Prepare();

  // The stages whose files differ from the file before. The first is the reference.
  const std::vector<size_t>& stages() const { return stages_; }
  const DumpedStage& stage(size_t i) const { return module_.stages[i]; }

  // Runs a stage and compares its outputs. Errors: a limit is exceeded, or the user has interrupted.
  absl::StatusOr<Verdict> Judge(size_t stage);
  int64_t ran() const { return ran_; }

  // Why a stage was skipped; "" if it was not. Of those that were asked for.
  const std::string& WhySkipped(size_t stage) const { return outcomes_[stage].why_skipped; }
  // The outputs of a stage that differ, the first first.
  const std::vector<OutputDifference>& DifferencesOf(size_t stage) const { return outcomes_[stage].differences; }
  // The outputs that are random, and so not compared, and those of the reference that are NaN everywhere.
  const std::vector<std::string>& notes() const { return notes_; }
  const Json& inputs() const { return inputs_; }

  // The module of a stage; nullopt after an error, which is added to the answers. With the values of constants, if a
  // file has them.
  std::optional<ModuleFile> Read(size_t stage);
  // The arguments of a stage.
  absl::StatusOr<Arguments> ArgumentsOf(const HloModule& module) const;
  const std::vector<Literal>& expected() const { return expected_; }
  // Whether stages are compared by way of their shards: such instructions are not compared one by one.
  bool is_partitioned() const { return scope_.is_global(); }

 private:
  struct Outcome {
    std::string why_skipped;
    std::vector<OutputDifference> differences;
  };

  void ChooseStages();
  absl::StatusOr<bool> TryReference(size_t stage);
  absl::StatusOr<std::vector<Literal>> Run(const HloModule& module, const Arguments& arguments);
  // FAILED_PRECONDITION: why the stage is skipped.
  absl::Status Compare(const HloModule& module, Outcome* outcome);
  absl::Status ComparePartitioned(const HloModule& module, Outcome* outcome);
  // Whether an error is about this stage only, so that it is skipped.
  bool IsAboutStage(const absl::Status& status) const;
  Tolerance tolerance() const { return Tolerance{options_.tolerance, /*allow_nan=*/true}; }

  const DumpedModule& module_;
  const BisectOptions& options_;
  const Interrupt& interrupt_;
  const bool prints_note_;
  Answers& answers_;
  const WorkMeter meter_{WorkLimitsOf(options_.limits, &interrupt_.flag())};
  std::vector<size_t> stages_;
  std::optional<ModuleFile> reference_;
  ProgramScope scope_;  // of the reference
  Arguments arguments_;
  std::vector<Literal> expected_;
  std::vector<bool> is_random_;  // the outputs of the reference
  std::vector<Outcome> outcomes_;
  std::vector<std::string> notes_;
  Json inputs_;
  int64_t ran_ = 0;
};

}  // namespace kashi::cli

#endif  // KASHI_CLI_BISECT_STAGES_H_
