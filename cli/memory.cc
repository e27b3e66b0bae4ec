// `kashi memory`: where every byte of a program's memory goes.
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
#include "absl/strings/str_join.h"
#include "cli/memory_html.h"
#include "cli/memory_json.h"
#include "cli/memory_report.h"
#include "cli/module_file.h"
#include "cli/verb.h"
#include "kashi/analysis/memory_analysis.h"
#include "kashi/array/tpu_tiling.h"
#include "kashi/hlo/hlo_module.h"

namespace kashi::cli {
namespace {

struct MemoryOptions {
  std::vector<std::string> inputs;
  std::optional<MemoryTarget> target;
  int64_t top = 10;
  int64_t memory_space = 0;
  std::string output;
  std::string html;
  bool strict = false;
  bool json = false;
};

// A module and what is known of its memory, which points into it.
struct Measured {
  ModuleFile file;
  MemoryAnalysis memory;
};

// `answers` receives errors.
std::optional<Measured> Measure(const std::string& path, const MemoryOptions& options, Answers* answers) {
  std::optional<ModuleFile> file = ReadModuleFile(path, {options.strict}, answers);
  if (!file.has_value()) return std::nullopt;
  absl::StatusOr<MemoryAnalysis> memory = AnalyzeMemory(*file->module, options.target);
  if (!memory.ok()) {
    const std::string message = absl::StrCat(file->name, ": ", memory.status().message());
    answers->AddFileError(file->name, absl::Status(memory.status().code(), message));
    return std::nullopt;
  }
  return Measured{*std::move(file), *std::move(memory)};
}

int Compare(const MemoryOptions& options, Answers* answers) {
  const std::optional<Measured> a = Measure(options.inputs[0], options, answers);
  const std::optional<Measured> b = a ? Measure(options.inputs[1], options, answers) : std::nullopt;
  if (!a || !b) return answers->Finish();
  answers->Add(MemoryComparison(a->memory, b->memory, options.top));
  return answers->Finish();
}

// "", or why --space makes no sense for this module.
std::string WrongSpace(const MemoryAnalysis& memory, int64_t memory_space) {
  std::vector<int64_t> spaces;
  for (const MemorySpaceUsage& space : memory.spaces) spaces.push_back(space.memory_space);
  if (memory_space == 0 || absl::c_linear_search(spaces, memory_space)) return "";
  return absl::StrCat("--space: the module uses no memory space ", memory_space, "; it uses ",
                      absl::StrJoin(spaces, ", "));
}

int Report(const MemoryOptions& options, Answers* answers) {
  const std::vector<std::string> paths = ExpandModulePaths({options.inputs[0]}, answers);
  for (const std::string& path : paths) {
    if (answers->is_broken()) break;
    const std::optional<Measured> measured = Measure(path, options, answers);
    if (!measured) continue;
    const std::string wrong_space = WrongSpace(measured->memory, options.memory_space);
    if (paths.size() == 1 && !wrong_space.empty()) return FailUsage(wrong_space);
    const HloModule& module = *measured->file.module;
    if (options.json) {
      answers->AddLine(MemoryJson(measured->file.name, module, measured->memory, options.top));
      continue;
    }
    if (paths.size() > 1) answers->Add(absl::StrCat(path == paths.front() ? "" : "\n", "== ", path, "\n"));
    answers->Add(MemoryReport(module, measured->memory, options.top, options.memory_space));
  }
  return answers->Finish();
}

int WritePage(const MemoryOptions& options) {
  Answers answers("", false);
  const absl::StatusOr<std::vector<std::string>> paths = ExpandModulePath(options.inputs[0]);
  if (!paths.ok()) return Fail(paths.status());
  if (paths->size() != 1) return FailUsage(absl::StrCat("--html is for one module, and there are ", paths->size()));
  const std::optional<Measured> measured = Measure(paths->front(), options, &answers);
  if (!measured) return answers.Finish();
  const absl::Status written = WriteOutput(options.html, MemoryHtml(*measured->file.module, measured->memory));
  return written.ok() ? kSuccess : Fail(written);
}

int RunMemory(const MemoryOptions& options) {
  if (options.inputs.size() > 2) return FailUsage("kashi memory takes one module, or two to compare");
  if (options.inputs.size() == 2 && options.json) return FailUsage("--json is for one module");
  if (options.inputs == std::vector<std::string>{"-", "-"}) {
    return FailUsage("standard input can be read once, and both modules are to come from it");
  }
  if (!options.html.empty()) {
    if (options.inputs.size() == 2) return FailUsage("--html is for one module");
    if (options.json || !options.output.empty())
      return FailUsage("--html writes a page: no --json and no -o beside it");
    return WritePage(options);
  }
  Answers answers(options.output, options.json);
  return options.inputs.size() == 2 ? Compare(options, &answers) : Report(options, &answers);
}

void AddTargetOption(Verb* verb, std::optional<MemoryTarget>* target) {
  const std::string names = absl::StrCat(
      absl::StrJoin(TpuGenerations(), " ",
                    [](std::string* out, const TpuGenerationInfo& info) { absl::StrAppend(out, info.name); }),
      " host");
  const auto set = [target, names](const std::string& name) {
    *target = ParseMemoryTarget(name);
    if (target->has_value()) return std::string();
    return absl::StrCat("no target `", name, "`; there are: ", names);
  };
  verb->AddOption("--target", set, absl::StrCat("Whose memory it is (", names, "); guessed from the layouts"));
}

}  // namespace

void AddMemoryVerb(Command* command) {
  auto options = std::make_shared<MemoryOptions>();
  const std::string examples =
      "  kashi memory module.hlo                  peak by memory space, largest buffers, padding\n"
      "  kashi memory module.hlo --space 1        the largest buffers of the vector memory, S(1)\n"
      "  kashi memory --target v5p module.hlo     says what the layouts do not: the generation of TPU\n"
      "  kashi memory before.hlo after.hlo        what grew, what moved to another memory space\n"
      "  kashi memory --json module.hlo           totals, spaces, all buffers, padding\n"
      "  kashi memory --html report.html module.hlo\n"
      "                                           a page for the browser: memory over the schedule, search, layouts\n\n"
      "The module's schedule tells from when to when each buffer is needed; one without is ordered here, and the "
      "report\n"
      "says so. Peak means arguments, outputs and constants, and the temporaries that are alive at once; gaps between\n"
      "buffers do not count.";
  Verb* verb = command->AddVerb("memory", "Explain where the memory of a module goes", examples,
                                [options] { return RunMemory(*options); });
  verb->AddOption("FILE", &options->inputs, "A module, a directory of a dump, or `-`; or two modules to compare")
      ->File()
      ->Required();
  AddTargetOption(verb, &options->target);
  verb->AddOption("--top", &options->top, "How many buffers and shapes to show (10)")
      ->Within(0, std::numeric_limits<int64_t>::max());
  verb->AddOption("--space", &options->memory_space, "Whose largest buffers to show (0)");
  AddOutputOption(verb, &options->output, "Write to this file");
  verb->AddOption("--html", &options->html,
                  "Write a page to this file: self-contained, opens in any browser; no report")
      ->File();
  AddStrictFlag(verb, &options->strict);
  AddJsonFlag(verb, &options->json);
}

}  // namespace kashi::cli
