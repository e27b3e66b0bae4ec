// `kashi cost`: flops, transcendentals and bytes, by operation and in all.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/module_file.h"
#include "cli/verb.h"
#include "kashi/analysis/call_graph.h"
#include "kashi/analysis/cost_analysis.h"
#include "kashi/analysis/source_location.h"
#include "kashi/base/status.h"

namespace kashi::cli {
namespace {

struct CostOptions {
  std::vector<std::string> inputs;
  int64_t top = 10;
  std::string output;
  bool strict = false;
  bool json = false;
};

struct OpcodeCost {
  HloOpcode opcode;
  int64_t count = 0;
  Cost cost;
};

struct CostReport {
  Cost total;
  std::vector<OpcodeCost> opcodes;  // the most flops first, then the most bytes
  // Those that run by themselves: not what is in fusions, nor the calls of what stands here anyway.
  std::vector<std::pair<const HloInstruction*, Cost>> instructions;
};

bool CostsMore(const Cost& a, const Cost& b) {
  const double flops_a = a.flops + a.transcendentals, flops_b = b.flops + b.transcendentals;
  return flops_a != flops_b ? flops_a > flops_b : a.bytes_accessed > b.bytes_accessed;
}

absl::StatusOr<CostReport> MakeReport(const HloModule& module) {
  KASHI_ASSIGN_OR_RETURN(const CallGraph graph, CallGraph::Build(module));
  KASHI_ASSIGN_OR_RETURN(const CostAnalysis costs, CostAnalysis::Run(module));
  CostReport report;
  report.total = costs.total();
  std::map<HloOpcode, OpcodeCost> by_opcode;
  for (const CallGraph::Node& node : graph.nodes()) {
    if (!node.has_buffers) continue;
    for (const HloInstruction* instruction : node.computation->instructions()) {
      if (!ControlFlowCallees(*instruction).empty()) continue;
      const Cost& cost = costs.CostOf(instruction);
      OpcodeCost& of_opcode = by_opcode[instruction->opcode()];
      of_opcode.opcode = instruction->opcode();
      ++of_opcode.count;
      of_opcode.cost += cost;
      report.instructions.emplace_back(instruction, cost);
    }
  }
  for (const auto& [opcode, cost] : by_opcode) report.opcodes.push_back(cost);
  absl::c_stable_sort(report.opcodes, [](const auto& a, const auto& b) { return CostsMore(a.cost, b.cost); });
  absl::c_stable_sort(report.instructions, [](const auto& a, const auto& b) { return CostsMore(a.second, b.second); });
  return report;
}

void AddCost(const Cost& cost, Json* json) {
  (*json)["flops"] = cost.flops;
  (*json)["transcendentals"] = cost.transcendentals;
  (*json)["bytes_accessed"] = cost.bytes_accessed;
  if (cost.unknown > 0) (*json)["unknown"] = cost.unknown;
}

Json ReportJson(const HloModule& module, const CostReport& report) {
  Json json;
  json["module"] = module.name();
  AddCost(report.total, &json);
  Json& opcodes = json["opcodes"] = Json::array();
  for (const OpcodeCost& each : report.opcodes) {
    Json& entry = opcodes.emplace_back(Json::object());
    entry["opcode"] = std::string(HloOpcodeString(each.opcode));
    entry["count"] = each.count;
    AddCost(each.cost, &entry);
  }
  Json& instructions = json["instructions"] = Json::array();
  for (const auto& [instruction, cost] : report.instructions) {
    Json& entry = instructions.emplace_back(Json::object());
    entry["name"] = std::string(instruction->name());
    entry["opcode"] = std::string(HloOpcodeString(instruction->opcode()));
    AddCost(cost, &entry);
  }
  return json;
}

std::string CostText(const Cost& cost) {
  return absl::StrFormat("%14.6g%16.6g%14.6g", cost.flops, cost.transcendentals, cost.bytes_accessed);
}

std::string ReportText(const HloModule& module, const CostReport& report, int64_t top) {
  std::string text = absl::StrFormat("%-32s%8s%14s%16s%14s\n", absl::StrCat("module ", module.name()), "count", "flops",
                                     "transcendentals", "bytes");
  absl::StrAppendFormat(&text, "%-32s%8s%s\n", "in all", "", CostText(report.total));
  for (const OpcodeCost& each : report.opcodes) {
    if (each.cost.flops + each.cost.transcendentals + each.cost.bytes_accessed == 0) continue;
    absl::StrAppendFormat(&text, "  %-30s%8d%s\n", HloOpcodeString(each.opcode), each.count, CostText(each.cost));
  }
  if (report.total.unknown > 0) {
    absl::StrAppendFormat(&text, "What %.6g custom calls cost is not known.\n", report.total.unknown);
  }
  absl::StrAppend(&text, "\nMost expensive:\n");
  for (size_t i = 0; i < report.instructions.size() && i < top; ++i) {
    const auto& [instruction, cost] = report.instructions[i];
    const std::string op_name = GetSourceLocation(*instruction).op_name;
    absl::StrAppendFormat(&text, "  %-38s%s%s\n", instruction->name(), CostText(cost),
                          op_name.empty() ? "" : absl::StrCat("  ", op_name));
  }
  return text;
}

int RunCost(const CostOptions& options) {
  const absl::StatusOr<std::vector<std::string>> expanded = ExpandModulePaths(options.inputs);
  if (!expanded.ok()) return Fail(expanded.status());
  const std::vector<std::string>& paths = *expanded;
  Answers answers(options.output, options.json);
  int status = kSuccess;
  for (const std::string& path : paths) {
    if (answers.is_broken()) break;
    const std::optional<ModuleFile> file = ReadModuleFile(path, {options.strict});
    if (!file.has_value()) {
      status = kBadInput;
      continue;
    }
    const absl::StatusOr<CostReport> report = MakeReport(*file->module);
    if (!report.ok()) {
      status = Fail(absl::Status(report.status().code(), absl::StrCat(file->name, ": ", report.status().message())));
    } else if (options.json) {
      answers.AddLine(ReportJson(*file->module, *report));
    } else {
      if (paths.size() > 1) answers.Add(absl::StrCat(path == paths.front() ? "" : "\n", "== ", path, "\n"));
      answers.Add(ReportText(*file->module, *report, options.top));
    }
  }
  return std::max(status, answers.Finish());
}

}  // namespace

void AddCostVerb(Command* command) {
  auto options = std::make_shared<CostOptions>();
  const std::string examples =
      "  kashi cost module.hlo              in all, by operation, and the most expensive instructions\n"
      "  kashi cost --json module.hlo       the same for machines, all instructions\n\n"
      "Counted as XLA's cost analysis counts: a product and a sum are two flops, each operand is read once, a fusion\n"
      "only reads its operands and writes its results. One turn of each loop counts; in all, of a conditional's "
      "branches\n"
      "the dearest does, while the list has them all.";
  CLI::App* verb = AddVerb(command, "cost", "Count flops, transcendentals and bytes of a module", examples,
                           [options] { return RunCost(*options); });
  verb->add_option("FILE", options->inputs, "A module, a directory of a dump, or `-`")->required();
  verb->add_option("--top", options->top, "How many instructions to show (10)")->check(CLI::NonNegativeNumber);
  AddOutputOption(verb, &options->output, "Write to this file");
  AddStrictFlag(verb, &options->strict);
  AddJsonFlag(verb, &options->json);
}

}  // namespace kashi::cli
