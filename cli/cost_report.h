// The answer of `kashi cost` about one module, as data.
#ifndef KASHI_CLI_COST_REPORT_H_
#define KASHI_CLI_COST_REPORT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/breakdown_options.h"
#include "cli/json.h"
#include "cli/module_file.h"
#include "kashi/analysis/cost_analysis.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/insight/accelerators.h"
#include "kashi/insight/counted_cost.h"
#include "kashi/insight/roofline.h"

namespace kashi::cli {

// What instructions are ordered by.
enum class CostSort { kFlops, kBytes, kSeconds };

// The sum over some instructions, all their runs.
struct CostRow {
  int64_t instructions = 0;
  double count = 0;  // runs of all of them; of the branches of a conditional, each at most
  Cost cost;
  double seconds = 0;                           // 0 without an accelerator
  double wasted_seconds = 0;                    // on padding
  std::array<double, 4> seconds_by_bound = {};  // by insight::Bound

  insight::Bound bound() const;  // of most of the time
};

struct OpcodeCostRow : CostRow {
  HloOpcode opcode;
};

struct InstructionCostRow : CostRow {
  const HloInstruction* instruction = nullptr;
};

struct CostReport {
  insight::CountedCost cost;
  const insight::Accelerator* accelerator = nullptr;  // of --target; null: none
  std::optional<insight::Roofline> roofline;          // if there is an accelerator
  std::vector<OpcodeCostRow> opcodes;                 // the dearest first
  std::vector<InstructionCostRow> instructions;       // CountedCost::instructions(), the dearest first
  std::optional<BreakdownTable> breakdown;            // of --by

  CostRow total() const;
};

struct CostReportOptions {
  bool as_xla = false;
  CostSort sort = CostSort::kFlops;
  const insight::Accelerator* accelerator = nullptr;
  BreakdownOptions breakdown;
};

// The module must outlive the report. INVALID_ARGUMENT for modules with broken links or recursion.
absl::StatusOr<CostReport> MakeCostReport(const HloModule& module, const CostReportOptions& options);

// At most `top` instructions or rows of --by.
std::string CostReportText(const HloModule& module, const CostReport& report, int64_t top);
Json CostReportJson(const ModuleFile& file, const CostReport& report);

}  // namespace kashi::cli

#endif  // KASHI_CLI_COST_REPORT_H_
