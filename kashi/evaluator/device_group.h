// Runs a program of several devices in one process: one thread per device. They exchange data at collective operations.
//
//   std::vector<std::vector<Literal>> arguments = …;            // of device 0, device 1, …
//   KASHI_ASSIGN_OR_RETURN(std::vector<Literal> results, RunOnDevices(*module, std::move(arguments)));
#ifndef KASHI_EVALUATOR_DEVICE_GROUP_H_
#define KASHI_EVALUATOR_DEVICE_GROUP_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "kashi/evaluator/evaluation_options.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/spmd/collective_groups.h"
#include "kashi/literal/literal.h"

namespace kashi {

// The numbers of replicas and partitions in the head of a module (replica_count=…, num_partitions=…). INVALID_ARGUMENT
// for counts below 1, or for more than kMaxDevices devices.
constexpr int64_t kMaxDevices = 4096;
absl::StatusOr<DeviceCounts> DeviceCountsOf(const HloModule& module);

// Runs ENTRY on each device with its own arguments, arguments_of_devices[replica * partitions + partition]. Result i is
// the result of device i, with the shape of the root. The default of `counts` is the module's head. If the head gives
// one device, each list of arguments is one replica. The module must have passed the verifier.
//
// The limits on memory, work and time hold for all devices together; other options hold for each device (loops, seed).
// Callbacks are called from several threads at once. INVALID_ARGUMENT if the number of lists is not the number of
// devices. The first error on any device ends the run on all devices, and is the result, with the number of the device
// before it. FAILED_PRECONDITION if devices wait for each other forever: the error says which device waits where, and
// for which device.
absl::StatusOr<std::vector<Literal>> RunOnDevices(const HloModule& module,
                                                  std::vector<std::vector<Literal>> arguments_of_devices,
                                                  const EvaluationOptions& options = {},
                                                  std::optional<DeviceCounts> counts = std::nullopt);

}  // namespace kashi

#endif  // KASHI_EVALUATOR_DEVICE_GROUP_H_
