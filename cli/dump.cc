// `kashi dump`: what an --xla_dump_to directory holds, and what each pass did.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "cli/diff_structure.h"
#include "cli/dump_directory.h"
#include "cli/dump_passes.h"
#include "cli/dump_table.h"
#include "cli/hard_stop.h"
#include "cli/interrupt.h"
#include "cli/limits.h"
#include "cli/module_file.h"
#include "cli/progress.h"
#include "cli/verb.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/insight/accelerators.h"
#include "kashi/matching/module_diff.h"

namespace kashi::cli {
namespace {

struct DumpOptions {
  std::string directory;
  bool passes = false;
  std::string diff;
  std::string sort = "size";
  int64_t top = 0;  // 0: all
  const insight::Accelerator* accelerator = nullptr;
  bool all = false;
  LimitOptions limits;
  std::string output;
  bool json = false;
};

class DumpVerb {
 public:
  explicit DumpVerb(const DumpOptions& options) : options_(options), answers_(options.output, options.json) {}

  int Run();

 private:
  DumpedSizes SizesOf(const DumpedModule& module);
  std::optional<int64_t> InstructionCount(const DumpedStage& stage);
  int ShowModules(DumpDirectory directory);
  void ShowPasses(const DumpedModule& module);
  // The difference between each of these stages and the one before it.
  int ShowDiffs(const std::vector<DumpedModule>& modules);
  bool ShowDiff(const DumpedModule& module, size_t stage);
  size_t Width() const { return IsFile(options_.output) ? 0 : TerminalWidth(STDOUT_FILENO); }

