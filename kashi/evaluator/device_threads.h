// The devices of a program as threads of one process, which meet at collective operations. For device_group.h.
#ifndef KASHI_EVALUATOR_DEVICE_THREADS_H_
#define KASHI_EVALUATOR_DEVICE_THREADS_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "kashi/evaluator/collective_groups.h"
#include "kashi/evaluator/device.h"
#include "kashi/evaluator/evaluation_run.h"

namespace kashi::internal {

// Calls f for each device: all at once, in a thread each, so that they can meet; or one after the other, where they
// do not. Errors are as above.
using DeviceFunction = absl::FunctionRef<absl::Status(Device& device)>;
absl::Status OnDevicesAtOnce(DeviceCounts counts, const RunLimits& limits, DeviceFunction f);
absl::Status OnDevicesInTurn(DeviceCounts counts, const RunLimits& limits, DeviceFunction f);

}  // namespace kashi::internal

#endif  // KASHI_EVALUATOR_DEVICE_THREADS_H_
