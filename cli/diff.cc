// `kashi diff`: how two programs differ, and where their values differ first.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/diff_pair.h"
#include "cli/dump_directory.h"
#include "cli/hard_stop.h"
#include "cli/interrupt.h"
#include "cli/known_arguments.h"
#include "cli/limits.h"
#include "cli/module_check.h"
#include "cli/module_file.h"
#include "cli/module_pairs.h"
#include "cli/progress.h"
#include "cli/verb.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"
#include "kashi/engine/engine.h"

namespace kashi::cli {
namespace {

class DiffVerb {
 public:
  explicit DiffVerb(const DiffOptions& options) : options_(options), answers_(options.output, options.json) {}
  int Run();

 private:
  int RunFiles(const std::string& a, const std::string& b);
  int RunDirectories();
  // The stages --from and --to of each module of a dump.
  int RunStages();
  int RunPairs(const ModulePairs& pairs);
  void ShowPair(const ModulePair& pair);
  void ShowAlone(const char* side, const std::vector<std::string>& paths);

  const DiffOptions& options_;
  const Interrupt interrupt_;
  const HardStop hard_stop_{options_.limits, interrupt_};
  Answers answers_;
  int64_t failed_ = 0;
  int64_t differing_ = 0;
};

int DiffVerb::RunFiles(const std::string& a, const std::string& b) {
  ItemProgress progress("pair", 1);
  progress.Next(absl::StrCat(a, " and ", b));
  PairDiff pair(options_, interrupt_, /*prints_notes=*/true);
  const bool is_compared = pair.Compare(a, b, &answers_);
  if (interrupt_.flag().load()) return PrintInterrupted();
  if (!options_.json) answers_.Add(pair.text());
  if (!pair.error().ok()) AddModuleError(pair.failed(), NameLimitOption(pair.error()), &answers_);
  if (!is_compared) return answers_.Finish();
  if (options_.json) answers_.AddLine(pair.json());
  if (pair.differs()) answers_.SetBad();
  return answers_.Finish();
}

// One line per pair; with --details the report below it.
void DiffVerb::ShowPair(const ModulePair& pair) {
  PairDiff diff(options_, interrupt_, /*prints_notes=*/options_.details);
  const bool is_compared = diff.Compare(pair.a, pair.b, &answers_);
  failed_ += is_compared ? 0 : 1;
  differing_ += is_compared && diff.differs() ? 1 : 0;
  const std::string error = diff.error().ok() ? "cannot be read" : std::string(diff.error().message());
  if (options_.json) {
    Json json = is_compared ? diff.json() : Json{{"a", pair.a}, {"b", pair.b}, {"error", error}};
    json["name"] = pair.name;
    if (is_compared) json["differs"] = diff.differs();
    return answers_.AddLine(json);
  }
  answers_.Add(absl::StrCat(pair.name, ": ", is_compared ? diff.Summary() : absl::StrCat("error: ", error), "\n"));
  if (options_.details && is_compared && diff.differs()) answers_.Add(diff.text());
}

void DiffVerb::ShowAlone(const char* side, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (options_.json) {
      answers_.AddLine({{"name", std::filesystem::path(path).filename().string()}, {side, path}, {"differs", true}});
    } else {
      answers_.Add(absl::StrCat("only in ", side[0] == 'a' ? "A" : "B", ": ", path, "\n"));
    }
  }
}

int DiffVerb::RunDirectories() {
  const absl::StatusOr<std::vector<std::string>> a = ExpandModulePath(options_.a);
  if (!a.ok()) return Fail(a.status());
  const absl::StatusOr<std::vector<std::string>> b = ExpandModulePath(options_.b);
  if (!b.ok()) return Fail(b.status());
  return RunPairs(PairModules(*a, *b));
}

int DiffVerb::RunPairs(const ModulePairs& pairs) {
  if (options_.inputs.empty() && !options_.no_run && !options_.details && !pairs.pairs.empty()) {
    PrintNote(absl::StrCat("kashi: no --input: each pair runs with random arguments, --seed ", options_.seed,
                           ", or with those of its snapshot\n"));
  }
  ItemProgress progress("pair", pairs.pairs.size());
  for (const ModulePair& pair : pairs.pairs) {
    progress.Next(pair.name);
    ShowPair(pair);
    if (interrupt_.flag().load()) return PrintInterrupted();
    if (answers_.is_broken()) break;
  }
  ShowAlone("a", pairs.only_a);
  ShowAlone("b", pairs.only_b);
  const size_t alone = pairs.only_a.size() + pairs.only_b.size();
  if (!options_.json) {
    answers_.Add(absl::StrCat(Count(static_cast<int64_t>(pairs.pairs.size()), "pair"), ", ", differing_, " differ",
                              failed_ > 0 ? absl::StrCat(", ", failed_, " failed") : "", "; ",
                              Count(static_cast<int64_t>(alone), "module"), " without a counterpart\n"));
  }
  const bool is_same = failed_ == 0 && differing_ == 0 && alone == 0;
  return std::max(answers_.Finish(), is_same ? kSuccess : kBadInput);
}

int DiffVerb::RunStages() {
  if (!options_.b.empty()) return FailUsage("--from and --to are stages of one dump directory: give no second one");
  const absl::StatusOr<DumpDirectory> directory = ReadDumpDirectory(options_.a);
  if (!directory.ok()) return Fail(directory.status());
  ModulePairs pairs;
  for (const DumpedModule& module : directory->modules) {
    if (module.stages.empty()) continue;
    const absl::StatusOr<size_t> from = FindStage(module, options_.from.empty() ? "before" : options_.from);
    const absl::StatusOr<size_t> to = from.ok() ? FindStage(module, options_.to.empty() ? "after" : options_.to) : from;
    if (!to.ok() && directory->modules.size() == 1) return Fail(to.status());
    if (!to.ok()) {
      PrintWarning(absl::StrCat(module.name, " is left out: ", to.status().message()));
      continue;
    }
    pairs.pairs.push_back({module.name, PathToRun(module.stages[*from]), PathToRun(module.stages[*to])});
  }
  if (pairs.pairs.empty()) return Fail(InvalidArgument("%s has no module with both stages", options_.a));
  if (pairs.pairs.size() > 1) return RunPairs(pairs);
  return RunFiles(pairs.pairs[0].a, pairs.pairs[0].b);
}

int DiffVerb::Run() {
  if (options_.a == "-" && options_.b == "-")
    return FailUsage("only one of the two modules can be read from standard input");
  if (!options_.inputs.empty() && !options_.random.empty()) {
    return FailUsage("--random cannot be used with --input");
  }
  if (!options_.from.empty() || !options_.to.empty()) return RunStages();
  if (options_.b.empty())
    return FailUsage("an argument is missing: give two modules A and B, or one dump with --from or --to");
  std::error_code error;
  const bool a_is_directory = std::filesystem::is_directory(options_.a, error);
  const bool b_is_directory = std::filesystem::is_directory(options_.b, error);
  if (a_is_directory != b_is_directory)
    return FailUsage("one is a directory and one a file: give two directories or two files");
  if (a_is_directory) return RunDirectories();
  for (const std::string& path : {options_.a, options_.b}) {
    const absl::Status chosen = ExpandModulePath(path).status();  // an error for --module, which is for directories
    if (!chosen.ok()) return Fail(chosen);
  }
  return RunFiles(options_.a, options_.b);
}

}  // namespace

