// `kashi run`: a program on values.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/collective_profile.h"
#include "cli/compile_program.h"
#include "cli/custom_call_command.h"
#include "cli/elided_constants.h"
#include "cli/global_program.h"
#include "cli/hard_stop.h"
#include "cli/interrupt.h"
#include "cli/limits.h"
#include "cli/module_check.h"
#include "cli/module_file.h"
#include "cli/partition_module.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/run_expected.h"
#include "cli/run_findings.h"
#include "cli/run_inputs.h"
#include "cli/run_options.h"
#include "cli/run_outputs.h"
#include "cli/run_profile.h"
#include "cli/run_times.h"
#include "cli/run_watch.h"
#include "cli/scope_note.h"
#include "cli/verb.h"
#include "kashi/analysis/fake_arguments.h"
#include "kashi/array/layout_util.h"
#include "kashi/base/machine.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/devices/device_fabric.h"
#include "kashi/engine/program_door.h"
#include "kashi/evaluator/device_group.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/step_checker.h"
#include "kashi/evaluator/step_profile.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/spmd/program_scope.h"
#include "kashi/hlo/spmd/program_shards.h"
#include "kashi/partition/partition_program.h"

namespace kashi::cli {

using internal::DefaultMemoryLimit;
using internal::EvaluationRun;
using internal::PeakMemoryBytes;
using internal::ProgramDoor;
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
  absl::Status FillElided();
  absl::Status ChooseInputs();
  absl::Status MakeUpInputs(int64_t devices);
  absl::Status ChooseGlobalInputs();
  absl::Status ChooseInputsOfOneDevice();
  absl::Status ChooseInputsOfParts();
  absl::Status Partition();
  absl::Status PrepareWatchers();
  absl::Status PrepareEngine();
  void PrepareProgress();
  void PrepareProfile();
  EvaluationOptions Evaluation();
  internal::RunHooks Hooks();
  absl::Status OnValue(const HloInstruction& instruction, const Value& value);

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
  // Whether each device has its own arguments, and whether it has its own outputs.
  bool has_devices() const { return !scope_.is_global() && (arguments_.size() > 1 || !options_.devices_dir.empty()); }
  bool splits_outputs() const {
    return scope_.is_global() && (options_.split_outputs || !options_.expect_devices.empty());
  }
  // A partitioned program has the outputs of the global one, unless they are to be split.
  bool joins_outputs() const {
    return whole_result_.has_value() && !options_.split_outputs && options_.expect_devices.empty();
  }
  // Whether this process runs the device, of so many: one of several ranks runs some of them.
  bool IsHere(int64_t device, int64_t devices) const {
    return fabric_ == nullptr || fabric_->Runs(device, {1, devices});
  }
  // Whether each rank writes and compares the outputs of its own devices, and rank 0 prints what they say.
  bool ranks_write() const { return fabric_ != nullptr && options_.split_outputs && has_devices() && !options_.json; }
  bool shows_devices() const { return (has_devices() || splits_outputs()) && !joins_outputs(); }

  const RunOptions& options_;
  Answers& answers_;
  HardStop& hard_stop_;
  const Interrupt& interrupt_ = hard_stop_.interrupt();
  const WorkMeter meter_{WorkLimitsOf(options_.limits, &interrupt_.flag())};  // for the work before a run
  ModuleFile file_;
  ProgramScope scope_;
  std::vector<Arguments> arguments_;        // per device; one list for a global program
  std::optional<Shape> whole_result_;       // of the global program, where --partition replaced it
  std::optional<Literal> snapshot_result_;  // the result in the snapshot, to compare with
  std::unique_ptr<Program> program_;
  std::unique_ptr<Tracer> tracer_;
  std::unique_ptr<Until> until_;
  std::unique_ptr<NanCheck> nan_check_;
  std::unique_ptr<RunProgress> progress_;
  std::vector<Watcher*> watchers_;
  std::unique_ptr<internal::StepChecker> checker_;  // null: nothing is compared
  std::unique_ptr<internal::StepProfile> profile_;  // null: not measured
  std::vector<CollectiveRow> collectives_;          // measured, of several devices
  ProgramTimes times_;
  Json json_;
  internal::DeviceFabric* fabric_ = nullptr;  // of several ranks
};

