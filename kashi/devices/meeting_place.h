// MeetingPlace: where the devices of a process meet at collective operations. Each device is a thread.
//
//   MeetingPlace place({0, 4}, limits.work.get());
//   … in the thread of device 2:
//   KASHI_ASSIGN_OR_RETURN(const MeetingPlace::Arrival arrival, place.Come(2, call, values));
//   if (arrival.is_last) place.Complete(arrival.meeting.get());
//   … other work …
//   KASHI_RETURN_IF_ERROR(place.Await(2, arrival.meeting.get(), done));
//   place.Leave(2, status);
//
// meeting_call.h does this for collective operations.
#ifndef KASHI_DEVICES_MEETING_PLACE_H_
#define KASHI_DEVICES_MEETING_PLACE_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/base/work_meter.h"
#include "kashi/devices/device.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/spmd/transfer_routes.h"
#include "kashi/values/value.h"

namespace kashi::devices {

// The devices [first, first + count).
struct DeviceRange {
  int64_t first = 0;
  int64_t count = 0;

  bool Has(int64_t device) const { return device >= first && device < first + count; }
};

// A device is running, waits at a meeting, or is done. The one that completes a meeting sets all that wait there
// running again, so when none runs and some wait, they wait forever. A device that only comes to a meeting runs on, and
// may come to others before it waits.
class MeetingPlace {
 public:
  // The call at which a device arrives: the instruction, the devices that take part, and those that come to this place.
  struct Call {
    const HloInstruction& instruction;
    absl::Span<const int64_t> members;
    absl::Span<const int64_t> here;
    const HloInstruction& begun_at;  // for reports: the instruction that begins this one, or itself
  };
  // The work that the last device to come has begun for all.
  struct Work {
    virtual ~Work() = default;
  };
  // The arrays of the devices that have come, in the order of Call::here. Complete when all have come.
  struct Meeting {
    const HloInstruction* instruction = nullptr;
    const HloInstruction* begun_at = nullptr;
    std::vector<int64_t> members;
    std::vector<int64_t> here;
    Given given;
    std::vector<bool> has_come;
    size_t missing;
    std::optional<hlo::TransferRoute> route;  // a device alone waits for a value from this route
    bool is_complete = false;
    int64_t complete_ns = 0;            // when it was completed, by the monotonic clock
    std::shared_ptr<Work> work;         // set before it is complete
    std::vector<Value> combined;        // what one of them made of `given`, by DoOnce
    std::condition_variable completed;  // or never will be

    void Come(int64_t device, std::vector<Value> values);
    bool HasCome(int64_t device) const;
    // Calls f, if no member has done that before. The others wait, and all get its status.
    absl::Status DoOnce(absl::FunctionRef<absl::Status()> f);

   private:
    std::mutex once_mutex_;
    bool is_done_ = false;
    absl::Status status_;
  };
  struct Arrival {
    std::shared_ptr<Meeting> meeting;
    bool is_last;
  };

  // `work` ends when the run ends, for any reason. `infeed` has the values of the host, the next first; null for
  // devices without a host.
  MeetingPlace(DeviceRange devices, WorkMeter* work, std::deque<Value>* infeed = nullptr)
      : work_(work), first_(devices.first), infeed_(infeed), devices_(devices.count), running_(devices.count) {}

  // Comes to a meeting, without waiting for others. The last to come must complete it. A device may come to the same
  // call several times before it waits: the n-th time is the n-th meeting.
  absl::StatusOr<Arrival> Come(int64_t device, const Call& call, std::vector<Value> values);
  void Complete(Meeting* meeting);
  // Waits until the meeting is complete; or the error why it never will be. `done`: the instruction that waits.
  absl::Status Await(int64_t device, Meeting* meeting, const HloInstruction& done);
  // Transfers: see Device. A value that is sent to a device here, and that it never receives, is an error of the run.
  bool has_host() const { return infeed_ != nullptr; }
  absl::StatusOr<Value> TakeInfeed(const HloInstruction& infeed);
  void Send(const hlo::TransferRoute& route, Value value);
  std::shared_ptr<Meeting> BeginReceive(int64_t device, const hlo::TransferRoute& route);
  absl::StatusOr<Value> EndReceive(int64_t device, const HloInstruction& done, Meeting* reception);

  // The device will not take part in meetings any more. All devices get the first error.
  void Leave(int64_t device, const absl::Status& status);
  // Returns true when all devices have left, or false after some 20 ms. Ends the run if its limits are exceeded.
  bool WaitAWhile();
  // Ends the run: devices that wait return this error, and devices that run see that the work is over. The first error
  // counts.
  void Fail(const absl::Status& error);
  // The first error.
  absl::Status error() const;
  // Whether there is one. Cheap.
  const std::atomic<bool>& has_failed() const { return has_failed_; }

  // The state of a device.
  struct State {
    enum class Kind { kRuns, kWaits, kHasEnded };
    Kind kind;
    const HloInstruction* instruction = nullptr;  // where it waits
    const HloInstruction* begun_at = nullptr;     // the instruction that begins what it waits for, or the same
    std::vector<int64_t> members;
    uint64_t meetings = 0;  // that it has come to
  };
  State StateOf(int64_t device) const;

 private:
  struct DeviceState {
    const Meeting* waits_at = nullptr;
    const HloInstruction* waits_in = nullptr;
    bool is_done = false;
    uint64_t meetings = 0;
  };
  using Key = std::pair<const HloInstruction*, std::vector<int64_t>>;
  // Values that were sent and not received, or the receivers that wait; one of the two is empty.
  struct Channel {
    std::deque<Value> values;
    std::deque<std::shared_ptr<Meeting>> receivers;
  };

  DeviceState& StateAt(int64_t device) { return devices_[device - first_]; }
  std::shared_ptr<Meeting> FindOrOpen(int64_t device, const Call& call);
  void CompleteLocked(Meeting* meeting);
  void Wait(int64_t device, Meeting* meeting, const HloInstruction& done, std::unique_lock<std::mutex>* lock);
  void FailLocked(const absl::Status& error);
  void CheckSomebodyRuns();
  void CheckAllIsReceived();
  std::string Situation() const;

  WorkMeter* const work_;
  const int64_t first_;
  mutable std::mutex mutex_;
  std::condition_variable all_left_;
  std::atomic<bool> has_failed_{false};
  // Guarded by mutex_.
  std::deque<Value>* const infeed_;
  std::map<hlo::TransferRoute, Channel> channels_;
  std::map<Key, std::deque<std::shared_ptr<Meeting>>> open_;  // in the order in which they will be complete
  std::vector<DeviceState> devices_;
  int64_t running_;
  int64_t present_ = running_;
  absl::Status error_;
};

// "waits at all-reduce.3 of devices {0,1}", or "waits at all-reduce-done.4, begun at all-reduce-start.3, of devices …"
std::string DescribeWait(const HloInstruction& done, const HloInstruction& begun_at, absl::Span<const int64_t> members);

// Runs `f` for each of the devices, each in a thread of its own, and lets it leave the place afterwards. Returns the
// threads, to join. After an error of the system, the devices without a thread leave with that error.
std::vector<std::thread> StartDevices(DeviceRange devices, MeetingPlace* place,
                                      const std::function<absl::Status(int64_t device)>& f);

}  // namespace kashi::devices

#endif  // KASHI_DEVICES_MEETING_PLACE_H_
