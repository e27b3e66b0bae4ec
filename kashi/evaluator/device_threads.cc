#include "kashi/evaluator/device_threads.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/base/check.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/evaluator/value.h"

namespace kashi::internal {
namespace {

// How often waiting devices check whether the run is cancelled or past its deadline, because they are not notified.
constexpr std::chrono::milliseconds kPoll(20);

// Where devices meet. A device is running, waits at a meeting, or is done. The one that completes a meeting sets all
// its members running again, so when none runs and some wait, they wait forever.
class MeetingPlace {
 public:
  // The arrays from the members and, if requested, the result that one member made from them. Complete when all members
  // have called.
  struct Meeting {
    void Come(int64_t device, std::vector<Value> values) {
      const size_t i = absl::c_find(members, device) - members.begin();
      KASHI_CHECK(i < members.size()) << "device " << device << " is not a member";
      given[i] = std::move(values);
      has_come[i] = true;
      --missing;
    }
    const HloInstruction* instruction;
    std::vector<int64_t> members;
    Given given;
    std::vector<bool> has_come;
    size_t missing;
    std::optional<int64_t> channel;  // a device alone waits for a value from this channel
    absl::StatusOr<std::vector<Value>> combined = std::vector<Value>();
    bool is_complete = false;
    std::condition_variable completed;  // or never will be
  };

  // `work` ends when the run ends, for any reason. `infeed` is null for devices without transfers.
  MeetingPlace(int64_t devices, WorkMeter* work, std::deque<Value>* infeed = nullptr)
      : work_(work), infeed_(infeed), devices_(devices), running_(devices) {}

  bool has_transfers() const { return infeed_ != nullptr; }

  // The meeting, when it is complete; or why it never will be. The last to come calls combine, unless it is null.
  absl::StatusOr<std::shared_ptr<const Meeting>> Meet(int64_t device, const HloInstruction& instruction,
                                                      absl::Span<const int64_t> members, std::vector<Value> values,
                                                      const Device::CombineFunction* combine) {
    std::unique_lock<std::mutex> lock(mutex_);
    KASHI_RETURN_IF_ERROR(error_);
    const std::shared_ptr<Meeting> meeting = FindOrOpen(instruction, members);
    meeting->Come(device, std::move(values));
    if (meeting->missing == 0) {
      if (combine != nullptr) {
        lock.unlock();  // the others wait, and this device counts as running
        meeting->combined = (*combine)(meeting->given);
        lock.lock();
      }
      Complete(meeting.get());
    } else {
      Wait(device, meeting.get(), &lock);
    }
    // A meeting that is complete is good, even if something else went wrong since.
    if (!meeting->is_complete) return error_;
    return meeting;
  }

  absl::StatusOr<Value> TakeInfeed(const HloInstruction& infeed) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (infeed_->empty()) return FailedPrecondition("%s: the infeed has no more values", infeed.name());
    Value value = std::move(infeed_->front());
    infeed_->pop_front();
    return value;
  }

  void Send(int64_t channel, Value value) {
    std::lock_guard<std::mutex> lock(mutex_);
    Channel& to = channels_[channel];
    if (to.receivers.empty()) {
      to.values.push_back(std::move(value));
      return;
    }
    const std::shared_ptr<Meeting> receiver = std::move(to.receivers.front());
    to.receivers.pop_front();
    receiver->given[0] = {std::move(value)};
    Complete(receiver.get());
  }

  absl::StatusOr<Value> Receive(int64_t device, const HloInstruction& instruction, int64_t channel) {
    std::unique_lock<std::mutex> lock(mutex_);
    KASHI_RETURN_IF_ERROR(error_);
    Channel& from = channels_[channel];
    if (!from.values.empty()) {
      Value value = std::move(from.values.front());
      from.values.pop_front();
      return value;
    }
    const std::shared_ptr<Meeting> meeting = FindOrOpen(instruction, {device});
    meeting->channel = channel;
    from.receivers.push_back(meeting);
    Wait(device, meeting.get(), &lock);
    if (!meeting->is_complete) return error_;
    return std::move(meeting->given[0][0]);
  }

