// `kashi reduce`: the smallest module that a check still says yes to.
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "cli/hard_stop.h"
#include "cli/interest_check.h"
#include "cli/interrupt.h"
#include "cli/known_arguments.h"
#include "cli/limits.h"
#include "cli/module_check.h"
#include "cli/module_file.h"
#include "cli/module_format.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/reduction_folder.h"
#include "cli/run_inputs.h"
#include "cli/run_outputs.h"
#include "cli/verb.h"
#include "kashi/base/fingerprint.h"
#include "kashi/base/processors.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"
#include "kashi/base/work_meter.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi/reduction/reducer.h"

namespace kashi::cli {

using base::WithThousands;
using reduction::Candidate;
using reduction::ModuleSize;
using reduction::Reduction;
using reduction::ReductionProgress;
namespace {

struct ReduceOptions {
  std::string file;
  InterestOptions interest;
  bool once = false;
  int jobs = 0;  // 0: as many as processors
  std::string work;
  std::string to;
  std::string output;
  bool strict = false;
  bool quiet = false;
  bool json = false;
};

// A temporary folder with one folder for each candidate, so that checks that run at the same time do not meet.
class CandidateFolder {
 public:
  CandidateFolder() = default;
  CandidateFolder(const CandidateFolder&) = delete;
  CandidateFolder& operator=(const CandidateFolder&) = delete;
  ~CandidateFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  absl::Status Make() {
    std::error_code error;
    std::string path = (std::filesystem::temp_directory_path(error) / "kashi-reduce-XXXXXX").string();
    if (error || mkdtemp(path.data()) == nullptr) return Unavailable("cannot create the temporary directory %s", path);
    path_ = std::move(path);
    return absl::OkStatus();
  }

  // The folder with a file of this content in it. Any thread may call it.
  absl::StatusOr<std::string> Add(const std::string& name, const std::string& content) {
    std::string folder = absl::StrCat(path_, "/", ++count_);
    std::error_code error;
    std::filesystem::create_directory(folder, error);
    std::ofstream file(absl::StrCat(folder, "/", name), std::ios::binary);
    file << content;
    file.close();
    if (error || !file) return Unavailable("cannot write a candidate to %s: %s", folder, std::strerror(errno));
    return folder;
  }
  void Remove(const std::string& folder) const {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

 private:
  std::string path_;
  std::atomic<int64_t> count_{0};
};

// The end of what a command printed, for an error message.
std::string LastLines(const std::string& path) {
  constexpr size_t kMostBytes = 2000;
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.size() > kMostBytes) text = absl::StrCat("…", text.substr(text.size() - kMostBytes));
  return std::string(absl::StripSuffix(text, "\n"));
}

Json SizeJson(const ModuleSize& size) {
  return {{"instructions", size.instructions},
          {"operations", size.operations},
          {"parameters", size.parameters},
          {"elements", size.elements},
          {"bits", size.bits},
          {"attributes", size.attributes}};
}

// ---- The verb -------------------------------------------------------------------------------------------------------

class ReduceVerb {
 public:
  ReduceVerb(const ReduceOptions& options, InterestCheck check)
      : options_(options),
        check_(std::move(check)),
        format_(ModuleFormatOf(options.to, options.output)),
        answers_("", options.json) {}
  int Run();

 private:
  using Clock = std::chrono::steady_clock;