// A program with elided constants can run with random values, but a comparison of its outputs needs --allow-elided.
absl::Status ProgramRun::FillElided() {
  const std::vector<std::string> names = ElidedNames(*file_.module);
  if (names.empty()) return absl::OkStatus();
  json_["elided_constants"] = names;
  const bool compares = !options_.expect.empty() || !options_.expect_devices.empty();
  if (compares && !options_.allow_elided) {
    return InvalidArgument("%s: %s; --allow-elided replaces them by random values", file_.name, ElidedText(names));
  }
  WarnOfElided(file_.name, names, "; random values replace them");
  return FillElidedConstants(file_.module.get(), options_.seed);
}

absl::Status ProgramRun::MakeUpInputs(int64_t devices) {
  const uint64_t limit = options_.limits.memory_limit > 0 ? options_.limits.memory_limit : DefaultMemoryLimit();
  const uint64_t limit_of_each = std::max<uint64_t>(1, limit / static_cast<uint64_t>(devices));
  for (int64_t device = 0; device < devices; ++device) {
    if (!IsHere(device, devices)) {
      arguments_.emplace_back();
      continue;
    }
    KASHI_ASSIGN_OR_RETURN(
        ChosenArguments chosen,
        MakeRandomArguments(*file_.module, {options_.random, options_.seed + device, limit_of_each, &meter_}));
    if (device == 0) {
      PrintRandomNote(options_.seed, chosen);
      json_["inputs"] = chosen.made_up;
    }
    arguments_.push_back(std::move(chosen.arguments));
  }
  return absl::OkStatus();
}

absl::Status ProgramRun::ChooseGlobalInputs() {
  if (file_.module->config().replica_count() > 1) {
    return Unimplemented("cannot run a program that is not partitioned yet and has %d replicas",
                         file_.module->config().replica_count());
  }
  PrintNote(absl::StrCat("kashi: ", file_.name, ": ", ScopeText(scope_), "\n"));
  if (options_.partitions) return ChooseInputsOfParts();
  if (options_.devices_dir.empty()) return ChooseInputsOfOneDevice();
  KASHI_ASSIGN_OR_RETURN(Arguments arguments, ReadShardedArguments(*file_.module, scope_, options_.devices_dir));
  arguments_.push_back(std::move(arguments));
  return absl::OkStatus();
}

// The arguments of each device that runs here, and then the program of each device.
absl::Status ProgramRun::ChooseInputsOfParts() {
  const auto is_here = [this](int64_t device, int64_t devices) { return IsHere(device, devices); };
  if (!options_.devices_dir.empty()) {
    KASHI_RETURN_IF_ERROR(Partition());
    KASHI_ASSIGN_OR_RETURN(arguments_, ReadDeviceArguments(*file_.module, options_.devices_dir, {}, is_here));
    return absl::OkStatus();
  }
  if (!options_.inputs.empty()) {
    KASHI_ASSIGN_OR_RETURN(arguments_, ReadArgumentParts(*file_.module, scope_.partitions, options_.inputs, is_here));
    return Partition();
  }
  KASHI_RETURN_IF_ERROR(ChooseInputsOfOneDevice());
  KASHI_ASSIGN_OR_RETURN(arguments_,
                         SplitArguments(arguments_[0], ParameterShardings(*file_.module), scope_.partitions));
  for (int64_t device = 0; device < scope_.partitions; ++device) {
    if (!IsHere(device, scope_.partitions)) arguments_[device].clear();
  }
  return Partition();
}

absl::Status ProgramRun::Partition() {
  PartitionOptions options;
  options.num_partitions = scope_.partitions;
  whole_result_ = file_.module->result_shape();
  LayoutUtil::SetToDefaultLayout(&*whole_result_);
  KASHI_ASSIGN_OR_RETURN(file_.module, PartitionProgram(*file_.module, options));
  scope_.kind = ProgramScope::Kind::kPerDevice;
  return absl::OkStatus();
}

