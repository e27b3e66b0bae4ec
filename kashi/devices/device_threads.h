// The devices of a program as threads of one process, which exchange data at collective operations. For
// kashi/evaluator/device_group.h.
#ifndef KASHI_DEVICES_DEVICE_THREADS_H_
#define KASHI_DEVICES_DEVICE_THREADS_H_

#include <cstdint>
#include <deque>

#include "absl/status/status.h"
#include "kashi/devices/device.h"
#include "kashi/devices/device_fabric.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/spmd/collective_groups.h"
#include "kashi/values/run_limits.h"
#include "kashi/values/value.h"

namespace kashi::devices {

// All devices of a program are threads of this process.
class ThreadFabric final : public DeviceFabric {
 public:
  bool Runs(int64_t, DeviceCounts) const override { return true; }
  absl::Status OnDevices(const HloModule& module, DeviceCounts counts, const values::RunLimits& limits,
                         DeviceFunction f) override;
};

// Calls f for each device: in one thread per device if they exchange data, otherwise one after the other. Errors are
// those of RunOnDevices (kashi/evaluator/device_group.h).
absl::Status OnDevicesAtOnce(DeviceCounts counts, const values::RunLimits& limits, DeviceFunction f);
absl::Status OnDevicesInTurn(DeviceCounts counts, const values::RunLimits& limits, DeviceFunction f);

// OnDevicesAtOnce for devices that also have transfers (device.h). `infeed` has the values of the host, the next first.
absl::Status OnProcessesAtOnce(DeviceCounts counts, const values::RunLimits& limits, std::deque<Value> infeed,
                               DeviceFunction f);

}  // namespace kashi::devices

#endif  // KASHI_DEVICES_DEVICE_THREADS_H_