  int AnswerOnce(ModuleFile* file);
  int Reduce(const ModuleFile& file);
  // What the reduction is about, for the folder of --work.
  std::string Identity(const HloModule& module) const;
  // The module to begin with: that of the file, or the best one of --work.
  absl::StatusOr<std::unique_ptr<HloModule>> Begin(const HloModule& module);
  absl::StatusOr<bool> Ask(const Candidate& candidate, const std::atomic<bool>& is_unwanted);
  absl::Status CheckStopped() const;
  reduction::ReducerOptions OptionsFor(const HloModule& module);
  std::string ProgressText() const;
  int Show(const ModuleFile& file, const Reduction& reduction);
  int FailBecauseOfNo();
  void AddError(const absl::Status& status) {
    answers_.AddFileError(options_.file, WithMessage(status, absl::StrCat(options_.file, ": ", status.message())));
  }
  double Seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  const ReduceOptions& options_;
  const InterestCheck check_;
  const std::string format_;
  const Interrupt interrupt_;
  const Clock::time_point begin_ = Clock::now();
  Answers answers_;
  CandidateFolder candidates_;
  std::optional<ReductionFolder> folder_;
  ModuleSize before_;  // of the file's module
  mutable std::mutex mutex_;
  ReductionProgress progress_;   // under the mutex
  InterestAnswer first_answer_;  // about the module itself; under the mutex
  bool has_first_answer_ = false;
  std::string first_output_;
};

absl::Status ReduceVerb::CheckStopped() const {
  if (interrupt_.flag().load()) return absl::CancelledError("interrupted");
  const double limit = options_.interest.limits.timeout_seconds;
  if (limit > 0 && Seconds() > limit) return absl::DeadlineExceededError("--timeout is over");
  return absl::OkStatus();
}

absl::StatusOr<bool> ReduceVerb::Ask(const Candidate& candidate, const std::atomic<bool>& is_unwanted) {
  const absl::StatusOr<std::string> content =
      format_ == "text" ? candidate.text : FormatModule(*candidate.module, format_, /*large_constants=*/true);
  const bool is_first = [this] {
    const std::lock_guard<std::mutex> lock(mutex_);
    return !std::exchange(has_first_answer_, true);
  }();
  if (!content.ok() && is_first) return content.status();
  if (!content.ok()) return false;  // StableHLO has no form for it
  const std::string name = absl::StrCat("candidate.", format_ == "text" ? "hlo" : format_);
  KASHI_ASSIGN_OR_RETURN(const std::string folder, candidates_.Add(name, *content));
  const std::string output = is_first ? absl::StrCat(folder, "/output") : "";
  const absl::StatusOr<InterestAnswer> answer =
      AskInChild(check_, options_.interest, absl::StrCat(folder, "/", name), output, is_unwanted);
  if (is_first && answer.ok()) {
    const std::lock_guard<std::mutex> lock(mutex_);
    first_answer_ = *answer;
    first_output_ = LastLines(output);
  }
  candidates_.Remove(folder);
  KASHI_RETURN_IF_ERROR(answer.status());
  return answer->is_yes;
}

std::string ReduceVerb::Identity(const HloModule& module) const {
  const std::string text = module.ToString(HloPrintOptions().set_print_large_constants(true));
  Json json = {{"module", module.name()},          {"fingerprint", base::FingerprintOf(text).ToString()},
               {"check", options_.interest.check}, {"random", options_.interest.random},
               {"seed", options_.interest.seed},   {"format", format_}};
  return absl::StrCat(json.dump(), "\n");
}

absl::StatusOr<std::unique_ptr<HloModule>> ReduceVerb::Begin(const HloModule& module) {
  before_ = reduction::SizeOf(module, /*counts_iterations=*/false);
  KASHI_RETURN_IF_ERROR(candidates_.Make());
  if (options_.work.empty()) return module.Clone(/*suffix=*/"");
  KASHI_ASSIGN_OR_RETURN(ReductionFolder folder, ReductionFolder::Open(options_.work, Identity(module)));
  folder_.emplace(std::move(folder));
  if (!folder_->best().has_value()) return module.Clone(/*suffix=*/"");
  absl::StatusOr<std::unique_ptr<HloModule>> best = ParseAndReturnUnverifiedModule(*folder_->best());
  if (!best.ok()) return InvalidArgument("%s/best.hlo: %s", options_.work, best.status().message());
  return best;
}

reduction::ReducerOptions ReduceVerb::OptionsFor(const HloModule& module) {
  reduction::ReducerOptions reducer;
  // Times of runs that share processors mean nothing.
  const int usual = check_.kind == InterestCheck::Kind::kSlower ? 1 : base::ProcessorCount();
  reducer.jobs = options_.jobs > 0 ? options_.jobs : usual;
  reducer.rules = VerifierOptionsFor(module);
  reducer.check_stopped = [this] { return CheckStopped(); };
  reducer.on_progress = [this](const ReductionProgress& progress) {
    const std::lock_guard<std::mutex> lock(mutex_);
    progress_ = progress;
  };
  if (folder_.has_value()) {
    reducer.rejected = folder_->rejected();
    reducer.on_rejected = [this](const std::string& fingerprint) { return folder_->AddRejected(fingerprint); };
    reducer.on_smaller = [this](const Candidate& candidate) { return folder_->SetBest(candidate.text); };
  }
  return reducer;
}

std::string ReduceVerb::ProgressText() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (progress_.candidates == 0) return "asking about the module itself";
  return absl::StrCat(WithThousands(before_.instructions), " → ", Count(progress_.size.instructions, "instruction"),
                      ", ", Count(progress_.checks, "check"), ", now ", progress_.transformation);
}

int ReduceVerb::FailBecauseOfNo() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!first_output_.empty()) PrintNote(absl::StrCat(first_output_, "\n"));
  answers_.AddFileError(options_.file, FailedPrecondition("%s: the check says no to the module itself (%s), so "
                                                          "there is nothing to reduce",
                                                          options_.file, first_answer_.reason));
  return answers_.Finish();
}

