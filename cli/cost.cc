// `kashi cost`: flops, transcendentals and bytes, by operation and in all.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/cost_mesh.h"
#include "cli/known_arguments.h"
#include "cli/mesh_options.h"
#include "cli/module_check.h"
#include "cli/module_file.h"
#include "cli/partition_module.h"
#include "cli/progress.h"
#include "cli/scope_note.h"
#include "cli/verb.h"
#include "kashi/analysis/call_graph.h"
#include "kashi/analysis/cost_analysis.h"
#include "kashi/analysis/source_location.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::cli {

using base::HumanBytes;
using base::WithThousands;
namespace {

struct CostOptions {
  std::vector<std::string> inputs;
  int64_t top = 10;
  std::string sort = "flops";
  std::string output;
  bool strict = false;
  bool partitions = false;
  bool json = false;
  MeshOptions mesh;
};

struct OpcodeCost {
  HloOpcode opcode;
  int64_t count = 0;
  Cost cost;
};

struct CostReport {
  CostAnalysis costs;
  std::vector<OpcodeCost> opcodes;  // the most expensive first
  // Instructions that run, the most expensive first. Without the instructions in fusions, and without calls of
  // computations whose instructions are here.
  std::vector<std::pair<const HloInstruction*, Cost>> instructions;
  int64_t loops = 0;
};

// Orders by flops, then by bytes; with `by_bytes` the other way round.
bool CostsMore(const Cost& a, const Cost& b, bool by_bytes) {
  const double flops_a = a.flops + a.transcendentals, flops_b = b.flops + b.transcendentals;
  const bool is_decided_by_bytes = by_bytes ? a.bytes_accessed != b.bytes_accessed : flops_a == flops_b;
  return is_decided_by_bytes ? a.bytes_accessed > b.bytes_accessed : flops_a > flops_b;
}

bool CostsNothing(const Cost& cost) { return cost.flops + cost.transcendentals + cost.bytes_accessed == 0; }

absl::StatusOr<CostReport> MakeReport(const HloModule& module, bool by_bytes) {
  KASHI_ASSIGN_OR_RETURN(const CallGraph graph, CallGraph::Build(module));
  CostReport report;
  KASHI_ASSIGN_OR_RETURN(report.costs, CostAnalysis::Run(module));
  std::map<HloOpcode, OpcodeCost> by_opcode;
  for (const CallGraph::Node& node : graph.nodes()) {
    if (!node.has_buffers) continue;
    for (const HloInstruction* instruction : node.computation->instructions()) {
      if (instruction->opcode() == HloOpcode::kWhile) ++report.loops;
      if (!ControlFlowCallees(*instruction).empty()) continue;
      const Cost& cost = report.costs.CostOf(instruction);
      OpcodeCost& of_opcode = by_opcode[instruction->opcode()];
      of_opcode.opcode = instruction->opcode();
      ++of_opcode.count;
      of_opcode.cost += cost;
      report.instructions.emplace_back(instruction, cost);
    }
  }
  for (const auto& [opcode, cost] : by_opcode) report.opcodes.push_back(cost);
  absl::c_stable_sort(report.opcodes,
                      [&](const auto& a, const auto& b) { return CostsMore(a.cost, b.cost, by_bytes); });
  absl::c_stable_sort(report.instructions,
                      [&](const auto& a, const auto& b) { return CostsMore(a.second, b.second, by_bytes); });
  return report;
}

void AddCost(const Cost& cost, Json* json) {
  (*json)["flops"] = cost.flops;
  (*json)["transcendentals"] = cost.transcendentals;
  (*json)["bytes_accessed"] = cost.bytes_accessed;
  if (cost.unknown > 0) (*json)["unknown"] = cost.unknown;
}

Json InstructionJson(const HloInstruction& instruction, const InstructionCost& details) {
  Json json;
  json["name"] = std::string(instruction.name());
  json["opcode"] = std::string(HloOpcodeString(instruction.opcode()));
  AddCost(details.cost, &json);
  Json& operands = json["operand_bytes"] = Json::array();
  for (const OperandCost& operand : details.operands) operands.push_back(operand.bytes);
  json["result_bytes"] = details.result_bytes;
  const SourceLocation source = GetSourceLocation(instruction);
  if (!source.op_name.empty()) json["op_name"] = source.op_name;
  if (!source.file.empty()) json["source"] = absl::StrCat(source.file, ":", source.line);
  return json;
}

Json ReportJson(const ModuleFile& file, const CostReport& report) {
  Json json;
  json["file"] = file.name;
  json["module"] = file.module->name();
  if (Json scope = ScopeJson(ProgramScopeOf(*file.module)); !scope.is_null()) json["program"] = std::move(scope);
  AddCost(report.costs.total(), &json);
  if (report.loops > 0) json["loops"] = report.loops;
  Json& opcodes = json["opcodes"] = Json::array();
  for (const OpcodeCost& each : report.opcodes) {
    Json& entry = opcodes.emplace_back(Json::object());
    entry["opcode"] = std::string(HloOpcodeString(each.opcode));
    entry["count"] = each.count;
    AddCost(each.cost, &entry);
  }
  Json& instructions = json["instructions"] = Json::array();
  for (const auto& [instruction, cost] : report.instructions) {
    instructions.push_back(InstructionJson(*instruction, report.costs.DetailsOf(instruction)));
  }
  return json;
}

constexpr double kMostExact = 1e15;  // all integers up to here are exact

// "1,179,648"; "1.5e+20" beyond 10^15.
std::string NumberText(double number) {
  const bool is_whole = std::fabs(number) < kMostExact && number == std::floor(number);
  return is_whole ? WithThousands(static_cast<int64_t>(number)) : absl::StrFormat("%.15g", number);
}

std::string CostText(const Cost& cost) {
  return absl::StrFormat("%20s%20s%20s", NumberText(cost.flops), NumberText(cost.transcendentals),
                         NumberText(cost.bytes_accessed));
}

// "1.18 Mflop", by powers of 1000.
std::string WithUnit(double number, absl::string_view unit) {
  constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  size_t prefix = 0;
  for (; std::fabs(number) >= 999.5 && prefix + 1 < std::size(kPrefixes); ++prefix) number /= 1000;
  return absl::StrFormat("%.3g %s%s", number, kPrefixes[prefix], unit);
}

std::string BytesText(double bytes) {
  return bytes < kMostExact ? HumanBytes(static_cast<int64_t>(bytes)) : absl::StrFormat("%.3g bytes", bytes);
}

// "In all 1.18 Mflop, 256 transcendentals, 1.5 MiB read and written."
std::string TotalText(const Cost& total) {
  std::string text = absl::StrCat("In all ", WithUnit(total.flops, "flop"), ", ");
  if (total.transcendentals > 0) {
    absl::StrAppend(&text, NumberText(total.transcendentals),
                    total.transcendentals == 1 ? " transcendental, " : " transcendentals, ");
  }
  return absl::StrCat(text, BytesText(total.bytes_accessed), " read and written.\n");
}

std::string MostExpensiveText(const CostReport& report, int64_t top) {
  std::string text;
  for (size_t i = 0; i < report.instructions.size() && i < top; ++i) {
    const auto& [instruction, cost] = report.instructions[i];
    if (CostsNothing(cost)) break;
    const std::string op_name = GetSourceLocation(*instruction).op_name;
    absl::StrAppendFormat(&text, "  %-38s%s%s\n", instruction->name(), CostText(cost),
                          op_name.empty() ? "" : absl::StrCat("  ", op_name));
  }
  return text.empty() ? text : absl::StrCat("\nMost expensive:\n", text);
}

std::string ReportText(const HloModule& module, const CostReport& report, int64_t top) {
  std::string text = absl::StrFormat("%-32s%8s%20s%20s%20s\n", absl::StrCat("module ", module.name()), "count", "flops",
                                     "transcendentals", "bytes");
  if (const std::string note = GlobalNote(module); !note.empty()) text = absl::StrCat(note, "\n", text);
  const Cost& total = report.costs.total();
  absl::StrAppendFormat(&text, "%-32s%8s%s\n", "in all", "", CostText(total));
  for (const OpcodeCost& each : report.opcodes) {
    if (CostsNothing(each.cost)) continue;
    absl::StrAppendFormat(&text, "  %-30s%8d%s\n", HloOpcodeString(each.opcode), each.count, CostText(each.cost));
  }
  absl::StrAppend(&text, TotalText(total));
  if (total.unknown > 0) {
    absl::StrAppend(&text, "The totals do not include ", Count(static_cast<int64_t>(total.unknown), "custom call"),
                    " of unknown cost.\n");
  }
  if (report.loops > 0) {
    absl::StrAppend(&text, "Each loop counts as one iteration (", Count(report.loops, "loop"), ").\n");
  }
  return absl::StrCat(text, MostExpensiveText(report, top));
}

// The answer about one module: text, or JSON.
struct Answer {
  std::string text;
  Json json;
};

absl::StatusOr<Answer> CostAnswer(const ModuleFile& file, const CostOptions& options) {
  Answer answer;
  if (options.mesh.is_given()) {
    KASHI_ASSIGN_OR_RETURN(const MeshReport report, MakeMeshReport(*file.module, options.mesh));
    if (options.json) {
      answer.json = MeshJson(file, report);
    } else {
      answer.text = MeshText(*file.module, report, options.top);
    }
    return answer;
  }
  KASHI_ASSIGN_OR_RETURN(const CostReport report, MakeReport(*file.module, options.sort == "bytes"));
  if (options.json) {
    answer.json = ReportJson(file, report);
  } else {
    answer.text = ReportText(*file.module, report, options.top);
  }
  return answer;
}

int RunCost(const CostOptions& options) {
  if (!options.mesh.is_given() && options.mesh.has_details()) {
    return FailUsage("--topology, --link, --network, --target, --rates and --slow-device need --mesh");
  }
  if (!options.mesh.links.empty() && !options.mesh.network_file.empty()) {
    return FailUsage("--link and --network both say how fast links are");
  }
  Answers answers(options.output, options.json);
  const std::vector<std::string> paths = ExpandModulePaths(options.inputs, &answers);
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

}  // namespace

void AddCostVerb(Command* command) {
  auto options = std::make_shared<CostOptions>();
  VerbHelp help;
  help.group = kProgramVerbs;
  help.summary = "Count the flops, transcendentals and bytes of a module";
  help.examples =
      "  kashi cost module.hlo                 the totals, the sums per operation, the most expensive instructions\n"
      "  kashi cost module.hlo --sort bytes    the instructions that read and write the most bytes come first\n"
      "  kashi cost --json module.hlo          all instructions, with the bytes of each operand\n"
      "  kashi cost dump_directory             each module of a dump\n"
      "  kashi cost --mesh 8x8 module.hlo      the time of a step on 64 devices, by a model of their network";
  help.sections = {
      {"",
       "The rules are those of XLA's cost analysis. A multiplication and an addition are two flops. Each "
       "operand is read once. A fusion only reads its operands and writes its results. Padding does not "
       "count. A loop counts as one iteration. The total includes the most expensive branch of a "
       "conditional only; the list includes all branches.",
       {}},
      {"Prediction for many devices",
       "The program must be partitioned, for as many devices as the grid has. Devices compute at the given "
       "rates, and a message takes the latency of a link and its bytes divided by the bandwidth. The time "
       "of a collective follows from its groups and the best algorithm that is known for the network. "
       "docs/scale.md describes the model.",
       {}}};
  help.failure = "A module cannot be read or analyzed, or the output cannot be written";
  Verb* verb = command->AddVerb("cost", help, [options] { return RunCost(*options); });
  verb->AddOption("FILE", &options->inputs, kModuleOrDirectory)->File()->Required();
  verb->BeginGroup("Report");
  verb->AddOption("--top", &options->top, "Number of instructions to show (default: 10)")
      ->Within(0, std::numeric_limits<int64_t>::max());
  verb->AddOption("--sort", &options->sort, "Sort by flops and transcendentals, or by bytes (default: flops)")
      ->OneOf({"flops", "bytes"});
  AddPartitionFlag(verb, &options->partitions,
                   "Partition a program that is not partitioned yet, and count what each device does");
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
