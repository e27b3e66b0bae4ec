// `kashi run`: a program on values.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/collective_profile.h"
#include "cli/compile_program.h"
#include "cli/custom_call_command.h"
#include "cli/global_program.h"
#include "cli/hard_stop.h"
#include "cli/interrupt.h"
#include "cli/limits.h"
#include "cli/module_check.h"
#include "cli/module_file.h"
#include "cli/partition_module.h"
#include "cli/program_inputs.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/run_expected.h"
#include "cli/run_findings.h"
#include "cli/run_inputs.h"
#include "cli/run_options.h"
#include "cli/run_outputs.h"
#include "cli/run_profile.h"
#include "cli/run_times.h"
#include "cli/run_watchers.h"
#include "cli/scope_note.h"
#include "cli/verb.h"
#include "kashi/array/layout_util.h"
#include "kashi/base/machine.h"
#include "kashi/base/status.h"
#include "kashi/devices/device_fabric.h"
#include "kashi/engine/program_door.h"
#include "kashi/evaluator/device_group.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/step_profile.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/spmd/program_shards.h"

namespace kashi::cli {

using base::DefaultMemoryLimit;
using base::PeakMemoryBytes;
using engine::ProgramDoor;
using evaluator::EvaluationRun;
namespace {

using Clock = std::chrono::steady_clock;

// ---- One program ----------------------------------------------------------------------------------------------------

class ProgramRun {
 public:
  ProgramRun(const RunOptions& options, HardStop& hard_stop, ModuleFile file, Answers* answers)
      : options_(options), answers_(*answers), hard_stop_(hard_stop), file_(std::move(file)) {}
  // Runs it and adds its answer.
  void Run();

 private:
  absl::Status Prepare();
  absl::Status PrepareEngine();
  // The options and hooks of a run.
  std::pair<EvaluationOptions, evaluator::RunHooks> Setup();

  // Each returns one result per device.
  absl::StatusOr<std::vector<Literal>> Execute();
  void BeginRun(int i, ItemProgress* progress);
  absl::StatusOr<std::vector<Literal>> ExecuteOnDevices();
  absl::StatusOr<std::vector<Literal>> ExecuteAlone();
  absl::StatusOr<Literal> ResultOf(const absl::StatusOr<Value>& value) const;

  void FailRun(const absl::Status& status);
  std::string OutputDirectory(size_t device) const;
  absl::Status ShowDevice(size_t device, std::vector<Literal> outputs, std::string* text);
  absl::Status ShowDevices(std::vector<Literal> results);
  absl::Status ShowProfile();
  void Show(std::vector<Literal> results);
  int64_t device_count() const { return static_cast<int64_t>(inputs_.arguments.size()); }
  // Whether each device has its own arguments, and whether it has its own outputs.
  bool has_devices() const {
    return !inputs_.scope.is_global() && (device_count() > 1 || !options_.devices_dir.empty());
  }
  bool splits_outputs() const {
    return inputs_.scope.is_global() && (options_.split_outputs || !options_.expect_devices.empty());
  }
  // A partitioned program has the outputs of the global one, unless they are to be split.
  bool joins_outputs() const {
    return inputs_.whole_result.has_value() && !options_.split_outputs && options_.expect_devices.empty();
  }
  // Whether each rank writes and compares the outputs of its own devices, and rank 0 prints their reports.
  bool ranks_write() const { return fabric_ != nullptr && options_.split_outputs && has_devices() && !options_.json; }
  bool shows_devices() const { return (has_devices() || splits_outputs()) && !joins_outputs(); }

