#include "profiles.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "kashi/analysis/cost_analysis.h"
#include "kashi/analysis/source_location.h"

namespace kashi::python {
namespace {

// The operations of a fusion, each once.
nb::tuple FusedOperations(const HloInstruction& instruction) {
  std::vector<HloOpcode> opcodes;
  if (instruction.opcode() == HloOpcode::kFusion) {
    for (const HloInstruction* fused : instruction.fused_instructions_computation()->MakeInstructionPostOrder()) {
      if (!absl::c_linear_search(opcodes, fused->opcode()) && fused->opcode() != HloOpcode::kParameter) {
        opcodes.push_back(fused->opcode());
      }
    }
  }
  nb::list names;
  for (const HloOpcode opcode : opcodes) names.append(ToStr(HloOpcodeString(opcode)));
  return nb::tuple(names);
}

nb::dict ProfileRow(const evaluator::StepTime& step, double total_ns, double runs, const CostAnalysis& costs) {
  const HloInstruction& instruction = *step.instruction;
  nb::dict row;
  row["instruction"] = ToStr(instruction.name());
  row["computation"] = ToStr(instruction.parent()->name());
  row["opcode"] = ToStr(HloOpcodeString(instruction.opcode()));
  row["operations"] = FusedOperations(instruction);
  row["ms"] = static_cast<double>(step.own_ns) * 1e-6 / runs;
  row["share"] = total_ns > 0 ? static_cast<double>(step.own_ns) / total_ns : 0.0;
  row["calls"] = static_cast<double>(step.calls) / runs;
  // The cost of a step with inner steps is the cost of those; for a loop it would be the cost of one iteration.
  const Cost& cost = costs.CostOf(&instruction);
  const bool has_cost = !step.has_steps && instruction.opcode() != HloOpcode::kWhile && cost.unknown == 0;
  row["flops"] = has_cost ? nb::object(nb::float_(cost.flops)) : nb::object(nb::none());
  row["transcendentals"] = has_cost ? nb::object(nb::float_(cost.transcendentals)) : nb::object(nb::none());
  row["bytes_accessed"] = has_cost ? nb::object(nb::float_(cost.bytes_accessed)) : nb::object(nb::none());
  const SourceLocation source = GetSourceLocation(instruction);
  row["op_name"] = ToStr(source.op_name);
  row["source"] = ToStr(source.file.empty() ? "" : absl::StrCat(source.file, ":", source.line));
  return row;
}

}  // namespace

nb::dict ProfileFacts(const HloModule& module, std::vector<evaluator::StepTime> times, int64_t runs) {
  const CostAnalysis costs = ValueOrThrow(CostAnalysis::Run(module));
  const auto longer = [](const evaluator::StepTime& a, const evaluator::StepTime& b) { return a.own_ns > b.own_ns; };
  absl::c_stable_sort(times, longer);
  double total_ns = 0, between_ns = 0;
  for (const evaluator::StepTime& step : times) {
    total_ns += static_cast<double>(step.own_ns);
    if (step.instruction == nullptr) between_ns += static_cast<double>(step.own_ns);
  }
  nb::list rows;
  for (const evaluator::StepTime& step : times) {
    if (step.instruction != nullptr) rows.append(ProfileRow(step, total_ns, static_cast<double>(runs), costs));
  }
  nb::dict facts;
  facts["runs"] = runs;
  facts["run_ms"] = total_ns * 1e-6 / static_cast<double>(runs);
  facts["between_steps_ms"] = between_ns * 1e-6 / static_cast<double>(runs);
  facts["steps"] = rows;
  return facts;
}

}  // namespace kashi::python
