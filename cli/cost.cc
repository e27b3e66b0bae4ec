// `kashi cost`: flops, transcendentals and bytes, by operation and in all.
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/breakdown_options.h"
#include "cli/cost_mesh.h"
#include "cli/cost_report.h"
#include "cli/known_arguments.h"
#include "cli/mesh_options.h"
#include "cli/module_check.h"
#include "cli/module_file.h"
#include "cli/partition_module.h"
#include "cli/progress.h"
#include "cli/target_option.h"
#include "cli/verb.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::cli {

namespace {

struct CostOptions {
  std::vector<std::string> inputs;
  int64_t top = 10;
  std::string sort;  // "": seconds with --target, otherwise flops
  std::string output;
  std::string target;
  BreakdownOptions breakdown;
  bool as_xla = false;
  bool strict = false;
  bool partitions = false;
  bool json = false;
  MeshOptions mesh;
};

// The answer about one module: text, or JSON.
struct Answer {
  std::string text;
  Json json;
};

CostReportOptions ReportOptionsOf(const CostOptions& options) {
  CostReportOptions report;
  report.as_xla = options.as_xla;
  report.breakdown = options.breakdown;
  if (!options.target.empty()) report.accelerator = &AcceleratorOf(options.target);
  const bool by_seconds = options.sort.empty() ? !options.target.empty() : options.sort == "seconds";
  report.sort = by_seconds ? CostSort::kSeconds : options.sort == "bytes" ? CostSort::kBytes : CostSort::kFlops;
  return report;
}

absl::StatusOr<Answer> CostAnswer(const ModuleFile& file, const CostOptions& options) {
  Answer answer;
  if (options.mesh.is_given()) {
    KASHI_ASSIGN_OR_RETURN(const MeshReport report, MakeMeshReport(*file.module, options.mesh, options.target));
    if (options.json) {
      answer.json = MeshJson(file, report);
    } else {
      answer.text = MeshText(*file.module, report, options.top);
    }
    return answer;
  }
  KASHI_ASSIGN_OR_RETURN(const CostReport report, MakeCostReport(*file.module, ReportOptionsOf(options)));
  if (report.breakdown.has_value()) KASHI_RETURN_IF_ERROR(report.breakdown->WriteFlame(file.module->name()));
  if (options.json) {
    answer.json = CostReportJson(file, report);
  } else {
    answer.text = CostReportText(*file.module, report, options.top);
  }
  return answer;
}

// A message about options that do not go together; "" if all do.
std::string UsageError(const CostOptions& options) {
  if (!options.mesh.is_given() && options.mesh.has_details()) {
    return "--topology, --link, --network, --rates, --slow-device and --host-devices need --mesh";
  }
  if (!options.mesh.links.empty() && !options.mesh.network_file.empty()) {
    return "--link and --network both say how fast links are";
  }
  if (options.mesh.is_given() && (options.as_xla || options.breakdown.by.has_value())) {
    return "--mesh cannot be used with --as-xla or --by";
  }
  if (options.sort == "seconds" && options.target.empty()) return "--sort seconds needs --target";
  return options.breakdown.Error();
}

int RunCost(const CostOptions& options) {
  if (const std::string error = UsageError(options); !error.empty()) return FailUsage(error);
  Answers answers(options.output, options.json);
  const std::vector<std::string> paths = ExpandModulePaths(options.inputs, &answers);
  if (paths.size() > 1 && !options.breakdown.flame.empty()) return FailUsage("--flame draws one module");
  ItemProgress progress("module", paths.size());
  bool is_first = true;
  for (const std::string& path : paths) {
    if (answers.is_broken()) break;
    progress.Next(path);
    std::optional<ModuleFile> file = ReadModuleFile(path, {options.strict}, &answers);
    if (!file.has_value()) continue;
    WarnIfInvalid(*file);
    if (options.partitions && !PartitionModuleFile(&*file, &answers)) continue;
    const absl::StatusOr<Answer> answer = CostAnswer(*file, options);
    if (!answer.ok()) {
      AddModuleError(*file, answer.status(), &answers);
    } else if (options.json) {
      answers.AddLine(answer->json);
    } else {
      if (paths.size() > 1) answers.Add(absl::StrCat(is_first ? "" : "\n", "== ", path, "\n"));
      is_first = false;
      answers.Add(answer->text);
    }
  }
  return answers.Finish();
}

VerbHelp CostHelp() {
  VerbHelp help;
  help.group = kProgramVerbs;
  help.summary = "Count the flops, transcendentals and bytes of a module";
  help.examples =
      "  kashi cost module.hlo                 the totals, the sums per operation, the most expensive instructions\n"
      "  kashi cost module.hlo --by layer      which layer costs most; also by scope, opcode, source, computation\n"
      "  kashi cost module.hlo --target h100   how long each instruction takes at least, and what bounds it\n"
      "  kashi cost module.hlo --sort bytes    the instructions that read and write the most bytes come first\n"
      "  kashi cost --as-xla module.hlo        XLA's own count, in which a loop is one iteration\n"
      "  kashi cost --json module.hlo          all instructions, with the bytes of each operand\n"
      "  kashi cost m.hlo --by scope --tree --flame m.svg   the tree of scopes, also as a drawing\n"
      "  kashi cost dump_directory             each module of a dump\n"
      "  kashi cost --mesh 8x8 module.hlo      the time of a step on 64 devices, by a model of their network";
  help.sections = {
      {"",
       "The rules are those of XLA's cost analysis. A multiplication and an addition are two flops. Each "
       "operand is read once. A fusion only reads its operands and writes its results. Padding does not "
       "count. Unlike XLA, a loop counts as often as it runs, if that is known, and a cumulative reduce-window adds "
       "each "
       "element once. The total includes the most expensive branch of a conditional only; so do the sums of --by. "
       "`count` is how often instructions run.",
       {}},
      {"Breakdown",
       "The scope of an instruction is its op_name without the program and the operation: layer_3/attention in "
       "jit(step)/jvp(layer_3)/attention/dot_general. Differentiated and recomputed passes of a layer belong to it. "
       "The "
       "layer is the scope up to its first numbered part. The rows add up to the total.",
       {}},
      {"Times",
       "--target takes the longest of arithmetic and memory traffic of each instruction, at the peaks of the device: a "
       "model, no measurement. On a TPU, the padding of tiles counts. docs/cost.md compares it with measured times.",
       {}},
      {"Prediction for many devices",
       "The program must be partitioned, for as many devices as the grid has. Devices compute at the given "
       "rates, and a message takes the latency of a link and its bytes divided by the bandwidth. The time "
       "of a collective follows from its groups and the best algorithm that is known for the network. "
       "docs/scale.md describes the model.",
       {}},
      {"Main keys of --json",
       "",
       {{"flops", "Of all runs, as are transcendentals and bytes_accessed, in all and of each instruction"},
        {"xla", "The same by XLA's own count"},
        {"loops, unknown_loops", "How many loops there are, and which trip counts are not known"},
        {"notes", "What of a call of cuBLAS or cuDNN is not counted, and why"},
        {"opcodes", "The sums by operation"},
        {"instructions", "All instructions, with count; operand_bytes and result_bytes are those of one run"},
        {"target", "With --target: seconds, compute_seconds, memory_seconds, wasted_seconds on padding"},
        {"rows", "With --by: the rows, instead of opcodes and instructions"}}}};
  help.failure = "A module cannot be read or analyzed, or the output cannot be written";
  return help;
}

}  // namespace

