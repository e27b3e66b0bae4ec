// `kashi run --profile`: the steps of a program that take the time, compared with the peak speeds of the machine.
#ifndef KASHI_CLI_RUN_PROFILE_H_
#define KASHI_CLI_RUN_PROFILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/breakdown_options.h"
#include "cli/json.h"
#include "cli/machine_peaks.h"
#include "kashi/analysis/cost_analysis.h"
#include "kashi/engine/program.h"
#include "kashi/evaluator/step_profile.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::cli {

// One step: a kernel or a loop of the compiled engine, or an instruction. Times and calls are the mean of the runs,
// with all devices together.
struct ProfileRow {
  const HloInstruction* instruction = nullptr;  // null: the time between steps
  std::string what;                             // "subtract, exponential", "native loop", "dot"
  double ms = 0;                                // without the steps within it
  double share = 0;                             // of the run: 0 to 1
  double calls = 0;
  std::optional<Cost> cost;  // of one call; nothing: unknown, or that of the steps within it

  double gbps() const { return cost.has_value() && ms > 0 ? cost->bytes_accessed * calls / ms * 1e-6 : 0; }
  // A transcendental counts as one.
  double gflops() const {
    return cost.has_value() && ms > 0 ? (cost->flops + cost->transcendentals) * calls / ms * 1e-6 : 0;
  }
};

struct ProfileReport {
  std::string engine;
  int64_t runs = 1;  // that are measured: all but the first, or the only one
  bool is_only_run = true;
  double run_ms = 0;             // of all rows
  std::vector<ProfileRow> rows;  // the longest first
  MachinePeaks peaks;            // for the caller to measure, if the speeds are wanted
};

// `times` are the sums over all runs but the first, or of the only run. The cost of a step is that of XLA's cost
// analysis. INVALID_ARGUMENT for modules that the analysis refuses. The program must outlive the report.
absl::StatusOr<ProfileReport> MakeProfileReport(const Program& program, const std::vector<evaluator::StepTime>& times,
                                                int64_t all_runs);

// A table of the `top` longest steps, and a line for the others.
std::string ProfileText(const ProfileReport& report, int64_t top);
// All steps.
Json ProfileJson(const ProfileReport& report);

// The time of the steps by --by, with the bytes and flops that are known. A row of its own has the time between steps;
// the rows add up to the run. Pre: options.by has a value.
absl::StatusOr<BreakdownTable> ProfileBreakdown(const Program& program, const ProfileReport& report,
                                                const BreakdownOptions& options);
std::string ProfileByText(const ProfileReport& report, const BreakdownTable& table, int64_t top);

// Warns that a trace does not hold all steps.
void WarnOfLostEvents(const evaluator::StepProfile& profile);

// The events of a profile as a JSON trace for Perfetto (ui.perfetto.dev) and chrome://tracing: one thread a device.
std::string ProfileTrace(const evaluator::StepProfile& profile, const ProfileReport& report);
// The number of events of all devices in a trace, besides those of loops and calls: some 40 MB of text.
inline constexpr int64_t kMostTraceEvents = 200'000;

}  // namespace kashi::cli

#endif  // KASHI_CLI_RUN_PROFILE_H_