absl::Status ProgramRun::ChooseInputsOfOneDevice() {
  KASHI_ASSIGN_OR_RETURN(
      ChosenArguments chosen,
      ChooseArguments(file_, options_.inputs, {options_.random, options_.seed, options_.limits.memory_limit, &meter_}));
  arguments_.push_back(std::move(chosen.arguments));
  if (!chosen.made_up.is_null()) json_["inputs"] = chosen.made_up;
  if (!options_.inputs.empty() || !options_.random.empty() || !options_.expect.empty() || !options_.until.empty()) {
    return absl::OkStatus();
  }
  KASHI_ASSIGN_OR_RETURN(snapshot_result_, SnapshotResult(file_));
  return absl::OkStatus();
}

absl::Status ProgramRun::ChooseInputs() {
  KASHI_ASSIGN_OR_RETURN(scope_, ChooseScope(*file_.module, options_.as));
  if (scope_.is_global()) return ChooseGlobalInputs();
  if (options_.partitions) {
    return NeedsGlobalProgram(scope_);
  }
  if (options_.split_outputs) {
    return InvalidArgument("--split-outputs needs a program that is not partitioned yet; this one is for one device");
  }
  if (!options_.devices_dir.empty()) {
    const auto is_here = [this](int64_t device, int64_t devices) { return IsHere(device, devices); };
    KASHI_ASSIGN_OR_RETURN(arguments_, ReadDeviceArguments(*file_.module, options_.devices_dir, {}, is_here));
    return absl::OkStatus();
  }
  KASHI_ASSIGN_OR_RETURN(const DeviceCounts counts, DeviceCountsOf(*file_.module));
  if (counts.total() == 1) return ChooseInputsOfOneDevice();
  if (!options_.inputs.empty()) {
    return InvalidArgument("this program is for %s: give its inputs with --devices-dir", counts.ToString());
  }
  return MakeUpInputs(counts.total());
}

absl::Status ProgramRun::PrepareWatchers() {
  if (!options_.trace.empty()) {
    const uint64_t limit = std::min<uint64_t>(options_.trace_limit, std::numeric_limits<int64_t>::max());
    tracer_ = std::make_unique<Tracer>(options_.trace, static_cast<int64_t>(limit));
    KASHI_RETURN_IF_ERROR(tracer_->Begin());
    watchers_.push_back(tracer_.get());
  }
  if (!options_.until.empty()) {
    KASHI_ASSIGN_OR_RETURN(const HloInstruction* instruction, FindInstruction(*file_.module, options_.until));
    until_ = std::make_unique<Until>(instruction);
    watchers_.push_back(until_.get());
  }
  if (options_.check_nan) {
    nan_check_ = std::make_unique<NanCheck>();
    watchers_.push_back(nan_check_.get());
  }
  if (options_.check) checker_ = MakeStepChecker(Tolerance{options_.tolerance});
  if (has_devices() && !watchers_.empty()) {
    return InvalidArgument("--trace, --until and --check-nan need a program for one device; this one is for %d",
                           arguments_.size());
  }
  return absl::OkStatus();
}

absl::Status ProgramRun::PrepareEngine() {
  const Clock::time_point begin = Clock::now();
  const CompileOptions compile = CompileOptionsOf(options_, static_cast<int64_t>(arguments_.size()),
                                                  WorkLimitsOf(options_.limits, &interrupt_.flag()));
  KASHI_ASSIGN_OR_RETURN(program_, CompileProgram(*file_.module, compile, options_.dump_dir));
  times_.compile_ms += MillisecondsSince(begin);
  json_["engine"] = std::string(program_->engine());
  return absl::OkStatus();
}

// The progress of the evaluator, by instruction; compiled steps are short. Not for several runs, which are measured.
void ProgramRun::PrepareProgress() {
  if (options_.repeat > 1 || program_->engine() != "evaluator" || !Progress::IsShown()) return;
  progress_ = std::make_unique<RunProgress>(*file_.module, std::max<int64_t>(1, arguments_.size()), "");
  watchers_.push_back(progress_.get());
}

void ProgramRun::PrepareProfile() {
  if (!options_.profile && options_.profile_trace.empty()) return;
  const int64_t events = options_.profile_trace.empty() ? 0 : kMostTraceEvents;
  profile_ = std::make_unique<internal::StepProfile>(events / std::max<int64_t>(1, arguments_.size()));
}