  // The device will not take part in exchanges any more. All devices get the first error.
  void Leave(int64_t device, const absl::Status& status) {
    std::lock_guard<std::mutex> lock(mutex_);
    devices_[device].status = status;
    devices_[device].is_done = true;
    --running_;
    if (!status.ok()) {
      Fail(WithMessage(status, absl::StrCat("device ", device, ": ", status.message())));
    } else {
      CheckSomebodyRuns();
    }
    if (--present_ == 0) all_left_.notify_all();
  }

  // Returns when all devices have left, with the first error of any. Looks after those that wait meanwhile.
  absl::Status WaitForAll() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!all_left_.wait_for(lock, kPoll, [this] { return present_ == 0; })) {
      if (error_.ok() && work_->IsOver()) Fail(work_->Check());
    }
    return error_;
  }

 private:
  struct DeviceState {
    const Meeting* waits_at = nullptr;
    bool is_done = false;
    absl::Status status;
  };
  using Key = std::pair<const HloInstruction*, std::vector<int64_t>>;

  // What was sent and not received, or who waits; one of the two is empty.
  struct Channel {
    std::deque<Value> values;
    std::deque<std::shared_ptr<Meeting>> receivers;
  };

  // A device calls each exchange once, because it waits until all members have called. So the next call, for example in
  // a loop, is a new exchange.
  std::shared_ptr<Meeting> FindOrOpen(const HloInstruction& instruction, absl::Span<const int64_t> members) {
    std::vector<int64_t> list(members.begin(), members.end());
    std::shared_ptr<Meeting>& meeting = open_[Key(&instruction, list)];
    if (meeting == nullptr) {
      meeting = std::make_shared<Meeting>();
      meeting->instruction = &instruction;
      meeting->missing = list.size();
      meeting->given.resize(list.size());
      meeting->has_come.resize(list.size());
      meeting->members = std::move(list);
    }
    return meeting;
  }

  void Complete(Meeting* meeting) {
    for (const int64_t member : meeting->members) {
      if (devices_[member].waits_at != meeting) continue;  // the last to come
      devices_[member].waits_at = nullptr;
      ++running_;
    }
    open_.erase(Key(meeting->instruction, meeting->members));
    meeting->is_complete = true;
    meeting->completed.notify_all();
  }

  void Wait(int64_t device, Meeting* meeting, std::unique_lock<std::mutex>* lock) {
    devices_[device].waits_at = meeting;
    --running_;
    CheckSomebodyRuns();
    meeting->completed.wait(*lock, [&] { return meeting->is_complete || !error_.ok(); });
    if (meeting->is_complete) return;  // its last member has set us running
    devices_[device].waits_at = nullptr;
    ++running_;
  }

  // Those that wait go home, and those that run will see that the work is over.
  void Fail(const absl::Status& error) {
    if (!error_.ok()) return;
    error_ = error;
    work_->End();
    for (const auto& [key, meeting] : open_) meeting->completed.notify_all();
  }

  void CheckSomebodyRuns() {
    if (running_ > 0 || !error_.ok()) return;
    const auto waits = [](const DeviceState& device) { return device.waits_at != nullptr; };
    if (absl::c_none_of(devices_, waits)) return;
    Fail(FailedPrecondition("The devices wait for each other forever: %s", Situation()));
  }

  // "device 0 waits at all-reduce.3 of devices {0,1} for {1}; device 1 has finished"
  std::string Situation() const {
    std::vector<std::string> lines;
    for (size_t i = 0; i < devices_.size(); ++i) {
      const Meeting* meeting = devices_[i].waits_at;
      lines.push_back(absl::StrCat("device ", i, meeting == nullptr ? " has finished" : WaitsAt(*meeting)));
    }
    return absl::StrJoin(lines, "; ");
  }

  static std::string WaitsAt(const Meeting& meeting) {
    if (meeting.channel.has_value()) {
      return absl::StrCat(" waits at ", meeting.instruction->name(), " for a value from channel ", *meeting.channel);
    }
    std::vector<int64_t> missing;
    for (size_t i = 0; i < meeting.members.size(); ++i) {
      if (!meeting.has_come[i]) missing.push_back(meeting.members[i]);
    }
    return absl::StrCat(" waits at ", meeting.instruction->name(), " of devices {", absl::StrJoin(meeting.members, ","),
                        "} for {", absl::StrJoin(missing, ","), "}");
  }

  WorkMeter* const work_;
  std::mutex mutex_;
  std::condition_variable all_left_;
  // Guarded by mutex_.
  std::deque<Value>* const infeed_;
  std::map<int64_t, Channel> channels_;
  std::map<Key, std::shared_ptr<Meeting>> open_;
  std::vector<DeviceState> devices_;
  int64_t running_;
  int64_t present_ = running_;
  absl::Status error_;
};

