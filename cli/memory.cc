// `kashi memory`: the use of every byte of a program's memory.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/breakdown_options.h"
#include "cli/known_arguments.h"
#include "cli/memory_breakdown.h"
#include "cli/memory_directory.h"
#include "cli/memory_engine.h"
#include "cli/memory_html.h"
#include "cli/memory_json.h"
#include "cli/memory_report.h"
#include "cli/module_check.h"
#include "cli/module_file.h"
#include "cli/partition_module.h"
#include "cli/progress.h"
#include "cli/verb.h"
#include "cli/xla_memory_files.h"
#include "kashi/analysis/memory_analysis.h"
#include "kashi/array/tpu_tiling.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/spmd/program_scope.h"

namespace kashi::cli {
namespace {

struct MemoryOptions {
  std::vector<std::string> inputs;
  std::optional<MemoryTarget> target;
  int64_t top = 10;
  std::string sort = "peak";
  int64_t memory_space = 0;
  std::string output;
  std::string html;
  bool strict = false;
  bool details = false;
  bool ignores_xla = false;
  bool partitions = false;
  std::string engine;  // cpu; "": the memory of XLA's program
  BreakdownOptions breakdown;
  bool json = false;
};

// A module and the analysis of its memory, which points into the module.
struct Measured {
  ModuleFile file;
  std::string xla_file;  // the file of XLA that the figures are from; may be empty
  MemoryAnalysis memory;
};

// Adds errors to `answers`.
std::optional<Measured> Measure(const std::string& path, const MemoryOptions& options, Answers* answers) {
  std::optional<ModuleFile> file = ReadModuleFile(path, {options.strict}, answers);
  if (!file.has_value()) return std::nullopt;
  WarnIfInvalid(*file);
  if (options.partitions && !PartitionModuleFile(&*file, answers)) return std::nullopt;
  XlaMemoryFile xla_file;
  if (!options.ignores_xla) xla_file = ReadXlaMemoryFile(path);
  absl::StatusOr<MemoryAnalysis> memory = AnalyzeMemory(*file->module, options.target, xla_file.facts);
  if (memory.status().code() == absl::StatusCode::kFailedPrecondition) {
    PrintWarning(absl::StrCat(xla_file.path, " is ignored: ", memory.status().message()));
    xla_file = XlaMemoryFile();
    memory = AnalyzeMemory(*file->module, options.target);
  }
  if (!memory.ok()) {
    AddModuleError(*file, memory.status(), answers);
    return std::nullopt;
  }
  return Measured{*std::move(file), std::move(xla_file.path), *std::move(memory)};
}

int Compare(const MemoryOptions& options, Answers* answers) {
  std::vector<std::string> paths;
  for (const std::string& path : options.inputs) {
    const absl::StatusOr<std::vector<std::string>> modules = ExpandModulePath(path);
    if (!modules.ok()) return Fail(modules.status());
    if (modules->size() > 1) {
      return FailUsage(absl::StrCat(path, " has ", Count(static_cast<int64_t>(modules->size()), "module"),
                                    ": give two modules to compare; --module chooses one"));
    }
    paths.push_back(modules->front());
  }
  ItemProgress progress("module", 2);
  progress.Next(paths[0]);
  const std::optional<Measured> a = Measure(paths[0], options, answers);
  progress.Next(paths[1]);
  const std::optional<Measured> b = a ? Measure(paths[1], options, answers) : std::nullopt;
  if (!a || !b) return answers->Finish();
  if (options.json) {
    answers->AddLine(MemoryComparisonJson(a->memory, b->memory, paths[0], paths[1]));
  } else {
    answers->Add(MemoryComparison(a->memory, b->memory, options.top));
  }
  return answers->Finish();
}

// The modules of a file or directory. A module that exists as text and as a proto is taken as text. Adds errors to
// `answers`.
std::vector<std::string> ModulesOf(const std::string& path, Answers* answers) {
  std::vector<std::string> paths = ExpandModulePaths({path}, answers);
  return paths.size() > 1 ? WithoutRepeatedModules(paths) : paths;
}

ModuleMemoryRow RowOf(const std::string& path, const Measured& measured) {
  const MemorySpaceUsage& space = measured.memory.default_space();
  return {
      path,
      absl::StrCat(MemoryBasisName(measured.memory.basis), measured.memory.has_chosen_layouts ? ", chosen layouts" : "",
                   ProgramScopeOf(*measured.file.module).is_global() ? ", global" : ""),
      space.peak_bytes,
      space.argument_bytes,
      space.output_bytes,
      space.alias_bytes,
      space.constant_bytes,
      space.temp_bytes};
}

// The largest peak first, or as they are: by name.
template <typename Rows, typename PeakOf>
void SortModules(const MemoryOptions& options, PeakOf peak_of, Rows* rows) {
  if (options.sort == "name") return;
  absl::c_stable_sort(*rows, [&](const auto& a, const auto& b) { return peak_of(a) > peak_of(b); });
}

// The table of the modules, and how to see more.
int Overview(const std::vector<std::string>& paths, const MemoryOptions& options, Answers* answers) {
  std::vector<ModuleMemoryRow> rows;
  ItemProgress progress("module", paths.size());
  for (const std::string& path : paths) {
    progress.Next(path);
    const std::optional<Measured> measured = Measure(path, options, answers);
    if (measured) rows.push_back(RowOf(path, *measured));
  }
  SortModules(
      options, [](const ModuleMemoryRow& row) { return row.peak_bytes; }, &rows);
  if (!rows.empty()) {
    answers->Add(absl::StrCat(ModuleTable(rows, IsFile(options.output) ? 0 : TerminalWidth(STDOUT_FILENO)),
                              "\nThe figures are for memory space S(0). For one module: kashi memory ",
                              rows.front().file, "\nFor all of them: --details\n"));
  }
  return answers->Finish();
}

// An error message if the module does not use the memory space of --space; else "".
std::string SpaceError(const MemoryAnalysis& memory, int64_t memory_space) {
  std::vector<int64_t> spaces;
  for (const MemorySpaceUsage& space : memory.spaces) spaces.push_back(space.memory_space);
  if (memory_space == 0 || absl::c_linear_search(spaces, memory_space)) return "";
  return absl::StrCat("--space: the module does not use memory space ", memory_space, "; it uses ",
                      absl::StrJoin(spaces, ", "));
}

// The memory of the programs that Kashi's engine makes of the modules.
int ReportOfEngine(const MemoryOptions& options, Answers* answers) {
  const std::vector<std::string> paths = ModulesOf(options.inputs[0], answers);
  ItemProgress progress("module", paths.size());
  for (const std::string& path : paths) {
    if (answers->is_broken()) break;
    progress.Next(path);
    std::optional<ModuleFile> file = ReadModuleFile(path, {options.strict}, answers);
    if (!file.has_value()) continue;
    if (options.partitions && !PartitionModuleFile(&*file, answers)) continue;
    if (!CheckModule(*file, answers)) continue;
    if (paths.size() > 1 && !options.json)
      answers->Add(absl::StrCat(path == paths.front() ? "" : "\n", "== ", path, "\n"));
    const absl::Status reported = ReportEngineMemory(*file->module, path, options.top, answers);
    if (!reported.ok()) AddModuleError(*file, reported, answers);
  }
  return answers->Finish();
}

absl::Status ReportOne(const Measured& measured, const std::string& path, const MemoryOptions& options,
                       Answers* answers) {
  const HloModule& module = *measured.file.module;
  std::optional<BreakdownTable> table;
  if (options.breakdown.by.has_value()) {
    KASHI_ASSIGN_OR_RETURN(table, MemoryBreakdown(module, measured.memory, options.memory_space, options.breakdown));
    KASHI_RETURN_IF_ERROR(table->WriteFlame(module.name()));
  }
  if (options.json) {
    Json json = MemoryJson(module, measured.memory, path, measured.xla_file, options.top);
    if (table.has_value()) {
      json["by"] = table->grouping_name();
      json["rows"] = table->ToJson();
    }
    answers->AddLine(json);
  } else if (table.has_value()) {
    answers->Add(MemoryByText(module, measured.memory, measured.xla_file, *table, options.top, options.memory_space));
  } else {
    answers->Add(MemoryReport(module, measured.memory, measured.xla_file, options.top, options.memory_space));
  }
  return absl::OkStatus();
}

int Report(const MemoryOptions& options, Answers* answers) {
  const std::vector<std::string> paths = ModulesOf(options.inputs[0], answers);
  if (paths.size() > 1 && !options.breakdown.flame.empty()) return FailUsage("--flame draws one module");
  const bool has_table = !options.details && !options.json && !options.breakdown.by.has_value();
  if (paths.size() > 1 && has_table) return Overview(paths, options, answers);
  ItemProgress progress("module", paths.size());
  for (const std::string& path : paths) {
    if (answers->is_broken()) break;
    progress.Next(path);
    const std::optional<Measured> measured = Measure(path, options, answers);
    if (!measured) continue;
    const std::string wrong_space = SpaceError(measured->memory, options.memory_space);
    if (paths.size() == 1 && !wrong_space.empty()) return FailUsage(wrong_space);
    if (paths.size() > 1 && !options.json) {
      answers->Add(absl::StrCat(path == paths.front() ? "" : "\n", "== ", path, "\n"));
    }
    if (const absl::Status reported = ReportOne(*measured, path, options, answers); !reported.ok()) {
      AddModuleError(measured->file, reported, answers);
    }
  }
  return answers->Finish();
}

// The modification time of a file: "2026-11-22 23:44 UTC"; "" if it is unknown.
std::string DateOf(const std::string& path) {
  struct stat facts;
  std::tm date;
  char text[32];
  if (stat(path.c_str(), &facts) != 0 || gmtime_r(&facts.st_mtime, &date) == nullptr) return "";
  const size_t length = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &date);
  return std::string(text, length);
}

std::string PageOf(const std::string& path, const Measured& measured) {
  return MemoryHtml(*measured.file.module, measured.memory, {measured.file.name, DateOf(path), measured.xla_file});
}

// Writes the index "report.html" and a page per module, "report-module_0008.jit_f.cpu_after_optimizations.html".
int WritePages(const std::vector<std::string>& paths, const MemoryOptions& options, Answers* answers) {
  std::vector<MemoryIndexRow> rows;
  const std::filesystem::path index = options.html;
  ItemProgress progress("module", paths.size());
  for (const std::string& path : paths) {
    progress.Next(path);
    const std::optional<Measured> measured = Measure(path, options, answers);
    if (!measured) continue;
    const std::string name =
        absl::StrCat(index.stem().string(), "-", std::filesystem::path(ModuleStem(path)).filename().string(), ".html");
    const absl::Status written = WriteOutput((index.parent_path() / name).string(), PageOf(path, *measured));
    if (!written.ok()) return Fail(written);
    rows.push_back({RowOf(path, *measured), name});
  }
  if (rows.empty()) return answers->Finish();
  SortModules(
      options, [](const MemoryIndexRow& row) { return row.memory.peak_bytes; }, &rows);
  const absl::Status written = WriteOutput(options.html, MemoryIndexHtml(options.inputs[0], rows));
  return written.ok() ? answers->Finish() : Fail(written);
}

int WritePage(const MemoryOptions& options) {
  Answers answers("", false);
  const std::vector<std::string> paths = ModulesOf(options.inputs[0], &answers);
  if (paths.size() != 1) return WritePages(paths, options, &answers);
  ItemProgress progress("module", 1);
  progress.Next(paths.front());
  const std::optional<Measured> measured = Measure(paths.front(), options, &answers);
  if (!measured) return answers.Finish();
  const absl::Status written = WriteOutput(options.html, PageOf(paths.front(), *measured));
  return written.ok() ? kSuccess : Fail(written);
}

int RunMemory(const MemoryOptions& options) {
  if (options.inputs.size() > 2) return FailUsage("give one module, or two modules to compare");
  if (options.inputs == std::vector<std::string>{"-", "-"}) {
    return FailUsage("only one of the two modules can be read from standard input");
  }
  if (const std::string error = options.breakdown.Error(); !error.empty()) return FailUsage(error);
  if (options.breakdown.by.has_value() &&
      (options.inputs.size() == 2 || !options.html.empty() || !options.engine.empty())) {
    return FailUsage("--by cannot be used with two modules, --html or --engine");
  }
  if (!options.html.empty()) {
    if (options.inputs.size() == 2) return FailUsage("--html cannot compare two modules");
    if (options.json || !options.output.empty()) return FailUsage("--html cannot be used with --json or -o");
    if (!options.engine.empty()) return FailUsage("--html cannot be used with --engine");
    return WritePage(options);
  }
  Answers answers(options.output, options.json);
  if (!options.engine.empty()) {
    if (options.inputs.size() == 2) return FailUsage("--engine cannot compare two modules");
    if (options.target.has_value() || options.memory_space != 0 || options.ignores_xla) {
      return FailUsage("--target, --space and --no-xla are about XLA's program: they cannot be used with --engine");
    }
    return ReportOfEngine(options, &answers);
  }
  return options.inputs.size() == 2 ? Compare(options, &answers) : Report(options, &answers);
}

void AddTargetOption(Verb* verb, std::optional<MemoryTarget>* target) {
  const std::string names = MemoryTargetNames();
  const auto set = [target, names](const std::string& name) {
    *target = ParseMemoryTarget(name);
    if (target->has_value()) return std::string();
    return absl::StrCat("unknown target `", name, "`; the targets are: ", names);
  };
  verb->AddOption("--target", set,
                  absl::StrCat("The device: ", names, " (default: the device that the layouts suggest)"));
}

VerbHelp MemoryHelp() {
  VerbHelp help;
  help.group = kProgramVerbs;
  help.summary = "Explain the memory use of a module: peak, buffers and padding";
  help.examples =
      "  kashi memory module.hlo                  the peak per memory space, the largest buffers, the padding\n"
      "  kashi memory module.hlo --by scope       who makes the peak; also by layer, opcode, source, computation\n"
      "  kashi memory module.hlo --space 1        the largest buffers of memory space S(1), the vector memory\n"
      "  kashi memory --target v5p module.hlo     for this TPU generation\n"
      "  kashi memory dump                        a table of the modules of a dump directory\n"
      "  kashi memory dump --module '*jit_step*'  only the modules whose file name fits\n"
      "  kashi memory before.hlo after.hlo        the buffers that grew or moved to another memory space\n"
      "  kashi memory --engine cpu module.hlo     where each array is when `kashi run` runs the module\n"
      "  kashi memory --html page.html m.hlo      a page: memory over the schedule, search, layouts";
  help.sections = {
      {"",
       "The schedule of the module decides how long each buffer lives. If the module has no schedule, Kashi chooses an "
       "order, and the report says so. The peak is the sum of the arguments, the outputs, the constants and the "
       "temporaries that live at the same time. On a TPU, gaps between buffers do not count.",
       {}},
      {"",
       "XLA may have written a file about memory beside the module (*-buffer-assignment.txt or "
       "*-memory-usage-report.txt). Kashi then uses its figures, and the report names the file.",
       {}},
      {"Main keys of --json",
       "",
       {{"argument_bytes", "The size of the arguments. All of these are about memory space S(0)"},
        {"output_bytes", "The size of the outputs"},
        {"alias_bytes", "The part of the outputs that shares the memory of arguments"},
        {"temp_bytes", "The size of the temporaries"},
        {"peak_bytes", "The peak"},
        {"spaces", "The same for each memory space"},
        {"buffers", "All buffers"}}}};
  help.failure = "A module cannot be read or analyzed, or the output cannot be written";
  return help;
}

}  // namespace