int ReduceVerb::Show(const ModuleFile& file, const Reduction& reduction) {
  const ModuleSize& after = reduction.best->size;
  const std::string stopped(reduction.stopped.message());
  const absl::StatusOr<std::string> content = FormatModule(*reduction.best->module, format_, /*large_constants=*/true);
  if (!content.ok()) {
    AddError(content.status());
    return answers_.Finish();
  }
  if (IsFile(options_.output) || !options_.json) {
    if (const absl::Status written = WriteOutput(options_.output, *content); !written.ok()) return Fail(written);
  }
  if (options_.json) {
    Json json = {{"file", file.name},
                 {"module", file.module->name()},
                 {"check", options_.interest.check},
                 {"before", SizeJson(before_)},
                 {"after", SizeJson(after)},
                 {"checks", reduction.progress.checks},
                 {"candidates", reduction.progress.candidates},
                 {"steps", reduction.progress.steps},
                 {"seconds", Seconds()},
                 {"stopped", stopped.empty() ? Json() : Json(stopped)}};
    json[IsFile(options_.output) ? "output" : "text"] = IsFile(options_.output) ? options_.output : *content;
    answers_.AddLine(json);
  }
  if (!stopped.empty()) {
    PrintNote(absl::StrCat(
        "kashi: stopped, ", stopped, ": this is the smallest module so far",
        options_.work.empty() ? "; with --work DIR a second call would go on" : "; the same call goes on", "\n"));
  }
  if (!options_.quiet) {
    PrintNote(absl::StrFormat("kashi: %s → %s in %.1f s, %s\n", WithThousands(before_.instructions),
                              Count(after.instructions, "instruction"), Seconds(),
                              Count(reduction.progress.checks, "check")));
  }
  if (interrupt_.flag().load()) return answers_.Finish(), kInterrupted;
  return answers_.Finish();
}

int ReduceVerb::Reduce(const ModuleFile& file) {
  const absl::StatusOr<std::unique_ptr<HloModule>> module = Begin(*file.module);
  if (!module.ok()) return Fail(module.status());
  const Progress progress([this] { return ProgressText(); });
  const auto ask = [this](const Candidate& candidate, const std::atomic<bool>& is_unwanted) {
    return Ask(candidate, is_unwanted);
  };
  const absl::StatusOr<Reduction> reduction = reduction::Reducer(ask, OptionsFor(**module)).Run(**module);
  if (!reduction.ok()) {
    AddError(reduction.status());
    return answers_.Finish();
  }
  if (reduction->is_interesting) return Show(file, *reduction);
  if (interrupt_.flag().load()) return PrintInterrupted();
  if (!reduction->stopped.ok()) return Fail(reduction->stopped);
  return FailBecauseOfNo();
}

int ReduceVerb::AnswerOnce(ModuleFile* file) {
  const HardStop hard_stop(options_.interest.limits, interrupt_);
  InterestAnswer answer;
  if (check_.kind == InterestCheck::Kind::kCommand || check_.kind == InterestCheck::Kind::kCrashes) {
    const absl::StatusOr<InterestAnswer> asked =
        AskInChild(check_, options_.interest, options_.file, /*output=*/"", interrupt_.flag());
    if (!asked.ok()) return Fail(asked.status());
    answer = *asked;
  } else {
    answer = AnswerHere(check_, options_.interest, interrupt_, file);
  }
  if (interrupt_.flag().load()) return PrintInterrupted();
  const std::string word = answer.is_yes ? "yes" : "no";
  if (options_.json) {
    answers_.AddLine(
        {{"file", file->name}, {"check", options_.interest.check}, {"answer", word}, {"reason", answer.reason}});
  } else {
    answers_.Add(absl::StrCat(word, ": ", answer.reason, "\n"));
  }
  if (!answer.is_yes) answers_.SetBad();
  return answers_.Finish();
}

int ReduceVerb::Run() {
  const std::vector<std::string> paths = ExpandModulePaths({options_.file}, &answers_);
  if (paths.size() > 1) {
    answers_.AddFileError(options_.file, InvalidArgument("%s: it has %s: give the one to reduce", options_.file,
                                                         Count(static_cast<int64_t>(paths.size()), "module")));
  }
  if (paths.size() != 1) return answers_.Finish();
  std::optional<ModuleFile> file;
  {
    const HardStop hard_stop(options_.interest.limits, interrupt_);
    file = ReadModuleFile(paths[0], {options_.strict}, &answers_);
  }
  if (!file.has_value()) return answers_.Finish();
  return options_.once ? AnswerOnce(&*file) : Reduce(*file);
}

