// `kashi diff` of two modules: structure, outputs, values.
#ifndef KASHI_CLI_DIFF_PAIR_H_
#define KASHI_CLI_DIFF_PAIR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/diff_partitioned.h"
#include "cli/diff_values.h"
#include "cli/interrupt.h"
#include "cli/json.h"
#include "cli/limits.h"
#include "cli/module_file.h"
#include "cli/run_findings.h"
#include "cli/run_inputs.h"
#include "cli/run_outputs.h"
#include "cli/verb.h"
#include "kashi/base/work_meter.h"
#include "kashi/engine/program.h"
#include "kashi/hlo/spmd/program_scope.h"
#include "kashi/literal/literal.h"
#include "kashi/matching/module_diff.h"

namespace kashi::cli {

struct DiffOptions {
  std::string a;
  std::string b;
  // Of a dump directory A: the stages to compare (FindStage); "": A and B are compared.
  std::string from;
  std::string to;
  std::string output;
  std::vector<std::string> inputs;
  std::vector<std::string> random;
  uint64_t seed = 42;
  std::string engine_a = "evaluator";
  std::string engine_b = "evaluator";
  LimitOptions limits;
  std::optional<double> tolerance;
  bool allow_nan = false;
  bool allow_elided = false;
  bool no_run = false;
  bool ignore_layouts = false;
  bool all = false;
  bool details = false;
  bool json = false;
};

class PairDiff {
 public:
  // The options and the interrupt must outlive this. `prints_notes`: about the choice of arguments, to standard error.
  PairDiff(const DiffOptions& options, const Interrupt& interrupt, bool prints_notes)
      : options_(options), interrupt_(interrupt), prints_notes_(prints_notes) {}

  // Reads, checks and compares. False if a module is bad (`answers` has received the errors), or a program does not
  // run:
  // `error`, and which one.
  bool Compare(const std::string& a, const std::string& b, Answers* answers);

  // Something differs, or could not be compared.
  bool differs() const { return differs_; }
  const absl::Status& error() const { return error_; }
  const ModuleFile& failed() const { return *failed_; }
  const std::string& text() const { return text_; }
  const Json& json() const { return json_; }
  // "3 differences, outputs agree".
  std::string Summary() const;

 private:
  bool Read(const std::string& a, const std::string& b, Answers* answers);
  // The reason why the programs are not run; "" if they are.
  std::string WhyNotRun(bool is_partitioned, bool is_elided) const;
  void CompareStructure();
  // The reason why the programs cannot be run with the same arguments; "" if they can.
  std::string WhyNotComparable() const;
  std::string ElidedInEither() const;
  absl::Status CompareRuns();
  // For a global and a partitioned program, whose structures have nothing in common.
  absl::Status ComparePartitioned(const PartitionedPair& pair);
  const std::string& EngineOf(const ModuleFile& file) const {
    return &file == &*a_ ? options_.engine_a : options_.engine_b;
  }
  // Whether both engines show the value of each instruction.
  bool SeesValues() const { return options_.engine_a == "evaluator" && options_.engine_b == "evaluator"; }
  const ProgramScope& ScopeOf(const ModuleFile& file) const { return &file == &*a_ ? scope_a_ : scope_b_; }
  absl::StatusOr<std::vector<Literal>> RunModule(
      const ModuleFile& file, const std::vector<Value>& arguments,
      const std::function<absl::Status(const HloInstruction&, const Value&)>& see,
      evaluator::StepChecker* checker = nullptr);
  // For engines that do not show the value of each instruction: finds the step that the engine cpu computes differently
  // from the evaluator.
  absl::Status CompareSteps(const std::vector<Value>& arguments);
  RandomOptions RandomArguments() const {
    return {options_.random, options_.seed, options_.limits.memory_limit, &meter_, prints_notes_};
  }
  absl::StatusOr<std::vector<Value>> MakeArguments();
  void ShowOutputs(const std::vector<Literal>& a, const std::vector<Literal>& b);
  void ShowFirst(const ValueComparer& comparer);
  void ShowDisagreement(const ValueComparer::Disagreement& first);
  void ShowAgreement(const ValueComparer& comparer);

  const DiffOptions& options_;
  const Interrupt& interrupt_;
  const bool prints_notes_;
  const WorkMeter meter_{WorkLimitsOf(options_.limits, &interrupt_.flag())};  // of what is done before a run
  std::optional<ModuleFile> a_;
  std::optional<ModuleFile> b_;
  std::unique_ptr<Program> program_;  // of the last run: what it found may name the instructions of its module
  ProgramScope scope_a_;
  ProgramScope scope_b_;
  matching::ModuleDiff diff_;
  std::string text_;
  Json json_;
  bool differs_ = false;
  std::string not_run_;  // why
  std::optional<bool> outputs_agree_;
  absl::Status error_;
  const ModuleFile* failed_ = nullptr;  // which one the error is of
};

}  // namespace kashi::cli

#endif  // KASHI_CLI_DIFF_PAIR_H_