absl::Status ProgramRun::OnValue(const HloInstruction& instruction, const Value& value) {
  for (Watcher* watcher : watchers_) KASHI_RETURN_IF_ERROR(watcher->OnValue(instruction, value));
  return absl::OkStatus();
}

EvaluationOptions ProgramRun::Evaluation() {
  EvaluationOptions evaluation;
  ApplyLimits(options_.limits, &evaluation);
  evaluation.seed = options_.seed;
  if (scope_.is_global()) evaluation.global_devices = scope_.partitions;
  evaluation.cancelled = &interrupt_.flag();
  if (fabric_ != nullptr && options_.limits.memory_limit == 0) {
    evaluation.memory_limit_bytes = DefaultMemoryLimit() / TheRanks()->ranks_of_machine();
  }
  if (!watchers_.empty()) {
    evaluation.observer = [this](const HloInstruction& instruction, const Value& value) {
      return OnValue(instruction, value);
    };
  }
  return evaluation;
}

internal::RunHooks ProgramRun::Hooks() {
  internal::RunHooks hooks;
  hooks.checker = checker_.get();
  hooks.profile = profile_.get();
  hooks.fabric = fabric_;
  return hooks;
}

absl::StatusOr<Literal> ProgramRun::ResultOf(const absl::StatusOr<Value>& value) const {
  const bool is_reached = until_ != nullptr && !until_->value().is_nothing();
  if (!is_reached) {
    KASHI_RETURN_IF_ERROR(value.status());
    if (until_ != nullptr) {
      return NotFound("the run never reached %s in %s", until_->instruction().name(),
                      until_->instruction().parent()->name());
    }
  }
  Shape shape = is_reached ? until_->instruction().shape() : file_.module->result_shape();
  LayoutUtil::SetToDefaultLayout(&shape);
  return (is_reached ? until_->value() : *value).ToLiteral(shape);
}

// Several runs are measured without the first.
void ProgramRun::BeginRun(int i, ItemProgress* progress) {
  progress->Next();
  if (i == 1 && profile_ != nullptr) profile_->Clear();
}

