#include "cli/cost_report.h"

#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "cli/cost_text.h"
#include "kashi/base/status.h"

namespace kashi::cli {
namespace {

CostRow RowOf(const CostReport& report, const HloInstruction* instruction) {
  CostRow row;
  row.instructions = 1;
  row.count = report.cost.is_flat() ? 1 : report.cost.counts().CountOf(instruction);
  row.cost = report.cost.CostOf(instruction);
  if (report.roofline.has_value()) {
    row.seconds = report.roofline->SecondsOf(instruction);
    row.wasted_seconds = report.roofline->WastedSecondsOf(instruction);
    row.seconds_by_bound[static_cast<size_t>(report.roofline->TimeOf(instruction).bound())] = row.seconds;
  }
  return row;
}

void AddTo(const CostRow& row, CostRow* sum) {
  sum->instructions += row.instructions;
  sum->count += row.count;
  sum->cost += row.cost;
  sum->seconds += row.seconds;
  sum->wasted_seconds += row.wasted_seconds;
  for (size_t i = 0; i < row.seconds_by_bound.size(); ++i) sum->seconds_by_bound[i] += row.seconds_by_bound[i];
}

// By flops and then bytes, by bytes and then flops, or by seconds first.
bool CostsMore(const CostRow& a, const CostRow& b, CostSort sort) {
  if (sort == CostSort::kSeconds && a.seconds != b.seconds) return a.seconds > b.seconds;
  const double flops_a = a.cost.flops + a.cost.transcendentals, flops_b = b.cost.flops + b.cost.transcendentals;
  const double bytes_a = a.cost.bytes_accessed, bytes_b = b.cost.bytes_accessed;
  const bool is_decided_by_bytes = sort == CostSort::kBytes ? bytes_a != bytes_b : flops_a == flops_b;
  return is_decided_by_bytes ? bytes_a > bytes_b : flops_a > flops_b;
}

BreakdownShape ShapeOf(const CostReport& report, CostSort sort) {
  BreakdownShape shape;
  shape.items = "instructions";
  if (report.roofline.has_value()) {
    shape.columns.push_back({"seconds", "time", SecondsText, SecondsText});
    if (report.accelerator->tpu.has_value()) {
      shape.columns.push_back({"wasted_seconds", "on padding", SecondsText, SecondsText});
    }
  }
  const size_t first = shape.columns.size();
  shape.columns.push_back({"flops", "flops", NumberText, FlopsText});
  shape.columns.push_back({"transcendentals", "transcendentals", NumberText, NumberText});
  shape.columns.push_back({"bytes_accessed", "bytes", NumberText, BytesText});
  shape.sort = sort == CostSort::kSeconds ? 0 : sort == CostSort::kFlops ? first : first + 2;
  return shape;
}

absl::Status AddBreakdown(const HloModule& module, const CostReportOptions& options, CostReport* report) {
  BreakdownShape shape = ShapeOf(*report, options.sort);
  const size_t columns = shape.columns.size();
  KASHI_ASSIGN_OR_RETURN(report->breakdown,
                         BreakdownTable::Create(module, report->cost.counts(), options.breakdown, std::move(shape)));
  for (const InstructionCostRow& row : report->instructions) {
    std::vector<double> values;
    if (columns > 3) values.push_back(row.seconds);
    if (columns > 4) values.push_back(row.wasted_seconds);
    values.insert(values.end(), {row.cost.flops, row.cost.transcendentals, row.cost.bytes_accessed});
    report->breakdown->Add(*row.instruction, values);
  }
  report->breakdown->Sort();
  return absl::OkStatus();
}

}  // namespace

insight::Bound CostRow::bound() const {
  return static_cast<insight::Bound>(absl::c_max_element(seconds_by_bound) - seconds_by_bound.begin());
}

CostRow CostReport::total() const {
  CostRow sum;
  for (const OpcodeCostRow& row : opcodes) AddTo(row, &sum);
  return sum;
}

absl::StatusOr<CostReport> MakeCostReport(const HloModule& module, const CostReportOptions& options) {
  CostReport report;
  KASHI_ASSIGN_OR_RETURN(report.cost, insight::CountedCost::Compute(module, {options.as_xla}));
  report.accelerator = options.accelerator;
  if (report.accelerator != nullptr) {
    KASHI_ASSIGN_OR_RETURN(report.roofline, insight::Roofline::Compute(module, report.cost, *report.accelerator));
  }
  std::map<HloOpcode, OpcodeCostRow> by_opcode;
  for (const HloInstruction* instruction : report.cost.instructions()) {
    InstructionCostRow row;
    static_cast<CostRow&>(row) = RowOf(report, instruction);
    row.instruction = instruction;
    OpcodeCostRow& of_opcode = by_opcode[instruction->opcode()];
    of_opcode.opcode = instruction->opcode();
    AddTo(row, &of_opcode);
    report.instructions.push_back(row);
  }
  for (const auto& [opcode, row] : by_opcode) report.opcodes.push_back(row);
  const auto costs_more = [&](const CostRow& a, const CostRow& b) { return CostsMore(a, b, options.sort); };
  absl::c_stable_sort(report.opcodes, costs_more);
  absl::c_stable_sort(report.instructions, costs_more);
  if (options.breakdown.by.has_value()) KASHI_RETURN_IF_ERROR(AddBreakdown(module, options, &report));
  return report;
}

}  // namespace kashi::cli
