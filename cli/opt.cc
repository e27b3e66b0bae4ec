// `kashi opt`: passes by hand, as XLA's hlo-opt runs them.
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "cli/elided_constants.h"
#include "cli/hard_stop.h"
#include "cli/interrupt.h"
#include "cli/known_arguments.h"
#include "cli/limits.h"
#include "cli/module_check.h"
#include "cli/module_file.h"
#include "cli/module_format.h"
#include "cli/partition_module.h"
#include "cli/pass_support.h"
#include "cli/progress.h"
#include "cli/run_outputs.h"
#include "cli/suggest.h"
#include "cli/table_text.h"
#include "cli/verb.h"
#include "kashi/analysis/fake_arguments.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"
#include "kashi/base/work_meter.h"
#include "kashi/hlo/spmd/program_scope.h"
#include "kashi/passes/pipeline.h"

namespace kashi::cli {

using base::WithThousands;
using passes::PassRow;
namespace {

struct OptOptions {
  std::string file;
  std::string passes;
  bool list_passes = false;
  std::string dump_dir;
  bool verify = false;
  bool stats = false;
  std::string excess_precision = "on";
  bool allow_elided = false;
  uint64_t seed = 42;
  LimitOptions limits;
  bool large_constants = false;
  std::string to;
  std::string output;
  bool strict = false;
  bool json = false;
};

// ---- The table of passes --------------------------------------------------------------------------------------------

constexpr char kPartition[] = "partition";

// Done by the verb, because it replaces the module.
constexpr PassRow kPartitionRow = {kPartition, nullptr, "the program of each device, of a global program",
                                   "the program is global: it has shardings"};

std::vector<PassRow> AllPasses() {
  std::vector<PassRow> rows(passes::Passes().begin(), passes::Passes().end());
  rows.insert(rows.end(), passes::OtherPasses().begin(), passes::OtherPasses().end());
  rows.push_back(kPartitionRow);
  return rows;
}

// What the engine does, in its order.
std::vector<PassRow> UsualPasses() {
  std::vector<PassRow> rows = AllPasses();
  rows.pop_back();
  return rows;
}

absl::StatusOr<std::vector<PassRow>> ChosenPasses(const std::string& text) {
  const std::vector<PassRow> all = AllPasses();
  std::vector<PassRow> chosen;
  for (const std::string& name : std::vector<std::string>(absl::StrSplit(text, ','))) {
    const auto found = absl::c_find_if(all, [&](const PassRow& row) { return row.name == name; });
    if (found != all.end()) {
      chosen.push_back(*found);
      continue;
    }
    std::vector<std::string> names;
    for (const PassRow& row : all) names.emplace_back(row.name);
    const std::string similar = DidYouMean(name, names);
    return InvalidArgument("there is no pass `%s`%s", name,
                           similar.empty() ? "; `kashi opt --list-passes` lists them" : similar);
  }
  return chosen;
}

int ListPasses(const OptOptions& options) {
  Answers answers(options.output, options.json);
  std::vector<std::vector<std::string>> table = {{"pass", "afterwards", "assumes"}};
  for (const PassRow& row : AllPasses()) {
    if (options.json) {
      answers.AddLine({{"pass", row.name}, {"result", row.result}, {"assumes", row.assumes}});
    }
    table.push_back(
        {std::string(row.name), std::string(row.result), row.assumes.empty() ? "-" : std::string(row.assumes)});
  }
  if (!options.json) answers.Add(TableText(table, /*width=*/0, {true, true, true}));
  return answers.Finish();
}

// ---- The verb -------------------------------------------------------------------------------------------------------

struct ModuleCounts {
  int64_t instructions = 0;
  int64_t computations = 0;
  int64_t fusions = 0;
};
ModuleCounts CountsOf(const HloModule& module) {
  ModuleCounts counts{module.instruction_count(), module.computation_count()};
  for (const HloComputation* computation : module.computations()) {
    counts.fusions += absl::c_count_if(computation->instructions(), [](const HloInstruction* instruction) {
      return instruction->opcode() == HloOpcode::kFusion;
    });
  }
  return counts;
}

class OptVerb {
 public:
  OptVerb(const OptOptions& options, std::vector<PassRow> passes)
      : options_(options), passes_(std::move(passes)), answers_("", options.json) {}
  int Run();

 private:
  struct Step {
    absl::string_view pass;
    ModuleCounts before, after;
    bool has_changed;
    double milliseconds;
  };

  absl::Status Prepare(HloModule* module);
  // False after an error, which `answers_` has received.
  bool RunPasses(ModuleFile* file);
  absl::Status RunOne(const PassRow& pass, ModuleFile* file);
  absl::Status Dump(size_t number, absl::string_view name, const HloModule& module) const;
  std::string StatsText() const;
  Json StatsJson() const;
  void Show(const ModuleFile& file);
  void AddError(const ModuleFile& file, const absl::Status& status) {
    answers_.AddFileError(file.name, WithMessage(status, absl::StrCat(file.name, ": ", status.message())));
  }