absl::StatusOr<std::vector<Literal>> ProgramRun::ExecuteAlone() {
  const std::unique_ptr<EvaluationRun> run = ProgramDoor::NewRun(*program_, Evaluation(), Hooks());
  KASHI_RETURN_IF_ERROR(run->CheckAffordable(*file_.module->entry_computation()));
  std::vector<Value> arguments;
  for (Literal& literal : arguments_[0]) {
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
  if (splits_outputs()) return SplitResult(*file_.module, scope_, result);
  std::vector<Literal> results;
  results.push_back(std::move(result));
  return results;
}

absl::StatusOr<std::vector<Literal>> ProgramRun::ExecuteOnDevices() {
  absl::StatusOr<std::vector<Literal>> first;
  ItemProgress progress("run", options_.repeat);
  for (int i = 0; i < options_.repeat; ++i) {
    BeginRun(i, &progress);
    std::vector<Arguments> arguments(arguments_.size());
    for (size_t device = 0; device < arguments_.size(); ++device) {
      for (const Literal& literal : arguments_[device]) arguments[device].push_back(literal.Clone());
    }
    const Clock::time_point begin = Clock::now();
    absl::StatusOr<std::vector<Literal>> results =
        ProgramDoor::ExecuteOnDevices(*program_, std::move(arguments), Evaluation(), Hooks());
    times_.run_ms.push_back(MillisecondsSince(begin));
    const bool failed = !results.ok();
    if (i == 0 || failed) first = std::move(results);
    if (failed) break;
  }
  if (!first.ok()) return first;
  if (profile_ != nullptr) {
    KASHI_ASSIGN_OR_RETURN(const DeviceCounts counts, DeviceCountsOf(*file_.module));
    const DeviceCounts of_run = counts.total() > 1 ? counts : DeviceCounts{static_cast<int64_t>(arguments_.size()), 1};
    KASHI_ASSIGN_OR_RETURN(collectives_,
                           ProfileCollectives(program_->module(), of_run, *profile_, std::max(1, options_.repeat - 1)));
  }
  if (ranks_write()) return first;
  if (fabric_ != nullptr) {
    const Shape& shape = program_->module().entry_computation()->root_instruction()->shape();
    KASHI_RETURN_IF_ERROR(TheRanks()->GatherResults(shape, &*first));
  }
  if (!joins_outputs() || IsSilentRank()) return first;
  std::vector<Literal> joined(1);
  KASHI_ASSIGN_OR_RETURN(joined[0], JoinResults(*file_.module, *std::move(first), *whole_result_));
  return joined;
}

absl::StatusOr<std::vector<Literal>> ProgramRun::Execute() {
  // A program of one device is rank 0's.
  if (!has_devices() && IsSilentRank()) return std::vector<Literal>();
  absl::StatusOr<std::vector<Literal>> results = has_devices() ? ExecuteOnDevices() : ExecuteAlone();
  times_.peak_rss_bytes = PeakMemoryBytes();
  progress_.reset();
  if (tracer_ != nullptr) KASHI_RETURN_IF_ERROR(tracer_->Finish());
  return results;
}

// ---- What it gave ---------------------------------------------------------------------------------------------------

void ProgramRun::FailRun(const absl::Status& status) {
  if (interrupt_.flag().load()) return;
  if (IsSilentRank()) return answers_.SetBad();  // rank 0 has the same error, which names the rank
  const std::optional<RunFinding> finding = FindingOf({nan_check_.get(), checker_.get()}, file_.name);
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
                         CompareWithExpected(options_, snapshot_result_, device, outputs));
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
    if (ranks_write() && !IsHere(device, results.size())) continue;
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
  if (profile_ == nullptr) return absl::OkStatus();
  KASHI_ASSIGN_OR_RETURN(ProfileReport report, MakeProfileReport(*program_, profile_->Times(), times_.run_ms.size()));
  if (!options_.profile_trace.empty()) {
    WarnOfLostEvents(*profile_);
    KASHI_RETURN_IF_ERROR(WriteOutput(options_.profile_trace, ProfileTrace(*profile_, report)));
  }
  if (!options_.profile) return absl::OkStatus();
  report.peaks = MeasureMachinePeaks();
  if (options_.json) {
    json_["profile"] = ProfileJson(report);
    if (has_devices()) json_["profile"]["collectives"] = CollectivesJson(collectives_);
  } else {
    answers_.Add(ProfileText(report, options_.top));
    answers_.Add(CollectivesText(collectives_, options_.top));
  }
  return absl::OkStatus();
}

void ProgramRun::Show(std::vector<Literal> results) {
  if (Json scope = ScopeJson(scope_); !scope.is_null()) json_["program"] = std::move(scope);
  AddTo(times_, &json_);
  if (!options_.json && !file_.part.empty() && !IsSilentRank()) answers_.Add(absl::StrCat(file_.part, "\n"));
  if (const absl::Status shown = ShowDevices(std::move(results)); !shown.ok()) return FailRun(shown);
  if (IsSilentRank()) return;
  if (!options_.json && options_.repeat > 1) answers_.Add(ToText(times_));
  if (checker_ != nullptr) json_["compared_steps"] = checker_->compared_steps();
  if (!options_.json) answers_.Add(NoFindingText({nan_check_.get(), checker_.get()}));
  if (const absl::Status shown = ShowProfile(); !shown.ok()) return FailRun(shown);
  if (options_.json) answers_.AddLine(json_);
}

absl::Status ProgramRun::Prepare() {
  json_["file"] = file_.name;
  if (!file_.part.empty()) json_["part"] = file_.part;
  json_["engine"] = Json();  // known later; this is its place
  KASHI_RETURN_IF_ERROR(FillElided());
  KASHI_RETURN_IF_ERROR(ChooseInputs());
  if (!options_.output_dir.empty() && !IsSilentRank()) KASHI_RETURN_IF_ERROR(MakeDirectory(options_.output_dir));
  KASHI_RETURN_IF_ERROR(PrepareWatchers());
  KASHI_RETURN_IF_ERROR(PrepareEngine());
  PrepareProgress();
  PrepareProfile();
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
