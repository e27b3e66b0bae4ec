// The devices of a program as threads of one process, which exchange data at collective operations. For device_group.h.
#ifndef KASHI_EVALUATOR_DEVICE_THREADS_H_
#define KASHI_EVALUATOR_DEVICE_THREADS_H_

#include <cstdint>
#include <deque>

#include "absl/status/status.h"
#include "kashi/evaluator/device.h"
#include "kashi/evaluator/device_fabric.h"
#include "kashi/evaluator/run_limits.h"
#include "kashi/evaluator/value.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/spmd/collective_groups.h"

namespace kashi::internal {

// All devices of a program are threads of this process.
class ThreadFabric final : public DeviceFabric {
 public:
  bool Runs(int64_t, DeviceCounts) const override { return true; }
  absl::Status OnDevices(const HloModule& module, DeviceCounts counts, const RunLimits& limits,
                         DeviceFunction f) override;
};

// Calls f for each device: in one thread per device if they exchange data, otherwise one after the other. Errors are
// those of RunOnDevices (device_group.h).
absl::Status OnDevicesAtOnce(DeviceCounts counts, const RunLimits& limits, DeviceFunction f);
absl::Status OnDevicesInTurn(DeviceCounts counts, const RunLimits& limits, DeviceFunction f);

// OnDevicesAtOnce for devices that also have transfers (device.h). `infeed` has the values of the host, the next first.
absl::Status OnProcessesAtOnce(DeviceCounts counts, const RunLimits& limits, std::deque<Value> infeed,
                               DeviceFunction f);

}  // namespace kashi::internal

#endif  // KASHI_EVALUATOR_DEVICE_THREADS_H_