  const RunOptions& options_;
  Answers& answers_;
  HardStop& hard_stop_;
  const Interrupt& interrupt_ = hard_stop_.interrupt();
  devices::DeviceFabric* fabric_ = nullptr;  // of several ranks
  ModuleFile file_;
  ProgramInputs inputs_;
  RunWatchers watchers_;
  std::unique_ptr<Program> program_;
  std::vector<CollectiveRow> collectives_;  // measured, of several devices
  ProgramTimes times_;
  bool makes_output_dir_ = false;
  Json json_;
};

absl::Status ProgramRun::PrepareEngine() {
  const Clock::time_point begin = Clock::now();
  const CompileOptions compile =
      CompileOptionsOf(options_, device_count(), WorkLimitsOf(options_.limits, &interrupt_.flag()));
  KASHI_ASSIGN_OR_RETURN(program_, CompileProgram(*file_.module, compile, options_.dump_dir));
  times_.compile_ms += MillisecondsSince(begin);
  json_["engine"] = std::string(program_->engine());
  if (const ObjectUse use = program_->object_use(); use.is_cached) {
    json_["objects"] = use.objects;
    json_["objects_known"] = use.known;
  }
  return absl::OkStatus();
}

std::pair<EvaluationOptions, evaluator::RunHooks> ProgramRun::Setup() {
  EvaluationOptions evaluation;
  ApplyLimits(options_.limits, &evaluation);
  evaluation.seed = options_.seed;
  if (inputs_.scope.is_global()) evaluation.global_devices = inputs_.scope.partitions;
  evaluation.cancelled = &interrupt_.flag();
  if (fabric_ != nullptr && options_.limits.memory_limit == 0) {
    evaluation.memory_limit_bytes = DefaultMemoryLimit() / TheRanks()->ranks_of_machine();
  }
  evaluator::RunHooks hooks;
  hooks.fabric = fabric_;
  watchers_.AddTo(&evaluation, &hooks);
  return {std::move(evaluation), hooks};
}

absl::StatusOr<Literal> ProgramRun::ResultOf(const absl::StatusOr<Value>& value) const {
  const bool is_reached = watchers_.until() != nullptr && !watchers_.until()->value().is_nothing();
  if (!is_reached) {
    KASHI_RETURN_IF_ERROR(value.status());
    if (watchers_.until() != nullptr) {
      return NotFound("the run never reached %s in %s", watchers_.until()->instruction().name(),
                      watchers_.until()->instruction().parent()->name());
    }
  }
  Shape shape = is_reached ? watchers_.until()->instruction().shape() : file_.module->result_shape();
  LayoutUtil::SetToDefaultLayout(&shape);
  return (is_reached ? watchers_.until()->value() : *value).ToLiteral(shape);
}

// Several runs are measured without the first.
void ProgramRun::BeginRun(int i, ItemProgress* progress) {
  progress->Next();
  if (i == 1 && watchers_.profile() != nullptr) watchers_.profile()->Clear();
}

absl::StatusOr<std::vector<Literal>> ProgramRun::ExecuteAlone() {
  auto [evaluation, hooks] = Setup();
  const std::unique_ptr<EvaluationRun> run = ProgramDoor::NewRun(*program_, std::move(evaluation), hooks);
  KASHI_RETURN_IF_ERROR(run->CheckAffordable(*file_.module->entry_computation()));
  std::vector<Value> arguments;
  for (Literal& literal : inputs_.arguments[0]) {
    const auto owner = std::make_shared<const Literal>(std::move(literal));
    KASHI_ASSIGN_OR_RETURN(Value value, Value::FromLiteral(*owner, run->budget(), owner));
    arguments.push_back(std::move(value));
  }
  absl::StatusOr<Value> first;
  ItemProgress progress("run", options_.repeat);
  for (int i = 0; i < options_.repeat; ++i) {
    if (i > 0 && !run->CheckStopped().ok()) break;  // a small program does not check the deadline itself
    BeginRun(i, &progress);
    const Clock::time_point begin = Clock::now();
    absl::StatusOr<Value> value = ProgramDoor::Call(*program_, *run, arguments);
    times_.run_ms.push_back(MillisecondsSince(begin));
    const bool failed = !value.ok();
    if (i == 0) first = std::move(value);
    if (failed) break;
  }
  KASHI_ASSIGN_OR_RETURN(Literal result, ResultOf(first));
  if (splits_outputs()) return SplitResult(*file_.module, inputs_.scope, result);
  std::vector<Literal> results;
  results.push_back(std::move(result));
  return results;
}

absl::StatusOr<std::vector<Literal>> ProgramRun::ExecuteOnDevices() {
  absl::StatusOr<std::vector<Literal>> first;
  ItemProgress progress("run", options_.repeat);
  for (int i = 0; i < options_.repeat; ++i) {
    BeginRun(i, &progress);
    std::vector<Arguments> arguments(inputs_.arguments.size());
    for (size_t device = 0; device < inputs_.arguments.size(); ++device) {
      for (const Literal& literal : inputs_.arguments[device]) arguments[device].push_back(literal.Clone());
    }
    auto [evaluation, hooks] = Setup();
    const Clock::time_point begin = Clock::now();
    absl::StatusOr<std::vector<Literal>> results =
        ProgramDoor::ExecuteOnDevices(*program_, std::move(arguments), std::move(evaluation), hooks);
    times_.run_ms.push_back(MillisecondsSince(begin));
    const bool failed = !results.ok();
    if (i == 0 || failed) first = std::move(results);
    if (failed) break;
  }
  if (!first.ok()) return first;
  if (watchers_.profile() != nullptr) {
    KASHI_ASSIGN_OR_RETURN(const DeviceCounts counts, DeviceCountsOf(*file_.module));
    const DeviceCounts of_run = counts.total() > 1 ? counts : DeviceCounts{device_count(), 1};
    KASHI_ASSIGN_OR_RETURN(collectives_, ProfileCollectives(program_->module(), of_run, *watchers_.profile(),
                                                            std::max(1, options_.repeat - 1)));
  }
  if (ranks_write()) return first;
  if (fabric_ != nullptr) {
    const Shape& shape = program_->module().entry_computation()->root_instruction()->shape();
    KASHI_RETURN_IF_ERROR(TheRanks()->GatherResults(shape, &*first));
  }
  if (!joins_outputs() || IsSilentRank()) return first;
  std::vector<Literal> joined(1);
  KASHI_ASSIGN_OR_RETURN(joined[0], JoinResults(*file_.module, *std::move(first), *inputs_.whole_result));
  return joined;
}

absl::StatusOr<std::vector<Literal>> ProgramRun::Execute() {
  // A program of one device is rank 0's.
  if (!has_devices() && IsSilentRank()) return std::vector<Literal>();
  absl::StatusOr<std::vector<Literal>> results = has_devices() ? ExecuteOnDevices() : ExecuteAlone();
  times_.peak_rss_bytes = PeakMemoryBytes();
  KASHI_RETURN_IF_ERROR(watchers_.Finish());
  return results;
}

// ---- What it gave ---------------------------------------------------------------------------------------------------

void ProgramRun::FailRun(const absl::Status& status) {
  if (makes_output_dir_) {
    std::error_code has_outputs;
    std::filesystem::remove(options_.output_dir, has_outputs);  // only if it is empty
  }
  if (interrupt_.flag().load()) return;
  if (IsSilentRank()) return answers_.SetBad();  // rank 0 has the same error, which names the rank
  const std::optional<RunFinding> finding = FindingOf(watchers_.findings(), file_.name);
  if (!finding.has_value()) {
    const absl::Status named = NameLimitOption(status);
    return AddModuleError(
        file_, file_.part.empty() ? named : WithMessage(named, absl::StrCat(file_.part, ": ", named.message())),
        &answers_);
  }
  answers_.SetBad();
  options_.json ? answers_.AddLine(finding->json) : answers_.Add(finding->text);
}

std::string ProgramRun::OutputDirectory(size_t device) const {
  if (!shows_devices()) return options_.output_dir;
  return (std::filesystem::path(options_.output_dir) / absl::StrCat("dev", device)).string();
}

absl::Status ProgramRun::ShowDevice(size_t device, std::vector<Literal> outputs, std::string* text) {
  if (!options_.output_dir.empty()) {
    KASHI_RETURN_IF_ERROR(WriteOutputs(OutputDirectory(device), outputs, interrupt_.flag()));
  }
  KASHI_ASSIGN_OR_RETURN(const std::vector<std::optional<OutputComparison>> comparisons,
                         CompareWithExpected(options_, inputs_.snapshot_result, device, outputs));
  Json list = Json::array();
  if (shows_devices()) absl::StrAppend(text, "dev", device, "\n");
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (comparisons[i].has_value() && !comparisons[i]->agrees) answers_.SetBad();
    if (options_.json) {
      list.push_back(OutputJson(outputs[i], comparisons[i]));
    } else {
      absl::StrAppend(text, OutputText(static_cast<int64_t>(i), outputs[i], comparisons[i]));
    }
  }
  if (shows_devices()) {
    json_["devices"].push_back({{"outputs", std::move(list)}});
  } else {
    json_["outputs"] = std::move(list);
  }
  return absl::OkStatus();
}

absl::Status ProgramRun::ShowDevices(std::vector<Literal> results) {
  std::string own;
  absl::Status shown;
  for (size_t device = 0; device < results.size() && shown.ok(); ++device) {
    if (ranks_write() && !fabric_->Runs(static_cast<int64_t>(device), {1, static_cast<int64_t>(results.size())}))
      continue;
    shown = ShowDevice(device, FlattenResult(std::move(results[device])), &own);
  }
  std::vector<std::string> texts = {std::move(own)};
  if (ranks_write()) {
    KASHI_RETURN_IF_ERROR(TheRanks()->Agree(shown));
    KASHI_ASSIGN_OR_RETURN(texts, TheRanks()->GatherTexts(texts[0]));
  }
  for (const std::string& text : texts) {
    if (!options_.json && !IsSilentRank()) answers_.Add(text);
  }
  return shown;
}

absl::Status ProgramRun::ShowProfile() {
  if (watchers_.profile() == nullptr) return absl::OkStatus();
  KASHI_ASSIGN_OR_RETURN(ProfileReport report,
                         MakeProfileReport(*program_, watchers_.profile()->Times(), times_.run_ms.size()));
  if (!options_.profile_trace.empty()) {
    WarnOfLostEvents(*watchers_.profile());
    KASHI_RETURN_IF_ERROR(WriteOutput(options_.profile_trace, ProfileTrace(*watchers_.profile(), report)));
  }
  if (!options_.profile) return absl::OkStatus();
  report.peaks = MeasureMachinePeaks();
  std::optional<BreakdownTable> table;
  if (options_.breakdown.by.has_value()) {
    KASHI_ASSIGN_OR_RETURN(table, ProfileBreakdown(*program_, report, options_.breakdown));
    KASHI_RETURN_IF_ERROR(table->WriteFlame(program_->module().name()));
  }
  if (options_.json) {
    json_["profile"] = ProfileJson(report);
    if (table.has_value()) {
      json_["profile"]["by"] = table->grouping_name();
      json_["profile"]["rows"] = table->ToJson();
    }
    if (has_devices()) json_["profile"]["collectives"] = CollectivesJson(collectives_);
  } else {
    answers_.Add(table.has_value() ? ProfileByText(report, *table, options_.top) : ProfileText(report, options_.top));
    answers_.Add(CollectivesText(collectives_, options_.top));
  }
  return absl::OkStatus();
}

void ProgramRun::Show(std::vector<Literal> results) {
  if (Json scope = ScopeJson(inputs_.scope); !scope.is_null()) json_["program"] = std::move(scope);
  AddTo(times_, &json_);
  if (!options_.json && !file_.part.empty() && !IsSilentRank()) answers_.Add(absl::StrCat(file_.part, "\n"));
  if (const absl::Status shown = ShowDevices(std::move(results)); !shown.ok()) return FailRun(shown);
  if (IsSilentRank()) return;
  if (!options_.json && options_.repeat > 1) answers_.Add(ToText(times_));
  if (watchers_.checker() != nullptr) json_["compared_steps"] = watchers_.checker()->compared_steps();
  if (!options_.json) answers_.Add(NoFindingText(watchers_.findings()));
  if (const absl::Status shown = ShowProfile(); !shown.ok()) return FailRun(shown);
  if (options_.json) answers_.AddLine(json_);
}

absl::Status ProgramRun::Prepare() {
  json_["file"] = file_.name;
  if (!file_.part.empty()) json_["part"] = file_.part;
  json_["engine"] = Json();  // known later; this is its place
  KASHI_ASSIGN_OR_RETURN(inputs_, ChooseProgramInputs(options_, interrupt_, fabric_, &file_, &json_));
  if (!options_.output_dir.empty() && !IsSilentRank()) {
    std::error_code unknown;
    makes_output_dir_ = !std::filesystem::exists(options_.output_dir, unknown) && !unknown;
    KASHI_RETURN_IF_ERROR(MakeDirectory(options_.output_dir));  // before a long run, not after it
  }
  if (has_devices() && WatchesValues(options_)) {
    return InvalidArgument("--trace, --until and --check-nan need a program for one device; this one is for %d",
                           device_count());
  }
  KASHI_RETURN_IF_ERROR(watchers_.Prepare(options_, *file_.module));
  KASHI_RETURN_IF_ERROR(PrepareEngine());
  watchers_.PrepareForEngine(options_, *program_, *file_.module, std::max<int64_t>(1, device_count()));
  return absl::OkStatus();
}

void ProgramRun::Run() {
  if (TheRanks() != nullptr) fabric_ = TheRanks()->Fabric(options_.deterministic);
  const Clock::time_point begin = Clock::now();
  if (!CheckModule(file_, &answers_)) return;
  times_.compile_ms = MillisecondsSince(begin);
  absl::Status prepared = Prepare();
  // All ranks begin, or none.
  if (TheRanks() != nullptr) prepared = TheRanks()->Agree(prepared);
  if (!prepared.ok()) return FailRun(prepared);
  absl::StatusOr<std::vector<Literal>> results = Execute();
  hard_stop_.End();
  if (!results.ok()) return FailRun(results.status());
  if (!IsSilentRank() || ranks_write()) Show(*std::move(results));
}

int RunPrograms(const RunOptions& options) {
  if (const std::string error = RunUsageError(options); !error.empty()) return FailUsage(error);
  for (const std::string& custom_call : options.custom_calls) {
    if (const absl::Status made = RegisterCustomCallCommand(custom_call); !made.ok()) return FailUsage(made.message());
  }
  Answers answers(options.output, options.json);
  const Interrupt interrupt;
  HardStop hard_stop(options.limits, interrupt);
  const std::vector<std::string> paths = ExpandModulePaths({options.file}, &answers);
  if (paths.size() > 1) {
    answers.AddFileError(options.file, InvalidArgument("%s has %s: give the one to run", options.file,
                                                       Count(static_cast<int64_t>(paths.size()), "module")));
  }
  if (paths.size() != 1) return answers.Finish();
  ItemProgress progress("module", 1);
  progress.Next(paths.front());
  PartOptions parts = options.parts;
  parts.as_tests = !IsAboutOneProgram(options);
  ForEachProgram(paths.front(), {options.strict, options.inputs}, parts, &answers, [&](ModuleFile file) {
    ProgramRun(options, hard_stop, std::move(file), &answers).Run();
    return !interrupt.flag().load();
  });
  return interrupt.flag().load() ? PrintInterrupted() : answers.Finish();
}

}  // namespace

void AddRunVerb(Command* command) {
  auto options = std::make_shared<RunOptions>();
  Verb* verb = command->AddVerb("run", RunHelp(), [options] { return RunPrograms(*options); });
  AddRunOptions(verb, options.get());
}

}  // namespace kashi::cli
