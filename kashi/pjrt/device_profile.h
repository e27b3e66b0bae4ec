// The runs of devices as a profile that JAX and TensorBoard read.
#ifndef KASHI_PJRT_DEVICE_PROFILE_H_
#define KASHI_PJRT_DEVICE_PROFILE_H_

#include <cstdint>
#include <vector>

#include "kashi/engine/launch_trace.h"
#include "kashi/proto/xplane.pb.h"

namespace kashi::pjrt {

// A plane for each device, with a line for its programs and one for their steps; runs that overlap, of different
// threads, have lines of their own. since_1970_ns: what the monotonic clock lacks to the time since 1970.
XSpace ProfileOf(std::vector<engine::LaunchTrace::Run> runs, int64_t since_1970_ns);

}  // namespace kashi::pjrt

#endif  // KASHI_PJRT_DEVICE_PROFILE_H_
