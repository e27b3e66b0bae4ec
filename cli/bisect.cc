// `kashi bisect`: the first pass of a dump after which a program computes other numbers, and where.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/bisect_options.h"
#include "cli/bisect_place.h"
#include "cli/bisect_search.h"
#include "cli/bisect_stages.h"
#include "cli/dump_directory.h"
#include "cli/hard_stop.h"
#include "cli/interrupt.h"
#include "cli/limits.h"
#include "cli/module_file.h"
#include "cli/npy_file.h"
#include "cli/progress.h"
#include "cli/run_inputs.h"
#include "cli/run_outputs.h"
#include "cli/value_summary.h"
#include "cli/verb.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/engine/engine.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::cli {
namespace {

// Time to make sure that no earlier stage differs.
constexpr std::chrono::seconds kTimeToMakeSure{10};

Json StageJson(const DumpedStage& stage) {
  Json json = {{"file", stage.path()}};
  if (stage.stage.number < 0) {
    json["name"] = stage.stage.name;
  } else {
    json.update({{"number", stage.stage.number}, {"pipeline", stage.stage.pipeline}, {"after", stage.stage.after}});
  }
  return json;
}

// As one word for a shell.
std::string Word(const std::string& text) {
  const bool is_plain = std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(c) || c == '/' || c == '.' || c == '_' || c == '-';
  });
  return is_plain ? text : ShellQuoted(text);
}

std::string PlacedText(const char* title, const PlacedInstruction& placed) {
  const std::string source = SourceOf(*placed.instruction);
  return absl::StrCat("  ", title, "  ", ShortText(*placed.instruction), "\n          ", ToText(placed.summary), "\n",
                      source.empty() ? "" : absl::StrCat("          source ", source, "\n"));
}

Json PlacedJson(const PlacedInstruction& placed) {
  return {{"instruction", placed.instruction->name()},
          {"opcode", HloOpcodeString(placed.instruction->opcode())},
          {"text", ShortText(*placed.instruction)},
          {"source", SourceOf(*placed.instruction)},
          {"value", ToJson(placed.summary)}};
}

// The report about one module.
class ModuleBisection {
 public:
  ModuleBisection(const DumpedModule& module, const BisectOptions& options, const Interrupt& interrupt,
                  bool prints_note, Answers* answers)
      : module_(module),
        options_(options),
        interrupt_(interrupt),
        stages_(module, options, interrupt, prints_note, answers) {}

  // An error: nothing could be compared, or a limit is exceeded.
  absl::Status Run(const std::string& output_directory);

  bool differs() const { return result_.first_bad.has_value(); }
  const std::string& text() const { return text_; }
  const Json& json() const { return json_; }

 private:
  size_t StageOf(size_t number) const { return stages_.stages()[number]; }
  const DumpedStage& Stage(size_t number) const { return stages_.stage(StageOf(number)); }
  absl::Status Search();
  void ReportSkipped();
  void ReportPass();
  void ReportOutputs();
  absl::Status ReportPlace(const std::string& output_directory);
  void AddPlace(const DifferencePlace& place);
  absl::Status WriteParts(const DifferingParts& parts, const std::string& directory);

  const DumpedModule& module_;
  const BisectOptions& options_;
  const Interrupt& interrupt_;
  BisectStages stages_;
  BisectResult result_;
  std::string text_;
  Json json_;
};

absl::Status ModuleBisection::Search() {
  ItemProgress progress("stage", stages_.stages().size());
  const auto judge = [&](size_t number) -> absl::StatusOr<Verdict> {
    progress.Next(Stage(number).Title());
    return stages_.Judge(StageOf(number));
  };
  const auto start = std::chrono::steady_clock::now();
  const auto has_time = [&] {
    return options_.all_stages || std::chrono::steady_clock::now() - start < kTimeToMakeSure;
  };
  KASHI_ASSIGN_OR_RETURN(result_, FindFirstBad(stages_.stages().size(), judge, has_time));
  return absl::OkStatus();
}

void ModuleBisection::ReportSkipped() {
  Json& skipped = json_["skipped"] = Json::array();
  for (size_t i = 0; i < module_.stages.size(); ++i) {
    const std::string& why = stages_.WhySkipped(i);
    if (why.empty()) continue;
    absl::StrAppend(&text_, "skipped ", module_.stages[i].Title(), ": ", why, "\n");
    Json stage = StageJson(module_.stages[i]);
    stage["why"] = why;
    skipped.push_back(std::move(stage));
  }
  for (const std::string& note : stages_.notes()) absl::StrAppend(&text_, note, "\n");
  json_["notes"] = stages_.notes();
}