void AddMemoryVerb(Command* command) {
  auto options = std::make_shared<MemoryOptions>();
  Verb* verb = command->AddVerb("memory", MemoryHelp(), [options] { return RunMemory(*options); });
  verb->AddOption("FILE", &options->inputs,
                  "A module, a dump directory, or `-` for standard input; or two modules to compare")
      ->File()
      ->Required();
  AddTargetOption(verb, &options->target);
  verb->AddOption("--engine", &options->engine,
                  "Instead of XLA's program, the one that this engine of Kashi's makes of the module and runs here")
      ->OneOf({"cpu"});
  verb->AddFlag("--no-xla", &options->ignores_xla, "Do not use XLA's files about memory beside the module");
  verb->BeginGroup("Report");
  verb->AddOption("--top", &options->top, "Number of buffers and shapes to show (default: 10)")
      ->Within(0, std::numeric_limits<int64_t>::max());
  verb->AddOption("--space", &options->memory_space, "Memory space of the largest buffers to show (default: 0)");
  verb->AddOption("--sort", &options->sort,
                  "Order of the modules of a directory: the largest peak first, or by name (default: peak)")
      ->OneOf({"peak", "name"});
  verb->AddFlag("--details", &options->details, "For a directory: print a report per module instead of a table");
  verb->AddOption(
          "--html", &options->html,
          "Write a page for the browser to this file instead of a report. For a directory: write an index to this "
          "file, and a page per module beside it")
      ->File();
  AddPartitionFlag(verb, &options->partitions,
                   "Partition a program that is not partitioned yet, and report the memory of each device");
  AddBreakdownOptions(verb, "the bytes at the peak", &options->breakdown);
  verb->BeginGroup("Input and output");
  AddArgumentOption(verb);
  AddModuleFilterOption(verb);
  AddInputLimitOption(verb);
  AddFunctionOption(verb);
  AddStrictFlag(verb, &options->strict);
  AddOutputOption(verb, &options->output, "Write the report to this file");
  AddJsonFlag(verb, &options->json);
}

}  // namespace kashi::cli