  const OptOptions& options_;
  const std::vector<PassRow> passes_;
  const Interrupt interrupt_;
  const WorkMeter meter_{WorkLimitsOf(options_.limits, &interrupt_.flag())};
  Answers answers_;
  std::vector<Step> steps_;
};

absl::Status OptVerb::Prepare(HloModule* module) {
  const std::vector<std::string> elided = ElidedNames(*module);
  if (!elided.empty() && !options_.allow_elided) {
    return FailedPrecondition("%s; passes compute with constants (--allow-elided puts random values there)",
                              ElidedText(elided));
  }
  KASHI_RETURN_IF_ERROR(FillElidedConstants(module, options_.seed));
  if (module->has_schedule()) {
    PrintNote("kashi: passes change instructions: the schedule is left out\n");
    module->clear_schedule();
  }
  if (options_.dump_dir.empty()) return absl::OkStatus();
  KASHI_RETURN_IF_ERROR(MakeDirectory(options_.dump_dir));
  return Dump(0, "before", *module);
}

absl::Status OptVerb::Dump(size_t number, absl::string_view name, const HloModule& module) const {
  if (options_.dump_dir.empty()) return absl::OkStatus();
  const std::string path =
      (std::filesystem::path(options_.dump_dir) / absl::StrFormat("%02d-%s.hlo", number, name)).string();
  return WriteOutput(path, module.ToString(HloPrintOptions().set_print_large_constants(true)));
}

absl::Status OptVerb::RunOne(const PassRow& pass, ModuleFile* file) {
  if (pass.name == kPartition) {
    const ProgramScope scope = ProgramScopeOf(*file->module);
    if (!scope.is_global()) return NeedsGlobalProgram(scope);
    Answers answers("", /*json=*/false);
    if (!PartitionModuleFile(file, &answers)) return InvalidArgument("the program cannot be partitioned");
    return absl::OkStatus();
  }
  const auto check_stopped = [this] { return meter_.Check(); };
  return passes::RunPass(pass, file->module.get(),
                         {PassSupport(), options_.excess_precision == "on", options_.verify, check_stopped});
}

bool OptVerb::RunPasses(ModuleFile* file) {
  absl::Status status = Prepare(file->module.get());
  for (size_t i = 0; i < passes_.size() && status.ok(); ++i) {
    const std::string text = file->module->ToString();
    Step step{passes_[i].name, CountsOf(*file->module), {}, false, 0};
    const auto begin = std::chrono::steady_clock::now();
    status = RunOne(passes_[i], file);
    step.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    step.after = CountsOf(*file->module);
    step.has_changed = file->module->ToString() != text;
    if (!status.ok()) {
      status = NameLimitOption(status);
      status = WithMessage(status, absl::StrCat("the pass ", passes_[i].name, ": ", status.message()));
      break;
    }
    steps_.push_back(step);
    status = Dump(i + 1, passes_[i].name, *file->module);
  }
  if (!status.ok()) AddError(*file, status);
  return status.ok();
}

std::string OptVerb::StatsText() const {
  std::vector<std::vector<std::string>> table = {
      {"pass", "instructions", "before", "computations", "fusions", "ms", "changed"}};
  for (const Step& step : steps_) {
    table.push_back({std::string(step.pass), WithThousands(step.after.instructions),
                     WithThousands(step.before.instructions), WithThousands(step.after.computations),
                     WithThousands(step.after.fusions), absl::StrFormat("%.2f", step.milliseconds),
                     step.has_changed ? "yes" : "no"});
  }
  return TableText(table);
}

Json OptVerb::StatsJson() const {
  Json list = Json::array();
  for (const Step& step : steps_) {
    list.push_back({{"pass", step.pass},
                    {"changed", step.has_changed},
                    {"instructions_before", step.before.instructions},
                    {"instructions", step.after.instructions},
                    {"computations", step.after.computations},
                    {"fusions", step.after.fusions},
                    {"ms", step.milliseconds}});
  }
  return list;
}

void OptVerb::Show(const ModuleFile& file) {
  const std::string format = ModuleFormatOf(options_.to, options_.output);
  const absl::StatusOr<std::string> content = FormatModule(*file.module, format, options_.large_constants);
  if (!content.ok()) return AddError(file, content.status());
  if (IsFile(options_.output)) {
    const absl::Status written = WriteOutput(options_.output, *content);
    if (!written.ok()) return answers_.AddFileError(file.name, written);
  }
  if (options_.json) {
    Json json = {{"file", file.name}, {"module", file.module->name()}, {"format", format}, {"passes", StatsJson()}};
    json[IsFile(options_.output) ? "output" : "text"] = IsFile(options_.output) ? options_.output : *content;
    return answers_.AddLine(json);
  }
  if (!IsFile(options_.output)) answers_.Add(*content);
  if (options_.stats) PrintNote(StatsText());
}

int OptVerb::Run() {
  HardStop hard_stop(options_.limits, interrupt_);
  const std::vector<std::string> paths = ExpandModulePaths({options_.file}, &answers_);
  if (paths.size() > 1) {
    answers_.AddFileError(options_.file, InvalidArgument("%s: it has %s: give one of them", options_.file,
                                                         Count(static_cast<int64_t>(paths.size()), "module")));
  }
  if (paths.size() != 1) return answers_.Finish();
  std::optional<ModuleFile> file = ReadModuleFile(paths[0], {options_.strict}, &answers_);
  if (!file.has_value() || !CheckModule(*file, &answers_)) return answers_.Finish();
  const Progress progress([this] { return absl::StrCat("pass ", steps_.size() + 1, " of ", passes_.size()); });
  const bool is_done = RunPasses(&*file);
  hard_stop.End();
  if (interrupt_.flag().load()) return PrintInterrupted();
  if (is_done) Show(*file);
  return answers_.Finish();
}

int RunOpt(const OptOptions& options) {
  if (options.list_passes) return ListPasses(options);
  if (options.file.empty()) return FailUsage("an argument is missing: give a module, or --list-passes");
  if (options.json && ModuleFormatOf(options.to, options.output) == "pb" && !IsFile(options.output)) {
    return FailUsage("--json cannot print a binary proto: give a file with -o");
  }
  if (options.passes.empty()) return OptVerb(options, UsualPasses()).Run();
  absl::StatusOr<std::vector<PassRow>> passes = ChosenPasses(options.passes);
  if (!passes.ok()) return FailUsage(passes.status().message());
  return OptVerb(options, *std::move(passes)).Run();
}

VerbHelp OptHelp() {
  VerbHelp help;
  help.group = kProgramVerbs;
  help.summary = "Run passes of the compiled engine on a module, one by one";
  help.examples =
      "  kashi opt m.hlo                                    all passes, as the compiled engine runs them\n"
      "  kashi opt m.hlo --passes inline-calls,simplify     these passes, in this order\n"
      "  kashi opt m.hlo --stats -o optimized.hlo           instructions and time of each pass\n"
      "  kashi opt m.hlo --dump-after-each passes --verify  the module after each pass, verified\n"
      "  kashi opt --list-passes                            a line for each pass";
  help.sections = {
      {"",
       "After each pass the module is valid HLO and computes what it computed before. What a pass assumes, "
       "--list-passes says: where it does not hold, the pass does less. Which operations are fused depends "
       "on what the compiled engine of this build has code for.",
       {}}};
  help.failure = "A pass fails, the module is bad, or the output cannot be written";
  help.stops_at_interrupt = true;
  return help;
}

}  // namespace

void AddOptVerb(Command* command) {
  auto options = std::make_shared<OptOptions>();
  Verb* verb = command->AddVerb("opt", OptHelp(), [options] { return RunOpt(*options); });
  verb->AddOption("FILE", &options->file, "A module, or `-` for standard input")->File();
  verb->BeginGroup("Passes");
  verb->AddOption("--passes", &options->passes, "The passes, in this order: a,b,c (default: those of the engine)")
      ->Value("PASSES");
  verb->AddFlag("--list-passes", &options->list_passes, "Print the passes, a line each");
  verb->AddFlag("--verify", &options->verify, "Verify the module after each pass");
  verb->AddOption("--dump-after-each", &options->dump_dir,
                  "Write the module after each pass to this directory, as 01-NAME.hlo")
      ->File("DIR");
  verb->AddOption("--excess-precision", &options->excess_precision,
                  "Whether numbers keep bits beyond their type where XLA keeps them: on or off (default: on)")
      ->OneOf({"on", "off"});
  verb->AddFlag("--allow-elided", &options->allow_elided,
                "Run even if the text leaves out values of constants, `{...}`: random values replace them");
  verb->AddOption("--seed", &options->seed, "Seed of these random values (default: 42)");
  verb->BeginGroup("Limits");
  AddLimitOptions(verb, &options->limits);
  AddArgumentOption(verb);
  AddInputLimitOption(verb);
  AddFunctionOption(verb);
  AddModuleFilterOption(verb);
  verb->BeginGroup("Output");
  verb->AddFlag("--stats", &options->stats,
                "Print instructions, computations, fusions and time of each pass to standard error");
  AddModuleFormatOption(verb, &options->to);
  verb->AddFlag("--large-constants", &options->large_constants, "Print all elements of constants");
  AddOutputOption(verb, &options->output, "Write the module to this file");
  AddStrictFlag(verb, &options->strict);
  verb->AddFlag("--json", &options->json, "Print one JSON object about the passes");
}

}  // namespace kashi::cli