// Names the pass, or the passes of which one is wrong because the stages between them could not be run.
void ModuleBisection::ReportPass() {
  const size_t good = StageOf(result_.last_good);
  const size_t bad = StageOf(*result_.first_bad);
  std::vector<std::string> passes;
  std::vector<std::string> names;
  for (size_t number = result_.last_good + 1; number <= *result_.first_bad; ++number) {
    passes.push_back(Stage(number).Title());
    names.push_back(Stage(number).pass());
  }
  absl::StrAppend(&text_,
                  passes.size() == 1 ? "first pass after which the numbers differ: "
                                     : "the numbers differ after one of these passes: ",
                  absl::StrJoin(passes, ", "), "\n  last stage that agrees:  ", module_.stages[good].path(),
                  "\n  first stage that differs: ", module_.stages[bad].path(), "\n");
  if (!result_.is_monotone) absl::StrAppend(&text_, "A later stage agrees again: all stages were run in order.\n");
  if (result_.not_run > 0) {
    absl::StrAppend(&text_, Count(result_.not_run, "earlier stage"), result_.not_run == 1 ? " was" : " were",
                    " not run (--all-stages runs all): one may differ if a later one agrees again.\n");
  }
  json_["passes"] = names;
  json_["last_good"] = StageJson(module_.stages[good]);
  json_["first_bad"] = StageJson(module_.stages[bad]);
  json_["monotone"] = result_.is_monotone;
  json_["not_run"] = result_.not_run;
}

void ModuleBisection::ReportOutputs() {
  constexpr size_t kMostOutputs = 4;
  Json& outputs = json_["outputs"] = Json::array();
  const auto& differences = stages_.DifferencesOf(StageOf(*result_.first_bad));
  for (size_t i = 0; i < differences.size(); ++i) {
    const OutputDifference& each = differences[i];
    Json output = ToJson(each.comparison);
    output["output"] = static_cast<int64_t>(each.output);
    outputs.push_back(std::move(output));
    if (i >= kMostOutputs) continue;
    absl::StrAppend(&text_, "out", each.output, "  ", ShapeUtil::HumanString(each.shape),
                    "  DIFFERS: ", ToText(each.comparison), "\n");
  }
  if (differences.size() > kMostOutputs) {
    absl::StrAppend(&text_, "and ", Count(static_cast<int64_t>(differences.size() - kMostOutputs), "other output"),
                    "\n");
  }
}

absl::Status ModuleBisection::WriteParts(const DifferingParts& parts, const std::string& directory) {
  KASHI_RETURN_IF_ERROR(MakeDirectory(directory));
  const std::filesystem::path folder = directory;
  std::string command =
      absl::StrCat("kashi diff ", Word((folder / "before.hlo").string()), " ", Word((folder / "after.hlo").string()));
  const HloPrintOptions options = HloPrintOptions().set_print_large_constants(true);
  KASHI_RETURN_IF_ERROR(WriteOutput((folder / "before.hlo").string(), parts.a->ToString(options)));
  KASHI_RETURN_IF_ERROR(WriteOutput((folder / "after.hlo").string(), parts.b->ToString(options)));
  for (size_t i = 0; i < parts.inputs.size(); ++i) {
    const std::string path = (folder / absl::StrCat("in", i, ".npy")).string();
    KASHI_RETURN_IF_ERROR(WriteNpyFile(path, parts.inputs[i]));
    absl::StrAppend(&command, " --input ", Word(path));
  }
  absl::StrAppend(
      &text_, "written to ", directory, ": before.hlo, after.hlo",
      parts.inputs.empty() ? "" : absl::StrCat(", ", Count(static_cast<int64_t>(parts.inputs.size()), "input")), "\n  ",
      command, "\n");
  json_["directory"] = directory;
  return absl::OkStatus();
}

