// `kashi run --profile` of several devices: the time of collective operations, who waited there, and for whom.
//
// A device that comes late to an operation spends the least time in it; others of its group wait for it. So the time
// of a device beyond the least time of its group is waiting. Clocks of different machines are not compared.
//
// The time of an operation in two halves is that of both halves, without the work between them.
#ifndef KASHI_CLI_COLLECTIVE_PROFILE_H_
#define KASHI_CLI_COLLECTIVE_PROFILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/json.h"
#include "kashi/evaluator/step_profile.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/spmd/collective_groups.h"

namespace kashi::cli {

// One operation. Times are for one run, as a mean over the devices.
struct CollectiveRow {
  std::string name;
  std::string opcode;
  int64_t bytes = 0;  // of a device's operands
  double calls = 0;
  double ms = 0;
  double waiting_ms = 0;
  // Of an operation in two halves; otherwise 0.
  double span_ms = 0;         // from the begin of the first to the end of the second
  double hidden_ms = 0;       // of it: the operation was under way, and the device did other work
  int64_t latest = 0;         // the device for which others waited longest
  double latest_cost_ms = 0;  // how long all others waited for it
  int64_t latest_rank = -1;   // its rank, on several
};

// All ranks call this, if there are several; only rank 0 has the rows, longest first. `runs`: how many were measured.
absl::StatusOr<std::vector<CollectiveRow>> ProfileCollectives(const HloModule& module, DeviceCounts counts,
                                                              const evaluator::StepProfile& profile, int64_t runs);

// A table of the `top` longest; "" if there are none.
std::string CollectivesText(const std::vector<CollectiveRow>& rows, int64_t top);
Json CollectivesJson(const std::vector<CollectiveRow>& rows);

}  // namespace kashi::cli

#endif  // KASHI_CLI_COLLECTIVE_PROFILE_H_