class ThreadedDevice : public Device {
 public:
  ThreadedDevice(int64_t id, DeviceCounts counts, MeetingPlace* place)
      : Device(id, counts.replicas, counts.partitions), place_(place) {}

  absl::StatusOr<std::shared_ptr<const Given>> Exchange(const HloInstruction& collective,
                                                        absl::Span<const int64_t> members,
                                                        std::vector<Value> operands) override {
    KASHI_ASSIGN_OR_RETURN(const std::shared_ptr<const MeetingPlace::Meeting> meeting,
                           place_->Meet(id(), collective, members, std::move(operands), nullptr));
    return std::shared_ptr<const Given>(meeting, &meeting->given);
  }

  absl::StatusOr<std::vector<Value>> Combine(const HloInstruction& collective, absl::Span<const int64_t> members,
                                             std::vector<Value> operands, CombineFunction combine) override {
    KASHI_ASSIGN_OR_RETURN(const std::shared_ptr<const MeetingPlace::Meeting> meeting,
                           place_->Meet(id(), collective, members, std::move(operands), &combine));
    return meeting->combined;
  }

  bool has_transfers() const override { return place_->has_transfers(); }
  absl::StatusOr<Value> TakeInfeed(const HloInstruction& infeed) override { return place_->TakeInfeed(infeed); }
  absl::Status Send(int64_t channel, Value value) override {
    place_->Send(channel, std::move(value));
    return absl::OkStatus();
  }
  absl::StatusOr<Value> Receive(const HloInstruction& receiver, int64_t channel) override {
    return place_->Receive(id(), receiver, channel);
  }

 private:
  MeetingPlace* place_;
};

absl::Status RunAtOnce(DeviceCounts counts, MeetingPlace& place, DeviceFunction f) {
  const int64_t devices = counts.total();
  std::vector<std::thread> threads;
  const auto run = [&](int64_t id) {
    ThreadedDevice device(id, counts, &place);
    place.Leave(id, f(device));
  };
  try {
    for (int64_t id = 0; id < devices; ++id) threads.emplace_back(run, id);
  } catch (const std::system_error& error) {
    // Those that have begun do not wait for those that never will.
    for (int64_t id = static_cast<int64_t>(threads.size()); id < devices; ++id) {
      place.Leave(id, ResourceExhausted("cannot start a thread: %s", error.what()));
    }
  }
  const absl::Status error = place.WaitForAll();
  for (std::thread& thread : threads) thread.join();
  return error;
}

}  // namespace

absl::Status OnDevicesAtOnce(DeviceCounts counts, const RunLimits& limits, DeviceFunction f) {
  MeetingPlace place(counts.total(), limits.work.get());
  return RunAtOnce(counts, place, f);
}

absl::Status OnProcessesAtOnce(DeviceCounts counts, const RunLimits& limits, std::deque<Value> infeed,
                               DeviceFunction f) {
  MeetingPlace place(counts.total(), limits.work.get(), &infeed);
  return RunAtOnce(counts, place, f);
}

absl::Status OnDevicesInTurn(DeviceCounts counts, const RunLimits& limits, DeviceFunction f) {
  for (int64_t id = 0; id < counts.total(); ++id) {
    MeetingPlace place(counts.total(), limits.work.get());
    ThreadedDevice device(id, counts, &place);
    const absl::Status status = f(device);
    if (!status.ok()) return WithMessage(status, absl::StrCat("device ", id, ": ", status.message()));
  }
  return absl::OkStatus();
}

}  // namespace kashi::internal
