#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/cost_report.h"
#include "cli/scope_note.h"
#include "kashi/analysis/source_location.h"
#include "kashi/gpu_calls/gpu_call.h"

namespace kashi::cli {
namespace {

void AddCost(const Cost& cost, Json* json) {
  (*json)["flops"] = cost.flops;
  (*json)["transcendentals"] = cost.transcendentals;
  (*json)["bytes_accessed"] = cost.bytes_accessed;
  if (cost.unknown > 0) (*json)["unknown"] = cost.unknown;
}

// A whole number as such.
Json CountJson(double count) {
  constexpr double kMostExact = 0x1p53;
  return count < kMostExact && count == std::floor(count) ? Json(static_cast<int64_t>(count)) : Json(count);
}

Json InstructionJson(const InstructionCostRow& row, const CostReport& report) {
  const HloInstruction& instruction = *row.instruction;
  const InstructionCost& details = report.cost.own().DetailsOf(&instruction);
  Json json;
  json["name"] = std::string(instruction.name());
  json["opcode"] = std::string(HloOpcodeString(instruction.opcode()));
  json["count"] = CountJson(row.count);
  AddCost(row.cost, &json);
  if (report.roofline.has_value()) {
    json["seconds"] = row.seconds;
    json["bound"] = BoundName(row.bound());
    json["wasted_seconds"] = row.wasted_seconds;
  }
  Json& operands = json["operand_bytes"] = Json::array();
  for (const OperandCost& operand : details.operands) operands.push_back(operand.bytes);
  json["result_bytes"] = details.result_bytes;
  if (const int64_t queue = gpu_calls::OperationQueueOf(instruction); queue != 0) json["queue"] = queue;
  const SourceLocation source = GetSourceLocation(instruction);
  if (!source.op_name.empty()) json["op_name"] = source.op_name;
  if (!source.file.empty()) json["source"] = absl::StrCat(source.file, ":", source.line);
  return json;
}

Json TargetJson(const CostReport& report) {
  Json json;
  json["name"] = report.accelerator->name;
  json["source"] = report.accelerator->source;
  json["seconds"] = report.roofline->seconds();
  json["compute_seconds"] = report.roofline->compute_seconds();
  json["memory_seconds"] = report.roofline->memory_seconds();
  json["wasted_seconds"] = report.roofline->wasted_seconds();
  json["layouts_are_chosen"] = report.roofline->has_chosen_layouts();
  return json;
}

Json OpcodesJson(const CostReport& report) {
  Json json = Json::array();
  for (const OpcodeCostRow& row : report.opcodes) {
    Json& entry = json.emplace_back(Json::object());
    entry["opcode"] = std::string(HloOpcodeString(row.opcode));
    entry["instructions"] = row.instructions;
    entry["count"] = CountJson(row.count);
    AddCost(row.cost, &entry);
    if (report.roofline.has_value()) entry["seconds"] = row.seconds;
  }
  return json;
}

}  // namespace

Json CostReportJson(const ModuleFile& file, const CostReport& report) {
  Json json;
  json["file"] = file.name;
  json["module"] = file.module->name();
  if (Json scope = ScopeJson(ProgramScopeOf(*file.module)); !scope.is_null()) json["program"] = std::move(scope);
  AddCost(report.cost.total(), &json);
  AddCost(report.cost.xla_total(), &(json["xla"] = Json::object()));
  const insight::ExecutionCounts& counts = report.cost.counts();
  if (!counts.loops().empty()) {
    json["loops"] = counts.loops().size();
    Json& unknown = json["unknown_loops"] = Json::array();
    for (const HloInstruction* loop : counts.unknown_loops()) unknown.push_back(std::string(loop->name()));
  }
  if (!report.cost.own().notes().empty()) {
    Json& notes = json["notes"] = Json::array();
    for (const std::string& note : report.cost.own().notes()) notes.push_back(note);
  }
  if (report.roofline.has_value()) json["target"] = TargetJson(report);
  if (report.breakdown.has_value()) {
    json["by"] = report.breakdown->grouping_name();
    json["rows"] = report.breakdown->ToJson();
    return json;
  }
  json["opcodes"] = OpcodesJson(report);
  Json& instructions = json["instructions"] = Json::array();
  for (const InstructionCostRow& row : report.instructions) instructions.push_back(InstructionJson(row, report));
  return json;
}

}  // namespace kashi::cli