void ModuleBisection::AddPlace(const DifferencePlace& place) {
  const DifferingParts& parts = place.parts;
  const absl::string_view name_a = place.a.instruction->name();
  const absl::string_view name_b = place.b.instruction->name();
  absl::StrAppend(&text_, "first instruction whose value differs: ", name_b,
                  name_a == name_b ? "" : absl::StrCat(" (before the pass ", name_a, ")"), " in ",
                  place.b.instruction->parent()->name(),
                  place.occurrence > 0 ? absl::StrCat(", value ", place.occurrence + 1) : "", "\n",
                  PlacedText("before", place.a), PlacedText("after ", place.b));
  if (!place.explains_all) {
    absl::StrAppend(&text_, place.explains_some
                                ? "  With the value before the pass in its place, some outputs still differ.\n"
                                : "  With the value before the pass in its place, the outputs still differ: there may "
                                  "be several such instructions.\n");
  }
  absl::StrAppend(&text_, "smallest parts that show it: ", Count(parts.instructions_a, "instruction"), " before, ",
                  parts.instructions_b, " after; ", ToText(parts.comparison), "\n",
                  parts.is_cut ? "  What leads there before the pass is longer: its values are inputs.\n" : "");
  json_["before"] = PlacedJson(place.a);
  json_["after"] = PlacedJson(place.b);
  json_["occurrence"] = place.occurrence;
  json_["explains"] = place.explains_all ? "all" : place.explains_some ? "some" : "none";
  json_["parts"] = {{"instructions_before", parts.instructions_a},
                    {"instructions_after", parts.instructions_b},
                    {"inputs", static_cast<int64_t>(parts.inputs.size())},
                    {"is_cut", parts.is_cut},
                    {"comparison", ToJson(parts.comparison)}};
}

absl::Status ModuleBisection::ReportPlace(const std::string& output_directory) {
  if (options_.no_place) return absl::OkStatus();
  if (stages_.is_partitioned()) {
    absl::StrAppend(&text_, "The program is for several devices: its instructions are not compared.\n");
    return absl::OkStatus();
  }
  const std::optional<ModuleFile> good = stages_.Read(StageOf(result_.last_good));
  const std::optional<ModuleFile> bad = good.has_value() ? stages_.Read(StageOf(*result_.first_bad)) : std::nullopt;
  if (!bad.has_value()) return FailedPrecondition("%s: a stage cannot be read again", module_.name);
  KASHI_ASSIGN_OR_RETURN(const Arguments of_good, stages_.ArgumentsOf(*good->module));
  KASHI_ASSIGN_OR_RETURN(const Arguments of_bad, stages_.ArgumentsOf(*bad->module));
  const Progress progress([] { return std::string("looking for the instruction"); });
  KASHI_ASSIGN_OR_RETURN(
      const std::optional<DifferencePlace> place,
      FindPlace({good->module.get(), &of_good}, {bad->module.get(), &of_bad}, stages_.expected(),
                Tolerance{options_.tolerance, /*allow_nan=*/true}, EvaluationFor(options_, interrupt_)));
  if (!place.has_value()) {
    absl::StrAppend(&text_, "The evaluator sees no instruction whose value differs.\n");
    return absl::OkStatus();
  }
  AddPlace(*place);
  return output_directory.empty() ? absl::OkStatus() : WriteParts(place->parts, output_directory);
}

absl::Status ModuleBisection::Run(const std::string& output_directory) {
  json_ = {{"module", module_.name}, {"stages", static_cast<int64_t>(module_.stages.size())}};
  KASHI_RETURN_IF_ERROR(stages_.Prepare());
  KASHI_RETURN_IF_ERROR(Search());
  absl::StrAppend(&text_, module_.name, ": ", Count(static_cast<int64_t>(module_.stages.size()), "stage"), ", ",
                  stages_.stages().size(), " with a change, ", stages_.ran(),
                  " run: ", differs() ? "the numbers DIFFER" : "the same numbers", "\n");
  json_["with_a_change"] = static_cast<int64_t>(stages_.stages().size());
  json_["ran"] = stages_.ran();
  if (!stages_.inputs().is_null()) json_["inputs"] = stages_.inputs();
  ReportSkipped();
  json_["differs"] = differs();
  if (!differs()) return absl::OkStatus();
  ReportPass();
  ReportOutputs();
  return ReportPlace(output_directory);
}

class BisectVerb {
 public:
  explicit BisectVerb(const BisectOptions& options) : options_(options), answers_("", options.json) {}

  int Run() {
    if (!options_.inputs.empty() && !options_.random.empty()) {
      return FailUsage("--random cannot be used with --input");
    }
    const absl::StatusOr<DumpDirectory> directory = ReadDumpDirectory(options_.directory);
    if (!directory.ok()) {
      answers_.AddFileError(options_.directory, directory.status());
      return answers_.Finish();
    }
    const size_t count = directory->modules.size();
    if (count > 1 && !options_.inputs.empty()) {
      return FailUsage(absl::StrCat("--input is for one module, and there are ", count, ": --module chooses one"));
    }
    if (count > 1) {
      PrintNote(absl::StrCat("kashi: each module runs with random arguments, --seed ", options_.seed, "\n"));
    }
    return RunModules(directory->modules);
  }

