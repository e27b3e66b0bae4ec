// The devices of a program as threads of one process, which exchange data at collective operations. For device_group.h.
#ifndef KASHI_EVALUATOR_DEVICE_THREADS_H_
#define KASHI_EVALUATOR_DEVICE_THREADS_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "kashi/hlo/spmd/collective_groups.h"
#include "kashi/evaluator/device.h"
#include "kashi/evaluator/evaluation_run.h"

namespace kashi::internal {

// Calls f for each device: in one thread per device if they exchange data, otherwise one after the other. Errors are
// those of RunOnDevices (device_group.h).
using DeviceFunction = absl::FunctionRef<absl::Status(Device& device)>;
absl::Status OnDevicesAtOnce(DeviceCounts counts, const RunLimits& limits, DeviceFunction f);
absl::Status OnDevicesInTurn(DeviceCounts counts, const RunLimits& limits, DeviceFunction f);

}  // namespace kashi::internal

#endif  // KASHI_EVALUATOR_DEVICE_THREADS_H_