void AddCostVerb(Command* command) {
  auto options = std::make_shared<CostOptions>();
  Verb* verb = command->AddVerb("cost", CostHelp(), [options] { return RunCost(*options); });
  verb->AddOption("FILE", &options->inputs, kModuleOrDirectory)->File()->Required();
  verb->BeginGroup("Report");
  verb->AddOption("--top", &options->top, "Number of instructions to show (default: 10)")
      ->Within(0, std::numeric_limits<int64_t>::max());
  verb->AddOption("--sort", &options->sort,
                  "Sort by flops and transcendentals, by bytes, or by seconds (default: flops; with --target: seconds)")
      ->OneOf({"flops", "bytes", "seconds"});
  AddAcceleratorOption(verb, "The device for which times are computed", &options->target);
  verb->AddFlag("--as-xla", &options->as_xla, "Count as XLA does: a loop is one iteration");
  AddPartitionFlag(verb, &options->partitions,
                   "Partition a program that is not partitioned yet, and count what each device does");
  AddBreakdownOptions(verb, "flops, transcendentals and bytes", &options->breakdown);
  AddMeshOptions(verb, &options->mesh);
  verb->BeginGroup("Input and output");
  AddArgumentOption(verb);
  AddModuleFilterOption(verb);
  AddInputLimitOption(verb);
  AddFunctionOption(verb);
  AddStrictFlag(verb, &options->strict);
  AddOutputOption(verb, &options->output, "Write to this file");
  AddJsonFlag(verb, &options->json);
}

}  // namespace kashi::cli