 private:
  int RunModules(const std::vector<DumpedModule>& modules) {
    ItemProgress progress("module", modules.size());
    int64_t count = 0;
    for (const DumpedModule& module : modules) {
      if (module.stages.empty()) continue;
      ++count;
      progress.Next(module.name);
      RunModule(module, modules.size() > 1);
      if (interrupt_.flag().load()) return PrintInterrupted();
      if (answers_.is_broken()) break;
    }
    if (count == 0) {
      answers_.AddFileError(options_.directory, InvalidArgument("%s has no module at any stage", options_.directory));
    }
    return answers_.Finish();
  }

  void RunModule(const DumpedModule& module, bool are_several) {
    std::string directory = options_.output_directory;
    if (!directory.empty() && are_several) directory = (std::filesystem::path(directory) / module.name).string();
    ModuleBisection bisection(module, options_, interrupt_, /*prints_note=*/!are_several, &answers_);
    const absl::Status status = bisection.Run(directory);
    if (interrupt_.flag().load()) return;
    if (!options_.json) answers_.Add(bisection.text());
    if (!status.ok()) return answers_.AddFileError(module.name, NameLimitOption(status));
    if (options_.json) answers_.AddLine(bisection.json());
    if (bisection.differs()) answers_.SetBad();
  }

  const BisectOptions& options_;
  const Interrupt interrupt_;
  const HardStop hard_stop_{options_.limits, interrupt_};
  Answers answers_;
};

void AddBisectRunOptions(Verb* verb, BisectOptions* options) {
  verb->BeginGroup("Runs");
  verb->AddOption("--input", &options->inputs,
                  "Read an argument from this .npy file; repeat it for each array, in parameter order (default: random "
                  "arguments)")
      ->File()
      ->OneEach();
  verb->AddOption("--random", &options->random, "Rule for random arguments: RULE or NUMBER=RULE, as in `kashi run`")
      ->Value("RULE")
      ->OneEach()
      ->Check(CheckRandomRule);
  verb->AddOption("--seed", &options->seed, "Seed of the random numbers (default: 42)");
  verb->AddOption("--tolerance", &options->tolerance,
                  "Largest difference of floating point numbers, absolute and relative (default: as in `kashi run`)")
      ->Check(CheckTolerance);
  verb->AddOption("--engine", &options->engine, "Engine that runs the stages (default: evaluator)")
      ->OneOf(engine::EngineNames());
  verb->AddFlag(
      "--all-stages", &options->all_stages,
      "Run all stages before the one that was found, not only for ten seconds, to make sure that none differs");
  verb->AddFlag("--no-place", &options->no_place, "Find the pass only, not the instruction");
  verb->BeginGroup("Limits");
  AddLimitOptions(verb, &options->limits);
  AddInputLimitOption(verb);
}

}  // namespace

void AddBisectVerb(Command* command) {
  auto options = std::make_shared<BisectOptions>();
  VerbHelp help;
  help.group = kProgramVerbs;
  help.summary = "Find the pass after which a dumped program computes other numbers";
  help.examples =
      "  kashi bisect dir                              the pass, the instruction, its values, for each module\n"
      "  kashi bisect dir --module jit_step            of one module\n"
      "  kashi bisect dir -o out                       also the smallest programs that differ, and their inputs\n"
      "  kashi bisect dir --module jit_step --input x.npy --input y.npy\n"
      "  kashi bisect dir --tolerance 1e-6 --json      for a script";
  help.sections = {
      {"",
       "DIR was written by XLA with --xla_dump_to and --xla_dump_hlo_pass_re='.*'. All stages of a module run on the "
       "same "
       "arguments, and their outputs are compared with those of the first stage, by the tolerance, because a pass may "
       "add "
       "in another order. Stages that cannot be run are skipped and named.",
       {}},
      {"",
       "The pass is found by binary search; if a difference vanishes again, all stages are run in order. Then "
       "the instructions before and after the pass are compared one by one.",
       {}}};
  help.failure = "A pass changes the numbers, or a module cannot be read or run";
  help.stops_at_interrupt = true;
  Verb* verb = command->AddVerb("bisect", help, [options] { return BisectVerb(*options).Run(); });
  verb->AddOption("DIR", &options->directory, "A directory that XLA wrote")->File()->Required();
  AddModuleFilterOption(verb);
  AddBisectRunOptions(verb, options.get());
  verb->BeginGroup("Output");
  verb->AddOption("-o,--output-dir", &options->output_directory,
                  "Write before.hlo, after.hlo and their inputs to this directory, or to one in it for each of several "
                  "modules")
      ->File();
  AddJsonFlag(verb, &options->json);
}

}  // namespace kashi::cli