namespace {

void AddDiffRunOptions(Verb* verb, DiffOptions* options) {
  verb->BeginGroup("Runs");
  verb->AddFlag("--no-run", &options->no_run, "Compare the structure only");
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
  verb->AddFlag("--allow-nan", &options->allow_nan, "Accept outputs whose elements are all NaN on both sides");
  verb->AddOption("--engine-a", &options->engine_a,
                  "Engine that runs A, as in `kashi run`. With cpu for either, outputs are compared; if they differ, "
                  "also the steps of cpu with the evaluator (default: evaluator)")
      ->OneOf(engine::EngineNames());
  verb->AddOption("--engine-b", &options->engine_b, "Engine that runs B (default: evaluator)")
      ->OneOf(engine::EngineNames());
  verb->AddFlag("--allow-elided", &options->allow_elided,
                "Run even if the text leaves out values of constants, `{...}`; the same random values replace them in "
                "both programs");
  verb->BeginGroup("Limits");
  AddLimitOptions(verb, &options->limits);
  AddArgumentOption(verb);
  AddModuleFilterOption(verb);
  AddInputLimitOption(verb);
}

}  // namespace

void AddDiffVerb(Command* command) {
  auto options = std::make_shared<DiffOptions>();
  VerbHelp help;
  help.group = kProgramVerbs;
  help.summary = "Compare two programs: their instructions, then their values";
  help.examples =
      "  kashi diff before.hlo after.hlo                 the instructions that changed, the first values that differ\n"
      "  kashi diff before.hlo partitioned.hlo           a program before and after XLA's partitioner\n"
      "  kashi diff a.hlo b.hlo --input x.npy --tolerance 0\n"
      "  kashi diff m.hlo m.hlo --engine-b cpu           the outputs of both engines, for one program\n"
      "  kashi diff a.hlo b.hlo --no-run --json          only the structure, for a script\n"
      "  kashi diff dump1 dump2                          two --xla_dump_to directories: one line per pair\n"
      "  kashi diff dump --from before --to fusion       two stages of the modules of one such directory";
  help.sections = {
      {"",
       "Instructions are paired by what they depend on and what depends on them, in fusions too. New names and another "
       "order are no difference; a changed or moved instruction is one difference, also if others use it.",
       {}},
      {"",
       "Then both programs run with the same arguments. The report names the first instruction of A whose value "
       "differs "
       "from the value of its counterpart in B, with its source line. Values that are all NaN on both sides are not "
       "compared.",
       {}},
      {"", "The modules of two directories are paired by name, without the number of the module.", {}}};
  help.failure = "Something differs or could not be compared, or the output cannot be written";
  help.stops_at_interrupt = true;
  Verb* verb = command->AddVerb("diff", help, [options] { return DiffVerb(*options).Run(); });
  verb->AddOption("A", &options->a, "A module, `-` for standard input, or a directory of modules")->File()->Required();
  verb->AddOption("B", &options->b, "The module or directory to compare with")->File();
  verb->AddOption("--from", &options->from,
                  "Of one dump directory: the stage to compare, a pass or its number (default: before)")
      ->Value("PASS");
  verb->AddOption("--to", &options->to, "The stage to compare with (default: after)")->Value("PASS");
  verb->BeginGroup("Structure");
  verb->AddFlag("--ignore-layouts", &options->ignore_layouts, "Ignore differences of layouts");
  verb->AddFlag("--all", &options->all, "Print all structural differences, not only the most important ones");
  AddDiffRunOptions(verb, options.get());
  verb->BeginGroup("Output");
  verb->AddFlag("--details", &options->details, "For directories: print the full report of each pair that differs");
  AddOutputOption(verb, &options->output, "Write the report to this file");
  verb->AddFlag("--json", &options->json, "Print one JSON object; for directories, one per pair");
}

}  // namespace kashi::cli
