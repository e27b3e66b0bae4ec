// A program of several devices, run in one process: a thread plays each device, and they meet at collective operations.
//
//   std::vector<std::vector<Literal>> arguments = …;            // of device 0, device 1, …
//   KASHI_ASSIGN_OR_RETURN(std::vector<Literal> results, RunOnDevices(*module, std::move(arguments)));
#ifndef KASHI_EVALUATOR_DEVICE_GROUP_H_
#define KASHI_EVALUATOR_DEVICE_GROUP_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "kashi/evaluator/collective_groups.h"
#include "kashi/evaluator/evaluation_options.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/literal/literal.h"

namespace kashi {

// How many devices the head of a module says it is for (replica_count=…, num_partitions=…). INVALID_ARGUMENT for counts
// below 1 or above kMaxDevices in all.
constexpr int64_t kMaxDevices = 4096;
absl::StatusOr<DeviceCounts> DeviceCountsOf(const HloModule& module);

// Runs ENTRY on each device with its own arguments, arguments_of_devices[replica * partitions + partition]; result i is
// device i's, under the shape of the root. Without `counts` they are those of the module's head; a head that says
// nothing (one device) runs as replicas, as many as there are argument lists. The module must have passed the verifier.
//
// Memory, work and time are limited for all devices together, else options hold for each device by itself (loops,
// seed); what is to be called is called from several threads at once. INVALID_ARGUMENT if the lists are not as many
// as the devices. The first error on any device ends the run on all, and is the result, with the device's number
// ahead of it. FAILED_PRECONDITION if devices wait for each other forever: it says which device waits where, and for
// whom.
absl::StatusOr<std::vector<Literal>> RunOnDevices(const HloModule& module,
                                                  std::vector<std::vector<Literal>> arguments_of_devices,
                                                  const EvaluationOptions& options = {},
                                                  std::optional<DeviceCounts> counts = std::nullopt);

}  // namespace kashi

#endif  // KASHI_EVALUATOR_DEVICE_GROUP_H_
