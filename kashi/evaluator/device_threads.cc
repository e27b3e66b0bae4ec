#include "kashi/evaluator/device_threads.h"

#include <deque>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kashi/base/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/evaluator/meeting_place.h"
#include "kashi/evaluator/value.h"

namespace kashi::internal {
namespace {

class ThreadedDevice : public Device {
 public:
  ThreadedDevice(int64_t id, DeviceCounts counts, MeetingPlace* place)
      : Device(id, counts.replicas, counts.partitions), place_(place) {}

  absl::StatusOr<std::shared_ptr<const Given>> Exchange(const HloInstruction& collective,
                                                        absl::Span<const int64_t> members,
                                                        std::vector<Value> operands) override {
    KASHI_ASSIGN_OR_RETURN(const std::shared_ptr<const MeetingPlace::Meeting> meeting,
                           place_->Meet(id(), {collective, members, members}, std::move(operands), nullptr));
    return std::shared_ptr<const Given>(meeting, &meeting->given);
  }

  absl::StatusOr<std::vector<Value>> Combine(const HloInstruction& collective, absl::Span<const int64_t> members,
                                             std::vector<Value> operands, CombineFunction combine) override {
    const auto combine_all = [&](MeetingPlace::Meeting& meeting) -> absl::Status {
      KASHI_ASSIGN_OR_RETURN(std::vector<Value> combined, combine(meeting.given));
      meeting.combined.push_back(std::move(combined));
      return absl::OkStatus();
    };
    const MeetingPlace::CombineFunction function = combine_all;
    KASHI_ASSIGN_OR_RETURN(const std::shared_ptr<const MeetingPlace::Meeting> meeting,
                           place_->Meet(id(), {collective, members, members}, std::move(operands), &function));
    return meeting->combined[0];
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

absl::Status RunAtOnce(DeviceCounts counts, const RunLimits& limits, std::deque<Value>* infeed, DeviceFunction f) {
  const DeviceRange devices = {0, counts.total()};
  MeetingPlace place(devices, limits.work.get(), infeed);
  std::vector<std::thread> threads = StartDevices(devices, &place, [&](int64_t id) {
    ThreadedDevice device(id, counts, &place);
    return f(device);
  });
  while (!place.WaitAWhile()) continue;
  for (std::thread& thread : threads) thread.join();
  return place.error();
}

}  // namespace

absl::Status ThreadFabric::OnDevices(const HloModule&, DeviceCounts counts, const RunLimits& limits, DeviceFunction f) {
  return OnDevicesAtOnce(counts, limits, f);
}

absl::Status OnDevicesAtOnce(DeviceCounts counts, const RunLimits& limits, DeviceFunction f) {
  return RunAtOnce(counts, limits, nullptr, f);
}

absl::Status OnProcessesAtOnce(DeviceCounts counts, const RunLimits& limits, std::deque<Value> infeed,
                               DeviceFunction f) {
  return RunAtOnce(counts, limits, &infeed, f);
}

absl::Status OnDevicesInTurn(DeviceCounts counts, const RunLimits& limits, DeviceFunction f) {
  for (int64_t id = 0; id < counts.total(); ++id) {
    MeetingPlace place({0, counts.total()}, limits.work.get());
    ThreadedDevice device(id, counts, &place);
    const absl::Status status = f(device);
    if (!status.ok()) return WithMessage(status, absl::StrCat("device ", id, ": ", status.message()));
  }
  return absl::OkStatus();
}

}  // namespace kashi::internal
