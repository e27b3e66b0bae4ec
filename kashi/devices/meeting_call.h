// Collective operations of devices that are all threads of this process.
#ifndef KASHI_DEVICES_MEETING_CALL_H_
#define KASHI_DEVICES_MEETING_CALL_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "kashi/devices/device.h"
#include "kashi/devices/meeting_place.h"

namespace kashi::devices {

// Device::Begin for members that all come to this place, and exchange arrays: there is no task. If the operation has a
// start of its own, its results are made by the first that ends it, otherwise by the last to come.
absl::StatusOr<std::unique_ptr<PendingCollective>> BeginMeeting(MeetingPlace* place, int64_t device,
                                                                CollectiveCall call);

}  // namespace kashi::devices

#endif  // KASHI_DEVICES_MEETING_CALL_H_