  const DumpOptions& options_;
  const Interrupt interrupt_;
  const HardStop hard_stop_{options_.limits, interrupt_};
  Answers answers_;
};

std::optional<int64_t> DumpVerb::InstructionCount(const DumpedStage& stage) {
  const std::optional<ModuleFile> file = ReadModuleFile(stage.path(), {}, &answers_);
  return file.has_value() ? std::optional<int64_t>(file->module->instruction_count()) : std::nullopt;
}

DumpedSizes DumpVerb::SizesOf(const DumpedModule& module) {
  DumpedSizes sizes;
  if (module.stages.empty()) return sizes;
  sizes.instructions_before = InstructionCount(module.stages.front());
  sizes.instructions_after =
      module.stages.size() == 1 ? sizes.instructions_before : InstructionCount(module.stages.back());
  return sizes;
}

template <typename Compare>
void SortTogether(std::vector<DumpedModule>* modules, std::vector<DumpedSizes>* sizes, Compare before) {
  std::vector<std::pair<DumpedModule, DumpedSizes>> pairs;
  for (size_t i = 0; i < modules->size(); ++i) pairs.emplace_back(std::move((*modules)[i]), (*sizes)[i]);
  absl::c_stable_sort(pairs, before);
  for (size_t i = 0; i < modules->size(); ++i) {
    (*modules)[i] = std::move(pairs[i].first);
    (*sizes)[i] = pairs[i].second;
  }
}

int DumpVerb::ShowModules(DumpDirectory directory) {
  std::vector<DumpedSizes> sizes;
  ItemProgress progress("module", directory.modules.size());
  for (const DumpedModule& module : directory.modules) {
    progress.Next(module.name);
    sizes.push_back(SizesOf(module));
    if (interrupt_.flag().load()) return PrintInterrupted();
  }
  const std::string summary = DumpSummary(directory);
  const auto key = [&](const std::pair<DumpedModule, DumpedSizes>& each) -> int64_t {
    if (options_.sort == "instructions") return each.second.instructions_before.value_or(0);
    return options_.sort == "passes" ? each.first.PassCount() : each.first.bytes;
  };
  if (options_.sort != "name") {
    SortTogether(&directory.modules, &sizes, [&](const auto& a, const auto& b) { return key(a) > key(b); });
  }
  const size_t count = directory.modules.size();
  if (options_.top > 0 && options_.top < static_cast<int64_t>(count)) {
    directory.modules.resize(options_.top);
    sizes.resize(options_.top);
  }
  if (options_.json) {
    for (size_t i = 0; i < sizes.size(); ++i) answers_.AddLine(DumpJson(directory.modules[i], sizes[i]));
    return answers_.Finish();
  }
  answers_.Add(DumpTable(directory.modules, sizes, Width()));
  if (sizes.size() < count) answers_.Add(absl::StrCat("and ", count - sizes.size(), " more (--top)\n"));
  answers_.Add(summary);
  if (directory.modules.size() == 1) {
    answers_.Add(absl::StrCat("\n", ModuleFilesTable(directory.modules.front(), Width())));
  }
  return answers_.Finish();
}

void DumpVerb::ShowPasses(const DumpedModule& module) {
  const std::vector<StageRow> rows = ReadPasses(module, options_.accelerator, &answers_);
  if (options_.json) {
    for (size_t i = 0; i < rows.size(); ++i)
      answers_.AddLine(PassJson(module, rows[i], i == 0 ? nullptr : &rows[i - 1]));
    return;
  }
  answers_.Add(PassTable(module, rows, Width()));
}

bool DumpVerb::ShowDiff(const DumpedModule& module, size_t stage) {
  const DumpedStage& after = module.stages[stage];
  if (stage == 0) {
    answers_.AddFileError(after.path(), absl::InvalidArgumentError(absl::StrCat(
                                            module.name, ": nothing comes before the stage ", after.Title())));
    return false;
  }
  const DumpedStage& before = module.stages[stage - 1];
  const std::optional<ModuleFile> a = ReadStage(before, &answers_);
  const std::optional<ModuleFile> b = a.has_value() ? ReadStage(after, &answers_) : std::nullopt;
  if (!b.has_value()) return false;
  const matching::ModuleDiff diff = matching::DiffModules(*a->module, *b->module, /*with_layouts=*/true);
  if (options_.json) {
    answers_.AddLine({{"module", module.name},
                      {"stage", after.Title()},
                      {"a", a->name},
                      {"b", b->name},
                      {"opcodes", OpcodesJson(*a->module, *b->module)},
                      {"differences", StructureJson(diff)},
                      {"renamed", diff.renamed}});
    return true;
  }
  answers_.Add(absl::StrCat(module.name, ", ", after.Title(), "\n  A is before it: ", before.Title(), "\n",
                            StructureText(*a->module, *b->module, diff, options_.all)));
  return true;
}

int DumpVerb::ShowDiffs(const std::vector<DumpedModule>& modules) {
  absl::Status missing;
  int64_t found = 0;
  int64_t shown = 0;
  for (const DumpedModule& module : modules) {
    const absl::StatusOr<std::vector<size_t>> stages = FindStages(module, options_.diff);
    if (!stages.ok()) {  // an error only if no module has such a stage
      missing = stages.status();
      continue;
    }
    for (const size_t stage : *stages) {
      if (interrupt_.flag().load()) return PrintInterrupted();
      ++found;
      if (shown > 0 && !options_.json) answers_.Add("\n");
      shown += ShowDiff(module, stage) ? 1 : 0;
    }
  }
  return found == 0 ? Fail(missing) : answers_.Finish();
}

int DumpVerb::Run() {
  if (options_.passes && !options_.diff.empty()) return FailUsage("--passes and --diff exclude each other");
  if (options_.accelerator != nullptr && !options_.passes) return FailUsage("--target needs --passes");
  absl::StatusOr<DumpDirectory> directory = ReadDumpDirectory(options_.directory);
  if (!directory.ok()) {
    answers_.AddFileError(options_.directory, directory.status());
    return answers_.Finish();
  }
  if (!options_.diff.empty()) return ShowDiffs(directory->modules);
  if (!options_.passes) return ShowModules(*std::move(directory));
  ItemProgress progress("module", directory->modules.size());
  bool is_first = true;
  for (const DumpedModule& module : directory->modules) {
    progress.Next(module.name);
    if (module.stages.empty()) continue;
    if (!is_first && !options_.json) answers_.Add("\n");
    is_first = false;
    ShowPasses(module);
    if (interrupt_.flag().load()) return PrintInterrupted();
    if (answers_.is_broken()) break;
  }
  return answers_.Finish();
}

void AddAcceleratorOption(Verb* verb, const insight::Accelerator** accelerator) {
  const auto set = [accelerator](const std::string& name) {
    *accelerator = insight::FindAccelerator(name);
    if (*accelerator != nullptr) return std::string();
    return absl::StrCat("unknown target `", name, "`; the targets are: ", insight::AcceleratorNames());
  };
  verb->AddOption("--target", set,
                  absl::StrCat("With --passes: also the time of a run on this device, by its roofline: ",
                               insight::AcceleratorNames()));
}

}  // namespace

void AddDumpVerb(Command* command) {
  auto options = std::make_shared<DumpOptions>();
  VerbHelp help;
  help.group = kProgramVerbs;
  help.summary = "List a dump directory of XLA, and tell what each pass did";
  help.examples =
      "  kashi dump dir                                  the modules, the largest first: stages, sizes, reports\n"
      "  kashi dump dir --module jit_step                the files of one module\n"
      "  kashi dump dir --passes --module jit_step       what each pass changed, in memory and cost too\n"
      "  kashi dump dir --diff algsimp --module jit_step the instructions that this pass changed\n"
      "  kashi dump dir --passes --json                  one line per stage, for a script";
  help.sections = {
      {"",
       "XLA writes a directory with --xla_dump_to, and the module after each pass that changes it with "
       "--xla_dump_hlo_pass_re='.*'. Both are set by XLA_FLAGS.",
       {}},
      {"",
       "The peak is that of `kashi memory`, an estimate before the module is scheduled. Flops and bytes are those of "
       "all iterations of loops.",
       {}}};
  help.failure = "The directory or a module cannot be read, or the output cannot be written";
  help.stops_at_interrupt = true;
  Verb* verb = command->AddVerb("dump", help, [options] { return DumpVerb(*options).Run(); });
  verb->AddOption("DIR", &options->directory, "A directory that XLA wrote")->File()->Required();
  verb->BeginGroup("Report");
  verb->AddFlag("--passes", &options->passes, "Tell what each pass did, instead of the list");
  verb->AddOption("--diff", &options->diff,
                  "Print the structural difference that a stage made: a pass, its number, or a pattern")
      ->Value("PASS");
  AddModuleFilterOption(verb);
  verb->AddOption("--sort", &options->sort, "Order of the modules (default: size, the largest first)")
      ->OneOf({"size", "instructions", "passes", "name"});
  verb->AddOption("--top", &options->top, "Number of modules to list; 0 means all (default: 0)")
      ->Within(0, std::numeric_limits<int64_t>::max());
  AddAcceleratorOption(verb, &options->accelerator);
  verb->AddFlag("--all", &options->all, "With --diff: print all differences, not only the most important ones");
  verb->BeginGroup("Input and output");
  AddInputLimitOption(verb);
  AddTimeoutOption(verb, &options->limits);
  AddOutputOption(verb, &options->output, "Write to this file");
  AddJsonFlag(verb, &options->json);
}

}  // namespace kashi::cli
