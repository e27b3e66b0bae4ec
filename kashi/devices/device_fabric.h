// DeviceFabric: where the devices of a program are, and how they reach each other. RunHooks::fabric names it.
//
//   ThreadFabric (device_threads.h)         all devices are threads of this process; the default
//   MpiFabric (kashi/mpi/mpi_fabric.h)      they are spread over the ranks of an MPI communicator
//
// Programs cannot tell one from the other: the same devices compute the same values.
#ifndef KASHI_DEVICES_DEVICE_FABRIC_H_
#define KASHI_DEVICES_DEVICE_FABRIC_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "kashi/devices/device.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/spmd/collective_groups.h"

namespace kashi::values {
struct RunLimits;
}  // namespace kashi::values

namespace kashi::devices {

using DeviceFunction = absl::FunctionRef<absl::Status(Device& device)>;

class DeviceFabric {
 public:
  virtual ~DeviceFabric() = default;

  // Whether this process runs the device.
  virtual bool Runs(int64_t device, DeviceCounts counts) const = 0;

  // Calls f for each device that this process runs, each in a thread of its own. Returns when all devices of the
  // program have ended, in all processes, with the first error of any. All processes must call it with the same module.
  virtual absl::Status OnDevices(const HloModule& module, DeviceCounts counts, const values::RunLimits& limits,
                                 DeviceFunction f) = 0;

  // Instead of OnDevices, for a process that cannot run the program: the others do not wait, and their OnDevices ends
  // with this error and the name of the process. Returns the error.
  virtual absl::Status Refuse(const absl::Status& error) { return error; }
};

}  // namespace kashi::devices

#endif  // KASHI_DEVICES_DEVICE_FABRIC_H_