int RunReduce(const ReduceOptions& options) {
  if (TheRanks() != nullptr) return FailUsage("`kashi reduce` runs on one rank: start it without mpirun");
  absl::StatusOr<InterestCheck> check = ParseInterestCheck(options.interest.check);
  if (!check.ok()) return FailUsage(absl::StrCat("--check: ", check.status().message()));
  const bool needs_file = check->kind == InterestCheck::Kind::kCommand || check->kind == InterestCheck::Kind::kCrashes;
  if (options.once && needs_file && options.file == "-") {
    return FailUsage("--once with a command needs a file: a command cannot read the module from standard input again");
  }
  return ReduceVerb(options, *std::move(check)).Run();
}

void AddCheckOptions(Verb* verb, ReduceOptions* options) {
  verb->BeginGroup("Check");
  verb->AddOption("--check", &options->interest.check,
                  "A command, or differs[:A,B], crashes[:ENGINE], slower[:RATIO[,A,B]], fails[:TEXT]")
      ->Value("CHECK")
      ->Required();
  verb->AddFlag("--once", &options->once, "Only ask about FILE: print the answer, and end with status 0 for yes");
  verb->AddOption("--check-timeout", &options->interest.check_timeout,
                  "A check that takes longer says no, in seconds; 0 means no limit (default: 60)")
      ->Value("SECONDS");
  verb->AddOption("--random", &options->interest.random,
                  "Rule for random arguments of the built-in checks, as in `kashi run`: RULE or NUMBER=RULE")
      ->Value("RULE")
      ->OneEach()
      ->Check(CheckRandomRule);
  verb->AddOption("--seed", &options->interest.seed, "Seed of the random numbers (default: 42)");
  verb->AddOption("--tolerance", &options->interest.tolerance,
                  "For differs: largest difference of floating point numbers, absolute and relative (default: as in "
                  "`kashi run`)")
      ->Check(CheckTolerance);
}

VerbHelp ReduceHelp() {
  VerbHelp help;
  help.group = kProgramVerbs;
  help.summary = "Find the smallest module that a check still says yes to";
  help.examples =
      "  kashi reduce m.hlo --check differs -o small.hlo        both engines give different outputs\n"
      "  kashi reduce m.hlo --check './compare.sh {}' -o s.hlo  a command: exit status 0 means `still interesting`\n"
      "  kashi reduce m.hlo --check fails:UNIMPLEMENTED         an error with this text\n"
      "  kashi reduce m.hlo --check crashes --jobs 8 --work d   a crash; what is known is kept in d for the next call\n"
      "  kashi reduce m.hlo --check differs --once              only ask about m.hlo";
  help.sections = {
      {"",
       "Instructions, inputs, outputs, computations, loops, elements of tuples, sizes and attributes are left out or "
       "made simpler, as long as the check says yes. Every candidate is a valid module, and smaller than the best one "
       "before it.",
       {}},
      {"Checks",
       "",
       {{"differs[:A,B]", "The engines give different outputs for the same random arguments (evaluator,cpu)"},
        {"crashes[:ENGINE]", "A run ends by a signal, such as a segmentation fault"},
        {"slower[:R[,A,B]]", "A takes R times as long as B, or longer (2,cpu,evaluator)"},
        {"fails[:TEXT]", "Verifying, compiling or running gives an error that contains TEXT"},
        {"COMMAND", "The shell runs it with the file for each {}, or as its last argument; exit status 0 means yes"}}}};
  help.failure = "The check says no to FILE, FILE cannot be read, or the output cannot be written";
  help.stops_at_interrupt = true;
  return help;
}

}  // namespace

void AddReduceVerb(Command* command) {
  auto options = std::make_shared<ReduceOptions>();
  Verb* verb = command->AddVerb("reduce", ReduceHelp(), [options] { return RunReduce(*options); });
  verb->AddOption("FILE", &options->file, "A module, or `-` for standard input")->File()->Required();
  AddCheckOptions(verb, options.get());
  verb->BeginGroup("Search");
  verb->AddOption("--jobs", &options->jobs,
                  "Checks at a time; the result does not depend on it (default: the processors; for slower 1)")
      ->Within(1, 1024);
  verb->AddOption("--work", &options->work, "Keep the state of the reduction in this directory, and go on from there")
      ->File("DIR");
  verb->BeginGroup("Limits");
  AddLimitOptions(verb, &options->interest.limits);
  AddArgumentOption(verb);
  AddInputLimitOption(verb);
  AddFunctionOption(verb);
  AddModuleFilterOption(verb);
  verb->BeginGroup("Output");
  AddModuleFormatOption(verb, &options->to);
  AddOutputOption(verb, &options->output, "Write the module to this file");
  AddStrictFlag(verb, &options->strict);
  verb->AddFlag("--quiet", &options->quiet, "Print no summary at the end");
  verb->AddFlag("--json", &options->json, "Print one JSON object about the reduction");
}

}  // namespace kashi::cli
